//! `civitas organization`: moves an organization to another deployment (a cell), and lists the hosts that are served here.
//!
//! Source and target keep the state of a move in the row of the organization ([`MoveState`]). The target serves it only when
//! its rows were compared with those of the source and the source has stopped to serve it; until then each step can be
//! repeated, or undone. docs/decisions/0072-cells.md gives the reasons.

mod cell;

use super::archive::{export_audit_entry, write_export_entry};
use super::{CommandError, CommandResult, Console, configure};
use crate::config::{Config, SettingSources};
use crate::secret_key::create_private_directory;
use cell::{Cell, export_options, state_in};
use civitas_application::{Transaction, index_texts};
use civitas_kernel::{Error, EventName, OrganizationId};
use civitas_organizations::MoveState;
use civitas_webhooks::{EventPosition, RelayedEvent};
use std::io::{self, Seek};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// From the beginning of the read-only time until no server begins a write of the organization: servers know its state after
/// 1 s (cached lookups), and a request that was let in before waits at most 2 s for a connection. Transactions that are open
/// then are not waited for, because no port shows them: what they commit before the comparison is found by it.
const SETTLE: Duration = Duration::from_secs(3);
/// The longest wait for the relay of the source. Events that it does not relay in this time are not copied.
const MAX_RELAY_WAIT: Duration = Duration::from_secs(5);
/// The interval of the searches for jobs and events.
const SEARCH: Duration = Duration::from_millis(100);
/// The hosts or events of one read.
const PAGE: i64 = 500;

#[derive(Debug, clap::Subcommand)]
pub(super) enum OrganizationCommand {
    /// Moves an organization with ids, files and secrets to another deployment: it is read-only meanwhile. The same command
    /// completes a move that was interrupted.
    Move(MoveArgs),
    /// Deletes what is left here of an organization that was moved.
    Forget {
        /// Its primary host.
        host: String,
    },
    /// Prints the hosts that are served here, a line each: a map for a proxy, from a host to a backend.
    Hosts {
        /// The name of the backend of this deployment.
        backend: String,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The primary host of the organization.
    host: String,
    /// The settings of the other deployment. Environment variables and flags are those of this one.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Undoes a move that was interrupted: deletes what the target has, and allows writes here.
    #[arg(long)]
    cancel: bool,
}

pub(super) async fn run(
    command: OrganizationCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let here = Cell::open(config).await?;
    match command {
        OrganizationCommand::Move(args) => {
            // The credentials of object storage are in no file of settings.
            let variables = sources.environment.iter().filter(|(name, _)| name.starts_with("AWS_"));
            let sources = SettingSources {
                environment: variables.cloned().collect(),
                file: Some(args.to),
                ..SettingSources::default()
            };
            let target = Cell::open(Config::load(&sources)?).await?;
            let cells = OrganizationMove { host: host_of(&args.host), source: here, target };
            if args.cancel { cells.cancel(console).await } else { cells.run(console).await }
        }
        OrganizationCommand::Forget { host } => {
            let host = host_of(&host);
            let found = here.find(&host).await?;
            if found.and_then(|(_, state)| state) != Some(MoveState::Left) {
                return Err(failure(format!("{host} is no organization that was moved from here")));
            }
            here.remove(&host).await
        }
        OrganizationCommand::Hosts { backend } => {
            let mut after = String::new();
            loop {
                let hosts = here.store.organizations().served_hosts(&after, PAGE).await?;
                let Some(last) = hosts.last() else { return Ok(()) };
                after.clone_from(last);
                for host in hosts {
                    console.print(format_args!("{host} {backend}"))?;
                }
            }
        }
    }
}

fn host_of(text: &str) -> String {
    text.trim().to_lowercase()
}

fn failure(reason: impl Into<String>) -> CommandError {
    CommandError::Because(reason.into())
}

/// A move of the organization with this host.
struct OrganizationMove {
    host: String,
    source: Cell,
    target: Cell,
}

impl OrganizationMove {
    /// The state at the source, and at the target if it is there.
    async fn states(&self) -> CommandResult<(OrganizationId, Option<MoveState>, Option<Option<MoveState>>)> {
        let host = &self.host;
        let found = self.source.find(host).await?;
        let (id, here) = found.ok_or_else(|| failure(format!("no organization has the host {host}")))?;
        if here == Some(MoveState::Arriving) {
            return Err(failure(format!(
                "{host} is moved to this deployment: complete or cancel that first"
            )));
        }
        let there = self.target.find(host).await?.map(|(_, state)| state);
        if here == Some(MoveState::Left) && !matches!(there, Some(Some(MoveState::Arriving) | None)) {
            return Err(failure(format!("{host} was moved from here to another deployment")));
        }
        Ok((id, here, there))
    }

    async fn run(&self, console: &mut Console<'_>) -> CommandResult {
        let host = &self.host;
        match self.states().await? {
            (_, Some(MoveState::Left), Some(Some(_))) => self.switch().await?,
            (_, Some(MoveState::Left), _) => {}
            (_, _, Some(None | Some(MoveState::Leaving))) => {
                return Err(failure(format!(
                    "the other deployment has an organization with the host {host}"
                )));
            }
            (id, ..) => {
                self.target.remove(host).await?;
                let begun = Instant::now();
                let copied = match self.copy(id).await {
                    Ok(copied) => copied,
                    Err(error) => {
                        self.undo().await?;
                        return Err(error);
                    }
                };
                self.switch().await?;
                let ((records, bytes), time) = (copied, begun.elapsed().as_secs_f64());
                console.print(format_args!("{records} records, {bytes} bytes; read-only for {time:.1} s"))?;
            }
        }
        console.print(format_args!("{host} is served by the other deployment: send its requests there"))?;
        let (_sender, stop) = watch::channel(false);
        Ok(index_texts(&*self.target.store, stop).await?)
    }

    /// Makes the organization read-only, copies it, and compares. Returns the numbers of records and bytes.
    async fn copy(&self, id: OrganizationId) -> CommandResult<(u64, u64)> {
        let (host, source, target) = (&self.host, &self.source, &self.target);
        let leaving = Some(MoveState::Leaving);
        source.change_state(host, &[None, leaving], leaving).await?;
        write_export_entry(&*source.store, &export_audit_entry(&export_options(host))).await?;
        let taken = target.store.id_spaces().taken("organization", &[id.0]).await;
        if taken?.is_some() {
            return Err(failure(format!("the other deployment has an organization with the id {id}")));
        }
        tokio::time::sleep(SETTLE).await;
        source.wait_for_jobs(id).await?;
        create_private_directory(&source.config.data_dir)?;
        let archive = tempfile::tempfile_in(&source.config.data_dir)?;
        let exported = source.export(host, &archive).await?;
        (&archive).rewind()?;
        let bytes = archive.metadata()?.len();
        let records = target.import(host, archive).await?;
        let (again, imported) =
            tokio::join!(source.export(host, io::sink()), target.export(host, io::sink()));
        if exported != again? || source.has_jobs(id).await? {
            return Err(failure(format!("{host} was changed during the move")));
        }
        if exported != imported? {
            return Err(failure("the imported records differ from the exported ones"));
        }
        Ok((records, bytes))
    }

    /// Ends the service of the source, then begins that of the target.
    async fn switch(&self) -> CommandResult {
        let (host, left) = (&self.host, Some(MoveState::Left));
        self.source.change_state(host, &[Some(MoveState::Leaving), left], left).await?;
        let begun = Instant::now();
        while begun.elapsed() < MAX_RELAY_WAIT && self.source.store.outbox().has_unrelayed().await? {
            tokio::time::sleep(SEARCH).await;
        }
        let tx = self.target.store.begin_long().await?;
        match state_in(&*tx, host).await? {
            Some((id, Some(MoveState::Arriving))) => {
                self.copy_events(id, &*tx).await?;
                tx.organizations().set_move_state(id, None).await?;
                Ok(tx.commit().await?)
            }
            _ => Err(failure(format!("another command has changed the state of {host}"))),
        }
    }

    /// Adds the events of the source to the outbox of the target, with positions in their order: readers continue after the
    /// last one they have, and nothing is delivered again. Those of an earlier stay are there.
    async fn copy_events(&self, id: OrganizationId, tx: &dyn Transaction) -> Result<(), Error> {
        let mut after = EventPosition::default();
        loop {
            let page = self.source.store.outbox().relayed_of(id, &EventName::ALL, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.position;
            let mut events = Vec::new();
            for RelayedEvent { event, .. } in page {
                if tx.outbox().position_of(id, event.id).await?.is_none() {
                    events.push(event);
                }
            }
            let ids: Vec<_> = events.iter().map(|event| event.id).collect();
            tx.outbox().append(&events).await?;
            tx.outbox().assign_positions(&ids).await?;
        }
    }

    async fn cancel(&self, console: &mut Console<'_>) -> CommandResult {
        let host = &self.host;
        if let (_, _, Some(None)) = self.states().await? {
            return Err(failure(format!("the other deployment serves {host}: move it back instead")));
        }
        self.undo().await?;
        console.print(format_args!("{host} is served by this deployment"))
    }

    /// Deletes what the target has, then allows writes at the source.
    async fn undo(&self) -> CommandResult {
        let leaving = Some(MoveState::Leaving);
        let from = [None, leaving, Some(MoveState::Left)];
        self.source.change_state(&self.host, &from, leaving).await?;
        self.target.remove(&self.host).await?;
        self.source.change_state(&self.host, &[leaving], None).await
    }
}
