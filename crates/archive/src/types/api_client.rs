//! `api_client`: a program that calls the interface.

use super::{
    Change, Import, ImportContext, ImportResult, PAGE, RecordKind, RecordStore, Rows, StoredRecord,
    Timestamp, members, required,
};
use super::{OrganizationId, PatchField, Ports, Result, async_trait};
use crate::kind::MemberTable;
use crate::members::check_fixed;
use civitas_accounts::{ApiClient, DEPLOYMENT_WIDE, Digest, Secret};
use civitas_kernel::{Abilities, Ability, ClientId, Scope, Scopes};
use std::collections::BTreeSet;

pub(super) struct ApiClientRecordType;

/// The organization of a client; `None` for a deployment-wide client.
type Owner = Option<OrganizationId>;

members! { ApiClientRecordType, "api_client", Owner, ApiClientFields, |kind, client: ApiClient| {
    client_id: custom(String, check_client_id, with(&client.uid)),
    client_secret: input(String),
    client_secret_hash: custom(String, set_secret, secret(Some(client.secret.as_str()))),
    name: required(String),
    scopes: custom(
        Vec<String>,
        check_scopes,
        with(client.scopes.iter().map(Scope::as_str).collect::<Vec<_>>())
    ),
    permissions: custom(
        Vec<String>,
        set_permissions,
        with_non_empty(client.permissions.iter().map(Ability::as_str).collect::<Vec<_>>())
    ),
    created_at: required(Timestamp),
}}

fn check_client_id(fields: &mut ApiClientFields, client: &mut ApiClient) -> ImportResult {
    check_fixed("client_id", &fields.client_id, &client.uid)
}

fn set_secret(fields: &mut ApiClientFields, client: &mut ApiClient) -> ImportResult {
    if let Some(digest) = digest(fields)? {
        client.secret = digest;
    }
    Ok(())
}

fn check_scopes(fields: &mut ApiClientFields, client: &mut ApiClient) -> ImportResult {
    match &fields.scopes {
        PatchField::Absent => Ok(()),
        PatchField::Value(words) if scopes(words)? == client.scopes => Ok(()),
        _ => Err("scopes cannot change".into()),
    }
}

fn set_permissions(fields: &mut ApiClientFields, client: &mut ApiClient) -> ImportResult {
    let parse =
        |word: &String| Ability::parse(word).ok_or_else(|| format!("permission {word:?} is not known"));
    match &fields.permissions {
        PatchField::Absent => {}
        PatchField::Null => client.permissions = Abilities::default(),
        PatchField::Value(words) => client.permissions = words.iter().map(parse).collect::<Result<_, _>>()?,
    }
    Ok(())
}

fn scopes(words: &[String]) -> ImportResult<Scopes> {
    let parse = |word: &String| Scope::parse(word).ok_or_else(|| format!("scope {word:?} is not known"));
    Ok(words.iter().map(parse).collect::<Result<_, _>>()?)
}

/// Checks that a secret can have 128 bits of randomness: it is stored as a SHA-256, which can be computed fast. It has at
/// least 22 characters of `A-Z a-z 0-9 - _` (6 bits each), or 32 if all are hexadecimal digits (4 bits each), and at
/// least 8 different ones.
fn check_client_secret(text: &str) -> ImportResult {
    let is_url_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let usable = text.bytes().filter(|byte| is_url_safe(*byte)).count();
    let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let different = text.bytes().collect::<BTreeSet<_>>().len();
    if usable >= (if is_hexadecimal { 32 } else { 22 }) && different >= 8 {
        return Ok(());
    }
    Err("client_secret must have at least 22 characters of A-Z, a-z, 0-9, - and _, or 32 hexadecimal digits, and at \
         least 8 different ones"
        .into())
}

/// The digest of the secret of a record; `None` if the record has no secret.
fn digest(fields: &ApiClientFields) -> ImportResult<Option<Digest>> {
    let is_digest =
        |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match (&fields.client_secret, &fields.client_secret_hash) {
        (PatchField::Absent, PatchField::Absent) => Ok(None),
        (PatchField::Value(text), PatchField::Absent) if text.trim().is_empty() => {
            Err("client_secret must not be blank".into())
        }
        (PatchField::Value(text), PatchField::Absent) => Ok(Some(Secret::new(text.as_str()).digest())),
        (PatchField::Absent, PatchField::Value(text)) if is_digest(text) => {
            Ok(Some(Digest::from_stored(text.as_str())))
        }
        (PatchField::Absent, _) => {
            Err("client_secret_hash must be a SHA-256 in 64 hexadecimal digits".into())
        }
        (_, PatchField::Absent) => Err("client_secret must not be blank".into()),
        _ => Err("give either client_secret or client_secret_hash".into()),
    }
}

#[async_trait]
impl RecordStore for ApiClientRecordType {
    async fn find_for_update(&self, ports: &dyn Ports, _: Owner, id: ClientId) -> Result<Option<ApiClient>> {
        let Some(client) = ports.clients().find(id).await? else { return Ok(None) };
        let locked = ports.clients().find_by_uid_for_update(&client.uid).await?;
        Ok(locked.filter(|(locked, _)| *locked == id).map(|(_, client)| client))
    }

    async fn page(&mut self, ports: &dyn Ports, owner: Owner, after: Option<ClientId>) -> Rows<Self> {
        ports.clients().page_after(owner, after, PAGE).await
    }

    /// The store returns the clients of all organizations for `None`; these are skipped.
    fn is_exported(&self, owner: Owner, (_, client): &StoredRecord<Self>) -> bool {
        client.organization == owner
    }

    async fn add(&self, import: &Import<'_, '_, Self>, client: &ApiClient) -> ImportResult<ClientId> {
        Ok(import.context.ports.clients().add(client).await?)
    }

    async fn save(
        &self,
        import: &Import<'_, '_, Self>,
        id: ClientId,
        change: &Change<ApiClient>,
    ) -> ImportResult {
        Ok(import.context.ports.clients().save(id, &change.after).await?)
    }
}

#[async_trait]
impl RecordKind for ApiClientRecordType {
    fn has_deployment_rights(&self, organization: Owner) -> bool {
        organization.is_none()
    }

    /// By id, else by `client_id`, which is unique in the deployment. Checks the secret first.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<ClientId>,
        fields: &ApiClientFields,
    ) -> ImportResult<Option<StoredRecord<Self>>> {
        digest(fields)?;
        if let (PatchField::Value(text), false) =
            (&fields.client_secret, import.context.options.allow_weak_secrets)
        {
            check_client_secret(text)?;
        }
        if let Some(found) = self.find_by_id(import, id).await? {
            return Ok(Some(found));
        }
        let Some(uid) = fields.client_id.as_value() else { return Ok(None) };
        match import.context.ports.clients().find_by_uid_for_update(uid).await? {
            Some((_, client)) if client.organization != import.owner => {
                Err(format!("client_id {uid:?} has already been taken").into())
            }
            found => Ok(found),
        }
    }

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ApiClientFields,
    ) -> ImportResult<ApiClient> {
        let now = import.context.options.now;
        let (uid, name) = (required("client_id", &fields.client_id)?, required("name", &fields.name)?);
        let scopes = scopes(&required("scopes", &fields.scopes)?)?;
        let secret = digest(fields)?.unwrap_or_else(|| {
            let secret = Secret::random("key_", 32);
            import.context.report.add_secret(self.type_name(), &import.context.reference, secret.expose());
            secret.digest()
        });
        Ok(ApiClient::new(uid, secret, name, import.owner, scopes, now))
    }

    fn check(&self, _: &ImportContext<'_>, client: &mut ApiClient) -> ImportResult {
        if client.uid.chars().count() < ApiClient::MIN_UID {
            return Err(format!(
                "client_id {:?} is shorter than {} characters",
                client.uid,
                ApiClient::MIN_UID
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_secret_can_have_128_bits() {
        for enough in
            ["0123456789abcdef0123456789abcdef", "key_0123456789abcdefghi", "Zm9vYmFyYmF6-_1234567x"]
        {
            assert!(check_client_secret(enough).is_ok(), "{enough}");
        }
        for short in [
            "s3cret",
            "0123456789abcdef0123456789abcde",
            "Zm9vYmFyYmF6-_1234567",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(check_client_secret(short).is_err(), "{short}");
        }
    }
}
