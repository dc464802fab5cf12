//! The matrix of rights, made from the routes: a new operation is in it without a line here.

use civitas_api::{RequiredAccess, Route, routes};
use civitas_application::Transaction;
use civitas_kernel::{RequiredAbilities, Scope};
use civitas_tests::service::{CITIES, Client, SYSTEM_CLIENTS, Service};
use civitas_tests::{commit, replace};
use serde_json::json;

async fn call(service: &Service, client: &Client, route: &Route) -> u16 {
    let city = service.id("organization", "city").to_string();
    let id = if route.path.starts_with("/organizations/") { &city } else { "99999999" };
    let path = route.path.replace("{id}", id).replace("{manifest}", "assemblies");
    if route.path == "/events" {
        return match client.open(&path, &[]).await {
            Ok(stream) => stream.status(),
            Err(answer) => answer.status.as_u16(),
        };
    }
    let body = json!({"data": {"component_id": 1, "weight": 1}, "proposal_id": 1});
    let body = (route.method != "GET").then_some(&body);
    let method = reqwest::Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
    client.send(method, &path, &[], body).await.status.as_u16()
}

#[tokio::test]
async fn no_operation_answers_without_a_token_scope_or_ability_or_in_another_organization() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await {
        let people = service.user("norablum").await;
        let scopeless = service.user_through("city", "narrow", "norablum").await;
        let bare = service.user_through("city", "bare", "norablum").await;
        let system = service.anonymous().of_system("city_system").await;
        let modest = service.anonymous().of_system("city_modest").await;
        let mut checked = 0;
        for route in routes() {
            let name = format!("{} {}", route.method, route.path);
            match route.required_access {
                RequiredAccess::Needs(access) => {
                    checked += 1;
                    let of_system = access.scope == Some(Scope::System);
                    let (full, unable) = if of_system { (&system, &modest) } else { (&people, &bare) };
                    let foreign = service.at("town.test").bearing(&full.token.clone().unwrap());
                    let answers = async |client: &Client| call(&service, client, &route).await;
                    assert_eq!(answers(&service.anonymous()).await, 401, "{name} without a token");
                    assert_eq!(answers(&foreign).await, 401, "{name} with a foreign token");
                    if access.scope.is_some() {
                        assert_eq!(answers(&scopeless).await, 403, "{name} without the scope");
                    }
                    if access.abilities != RequiredAbilities::Nothing {
                        assert_eq!(answers(unable).await, 403, "{name} without the ability");
                    }
                    if access.user {
                        let machine = service.machine().await;
                        assert_eq!(answers(&machine).await, 400, "{name} without a user");
                    }
                    let answered = answers(full).await;
                    assert!(
                        ![401, 403].contains(&answered) && answered < 500,
                        "{name} with all rights: {answered}"
                    );
                }
                RequiredAccess::NoAction => assert_eq!(call(&service, &people, &route).await, 404, "{name}"),
                RequiredAccess::Open | RequiredAccess::Token => {}
            }
        }
        assert!(checked > 25, "{checked} routes were checked");
    }
}

#[tokio::test]
async fn a_blocked_user_is_refused_after_the_check_of_rights() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let (id, user) =
            service.store.users().find_by_nickname(organization, "norablum").await.unwrap().unwrap();
        let blocked = civitas_accounts::User { blocked_at: Some(user.created_at), ..user };
        let block = async |tx: &dyn Transaction| replace(tx.users(), organization, id, &blocked).await;
        commit(&*service.store, block).await.unwrap();
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
