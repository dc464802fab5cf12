//! The validator of an answer changes exactly when the answer does (contract 01 §8): one thing is changed at a time,
//! and every reader reads every path again.

use civitas_accounts::{Role, RoleKind, User, UserAdministration};
use civitas_application::{ComponentAdministration, Transaction};
use civitas_kernel::records::edit;
use civitas_kernel::{
    ComponentId, Locale, Locales, OrganizationId, ProposalId, Result, SpaceKind, SpaceRef, UserId, clock,
};
use civitas_proposals::ProposalAdministration;
use civitas_spaces::{Component, SpaceAdministration, StepAdministration};
use civitas_tests::replace;
use civitas_tests::service::{CITIES, Client, Service};
use serde_json::json;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

const MEETING: &str = r#"{"type": "meeting", "ref": "kickoff", "organization": "city", "component": "meetings", "title": {"en": "Kick-off"}, "start_time": "2026-04-01T17:00:00Z", "published_at": "2026-02-01T10:00:00Z"}"#;

/// The body and the validator of a path for a reader.
type Seen = BTreeMap<(usize, String), (String, String)>;

struct Watch {
    service: Service,
    readers: Vec<Client>,
    paths: Vec<String>,
}

impl Watch {
    /// Two users through two clients each; lists and single records, in all languages and in one.
    async fn over(service: Service) -> Self {
        let readers = vec![
            service.user("norablum").await,
            service.user("luisortega").await,
            service.user_through("city", "second", "norablum").await,
            service.user_through("city", "second", "luisortega").await,
        ];
        let id = |kind: &str, reference: &str| service.id(kind, reference);
        let places = [
            "/spaces/search".to_owned(),
            format!("/spaces/participatory_processes/{}", id("space", "streets")),
            "/components/search".to_owned(),
            format!("/components/proposal_components/{}", id("component", "ideas")),
            "/proposals?per_page=3".to_owned(),
            format!("/proposals/{}", id("proposal", "p2")),
            format!("/meetings/{}", id("meeting", "kickoff")),
            "/users".to_owned(),
        ];
        let in_language = |path: &String| {
            let mark = if path.contains('?') { '&' } else { '?' };
            format!("{path}{mark}locales[]=fr")
        };
        let paths = places.iter().map(in_language).chain(places.iter().cloned()).collect();
        Self { service, readers, paths }
    }

    async fn look(&self) -> Seen {
        let mut seen = Seen::new();
        for (reader, client) in self.readers.iter().enumerate() {
            for path in &self.paths {
                let answer = client.get(path).await;
                if answer.status == 200 {
                    let tag = answer.header("etag").to_owned();
                    seen.insert((reader, path.clone()), (answer.text, tag));
                }
            }
        }
        seen
    }

    fn city(&self) -> OrganizationId {
        OrganizationId(self.service.id("organization", "city"))
    }

    fn user(&self, reference: &str) -> UserId {
        UserId(self.service.id("user", reference))
    }
}

type Edit = for<'w> fn(&'w Watch) -> Pin<Box<dyn Future<Output = ()> + Send + 'w>>;

/// Runs in a transaction. Its events are discarded.
macro_rules! within {
    ($watch:ident, $tx:ident, $work:expr) => {
        Box::pin(async move {
            let $tx = $watch.service.store.begin().await.unwrap();
            $work.await.unwrap();
            $tx.commit().await.unwrap();
        })
    };
}

async fn edit_component(
    watch: &Watch,
    tx: &dyn Transaction,
    reference: &str,
    change: impl FnOnce(&mut Component) + Send,
) -> Result<Component> {
    let admin = ComponentAdministration {
        components: tx.components(),
        states: tx.states(),
        votes: tx.votes(),
        locales: &Locales::standard(),
    };
    let id = ComponentId(watch.service.id("component", reference));
    edit(&admin, watch.city(), id, clock::now(), change).await
}

/// One change each, of every input that contract 01 §8 and the sheets of the resources name.
const EDITS: [(&str, Edit); 11] = [
    ("the text of a proposal", |w| {
        within!(w, tx, async {
            let retitle =
                |p: &mut civitas_proposals::Proposal| p.title.set(Locale::EN, "Another title".into());
            let id = ProposalId(w.service.id("proposal", "p2"));
            edit(&ProposalAdministration { store: tx.proposals() }, w.city(), id, clock::now(), retitle).await
        })
    }),
    ("a proposal that is hidden", |w| {
        within!(w, tx, async {
            let id = ProposalId(w.service.id("proposal", "p3"));
            let now = clock::now();
            edit(&ProposalAdministration { store: tx.proposals() }, w.city(), id, now, |p| p.hide(now)).await
        })
    }),
    ("a vote", |w| {
        Box::pin(async move {
            let vote = json!({"proposal_id": w.service.id("proposal", "p2"), "data": {"weight": 1}});
            w.readers[0].post("/vote_proposals/sync", &vote).await.is(200);
        })
    }),
    ("a draft", |w| {
        Box::pin(async move {
            let draft = json!({"data": {"component_id": w.service.id("component", "ideas")}});
            w.readers[0].post("/draft_proposals/sync", &draft).await.is(200);
        })
    }),
    ("the active step", |w| {
        within!(w, tx, async {
            let admin = StepAdministration { spaces: tx.spaces(), steps: tx.steps() };
            let id = civitas_kernel::StepId(w.service.id("step", "collect"));
            edit(&admin, w.city(), id, clock::now(), |step| step.active = true).await
        })
    }),
    ("a setting of a component", |w| {
        within!(w, tx, async {
            edit_component(w, &*tx, "ideas", |c| drop(c.settings.insert("vote_limit".into(), json!(9)))).await
        })
    }),
    ("a component that is not published any more", |w| {
        within!(w, tx, async { edit_component(w, &*tx, "cards", |c| c.published_at = None).await })
    }),
    ("the title of a space", |w| {
        within!(w, tx, async {
            let admin = SpaceAdministration { spaces: tx.spaces() };
            let id =
                SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: w.service.id("space", "streets") };
            let retitle = |s: &mut civitas_spaces::Space| s.title.set(Locale::FR, "Les rues".into());
            edit(&admin, w.city(), id, clock::now(), retitle).await
        })
    }),
    ("extended data", |w| {
        Box::pin(async move {
            let path = format!("/proposals/{}/extended_data/sync", w.service.id("proposal", "p2"));
            w.readers[0].put(&path, &json!({"object_path": "k", "data": 1})).await.is(200);
        })
    }),
    ("a membership of a private space", |w| {
        Box::pin(async move {
            let space = SpaceRef { kind: SpaceKind::Assemblies, id: w.service.id("space", "circle") };
            let nora = Some(w.user("norablum"));
            let role = Role::new(space, nora, RoleKind::SpacePrivateMember, clock::now());
            w.service.store.roles().add(w.city(), &role).await.unwrap();
        })
    }),
    ("the name of a person", |w| {
        within!(w, tx, async {
            let rename = |user: &mut User| user.name = "Luis O".into();
            let admin = UserAdministration { store: tx.users(), tokens: tx.tokens(), queue: tx.queue() };
            edit(&admin, w.city(), w.user("luisortega"), clock::now(), rename).await
        })
    }),
];

#[tokio::test]
async fn a_validator_changes_exactly_when_what_is_seen_does() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{MEETING}\n"), &[]).await {
        let watch = Watch::over(service).await;
        let mut before = watch.look().await;
        for (what, change) in EDITS {
            change(&watch).await;
            let after = watch.look().await;
            let mut moved = 0;
            for (place, (body, tag)) in &after {
                let Some((old_body, old_tag)) = before.get(place) else { continue };
                assert_eq!(body != old_body, tag != old_tag, "{what}: reader {} at {}", place.0, place.1);
                moved += usize::from(body != old_body);
            }
            assert!(moved > 0, "{what} is seen by somebody");
            before = after;
        }
    }
}

#[tokio::test]
async fn no_two_readers_languages_or_pages_share_a_validator() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{MEETING}\n"), &[]).await {
        let watch = Watch::over(service).await;
        let seen = watch.look().await;
        let tags: std::collections::BTreeSet<_> = seen.values().map(|(_, tag)| tag).collect();
        assert_eq!(tags.len(), seen.len());
    }
}

#[tokio::test]
async fn a_right_that_is_taken_changes_the_validator_of_what_it_showed() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = format!("/proposals/{}", service.id("proposal", "p2"));
        let before = nora.get(&path).await.is(200);
        let (id, client) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let mut lesser = client.clone();
        lesser.permissions.remove(civitas_kernel::Ability::ProposalsExtendedDataRead);
        service.store.clients().save(id, &lesser).await.unwrap();
        let after = nora.get(&path).await.is(200);
        assert!(after.data()["attributes"].get("extended_data").is_none());
        assert_ne!(after.header("etag"), before.header("etag"));
        let quiet = service.store.users().find(OrganizationId(service.id("organization", "city")), UserId(1));
        let user = quiet.await.unwrap().unwrap();
        let touched = User { tos_accepted_at: Some(user.created_at), ..user };
        replace(service.store.users(), OrganizationId(1), UserId(1), &touched).await.unwrap();
        let again = nora.get(&path).await.is(200);
        assert_eq!(again.header("etag"), after.header("etag"), "what is not seen changes nothing");
    }
}
