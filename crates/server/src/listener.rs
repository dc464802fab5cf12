//! The listener of the interface: as `HttpServer` of actix-web, with connections of our own type
//! ([`connection`](crate::connection), decision 0056).

use crate::admission::{Admission, Counted};
use crate::connection::{Io, Shared};
use crate::connection_limits::{Answering, HEAD_TIME, KEEP_ALIVE, Limits};
use crate::head_errors::HeadErrors;
use actix_http::error::DispatchError;
use actix_http::{HttpServiceBuilder, Request};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, apply_fn_factory, map_config,
};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_tls::accept::{TlsError, max_concurrent_tls_connect};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{AppConfig, Server, ServiceResponse};
use actix_web::http::header::HeaderName;
use actix_web::rt::net::TcpStream;
use civitas_application::metrics;
use rustls::ServerConfig;
use socket2::{Domain, Protocol, Socket, Type};
use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::yield_now;

/// How long a connection may take to end.
const END_TIME: Duration = Duration::from_secs(1);
/// How long requests may take to end when the server stops, in seconds.
const GRACE_SECONDS: u64 = 10;
/// The most connections that wait for their acceptance.
const BACKLOG: i32 = 1024;
/// TLS handshakes of one thread at once. A silent connection holds a few KiB until its time is over.
const HANDSHAKES: usize = 20_000;

/// What all connections have in common.
#[derive(Clone)]
struct Settings {
    admission: Arc<Admission>,
    /// The headers of each answer.
    headers: Vec<(HeaderName, &'static str)>,
    /// What the application learns of its listener.
    app: AppConfig,
}

/// What carries a connection.
trait Transport: AsyncRead + AsyncWrite + Unpin + 'static {
    fn tcp(&self) -> &TcpStream;
}

impl Transport for Counted {
    fn tcp(&self) -> &TcpStream {
        self.tcp()
    }
}

impl Transport for TlsStream<Counted> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0.tcp()
    }
}

/// Serves an application, which each thread makes for itself, over HTTP/1; with `tls` over HTTPS. `headers`: those of each
/// answer. The result has the address, with the port that the system chose.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) fn serve<F, A, S, B>(
    address: SocketAddr,
    tls: Option<ServerConfig>,
    admission: Arc<Admission>,
    headers: Vec<(HeaderName, &'static str)>,
    app: F,
) -> io::Result<(SocketAddr, Server)>
where
    F: Fn() -> A + Send + Clone + 'static,
    A: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse<B>, Error = actix_web::Error>,
    S: ServiceFactory<Request, InitError = ()> + 'static,
    S::Service: 'static,
    B: MessageBody + 'static,
{
    let listener = listen(address)?;
    let address = listener.local_addr()?;
    let server = Server::build().disable_signals().shutdown_timeout(GRACE_SECONDS);
    let stop = server.graceful_shutdown_signal();
    // Public for tests of actix-web only; `HttpServer` alone has another way.
    let config = AppConfig::__priv_test_new(tls.is_some(), address.to_string(), address);
    let settings = Settings { admission, headers, app: config };
    let stopped = move || {
        let stop = stop.clone();
        async move { stop.notified().await }
    };
    let name = format!("civitas-{address}");
    let server = match tls {
        None => server.listen(name, listener, move || {
            let app = app().into_factory();
            counted(
                connections::<Counted, _, _, _>(app, settings.clone(), stopped.clone()),
                settings.admission.clone(),
            )
        })?,
        Some(mut tls) => {
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
            // More TLS handshakes at once would stop the acceptance of connections for as long as clients are silent.
            max_concurrent_tls_connect(HANDSHAKES);
            server.listen(name, listener, move || {
                let app = app().into_factory();
                let connections =
                    connections::<TlsStream<Counted>, _, _, _>(app, settings.clone(), stopped.clone());
                let mut acceptor = Acceptor::new(tls.clone());
                acceptor.set_handshake_timeout(HEAD_TIME);
                let acceptor = acceptor
                    .map(|stream| metrics::tls_handshake("succeeded", stream))
                    .map_err(handshake_failed);
                let connections = acceptor.and_then(connections.map_err(TlsError::Service));
                counted(connections, settings.admission.clone())
            })?
        }
    };
    Ok((address, server.run()))
}

/// Counts a TLS handshake that failed, or did not end in time.
fn handshake_failed(error: TlsError<io::Error, Infallible>) -> TlsError<io::Error, DispatchError> {
    let outcome = if matches!(error, TlsError::Timeout) { "late" } else { "failed" };
    tracing::debug!(outcome, "a TLS handshake did not succeed");
    metrics::tls_handshake(outcome, error.into_service_error())
}

/// A socket as `HttpServer` makes it.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    #[cfg(windows)]
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Counts each connection from its acceptance to its end, also during a TLS handshake. Closes those that are too many.
fn counted<F>(
    connections: F,
    admission: Arc<Admission>,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = F::Error, InitError = F::InitError>
where
    F: ServiceFactory<Counted, Config = (), Response = ()>,
{
    apply_fn_factory(connections, move |stream: TcpStream, connections: &F::Service| {
        let connection = admission.count(stream).map(|stream| connections.call(stream));
        async move {
            match connection {
                Some(connection) => connection.await,
                None => Ok(()),
            }
        }
    })
}

/// Serves each connection to its end. `stopped` resolves when the server begins to stop.
fn connections<T, S, B, N>(
    app: S,
    settings: Settings,
    stopped: impl Fn() -> N + 'static,
) -> impl ServiceFactory<T, Config = (), Response = (), Error = DispatchError, InitError = ()>
where
    T: Transport,
    S: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse<B>, Error = actix_web::Error>,
    S: ServiceFactory<Request, InitError = ()> + 'static,
    S::Service: 'static,
    B: MessageBody + 'static,
    N: Future<Output = ()> + 'static,
{
    let Settings { admission, headers, app: config } = settings;
    let is_stopping = Cell::new(false);
    let shared = Rc::new(Shared { errors: HeadErrors::new(&headers), stall: admission.stall(), is_stopping });
    let stopping = shared.clone();
    let http = HttpServiceBuilder::default().keep_alive(KEEP_ALIVE).client_request_timeout(HEAD_TIME);
    let http = http.client_disconnect_timeout(END_TIME);
    let http = http.on_connect_ext(|io: &Io<T>, data| drop(data.insert(io.limits())));
    let http = http.graceful_shutdown_signal(move || {
        let (stopped, shared) = (stopped(), stopping.clone());
        async move {
            stopped.await;
            shared.is_stopping.set(true);
        }
    });
    let app = apply_fn_factory(app, |mut request: Request, app: &S::Service| {
        let limits = request.conn_data::<Rc<Limits>>().cloned();
        let answering = limits.map(|limits| limits.begin(&mut request));
        let answer = app.call(request);
        async move {
            if answering.as_ref().is_some_and(Answering::has_whole_body) {
                // The dispatcher takes the body. Else an answer at once, without the body, would end the connection.
                yield_now().await;
            }
            let answer = answer.await?.map_into_boxed_body();
            if let Some(answering) = &answering {
                answering.body_arrived().await;
            }
            Ok(match answering {
                Some(answering) => answer.map_body(|_, body| BoxBody::new(answering.body(body))),
                None => answer,
            })
        }
    });
    let app = app.map_err(|error: actix_web::Error| error.error_response());
    let http = http.h1(map_config(app, move |()| config.clone()));
    apply_fn_factory(http, move |stream: T, http: &_| {
        let peer = stream.tcp().peer_addr().ok();
        // An answer in several pieces would wait for the acknowledgement of the first one, 40 ms on Linux.
        let _ = stream.tcp().set_nodelay(true);
        let io = Io::new(stream, shared.clone());
        let handle = io.handle();
        io.run(http.call((handle, peer)))
    })
}
