//! The matrix of rights, made from the routes: a new operation is in it without a line here.

use civitas_api::{Gate, Route, routes};
use civitas_kernel::Need;
use civitas_tests::service::{Client, Service};
use serde_json::json;

async fn call(client: &Client, route: &Route) -> u16 {
    let path = route.path.replace("{id}", "99999999");
    let body = json!({"data": {"component_id": 1, "weight": 1}, "proposal_id": 1});
    let body = (route.method != "GET").then_some(&body);
    let method = reqwest::Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
    client.send(method, &path, &[], body).await.status.as_u16()
}

#[tokio::test]
async fn no_operation_answers_without_a_token_scope_or_ability_or_in_another_organization() {
    for service in Service::on_both_engines().await {
        let full = service.user("norablum").await;
        let scopeless = service.user_through("city", "narrow", "norablum").await;
        let unable = service.user_through("city", "bare", "norablum").await;
        let foreign = service.at("town.test").bearing(&full.token.clone().unwrap());
        let mut checked = 0;
        for route in routes() {
            let name = format!("{} {}", route.method, route.path);
            match route.gate {
                Gate::Needs(access) => {
                    checked += 1;
                    assert_eq!(call(&service.anonymous(), &route).await, 401, "{name} without a token");
                    assert_eq!(call(&foreign, &route).await, 401, "{name} with a foreign token");
                    if access.scope.is_some() {
                        assert_eq!(call(&scopeless, &route).await, 403, "{name} without the scope");
                    }
                    if access.need != Need::Nothing {
                        assert_eq!(call(&unable, &route).await, 403, "{name} without the ability");
                    }
                    if access.user {
                        assert_eq!(
                            call(&service.machine().await, &route).await,
                            400,
                            "{name} without a user"
                        );
                    }
                    let answered = call(&full, &route).await;
                    assert!(
                        ![401, 403].contains(&answered) && answered < 500,
                        "{name} with all rights: {answered}"
                    );
                }
                Gate::NoAction => assert_eq!(call(&full, &route).await, 404, "{name}"),
                Gate::Open | Gate::Token => {}
            }
        }
        assert!(checked > 25, "{checked} routes were checked");
    }
}

#[tokio::test]
async fn a_blocked_user_is_told_so_after_the_rights_were_asked() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let (id, user) =
            service.store.users().find_by_nickname(organization, "norablum").await.unwrap().unwrap();
        let blocked = civitas_accounts::User { blocked_at: Some(user.created_at), ..user };
        let change = civitas_kernel::Change::quiet(blocked);
        service.store.users().save(organization, id, change).await.unwrap();
        nora.get("/proposals").await.refuses(400, "User blocked");
        nora.get("/jobs").await.refuses(400, "User blocked");
        let seen = service.user("luisortega").await;
        let body = json!({"token": nora.token.clone().unwrap()});
        let described = seen.post("/oauth/introspect", &body).await.is(200).body;
        assert_eq!(
            (&described["active"], &described["resource"]["meta"]["blocked"]),
            (&json!(false), &json!(true))
        );
        let again = json!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum",
            "scope": "public", "client_id": "id_city_full", "client_secret": "key_city_full"});
        service.anonymous().post("/oauth/token", &again).await.refuses(400, "User blocked");
    }
}
