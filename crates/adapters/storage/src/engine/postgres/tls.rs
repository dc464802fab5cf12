//! Opens a connection: unencrypted, or over TLS if the address has `sslmode=require`, `verify-ca` or `verify-full`, which
//! mean the same here. In both cases errors have their SQLSTATE ([`super::wire`]). Of several hosts it connects to the one that can be written.

use super::sql_state_stream::SqlStateStream;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Ready, ready, select_ok};
use rustls::{ClientConfig, RootCertStore};
use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::time::sleep;
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connects to this address. Over TLS the server must have a certificate for its name that the system trusts
/// (`SSL_CERT_FILE` selects other roots): stricter than `libpq`, whose `require` does not check the certificate.
///
/// The connection is closed when the server is silent for longer than that.
pub async fn connect(
    url: &str,
    usage: ConnectionPurpose,
    silence: SilenceLimits,
) -> ConnectionResult<AsyncPgConnection> {
    match establish(url, usage, silence).await? {
        Established::Secure(client, connection) => {
            AsyncPgConnection::try_from_client_and_connection(client, *connection).await
        }
        Established::Plain(client, connection) => {
            AsyncPgConnection::try_from_client_and_connection(client, *connection).await
        }
        Established::Local(client) => AsyncPgConnection::try_from(client).await,
    }
}

/// The same without Diesel.
pub async fn connect_client(url: &str, usage: ConnectionPurpose) -> ConnectionResult<Client> {
    // The task ends with its client, which also receives its errors.
    match establish(url, usage, SilenceLimits::LONG).await? {
        Established::Secure(client, connection) => {
            tokio::spawn(connection.map(drop));
            Ok(client)
        }
        Established::Plain(client, connection) => {
            tokio::spawn(connection.map(drop));
            Ok(client)
        }
        Established::Local(client) => Ok(client),
    }
}

/// A connection, and the future that moves its bytes.
enum Established {
    Secure(Client, Box<Connection<Socket, SecureStream>>),
    Plain(Client, Box<Connection<Socket, SqlStateStream<Socket>>>),
    /// Its future runs already.
    Local(Client),
}

type SecureStream = <Secure<MakeRustlsConnect> as MakeTlsConnect<Socket>>::Stream;

/// How long a host may take until the next one is tried as well.
const NEXT_HOST: Duration = Duration::from_millis(300);

/// Connects to the first host that accepts the connection. A host that does not answer must not take the time in which a
/// pool expects a connection, so the next one does not wait for its error.
async fn establish(
    url: &str,
    usage: ConnectionPurpose,
    silence: SilenceLimits,
) -> ConnectionResult<Established> {
    let urls = urls_of_hosts(url);
    if urls.len() == 1 {
        return establish_one(url, usage, silence).await;
    }
    let attempts = urls.iter().zip(0..).map(|(url, number)| {
        async move {
            sleep(NEXT_HOST * number).await;
            // The hosts that only read lag behind.
            establish_one(url, ConnectionPurpose::Writing, silence).await
        }
        .boxed()
    });
    select_ok(attempts).await.map(|(established, _)| established)
}

/// The address with each of its hosts alone.
pub fn urls_of_hosts(url: &str) -> Vec<String> {
    let hosts = hosts_of(url);
    let (before, after) = (&url[..hosts.start], &url[hosts.end..]);
    url[hosts].split(',').map(|host| format!("{before}{host}{after}")).collect()
}

/// Where the hosts are in an address.
pub fn hosts_of(url: &str) -> Range<usize> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?']).map_or(url.len(), |at| begin + at);
    url[begin..end].rfind('@').map_or(begin, |at| begin + at + 1)..end
}

async fn establish_one(
    url: &str,
    usage: ConnectionPurpose,
    silence: SilenceLimits,
) -> ConnectionResult<Established> {
    let mut config: Config = with_known_mode(url).parse().map_err(|error| refused(&error))?;
    set_connection_options(&mut config, usage, silence.unconfirmed);
    let silence = silence.unanswered;
    if config.get_ssl_mode() == SslMode::Require {
        let secure = Secure { inner: connector()?, silence };
        let (client, connection) = config.connect(secure).await.map_err(|error| refused(&error))?;
        check_encoding(connection.parameter("server_encoding"))?;
        return Ok(Established::Secure(client, Box::new(connection)));
    }
    if let Some(Host::Unix(directory)) = config.get_hosts().first() {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let path = directory.join(format!(".s.PGSQL.{port}"));
        let socket = UnixStream::connect(&path).await;
        let socket =
            socket.map_err(|e| ConnectionError::BadConnection(format!("{}: {e}", path.display())))?;
        let wire = SqlStateStream::new(socket, |_| ChannelBinding::none(), silence);
        let (client, connection) = config.connect_raw(wire, NoTls).await.map_err(|error| refused(&error))?;
        check_encoding(connection.parameter("server_encoding"))?;
        // The task ends with its client, which also receives its errors.
        tokio::spawn(connection.map(drop));
        return Ok(Established::Local(client));
    }
    // Without TLS: tokio-postgres treats the plain wire as a TLS stream that needs no negotiation.
    config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
    let (client, connection) = config.connect(Plain { silence }).await.map_err(|error| refused(&error))?;
    check_encoding(connection.parameter("server_encoding"))?;
    Ok(Established::Plain(client, Box::new(connection)))
}

/// The address with the one mode of `tokio-postgres` for three of `libpq`: here all check the certificate and its name.
pub fn with_known_mode(url: &str) -> String {
    url.replace("sslmode=verify-ca", "sslmode=require").replace("sslmode=verify-full", "sslmode=require")
}

/// Refuses a database that cannot store every text. The server names its encoding when a connection begins.
fn check_encoding(encoding: Option<&str>) -> ConnectionResult<()> {
    match encoding {
        None | Some("UTF8") => Ok(()),
        Some(other) => Err(ConnectionError::BadConnection(format!(
            "the encoding of the database is {other} and must be UTF-8: create one with ENCODING 'UTF8' TEMPLATE template0"
        ))),
    }
}

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPurpose {
    /// For reads. Of several hosts only the one that can be written is used: the others lag behind. A single host may
    /// be one that only reads now.
    Reading,
    /// For writes: the server must be one that can be written.
    Writing,
}

/// How long a server may be silent.
#[derive(Debug, Clone, Copy)]
pub struct SilenceLimits {
    /// Until its system confirms what was sent. A system confirms at once, however long a statement takes, but not what
    /// exceeds its buffers while the statement before it waits.
    pub unconfirmed: Duration,
    /// Until it answers; `None`: for ever.
    pub unanswered: Option<Duration>,
}

impl SilenceLimits {
    /// For work without time limits.
    pub const LONG: Self = Self { unconfirmed: Duration::from_secs(10), unanswered: None };
}

/// Sets the connection options that the address does not have.
fn set_connection_options(config: &mut Config, usage: ConnectionPurpose, unconfirmed: Duration) {
    const CONNECT: Duration = Duration::from_secs(2);
    if usage == ConnectionPurpose::Writing || config.get_hosts().len() > 1 {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config.keepalives(true).keepalives_idle(Duration::from_secs(10));
    config.keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(unconfirmed);
    }
}

/// Wraps a socket.
#[derive(Clone, Copy)]
struct Plain {
    silence: Option<Duration>,
}

impl MakeTlsConnect<Socket> for Plain {
    type Stream = SqlStateStream<Socket>;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _: &str) -> Result<Self, Infallible> {
        Ok(*self)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for Plain {
    type Stream = SqlStateStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<SqlStateStream<S>, Infallible>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(SqlStateStream::new(stream, |_| ChannelBinding::none(), self.silence)))
    }
}

/// Wraps a TLS stream.
#[derive(Clone)]
struct Secure<T> {
    inner: T,
    silence: Option<Duration>,
}

impl<T: MakeTlsConnect<Socket>> MakeTlsConnect<Socket> for Secure<T>
where
    T::Stream: Send + 'static,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send + 'static,
{
    type Stream = SqlStateStream<T::Stream>;
    type TlsConnect = Secure<T::TlsConnect>;
    type Error = T::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Self::TlsConnect, T::Error> {
        let silence = self.silence;
        self.inner.make_tls_connect(domain).map(|inner| Secure { inner, silence })
    }
}

impl<S, T: TlsConnect<S>> TlsConnect<S> for Secure<T>
where
    T::Stream: Send + 'static,
    T::Future: Send + 'static,
{
    type Stream = SqlStateStream<T::Stream>;
    type Error = T::Error;
    type Future = BoxFuture<'static, Result<SqlStateStream<T::Stream>, T::Error>>;

    fn connect(self, stream: S) -> Self::Future {
        let (secured, silence) = (self.inner.connect(stream), self.silence);
        async move { Ok(SqlStateStream::new(secured.await?, TlsStream::channel_binding, silence)) }.boxed()
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

/// The certificates that the system trusts, in a file of this directory for programs of PostgreSQL.
pub fn roots_file(directory: &Path) -> io::Result<PathBuf> {
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    for certificate in rustls_native_certs::load_native_certs().certs {
        writeln!(file, "-----BEGIN CERTIFICATE-----")?;
        for line in STANDARD.encode(&certificate).as_bytes().chunks(64) {
            file.write_all(line)?;
            writeln!(file)?;
        }
        writeln!(file, "-----END CERTIFICATE-----")?;
    }
    let path = directory.join("roots.pem");
    file.persist(&path)?;
    Ok(path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_may_have_its_own_limit_for_what_is_not_confirmed() {
        let hardened = |url: &str| {
            let mut config: Config = url.parse().unwrap();
            set_connection_options(&mut config, ConnectionPurpose::Writing, Duration::from_secs(2));
            config.get_tcp_user_timeout().map(Duration::as_secs)
        };
        assert_eq!(hardened("postgres://db/civitas"), Some(2));
        assert_eq!(hardened("postgres://db/civitas?tcp_user_timeout=7"), Some(7));
    }

    #[test]
    fn the_modes_that_verify_mean_require() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let url = format!("postgres://db/civitas?application_name=x&sslmode={mode}&connect_timeout=3");
            let config: Config = with_known_mode(&url).parse().unwrap();
            assert_eq!(config.get_ssl_mode(), SslMode::Require, "{mode}");
            assert_eq!(config.get_connect_timeout().map(Duration::as_secs), Some(3));
        }
    }

    #[test]
    fn each_host_has_an_address_of_its_own() {
        for (url, expected) in [
            ("postgres://db/civitas", &["postgres://db/civitas"][..]),
            (
                "postgres://nora:a,b@db1:5433,db2/civitas?sslmode=require&options=a,b",
                &[
                    "postgres://nora:a,b@db1:5433/civitas?sslmode=require&options=a,b",
                    "postgres://nora:a,b@db2/civitas?sslmode=require&options=a,b",
                ],
            ),
            (
                "postgres://[::1]:5433,db2?user=nora",
                &["postgres://[::1]:5433?user=nora", "postgres://db2?user=nora"],
            ),
            ("postgres://nora@%2Frun%2Fpg/civitas", &["postgres://nora@%2Frun%2Fpg/civitas"]),
            ("postgres:///civitas?host=/run/pg", &["postgres:///civitas?host=/run/pg"]),
        ] {
            assert_eq!(urls_of_hosts(url), expected, "{url}");
            for url in expected {
                url.parse::<Config>().unwrap();
            }
        }
    }
}
