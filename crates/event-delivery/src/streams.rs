//! Streams of live events (contract 09 D): who may open one, what it contains, and when it ends. Clients may also read the
//! same events by pull.

use crate::feed::{EventFeed, FeedReader};
use civitas_accounts::{AuthContext, TokenAuthenticator, TokenSigner};
use civitas_application::Store;
use civitas_kernel::{
    ClientId, Ctx, Error, EventName, Locale, Locales, OrganizationId, Result, TokenId, clock,
};
use civitas_organizations::{Feature, Tenant};
use civitas_webhooks::{
    EventPosition, EventSwitches, OutboxEvent, READ_WEBHOOKS, ReceiverRights, RelayedEvent, events_to_stream,
    is_of_system, rights_of,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

/// The most streams of a client in this process.
const STREAMS_OF_CLIENT: usize = 10;
/// How long a stream lasts at most.
const MAX_DURATION: Duration = Duration::from_secs(3600);
/// The pause after which a stream without events sends a comment.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a check of token, rights and switches is valid.
const PERMISSIONS_MAX_AGE: Duration = Duration::from_secs(1);

/// Opens streams of live events.
pub struct EventStreams {
    feed: EventFeed,
    store: Arc<dyn Store>,
    signer: Arc<dyn TokenSigner>,
    locales: Locales,
    /// The number of streams of each client.
    open: Mutex<HashMap<ClientId, usize>>,
    closing: watch::Sender<bool>,
}

/// Where a stream or an answer by pull begins, and what it contains.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamStart<'a> {
    /// The names of its events; none for all that the client may receive.
    pub types: &'a [&'a str],
    /// The id of the last event the client has; `None` to begin now, by pull with the oldest stored event.
    pub last_event_id: Option<&'a str>,
}

/// Why a stream cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// An error of the request.
    Error(Error),
    /// The last event is not stored, or not one of this organization.
    Gone,
    /// The client has too many streams.
    TooMany,
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A message of a stream.
#[derive(Debug, Clone)]
pub enum StreamMessage {
    /// An event.
    Event(Arc<RelayedEvent>),
    /// A comment: the stream is open, and there is no event.
    KeepAlive,
}

impl EventStreams {
    /// Streams over this store. The tail of the outbox runs on this runtime.
    pub fn new(
        store: Arc<dyn Store>,
        signer: Arc<dyn TokenSigner>,
        locales: Locales,
        runtime: Handle,
    ) -> Arc<Self> {
        let feed = EventFeed::new(store.clone(), runtime);
        let (open, closing) = (Mutex::default(), watch::Sender::new(false));
        Arc::new(Self { feed, store, signer, locales, open, closing })
    }

    /// Ends all streams, and those that are opened later.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Changes to `true` when all streams must end.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Opens a stream of the caller's client.
    ///
    /// # Errors
    /// `Forbidden`; `Invalid` for a type that is unknown or not granted; [`OpenError::Gone`]; [`OpenError::TooMany`].
    pub async fn open(
        self: &Arc<Self>,
        ctx: &Ctx,
        tenant: &Tenant,
        start: StreamStart<'_>,
    ) -> Result<EventStream, OpenError> {
        ctx.require(&READ_WEBHOOKS)?;
        let names = select_events(ctx, start.types)?;
        let after = match start.last_event_id {
            Some(text) => Some(self.position_of(tenant, event_id(text).ok_or(OpenError::Gone)?).await?),
            None => None,
        };
        let slot = StreamSlot::acquire(self, ctx.caller.client).ok_or(OpenError::TooMany)?;
        let reader = self.feed.follow(tenant.id, after).await?;
        let left = Duration::try_from(ctx.caller.token_expires_at - ctx.now).unwrap_or_default();
        let now = Instant::now();
        Ok(EventStream {
            slot,
            reader,
            names,
            organization: tenant.id,
            default_locale: tenant.default_locale,
            token: ctx.caller.token,
            filter: EventFilter::new(ctx, tenant),
            checked_at: now,
            next_comment: now + KEEP_ALIVE_INTERVAL,
            ends_at: now + left.min(MAX_DURATION),
            closing: self.closing(),
        })
    }

    /// Stored events that the caller's client may receive, in the order of a stream: at most 1,000, with at most this many
    /// bytes of bodies, but one at least if there is one. It is one of the client's streams as long as it reads.
    ///
    /// # Errors
    /// `Forbidden`; `Invalid` for a type that is unknown or not granted; `Rejected` when the last event is no id;
    /// [`OpenError::Gone`]; [`OpenError::TooMany`].
    pub async fn pull(
        self: &Arc<Self>,
        ctx: &Ctx,
        tenant: &Tenant,
        start: StreamStart<'_>,
        bytes: usize,
    ) -> Result<Vec<OutboxEvent>, OpenError> {
        ctx.require(&READ_WEBHOOKS)?;
        let filter = EventFilter::new(ctx, tenant);
        let mut names = select_events(ctx, start.types)?;
        names.retain(|name| filter.allow(*name));
        let after = match start.last_event_id {
            Some(text) => {
                let id = event_id(text).ok_or_else(|| Error::rejected("Invalid value for after"))?;
                self.position_of(tenant, id).await?
            }
            None => EventPosition::default(),
        };
        let _slot = StreamSlot::acquire(self, ctx.caller.client).ok_or(OpenError::TooMany)?;
        Ok(self.feed.pull(tenant.id, &names, after, bytes).await?)
    }

    async fn position_of(&self, tenant: &Tenant, event: Uuid) -> Result<EventPosition, OpenError> {
        self.feed.position_of(tenant.id, event).await?.ok_or(OpenError::Gone)
    }
}

/// The events of these names; all events without names.
fn select_events(ctx: &Ctx, names: &[&str]) -> Result<Vec<EventName>> {
    let chosen = events_to_stream(rights_of(ctx), names)?;
    let all = || EventName::ALL.iter().copied().filter(|name| name.is_event()).collect();
    Ok(if chosen.is_empty() { all() } else { chosen })
}

/// The id of an event: 32 hexadecimal digits with four hyphens. `None` for another text.
fn event_id(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::try_parse(text).ok() } else { None }
}

/// One of the streams of a client. The client may open another one when it is dropped.
struct StreamSlot {
    streams: Arc<EventStreams>,
    client: ClientId,
}

impl StreamSlot {
    fn acquire(streams: &Arc<EventStreams>, client: ClientId) -> Option<Self> {
        let mut open = streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(client).or_default();
        if *count >= STREAMS_OF_CLIENT {
            return None;
        }
        *count += 1;
        Some(Self { streams: streams.clone(), client })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

/// Which events a stream may contain.
#[derive(Clone, Copy)]
struct EventFilter {
    rights: ReceiverRights,
    switches: EventSwitches,
    deployment_wide: bool,
}

impl EventFilter {
    fn new(ctx: &Ctx, tenant: &Tenant) -> Self {
        let (rights, deployment_wide) = (rights_of(ctx), ctx.caller.deployment_wide);
        Self { rights, switches: switches(tenant), deployment_wide }
    }

    fn allow(self, event: EventName) -> bool {
        // Deployment-wide clients receive events of organizations only (contract 09 C.1).
        let concerns = !self.deployment_wide || is_of_system(event);
        concerns && self.rights.may_receive(event) && self.switches.allow(event)
    }
}

/// A stream of live events. It has no task: it works while its owner waits for the next message.
pub struct EventStream {
    slot: StreamSlot,
    reader: FeedReader,
    /// The events the client chose.
    names: Vec<EventName>,
    organization: OrganizationId,
    default_locale: Locale,
    token: TokenId,
    filter: EventFilter,
    checked_at: Instant,
    next_comment: Instant,
    ends_at: Instant,
    closing: watch::Receiver<bool>,
}

impl EventStream {
    /// The next message, after at most 15 s. `None` when the stream ends: after an hour, with its token, when the
    /// interface is switched off or the server stops, and when the reader is too slow.
    pub async fn next(&mut self) -> Option<StreamMessage> {
        loop {
            let event = tokio::select! {
                biased;
                _ = self.closing.wait_for(|closing| *closing) => return None,
                () = sleep_until(self.ends_at) => return None,
                event = self.reader.next(&self.names) => Some(event),
                () = sleep_until(self.next_comment) => None,
            };
            let Some(event) = event else {
                self.refresh_permissions().await.inspect_err(end_of_stream).ok()?;
                self.next_comment = Instant::now() + KEEP_ALIVE_INTERVAL;
                return Some(StreamMessage::KeepAlive);
            };
            let event = event.inspect_err(end_of_stream).ok()??;
            if self.checked_at.elapsed() > PERMISSIONS_MAX_AGE {
                self.refresh_permissions().await.inspect_err(end_of_stream).ok()?;
            }
            if self.filter.allow(event.event.name) {
                self.next_comment = Instant::now() + KEEP_ALIVE_INTERVAL;
                return Some(StreamMessage::Event(event));
            }
        }
    }

    /// Reads rights and switches again.
    ///
    /// # Errors
    /// When the token is not valid any more, the right to read webhooks was withdrawn, or the interface is switched
    /// off.
    async fn refresh_permissions(&mut self) -> Result<()> {
        let EventStreams { store, signer, locales, .. } = &*self.slot.streams;
        let tenant = store.organizations().tenant(self.organization).await?.ok_or(Error::NotFound)?;
        let auth = AuthContext {
            organization: self.organization,
            default_locale: self.default_locale,
            now: clock::now(),
        };
        let callers = TokenAuthenticator { tokens: store.tokens(), signer: &**signer, locales };
        let ctx = callers.resume(auth, self.token).await?;
        ctx.require(&READ_WEBHOOKS)?;
        if !tenant.features.enabled {
            return Err(Error::Disabled);
        }
        self.filter = EventFilter::new(&ctx, &tenant);
        self.checked_at = Instant::now();
        Ok(())
    }
}

fn end_of_stream(error: &Error) {
    tracing::debug!(%error, "a stream of events ends");
}

/// The switches of an organization that stop its events.
fn switches(tenant: &Tenant) -> EventSwitches {
    EventSwitches {
        api: tenant.features.enabled,
        proposals: tenant.features.is_on(Feature::Proposals),
        meetings: tenant.features.is_on(Feature::Meetings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Scope;

    #[test]
    fn an_event_needs_permission_scope_and_feature_and_deployment_wide_clients_get_those_of_organizations() {
        let rights = ReceiverRights {
            scopes: [Scope::Proposals, Scope::System].into_iter().collect(),
            permissions: [
                EventName::ProposalCreation,
                EventName::OrganizationUpdated,
                EventName::UserCreated,
            ]
            .into_iter()
            .collect(),
        };
        let filter = EventFilter { rights, switches: EventSwitches::ALL_ON, deployment_wide: false };
        let wide = EventFilter { deployment_wide: true, ..filter };
        let without =
            EventFilter { switches: EventSwitches { proposals: false, ..EventSwitches::ALL_ON }, ..filter };
        for (name, expected) in [
            (EventName::ProposalCreation, [true, false, false]),
            (EventName::OrganizationUpdated, [true, true, true]),
            (EventName::ProposalUpdate, [false; 3]),
            (EventName::UserCreated, [false; 3]),
        ] {
            assert_eq!([filter, wide, without].map(|one| one.allow(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_id_of_an_event_has_one_form() {
        let id = "019ab0c2-7d1e-7c3a-9f52-3a8a4f5d2b11";
        assert_eq!(event_id(id).map(|id| id.to_string()).as_deref(), Some(id));
        for bad in ["", "7", "019ab0c27d1e7c3a9f523a8a4f5d2b11", "019ab0c2-7d1e-7c3a-9f52-3a8a4f5d2b1x"] {
            assert_eq!(event_id(bad), None, "{bad}");
        }
    }
}
