//! Creates and changes records. One transaction locks the record, reads the form, compares the revision, checks, stores, and
//! appends the entry of the audit trail. Kinds with a use case that does part of this call it with
//! [`AdminRequest::change_with_audit`]; the documentation of their pages says why.

use crate::admin_request::AdminRequest;
use crate::error;
use crate::pages::content::opened_space::OpenedSpace;
use crate::parts::FormErrors;
use civitas_application::{Ports, Transaction};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::{
    Change, Entity, RecordAdministration, RecordFields, check_revision, find_for_update,
};
use civitas_kernel::{Error, FieldError, OrganizationId, Result};
use civitas_organizations::Organization;
use std::cell::RefCell;
use std::fmt::Display;

/// A kind of record that pages save.
pub(crate) trait EditableRecord: RecordFields<Id: Display> {
    /// The rules by which it is written, over the stores of a transaction.
    fn admin<'a>(
        ports: &'a dyn Ports,
        organization: &Organization,
    ) -> Box<dyn RecordAdministration<Self> + 'a>;

    /// The rules for what administrators write, besides those of [`Self::admin`]. `before`: the state it replaces.
    ///
    /// # Errors
    /// `Invalid` with the fields.
    fn check(&self, _before: Option<&Self>, _organization: &Organization) -> Result<()> {
        Ok(())
    }

    /// The name that the audit trail gives it.
    fn label(&self, req: &AdminRequest) -> String;

    /// The fields that the audit trail names when it is created.
    fn creation_details(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The name of the field that an error is about; empty: the form as a whole.
    fn form_field(organization: &Organization, field_error: &FieldError) -> String {
        field_name(Self::NAME, organization, field_error)
    }

    /// The key of the text for an error. `None`: the general text for its code.
    fn error_key(_: &FieldError) -> Option<&'static str> {
        None
    }

    /// The problems of a refused record, beside their fields.
    ///
    /// # Errors
    /// The error itself when no value is to blame.
    fn form_errors(req: &AdminRequest, organization: &Organization, error: Error) -> Result<FormErrors> {
        let field = |field_error: &FieldError| Self::form_field(organization, field_error);
        let text = |field_error: &FieldError| Self::error_key(field_error).map(|key| req.tr(key));
        error::form_errors_with_texts(&req.translator, error, field, text)
    }
}

/// The field that an error of the use case is about. `record` is the name of the form.
pub(crate) fn field_name(record: &str, organization: &Organization, field_error: &FieldError) -> String {
    match field_error.field.as_ref() {
        member @ ("title" | "name" | "description" | "body") => {
            format!("{record}[{member}][{}]", organization.default_locale)
        }
        member => format!("{record}[{member}]"),
    }
}

/// A record to save.
pub(crate) struct Target<'a, E: Entity> {
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: &'a Organization,
    pub(crate) id: E::Id,
}

impl<'a, E: Entity> Target<'a, E> {
    /// A record of the organization of this space.
    pub(crate) fn in_space(opened: &'a OpenedSpace, id: E::Id) -> Self {
        Self { organization_id: opened.organization_id, organization: &opened.organization, id }
    }
}

/// The result of a save.
pub(crate) enum Saved<E> {
    /// The record as it is stored.
    Stored(E),
    /// The record as it was typed, and why it was not stored.
    Refused(E, FormErrors),
}

/// Saves the form of a record. `read_form` writes what was typed into the record, and returns what cannot be read; it is
/// called under the lock. The form is refused when the record is not as it was when the form was opened.
///
/// # Errors
/// `NotFound` when there is no such record. Those of the database.
pub(crate) async fn save<E: EditableRecord>(
    req: &AdminRequest,
    target: Target<'_, E>,
    action: Action,
    read_form: impl Fn(&mut E) -> FormErrors,
) -> Result<Saved<E>> {
    let typed = RefCell::new(None);
    let use_case = async |tx: &dyn Transaction| {
        let admin = E::admin(tx, target.organization);
        let before = find_for_update(admin.records(), target.organization_id, target.id).await?;
        let mut after = before.clone();
        let mut problems = read_form(&mut after);
        if problems.is_empty()
            && let Err(error) = check_revision(Some(req.form_revision()), &before.revision())
        {
            problems = E::form_errors(req, target.organization, error)?;
        }
        if !problems.is_empty() {
            return Ok(Err((after, problems)));
        }
        *typed.borrow_mut() = Some(after.clone());
        let change = Change::from_edit(before, req.now, |stored| *stored = after);
        store(tx, &target, change).await.map(Ok)
    };
    let audit_entry = |outcome: &Result<Change<E>, _>| {
        outcome.as_ref().ok().and_then(|change| change_entry(req, &target, action, change))
    };
    let saved = req.change_with_audit(use_case, audit_entry).await;
    match (saved, typed.into_inner()) {
        (Ok(Ok(change)), _) => Ok(Saved::Stored(change.after)),
        (Ok(Err((typed, problems))), _) => Ok(Saved::Refused(typed, problems)),
        (Err(error), Some(typed)) => {
            E::form_errors(req, target.organization, error).map(|problems| Saved::Refused(typed, problems))
        }
        (Err(error), None) => Err(error),
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
    let use_case = async |tx: &dyn Transaction| {
        let admin = E::admin(tx, target.organization);
        let before = find_for_update(admin.records(), target.organization_id, target.id).await?;
        store(tx, &target, Change::from_edit(before, req.now, |record| edit(record))).await
    };
    let changed = req.change_with_audit(use_case, |change| change_entry(req, &target, action, change));
    Ok(changed.await?.after)
}

/// Stores a change. One without effect is neither checked nor stored.
async fn store<E: EditableRecord>(
    tx: &dyn Transaction,
    target: &Target<'_, E>,
    change: Change<E>,
) -> Result<Change<E>> {
    if !change.is_empty() {
        change.after.check(Some(&change.before), target.organization)?;
        E::admin(tx, target.organization).change(target.organization_id, target.id, &change).await?;
    }
    Ok(change)
}

/// The entry of the audit trail about a change; `None` for one without effect.
fn change_entry<E: EditableRecord>(
    req: &AdminRequest,
    target: &Target<'_, E>,
    action: Action,
    change: &Change<E>,
) -> Option<NewAuditEntry> {
    let Change { before, after } = change;
    let entry = req.audit_entry(action).in_organization(target.organization_id);
    let entry = entry.with_object(E::NAME, &target.id.to_string(), &after.label(req));
    (!change.is_empty()).then(|| with_changes(entry, after.differences(before)))
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
    let use_case = async |tx: &dyn Transaction| {
        before_create(tx).await?;
        record.check(None, organization)?;
        E::admin(tx, organization).create(organization_id, record).await
    };
    let audit_entry = |id: &E::Id| {
        let entry = req.audit_entry(action).in_organization(organization_id);
        let entry = entry.with_object(E::NAME, &id.to_string(), &record.label(req));
        let details = record.creation_details().into_iter();
        Some(details.fold(entry, |entry, (field, value)| entry.with_change(field, None, Some(&value))))
    };
    req.change_with_audit(use_case, audit_entry).await
}

/// The entry of the audit trail with what differs between two states: fields with the old and the new value.
pub(crate) fn with_changes<F: AsRef<str>>(
    entry: NewAuditEntry,
    changes: impl IntoIterator<Item = (F, String, String)>,
) -> NewAuditEntry {
    changes
        .into_iter()
        .fold(entry, |entry, (field, old, new)| entry.with_change(field.as_ref(), Some(&old), Some(&new)))
}
