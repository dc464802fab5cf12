use civitas_tests::service::{Answer, Client, Service};
use serde_json::{Value, json};

const TITLE: &str = "More benches in the park";
const BODY: &str = "Old people would like to sit down, and so would I.";

async fn create(client: &Client, component: i64) -> Answer {
    client.post("/draft_proposals/sync", &json!({"data": {"component_id": component}})).await
}

fn id(answer: &Answer) -> String {
    answer.data()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_main_job_inline() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let draft = create(&nora, component).await.is(200);
        let id = id(&draft);
        assert_eq!(draft.data()["attributes"]["errors"]["title"], json!(["Title cannot be blank"]));
        assert_eq!(
            (&draft.data()["meta"]["publishable"], &draft.data()["meta"]["client_id"]),
            (&json!(false), &json!("id_city_full"))
        );
        create(&nora, component).await.refuses(400, "Draft Proposal already exists for this component");
        let path = format!("/draft_proposals/{id}");
        let update =
            json!({"data": {"title": format!("<b>{TITLE}</b><script>x</script>"), "colour": "ignored"}});
        let updated = nora.put(&format!("{path}/sync"), &update).await.is(200);
        assert_eq!(updated.data()["attributes"]["title"], json!({"fr": TITLE}), "in the user's language");
        assert_eq!(updated.data()["attributes"]["body"], json!({}));
        nora.post(&format!("{path}/publish/sync"), &json!({})).await.refuses(400, "Body cannot be blank");
        let both = json!({"data": {"body": BODY, "locale": "en"}});
        let moved = nora.put(&format!("{path}/sync"), &both).await.is(200);
        assert_eq!(moved.data()["attributes"]["title"], json!({"en": TITLE}), "a draft has one language");
        assert_eq!(moved.data()["meta"]["publishable"], true);
        let public = nora.post(&format!("{path}/publish/sync"), &json!({})).await.is(200);
        assert_eq!((&public.data()["type"], &public.data()["id"]), (&json!("proposal"), &json!(id)));
        assert!(public.data()["meta"]["client_id"].is_i64());
        nora.get(&path).await.is(404);
        nora.post(&format!("{path}/publish/sync"), &json!({})).await.is(404);
        service.user("luisortega").await.get(&format!("/proposals/{id}")).await.is(200);
        create(&nora, component).await.is(200);
    }
}

#[tokio::test]
async fn the_main_job_as_jobs_gives_the_documents_of_the_inline_twins() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let body = json!({"data": {"component_id": service.id("component", "ideas")}});
        let accepted = nora.post("/draft_proposals", &body).await.is(202);
        assert_eq!(accepted.body.as_object().unwrap().len(), 6);
        let job = nora.finished(&accepted).await;
        assert_eq!(
            (&job["status"], &job["command_key"]),
            (&json!("completed"), &json!("draft_proposals#create"))
        );
        assert_eq!(job["data"], job["return_value"]);
        let id = job["data"]["data"]["id"].as_str().unwrap().to_owned();
        let path = format!("/draft_proposals/{id}");
        assert_eq!(nora.get(&path).await.is(200).data(), &job["data"]["data"]);
        nora.post("/draft_proposals", &body)
            .await
            .refuses(400, "Draft Proposal already exists for this component");
        let texts = json!({"data": {"title": TITLE, "body": BODY}});
        let updated = nora.finished(&nora.put(&path, &texts).await.is(202)).await;
        assert_eq!(updated["data"]["data"]["meta"]["publishable"], true);
        let wrong = nora.finished(&nora.put(&path, &json!({"data": {"title": "short"}})).await.is(202)).await;
        assert_eq!((&wrong["status"], &wrong["error_class"]), (&json!("failed"), &json!("ValidationError")));
        let sentence = "Title must start with a capital letter. Title is too short (under 15 characters)";
        assert_eq!(wrong["error_message"], sentence);
        assert_eq!(wrong["error_details"][1]["code"], "too_short");
        let published = nora.finished(&nora.post(&format!("{path}/publish"), &json!({})).await.is(202)).await;
        assert_eq!(published["data"]["data"]["type"], "proposal");
        nora.post(&format!("{path}/publish"), &json!({})).await.is(404);
        nora.delete("/draft_proposals/99999999").await.is(404);
    }
}

#[tokio::test]
async fn a_draft_is_its_authors_through_its_client_alone() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let path = format!("/draft_proposals/{}", id(&create(&nora, component).await.is(200)));
        service.user("luisortega").await.get(&path).await.is(404);
        let second = service.user_through("city", "second", "norablum").await;
        second.get(&path).await.is(404);
        create(&second, component).await.refuses(400, "Draft Proposal already exists for this component");
        nora.get(&format!("{path}?space_manifest=assemblies")).await.is(404);
        service.machine().await.get(&path).await.is(400);
        let gone = nora.delete(&format!("{path}/sync")).await.is(200);
        assert_eq!(gone.data()["meta"]["publishable"], false);
        nora.delete(&format!("{path}/sync")).await.is(404);
        nora.get(&path).await.is(404);
    }
}

#[tokio::test]
async fn places_where_a_draft_can_not_be_begun_say_why() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let missing = "param is missing or the value is empty or invalid";
        nora.post("/draft_proposals/sync", &json!({})).await.refuses(400, &format!("{missing}: data"));
        let empty = json!({"data": {}});
        nora.post("/draft_proposals/sync", &empty).await.refuses(400, &format!("{missing}: component_id"));
        nora.post("/draft_proposals/sync", &json!({"data": {"component_id": "x"}})).await.is(400);
        for name in ["news", "unready", "circle-motions"] {
            create(&nora, service.id("component", name)).await.refuses(404, "Resource not found");
        }
        create(&nora, service.id_in("town", "component", "ideas")).await.is(404);
        create(&nora, service.id("component", "council-motions")).await.refuses(403, "Forbidden");
        let luis = service.user("luisortega").await;
        let limit = "You cannot create new proposals since you have exceeded the limit.";
        create(&luis, service.id("component", "closed")).await.refuses(400, limit);
        create(&nora, service.id("component", "closed")).await.is(200);
        let failed = luis
            .post("/draft_proposals", &json!({"data": {"component_id": service.id("component", "closed")}}))
            .await
            .is(202);
        assert_eq!(luis.finished(&failed).await["error_message"], limit);
    }
}

#[tokio::test]
async fn texts_are_checked_where_they_are_sent_and_nothing_is_kept_of_a_refusal() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = format!(
            "/draft_proposals/{}/sync",
            id(&create(&nora, service.id("component", "closed")).await.is(200))
        );
        let codes = async |data: Value| {
            let answer = nora.put(&path, &json!({"data": data})).await.is(400);
            let details = answer.body["error_details"].as_array().unwrap().clone();
            details.iter().map(|d| d["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(codes(json!({"title": null})).await, ["blank"]);
        assert_eq!(codes(json!({"title": 3})).await, ["invalid"]);
        assert_eq!(codes(json!({"title": "WHY NOT?? NOW!!"})).await, ["too_much_caps", "too_many_marks"]);
        assert_eq!(
            codes(json!({"body": BODY, "title": "x"})).await,
            ["must_start_with_caps", "too_short", "too_long"]
        );
        assert_eq!(codes(json!({"title": "Short"})).await, ["too_short"]);
        assert_eq!(
            codes(json!({"title": "élan", "body": "ВСЕМ ПРИВЕТ ОТ НАС"})).await,
            ["must_start_with_caps", "too_short", "too_much_caps"]
        );
        nora.put(&path, &json!({"data": {"title": TITLE, "locale": "de"}}))
            .await
            .refuses(400, "Not allowed locales: de");
        nora.put(&path, &json!({})).await.is(400);
        let untouched = nora.put(&path, &json!({"data": {"colour": 1}})).await.is(200);
        assert_eq!(
            (&untouched.data()["attributes"]["title"], &untouched.data()["attributes"]["body"]),
            (&json!({}), &json!({}))
        );
        let literal = json!({"data": {"title": "Cats & dogs < 3 > 2 are welcome"}});
        let kept = nora.put(&path, &literal).await.is(200);
        assert_eq!(kept.data()["attributes"]["title"]["fr"], "Cats & dogs < 3 > 2 are welcome");
    }
}

#[tokio::test]
async fn each_change_of_a_draft_leaves_its_event_and_a_refusal_leaves_none() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let draft = create(&nora, service.id("component", "ideas")).await.is(200);
        let path = format!("/draft_proposals/{}", id(&draft));
        create(&nora, service.id("component", "ideas")).await.is(400);
        nora.put(&format!("{path}/sync"), &json!({"data": {"title": "x"}})).await.is(400);
        let texts = json!({"data": {"title": TITLE, "body": BODY}});
        nora.put(&format!("{path}/sync"), &texts).await.is(200);
        nora.put(&format!("{path}/sync"), &texts).await.is(200);
        nora.post(&format!("{path}/publish/sync"), &json!({})).await.is(200);
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let events = service.store.outbox().page_after(organization, None, 100).await.unwrap();
        let names: Vec<_> = events.iter().map(|e| e.name.as_str()).collect();
        let expected = [
            "draft_proposal_creation.succeeded",
            "draft_proposal_update.succeeded",
            "proposal_creation.succeeded",
        ];
        assert_eq!(names, expected);
        let last: Value = serde_json::from_str(&events[2].payload).unwrap();
        assert_eq!(last["data"]["meta"]["published"], true);
        assert!(last["data"]["attributes"].get("extended_data").is_none());
    }
}

#[tokio::test]
async fn a_draft_is_begun_only_in_a_component_of_the_space_that_is_named() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let shown = nora.get(&format!("/components/proposal_components/{component}")).await.is(200);
        let space = shown.data()["attributes"]["participatory_space_id"].as_str().unwrap().to_owned();
        let body = json!({"data": {"component_id": component}});
        for endpoint in ["", "/sync"] {
            let begin =
                async |query: &str| nora.post(&format!("/draft_proposals{endpoint}?{query}"), &body).await;
            begin("space_manifest=towns").await.refuses(400, "manifest not supported: towns");
            begin("space_id=x").await.refuses(400, "Invalid value for space_id");
        }
        let begin = async |query: &str| nora.post(&format!("/draft_proposals/sync?{query}"), &body).await;
        begin("space_manifest=assemblies").await.refuses(404, "Resource not found");
        begin("space_id=999999").await.refuses(404, "Resource not found");
        let accepted = nora.post("/draft_proposals?space_manifest=assemblies", &body).await.is(202);
        assert_eq!(nora.finished(&accepted).await["status"], "failed");
        begin(&format!("space_manifest=participatory_processes&space_id={space}")).await.is(200);
    }
}
