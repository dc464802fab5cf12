//! `civitas key`: rotates the secret key.

use super::{CommandError, CommandResult, Console, actor, configure, open_store};
use crate::config::{Config, SettingSources};
use crate::secret_key;
use civitas_application::{Reencryption, Store};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::clock;
use civitas_tokens::{PurposeCipher, WebhookCipher, key_id};
use serde_json::json;

#[derive(Debug, clap::Subcommand)]
pub(super) enum KeyCommand {
    /// Makes a new first key; the old ones still verify and decrypt. Restart all processes after it. With a configured
    /// `secret_key` it changes nothing and prints what to set.
    Rotate,
    /// Encrypts stored secrets with the first key: run it after the restart. Then the old keys can be removed once the
    /// tokens they signed have expired.
    Reencrypt,
}

pub(super) async fn run(
    command: KeyCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    match command {
        KeyCommand::Rotate if config.secret_key.is_empty() => rotate(&config, console).await,
        KeyCommand::Rotate => {
            let key = secret_key::random()?.encoded();
            console.print(format_args!(
                "secret_key is configured; set this key before the present ones, separated by a comma, on all nodes, \
                 and restart them:\n{key}"
            ))
        }
        KeyCommand::Reencrypt => reencrypt(&config, console).await,
    }
}

/// Writes the audit entry and the file. The entry is committed after the file was written.
async fn rotate(config: &Config, console: &mut Console<'_>) -> CommandResult {
    let path = secret_key::path(config);
    let store = open_store(config).await?;
    if !path.exists() {
        return Err(CommandError::Because(format!(
            "{} does not exist: the first start makes it",
            path.display()
        )));
    }
    let tx = store.begin().await?;
    let audit_entry = NewAuditEntry::new(actor("key rotate"), Action::KeyRotated);
    tx.audit().append(&audit_entry, clock::now()).await?;
    let keys = secret_key::rotate(&path)?;
    tx.commit().await?;
    let (id, count) = (key_id(keys.first()), keys.count());
    console.print(format_args!(
        "{} has {count} keys; the first is new ({id}). Restart the server, then run `civitas key reencrypt`.",
        path.display()
    ))
}

async fn reencrypt(config: &Config, console: &mut Console<'_>) -> CommandResult {
    let keys = secret_key::load(config)?;
    let (webhooks, panel) = (WebhookCipher::new(&keys), PurposeCipher::for_panel(&keys));
    let store = open_store(config).await?;
    let store: &dyn Store = &*store;
    let reencryption = Reencryption {
        store,
        webhook_secret: &|sealed| webhooks.reseal(sealed),
        second_factor: &|sealed| panel.reseal(sealed),
        actor: actor("key reencrypt"),
    };
    let done = reencryption.run(clock::now()).await?;
    let counts = json!({"encrypted": done.changed, "current": done.current, "unreadable": done.unreadable});
    console.print(counts)?;
    if done.unreadable > 0 {
        return Err(CommandError::Because(
            "secrets cannot be decrypted with any key; keep the old keys".to_owned(),
        ));
    }
    Ok(())
}
