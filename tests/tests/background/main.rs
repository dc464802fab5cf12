//! What happens in the background: tasks and their worker, mails on their way out, and faults of the machine.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod faults;
mod mail;
mod tasks;
