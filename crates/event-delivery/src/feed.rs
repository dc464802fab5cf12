//! Live events (contract 09 D): one tail of the outbox for all streams of a process, and the positions of the streams.
//!
//! The tail runs only while there are streams. It reads each relayed event once and sends it to all of them. A stream
//! reads the events before its beginning from the database, then receives from the tail. Positions decide what it has
//! already: no event is missing, and none comes twice.

use civitas_application::Store;
use civitas_kernel::{EventName, OrganizationId, Result};
use civitas_webhooks::{EventPosition, Outbox, OutboxEvent, RelayedEvent};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, WeakSender, channel};
use tokio::time::sleep;

/// The events of one read.
const PAGE: i64 = 100;
/// The most events of one answer by pull.
const MAX_PULLED_EVENTS: usize = 1_000;
/// The events that a stream may be behind the tail.
const CAPACITY: usize = 1024;
/// The longest wait for new events.
const POLL: Duration = Duration::from_secs(1);
/// The first pause while an event waits for its position.
const MIN_PAUSE: Duration = Duration::from_millis(20);

/// Gives access to the outbox on the pool.
pub trait OutboxSource: Send + Sync {
    /// The outbox.
    fn outbox(&self) -> &dyn Outbox;
}

/// The outbox of a store.
struct StoreOutbox(Arc<dyn Store>);

impl OutboxSource for StoreOutbox {
    fn outbox(&self) -> &dyn Outbox {
        self.0.outbox()
    }
}

/// The relayed events, as they come.
#[derive(Clone)]
pub struct EventFeed(Arc<FeedState>);

struct FeedState {
    source: Box<dyn OutboxSource>,
    runtime: Handle,
    capacity: usize,
    /// The sender of the tail; the tail owns it, so that streams end when the tail fails.
    tail: Mutex<Option<WeakSender<Arc<RelayedEvent>>>>,
}

impl EventFeed {
    /// A feed over a store. The tail runs on this runtime.
    pub fn new(store: Arc<dyn Store>, runtime: Handle) -> Self {
        EventFeed::from_source(Box::new(StoreOutbox(store)), runtime, CAPACITY)
    }

    /// A feed over an outbox, whose streams may be `capacity` events behind the tail.
    pub fn from_source(source: Box<dyn OutboxSource>, runtime: Handle, capacity: usize) -> Self {
        Self(Arc::new(FeedState { source, runtime, capacity, tail: Mutex::default() }))
    }

    /// The position of an event of this organization, if it is still stored.
    pub async fn position_of(
        &self,
        organization: OrganizationId,
        event: uuid::Uuid,
    ) -> Result<Option<EventPosition>> {
        self.0.source.outbox().position_of(organization, event).await
    }

    /// The events of an organization with one of these names after a position, in order: at most 1,000, with at most this
    /// many bytes of bodies. The first event is there, however long its body.
    pub async fn pull(
        &self,
        organization: OrganizationId,
        names: &[EventName],
        mut after: EventPosition,
        bytes: usize,
    ) -> Result<Vec<OutboxEvent>> {
        let (mut pulled, mut left) = (Vec::new(), bytes);
        while pulled.len() < MAX_PULLED_EVENTS {
            let (events, is_last) = self.page(organization, names, after).await?;
            for RelayedEvent { position, event } in events {
                let length = event.payload.len();
                if length > left && !pulled.is_empty() {
                    return Ok(pulled);
                }
                left = left.saturating_sub(length);
                after = position;
                pulled.push(event);
            }
            if is_last {
                break;
            }
        }
        Ok(pulled)
    }

    /// Some events of an organization after a position, from the database, and whether no others are stored: then the page
    /// is not full.
    async fn page(
        &self,
        organization: OrganizationId,
        names: &[EventName],
        after: EventPosition,
    ) -> Result<(Vec<RelayedEvent>, bool)> {
        let events = self.0.source.outbox().relayed_of(organization, names, after, PAGE).await?;
        let is_last = i64::try_from(events.len()).unwrap_or(PAGE) < PAGE;
        Ok((events, is_last))
    }

    /// Follows the events of an organization after this position; `None`: after the last one.
    pub async fn follow(
        &self,
        organization: OrganizationId,
        after: Option<EventPosition>,
    ) -> Result<FeedReader> {
        // Read before the tail starts there: what is relayed later comes from the tail or from the first page.
        let last = self.0.source.outbox().last_position().await?;
        let receiver = self.subscribe(last);
        let after = after.unwrap_or(last);
        let page = VecDeque::new();
        Ok(FeedReader { feed: self.clone(), organization, after, page, is_behind: true, receiver })
    }

    /// Receives from the tail. Starts it at this position if it does not run.
    fn subscribe(&self, start: EventPosition) -> Receiver<Arc<RelayedEvent>> {
        let mut tail = self.0.tail();
        if let Some(sender) = tail.as_ref().and_then(WeakSender::upgrade) {
            return sender.subscribe();
        }
        let (sender, receiver) = channel(self.0.capacity);
        *tail = Some(sender.downgrade());
        self.0.runtime.spawn(run_tail(self.0.clone(), sender, start));
        receiver
    }
}

impl FeedState {
    fn tail(&self) -> MutexGuard<'_, Option<WeakSender<Arc<RelayedEvent>>>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the tail if there are no streams. Streams subscribe under the same lock.
    fn close_if_unused(&self, sender: &Sender<Arc<RelayedEvent>>) -> bool {
        let mut tail = self.tail();
        let ends = sender.receiver_count() == 0;
        if ends {
            *tail = None;
        }
        ends
    }
}

/// Sends the events after a position until there are no streams.
async fn run_tail(shared: Arc<FeedState>, sender: Sender<Arc<RelayedEvent>>, mut after: EventPosition) {
    let outbox = shared.source.outbox();
    let mut pause = MIN_PAUSE;
    while !shared.close_if_unused(&sender) {
        match outbox.relayed_after(after, PAGE).await {
            Ok(events) if events.is_empty() => {
                if outbox.has_unrelayed().await.unwrap_or_default() {
                    sleep(pause).await;
                    pause = (pause * 2).min(POLL);
                } else {
                    pause = MIN_PAUSE;
                    outbox.wait(POLL).await;
                }
            }
            Ok(events) => {
                pause = MIN_PAUSE;
                for event in events {
                    after = event.position;
                    // Without receivers the next turn ends the loop.
                    let _ = sender.send(Arc::new(event));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the outbox could not be read");
                sleep(POLL).await;
            }
        }
    }
}

/// The position of one stream.
pub struct FeedReader {
    feed: EventFeed,
    organization: OrganizationId,
    after: EventPosition,
    /// Events that were read from the database.
    page: VecDeque<RelayedEvent>,
    /// Whether the database may have events that the tail sent before this stream received from it.
    is_behind: bool,
    receiver: Receiver<Arc<RelayedEvent>>,
}

impl FeedReader {
    /// The next event of the organization with one of these names. `None` when the stream is too far behind the tail:
    /// it continues from the last event in a new stream. May be dropped while it waits.
    pub async fn next(&mut self, names: &[EventName]) -> Result<Option<Arc<RelayedEvent>>> {
        loop {
            if let Some(event) = self.page.pop_front() {
                self.after = event.position;
                return Ok(Some(Arc::new(event)));
            }
            // Frees the memory of the page: a stream without events is small.
            self.page = VecDeque::new();
            if self.is_behind {
                self.read_page(names).await?;
                continue;
            }
            match self.receiver.recv().await {
                Ok(event) => {
                    let is_new = event.position > self.after;
                    self.after = self.after.max(event.position);
                    let of_organization = event.event.organization == self.organization;
                    if is_new && of_organization && names.contains(&event.event.name) {
                        return Ok(Some(event));
                    }
                }
                Err(RecvError::Lagged(_) | RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// Reads events from the database. A page that is not full is the last one: later events come from the tail.
    async fn read_page(&mut self, names: &[EventName]) -> Result<()> {
        if names.is_empty() {
            self.is_behind = false;
            return Ok(());
        }
        // What the tail sent until now is stored, and read from there.
        self.receiver = self.receiver.resubscribe();
        let (events, is_last) = self.feed.page(self.organization, names, self.after).await?;
        self.is_behind = !is_last;
        self.page = events.into();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::sortable_id;
    use civitas_webhooks::{MockOutbox, OutboxEvent};
    use time::OffsetDateTime;
    use tokio::time::timeout;

    const MINE: OrganizationId = OrganizationId(1);
    const OTHER: OrganizationId = OrganizationId(2);
    const NAMES: &[EventName] = &[EventName::ProposalCreation, EventName::UserCreated];

    type Stored = Arc<Mutex<Vec<RelayedEvent>>>;

    struct Source(MockOutbox);

    impl OutboxSource for Source {
        fn outbox(&self) -> &dyn Outbox {
            &self.0
        }
    }

    fn relay(stored: &Stored, organization: OrganizationId, name: EventName) -> i64 {
        let mut stored = stored.lock().unwrap();
        let position = EventPosition(i64::try_from(stored.len()).unwrap() + 1);
        let payload = format!("{{\"n\":{}}}", position.0);
        let occurred_at = OffsetDateTime::UNIX_EPOCH;
        let event = OutboxEvent { id: sortable_id(), organization, name, payload, occurred_at };
        stored.push(RelayedEvent { position, event });
        position.0
    }

    fn relay_many(stored: &Stored, count: usize, name: EventName) {
        for _ in 0..count {
            relay(stored, MINE, name);
        }
    }

    /// A feed over an outbox in memory.
    fn feed(capacity: usize) -> (EventFeed, Stored) {
        let stored = Stored::default();
        let mut outbox = MockOutbox::new();
        let of = stored.clone();
        let last = move || Ok(of.lock().unwrap().last().map_or(EventPosition(0), |event| event.position));
        outbox.expect_last_position().returning(last);
        let of = stored.clone();
        outbox.expect_relayed_after().returning(move |after, limit| {
            let all = of.lock().unwrap();
            let found = all.iter().filter(|event| event.position > after);
            Ok(found.take(usize::try_from(limit).unwrap()).cloned().collect())
        });
        let of = stored.clone();
        outbox.expect_relayed_of().returning(move |organization, names, after, limit| {
            let all = of.lock().unwrap();
            let found = all.iter().filter(|one| {
                one.position > after
                    && one.event.organization == organization
                    && names.contains(&one.event.name)
            });
            Ok(found.take(usize::try_from(limit).unwrap()).cloned().collect())
        });
        // Without a position there are none; a wait would be a busy loop here.
        outbox.expect_has_unrelayed().returning(|| Ok(true));
        let runtime = Handle::current();
        (EventFeed::from_source(Box::new(Source(outbox)), runtime, capacity), stored)
    }

    async fn take(reader: &mut FeedReader, count: usize) -> Vec<i64> {
        let mut taken = Vec::new();
        for _ in 0..count {
            let next = timeout(Duration::from_secs(5), reader.next(NAMES)).await;
            taken.push(next.unwrap().unwrap().unwrap().position.0);
        }
        taken
    }

    #[tokio::test]
    async fn a_stream_continues_after_a_position_and_gets_each_event_once_and_in_order() {
        let (feed, stored) = feed(CAPACITY);
        relay_many(&stored, 250, EventName::ProposalCreation);
        let mut reader = feed.follow(MINE, Some(EventPosition(3))).await.unwrap();
        assert_eq!(take(&mut reader, 200).await, (4..204).collect::<Vec<_>>());
        relay_many(&stored, 50, EventName::UserCreated);
        assert_eq!(take(&mut reader, 97).await, (204..301).collect::<Vec<_>>());
        let more = timeout(Duration::from_millis(200), reader.next(NAMES)).await;
        assert!(more.is_err(), "no event comes twice");
    }

    #[tokio::test]
    async fn a_stream_without_position_begins_now_and_has_the_events_of_its_organization_and_names_only() {
        let (feed, stored) = feed(CAPACITY);
        relay(&stored, MINE, EventName::ProposalCreation);
        let mut first = feed.follow(MINE, None).await.unwrap();
        relay(&stored, OTHER, EventName::ProposalCreation);
        relay(&stored, MINE, EventName::ProposalUpdate);
        let expected = relay(&stored, MINE, EventName::UserCreated);
        let mut second = feed.follow(MINE, None).await.unwrap();
        assert_eq!(take(&mut first, 1).await, [expected]);
        let next = relay(&stored, MINE, EventName::UserCreated);
        assert_eq!((take(&mut first, 1).await, take(&mut second, 1).await), (vec![next], vec![next]));
    }

    #[tokio::test]
    async fn a_slow_stream_ends_and_a_new_one_continues_after_its_last_event() {
        let (feed, stored) = feed(4);
        let mut slow = feed.follow(MINE, None).await.unwrap();
        let first = relay(&stored, MINE, EventName::UserCreated);
        assert_eq!(take(&mut slow, 1).await, [first]);
        relay_many(&stored, 50, EventName::UserCreated);
        sleep(Duration::from_millis(500)).await;
        assert_eq!(slow.next(NAMES).await.unwrap(), None);
        let mut again = feed.follow(MINE, Some(EventPosition(first))).await.unwrap();
        assert_eq!(take(&mut again, 50).await, (first + 1..=first + 50).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_pull_has_at_most_a_thousand_events_and_the_next_one_continues() {
        let (feed, stored) = feed(CAPACITY);
        relay_many(&stored, 1_050, EventName::ProposalCreation);
        relay(&stored, OTHER, EventName::UserCreated);
        relay(&stored, MINE, EventName::ProposalUpdate);
        relay(&stored, MINE, EventName::UserCreated);
        let ids = |from: usize, to: usize| -> Vec<_> {
            stored.lock().unwrap()[from..to].iter().map(|one| one.event.id).collect()
        };
        let pull = async |after| {
            let pulled = feed.pull(MINE, NAMES, EventPosition(after), usize::MAX).await.unwrap();
            pulled.into_iter().map(|event| event.id).collect::<Vec<_>>()
        };
        assert_eq!(pull(0).await, ids(0, 1_000));
        assert_eq!(pull(1_000).await, [ids(1_000, 1_050), ids(1_052, 1_053)].concat());
        assert!(pull(1_053).await.is_empty(), "no later ones");
        assert!(
            feed.pull(MINE, &[], EventPosition(0), usize::MAX).await.unwrap().is_empty(),
            "no names, no events"
        );
    }

    #[tokio::test]
    async fn a_pull_ends_before_its_bodies_are_too_long_but_has_the_first_event() {
        let (feed, stored) = feed(CAPACITY);
        relay_many(&stored, 150, EventName::ProposalCreation);
        // 9 bodies of 7 bytes, then those of 8 bytes.
        for (bytes, count) in [(0, 1), (6, 1), (7, 1), (13, 1), (14, 2), (9 * 7 + 8, 10), (10_000, 150)] {
            let pulled = feed.pull(MINE, NAMES, EventPosition(0), bytes).await.unwrap();
            assert_eq!(pulled.len(), count, "{bytes} bytes");
        }
    }

    #[tokio::test]
    async fn the_tail_ends_after_the_last_stream_and_another_starts_with_the_next() {
        let (feed, stored) = feed(CAPACITY);
        let runs = || feed.0.tail().as_ref().and_then(WeakSender::upgrade).is_some();
        assert!(!runs(), "no stream, no tail");
        let reader = feed.follow(MINE, None).await.unwrap();
        assert!(runs());
        drop(reader);
        sleep(Duration::from_millis(1_500)).await;
        assert!(!runs());
        let mut reader = feed.follow(MINE, None).await.unwrap();
        let next = relay(&stored, MINE, EventName::UserCreated);
        assert_eq!(take(&mut reader, 1).await, [next]);
    }
}
