//! `civitas webhook`: sends a sample delivery, and works with the log of deliveries.

mod fire;
mod log;

use super::{CommandResult, Console};
use crate::config::SettingSources;

#[derive(Debug, clap::Subcommand)]
pub(super) enum WebhookCommand {
    /// Sends one signed delivery of sample data, and prints the request and the answer as a JSON object. Needs no
    /// database. The exit code is 1 when the receiver did not accept it.
    Fire(fire::FireArgs),
    #[command(flatten)]
    Log(log::LogCommand),
}

pub(super) async fn run(
    command: WebhookCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    match command {
        WebhookCommand::Fire(args) => fire::run(args, sources, console).await,
        WebhookCommand::Log(command) => log::run(command, sources, console).await,
    }
}
