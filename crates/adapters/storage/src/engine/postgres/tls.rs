//! Opens a connection: unencrypted, or over TLS if the address has `sslmode=require`. In both cases errors have their
//! SQLSTATE ([`super::wire`]).

use super::wire::Wire;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Ready, ready};
use rustls::{ClientConfig, RootCertStore};
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connects to this address. Over TLS the server must have a certificate for its name that the system trusts
/// (`SSL_CERT_FILE` selects other roots): stricter than `libpq`, whose `require` does not check the certificate.
pub async fn connect(url: &str) -> ConnectionResult<AsyncPgConnection> {
    let mut config: Config = url.parse().map_err(|error| refused(&error))?;
    if config.get_ssl_mode() == SslMode::Require {
        let (client, connection) =
            config.connect(Secure(connector()?)).await.map_err(|error| refused(&error))?;
        return AsyncPgConnection::try_from_client_and_connection(client, connection).await;
    }
    if let Some(Host::Unix(directory)) = config.get_hosts().first() {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let path = directory.join(format!(".s.PGSQL.{port}"));
        let socket = UnixStream::connect(&path).await;
        let socket =
            socket.map_err(|e| ConnectionError::BadConnection(format!("{}: {e}", path.display())))?;
        let wire = Wire::over(socket, |_| ChannelBinding::none());
        let (client, connection) = config.connect_raw(wire, NoTls).await.map_err(|error| refused(&error))?;
        // The task ends with its client, which also receives its errors.
        tokio::spawn(connection.map(drop));
        return AsyncPgConnection::try_from(client).await;
    }
    // Without TLS: tokio-postgres treats the plain wire as a TLS stream that needs no negotiation.
    config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
    let (client, connection) = config.connect(Plain).await.map_err(|error| refused(&error))?;
    AsyncPgConnection::try_from_client_and_connection(client, connection).await
}

/// Wraps a socket.
#[derive(Clone, Copy)]
struct Plain;

impl MakeTlsConnect<Socket> for Plain {
    type Stream = Wire<Socket>;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _: &str) -> Result<Self, Infallible> {
        Ok(*self)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for Plain {
    type Stream = Wire<S>;
    type Error = Infallible;
    type Future = Ready<Result<Wire<S>, Infallible>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(Wire::over(stream, |_| ChannelBinding::none())))
    }
}

/// Wraps a TLS stream.
#[derive(Clone)]
struct Secure<T>(T);

impl<T: MakeTlsConnect<Socket>> MakeTlsConnect<Socket> for Secure<T>
where
    T::Stream: Send + 'static,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send + 'static,
{
    type Stream = Wire<T::Stream>;
    type TlsConnect = Secure<T::TlsConnect>;
    type Error = T::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Self::TlsConnect, T::Error> {
        self.0.make_tls_connect(domain).map(Secure)
    }
}

impl<S, T: TlsConnect<S>> TlsConnect<S> for Secure<T>
where
    T::Stream: Send + 'static,
    T::Future: Send + 'static,
{
    type Stream = Wire<T::Stream>;
    type Error = T::Error;
    type Future = BoxFuture<'static, Result<Wire<T::Stream>, T::Error>>;

    fn connect(self, stream: S) -> Self::Future {
        let secured = self.0.connect(stream);
        async move { Ok(Wire::over(secured.await?, TlsStream::channel_binding)) }.boxed()
    }
}

/// Created once, because reading the certificates of the system is slow.
fn connector() -> ConnectionResult<MakeRustlsConnect> {
    static CONNECTOR: OnceLock<Result<MakeRustlsConnect, String>> = OnceLock::new();
    CONNECTOR
        .get_or_init(|| make().map_err(|error| error.to_string()))
        .clone()
        .map_err(ConnectionError::BadConnection)
}

fn make() -> Result<MakeRustlsConnect, Box<dyn Error>> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (known, _) = roots.add_parsable_certificates(found.certs);
    if known == 0 {
        return Err(format!("the system trusts no certificate authority: {:?}", found.errors).into());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The error with its causes; the outermost text alone has no details.
fn refused(error: &tokio_postgres::Error) -> ConnectionError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text = format!("{text}: {deeper}");
        cause = deeper.source();
    }
    ConnectionError::BadConnection(text)
}
