//! Background work: tasks and their worker, and outgoing mails.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod backups;
mod lanes;
mod mail;
mod retention;
mod tasks;
