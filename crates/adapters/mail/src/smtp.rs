//! Sends mails by SMTP (RFC 5321), one connection for each mail.

use async_trait::async_trait;
use civitas_accounts::{Mail, Mailer};
use civitas_kernel::{Error, Result};
use lettre::address::AddressError;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::response::{Category, Severity};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::fmt;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// The time limit of an SMTP session, including the connection.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An invalid setting. Its text never has the value, which contains a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpError {
    /// The address of the server is invalid.
    Server,
    /// The sender is invalid.
    Sender,
}

impl fmt::Display for SmtpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "no address of an SMTP server, as smtps://USER:PASSWORD@HOST:PORT",
            Self::Sender => "no sender, as no-reply@city.example or City <no-reply@city.example>",
        })
    }
}

impl std::error::Error for SmtpError {}

/// A [`Mailer`] that sends to an SMTP server.
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    patience: Duration,
}

impl SmtpMailer {
    /// `server` is `smtps://..` (TLS from the first byte, port 465), `smtp://..?tls=required` (STARTTLS, port 587),
    /// `smtp://..?tls=opportunistic` (the same if the server offers it), or `smtp://..` (unencrypted, port 25); user,
    /// password and port are optional. `sender` is an address with an optional name; without one, mails have the name
    /// of their organization.
    pub fn new(server: &str, sender: &str) -> Result<Self, SmtpError> {
        if !is_server(server) {
            return Err(SmtpError::Server);
        }
        if !is_sender(sender) {
            return Err(SmtpError::Sender);
        }
        let builder =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(server).map_err(|_| SmtpError::Server)?;
        let from: Mailbox = sender.parse().map_err(|_| SmtpError::Sender)?;
        let email = sendable(from.email.as_ref()).map_err(|_| SmtpError::Sender)?;
        let from = Mailbox { email, ..from };
        Ok(Self { transport: builder.build(), from, patience: TIMEOUT })
    }

    /// Sets the time limit of an SMTP session; by default one minute.
    #[must_use]
    pub fn with_time_limit(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Checks that the server answers and accepts the credentials.
    pub async fn check_connection(&self) -> Result<()> {
        match self.within_patience(self.transport.test_connection()).await? {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Unavailable("the server does not answer NOOP".into())),
            Err(error) => Err(Error::Unavailable(error.into())),
        }
    }

    /// Runs a session with a time limit; that of the library covers only the connection.
    async fn within_patience<T>(&self, conversation: impl Future<Output = T>) -> Result<T> {
        let ended = timeout(self.patience, conversation).await;
        ended.map_err(|_| Error::Unavailable("the server is silent".into()))
    }

    fn message(&self, mail: &Mail) -> Result<Message> {
        let address = sendable(&mail.to).map_err(|error| Error::rejected(format!("no address: {error}")))?;
        // A line break in a header would begin another header; the builder panics on it.
        if [&mail.to_name, &mail.from_name, &mail.subject].iter().any(|line| !is_one_line(line)) {
            return Err(Error::rejected("a header has more than one line"));
        }
        let from_name = self.from.name.clone().or_else(|| Some(mail.from_name.clone()));
        // RFC 3834: prevents automatic replies.
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        Message::builder()
            .from(Mailbox::new(from_name, self.from.email.clone()))
            .to(Mailbox::new(Some(mail.to_name.clone()), address))
            .subject(mail.subject.clone())
            .message_id(Some(format!("<{}@{}>", mail.id, self.from.email.domain())))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text())
            .map_err(Error::internal)
    }
}

/// An address that every server takes: only some take domains in other scripts (RFC 6531). Those that an older version
/// stored are written so.
fn sendable(address: &str) -> Result<Address, AddressError> {
    let (local, domain) = address.rsplit_once('@').ok_or(AddressError::MissingParts)?;
    Address::new(local, idna::domain_to_ascii(domain).map_err(|_| AddressError::InvalidDomain)?)
}

/// Whether this is the address of an SMTP server.
pub fn is_server(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let tls = url.query_pairs().find(|(key, _)| key == "tls").map(|(_, value)| value.into_owned());
    let known = match (url.scheme(), tls.as_deref()) {
        ("smtps", None) => true,
        ("smtp", tls) => matches!(tls, None | Some("required" | "opportunistic")),
        _ => false,
    };
    known && url.host_str().is_some_and(|host| !host.is_empty())
}

/// Whether this is a valid sender.
pub fn is_sender(text: &str) -> bool {
    text.parse::<Mailbox>().is_ok() && is_one_line(text)
}

fn is_one_line(text: &str) -> bool {
    !text.contains(char::is_control)
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: &Mail) -> Result<()> {
        match self.within_patience(self.transport.send(self.message(mail)?)).await? {
            Ok(_) => Ok(()),
            Err(error) if is_final(&error) => Err(Error::rejected(error.to_string())),
            Err(error) => Err(Error::Unavailable(error.into())),
        }
    }
}

/// Whether the server refuses this mail permanently. Refused credentials (RFC 4954: 530, 534, 535) are not permanent:
/// the operator can correct them.
fn is_final(error: &lettre::transport::smtp::Error) -> bool {
    error.status().is_some_and(|code| {
        code.severity == Severity::PermanentNegativeCompletion && code.category != Category::Unspecified3
    })
}
