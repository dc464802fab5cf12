mod listing;
mod refusals;
mod together;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_accounts::{Role, RoleKind};
use civitas_kernel::{OrganizationId, SpaceKind, SpaceRef, UserId};
use civitas_tests::service::{Answer, Client, Service};
use serde_json::{Value, json};
use std::time::Duration;
use time::macros::datetime;

const ORGANIZATION: &str = "Platform::Organization";
const PROCESS: &str = "Platform::ParticipatoryProcess";
const ASSEMBLY: &str = "Platform::Assembly";

fn body(resource_type: &str, resource_id: i64, user: i64, role_type: &str) -> Value {
    json!({"data": {"type": "role", "attributes": {
        "resource_type": resource_type, "resource_id": resource_id, "user_id": user, "type": role_type}}})
}

async fn create(client: &Client, body: &Value) -> Answer {
    client.post("/roles/sync", body).await
}

fn id(answer: &Answer) -> String {
    answer.data()["id"].as_str().unwrap().to_owned()
}

fn path(id: &str) -> String {
    format!("/roles/{id}")
}

/// The id of this JSON text.
fn named(json: &str) -> String {
    URL_SAFE_NO_PAD.encode(json)
}

fn admin_id(organization: i64, user: i64) -> String {
    named(&format!(
        r#"{{"resource_type":"Platform::Organization","resource_id":{organization},"user_id":{user},"invited_at":null,"type":"general_admin"}}"#
    ))
}

/// How many events say that the account changed.
async fn update_events(service: &Service) -> usize {
    let organization = OrganizationId(service.id("organization", "city"));
    let events = service.store.outbox().page_after(organization, None, 1000).await.unwrap();
    events.iter().filter(|event| event.name.as_str() == "user.updated").count()
}

#[tokio::test]
async fn a_role_in_a_space_is_given_shown_changed_and_taken() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (council, luis) = (service.id("space", "council"), service.id("user", "luisortega"));
        let given = create(&machine, &body(ASSEMBLY, council, luis, "space_moderator")).await.is(201);
        let json = format!(
            r#"{{"resource_type":"Platform::Assembly","resource_id":{council},"user_id":{luis},"invited_at":null,"type":"space_moderator"}}"#
        );
        assert_eq!(id(&given), named(&json), "to the letter");
        let said = &given.data()["attributes"];
        assert_eq!(given.data()["type"], "role");
        assert_eq!(
            (&said["type"], &said["user_id"], &said["resource_id"], &said["resource_type"]),
            (&json!("space_moderator"), &json!(luis), &json!(council), &json!(ASSEMBLY))
        );
        assert_eq!((&said["invited_at"], &said["accepted_invite"]), (&Value::Null, &json!(true)));
        assert_eq!(said["created_at"], said["updated_at"]);
        let shown = machine.get(&path(&id(&given))).await.is(200);
        assert_eq!(shown.body, given.body);

        let other = json!({"data": {"attributes": {"type": "space_valuator"}}});
        let changed = machine.put(&format!("{}/sync", path(&id(&given))), &other).await.is(200);
        assert_ne!(id(&changed), id(&given));
        assert_eq!(changed.data()["attributes"]["type"], "space_valuator");
        assert_eq!(changed.data()["attributes"]["created_at"], said["created_at"]);
        machine.get(&path(&id(&given))).await.refuses(404, "Resource not found");
        machine.get(&path(&id(&changed))).await.is(200);

        create(&machine, &body(ASSEMBLY, council, luis, "space_administrator")).await.is(201);
        let gone = machine.delete(&format!("{}/sync", path(&id(&changed)))).await.is(204);
        assert_eq!((gone.text.as_str(), gone.header("content-type")), ("", ""));
        machine.delete(&format!("{}/sync", path(&id(&changed)))).await.refuses(404, "Resource not found");
        let left = machine.get(&format!("/roles?filter[user_id]={luis}")).await.is(200);
        assert_eq!(left.data().as_array().unwrap().len(), 1, "the other type stays");
        assert_eq!(update_events(&service).await, 0, "no event for spaces");
    }
}

#[tokio::test]
async fn the_jobs_give_the_documents_of_their_twins() {
    for service in Service::on_both_engines().await {
        let luis = service.user("luisortega").await;
        let nora = service.id("user", "norablum");
        let wanted = body(PROCESS, service.id("space", "streets"), nora, "space_moderator");
        let job = luis.finished(&luis.post("/roles", &wanted).await.is(202)).await;
        assert_eq!((&job["status"], &job["command_key"]), (&json!("completed"), &json!("roles#create")));
        let first = job["data"]["data"]["id"].as_str().unwrap().to_owned();
        assert_eq!(luis.get(&path(&first)).await.is(200).body, job["data"]);
        let again = luis.finished(&luis.post("/roles", &wanted).await.is(202)).await;
        assert_eq!(
            (&again["status"], &again["error_message"]),
            (&json!("failed"), &json!("Type has already been taken"))
        );
        assert_eq!(again["error_details"][0]["code"], "taken");
        let unknown = body(PROCESS, 1, nora, "mayor");
        let failed = luis.finished(&luis.post("/roles", &unknown).await.is(202)).await;
        assert_eq!(failed["error_message"], "Invalid role type: mayor", "the worker says so");

        let other = json!({"data": {"attributes": {"type": "space_valuator", "user_id": nora.to_string()}}});
        let job = luis.finished(&luis.put(&path(&first), &other).await.is(202)).await;
        assert_eq!((&job["status"], &job["command_key"]), (&json!("completed"), &json!("roles#update")));
        let second = job["data"]["data"]["id"].as_str().unwrap().to_owned();
        let job = luis.finished(&luis.delete(&path(&second)).await.is(202)).await;
        assert_eq!((&job["status"], &job["command_key"]), (&json!("completed"), &json!("roles#destroy")));
        assert_eq!((&job["data"], &job["return_value"]), (&Value::Null, &Value::Null));
        luis.delete(&path(&second)).await.refuses(404, "Resource not found");
        luis.put(&path(&second), &other).await.refuses(404, "Resource not found");
        luis.put(&path(&second), &json!({})).await.is(400);
    }
}

#[tokio::test]
async fn a_general_administrator_is_a_flag_of_the_account() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (city, nora) = (service.id("organization", "city"), service.id("user", "norablum"));
        let wanted = body(ORGANIZATION, city, nora, "general_admin");
        let given = create(&machine, &wanted).await.is(201);
        assert_eq!(id(&given), admin_id(city, nora));
        let said = &given.data()["attributes"];
        assert_eq!(
            (&said["created_at"], &said["accepted_invite"]),
            (&json!("2026-01-05T09:00:00Z"), &json!(true))
        );
        assert_eq!(update_events(&service).await, 1);
        let again = create(&machine, &wanted).await.is(201);
        assert_eq!((again.body, update_events(&service).await), (given.body.clone(), 1), "nothing changes");
        let hidden = format!("/spaces/participatory_processes/{}", service.id("space", "hidden"));
        let client = service.user("norablum").await;
        client.get(&hidden).await.is(200);

        let same = json!({"data": {"attributes": {"type": "general_admin"}}});
        let kept = machine.put(&format!("{}/sync", path(&id(&given))), &same).await.is(200);
        assert_eq!(kept.body, given.body);
        machine.delete(&format!("{}/sync", path(&id(&given)))).await.is(204);
        assert_eq!(update_events(&service).await, 2);
        client.get(&hidden).await.is(404);
        for _ in 0..2 {
            machine.delete(&format!("{}/sync", path(&id(&given)))).await.is(404);
        }
        assert_eq!(update_events(&service).await, 2);
        let last = admin_id(city, service.id("user", "maryadmin"));
        machine.delete(&format!("{}/sync", path(&last))).await.is(204);
        let left = machine.get("/roles?filter[type]=general_admin").await.is(200);
        assert_eq!(*left.data(), json!([]), "the last one too");
    }
}

/// Roles past the interface, as an archive brings them.
async fn bring(service: &Service, space: &str, kind: SpaceKind, role: Role) -> Role {
    let space = SpaceRef { kind, id: service.id("space", space) };
    let role = Role { space, ..role };
    let city = OrganizationId(service.id("organization", "city"));
    service.store.roles().add(city, &role).await.unwrap();
    role
}

fn old(user: Option<i64>, kind: RoleKind) -> Role {
    let at = datetime!(2026-02-01 08:00:00.654321 UTC);
    let space = SpaceRef { kind: SpaceKind::Assemblies, id: 0 };
    Role::new(space, user.map(UserId), kind, at)
}

#[tokio::test]
async fn invitations_show_when_they_were_made_and_whether_they_are_open() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (nora, council) = (service.id("user", "norablum"), service.id("space", "council"));
        let invited = Role {
            invited_at: Some(old(None, RoleKind::SpaceModerator).created_at),
            ..old(Some(nora), RoleKind::SpaceModerator)
        };
        let waiting = Role {
            user: None,
            email: Some("new@example.org".to_owned()),
            kind: RoleKind::SpaceValuator,
            ..invited.clone()
        };
        let accepted =
            Role { kind: RoleKind::SpaceAdministrator, accepted_at: invited.invited_at, ..invited.clone() };
        for role in [invited, waiting, accepted] {
            bring(&service, "council", SpaceKind::Assemblies, role).await;
        }
        let name = |user: &str, role_type: &str| {
            named(&format!(
                r#"{{"resource_type":"Platform::Assembly","resource_id":{council},"user_id":{user},"invited_at":"2026-02-01T08:00:00Z","type":"{role_type}"}}"#
            ))
        };
        let nora = nora.to_string();
        for (id, user, accepted) in [
            (name(&nora, "space_moderator"), json!(nora.parse::<i64>().unwrap()), false),
            (name("null", "space_valuator"), Value::Null, false),
            (name(&nora, "space_administrator"), json!(nora.parse::<i64>().unwrap()), true),
        ] {
            let shown = machine.get(&path(&id)).await.is(200);
            let said = &shown.data()["attributes"];
            assert_eq!((&said["user_id"], &said["accepted_invite"]), (&user, &json!(accepted)));
            assert_eq!(said["invited_at"], "2026-02-01T08:00:00Z");
            assert_eq!(shown.data()["id"], id);
        }
        let taken = body(ASSEMBLY, council, nora.parse().unwrap(), "space_moderator");
        create(&machine, &taken).await.is(400);
        let other = json!({"data": {"attributes": {"type": "space_moderator", "user_id": null}}});
        let changed =
            machine.put(&format!("{}/sync", path(&name("null", "space_valuator"))), &other).await.is(200);
        let said = &changed.data()["attributes"];
        assert_eq!(
            (&said["invited_at"], &said["accepted_invite"]),
            (&json!("2026-02-01T08:00:00Z"), &json!(false))
        );
        assert_eq!(said["created_at"], "2026-02-01T08:00:00Z");
        assert_ne!(said["updated_at"], "2026-02-01T08:00:00Z");
        machine.delete(&format!("{}/sync", path(&id(&changed)))).await.is(204);
    }
}

#[tokio::test]
async fn the_name_of_a_role_may_have_any_time() {
    for service in Service::on_both_engines().await {
        let (machine, council) = (service.machine().await, service.id("space", "council"));
        for at in ["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"] {
            let id = named(&format!(
                r#"{{"resource_type":"Platform::Assembly","resource_id":{council},"user_id":null,"invited_at":"{at}","type":"space_moderator"}}"#
            ));
            machine.get(&path(&id)).await.is(404);
            machine.delete(&format!("{}/sync", path(&id))).await.is(404);
        }
    }
}

#[tokio::test]
async fn who_leaves_a_private_space_loses_sight_of_it_at_once_and_gets_it_back() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let member = service.user("member_one").await;
        let (circle, user) = (service.id("space", "circle"), service.id("user", "member_one"));
        let begun = json!({"data": {"component_id": service.id("component", "circle-motions")}});
        let draft = member.post("/draft_proposals/sync", &begun).await.is(200);
        let draft = format!("/draft_proposals/{}", id(&draft));
        let space = format!("/spaces/assemblies/{circle}");
        let proposal = format!("/proposals/{}", service.id("proposal", "x1"));
        let texts = json!({"data": {"title": "A title that is fine", "body": "A body that is fine too"}});
        let spaces = "/spaces/assemblies";
        let seen = member.get(spaces).await.is(200);
        let listed = machine.get(&format!("/roles?filter[user_id]={user}")).await.is(200);
        let role = listed.data()[0]["id"].as_str().unwrap().to_owned();

        // A second must pass, or the times of before and after are the same.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        machine.delete(&format!("{}/sync", path(&role))).await.is(204);
        for path in [&draft, &space, &proposal] {
            member.get(path).await.refuses(404, "Resource not found");
        }
        member.put(&format!("{draft}/sync"), &texts).await.is(404);
        member.put(&draft, &texts).await.is(404);
        member.post(&format!("{draft}/publish/sync"), &json!({})).await.is(404);
        member.delete(&format!("{draft}/sync")).await.is(404);
        let since = [("if-modified-since", seen.header("last-modified"))];
        let left = member.send(reqwest::Method::GET, spaces, &since, None).await.is(200);
        assert_eq!(left.ids().len() + 1, seen.ids().len());

        let moderator = body(ASSEMBLY, circle, user, "space_moderator");
        let moderator = id(&create(&machine, &moderator).await.is(201));
        member.get(&space).await.is(404);
        let membership = json!({"data": {"attributes": {"type": "space_private_member"}}});
        machine.put(&format!("{}/sync", path(&moderator)), &membership).await.is(200);
        for path in [&draft, &space, &proposal] {
            member.get(path).await.is(200);
        }
        member.put(&format!("{draft}/sync"), &texts).await.is(200);
        let valuator = json!({"data": {"attributes": {"type": "space_valuator"}}});
        machine.put(&format!("{}/sync", path(&role)), &valuator).await.is(200);
        member.get(&draft).await.is(404);
    }
}

#[tokio::test]
async fn bodies_may_be_forms_and_other_keys_do_not_matter() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let form = format!(
            "data[attributes][resource_type]={ASSEMBLY}&data[attributes][resource_id]={}&data[attributes][user_id]={}\
             &data[attributes][type]=space_valuator&data[attributes][invited_at]=2026-01-01T00:00:00Z&colour=red",
            service.id("space", "council"),
            service.id("user", "norablum")
        );
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let path = "/api/rest_full/v0.3/roles/sync?locales=xx";
        let given = machine.raw(reqwest::Method::POST, path, &headers, Some(form.into_bytes())).await.is(201);
        assert_eq!(given.data()["attributes"]["invited_at"], Value::Null);
    }
}
