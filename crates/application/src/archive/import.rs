//! Import: reads an archive into the database in one transaction, line by line.

use super::context::{ImportContext, ImportOptions, ImportedRecord, RecordType};
use super::error::{ImportError, RecordError};
use super::files::{ImportedFiles, delete_objects};
use super::lines::Lines;
use super::record::{self, Head, Record};
use super::refs::{RecordId, Refs, unknown};
use super::report::{Outcome, Report};
use super::target::Target;
use super::types;
use crate::{Store, Transaction};
use civitas_accounts::Passwords;
use civitas_audit::{Action, Actor, Record as AuditRecord};
use civitas_kernel::OrganizationId;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Lines read, blank ones included.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// One import.
struct Import<'a> {
    transaction: &'a dyn Transaction,
    types: Vec<Box<dyn RecordType>>,
    context: ImportContext<'a>,
    target: Option<Target>,
}

/// Reads an archive into the database in one transaction (contract 10 §1).
///
/// A record with a known ref updates its row with the members it has; equal values change nothing. Events are
/// discarded unless there is an announcer. Memory is bounded for files of any length. `progress` is called after
/// each line.
///
/// # Errors
/// [`ImportError::Line`] for the first invalid line, [`ImportError::Store`] when the database fails.
pub async fn import(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ImportError> {
    let transaction = store.begin().await.map_err(|error| ImportError::Store(0, error))?;
    let context = ImportContext {
        ports: &*transaction,
        passwords,
        options,
        refs: Refs::new(&*transaction),
        report: Report::default(),
        reference: String::new(),
        files: ImportedFiles::new(options.files, options.dry_run),
    };
    let target = options.into.map(Target::new);
    let mut import = Import { transaction: &*transaction, types: types::all(), context, target };
    let done = match import.run(Lines::new(input), progress).await {
        Ok(()) => import.record().await.map_err(|error| ImportError::Store(0, error)),
        Err(error) => Err(error),
    };
    let Import { context: ImportContext { files, report, .. }, .. } = import;
    let (done, stored) = (done.map(|()| report), files.into_stored());
    if done.is_err() || options.dry_run {
        transaction.rollback().await;
        delete_objects(options.files, &stored).await;
    } else {
        let committed = transaction.commit().await;
        if committed.is_err() {
            delete_objects(options.files, &stored).await;
        }
        committed.map_err(|error| ImportError::Store(0, error))?;
        // The records are committed even if this fails.
        if let Err(error) = store.analyze().await {
            tracing::warn!(%error, "the table statistics could not be updated; reads may be slow until they are");
        }
    }
    done
}

impl Import<'_> {
    /// The entry of the audit trail, if the archive changed anything.
    async fn record(&self) -> civitas_kernel::Result<()> {
        let ImportContext { report, options, .. } = &self.context;
        let sum = |counts: &BTreeMap<&str, u64>| counts.values().sum::<u64>();
        let (created, updated) = (sum(&report.created), sum(&report.updated));
        if created + updated == 0 {
            return Ok(());
        }
        let mut record = AuditRecord::new(Actor::Archive, Action::ArchiveImported)
            .changed("created", None, Some(&created.to_string()))
            .changed("updated", None, Some(&updated.to_string()));
        if let Some(host) = options.into {
            record = record.on("organization", "", host);
        }
        self.transaction.audit().append(&record, options.now).await.map(drop)
    }

    async fn run(
        &mut self,
        mut lines: Lines<impl BufRead + Send>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), ImportError> {
        if let Some(target) = &mut self.target {
            target.find(self.context.ports).await.map_err(|error| ImportError::Store(0, error))?;
        }
        loop {
            let (line, count) = match lines.next() {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => (record::read(line), lines.count),
                Err(error) => return Err(RecordError::from(error.to_string()).at(lines.count, None)),
            };
            let (head, members) = line.map_err(|error| error.at(count, None))?;
            self.context.files.long_texts = lines.long_texts();
            self.import_record(&head, members)
                .await
                .map_err(|error| error.at(count, Some((head.kind, head.reference))))?;
            progress(Progress { lines: lines.count, bytes: lines.bytes });
        }
    }

    async fn import_record(&mut self, head: &Head, members: Map<String, Value>) -> Result<(), RecordError> {
        let Self { transaction, types, context, target } = self;
        let kind = types::find(types, &head.kind);
        let kind = kind.ok_or_else(|| format!("type {:?} is not known", head.kind))?;
        let name = kind.name();
        let organization = match &head.organization {
            Some(reference) => Some(find_organization(context, reference).await?),
            None => None,
        };
        if let Some(target) = target.as_ref().filter(|_| name != types::ORGANIZATION) {
            target.check(organization)?;
        }
        let existing_id = context.refs.find(organization, name, &head.reference).await?;
        context.reference.clone_from(&head.reference);
        let record = Record { organization, existing_id: existing_id.clone(), members };
        let imported = kind.import(context, record).await?;
        if let Some(target) = target.as_mut().filter(|_| name == types::ORGANIZATION) {
            target.check_organization(context.ports, &imported).await?;
        }
        if existing_id.as_ref() != Some(&imported.id) {
            context.refs.add(organization, name, &head.reference, &imported.id).await?;
        }
        add_to_report(&mut context.report, name, head, &imported);
        if imported.outcome == Outcome::Updated {
            for kind in types {
                kind.invalidate(name);
            }
        }
        match context.options.announcer {
            Some(announcer) => announcer.render_recorded_events(*transaction, context.options.now).await?,
            None => drop(transaction.announced()),
        }
        Ok(())
    }
}

async fn find_organization(
    context: &mut ImportContext<'_>,
    reference: &str,
) -> Result<OrganizationId, RecordError> {
    let id = context.refs.find(None, types::ORGANIZATION, reference).await?;
    id.as_deref().and_then(OrganizationId::parse).ok_or_else(|| unknown(types::ORGANIZATION, reference))
}

fn add_to_report(report: &mut Report, name: &'static str, head: &Head, imported: &ImportedRecord) {
    report.count(name, imported.outcome);
    let own_reference = (name == types::ORGANIZATION).then_some(head.reference.as_str());
    let organization = head.organization.as_deref().or(own_reference).unwrap_or_default();
    let in_id = || imported.id.rsplit('/').next().and_then(|number| number.parse().ok());
    let number = imported.number.or_else(in_id).unwrap_or_default();
    report.add_id(organization, name, &head.reference, number);
}
