//! What all records of one import share, and the interface of a record type.

use super::error::{ExportError, RecordError};
use super::output::Output;
use super::record::Record;
use super::refs::Refs;
use super::report::{Outcome, Report};
use crate::{Announcer, Ports};
use async_trait::async_trait;
use civitas_accounts::Passwords;
use civitas_kernel::{Locales, OrganizationId};
use time::OffsetDateTime;

/// Options of an import.
#[derive(Clone, Copy)]
pub struct ImportOptions<'a> {
    /// Does everything, then rolls back.
    pub dry_run: bool,
    /// Accepts hosts of one label, for deployments whose links begin with `http` (contract 03 §1.3).
    pub single_label_hosts: bool,
    /// The languages of the deployment. Texts in others are refused.
    pub locales: &'a Locales,
    /// The time of the import, in whole microseconds.
    pub now: OffsetDateTime,
    /// Renders the events of each created or changed record. `None` discards them.
    pub announcer: Option<&'a Announcer>,
}

/// What all records of one import share.
pub(super) struct ImportContext<'a> {
    /// The ports of the transaction.
    pub(super) ports: &'a dyn Ports,
    pub(super) passwords: &'a dyn Passwords,
    pub(super) options: ImportOptions<'a>,
    pub(super) refs: Refs<'a>,
    pub(super) report: Report,
    /// The ref of the current record.
    pub(super) reference: String,
}

/// The result of the import of one record.
#[derive(Debug)]
pub(super) struct ImportedRecord {
    /// The id that is stored for the ref; `<kind>/<number>` for a space.
    pub(super) id: String,
    /// The number clients see, if it is not the one in `id`.
    pub(super) number: Option<i64>,
    pub(super) outcome: Outcome,
}

/// A record type. An instance serves one import or one export and may cache rows for that time.
#[async_trait]
pub(super) trait RecordType: Send {
    /// The value of `type`.
    fn name(&self) -> &'static str;

    /// Adds a row, changes an existing one, or leaves it as it is.
    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: Record,
    ) -> Result<ImportedRecord, RecordError>;

    /// Writes the rows of an organization; `None`: the rows that belong to no organization.
    async fn export(
        &mut self,
        ports: &dyn Ports,
        organization: Option<OrganizationId>,
        output: &mut Output<'_>,
    ) -> Result<(), ExportError>;

    /// Drops cached rows that depend on rows of the type `name`. Called after each change of such a row.
    fn invalidate(&mut self, _name: &str) {}
}
