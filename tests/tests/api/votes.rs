use civitas_tests::service::{Answer, Client, Service};
use serde_json::{Value, json};

async fn cast(client: &Client, proposal: i64, weight: Value) -> Answer {
    client.post("/vote_proposals/sync", &json!({"proposal_id": proposal, "data": {"weight": weight}})).await
}

#[tokio::test]
async fn a_vote_is_cast_read_and_taken_back() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let p2 = service.id("proposal", "p2");
        let vote = cast(&nora, p2, json!("1")).await.is(200);
        let data = vote.data();
        assert_eq!((&data["type"], &data["attributes"]["weight"]), (&json!("vote_proposals"), &json!(1)));
        assert_eq!(
            data["relationships"]["proposal"]["data"],
            json!({"id": p2.to_string(), "type": "proposals"})
        );
        assert_eq!(data["relationships"]["author"]["data"]["type"], "users");
        cast(&nora, p2, json!(1)).await.refuses(400, "Already voted");
        let path = format!("/vote_proposals/{}", data["id"].as_str().unwrap());
        let luis = service.user("luisortega").await;
        luis.get(&path).await.is(200);
        luis.delete(&path).await.refuses(403, "Forbidden");
        assert_eq!(nora.delete(&format!("{path}/sync")).await.is(200).data(), data);
        nora.delete(&path).await.is(404);
        let proposal = nora
            .post(
                "/vote_proposals/sync?include_proposal=true",
                &json!({"proposal_id": p2, "data": {"weight": 1}}),
            )
            .await
            .is(200);
        assert_eq!(
            (&proposal.data()["type"], &proposal.data()["meta"]["voted"]),
            (&json!("proposal"), &json!({"weight": 1}))
        );
        assert!(proposal.data()["links"].get("next").is_none());
    }
}

#[tokio::test]
async fn a_vote_as_a_job_gives_the_slim_document_whatever_is_asked() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let body = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
        let accepted = nora.post("/vote_proposals?include_proposal=true", &body).await.is(202);
        let job = nora.finished(&accepted).await;
        assert_eq!(
            (&job["status"], &job["data"]["data"]["type"]),
            (&json!("completed"), &json!("vote_proposals"))
        );
        let again = nora.finished(&nora.post("/vote_proposals", &body).await.is(202)).await;
        assert_eq!((&again["status"], &again["error_message"]), (&json!("failed"), &json!("Already voted")));
        assert_eq!((&again["error_class"], &again["data"]), (&json!("BadRequest"), &Value::Null));
        let closed = json!({"proposal_id": service.id("proposal", "z1"), "data": {"weight": 1}});
        nora.post("/vote_proposals", &closed).await.refuses(400, "Vote are disabled");
        nora.post("/vote_proposals", &json!({"proposal_id": 99_999_999, "data": {"weight": 1}}))
            .await
            .is(404);
    }
}

#[tokio::test]
async fn refusals_come_in_the_order_of_the_table() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let id = |name: &str| service.id("proposal", name);
        let missing = "param is missing or the value is empty or invalid";
        let weight = "Weight: error in the weight field.";
        nora.post("/vote_proposals/sync", &json!({})).await.refuses(400, &format!("{missing}: proposal_id"));
        nora.post("/vote_proposals/sync", &json!({"proposal_id": "x"})).await.is(400);
        for name in ["moderated", "deleted", "luisdraft", "x1", "u1"] {
            cast(&nora, id(name), json!(1)).await.refuses(404, "Resource not found");
        }
        cast(&nora, id("z1"), json!("abc")).await.refuses(400, "Vote are disabled");
        cast(&nora, id("m1"), json!("abc")).await.refuses(403, "Forbidden");
        cast(&service.user("luisortega").await, id("p1"), json!("abc")).await.refuses(400, "Already voted");
        nora.post("/vote_proposals/sync", &json!({"proposal_id": id("p2")}))
            .await
            .refuses(400, &format!("{missing}: data"));
        cast(&nora, id("p2"), Value::Null).await.refuses(400, &format!("{missing}: weight"));
        for bad in [json!("abc"), json!(1.5), json!(true)] {
            cast(&nora, id("p2"), bad).await.refuses(400, &format!("{weight} Must be an integer"));
        }
        cast(&nora, id("p2"), json!(-1))
            .await
            .refuses(400, &format!("{weight} Negative weight not supported"));
        cast(&nora, id("p2"), json!(0)).await.refuses(400, &format!("{weight} Abstention not supported"));
        cast(&nora, id("p2"), json!(2)).await.refuses(400, &format!("{weight} Weight not supported"));
        cast(&nora, id("rejected"), json!(1)).await.refuses(400, "Vote is invalid");
        cast(&nora, id("withdrawn"), json!(1)).await.refuses(400, "Vote is invalid");
        cast(&nora, id("secretly"), json!(1)).await.is(200);
    }
}

#[tokio::test]
async fn an_abstention_is_a_vote_and_the_limit_of_votes_holds() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let id = |name: &str| service.id("proposal", name);
        cast(&nora, id("c1"), json!(0)).await.is(200);
        let seen = nora.get(&format!("/proposals/{}", id("c1"))).await.is(200);
        assert_eq!(seen.data()["meta"]["voted"], json!({"weight": 0}));
        let second = cast(&nora, id("c2"), json!(3)).await.is(200);
        cast(&nora, id("c3"), json!(1)).await.refuses(400, "Vote limit reached");
        cast(&nora, id("c3"), json!(4))
            .await
            .refuses(400, "Weight: error in the weight field. Weight not supported");
        nora.delete(&format!("/vote_proposals/{}", second.data()["id"].as_str().unwrap())).await.is(200);
        cast(&nora, id("c3"), json!(2)).await.is(200);
    }
}

#[tokio::test]
async fn votes_are_listed_for_everybody_who_sees_their_proposal() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let p2 = service.id("proposal", "p2");
        cast(&nora, p2, json!(1)).await.is(200);
        let count =
            async |query: &str| nora.get(&format!("/vote_proposals?{query}")).await.is(200).ids().len();
        let (user, ideas) = (service.id("user", "norablum"), service.id("component", "ideas"));
        assert_eq!(count("").await, 2);
        assert_eq!(count(&format!("filter[creator_id]={user}")).await, 1);
        assert_eq!(count(&format!("filter[author_id_not_eq]={user}")).await, 1);
        assert_eq!(count(&format!("filter[proposal_id_in][]={p2}")).await, 1);
        assert_eq!(
            count(&format!("filter[component_id]={ideas}&space_manifest=participatory_processes")).await,
            2
        );
        assert_eq!(count("space_manifest=assemblies").await, 0);
        nora.get("/vote_proposals?filter[creator_id]=x")
            .await
            .refuses(400, "Invalid value for filter creator_id");
        service.machine().await.get("/vote_proposals").await.is(200);
        let reader = service.user_through("city", "bare", "norablum").await;
        reader.get("/vote_proposals").await.is(403);
    }
}
