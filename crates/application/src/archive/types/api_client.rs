//! `api_client`: a program that calls the interface.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fixed, need, set};
use super::super::record::Record;
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_accounts::{ApiClient, DEPLOYMENT_WIDE, Digest, Secret};
use civitas_kernel::{Abilities, Ability, ClientId, Field, OrganizationId, Scope, Scopes};
use serde::Deserialize;

pub(super) struct ApiClients;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ApiClientRecord {
    client_id: Field<String>,
    client_secret: Field<String>,
    client_secret_hash: Field<String>,
    name: Field<String>,
    scopes: Field<Vec<String>>,
    permissions: Field<Vec<String>>,
    created_at: Field<Moment>,
}

fn scopes(words: &[String]) -> Result<Scopes, Fault> {
    let known = |word: &String| Scope::parse(word).ok_or_else(|| format!("scope {word:?} is not known"));
    Ok(words.iter().map(known).collect::<Result<_, _>>()?)
}

fn permissions(words: &[String]) -> Result<Abilities, Fault> {
    let known =
        |word: &String| Ability::parse(word).ok_or_else(|| format!("permission {word:?} is not known"));
    Ok(words.iter().map(known).collect::<Result<_, _>>()?)
}

/// The digest a record asks for; `None` when it says nothing of a secret.
fn secret(said: &ApiClientRecord) -> Result<Option<Digest>, Fault> {
    let is_digest =
        |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match (&said.client_secret, &said.client_secret_hash) {
        (Field::Absent, Field::Absent) => Ok(None),
        (Field::Value(text), Field::Absent) if !text.trim().is_empty() => {
            Ok(Some(Secret::new(text.as_str()).digest()))
        }
        (Field::Absent, Field::Value(text)) if is_digest(text) => Ok(Some(Digest::kept(text.as_str()))),
        (Field::Absent, _) => Err("client_secret_hash must be a SHA-256 in 64 hexadecimal digits".into()),
        (_, Field::Absent) => Err("client_secret must not be blank".into()),
        _ => Err("give either client_secret or client_secret_hash".into()),
    }
}

fn check(client: &ApiClient) -> Result<(), Fault> {
    if client.uid.chars().count() < ApiClient::SHORTEST_UID {
        return Err(format!(
            "client_id {:?} is shorter than {} characters",
            client.uid,
            ApiClient::SHORTEST_UID
        )
        .into());
    }
    if client.name.trim().is_empty() {
        return Err("name must not be blank".into());
    }
    if client.scopes.is_empty() {
        return Err("scopes must not be empty".into());
    }
    if client.organization.is_none() && client.scopes != DEPLOYMENT_WIDE.into_iter().collect() {
        return Err(r#"organization is required unless scopes are exactly ["system"]"#.into());
    }
    match client.permissions.iter().find(|ability| !client.may_hold(*ability)) {
        Some(ability) => {
            Err(format!("permission {:?} needs a scope the client does not own", ability.as_str()).into())
        }
        None => Ok(()),
    }
}

/// The client a record stands for: the one its ref was remembered for, else the one of its `client_id`, which is
/// unique in the deployment.
async fn find(
    import: &Import<'_>,
    record: &Record,
    said: &ApiClientRecord,
) -> Result<Option<(ClientId, ApiClient)>, Fault> {
    let store = import.ports.clients();
    if let Some(id) = record.seen_as(ClientId)
        && let Some(client) = store.find(id).await?
    {
        fixed("client_id", &said.client_id, &client.uid)?;
        return Ok(Some((id, client)));
    }
    let Some(uid) = said.client_id.as_value() else { return Ok(None) };
    match store.find_by_uid(uid).await? {
        Some((_, client)) if client.organization != record.organization => {
            Err(format!("client_id {uid:?} has already been taken").into())
        }
        found => Ok(found),
    }
}

impl ApiClientRecord {
    fn begin(
        &self,
        import: &mut Import<'_>,
        record: &Record,
        kept: Option<Digest>,
    ) -> Result<ApiClient, Fault> {
        let now = import.options.now;
        let (uid, name) = (need("client_id", &self.client_id)?, need("name", &self.name)?);
        let scopes = scopes(&need("scopes", &self.scopes)?)?;
        let secret = kept.unwrap_or_else(|| {
            let secret = Secret::random("key_", 32);
            import.report.reveal(ApiClients.name(), &record.reference, secret.expose());
            secret.digest()
        });
        Ok(ApiClient {
            uid,
            secret,
            name,
            organization: record.organization,
            scopes,
            permissions: Abilities::default(),
            created_at: now,
            updated_at: now,
        })
    }

    fn apply(self, client: &mut ApiClient) -> Result<(), Fault> {
        set("name", self.name, &mut client.name)?;
        match self.scopes {
            Field::Absent => {}
            Field::Value(words) if scopes(&words)? == client.scopes => {}
            _ => return Err("scopes can not change".into()),
        }
        match self.permissions {
            Field::Absent => {}
            Field::Null => client.permissions = Abilities::default(),
            Field::Value(words) => client.permissions = permissions(&words)?,
        }
        set("created_at", self.created_at, &mut client.created_at)
    }
}

#[async_trait]
impl RecordType for ApiClients {
    fn name(&self) -> &'static str {
        "api_client"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let said: ApiClientRecord = record.members()?;
        let secret = secret(&said)?;
        let before = find(import, &record, &said).await?;
        let mut client = match &before {
            Some((_, client)) => client.clone(),
            None => said.begin(import, &record, secret.clone())?,
        };
        said.apply(&mut client)?;
        client.secret = secret.unwrap_or(client.secret);
        check(&client)?;
        let store = import.ports.clients();
        match before {
            None => Ok(Put::created(store.add(&client).await?)),
            Some((id, old)) if old == client => Ok(Put::unchanged(id)),
            Some((id, _)) => {
                client.updated_at = import.options.now;
                store.save(id, &client).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.clients().after(Some(organization), after, PAGE);
        every(page, |id, client| write(sink, Row::of(organization, self.name(), id), client)).await
    }

    async fn export_deployment_wide(
        &self,
        ports: &dyn Ports,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.clients().after(None, after, PAGE);
        every(page, |id, client| match client.organization {
            None => write(sink, Row::new(self.name(), id), client),
            Some(_) => Ok(()),
        })
        .await
    }
}

fn write(sink: &mut Sink<'_>, row: Row, client: ApiClient) -> Result<(), ExportError> {
    let secret = sink.with_secrets.then(|| client.secret.as_str().to_owned());
    let scopes: Vec<_> = client.scopes.iter().map(Scope::as_str).collect();
    let permissions: Vec<_> = client.permissions.iter().map(Ability::as_str).collect();
    let row = row
        .with("client_id", client.uid)
        .some("client_secret_hash", secret)
        .with("name", client.name)
        .with("scopes", scopes)
        .unless_empty("permissions", permissions)
        .time("created_at", Some(client.created_at));
    sink.write(&row)
}
