//! The listener of the interface: actix-http over connections that are counted and have time limits (decision 0063).

use crate::connection_limiter::{ConnectionLimiter, TimeLimitedStream};
use actix_http::error::DispatchError;
use actix_http::{HttpServiceBuilder, Request};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, Server, ServiceResponse};
use actix_web::rt::net::TcpStream;
use actix_web::rt::time::timeout;
use civitas_application::metrics;
use rustls::ServerConfig;
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// How long a TLS handshake may take, and the first head of a connection.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection may be idle: longer than the 60 s of proxies, which answer 502 if it ends while a request arrives.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long the rest of a body is read that no handler read. Otherwise the client may lose the answer to a reset.
const END_TIME: Duration = Duration::from_secs(5);
/// How long requests may take to end when the server stops, in seconds.
const GRACE_SECONDS: u64 = 10;

/// A connection with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Serves an application, which each thread makes for itself, over HTTP/1; with `tls` over HTTPS. The result has the
/// address, with the port that the system chose.
pub(crate) fn serve<F, A, S, B>(
    address: SocketAddr,
    tls: Option<ServerConfig>,
    limiter: Arc<ConnectionLimiter>,
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
    let listener = TcpListener::bind(address)?;
    // So many connections may wait for their acceptance.
    SockRef::from(&listener).listen(1024)?;
    let address = listener.local_addr()?;
    let tls = tls.map(|tls| TlsAcceptor::from(Arc::new(tls)));
    let server = Server::build().disable_signals().shutdown_timeout(GRACE_SECONDS);
    let stop = server.graceful_shutdown_signal();
    let server = server.listen(format!("civitas-{address}"), listener, move || {
        let (tls, limiter, stop) = (tls.clone(), limiter.clone(), stop.clone());
        let app = app().into_factory().map_err(|error: actix_web::Error| error.error_response());
        let http = HttpServiceBuilder::default().keep_alive(KEEP_ALIVE).client_request_timeout(HEAD_TIME);
        let http = http.client_disconnect_timeout(END_TIME).graceful_shutdown_signal(move || {
            let stop = stop.clone();
            async move { stop.notified().await }
        });
        let open = fn_service(move |tcp| open(tcp, tls.clone(), limiter.clone()));
        open.and_then(http.h1(map_config(app, |()| AppConfig::default())))
    })?;
    Ok((address, server.run()))
}

/// A connection that is counted from now on, after its TLS handshake, and its peer.
async fn open(
    tcp: TcpStream,
    tls: Option<TlsAcceptor>,
    limiter: Arc<ConnectionLimiter>,
) -> Result<(TimeLimitedStream<Box<dyn Stream>>, Option<SocketAddr>), DispatchError> {
    let peer = tcp.peer_addr()?;
    let permit = limiter.count(&tcp, peer).ok_or(io::Error::from(ErrorKind::ConnectionRefused))?;
    let stream: Box<dyn Stream> = match tls {
        None => Box::new(tcp),
        Some(tls) => {
            let (outcome, stream) = match timeout(HEAD_TIME, tls.accept(tcp)).await {
                Ok(Ok(stream)) => ("succeeded", Ok(stream)),
                Ok(Err(error)) => ("failed", Err(error)),
                Err(_) => ("late", Err(ErrorKind::TimedOut.into())),
            };
            Box::new(metrics::tls_handshake(outcome, stream)?)
        }
    };
    Ok((TimeLimitedStream::new(stream, permit), Some(peer)))
}
