//! The table of shares: what is shared, and the most that is used at once.

use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

/// How long a caller waits for its share; longer in builds without optimization, which are slow.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 2 });
/// The most registrations for webhooks of one API client.
pub const MAX_REGISTRATIONS: u64 = 100;
/// How many passwords are hashed at once: one for every two cores, so that sign-ins leave half of them to other requests.
static PASSWORDS: LazyLock<u64> =
    LazyLock::new(|| (available_parallelism().map_or(1, std::num::NonZero::get) as u64 / 2).max(1));

civitas_kernel::named_enum! {
    /// A thing that is shared, with its name in metrics and tables.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum SharedResource {
        /// Reads of the interface that run, or wait for a connection.
        Reads = "reads",
        /// Reads that may take long: with filters or in random order, of texts, of pages far from the first.
        Searches = "searches",
        /// Streams of the states of jobs.
        JobStreams = "job_streams",
        /// Writes of the interface, and tokens, that run, or wait for a connection or a row.
        Writes = "writes",
        /// Bodies that are long to process (more than 32 KiB).
        LargeBodies = "large_bodies",
        /// Answers of more than 1 MiB, until they were sent.
        LargeAnswers = "large_answers",
        /// Uploaded files that are inspected: images are decoded.
        Images = "images",
        /// Passwords that are hashed or compared, or wait for it.
        Passwords = "passwords",
        /// Requests to receivers of webhooks.
        WebhookRequests = "webhook_requests",
        /// Registrations for webhooks.
        Registrations = "registrations",
        /// Bytes of files that are attached to nothing.
        UnattachedFiles = "unattached_files",
        /// Bytes of the payloads and results of jobs.
        Jobs = "jobs",
        /// Bytes of answers that are kept for their idempotency keys.
        IdempotentAnswers = "kept_answers",
    }
}

/// The most that is used at once; `u64::MAX`: no limit at this level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareLimits {
    /// For one record.
    pub record: u64,
    /// Of one API client.
    pub client: u64,
    /// Of one organization.
    pub tenant: u64,
    /// Of this process; stored bytes have no such limit.
    pub process: u64,
}

impl SharedResource {
    /// Whether it is stored in the database, and not only used by this process.
    pub fn is_stored(self) -> bool {
        matches!(self, Self::Registrations | Self::UnattachedFiles | Self::Jobs | Self::IdempotentAnswers)
    }

    /// How long a caller waits for a permit. What takes long itself is waited for longer: the wait holds no connection.
    pub(super) fn longest_wait(self) -> Duration {
        match self {
            Self::LargeBodies | Self::LargeAnswers | Self::Images => MAX_WAIT * 10,
            _ => MAX_WAIT,
        }
    }

    /// Whether it is counted in bytes.
    pub fn is_in_bytes(self) -> bool {
        self.is_stored() && self != Self::Registrations
    }
}

/// The numbers that are not constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareCapacity {
    /// The connections to read with.
    pub read_connections: u64,
    /// The searches that run at once.
    pub searches: u64,
    /// The connections to write with; `None` where one writer serves all (SQLite).
    pub write_connections: Option<u64>,
    /// The bytes that an API client stores of each kind, an organization four times as many; `u64::MAX`: no limit.
    pub stored_bytes: u64,
    /// The requests to receivers of webhooks that the process may have open.
    pub webhook_requests: u64,
}

impl ShareCapacity {
    /// The table of shares.
    pub(super) fn limits(self, share: SharedResource) -> ShareLimits {
        const NONE: u64 = u64::MAX;
        let ShareCapacity { read_connections, searches, write_connections, stored_bytes, webhook_requests } =
            self;
        let part = |all: u64, of_eight: u64| (all * of_eight).div_ceil(8);
        let limits = |client, tenant, process| ShareLimits { record: NONE, client, tenant, process };
        match share {
            // A request has its permit longer than its connection: it is read, checked and rendered too. Twice as many permits
            // keep the connections busy, and another client waits for the rest of the connections at most once.
            SharedResource::Reads => {
                limits(part(2 * read_connections, 6), part(2 * read_connections, 7), NONE)
            }
            SharedResource::Searches => limits(part(searches, 6), part(searches, 6), NONE),
            SharedResource::JobStreams => limits(NONE, 200, 1_000),
            // The connections that are left are for the panel; of fewer than eight none is left.
            SharedResource::Writes => match write_connections {
                Some(all) => ShareLimits {
                    record: part(all, 2),
                    client: part(all, 6),
                    tenant: part(all, 6),
                    process: part(all, 7),
                },
                // One writer: those of one record would only wait for each other before others.
                None => ShareLimits { record: 1, client: 32, tenant: 48, process: NONE },
            },
            SharedResource::LargeBodies => limits(2, 3, 8),
            SharedResource::Images => limits(2, 3, NONE),
            SharedResource::LargeAnswers => limits(2, 3, 16),
            // As many as are hashed at once: an organization has no more than its running ones before those of others.
            SharedResource::Passwords => {
                ShareLimits { record: 1, client: *PASSWORDS, tenant: *PASSWORDS, process: NONE }
            }
            SharedResource::WebhookRequests => {
                let part = |of: u64, most: u64| (webhook_requests / of).clamp(1, most);
                limits(part(8, 20), part(4, 100), webhook_requests)
            }
            SharedResource::Registrations => limits(MAX_REGISTRATIONS, NONE, NONE),
            SharedResource::UnattachedFiles | SharedResource::Jobs | SharedResource::IdempotentAnswers => {
                ShareLimits {
                    record: NONE,
                    client: stored_bytes,
                    tenant: stored_bytes.saturating_mul(4),
                    process: NONE,
                }
            }
        }
    }
}
