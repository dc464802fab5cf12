//! `civitas serve`: runs until a signal stops it.

use super::{CommandError, CommandResult, configure_server};
use crate::config::SettingSources;
use crate::store::Database;
use crate::traces::Traces;
use crate::wiring::{self, RunningServer, ServerParts};
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// Only the interface: jobs are executed by other processes.
    #[arg(long, conflicts_with = "only_workers")]
    no_workers: bool,
    /// Only background jobs: nothing listens.
    #[arg(long)]
    only_workers: bool,
}

pub(super) async fn run(args: ServeArgs, sources: &SettingSources) -> CommandResult {
    let (config, traces) = configure_server(sources)?;
    // Reported first: a missing key can be detected without a database.
    crate::secret_key::load(&config)?;
    let parts = ServerParts { http: !args.only_workers, workers: !args.no_workers };
    let database = Database::from_config(&config);
    let store = database.open_current().await?.map_err(CommandError::Because)?;
    // Not earlier: while the database does not answer, or is migrated, a signal ends the process.
    let signals = Signals::listen()?;
    let lock = database.lock()?;
    let running = wiring::start_with_store(config, parts, store, lock).await?;
    if let Some(link) = &running.setup_link {
        tracing::warn!(%link, "there is no administrator: this link creates the first one, and an organization");
    }
    until_stopped(running, traces, signals).await
}

/// The signals that a server handles.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Starts handling; signals before [`until_stopped`] are not lost.
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }
}

/// Runs until SIGTERM or SIGINT, then stops in order. SIGHUP reads the certificate again.
pub(super) async fn until_stopped(
    running: RunningServer,
    traces: Option<Traces>,
    mut signals: Signals,
) -> CommandResult {
    loop {
        tokio::select! {
            _ = signals.terminate.recv() => break,
            _ = signals.interrupt.recv() => break,
            _ = signals.hang_up.recv() => match running.reload_certificate() {
                Ok(()) => tracing::info!("the certificate was reloaded"),
                Err(error) => tracing::error!(%error, "the old certificate stays in use"),
            },
        }
    }
    tracing::info!("stopping");
    running.stop().await;
    if let Some(traces) = traces {
        traces.stop().await;
    }
    tracing::info!("stopped");
    Ok(())
}
