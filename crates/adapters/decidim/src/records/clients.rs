//! `api_client` and `webhook_registration` (sheet 13 §5.4).

use super::{ExtractionRun, Result, Row, each_row, reference};
use crate::run::Record;
use civitas_accounts::{ApiClient, DEPLOYMENT_WIDE, Secret};
use civitas_kernel::{Ability, Scope, Scopes};
use civitas_webhooks::{TargetPolicy, parse_event};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

const CLIENTS: &str = "SELECT t.*, (SELECT json_agg(p ORDER BY p.id) FROM decidim_rest_full_api_client_permissions p \
     WHERE p.api_client_id = t.id) AS permissions FROM oauth_applications t ORDER BY t.id";

/// The class of API clients, now and before module 0.2.11.
const CLASSES: [&str; 2] = ["Decidim::RestFull::Core::ApiClient", "Decidim::RestFull::ApiClient"];

/// A shorter secret is named: it should be replaced.
const SHORT_SECRET: usize = 20;

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    // The clients of the whole deployment.
    let mut wide = HashSet::new();
    each_row(run, "oauth_applications", CLIENTS, |run, row| client(run, row, &mut wide)).await?;
    let statement = "SELECT * FROM webhooks_tables ORDER BY id";
    each_row(run, "webhooks_tables", statement, |run, row| webhook(run, row, &wide)).await
}

fn client(run: &mut ExtractionRun<'_>, row: &Row, wide: &mut HashSet<i64>) -> Result {
    let organization = row.int("decidim_organization_id");
    if organization.is_some() {
        if run.organization_of("api_client", row, "organization", organization)?.is_none() {
            return Ok(());
        }
    } else if run.options.organizations.is_empty() {
        run.counts(None, "api_client").source += 1;
    } else {
        return Ok(());
    }
    if !CLASSES.contains(&row.str("type")) {
        return run.drop_to_residue("api_client", row, organization, "W-OAUTHAPP");
    }
    let scopes = Scopes::read(row.str("scopes"));
    let (uid, is_wide) = (row.str("uid"), scopes == DEPLOYMENT_WIDE.into_iter().collect());
    let is_short = uid.chars().count() < ApiClient::MIN_UID;
    // Tables of the module name the permissions of clients (§2.2).
    let has_module = run.source.has("decidim_rest_full_api_client_permissions");
    if !has_module || is_short || scopes.iter().next().is_none() || (organization.is_none() && !is_wide) {
        return run.drop_to_residue("api_client", row, organization, "W-CLIENT");
    }
    if row.str("scopes").split_whitespace().any(|scope| Scope::parse(scope).is_none()) {
        run.codes.count_loss("W-ABILITY", row.table, row.id());
    }
    let secret = row.str("secret");
    // The import makes a new secret and prints it.
    let is_hash = secret.trim().is_empty() || secret.starts_with("$2");
    if is_hash || secret.len() < SHORT_SECRET {
        run.write_loss(row, organization, "W-SECRET")?;
    }
    let members = json!({
        "client_id": uid,
        "client_secret_hash": (!is_hash).then(|| Secret::new(secret).digest().as_str().to_owned()),
        "name": row.filled("name").unwrap_or(uid),
        "scopes": scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
        "permissions": permissions(run, row, scopes),
        "created_at": row.time("created_at"),
    });
    let (kind, id) = ("api_client", row.id());
    if organization.is_none() {
        wide.insert(id);
    }
    run.write_record(Record { kind, reference: id.to_string(), id: Some(id), organization, members })
}

/// The known permissions whose scope the client owns; W-ABILITY for the rest. The name of an event is a permission only
/// where it is marked as one.
fn permissions(run: &mut ExtractionRun<'_>, row: &Row, scopes: Scopes) -> Vec<&'static str> {
    let mut permissions = BTreeSet::new();
    for permission in row.children("permissions", "decidim_rest_full_api_client_permissions") {
        let ability = Ability::parse(permission.str("permission"))
            .filter(|ability| ability.is_event() == permission.flag("is_event"))
            .filter(|ability| ability.scope().is_none_or(|scope| scopes.has(scope)));
        let Some(ability) = ability else {
            let name = permission.get("permission");
            run.codes.count_loss_with_example(
                "W-ABILITY",
                permission.table,
                permission.id(),
                name,
                &Value::Null,
            );
            continue;
        };
        permissions.insert(ability.as_str());
    }
    permissions.into_iter().collect()
}

fn webhook(run: &mut ExtractionRun<'_>, row: &Row, wide: &HashSet<i64>) -> Result {
    let kind = "webhook_registration";
    let client = row.int("api_client_id");
    let organization = if client.is_some_and(|client| wide.contains(&client)) {
        run.counts(None, kind).source += 1;
        None
    } else {
        let Some(of) = run.organization_of(kind, row, "api_client", client)? else { return Ok(()) };
        Some(of)
    };
    let mut events: Vec<&str> =
        row.list("subscriptions").filter_map(parse_event).map(Ability::as_str).collect();
    events.dedup();
    if events.is_empty() || TargetPolicy::parse(row.str("url")).is_err() {
        return run.drop_to_residue(kind, row, organization, "W-WEBHOOK");
    }
    let key = row.str("private_key");
    let is_key = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_key {
        run.write_loss(row, organization, "W-WEBHOOK")?;
    }
    let members = json!({
        "api_client": reference(client),
        "url": row.str("url"),
        "subscriptions": events,
        "signing_secret": is_key.then_some(key),
        "created_at": row.time("created_at"),
        "updated_at": row.time("updated_at"),
    });
    let (reference, id) = (row.id().to_string(), Some(row.id()));
    run.write_record(Record { kind, reference, id, organization, members })
}
