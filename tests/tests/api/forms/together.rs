use super::{id, services, sound, submission};
use serde_json::json;

#[tokio::test]
async fn of_simultaneous_submissions_of_a_user_one_is_stored() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let poll = id(&service, "questionnaire", "poll");
        let body = submission(&poll, &sound(&service, &nora).await, &json!({}));
        let (a, b, c) = tokio::join!(
            nora.post("/answers/sync", &body),
            nora.post("/answers/sync", &body),
            nora.post("/answers", &body),
        );
        let job = nora.finished(&c.is(202)).await;
        let mut stored = [a, b].iter().filter(|answer| answer.status == 201).count();
        if job["status"] == "completed" {
            stored += 1;
        } else {
            assert_eq!(job["error_details"][0]["code"], "already_answered");
        }
        assert_eq!(stored, 1);
    }
}
