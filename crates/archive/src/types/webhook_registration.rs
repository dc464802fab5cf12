//! `webhook_registration`: an address of an API client that receives events.
//!
//! Host names are not resolved, and the event permissions of the client are not required: a permission that is
//! withdrawn later leaves the list of a registration as it is (contract 09 B), and both are checked at each delivery.

use super::{
    Change, ExportSource, Import, ImportResult, PAGE, RecordKind, RecordStore, Rows, StoredRecord, Timestamp,
    members, required,
};
use super::{OrganizationId, PatchField, Ports, Result, async_trait};
use crate::context::WebhookArchive;
use crate::kind::MemberTable;
use crate::members::{check_fixed, set, set_optional};
use crate::output::ExportRow;
use crate::refs::unknown_ref;
use civitas_kernel::{ClientId, Error, EventName, RegistrationId};
use civitas_webhooks::{Registration, SealedSecret, SigningSecret, TargetError, TargetPolicy, parse_event};

pub(super) struct WebhookRegistrationRecordType;

/// The organization of the client; `None` for a deployment-wide client.
type Owner = Option<OrganizationId>;

members! { WebhookRegistrationRecordType, "webhook_registration", Owner, RegistrationFields, |kind, registration: Registration| {
    api_client: resolved(String, check_client, with(registration.client.to_string())),
    url: resolved(String, set_url, with(&registration.url)),
    subscriptions: custom(
        Vec<String>,
        set_subscriptions,
        with(registration.subscriptions.iter().map(|event| event.as_str()).collect::<Vec<_>>())
    ),
    signing_secret: resolved(String, set_signing_secret, completed(())),
    disabled_at: custom(Timestamp, set_disabled_at, with_optional(registration.health.disabled_at.map(Timestamp))),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

fn services<'a>(import: &Import<'_, 'a, WebhookRegistrationRecordType>) -> ImportResult<WebhookArchive<'a>> {
    import.context.options.webhooks.ok_or_else(|| "webhook registrations cannot be imported here".into())
}

async fn check_client(
    import: &mut Import<'_, '_, WebhookRegistrationRecordType>,
    fields: &mut RegistrationFields,
    registration: &mut Registration,
) -> ImportResult {
    let given = import.context.refs.resolve_field(import.owner, &fields.api_client).await?;
    check_fixed("api_client", &given, &registration.client)
}

async fn set_url(
    import: &mut Import<'_, '_, WebhookRegistrationRecordType>,
    fields: &mut RegistrationFields,
    registration: &mut Registration,
) -> ImportResult {
    if let PatchField::Value(text) = &fields.url {
        // What another server sent to is checked when something is sent.
        let sent_before = import.context.options.expected.is_some() && TargetPolicy::parse(text).is_ok();
        if !sent_before {
            check_url(services(import)?.policy, text)?;
        }
    }
    set("url", std::mem::take(&mut fields.url), &mut registration.url)
}

/// The rules of the interface, as far as they need no name server.
fn check_url(policy: &TargetPolicy, text: &str) -> ImportResult {
    let checked = TargetPolicy::parse(text).and_then(|url| policy.check_unresolved(&url));
    checked.map_err(|error| match error {
        TargetError::Invalid => format!("url {text:?} is not a valid http or https address").into(),
        TargetError::Forbidden => format!("url {text:?} is not allowed").into(),
    })
}

fn set_subscriptions(fields: &mut RegistrationFields, registration: &mut Registration) -> ImportResult {
    let names = match &fields.subscriptions {
        PatchField::Absent => return Ok(()),
        PatchField::Null => return Err("subscriptions cannot be null".into()),
        PatchField::Value(names) => names,
    };
    registration.subscriptions = subscriptions(names)?;
    Ok(())
}

/// The events of these names, each once, in the order of its first name.
fn subscriptions(names: &[String]) -> ImportResult<Vec<EventName>> {
    let mut events = Vec::new();
    for name in names {
        let event = parse_event(name).ok_or_else(|| format!("event {name:?} is not known"))?;
        if !events.contains(&event) {
            events.push(event);
        }
    }
    if events.is_empty() { Err("subscriptions must not be empty".into()) } else { Ok(events) }
}

/// Encrypts a secret, unless it is the one that is stored: encrypted again it would be a change. A stored secret that
/// cannot be decrypted is replaced.
async fn set_signing_secret(
    import: &mut Import<'_, '_, WebhookRegistrationRecordType>,
    fields: &mut RegistrationFields,
    registration: &mut Registration,
) -> ImportResult {
    let text = match &fields.signing_secret {
        PatchField::Absent => return Ok(()),
        PatchField::Null => return Err("signing_secret cannot be null".into()),
        PatchField::Value(text) if !SigningSecret::is_valid(text) => {
            return Err("signing_secret must be 16 to 255 printable ASCII characters without spaces".into());
        }
        PatchField::Value(text) => SigningSecret::new(text.as_str()),
    };
    let cipher = services(import)?.cipher;
    if !cipher.open(&registration.secret).is_ok_and(|current| current == text) {
        registration.secret = cipher.seal(&text)?;
    }
    Ok(())
}

/// Null enables a registration that is disabled and forgets its failures, as the interface does.
#[expect(clippy::unnecessary_wraps, reason = "the table of members expects a result")]
fn set_disabled_at(fields: &mut RegistrationFields, registration: &mut Registration) -> ImportResult {
    if matches!(fields.disabled_at, PatchField::Null) && registration.health.disabled_at.is_some() {
        registration.health.reset();
    }
    set_optional(std::mem::take(&mut fields.disabled_at), &mut registration.health.disabled_at);
    Ok(())
}

fn taken<T>(url: &str) -> ImportResult<T> {
    Err(format!("url {url:?} has already been taken").into())
}

/// Whether a registration has an event whose name this version has; a message in the log when it has none.
fn is_readable(id: RegistrationId, registration: &Registration) -> bool {
    let is_readable = !registration.subscriptions.is_empty();
    if !is_readable {
        tracing::warn!(
            registration = id.0,
            "a registration is left out: its events are unknown to this version"
        );
    }
    is_readable
}

#[async_trait]
impl RecordStore for WebhookRegistrationRecordType {
    async fn find_for_update(
        &self,
        ports: &dyn Ports,
        of: Owner,
        id: RegistrationId,
    ) -> Result<Option<Registration>> {
        let found = ports.registrations().find_unrestricted_for_update(id).await?;
        Ok(found.filter(|registration| registration.organization == of))
    }

    async fn page(&mut self, ports: &dyn Ports, of: Owner, after: Option<RegistrationId>) -> Rows<Self> {
        ports.registrations().page_after(of, after, PAGE).await
    }

    /// The store returns the registrations of all organizations for `None`; these are skipped. So are registrations
    /// without an event of this version: an archive with them could not be imported.
    fn is_exported(&self, of: Owner, (id, registration): &StoredRecord<Self>) -> bool {
        registration.organization == of && is_readable(*id, registration)
    }

    async fn add(&self, import: &Import<'_, '_, Self>, new: &Registration) -> ImportResult<RegistrationId> {
        let id = import.context.ports.registrations().add(new).await?;
        id.map_or_else(|| taken(&new.url), Ok)
    }

    async fn save(
        &self,
        import: &Import<'_, '_, Self>,
        id: RegistrationId,
        Change { before, after }: &Change<Registration>,
    ) -> ImportResult {
        let store = import.context.ports.registrations();
        if before.url != after.url && store.is_taken(after.client, &after.url, Some(id)).await? {
            return taken(&after.url);
        }
        Ok(store.save(id, after).await?)
    }
}

#[async_trait]
impl RecordKind for WebhookRegistrationRecordType {
    fn has_deployment_rights(&self, organization: Owner) -> bool {
        organization.is_none()
    }

    /// By id. An import without the services refuses all registrations.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<RegistrationId>,
        _: &RegistrationFields,
    ) -> ImportResult<Option<StoredRecord<Self>>> {
        services(import)?;
        self.find_by_id(import, id).await
    }

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &RegistrationFields,
    ) -> ImportResult<Registration> {
        let reference = required("api_client", &fields.api_client)?;
        let client: ClientId = import.context.refs.resolve(import.owner, &reference).await?;
        if import.context.ports.clients().find(client).await?.is_none() {
            return Err(unknown_ref("api_client", &reference));
        }
        let url = required("url", &fields.url)?;
        required("subscriptions", &fields.subscriptions)?;
        let cipher = services(import)?.cipher;
        let secret = if fields.signing_secret.is_absent() {
            let secret = cipher.generate()?;
            import.context.report.add_secret(self.type_name(), &import.context.reference, secret.expose());
            cipher.seal(&secret)?
        } else {
            // The member sets it.
            SealedSecret(String::new())
        };
        Ok(Registration::new(client, import.owner, url, secret, import.context.options.now))
    }

    /// Adds the signing secret. Without secrets it is not decrypted.
    async fn complete(
        &self,
        source: ExportSource<'_>,
        _: Owner,
        (id, registration): &StoredRecord<Self>,
        row: ExportRow,
    ) -> Result<ExportRow> {
        if !row.has_secrets() {
            return Ok(row);
        }
        let opened = source.services.cipher.open(&registration.secret);
        let secret = opened.map_err(|error| {
            Error::internal(format!(
                "the signing secret of webhook_registration {id} is not readable: {error}"
            ))
        })?;
        Ok(row.secret("signing_secret", Some(secret.expose())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T>(result: ImportResult<T>) -> Option<String> {
        result.err().map(|error| error.at_line(1, None).to_string())
    }

    #[test]
    fn events_are_kept_once_in_their_order_and_must_be_known() {
        let of = |names: &[&str]| subscriptions(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let events = of(&["user.created", "proposal_creation.succeeded", "user.created"]);
        assert_eq!(events.unwrap(), [EventName::UserCreated, EventName::ProposalCreation]);
        assert_eq!(reason(of(&[])).unwrap(), "line 1: subscriptions must not be empty");
        assert_eq!(
            reason(of(&["proposals.read"])).unwrap(),
            r#"line 1: event "proposals.read" is not known"#
        );
    }

    #[test]
    fn addresses_are_checked_without_a_name_server() {
        let own = TargetPolicy { allowed: vec!["10.0.0.0/8".parse().unwrap()] };
        let public = TargetPolicy::default();
        let checked = |policy, url| reason(check_url(policy, url));
        for url in ["https://hooks.example/a?b=c", "http://hooks.example:8080/"] {
            assert_eq!(checked(&public, url), None, "{url}");
        }
        for url in [
            "https://10.0.0.5/",
            "https://localhost/",
            "https://hooks.internal/",
            "https://hooks.example:22/",
        ] {
            assert_eq!(checked(&public, url).unwrap(), format!("line 1: url {url:?} is not allowed"));
        }
        assert_eq!(checked(&own, "https://10.0.0.5:22/"), None);
        assert_eq!(checked(&own, "https://hooks.internal/"), None, "its addresses may be in the network");
        assert!(checked(&own, "https://192.168.0.5/").is_some());
        let invalid = checked(&public, "https://user@hooks.example/").unwrap();
        assert_eq!(
            invalid,
            r#"line 1: url "https://user@hooks.example/" is not a valid http or https address"#
        );
    }
}
