//! Reading an archive into the database: one transaction, one line at a time.

use super::failure::{Fault, ImportError};
use super::lines::Lines;
use super::record::{self, Head, Record};
use super::refs::{Bounded, Refs, unknown};
use super::report::{Outcome, Report};
use super::types::{self, RecordType};
use crate::{Announcer, Ports, Store, Transaction};
use civitas_accounts::Passwords;
use civitas_kernel::{ComponentId, OrganizationId, ProposalId};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::io::BufRead;
use time::OffsetDateTime;

/// How an archive is read.
#[derive(Clone, Copy)]
pub struct ImportOptions<'a> {
    /// Everything is done and nothing is kept.
    pub dry_run: bool,
    /// Hosts of one label are accepted; for deployments whose links begin with `http` (contract 03 §1.3).
    pub single_label_hosts: bool,
    /// The time of the import, in whole microseconds.
    pub now: OffsetDateTime,
    /// Tells of every created or changed record what the same change tells of anywhere else; `None`: quiet.
    pub announcer: Option<&'a Announcer>,
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Lines read, blank ones included.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// What the records of one import share.
pub(super) struct Import<'a> {
    transaction: &'a dyn Transaction,
    /// The ports of the one transaction.
    pub(super) ports: &'a dyn Ports,
    pub(super) passwords: &'a dyn Passwords,
    pub(super) options: ImportOptions<'a>,
    pub(super) refs: Refs<'a>,
    pub(super) report: Report,
    /// The component a proposal stands in, and how many votes a user needs there before they count.
    pub(super) minimums: Bounded<ProposalId, (ComponentId, i64)>,
}

/// What became of a record: the id it is remembered by (contract 10: a space's is `<kind>/<number>`).
#[derive(Debug)]
pub(super) struct Put {
    id: String,
    outcome: Outcome,
}

impl Put {
    pub(super) fn created(id: impl Display) -> Self {
        Self { id: id.to_string(), outcome: Outcome::Created }
    }

    pub(super) fn updated(id: impl Display) -> Self {
        Self { id: id.to_string(), outcome: Outcome::Updated }
    }

    pub(super) fn unchanged(id: impl Display) -> Self {
        Self { id: id.to_string(), outcome: Outcome::Unchanged }
    }
}

/// Reads an archive into the database, all of it or nothing (contract 10 §1).
///
/// A record whose ref was seen before updates its row with the members it has; what it says again changes nothing.
/// Events wait for nobody unless there is an announcer. Memory stays bounded however long the file is. `progress` is told of each line.
///
/// # Errors
/// [`ImportError::Line`] for the first bad line, [`ImportError::Store`] when the database fails.
pub async fn import(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ImportError> {
    let transaction = store.begin().await.map_err(|error| ImportError::Store(0, error))?;
    let import = Import {
        transaction: &*transaction,
        ports: &*transaction,
        passwords,
        options,
        refs: Refs::over(transaction.refs()),
        report: Report::default(),
        minimums: Bounded::new(),
    };
    let done = import.run(Lines::of(input), progress).await;
    if done.is_err() || options.dry_run {
        transaction.rollback().await;
    } else {
        transaction.commit().await.map_err(|error| ImportError::Store(0, error))?;
        // The records are stored whatever becomes of this.
        if let Err(error) = store.analyze().await {
            tracing::warn!(%error, "the tables could not be measured; reads may be slow until they are");
        }
    }
    done
}

impl Import<'_> {
    async fn run(
        mut self,
        mut lines: Lines<impl BufRead + Send>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Report, ImportError> {
        loop {
            let (line, count) = match lines.next() {
                Ok(None) => return Ok(self.report),
                Ok(Some(line)) => (record::read(line), lines.count),
                Err(error) => return Err(Fault::from(error.to_string()).at(lines.count, None)),
            };
            let (head, members) = line.map_err(|fault| fault.at(count, None))?;
            self.put(&head, members)
                .await
                .map_err(|fault| fault.at(count, Some((head.kind, head.reference))))?;
            progress(Progress { lines: lines.count, bytes: lines.bytes });
        }
    }

    async fn put(&mut self, head: &Head, members: Map<String, Value>) -> Result<(), Fault> {
        let kind = types::find(&head.kind).ok_or_else(|| format!("type {:?} is not known", head.kind))?;
        let organization = match &head.organization {
            Some(reference) => Some(self.organization(reference).await?),
            None => None,
        };
        let seen = self.refs.find(organization, kind.name(), &head.reference).await?;
        let reference = head.reference.clone();
        let record = Record { reference, organization, seen: seen.clone(), members };
        let put = kind.put(self, record).await?;
        if seen.as_ref() != Some(&put.id) {
            self.refs.add(organization, kind.name(), &head.reference, &put.id).await?;
        }
        self.tell(kind, head, &put);
        match self.options.announcer {
            Some(announcer) => announcer.announce(self.transaction, self.options.now).await?,
            None => drop(self.transaction.announced()),
        }
        Ok(())
    }

    async fn organization(&mut self, reference: &str) -> Result<OrganizationId, Fault> {
        let found = self.refs.find(None, types::ORGANIZATION, reference).await?;
        let id = found.and_then(|id| id.parse().ok()).map(OrganizationId);
        id.ok_or_else(|| unknown(types::ORGANIZATION, reference))
    }

    fn tell(&mut self, kind: &dyn RecordType, head: &Head, put: &Put) {
        self.report.count(kind.name(), put.outcome);
        let own = (kind.name() == types::ORGANIZATION).then_some(head.reference.as_str());
        let home = head.organization.as_deref().or(own).unwrap_or_default();
        let number = put.id.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        self.report.name(home, kind.name(), &head.reference, number);
    }
}
