use civitas_tests::service::{CITIES, Client, Service};
use serde_json::{Value, json};

async fn vote(client: &Client, proposal: i64) -> Value {
    let body = json!({"proposal_id": proposal, "data": {"weight": 1}});
    client.finished(&client.post("/vote_proposals", &body).await.is(202)).await
}

#[tokio::test]
async fn a_job_is_read_by_whoever_knows_its_id_in_its_organization_alone() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let job = vote(&nora, service.id("proposal", "p2")).await;
        let path = format!("/jobs/{}", job["id"].as_str().unwrap());
        let anonymous = service.anonymous().get(&path).await.is(200);
        assert_eq!(anonymous.body, job);
        assert_eq!(anonymous.header("vary"), "Accept-Encoding", "it is the same for everyone");
        service
            .anonymous()
            .bearing("nonsense")
            .get(&path.to_uppercase().replace("/JOBS/", "/jobs/"))
            .await
            .is(200);
        service.at("town.test").get(&path).await.refuses(404, "Resource not found");
        let seen = [("if-none-match", anonymous.header("etag"))];
        service.anonymous().send(reqwest::Method::GET, &path, &seen, None).await.is(304);
        let created = job["created_at"].as_str().unwrap();
        assert_eq!((created.len(), &created[19..20]), (24, "."), "milliseconds");
    }
}

#[tokio::test]
async fn jobs_are_listed_for_the_same_client_and_user_newest_first() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let first = vote(&nora, service.id("proposal", "p2")).await;
        let second = vote(&nora, service.id("proposal", "p2")).await;
        let again = service.user("norablum").await;
        let listed = again.get("/jobs").await.is(200);
        let ids: Vec<_> = listed.data().as_array().unwrap().iter().map(|j| j["id"].clone()).collect();
        assert_eq!(ids, [second["id"].clone(), first["id"].clone()]);
        let count = async |client: &Client, query: &str| {
            client.get(&format!("/jobs?{query}")).await.is(200).data().as_array().unwrap().len()
        };
        assert_eq!(count(&nora, "filter[status]=failed").await, 1);
        assert_eq!(count(&nora, "filter[command_key]=vote_proposals%23create").await, 2);
        assert_eq!(count(&nora, "filter[command_key_start]=blogs").await, 0);
        nora.get("/jobs?filter[status]=lost").await.refuses(400, "Invalid value for filter status");
        for other in [
            service.user("luisortega").await,
            service.machine().await,
            service.user_through("city", "second", "norablum").await,
        ] {
            assert_eq!(count(&other, "").await, 0);
            other.delete(&format!("/jobs/{}", first["id"].as_str().unwrap())).await.is(404);
        }
        nora.delete(&format!("/jobs/{}", first["id"].as_str().unwrap())).await.is(204);
        nora.get(&format!("/jobs/{}", first["id"].as_str().unwrap())).await.is(404);
        nora.delete("/jobs/not-a-uuid").await.is(404);
    }
}

#[tokio::test]
async fn a_payload_over_the_limit_leaves_no_job() {
    for service in Service::on_both_engines_with(CITIES, &[("max_async_api_job_payload_bytes", "200")]).await
    {
        let nora = service.user("norablum").await;
        let created = nora
            .post(
                "/draft_proposals/sync",
                &json!({"data": {"component_id": service.id("component", "ideas")}}),
            )
            .await
            .is(200);
        let path = format!("/draft_proposals/{}", created.data()["id"].as_str().unwrap());
        let long = json!({"data": {"body": "x".repeat(300)}});
        let refused = nora.put(&path, &long).await.refuses(400, "Payload exceeds maximum size of 200 bytes");
        assert_eq!(refused.body["error_details"][0]["code"], "too_long");
        assert_eq!(nora.get("/jobs").await.is(200).data(), &json!([]));
        nora.put(&path, &json!({"data": {"title": "A title that is fine"}})).await.is(202);
    }
}
