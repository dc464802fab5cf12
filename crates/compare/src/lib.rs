//! Compares the answers of two servers of the interface v0.3: of Decidim's module and of Civitas, or of any two
//! (sheet 13 §9). It only reads: it sends GET, and the request for tokens.
//!
//! Lists are compared as sets of items by id, items member by member in a [normal form](normal). Differences that the
//! sheets expect of the module count apart, by code; they are expected only of a list without the `meta` of contract 01 §7,
//! which the module does not send.

mod compare;
mod difference;
mod lists;
mod normal;
mod report;
mod source;
mod table;

pub use compare::compare;
pub use report::ComparisonReport;
pub use reqwest::Url;
pub use secrecy::SecretString;
pub use table::groups;

use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// The result of a comparison.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the servers could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No server can have this address.
    #[error("{0} is not an address of a server")]
    Address(String),
    /// The connection failed or took too long, also after some tries.
    #[error("no answer from {0}: {1}")]
    Connection(String, #[source] reqwest::Error),
    /// The server does not know the client, the secret is wrong, or it gives no tokens.
    #[error("{0} refuses the client id and secret")]
    Credentials(String),
    /// An answer that cannot be compared: server, path, reason.
    #[error("{0} answers {1} with {2}")]
    Answer(String, String, String),
    /// A list that does not end.
    #[error("{0}: the list {1} does not end")]
    Endless(String, String),
    /// A recorded answer cannot be written or read.
    #[error("{path}: {1}", path = .0.display())]
    Recording(PathBuf, #[source] io::Error),
    /// The answer is not among the recorded ones.
    #[error("{0} is not recorded")]
    NotRecorded(String),
    /// Both servers refuse all lists to this actor.
    #[error("nothing could be compared: {0} may read no list")]
    Nothing(Actor),
}

/// Whom the requests are sent for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The API client itself.
    Service,
    /// The user of this nickname, by impersonation.
    User(String),
    /// A user that the old server names: the id, and why this one, as `administrator`.
    Account(String, &'static str),
}

impl Display for Actor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service => write!(out, "service"),
            Self::User(nickname) => write!(out, "user:{nickname}"),
            Self::Account(id, role) => write!(out, "user {id} ({role})"),
        }
    }
}

/// The old side of a comparison.
pub enum OldServer {
    /// A server, and the directory to record its answers in.
    Server(Url, Option<PathBuf>),
    /// The directory of recorded answers.
    Recorded(PathBuf),
}

/// What to compare.
pub struct CompareOptions {
    /// The old server.
    pub old: OldServer,
    /// The new server.
    pub new: Url,
    /// The name of the organization, when the addresses have another one.
    pub host: Option<String>,
    /// The API client of both servers.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
    /// Empty: the client itself, and of the old server an administrator, a member of a private space and a voter.
    pub actors: Vec<Actor>,
    /// Empty: all of [`groups`].
    pub only: Vec<String>,
    /// The documents that are read of each kind, at most.
    pub sample: usize,
    /// The report of `civitas import-decidim`; null for none.
    pub import_report: Value,
    /// Expected differences are differences, and addresses of links are compared.
    pub strict: bool,
    /// Values in the report, and not their digests.
    pub show_values: bool,
    /// The most requests that are open at a time, to both servers together; at least 1.
    pub parallel: usize,
}
