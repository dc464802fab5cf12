//! What happens in the background: tasks and their worker, and mails on their way out.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod mail;
mod tasks;
