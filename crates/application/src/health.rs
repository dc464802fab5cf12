//! The checks of what a server needs: `civitas doctor` and the panel show their results.

use async_trait::async_trait;

civitas_kernel::named_enum! {
    /// What a check looks at.
    #[derive(Hash)]
    pub enum Dependency {
        /// The settings.
        Configuration = "configuration",
        /// How many files the process may have open.
        OpenFiles = "open files",
        /// The data directory.
        Storage = "storage",
        /// The store of files.
        Files = "files",
        /// The key that signs tokens and encrypts secrets.
        SecretKey = "secret key",
        /// The clock of the machine.
        Clock = "clock",
        /// The tables of the database.
        Schema = "schema",
        /// The database.
        Database = "database",
        /// The name server, and the hosts of the organizations.
        Dns = "dns",
        /// The certificates by ACME.
        Certificates = "certificates",
        /// The mail server.
        Mail = "mail",
        /// The newest backup.
        Backups = "backups",
        /// The limits of what one client and one organization use.
        Shares = "shares",
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthFinding {
    /// What was checked.
    pub dependency: Dependency,
    /// The state; or, if something is wrong, what it is and what to do. In English, without secrets.
    pub state: Result<String, String>,
}

/// Runs the checks.
#[async_trait]
pub trait HealthChecks: Send + Sync {
    /// The results of all checks, in the order of [`Dependency`]. Takes at most 20 seconds. It sends no mail; it writes
    /// and deletes small files in the data directory and in the store of files.
    async fn run(&self) -> Vec<HealthFinding>;
}
