//! The checks of what a server needs: `civitas doctor` and the panel show their results.

use async_trait::async_trait;

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dependency {
    /// The settings.
    Configuration,
    /// How many files the process may have open.
    OpenFiles,
    /// The data directory.
    Storage,
    /// The store of files.
    Files,
    /// The key that signs tokens and encrypts secrets.
    SecretKey,
    /// The clock of the machine.
    Clock,
    /// The tables of the database.
    Schema,
    /// The database.
    Database,
    /// The name server, and the hosts of the organizations.
    Dns,
    /// The mail server.
    Mail,
    /// The newest backup.
    Backups,
    /// The limits of what one client and one organization use.
    Shares,
}

civitas_kernel::names! {
    Dependency {
        Configuration = "configuration",
        OpenFiles = "open files",
        Storage = "storage",
        Files = "files",
        SecretKey = "secret key",
        Clock = "clock",
        Schema = "schema",
        Database = "database",
        Dns = "dns",
        Mail = "mail",
        Backups = "backups",
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
