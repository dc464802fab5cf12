//! Sends mails to an SMTP server, or writes them to the log if no server is configured.
//!
//! ```
//! use civitas_mail::SmtpMailer;
//!
//! SmtpMailer::new("smtps://city:secret@mail.example", "Riverton <no-reply@city.example>").expect("both can be read");
//! assert!(SmtpMailer::new("mail.example:25", "no-reply@city.example").is_err());
//! ```

mod log;
mod smtp;

pub use log::LogMailer;
pub use smtp::{SmtpError, SmtpMailer, is_sender, is_server};
