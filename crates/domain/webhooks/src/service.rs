//! Use cases of registrations (contract 09 B).

use crate::{
    REGISTRATION_FIELDS, ReceiverRights, Registration, RegistrationStore, SecretCipher, SigningSecret,
    TargetError, TargetPolicy, TargetResolver, parse_event,
};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{
    Ability, Access, ClientId, Ctx, Error, EventName, FieldError, OrganizationId, Page, PageRequest,
    RegistrationId, Result, Scope, Wording,
};
use serde_json::Value;
use time::OffsetDateTime;

/// The rights to read registrations.
pub const READ_WEBHOOKS: Access = Access::either(Scope::Webhooks, &[Ability::WebhooksRead]);
/// The rights to create and change registrations.
pub const WRITE_WEBHOOKS: Access = Access::either(Scope::Webhooks, &[Ability::WebhooksWrite]);
/// The rights to delete registrations.
pub const DESTROY_WEBHOOKS: Access = Access::either(Scope::Webhooks, &[Ability::WebhooksDestroy]);

/// A registration as a client sends it.
#[derive(Debug, Clone, Default)]
pub struct SentRegistration {
    /// The callback address.
    pub url: Option<Value>,
    /// The names of events.
    pub subscriptions: Option<Value>,
}

/// A registration whose members are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRegistration {
    /// The callback address.
    pub url: String,
    /// The events, each once.
    pub subscriptions: Vec<EventName>,
}

/// A registration to store, with its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRegistration {
    /// The registration.
    pub registration: Registration,
    /// The key of its signatures. It is not shown later.
    pub secret: SigningSecret,
}

/// The client of a registration.
#[derive(Debug, Clone, Copy)]
pub struct RegistrationOwner {
    /// The client.
    pub client: ClientId,
    /// Its organization; `None`: it is deployment-wide.
    pub organization: Option<OrganizationId>,
    /// Its rights.
    pub rights: ReceiverRights,
}

/// Reads the registrations of the client.
pub struct Registrations<'a> {
    /// The store.
    pub store: &'a dyn RegistrationStore,
}

impl Registrations<'_> {
    /// The registrations of the client, the newest first.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<(RegistrationId, Registration)>> {
        ctx.require(&READ_WEBHOOKS)?;
        self.store.list(ctx.caller.client, &read_filters(REGISTRATION_FIELDS, filter)?, page).await
    }

    /// A registration of the client.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn find(&self, ctx: &Ctx, id: RegistrationId) -> Result<Registration> {
        ctx.require(&READ_WEBHOOKS)?;
        self.store.find(ctx.caller.client, id).await?.ok_or(Error::NotFound)
    }
}

/// The rules of registrations.
#[derive(Clone, Copy)]
pub struct RegistrationRules<'a> {
    /// Which addresses may be reached.
    pub policy: &'a TargetPolicy,
    /// Resolves host names.
    pub resolver: &'a dyn TargetResolver,
}

impl RegistrationRules<'_> {
    /// Checks the members of a registration of a client with these rights. `taken`: whether the client has another
    /// registration with this address.
    ///
    /// # Errors
    /// `Invalid` with one detail for each broken rule, those of the address first.
    pub async fn check(
        &self,
        rights: ReceiverRights,
        sent: &SentRegistration,
        taken: impl AsyncFn(&str) -> Result<bool>,
    ) -> Result<CheckedRegistration> {
        let mut fields = Vec::new();
        let url = match sent.url.as_ref() {
            None | Some(Value::Null) => Err(FieldError::blank("url", "Url")),
            Some(Value::String(text)) if text.trim().is_empty() => Err(FieldError::blank("url", "Url")),
            Some(Value::String(text)) => match self.target(text).await {
                Ok(()) if taken(text).await? => Err(taken_url()),
                Ok(()) => Ok(text.clone()),
                Err(error) => Err(unfit_url(error)),
            },
            Some(_) => Err(unfit_url(TargetError::Invalid)),
        };
        let subscriptions = subscriptions(rights, sent.subscriptions.as_ref(), &mut fields);
        match url {
            Ok(url) => {
                Error::unless_valid(Wording::BadRequest, fields)?;
                Ok(CheckedRegistration { url, subscriptions })
            }
            Err(field) => {
                fields.insert(0, field);
                Err(Error::Invalid { wording: Wording::BadRequest, fields })
            }
        }
    }

    /// Checks a callback address. A name that does not resolve is accepted; it is checked again at each attempt.
    async fn target(&self, text: &str) -> Result<(), TargetError> {
        let url = TargetPolicy::parse(text)?;
        let addresses = match (TargetPolicy::ip_literal(&url), url.domain()) {
            (Some(address), _) => vec![address],
            (None, Some(name)) => self.resolver.addresses(name).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the host of a callback address could not be resolved");
                Vec::new()
            }),
            (None, None) => Vec::new(),
        };
        self.policy.check(&url, &addresses)
    }
}

/// Checks writes of registrations. Names are resolved here, outside of a transaction.
pub struct RegistrationChecks<'a> {
    /// The store.
    pub store: &'a dyn RegistrationStore,
    /// The rules.
    pub rules: RegistrationRules<'a>,
    /// Creates and encrypts secrets.
    pub cipher: &'a dyn SecretCipher,
}

impl RegistrationChecks<'_> {
    /// A new registration of the caller's client. It is not stored.
    ///
    /// # Errors
    /// `Forbidden`; those of [`RegistrationRules::check`].
    pub async fn new_of_caller(&self, ctx: &Ctx, sent: &SentRegistration) -> Result<NewRegistration> {
        ctx.require(&WRITE_WEBHOOKS)?;
        let owner = RegistrationOwner {
            client: ctx.caller.client,
            organization: (!ctx.caller.deployment_wide).then_some(ctx.organization),
            rights: rights_of(ctx),
        };
        self.new_of(owner, sent, ctx.now).await
    }

    /// A new registration of a client. It is not stored. The caller checks permission.
    ///
    /// # Errors
    /// Those of [`RegistrationRules::check`].
    pub async fn new_of(
        &self,
        owner: RegistrationOwner,
        sent: &SentRegistration,
        now: OffsetDateTime,
    ) -> Result<NewRegistration> {
        let RegistrationOwner { client, organization, rights } = owner;
        let taken = async |url: &str| self.store.is_taken(client, url, None).await;
        let CheckedRegistration { url, subscriptions } = self.rules.check(rights, sent, taken).await?;
        let secret = self.cipher.generate()?;
        let new = Registration::new(client, organization, url, self.cipher.seal(&secret)?, now);
        Ok(NewRegistration { registration: Registration { subscriptions, ..new }, secret })
    }

    /// The new address and events of a registration of the caller's client. They are not stored.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound`; those of [`RegistrationRules::check`].
    pub async fn update(
        &self,
        ctx: &Ctx,
        id: RegistrationId,
        sent: &SentRegistration,
    ) -> Result<CheckedRegistration> {
        ctx.require(&WRITE_WEBHOOKS)?;
        let client = ctx.caller.client;
        self.store.find(client, id).await?.ok_or(Error::NotFound)?;
        let taken = async |url: &str| self.store.is_taken(client, url, Some(id)).await;
        self.rules.check(rights_of(ctx), sent, taken).await
    }

    /// Whether the caller may delete this registration of its client.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound`.
    pub async fn destroy(&self, ctx: &Ctx, id: RegistrationId) -> Result<()> {
        ctx.require(&DESTROY_WEBHOOKS)?;
        self.store.find(ctx.caller.client, id).await?.ok_or(Error::NotFound).map(drop)
    }
}

/// The rights of the caller's client concerning events.
pub fn rights_of(ctx: &Ctx) -> ReceiverRights {
    ReceiverRights { scopes: ctx.caller.client_scopes, permissions: ctx.caller.abilities }
}

/// The events in a list of names, each once. Adds an error for each one that is not granted.
fn subscriptions(
    rights: ReceiverRights,
    sent: Option<&Value>,
    fields: &mut Vec<FieldError>,
) -> Vec<EventName> {
    const BLANK: &str = "Subscriptions cannot be blank";
    let names: Option<Vec<&str>> = match sent {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    let Some(names) = names else {
        fields.push(FieldError::new("subscriptions", "invalid", BLANK));
        return Vec::new();
    };
    if names.is_empty() {
        fields.push(FieldError::new("subscriptions", "blank", BLANK));
    }
    permitted(rights, &names, "subscriptions", fields)
}

/// The events with these names, each once, for a live stream.
///
/// # Errors
/// `Invalid` with one detail for each name that is no event, or is not granted.
pub fn events_to_stream(rights: ReceiverRights, names: &[&str]) -> Result<Vec<EventName>> {
    let mut fields = Vec::new();
    let events = permitted(rights, names, "types", &mut fields);
    Error::unless_valid(Wording::BadRequest, fields)?;
    Ok(events)
}

/// The events with these names, each once. Adds an error of `field` for each one that is not granted.
fn permitted(
    rights: ReceiverRights,
    names: &[&str],
    field: &'static str,
    fields: &mut Vec<FieldError>,
) -> Vec<EventName> {
    let mut events = Vec::new();
    let mut refused: Vec<&str> = Vec::new();
    for name in names {
        match parse_event(name).filter(|event| rights.may_receive(*event)) {
            Some(event) if events.contains(&event) => {}
            Some(event) => events.push(event),
            None if refused.contains(name) => {}
            None => {
                refused.push(name);
                let text = format!("Subscription to {name} is not allowed");
                fields.push(FieldError::new(field, "inclusion", text));
            }
        }
    }
    events
}

fn taken_url() -> FieldError {
    FieldError::new("url", "taken", "Url has already been taken")
}

fn unfit_url(error: TargetError) -> FieldError {
    match error {
        TargetError::Invalid => FieldError::new("url", "invalid", "Url must be a valid HTTP or HTTPS URL"),
        TargetError::Forbidden => FieldError::new("url", "forbidden", "Url is not allowed"),
    }
}

/// The error when another request registered the address at the same time.
pub fn url_taken_error() -> Error {
    Error::Invalid { wording: Wording::BadRequest, fields: vec![taken_url()] }
}

/// The error when the client has as many registrations as it may have.
pub fn too_many_registrations_error(most: u64) -> Error {
    let text = format!("A client has at most {most} webhook registrations");
    Error::Invalid { wording: Wording::BadRequest, fields: vec![FieldError::new("url", "too_many", text)] }
}
