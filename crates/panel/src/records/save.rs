//! The one way in which pages create and change records: one transaction with the lock, what was typed, the comparison
//! with the state that the form was opened with, the rules, the record, and the entry of the audit trail.

use crate::error;
use crate::pages::content::{field_of, with_changes};
use crate::parts::Problem;
use crate::visit::Visit;
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
    fn admin<'a>(ports: &'a dyn Ports, home: &Organization) -> Box<dyn RecordAdmin<Self> + 'a>;

    /// The rules for what administrators write, besides those of [`Self::admin`]. `before`: the state it replaces.
    ///
    /// # Errors
    /// `Invalid` with the fields.
    fn check(&self, _before: Option<&Self>, _home: &Organization) -> Result<()> {
        Ok(())
    }

    /// The name that the audit trail gives it.
    fn label(&self, visit: &Visit) -> String;

    /// The problems of a refused record, beside their fields.
    ///
    /// # Errors
    /// The error itself when no value is to blame.
    fn problems(visit: &Visit, home: &Organization, fault: Error) -> Result<Vec<Problem>> {
        error::problems(&visit.words, fault, |fault| field_of(Self::NAME, home, fault))
    }
}

/// A record to save.
pub(crate) struct Target<'a, E: Entity> {
    pub(crate) organization: OrganizationId,
    /// The organization's record.
    pub(crate) home: &'a Organization,
    pub(crate) id: E::Id,
}

/// What came of a form.
pub(crate) enum Saved<E> {
    /// The record as it is stored.
    Stored(E),
    /// The record as it was typed, and why it was not stored.
    Refused(E, Vec<Problem>),
}

/// Saves the form of a record. `read` writes what was typed into the record, and returns what cannot be read; it is
/// called under the lock. The form is refused when the record is not as it was when the form was opened.
///
/// # Errors
/// `NotFound` when there is no such record. Those of the database.
pub(crate) async fn save<E: EditableRecord>(
    visit: &Visit,
    target: Target<'_, E>,
    action: Action,
    read: impl Fn(&mut E) -> Vec<Problem>,
) -> Result<Saved<E>> {
    let typed = RefCell::new(None);
    let saved = visit
        .change(async |tx| {
            let admin = E::admin(tx, target.home);
            let before = find_for_update(admin.records(), target.organization, target.id).await?;
            let mut after = before.clone();
            let mut problems = read(&mut after);
            if problems.is_empty()
                && let Err(fault) = check_revision(Some(visit.form_revision()), &before.revision())
            {
                problems = E::problems(visit, target.home, fault)?;
            }
            if !problems.is_empty() {
                return Ok(Saved::Refused(after, problems));
            }
            *typed.borrow_mut() = Some(after.clone());
            let change = Change::of(before, visit.now, |own| *own = after);
            store(visit, tx, &target, action, change).await.map(Saved::Stored)
        })
        .await;
    match (saved, typed.into_inner()) {
        (Err(fault), Some(typed)) => {
            let problems = E::problems(visit, target.home, fault)?;
            Ok(Saved::Refused(typed, problems))
        }
        (saved, _) => saved,
    }
}

/// Changes a record by an act, whatever its state is.
///
/// # Errors
/// `NotFound` when there is no such record. Those of the rules.
pub(crate) async fn change<E: EditableRecord>(
    visit: &Visit,
    target: Target<'_, E>,
    action: Action,
    edit: impl Fn(&mut E),
) -> Result<E> {
    visit
        .change(async |tx| {
            let admin = E::admin(tx, target.home);
            let before = find_for_update(admin.records(), target.organization, target.id).await?;
            store(visit, tx, &target, action, Change::of(before, visit.now, |record| edit(record))).await
        })
        .await
}

/// Stores a change with an entry in the audit trail. A change without effect is neither checked nor recorded.
async fn store<E: EditableRecord>(
    visit: &Visit,
    tx: &dyn Transaction,
    target: &Target<'_, E>,
    action: Action,
    change: Change<E>,
) -> Result<E> {
    if change.is_empty() {
        return Ok(change.after);
    }
    change.after.check(Some(&change.before), target.home)?;
    E::admin(tx, target.home).change(target.organization, target.id, &change).await?;
    record_change(visit, tx, (target.organization, target.id), action, &change).await?;
    Ok(change.after)
}

/// Adds the entry of a stored change to the audit trail. For use cases that store a change themselves.
async fn record_change<E: EditableRecord>(
    visit: &Visit,
    tx: &dyn Transaction,
    (organization, id): (OrganizationId, E::Id),
    action: Action,
    Change { before, after }: &Change<E>,
) -> Result<()> {
    let entry = visit.record(action).of(organization);
    let entry = entry.on(E::NAME, &id.to_string(), &after.label(visit));
    let entry = with_changes(entry, after.differences(before));
    visit.append(tx, &entry).await
}

/// Stores a new record, with an entry in the audit trail. `prepare` runs first, in the same transaction.
///
/// # Errors
/// Those of `prepare` and of the rules.
pub(crate) async fn create<E: EditableRecord>(
    visit: &Visit,
    organization: OrganizationId,
    home: &Organization,
    (record, action): (&E, Action),
    prepare: impl AsyncFn(&dyn Ports) -> Result<()>,
) -> Result<E::Id> {
    visit
        .change(async |tx| {
            prepare(tx).await?;
            record.check(None, home)?;
            let id = E::admin(tx, home).create(organization, record).await?;
            let entry = visit.record(action).of(organization);
            let entry = entry.on(E::NAME, &id.to_string(), &record.label(visit));
            visit.append(tx, &entry).await?;
            Ok(id)
        })
        .await
}
