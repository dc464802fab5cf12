//! The listener for operators: `/live`, `/ready` and `/metrics`. It answers while the public listener stops.

use crate::background::FailureFlag;
use crate::http_thread::HttpThread;
use actix_web::http::header::ContentType;
use actix_web::{App, HttpResponse, HttpServer, web};
use civitas_application::{SharedResource, Store, metrics};
use civitas_kernel::{Result, clock};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long a result of the database is used.
const FRESH: Duration = Duration::from_secs(3);
/// How long the database may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The running listener.
pub(crate) struct OperationsListener {
    pub(crate) server: HttpThread,
    state: Arc<State>,
}

/// What the answers depend on.
struct State {
    store: Arc<dyn Store>,
    /// Whether the server writes nothing.
    read_only: bool,
    failed: FailureFlag,
    is_stopping: AtomicBool,
    /// Whether the database could be written, and when that was tried.
    ready: Mutex<Option<(Instant, bool)>>,
    /// When the figures of the database were read.
    measured: Mutex<Option<Instant>>,
}

impl OperationsListener {
    /// Starts listening. `read_only`: the server writes nothing.
    pub(crate) async fn start(
        listen: SocketAddr,
        store: Arc<dyn Store>,
        read_only: bool,
        failed: FailureFlag,
    ) -> Result<Self> {
        metrics::count_requests();
        for share in SharedResource::ALL {
            metrics::add_share(share.as_str());
        }
        let is_stopping = AtomicBool::new(false);
        let state = Arc::new(State {
            store,
            read_only,
            failed,
            is_stopping,
            ready: Mutex::default(),
            measured: Mutex::default(),
        });
        let shared = state.clone();
        let bind = move || server(listen, shared);
        let server = HttpThread::start("operations", "the listener for operators", listen, bind).await?;
        tracing::info!(address = %server.address, "listening for operators");
        Ok(Self { server, state })
    }

    /// From now on the server is not ready.
    pub(crate) fn begin_stop(&self) {
        self.state.is_stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn stop(self) {
        self.server.stop(false).await;
    }
}

fn server(listen: SocketAddr, state: Arc<State>) -> io::Result<(SocketAddr, actix_web::dev::Server)> {
    let http = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::from(state.clone()))
            .route("/live", web::get().to(live))
            .route("/ready", web::get().to(ready))
            .route("/metrics", web::get().to(show_metrics))
    });
    let http = http.workers(1).disable_signals().bind(listen)?;
    let address = http.addrs().first().copied().unwrap_or(listen);
    Ok((address, http.run()))
}

/// 503 when only a restart helps.
async fn live(state: web::Data<State>) -> HttpResponse {
    answer(if state.failed.get() { Err("a part of the background work has failed\n") } else { Ok("live\n") })
}

async fn ready(state: web::Data<State>) -> HttpResponse {
    answer(if state.is_stopping.load(Ordering::Relaxed) {
        Err("stopping\n")
    } else if state.is_ready().await {
        Ok(if state.read_only { "ready, read-only\n" } else { "ready\n" })
    } else {
        Err("the database does not answer\n")
    })
}

/// 200 with the text of a good state, 503 with that of a bad one.
fn answer(state: Result<&'static str, &'static str>) -> HttpResponse {
    let (mut answer, text) = match state {
        Ok(text) => (HttpResponse::Ok(), text),
        Err(text) => (HttpResponse::ServiceUnavailable(), text),
    };
    answer.content_type(ContentType::plaintext()).body(text)
}

async fn show_metrics(state: web::Data<State>) -> HttpResponse {
    state.measure().await;
    match metrics::render() {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text),
        Err(error) => {
            tracing::error!(%error, "the metrics have no text");
            HttpResponse::InternalServerError().finish()
        }
    }
}

impl State {
    /// Whether the database can be written, or read where nothing is written; tried at most every few seconds.
    async fn is_ready(&self) -> bool {
        let mut ready = self.ready.lock().await;
        if let Some((at, is_ready)) = *ready
            && at.elapsed() < FRESH
        {
            return is_ready;
        }
        let check = async {
            if self.read_only { self.store.ready().await } else { self.store.check_writable().await }
        };
        let found = timeout(TIMEOUT, check).await;
        if let Ok(Err(error)) = &found {
            tracing::warn!(%error, "the server is not ready");
        }
        let is_ready = matches!(found, Ok(Ok(())));
        *ready = Some((Instant::now(), is_ready));
        is_ready
    }

    /// Reads the figures of the database; at most every few seconds. The last ones stay if it does not answer.
    async fn measure(&self) {
        let mut measured = self.measured.lock().await;
        if measured.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        match timeout(TIMEOUT, self.store.operations().oldest_waiting()).await {
            Ok(Ok(waiting)) => metrics::set_waiting(&waiting, clock::now()),
            Ok(Err(error)) => tracing::warn!(%error, "the figures of the database could not be read"),
            Err(_) => tracing::warn!("the database took too long for its figures"),
        }
        *measured = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::{BackgroundTask, run};
    use civitas_tests::Database;
    use civitas_tests::service::http;
    use tokio::sync::watch;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_is_not_live_after_a_background_task_has_panicked() {
        let (store, failed) = (Database::in_memory().await.store(), FailureFlag::default());
        let listen = "127.0.0.1:0".parse().unwrap();
        let operations = OperationsListener::start(listen, store, false, failed.clone()).await.unwrap();
        let live = async || {
            let answer =
                http().get(format!("http://{}/live", operations.server.address)).send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        assert_eq!(live().await, (200, "live\n".to_owned()));
        let (_stop, runs) = watch::channel(false);
        run(vec![BackgroundTask::new("part", async { panic!("of this test") })], runs, &failed).await;
        assert_eq!(live().await, (503, "a part of the background work has failed\n".to_owned()));
        operations.stop().await;
    }
}
