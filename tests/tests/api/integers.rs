//! Integers of bodies: `2.0` is the integer 2 (RFC 8259 §6).

use civitas_tests::service::Service;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn a_number_without_fraction_is_an_integer_in_each_body() {
    for service in Service::on_both_engines().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        let json = [("content-type", "application/json")];
        let send =
            async |client: &civitas_tests::service::Client, method: Method, path: &str, body: String| {
                let path = format!("{}{path}", civitas_tests::service::BASE);
                client.raw(method, &path, &json, Some(body.into_bytes())).await
            };
        let component = service.id("component", "ideas");
        let body = format!("{{\"data\": {{\"component_id\": {component}.0}}}}");
        let draft =
            send(&nora, Method::POST, "/draft_proposals/sync", body).await.is(200).data()["id"].clone();
        nora.delete(&format!("/draft_proposals/{}/sync", draft.as_str().unwrap())).await.is(200);

        let (council, luis) = (service.id("space", "council"), service.id("user", "luisortega"));
        let body = format!(
            "{{\"data\": {{\"attributes\": {{\"resource_type\": \"Platform::Assembly\", \"type\": \"space_moderator\", \
             \"resource_id\": {council}.0, \"user_id\": {luis}e0}}}}}}"
        );
        let role = send(&machine, Method::POST, "/roles/sync", body.clone()).await.is(201).data().clone();
        assert_eq!(role["attributes"]["user_id"], json!(luis));
        let path = format!("/roles/{}/sync", role["id"].as_str().unwrap());
        send(&machine, Method::PUT, &path, body).await.is(200);

        let proposal = service.id("proposal", "p2");
        let vote = format!("{{\"proposal_id\": {proposal}.0, \"data\": {{\"weight\": 1.0}}}}");
        send(&nora, Method::POST, "/vote_proposals/sync", vote).await.is(200);
        let half = format!("{{\"proposal_id\": {proposal}.5, \"data\": {{\"weight\": 1}}}}");
        send(&nora, Method::POST, "/vote_proposals/sync", half).await.is(400);
    }
}

#[tokio::test]
async fn numbers_of_extended_data_stay_as_they_are() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let body = json!({"object_path": "weight", "data": 2.5});
        assert_eq!(*nora.put("/me/extended_data/sync", &body).await.is(200).data(), json!(2.5));
    }
}
