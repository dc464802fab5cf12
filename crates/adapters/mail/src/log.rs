//! Writes mails to the log instead of sending them.

use async_trait::async_trait;
use civitas_accounts::{Mail, Mailer};
use civitas_kernel::Result;

/// Writes mails to the log, without their links, and sends nothing.
#[derive(Debug, Clone, Copy)]
pub struct LogMailer;

#[async_trait]
impl Mailer for LogMailer {
    async fn send(&self, mail: &Mail) -> Result<()> {
        let text = mail.text_without_links();
        tracing::info!(
            to = mail.to,
            subject = mail.subject,
            text,
            "smtp_url is not set: a mail was not sent"
        );
        Ok(())
    }
}
