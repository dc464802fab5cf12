//! Creates and changes records. One transaction locks the record, reads the form, compares the revision, checks, stores, and
//! appends the entry of the audit trail.

use crate::admin_request::AdminRequest;
use crate::error;
use crate::pages::content::shared::{field_of, with_changes};
use crate::parts::FormErrors;
use civitas_application::{Ports, Transaction};
use civitas_audit::Action;
use civitas_kernel::records::{Change, Described, Entity, RecordAdmin, check_revision, find_for_update};
use civitas_kernel::{Error, OrganizationId, Result};
use civitas_organizations::Organization;
use std::cell::RefCell;
use std::fmt::Display;

/// A kind of record that pages save.
pub(crate) trait EditableRecord: Described<Id: Display> {
    /// The rules by which it is written, over the stores of a transaction.
    fn admin<'a>(ports: &'a dyn Ports, organization: &Organization) -> Box<dyn RecordAdmin<Self> + 'a>;

    /// The rules for what administrators write, besides those of [`Self::admin`]. `before`: the state it replaces.
    ///
    /// # Errors
    /// `Invalid` with the fields.
    fn check(&self, _before: Option<&Self>, _organization: &Organization) -> Result<()> {
        Ok(())
    }

    /// The name that the audit trail gives it.
    fn label(&self, req: &AdminRequest) -> String;

    /// The problems of a refused record, beside their fields.
    ///
    /// # Errors
    /// The error itself when no value is to blame.
    fn form_errors(req: &AdminRequest, organization: &Organization, error: Error) -> Result<FormErrors> {
        error::form_errors(&req.translator, error, |field_error| {
            field_of(Self::NAME, organization, field_error)
        })
    }
}

/// A record to save.
pub(crate) struct Target<'a, E: Entity> {
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: &'a Organization,
    pub(crate) id: E::Id,
}

/// The result of a save.
pub(crate) enum Saved<E> {
    /// The record as it is stored.
    Stored(E),
    /// The record as it was typed, and why it was not stored.
    Refused(E, FormErrors),
}

/// Saves the form of a record. `read` writes what was typed into the record, and returns what cannot be read; it is
/// called under the lock. The form is refused when the record is not as it was when the form was opened.
///
/// # Errors
/// `NotFound` when there is no such record. Those of the database.
pub(crate) async fn save<E: EditableRecord>(
    req: &AdminRequest,
    target: Target<'_, E>,
    action: Action,
    read: impl Fn(&mut E) -> FormErrors,
) -> Result<Saved<E>> {
    let typed = RefCell::new(None);
    let saved = req
        .change(async |tx| {
            let admin = E::admin(tx, target.organization);
            let before = find_for_update(admin.records(), target.organization_id, target.id).await?;
            let mut after = before.clone();
            let mut problems = read(&mut after);
            if problems.is_empty()
                && let Err(error) = check_revision(Some(req.form_revision()), &before.revision())
            {
                problems = E::form_errors(req, target.organization, error)?;
            }
            if !problems.is_empty() {
                return Ok(Saved::Refused(after, problems));
            }
            *typed.borrow_mut() = Some(after.clone());
            let change = Change::of(before, req.now, |stored| *stored = after);
            store(req, tx, &target, action, change).await.map(Saved::Stored)
        })
        .await;
    match (saved, typed.into_inner()) {
        (Err(error), Some(typed)) => {
            let problems = E::form_errors(req, target.organization, error)?;
            Ok(Saved::Refused(typed, problems))
        }
        (saved, _) => saved,
    }
}

/// Changes a record without a form: the revision is not compared.
///
/// # Errors
/// `NotFound` when there is no such record. Those of the rules.
pub(crate) async fn change<E: EditableRecord>(
    req: &AdminRequest,
    target: Target<'_, E>,
    action: Action,
    edit: impl Fn(&mut E),
) -> Result<E> {
    req.change(async |tx| {
        let admin = E::admin(tx, target.organization);
        let before = find_for_update(admin.records(), target.organization_id, target.id).await?;
        store(req, tx, &target, action, Change::of(before, req.now, |record| edit(record))).await
    })
    .await
}

/// Stores a change with an entry in the audit trail. A change without effect is neither checked nor recorded.
async fn store<E: EditableRecord>(
    req: &AdminRequest,
    tx: &dyn Transaction,
    target: &Target<'_, E>,
    action: Action,
    change: Change<E>,
) -> Result<E> {
    if change.is_empty() {
        return Ok(change.after);
    }
    change.after.check(Some(&change.before), target.organization)?;
    E::admin(tx, target.organization).change(target.organization_id, target.id, &change).await?;
    record_change(req, tx, target.organization_id, target.id, action, &change).await?;
    Ok(change.after)
}

/// Adds the entry of a stored change to the audit trail.
async fn record_change<E: EditableRecord>(
    req: &AdminRequest,
    tx: &dyn Transaction,
    organization_id: OrganizationId,
    id: E::Id,
    action: Action,
    Change { before, after }: &Change<E>,
) -> Result<()> {
    let entry = req.audit_entry(action).of(organization_id);
    let entry = entry.on(E::NAME, &id.to_string(), &after.label(req));
    let entry = with_changes(entry, after.differences(before));
    req.append_audit_entry(tx, &entry).await
}

/// Stores a new record, with an entry in the audit trail. `before_create` runs first, in the same transaction.
///
/// # Errors
/// Those of `before_create` and of the rules.
pub(crate) async fn create<E: EditableRecord>(
    req: &AdminRequest,
    organization_id: OrganizationId,
    organization: &Organization,
    record: &E,
    action: Action,
    before_create: impl AsyncFn(&dyn Ports) -> Result<()>,
) -> Result<E::Id> {
    req.change(async |tx| {
        before_create(tx).await?;
        record.check(None, organization)?;
        let id = E::admin(tx, organization).create(organization_id, record).await?;
        let entry = req.audit_entry(action).of(organization_id);
        let entry = entry.on(E::NAME, &id.to_string(), &record.label(req));
        req.append_audit_entry(tx, &entry).await?;
        Ok(id)
    })
    .await
}
