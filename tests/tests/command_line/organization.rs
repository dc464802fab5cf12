//! `civitas organization`: an organization moves to another deployment, from each engine to the other.

use crate::command_line::city::{City, KEY, Said};
use civitas_archive::demo_archive;
use civitas_kernel::{Ability, OrganizationId, clock};
use civitas_organizations::MoveState;
use civitas_tests::{CITIES, Database, Engine, Service};
use civitas_webhooks::{OutboxEvent, envelope};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Records of every type, after the demo city.
const COMPLETE: &str = include_str!("../../fixtures/complete.ndjson");
/// What the target has ids above.
const FLOOR: i64 = 1_000_000;

/// Two deployments: one with `city.test` and `town.test`, and one with `village.test`.
struct Cells {
    from: Service,
    to: Service,
}

impl Cells {
    /// From each engine to the other.
    async fn both_ways(floor: i64) -> Vec<Self> {
        let mut cells = Vec::new();
        for (from, to) in [(Engine::Sqlite, Engine::Postgres), (Engine::Postgres, Engine::Sqlite)] {
            let (Some(from), Some(to)) = (Database::fresh(from).await, Database::fresh(to).await) else {
                continue;
            };
            to.store().id_spaces().raise_all(floor).await.unwrap();
            let of_town = CITIES.lines().filter(|line| line.contains(r#""town""#));
            let village: Vec<_> = of_town.map(|line| line.replace("town", "village")).collect();
            let from = Service::over(from, CITIES, &[]).await;
            cells.push(Self { from, to: Service::over(to, &village.join("\n"), &[]).await });
        }
        cells
    }

    /// Runs a command at one of them.
    async fn run(&self, at: &Service, words: &[&str]) -> Said {
        let flags = at
            .flags()
            .iter()
            .flat_map(|(name, value)| [format!("--{}", name.replace('_', "-")), value.clone()]);
        let flags: Vec<String> = flags.collect();
        let words: Vec<&str> = words.iter().copied().chain(flags.iter().map(String::as_str)).collect();
        City::unmigrated().run(&words).await
    }

    async fn move_city(&self, more: &[&str]) -> Said {
        let file = self.to.settings_file();
        let words = ["organization", "move", "city.test", "--to", &file];
        self.run(&self.from, &[&words[..], more].concat()).await
    }

    /// The state of `city.test` at both; `None`: it is not there.
    async fn states(&self) -> [Option<Option<MoveState>>; 2] {
        let mut states = [None; 2];
        for (state, service) in states.iter_mut().zip([&self.from, &self.to]) {
            let store = service.database.store();
            let tx = store.begin().await.unwrap();
            if let Some(id) = tx.organizations().find_by_host("city.test").await.unwrap() {
                *state = tx.organizations().tenant(id).await.unwrap().map(|tenant| tenant.move_state);
            }
            tx.rollback().await;
        }
        states
    }
}

/// Writes as a user of an organization, again and again; the last number that was acknowledged, and the statuses of others.
async fn write_until(service: &Service, organization: &str, stop: Arc<AtomicBool>) -> (i64, Vec<u16>) {
    let user = service.user_through(organization, "full", "norablum").await;
    let (mut last, mut refused) = (0, Vec::new());
    for number in 1.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let body = json!({"object_path": "number", "data": number});
        let answer = user.put("/me/extended_data/sync", &body).await;
        if answer.status.is_success() {
            last = number;
        } else {
            refused.push(answer.status.as_u16());
        }
        sleep(Duration::from_millis(20)).await;
    }
    (last, refused)
}

async fn append_event(service: &Service, body: &str) -> String {
    let organization = OrganizationId(1);
    let payload = envelope(Ability::DraftProposalCreation, &json!({"text": body}));
    let event = OutboxEvent::new(organization, Ability::DraftProposalCreation, payload, clock::now());
    let id = event.id.to_string();
    service.store.outbox().append(&[event]).await.unwrap();
    while service.store.outbox().has_unrelayed().await.unwrap() {
        sleep(Duration::from_millis(20)).await;
    }
    id
}

/// The ids of the events of drafts after one.
async fn events_after(service: &Service, id: &str) -> Vec<Value> {
    let events = service.machine().await.get(&format!("/events?after={id}")).await.is(200);
    let drafts = events.data().as_array().unwrap().iter();
    let drafts = drafts.filter(|event| event["type"] == Ability::DraftProposalCreation.as_str());
    drafts.map(|event| event["id"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organization_moves_while_others_write_and_its_clients_continue() {
    for cells in Cells::both_ways(FLOOR).await {
        let Cells { from, to } = &cells;
        let [first, second] = [append_event(from, "first").await, append_event(from, "second").await];
        let before = from.user("norablum").await.get("/proposals?per_page=100").await.is(200);
        let stop = Arc::new(AtomicBool::new(false));
        let moving = async {
            sleep(Duration::from_millis(500)).await;
            let moved = cells.move_city(&[]).await.done();
            stop.store(true, Ordering::Relaxed);
            moved
        };
        let (moved, city, town, village) = tokio::join!(
            moving,
            write_until(from, "city", stop.clone()),
            write_until(from, "town", stop.clone()),
            write_until(to, "village", stop.clone()),
        );
        assert!(moved.out.contains("read-only for"), "{}", moved.out);
        assert!(city.0 > 0 && !city.1.is_empty() && city.1.iter().all(|status| *status == 503), "{city:?}");
        assert!(town.0 > 10 && town.1.is_empty() && village.0 > 10 && village.1.is_empty());
        assert_eq!(cells.states().await, [Some(Some(MoveState::Left)), Some(None)]);

        // Late requests.
        let late = from.anonymous().get("/proposals").await.is(503);
        assert_eq!(late.header("retry-after"), "1");
        // The same secrets, ids and records.
        let user = to.user("norablum").await;
        let after = user.get("/proposals?per_page=100").await.is(200);
        assert_eq!(before.data(), after.data());
        let number = user.get("/me/extended_data?object_path=number").await.is(200);
        assert_eq!(number.body, json!({"data": city.0}), "every acknowledged write moved");
        user.put("/me/extended_data/sync", &json!({"object_path": "number", "data": -1})).await.is(200);
        // The cursor of a reader of events.
        assert_eq!(events_after(to, &first).await, [json!(second)]);
        let third = append_event(to, "third").await;
        assert_eq!(events_after(to, &second).await, [json!(third)]);

        // Repeated, the move has ended; it is not cancelled then.
        assert!(cells.move_city(&[]).await.done().out.starts_with("city.test is served by the other"));
        assert!(cells.move_city(&["--cancel"]).await.err.contains("move it back instead"));
        let hosts = cells.run(from, &["organization", "hosts", "a"]).await.done().out;
        assert_eq!(hosts, "town.test a\n");
        let hosts = cells.run(to, &["organization", "hosts", "b"]).await.done().out;
        assert_eq!(hosts, "city.test b\nvillage.test b\nwww.city.test b\n");
        let refused = cells.run(from, &["organization", "forget", "town.test"]).await;
        assert!(refused.code == 1 && refused.err.contains("is no organization that was moved"));
        cells.run(from, &["organization", "forget", "city.test"]).await.done();
        assert_eq!(cells.states().await, [None, Some(None)]);

        // And back.
        let file = from.settings_file();
        cells.run(to, &["organization", "move", "city.test", "--to", &file]).await.done();
        assert_eq!(cells.states().await, [Some(None), Some(Some(MoveState::Left))]);
        let user = from.user("norablum").await;
        assert_eq!(user.get("/proposals?per_page=100").await.is(200).data(), after.data());
        assert_eq!(events_after(from, &second).await, [json!(third)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_is_interrupted_anywhere_is_completed_or_cancelled() {
    for cells in Cells::both_ways(FLOOR).await {
        let before = cells.from.user("norablum").await.get("/proposals?per_page=100").await.is(200);
        let (mut interrupted, mut seen) = (0, Vec::new());
        for milliseconds in [100, 3_050, 3_150, 3_300, 3_500, 3_700, 4_000, 4_300, 4_700, 5_200, 6_000, 8_000]
        {
            let ended = timeout(Duration::from_millis(milliseconds), cells.move_city(&[])).await;
            let states = cells.states().await;
            seen.push(states);
            assert!(!matches!(states, [Some(None | Some(MoveState::Leaving)), Some(None)]), "{seen:?}");
            if let Ok(ended) = ended {
                ended.done();
                break;
            }
            interrupted += 1;
            let is_moved = states[1] == Some(None);
            if interrupted % 2 == 0 && !is_moved {
                cells.move_city(&["--cancel"]).await.done();
                assert_eq!(cells.states().await, [Some(None), None], "{seen:?}");
                // What servers know of a state is at most a second old.
                sleep(Duration::from_millis(1_100)).await;
                let user = cells.from.user("norablum").await;
                user.put("/me/extended_data/sync", &json!({"object_path": "k", "data": 1})).await.is(200);
            }
        }
        assert!(interrupted > 1, "{seen:?}");
        cells.move_city(&[]).await.done();
        assert_eq!(cells.states().await, [Some(Some(MoveState::Left)), Some(None)]);
        let after = cells.to.user("norablum").await.get("/proposals?per_page=100").await.is(200);
        assert_eq!(before.data(), after.data());
    }
}

/// Between the end of the source and the beginning of the target nobody serves the organization.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_ends_between_both_is_completed_or_cancelled() {
    for cells in Cells::both_ways(FLOOR).await {
        let arriving = Some(MoveState::Arriving);
        cells.move_city(&[]).await.done();
        let to = cells.to.database.store();
        let id = to.organizations().find_by_host("city.test").await.unwrap().unwrap();
        for more in [&[][..], &["--cancel"]] {
            to.organizations().set_move_state(id, arriving).await.unwrap();
            sleep(Duration::from_millis(1_100)).await;
            cells.to.anonymous().get("/proposals").await.is(503);
            cells.move_city(more).await.done();
        }
        assert_eq!(cells.states().await, [Some(None), None]);
        cells.from.user("norablum").await.get("/proposals").await.is(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_during_the_move_and_ids_in_use_end_it_and_the_source_goes_on() {
    for cells in Cells::both_ways(FLOOR).await {
        let stop = AtomicBool::new(false);
        let change = async {
            let clients = cells.from.store.clients();
            let (id, mut client) = clients.find_by_uid("id_city_full").await.unwrap().unwrap();
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                client.name = format!("Full {number}");
                clients.save(id, &client).await.unwrap();
                sleep(Duration::from_millis(5)).await;
            }
        };
        let moving = async {
            let said = cells.move_city(&[]).await;
            stop.store(true, Ordering::Relaxed);
            said
        };
        let (said, ()) = tokio::join!(moving, change);
        assert_eq!((said.code, said.err.as_str()), (1, "civitas: city.test was changed during the move\n"));
        assert_eq!(cells.states().await, [Some(None), None]);
    }
    for cells in Cells::both_ways(0).await {
        let said = cells.move_city(&[]).await;
        let reason = "civitas: the other deployment has an organization with the id 1\n";
        assert_eq!((said.code, said.err.as_str()), (1, reason));
        assert_eq!(cells.states().await, [Some(None), None]);
        let user = cells.from.user("norablum").await;
        user.put("/me/extended_data/sync", &json!({"object_path": "k", "data": 1})).await.is(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_every_type_moves_with_its_id() {
    let Some(postgres) = City::on_postgres().await else { return };
    let (sqlite, archive) = (City::new().await, format!("{}{COMPLETE}", demo_archive()));
    let flags = ["import", "-", "--allow-operators", "--allow-weak-secrets"];
    assert_eq!(sqlite.type_in(&flags, &archive).await.code, 0);
    let files = [&sqlite, &postgres].map(|city| {
        let file = city.path().join("settings.toml");
        let data = city.path().join("data").display().to_string();
        let url = city.1.as_ref().map(|database| format!("database_url = {:?}\n", database.url()));
        let key = if url.is_some() { format!("secret_key = {KEY:?}\n") } else { String::new() };
        fs::write(&file, format!("data_dir = {data:?}\n{}{key}", url.unwrap_or_default())).unwrap();
        file.display().to_string()
    });
    for host in ["localhost", "hillside.example"] {
        let words = ["export", "--with-ids", "--with-secrets", "--organization", host];
        let before = sqlite.run(&words).await.done().out;
        sqlite.run(&["organization", "move", host, "--to", &files[1]]).await.done();
        assert!(before == postgres.run(&words).await.done().out, "{host}");
        let back = postgres.run(&["organization", "move", host, "--to", &files[0]]).await;
        assert_eq!((back.code, back.err.as_str()), (0, ""));
        assert!(before == sqlite.run(&words).await.done().out, "{host}");
    }
}

#[tokio::test]
async fn new_ids_are_above_the_floor_of_a_cell() {
    for city in [Some(City::new().await), City::on_postgres().await].into_iter().flatten() {
        city.run(&["migrate", "--id-floor", "5000"]).await.done();
        city.run(&["migrate", "--id-floor", "400"]).await.done();
        let lines = include_str!("../../fixtures/city.ndjson");
        let report = city.type_in(&["import", "-", "--allow-weak-secrets"], lines).await.json();
        let refs = report["refs"]["city"].as_object().unwrap();
        for (kind, ids) in refs {
            let ids: Vec<_> = ids.as_object().unwrap().values().map(|id| id.as_i64().unwrap()).collect();
            assert!(ids.iter().all(|id| *id > 5000), "{kind}: {ids:?}");
        }
    }
}
