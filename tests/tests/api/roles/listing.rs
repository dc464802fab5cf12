use super::{ASSEMBLY, ORGANIZATION, PROCESS, body, bring, create, named, old, path};
use civitas_accounts::{RoleKind, User};
use civitas_kernel::{OrganizationId, SpaceKind, UserId, clock};
use civitas_tests::replace;
use civitas_tests::service::Service;
use serde_json::{Value, json};

/// What a role says: type, resource type, resource, user.
fn summary(role: &Value) -> (String, i64, Option<i64>) {
    let said = &role["attributes"];
    let kind = format!("{} {}", said["type"].as_str().unwrap(), said["resource_type"].as_str().unwrap());
    (kind, said["resource_id"].as_i64().unwrap(), said["user_id"].as_i64())
}

#[tokio::test]
async fn the_list_has_its_order_its_pages_and_its_filters() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let user = |name: &str| service.id("user", name);
        let space = |name: &str| service.id("space", name);
        let (mary, nora, luis, member) =
            (user("maryadmin"), user("norablum"), user("luisortega"), user("member_one"));
        for (resource_type, resource, who, role_type) in [
            ("Platform::Conference", space("days"), nora, "space_valuator"),
            (ASSEMBLY, space("council"), nora, "space_private_member"),
            (ASSEMBLY, space("council"), luis, "space_moderator"),
            (PROCESS, space("streets"), nora, "space_private_member"),
            (PROCESS, space("streets"), nora, "space_moderator"),
        ] {
            create(&machine, &body(resource_type, resource, who, role_type)).await.is(201);
        }
        let expected = vec![
            (format!("general_admin {ORGANIZATION}"), service.id("organization", "city"), Some(mary)),
            (format!("space_private_member {PROCESS}"), space("streets"), Some(nora)),
            (format!("space_moderator {PROCESS}"), space("streets"), Some(nora)),
            (format!("space_moderator {ASSEMBLY}"), space("council"), Some(luis)),
            (format!("space_private_member {ASSEMBLY}"), space("circle"), Some(member)),
            (format!("space_private_member {ASSEMBLY}"), space("council"), Some(nora)),
            ("space_valuator Platform::Conference".to_owned(), space("days"), Some(nora)),
        ];
        let list = async |query: &str| {
            let answer = machine.get(&format!("/roles?{query}")).await.is(200);
            answer.data().as_array().unwrap().iter().map(summary).collect::<Vec<_>>()
        };
        assert_eq!(list("").await, expected);
        let first = machine.get("/roles?per_page=4").await.is(200);
        assert_eq!(
            (&first.body["meta"]["has_more"], &first.body["meta"]["per_page"]),
            (&json!(true), &json!(4))
        );
        assert_eq!(list("per_page=4&page=2").await, expected[4..]);
        assert_eq!(list("page=9223372036854775807").await, []);
        let pick = |wanted: &[usize]| wanted.iter().map(|i| expected[*i].clone()).collect::<Vec<_>>();
        for (query, wanted) in [
            (format!("filter[user_id]={mary}"), &[0][..]),
            (format!("filter[user_id_in][]={luis}&filter[user_id_in][]={member}"), &[3, 4]),
            (format!("filter[user_id_not_eq]={nora}"), &[0, 3, 4]),
            (format!("filter[resource_id]={}&filter[resource_type]={ASSEMBLY}", space("council")), &[3, 5]),
            ("filter[type_start]=space_priv".to_owned(), &[1, 4, 5]),
            (
                "filter[type_not_in][]=general_admin&filter[type_not_in][]=space_private_member".to_owned(),
                &[2, 3, 6],
            ),
            ("filter[resource_type_matches]=%25conference".to_owned(), &[6]),
            ("filter[user_id_blank]=true".to_owned(), &[]),
            ("filter[type]=&filter[user_id_in][]=".to_owned(), &[0, 1, 2, 3, 4, 5, 6]),
            ("filter[type]=mayor&locales=xx&x=y".to_owned(), &[]),
        ] {
            assert_eq!(list(&query).await, pick(wanted), "{query}");
        }
    }
}

#[tokio::test]
async fn filters_that_are_none_are_reported() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        for (query, sentence) in [
            ("filter[user_id]=x", "Invalid value for filter user_id"),
            ("filter[type_gt]=x", "Unknown filter: type_gt"),
            ("filter[id]=1", "Unknown filter: id"),
            ("filter=x", "filter must be a map"),
        ] {
            machine.get(&format!("/roles?{query}")).await.refuses(400, sentence);
        }
    }
}

#[tokio::test]
async fn roles_of_deleted_accounts_are_nowhere() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let city = OrganizationId(service.id("organization", "city"));
        let (mary, member) = (service.id("user", "maryadmin"), service.id("user", "member_one"));
        let before = machine.get("/roles").await.is(200);
        assert_eq!(before.data().as_array().unwrap().len(), 2);
        for id in [UserId(mary), UserId(member)] {
            let user = service.store.users().find(city, id).await.unwrap().unwrap();
            let deleted = User { deleted_at: Some(clock::now()), ..user };
            replace(service.store.users(), city, id, &deleted).await.unwrap();
        }
        let after = machine.get("/roles").await.is(200);
        assert_eq!(*after.data(), json!([]));
        for role in before.data().as_array().unwrap() {
            let path = path(role["id"].as_str().unwrap());
            machine.get(&path).await.is(404);
            machine.delete(&format!("{path}/sync")).await.is(404);
        }
        create(&machine, &body(ORGANIZATION, city.0, mary, "general_admin")).await.is(404);
        let council = service.id("space", "council");
        create(&machine, &body(ASSEMBLY, council, member, "space_moderator")).await.is(404);
    }
}

#[tokio::test]
async fn the_validators_follow_what_leaves_the_list() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let nora = service.id("user", "norablum");
        let role =
            bring(&service, "council", SpaceKind::Assemblies, old(Some(nora), RoleKind::SpaceModerator))
                .await;
        let id = named(&format!(
            r#"{{"resource_type":"Platform::Assembly","resource_id":{},"user_id":{nora},"invited_at":null,"type":"space_moderator"}}"#,
            role.space.id
        ));
        let list = "/roles?filter[type]=space_moderator";
        let seen = machine.get(list).await.is(200);
        assert_eq!(seen.header("last-modified"), "Sun, 01 Feb 2026 08:00:00 GMT");
        let shown = machine.get(&path(&id)).await.is(200);
        assert_eq!(shown.header("last-modified"), "Sun, 01 Feb 2026 08:00:00 GMT");
        for (path, answer) in [(list, &seen), (&path(&id), &shown)] {
            let tag = [("if-none-match", answer.header("etag"))];
            machine.send(reqwest::Method::GET, path, &tag, None).await.is(304);
            let since = [("if-modified-since", answer.header("last-modified"))];
            machine.send(reqwest::Method::GET, path, &since, None).await.is(304);
            let stranger = service.user("luisortega").await;
            stranger.send(reqwest::Method::GET, path, &tag, None).await.is(200);
        }
        let gone = [("if-modified-since", seen.header("last-modified"))];
        machine.delete(&format!("{}/sync", path(&id))).await.is(204);
        let empty = machine.send(reqwest::Method::GET, list, &gone, None).await.is(200);
        assert_eq!(*empty.data(), json!([]));
        assert_ne!(empty.header("last-modified"), seen.header("last-modified"));
    }
}
