//! `civitas migrate`: brings the schema up to date, or prints its state.

use super::{Console, Failure, Outcome, because, configure};
use crate::config::Sources;
use crate::store::{Database, Schema};

#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    /// Only prints missing migrations; exit code 1 if there are any.
    #[arg(long)]
    check: bool,
}

pub(super) async fn run(args: MigrateArgs, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let database = Database::of(&configure(sources).map_err(because)?);
    let schema = database.schema().await.map_err(because)?;
    let is_final = args.check || matches!(schema, Schema::Newer(_));
    if let Some(refusal) = schema.refusal().filter(|_| is_final) {
        return Err(Failure::Because(refusal));
    }
    let applied = if args.check { Vec::new() } else { database.migrate().await.map_err(because)? };
    for name in &applied {
        console.print(format_args!("applied {name}"))?;
    }
    console.print("the schema is up to date")
}
