//! Background work: tasks and their worker, outgoing mails, and faults of the machine.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod faults;
mod lanes;
mod mail;
mod tasks;
