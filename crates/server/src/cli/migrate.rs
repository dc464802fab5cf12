//! `civitas migrate`: brings the schema up to date and stores the texts that are missing, or prints its state.

use super::{CommandError, CommandResult, Console, configure};
use crate::config::SettingSources;
use crate::store::Database;
use civitas_application::{fill_texts, index_texts};
use tokio::sync::watch;

#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    /// Only prints missing migrations; exit code 1 if there are any.
    #[arg(long)]
    check: bool,
    /// New records of all types get ids above this one. Deployments that move organizations to each other need ranges of
    /// their own.
    #[arg(long, value_name = "ID", conflicts_with = "check", value_parser = clap::value_parser!(i64).range(0..1 << 53))]
    id_floor: Option<i64>,
}

pub(super) async fn run(
    args: MigrateArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let database = Database::from_config(&configure(sources)?);
    let schema = database.schema().await?;
    let is_final = args.check || !schema.can_be_migrated();
    if let Some(refusal) = schema.refusal().filter(|_| is_final) {
        return Err(CommandError::Because(refusal));
    }
    let applied = if args.check { Vec::new() } else { database.migrate().await? };
    for name in &applied {
        console.print(format_args!("applied {name}"))?;
    }
    if !args.check {
        let store = database.open().await?;
        if let Some(id) = args.id_floor {
            store.id_spaces().raise_all(id).await?;
        }
        // Also those that an interrupted command left.
        let (_sender, stop) = watch::channel(false);
        let filled = fill_texts(&*store, stop.clone()).await?;
        index_texts(&*store, stop).await?;
        if filled > 0 {
            console.print(format_args!("stored the texts of records: {filled}"))?;
        }
    }
    console.print("the schema is up to date")
}
