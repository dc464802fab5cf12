use civitas_tests::service::Service;
use civitas_tests::until_not_busy;
use serde_json::json;
use std::collections::BTreeMap;

/// Many more than run at once.
const ATTEMPTS: usize = 300;

/// Sends the same request [`ATTEMPTS`] times at once, and counts the answers by status and sentence.
async fn at_once(service: &Service, path: &str, body: serde_json::Value) -> BTreeMap<(u16, String), usize> {
    let nora = service.user("norablum").await;
    let attempts = (0..ATTEMPTS).map(|_| {
        let (client, path, body) = (nora.clone(), path.to_owned(), body.clone());
        tokio::spawn(async move { until_not_busy(|| client.post(&path, &body)).await })
    });
    let mut answers = BTreeMap::new();
    for attempt in attempts.collect::<Vec<_>>() {
        let answer = attempt.await.unwrap();
        let sentence = answer.body["error_description"].as_str().unwrap_or_default().to_owned();
        *answers.entry((answer.status.as_u16(), sentence)).or_default() += 1;
    }
    answers
}

#[tokio::test]
async fn of_many_votes_at_once_one_counts_and_the_others_are_reported() {
    for service in Service::on_both_engines().await {
        let proposal = service.id("proposal", "p2");
        let body = json!({"proposal_id": proposal, "data": {"weight": 1}});
        let answers = at_once(&service, "/vote_proposals/sync", body).await;
        let expected = [((200, String::new()), 1), ((400, "Already voted".to_owned()), ATTEMPTS - 1)];
        assert_eq!(answers, BTreeMap::from(expected), "{:?}", service.engine);
        let nora = service.user("norablum").await;
        let rows = nora.get(&format!("/vote_proposals?filter[proposal_id]={proposal}")).await.is(200);
        assert_eq!(rows.ids().len(), 1);
    }
}

#[tokio::test]
async fn of_many_drafts_at_once_one_is_begun_and_the_others_are_reported() {
    for service in Service::on_both_engines().await {
        let body = json!({"data": {"component_id": service.id("component", "ideas")}});
        let answers = at_once(&service, "/draft_proposals/sync", body).await;
        let told = "Draft Proposal already exists for this component".to_owned();
        let expected = [((200, String::new()), 1), ((400, told), ATTEMPTS - 1)];
        assert_eq!(answers, BTreeMap::from(expected), "{:?}", service.engine);
    }
}

#[tokio::test]
async fn two_updates_of_different_fields_at_once_both_survive() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let body = json!({"data": {"component_id": service.id("component", "ideas")}});
        let draft = nora.post("/draft_proposals/sync", &body).await.is(200);
        let path = format!("/draft_proposals/{}/sync", draft.data()["id"].as_str().unwrap());
        let (title, text) = ("A title that survives it", "A body that survives it as well");
        for _ in 0..5 {
            let (a, b) = (json!({"data": {"title": title}}), json!({"data": {"body": text}}));
            let (a, b) = tokio::join!(nora.put(&path, &a), nora.put(&path, &b));
            a.is(200);
            b.is(200);
        }
        let kept = nora.get(path.trim_end_matches("/sync")).await.is(200);
        let attributes = &kept.data()["attributes"];
        assert_eq!((&attributes["title"]["fr"], &attributes["body"]["fr"]), (&json!(title), &json!(text)));
    }
}

#[tokio::test]
async fn published_twice_at_once_a_draft_is_public_once_with_one_event() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let body = json!({"data": {"component_id": service.id("component", "ideas")}});
        let draft = nora.post("/draft_proposals/sync", &body).await.is(200);
        let path = format!("/draft_proposals/{}", draft.data()["id"].as_str().unwrap());
        let texts = json!({"data": {"title": "A title that is fine", "body": "A body that is fine too"}});
        nora.put(&format!("{path}/sync"), &texts).await.is(200);
        let publish = format!("{path}/publish/sync");
        let empty = json!({});
        let (a, b) = tokio::join!(nora.post(&publish, &empty), nora.post(&publish, &empty));
        let mut statuses = [a.status.as_u16(), b.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404]);
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let events = service.store.outbox().page_after(organization, None, 100).await.unwrap();
        assert_eq!(events.iter().filter(|e| e.name.as_str() == "proposal_creation.succeeded").count(), 1);
    }
}
