//! Rights that end while their lookups are cached (docs/decisions/0049-cached-lookups.md).

use civitas_application::Store;
use civitas_kernel::records::Change;
use civitas_kernel::{Abilities, ComponentId, OrganizationId, UserId, clock};
use civitas_organizations::HostMatch;
use civitas_tests::service::{Client, Service};
use civitas_tests::{at_once, commit, replace};
use serde_json::json;
use std::time::Duration;
use time::macros::datetime;
use tokio::time::sleep;

/// Longer than entries are valid on another node.
const SECOND: Duration = Duration::from_millis(1_100);

/// What ends, and the status of the next read.
#[derive(Debug, Clone, Copy)]
enum End {
    /// All tokens of the user are revoked.
    Tokens,
    /// The user is blocked.
    User,
    /// The client loses its permissions.
    Permissions,
    /// The component is not published any more.
    Component,
}

const ENDS: [(End, u16); 4] =
    [(End::Tokens, 401), (End::User, 400), (End::Permissions, 403), (End::Component, 404)];

impl End {
    /// The client that loses it. Each is another one.
    async fn reader(self, service: &Service) -> Client {
        match self {
            Self::Tokens => service.user("norablum").await,
            Self::User => service.user("luisortega").await,
            Self::Permissions => service.user_through("city", "second", "member_one").await,
            Self::Component => service.user("member_one").await,
        }
    }

    async fn happen(self, service: &Service, store: &dyn Store) {
        let city = city(store).await;
        let done = commit(store, async |tx| match self {
            Self::Tokens => {
                let nora = UserId(service.id("user", "norablum"));
                tx.tokens().revoke_of_user(city, nora, clock::now()).await
            }
            Self::User => block(tx.users(), city, UserId(service.id("user", "luisortega"))).await,
            Self::Permissions => {
                let found = tx.clients().find_by_uid_for_update("id_city_second").await?;
                let (id, mut client) = found.expect("the client");
                client.permissions = Abilities::default();
                tx.clients().save(id, &client).await
            }
            Self::Component => {
                let id = ComponentId(service.id("component", "ideas"));
                let mut component = tx.components().find(city, id).await?.expect("the component");
                component.published_at = None;
                replace(tx.components(), city, id, &component).await
            }
        });
        done.await.unwrap();
    }
}

async fn city(store: &dyn Store) -> OrganizationId {
    match store.organizations().locate("city.test").await.unwrap() {
        Some(HostMatch::Primary(tenant)) => tenant.id,
        other => panic!("{other:?}"),
    }
}

async fn block(
    users: &dyn civitas_accounts::UserStore,
    city: OrganizationId,
    id: UserId,
) -> civitas_kernel::Result<()> {
    let mut user = users.find(city, id).await?.expect("the user");
    user.block(clock::now());
    replace(users, city, id, &user).await
}

#[tokio::test]
async fn what_ends_by_this_node_ends_at_once() {
    for service in Service::on_both_engines().await {
        let path = format!("/proposals/{}", service.id("proposal", "p2"));
        for (end, status) in ENDS {
            let reader = end.reader(&service).await;
            reader.get(&path).await.is(200);
            reader.get(&format!("{path}?n=2")).await.is(200);
            end.happen(&service, &*service.store).await;
            reader.get(&format!("{path}?n=3")).await.is(status);
        }
    }
}

#[tokio::test]
async fn what_ends_by_another_node_ends_within_a_second() {
    at_once(Service::on_both_engines().await, |service| async move {
        let path = format!("/proposals/{}", service.id("proposal", "p2"));
        let other = service.database.store();
        for (end, status) in ENDS {
            let reader = end.reader(&service).await;
            reader.get(&path).await.is(200);
            end.happen(&service, &*other).await;
            sleep(SECOND).await;
            reader.get(&format!("{path}?n=2")).await.is(status);
        }
    })
    .await;
}

#[tokio::test]
async fn what_begins_is_seen_at_once() {
    for service in Service::on_both_engines().await {
        let path = format!("/proposals/{}", service.id("proposal", "p2"));
        let (nora, id) = (service.user("norablum").await, ComponentId(service.id("component", "ideas")));
        End::Component.happen(&service, &*service.store).await;
        nora.get(&path).await.is(404);
        let done = commit(&*service.store, async |tx| {
            let Some(HostMatch::Primary(city)) = tx.organizations().locate("city.test").await? else {
                panic!("the city")
            };
            let mut component = tx.components().find(city.id, id).await?.expect("the component");
            component.published_at = Some(clock::now());
            replace(tx.components(), city.id, id, &component).await
        });
        done.await.unwrap();
        nora.get(&path).await.is(200);
    }
}

/// `Last-Modified` of a list is the time of its last removal, which is cached like the lookups.
#[tokio::test]
async fn a_removal_from_a_list_is_seen_at_once_on_its_node_and_within_a_second_on_another() {
    at_once(Service::on_both_engines().await, |service| async move {
        let nora = service.user("norablum").await;
        let other = service.database.store();
        let city = city(&*service.store).await;
        let removals = [
            (
                &service.store,
                Duration::ZERO,
                datetime!(2036-11-03 10:00 UTC),
                "Mon, 03 Nov 2036 10:00:00 GMT",
            ),
            (&other, SECOND, datetime!(2036-11-04 10:00 UTC), "Tue, 04 Nov 2036 10:00:00 GMT"),
        ];
        for (store, pause, removed_at, header) in removals {
            nora.get("/proposals").await.is(200);
            let done = commit(&**store, async |tx| {
                tx.list_changes().touch_list(city, "proposals", removed_at).await
            });
            done.await.unwrap();
            sleep(pause).await;
            let list = nora.get("/proposals?n=2").await.is(200);
            assert_eq!(list.header("last-modified"), header, "{:?}", service.engine);
        }
    })
    .await;
}

/// The switches of an organization are looked up with its host.
#[tokio::test]
async fn an_organization_that_another_node_switches_off_is_off_within_a_second() {
    at_once(Service::on_both_engines().await, |service| async move {
        let nora = service.user("norablum").await;
        let other = service.database.store();
        let city = city(&*service.store).await;
        for enabled in [false, true] {
            nora.get("/proposals").await;
            let before = other.organizations().find(city).await.unwrap().unwrap();
            let mut switched = before.clone();
            switched.features.enabled = enabled;
            other.organizations().save(city, &Change::new(before, switched)).await.unwrap();
            sleep(SECOND).await;
            nora.get("/proposals").await.is(if enabled { 200 } else { 501 });
        }
    })
    .await;
}

/// The host is still known here for a moment.
#[tokio::test]
async fn an_organization_that_another_node_removes_is_a_missing_one_and_no_fault() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        nora.get("/proposals").await.is(200);
        let city = city(&*service.store).await;
        let at = "2026-01-01 09:00:00+00:00";
        let sql = format!("UPDATE organizations SET deleted_at = '{at}' WHERE id = {city}");
        service.database.execute(&sql).await;
        let link = json!({"data": {"redirect_url": "https://city.test/welcome"}});
        let asked = nora.post("/me/magic_links", &link).await;
        assert!(!asked.status.is_server_error(), "{:?}: {}", service.engine, asked.status);
        let person = json!({"grant_type": "password", "auth_type": "impersonate", "username": "newcomer",
            "client_id": "id_city_full", "client_secret": "key_city_full", "scope": "public",
            "meta": {"register_on_missing": true, "accept_tos_on_register": true, "email": "new@city.example"}});
        let asked = service.anonymous().post("/oauth/token", &person).await;
        assert!(!asked.status.is_server_error(), "{:?}: {}", service.engine, asked.status);
    }
}
