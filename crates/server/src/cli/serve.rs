//! `civitas serve`: runs until a signal stops it.

use super::{CommandError, Outcome, because, configure_server};
use crate::config::Sources;
use crate::store::Database;
use crate::traces::Traces;
use crate::wiring::{self, Parts, Running};
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

pub(super) async fn run(args: ServeArgs, sources: &Sources) -> Outcome {
    let (config, traces) = configure_server(sources)?;
    // Reported first: a missing key can be detected without a database.
    crate::secret_key::of(&config).map_err(because)?;
    let parts = Parts { http: !args.only_workers, workers: !args.no_workers };
    let database = Database::of(&config);
    let store = database.open_current().await.map_err(because)?.map_err(CommandError::Because)?;
    // Not earlier: while the database does not answer, or is migrated, a signal ends the process.
    let signals = Signals::listen().map_err(because)?;
    let lock = database.lock().map_err(because)?;
    let running = wiring::start_over(config, parts, store, lock).await.map_err(because)?;
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
pub(super) async fn until_stopped(running: Running, traces: Option<Traces>, mut signals: Signals) -> Outcome {
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
