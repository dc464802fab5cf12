//! docs/COPY.md as a program: a reader keeps a copy of all proposals while others write, one of them for half a minute.

use civitas_application::Transaction;
use civitas_kernel::records::edit;
use civitas_kernel::{Locale, OrganizationId, ProposalId, Result, clock};
use civitas_proposals::{Proposal, ProposalAdministration};
use civitas_tests::Engine;
use civitas_tests::service::{Answer, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{Duration, OffsetDateTime};

/// Longer than a write takes from its beginning, which is the `updated_at` of its record, to its commit.
const OVERLAP: Duration = Duration::minutes(10);
/// So few that more proposals than a page have the same time.
const PER_PAGE: usize = 3;
/// Proposals of each writer.
const WRITES: usize = 4;

/// A page of the list.
struct Page {
    /// The proposals by id, in the order of the list.
    proposals: Vec<(i64, Value)>,
    has_more: bool,
    /// The time of the answer.
    date: OffsetDateTime,
}

impl Page {
    async fn read(client: &Client, query: &str) -> Self {
        let answer = client.get(&format!("/proposals?per_page={PER_PAGE}&{query}")).await.is(200);
        let documents = answer.data().as_array().unwrap().iter().cloned();
        Self {
            proposals: answer.ids().into_iter().zip(documents).collect(),
            has_more: answer.body["meta"]["has_more"] == true,
            date: date(&answer, "date"),
        }
    }
}

/// A header that is a date.
fn date(answer: &Answer, name: &str) -> OffsetDateTime {
    OffsetDateTime::parse(answer.header(name), &Rfc2822).unwrap()
}

fn updated_at(proposal: &Value) -> OffsetDateTime {
    OffsetDateTime::parse(proposal["attributes"]["updated_at"].as_str().unwrap(), &Rfc3339).unwrap()
}

/// The copy of a reader.
struct ProposalCopy {
    proposals: BTreeMap<i64, Value>,
    /// The time from which changes are read next.
    since: OffsetDateTime,
}

impl ProposalCopy {
    /// Reads everything, and forgets what left the list.
    async fn read_all(&mut self, client: &Client) {
        let (mut last, mut seen, mut begun) = (0, BTreeSet::new(), None);
        loop {
            let page = Page::read(client, &format!("order=id&filter[id_gt]={last}")).await;
            begun.get_or_insert(page.date);
            for (id, proposal) in page.proposals {
                last = id;
                seen.insert(id);
                self.proposals.insert(id, proposal);
            }
            if !page.has_more {
                break;
            }
        }
        self.proposals.retain(|id, _| seen.contains(id));
        self.since = begun.unwrap() - OVERLAP;
    }

    /// Reads what changed.
    async fn read_changes(&mut self, client: &Client) {
        let (mut from, mut number, mut newest, mut begun) = (self.since, 1, self.since, None);
        loop {
            let time = from.format(&Rfc3339).unwrap();
            let query = format!("order=updated_at&filter[updated_at_gteq]={time}&page={number}");
            let page = Page::read(client, &query).await;
            begun.get_or_insert(page.date);
            for (id, proposal) in page.proposals {
                newest = updated_at(&proposal);
                self.proposals.insert(id, proposal);
            }
            if !page.has_more {
                break;
            }
            // Not the next page: proposals that change meanwhile leave their page, and those behind them move up.
            (from, number) = if newest == from { (from, number + 1) } else { (newest, 1) };
        }
        let next = newest.min(begun.unwrap()) - OVERLAP;
        self.since = self.since.max(next);
    }
}

/// The list while nobody writes.
async fn list(client: &Client) -> BTreeMap<i64, Value> {
    let answer =
        client.send(Method::GET, "/proposals?per_page=100", &[("prefer", "count=exact")], None).await;
    let answer = answer.is(200);
    assert_eq!(answer.body["meta"]["has_more"], false);
    let list: BTreeMap<i64, Value> =
        answer.ids().into_iter().zip(answer.data().as_array().unwrap().iter().cloned()).collect();
    assert_eq!(answer.header("total"), list.len().to_string());
    list
}

/// When the list last lost a proposal, or its first one changed.
async fn last_loss(client: &Client) -> OffsetDateTime {
    date(&client.get("/proposals?order=id&per_page=1").await.is(200), "last-modified")
}

async fn publish(client: &Client, component: i64) {
    for number in 0..WRITES {
        let body = json!({"data": {"component_id": component}});
        let draft = client.post("/draft_proposals/sync", &body).await.is(200);
        let path = format!("/draft_proposals/{}", draft.data()["id"].as_str().unwrap());
        let texts = json!({"data": {"title": format!("Benches beside path number {number}"),
            "body": "Old people would like to sit down, and so would I."}});
        client.put(&format!("{path}/sync"), &texts).await.is(200);
        client.post(&format!("{path}/publish/sync"), &json!({})).await.is(200);
    }
}

async fn annotate(client: &Client, proposals: &[i64]) {
    for number in 0..WRITES {
        for proposal in proposals {
            let body = json!({"object_path": "copy", "data": {"number": number}});
            client.put(&format!("/proposals/{proposal}/extended_data/sync"), &body).await.is(200);
        }
    }
}

/// A change of a proposal at this time, without its commit.
async fn change(
    service: &Service,
    id: i64,
    now: OffsetDateTime,
    change: fn(&mut Proposal, OffsetDateTime),
) -> Result<Box<dyn Transaction>> {
    let city = OrganizationId(service.id("organization", "city"));
    let transaction = service.store.begin().await?;
    let admin = ProposalAdministration { store: transaction.proposals() };
    edit(&admin, city, ProposalId(id), now, |proposal| change(proposal, now)).await?;
    Ok(transaction)
}

/// The reader reads while two users publish and a client writes extended data. A write that began half a minute before is
/// committed when all of these were read. On PostgreSQL its transaction is open meanwhile; on SQLite it waits for the only
/// writer.
async fn read_beside_writers(service: &Service, reader: &Client, copy: &mut ProposalCopy) {
    let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
    let machine = service.machine().await;
    let (ideas, cards) = (service.id("component", "ideas"), service.id("component", "cards"));
    let annotated = ["p2", "p3", "c2"].map(|name| service.id("proposal", name));
    let (late, begun) = (service.id("proposal", "z1"), clock::now() - Duration::seconds(30));
    let retitle: fn(&mut Proposal, OffsetDateTime) =
        |proposal, _| proposal.title.set(Locale::EN, "A title that comes late".to_owned());
    let is_open = service.engine == Engine::Postgres;
    let open = if is_open { Some(change(service, late, begun, retitle).await.unwrap()) } else { None };

    let is_done = Cell::new(false);
    let write = async {
        tokio::join!(publish(&nora, ideas), publish(&luis, cards), annotate(&machine, &annotated));
        is_done.set(true);
    };
    let read = async {
        while !is_done.get() {
            copy.read_changes(reader).await;
        }
        copy.read_changes(reader).await;
    };
    tokio::join!(write, read);

    assert_eq!(copy.proposals, list(reader).await, "{:?}, before the late write", service.engine);
    let newest = copy.proposals.values().map(updated_at).max().unwrap();
    assert!(newest > begun, "newer changes were read already");
    let transaction = match open {
        Some(transaction) => transaction,
        None => change(service, late, begun, retitle).await.unwrap(),
    };
    transaction.commit().await.unwrap();
    copy.read_changes(reader).await;
    assert_eq!(copy.proposals[&late]["attributes"]["title"]["en"], "A title that comes late");
}

#[tokio::test]
async fn a_copy_has_what_was_committed_late_and_loses_what_left() {
    for service in Service::on_both_engines().await {
        let reader = service.machine().await;
        let mut copy = ProposalCopy { proposals: BTreeMap::new(), since: OffsetDateTime::UNIX_EPOCH };
        // All proposals of the archive have the same time: a page number continues.
        copy.read_changes(&reader).await;
        let by_times = std::mem::take(&mut copy.proposals);
        copy.read_all(&reader).await;
        assert_eq!(copy.proposals, by_times);
        assert!(by_times.len() > PER_PAGE * 3);

        read_beside_writers(&service, &reader, &mut copy).await;
        assert_eq!(copy.proposals, list(&reader).await, "{:?}", service.engine);

        let (hidden, now) = (service.id("proposal", "p5"), clock::now());
        let transaction = change(&service, hidden, now, Proposal::hide).await.unwrap();
        transaction.commit().await.unwrap();
        assert!(last_loss(&reader).await >= now.replace_nanosecond(0).unwrap());
        copy.read_changes(&reader).await;
        assert!(copy.proposals.contains_key(&hidden), "nothing says that this one left");
        copy.read_all(&reader).await;
        assert_eq!(copy.proposals, list(&reader).await, "{:?}", service.engine);
        assert!(!copy.proposals.contains_key(&hidden));
    }
}
