use super::{id, rows, services, sound, submission, submit};
use crate::api::forms::questionnaire;
use diesel::dsl::sql;
use diesel::sql_types::BigInt;
use diesel::{Connection, RunQueryDsl, SqliteConnection};
use serde_json::{Value, json};

#[tokio::test]
async fn answers_are_stored_and_read_back_in_the_shape_of_the_sheet() {
    for service in services().await {
        let machine = service.machine().await;
        let (q, o) =
            (|name: &str| id(&service, "question", name), |name: &str| id(&service, "answer_option", name));
        let shown = machine.get(&questionnaire(&service, "poll")).await.is(200).data().clone();
        let table = rows(&shown, &q("table"));
        let mut answers = sound(&service, &machine).await;
        answers[q("one")] = json!(service.id("answer_option", "bus"));
        answers[q("many")] = json!([o("l3"), o("l1")]);
        answers[q("order")] = json!([o("s2"), o("s1")]);
        answers[q("table")] = json!({&table[0]: o("pm")});
        let meta = json!({"client_ip": "203.0.113.42", "locale": "fr", "x": 1});
        let stored = submit(&service, &machine, &answers, &meta).await.is(201);
        let read = &stored.data()["attributes"]["answers"];
        assert_eq!(read[q("one")], json!([o("bus")]));
        assert_eq!(read[q("many")], json!([o("l1"), o("l3")]));
        assert_eq!(read[q("order")], json!([o("s2"), o("s1")]));
        assert_eq!(read[q("table")], json!({&table[0]: [o("pm")]}));
        assert_eq!(read[q("upload")], Value::Null);
        assert_eq!(read[q("long")], Value::Null, "displayed, because the sorting is answered");
        assert_eq!(stored.data()["meta"]["locale"], "fr");
        assert_eq!(stored.data()["meta"]["user"], Value::Null);
        assert_eq!(stored.header("location"), stored.data()["links"]["self"]["href"].as_str().unwrap());
        let digest = &stored.data()["attributes"]["client_ip"];
        let again = submit(&service, &machine, &answers, &meta).await.is(201);
        assert_eq!(again.data()["attributes"]["client_ip"], *digest, "anonymous responses are unlimited");
        let other = submit(&service, &machine, &answers, &json!({})).await.is(201);
        assert_eq!(other.data()["attributes"]["client_ip"], Value::Null);
        let path = format!("/questionnaire_responses/{}", stored.data()["id"].as_str().unwrap());
        let shown = machine.get(&format!("{path}?locale=fr")).await.is(200);
        assert_eq!(shown.body, stored.body);
    }
}

#[tokio::test]
async fn wrong_answers_are_reported_together_in_the_order_of_questions() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let (q, o) =
            (|name: &str| id(&service, "question", name), |name: &str| id(&service, "answer_option", name));
        let mut wrong = json!({"0": 1});
        wrong[q("text")] = json!("x".repeat(21));
        wrong[q("one")] = json!(o("bus"));
        wrong[q("many")] = json!([o("l1"), o("l2"), o("l3")]);
        wrong[q("order")] = json!([o("s1")]);
        wrong[q("upload")] = json!(["unknown"]);
        wrong[q("head")] = json!("x");
        let refused = submit(&service, &nora, &wrong, &json!({})).await.is(422);
        let errors = refused.body["error_details"].as_array().unwrap();
        let found: Vec<_> = errors
            .iter()
            .map(|error| (error["field"].as_str().unwrap(), error["code"].as_str().unwrap()))
            .collect();
        let field = |name: &str| format!("answers.{}", q(name));
        let expected = [
            (field("text"), "too_long"),
            (field("many"), "too_many"),
            (field("order"), "missing"),
            (field("grid"), "blank"),
            (field("upload"), "invalid"),
        ];
        let expected: Vec<_> = expected.iter().map(|(field, code)| (field.as_str(), *code)).collect();
        assert_eq!(found[..5], expected);
        assert!(found[5..].iter().all(|(_, code)| *code == "inclusion") && found.len() == 7, "{found:?}");
        assert_eq!(refused.body["error"], "422: Unprocessable entity");
        let text = refused.body["error_description"].as_str().unwrap();
        assert!(text.starts_with(
            "Answer is too long. Too many choices. Choices are not complete. Answer cannot be blank"
        ));
        let mut hidden = sound(&service, &nora).await;
        hidden[q("many")] = json!({"not": "a list"});
        let stored = submit(&service, &nora, &hidden, &json!({})).await.is(201);
        assert!(
            stored.data()["attributes"]["answers"].get(q("many")).is_none(),
            "not displayed, and dropped"
        );
    }
}

#[tokio::test]
async fn the_respondent_follows_from_token_anonymity_and_relationship() {
    for service in services().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        let answers = sound(&service, &nora).await;
        let poll = id(&service, "questionnaire", "poll");
        let of = |user: Value, meta: Value| {
            let mut body = submission(&poll, &answers, &meta);
            body["data"]["relationships"]["user"] = json!({"data": {"type": "user", "id": user}});
            body
        };
        let (luis, own) = (id(&service, "user", "luisortega"), id(&service, "user", "norablum"));
        nora.post("/answers/sync", &of(json!(luis), json!({}))).await.refuses(403, "Forbidden");
        let first = nora.post("/answers/sync", &of(json!(own), json!({}))).await.is(201);
        assert_eq!(first.data()["meta"]["user"], json!({"id": own, "type": "user"}));
        let again = submit(&service, &nora, &answers, &json!({})).await.is(422);
        assert_eq!(
            (&again.body["error_details"][0]["code"], &again.body["error_details"][0]["field"]),
            (&json!("already_answered"), &json!("questionnaire"))
        );
        let anonymous =
            nora.post("/answers/sync", &of(json!(luis), json!({"anonymous": true}))).await.is(201);
        assert_eq!(anonymous.data()["meta"]["user"], Value::Null);
        machine.post("/answers/sync", &of(json!(luis), json!({}))).await.is(422);
        machine
            .post("/answers/sync", &of(json!("99999999"), json!({})))
            .await
            .refuses(404, "Resource not found");
        machine.post("/answers/sync", &of(json!("x"), json!({}))).await.refuses(404, "Resource not found");
        let foreign = service.id_in("town", "user", "maryadmin");
        machine
            .post("/answers/sync", &of(json!(foreign), json!({})))
            .await
            .refuses(404, "Resource not found");
        let mut diet = json!({});
        diet[id(&service, "question", "diet")] = json!("none");
        let registration = id(&service, "questionnaire", "registration");
        let register = |meta: Value| submission(&registration, &diet, &meta);
        machine.post("/answers/sync", &register(json!({}))).await.refuses(400, "User required");
        let refused = nora.post("/answers/sync", &register(json!({"anonymous": true}))).await.is(422);
        assert_eq!(refused.body["error_details"][0]["code"], "anonymous_not_allowed");
        assert_eq!(refused.body["error_details"][0]["field"], "anonymous");
        nora.post("/answers/sync", &register(json!({}))).await.is(201);
        for (name, code) in [("late", "closed"), ("empty", "invalid")] {
            let body = submission(&id(&service, "questionnaire", name), &json!({}), &json!({}));
            let refused = nora.post("/answers/sync", &body).await.is(422);
            assert_eq!(refused.body["error_details"][0]["code"], code);
            assert_eq!(refused.body["error_details"][0]["field"], "questionnaire");
        }
    }
}

#[tokio::test]
async fn the_shape_of_a_submission_is_checked_at_both_endpoints() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let poll = id(&service, "questionnaire", "poll");
        let good = submission(&poll, &json!({}), &json!({}));
        let without = |pointer: &str| {
            let mut body = good.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            body.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
            body
        };
        let with = |pointer: &str, value: Value| {
            let mut body = good.clone();
            *body.pointer_mut(pointer).unwrap() = value;
            body
        };
        for (body, sentence) in [
            (without("/meta"), "meta required"),
            (with("/meta", json!([])), "meta required"),
            (without("/data"), "data required"),
            (with("/meta", json!({"client_ip": "1.2.3"})), "client_ip is invalid"),
            (with("/meta", json!({"anonymous": 1})), "anonymous must be a boolean"),
            (with("/meta", json!({"locale": "de"})), "Locale is not available"),
            (with("/data/type", json!("x")), "data.type must be questionnaire_response"),
            (with("/data/attributes/answers", json!([])), "answers must be an object"),
            (without("/data/relationships/questionnaire"), "relationships.questionnaire required"),
            (
                with("/data/relationships/questionnaire/data/id", json!("")),
                "relationships.questionnaire required",
            ),
            (json!({"x": 1}), "Unknown key: x"),
        ] {
            nora.post("/answers/sync", &body).await.refuses(400, sentence);
            nora.post("/answers", &body).await.refuses(400, sentence);
        }
        let elsewhere = submission("99999999", &json!({}), &json!({}));
        nora.post("/answers/sync", &elsewhere).await.refuses(404, "Resource not found");
        let hidden = submission(&id(&service, "questionnaire", "hidden"), &json!({}), &json!({}));
        nora.post("/answers/sync", &hidden).await.refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn a_submission_can_be_a_job() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let poll = id(&service, "questionnaire", "poll");
        let answers = sound(&service, &nora).await;
        let meta = json!({"locale": "fr", "client_ip": "203.0.113.42"});
        let accepted = nora.post("/answers", &submission(&poll, &answers, &meta)).await.is(202);
        let id = accepted.body["job_id"].as_str().unwrap().to_owned();
        assert_eq!(accepted.data()["id"], *id);
        assert_eq!(accepted.data()["attributes"], json!({"status": "pending"}));
        assert_eq!(accepted.header("retry-after"), "2");
        assert_eq!(accepted.header("location"), accepted.data()["links"]["self"]["href"].as_str().unwrap());
        let job = nora.finished(&accepted).await;
        assert_eq!(job["command_key"], "forms/answers#create");
        let response = job["data"]["questionnaire_response_id"].as_i64().unwrap();
        assert_eq!(job["return_value"], job["data"]);
        let path = format!("/submission_requests/{id}");
        let shown = nora.get(&path).await.is(200);
        assert!(shown.body.get("job_id").is_none());
        assert_eq!(shown.data()["attributes"], json!({"status": "completed"}));
        let result = shown.data()["links"]["result"]["href"].as_str().unwrap();
        assert!(result.ends_with(&format!("/questionnaire_responses/{response}")), "{result}");
        let tag = shown.header("etag").to_owned();
        nora.send(reqwest::Method::GET, &path, &[("if-none-match", &tag)], None).await.is(304);
        let stored = nora.get(&format!("/questionnaire_responses/{response}")).await.is(200);
        assert!(stored.data()["attributes"]["client_ip"].is_string());
        assert!(!stored.text.contains("203.0.113.42"));
        let failed = nora
            .post("/answers", &submission(&poll, &json!({}), &json!({"client_ip": "203.0.113.42"})))
            .await
            .is(202);
        assert_eq!(nora.finished(&failed).await["error_class"], "ValidationError");
        let path = format!("/submission_requests/{}", failed.body["job_id"].as_str().unwrap());
        let shown = nora.get(&path).await.is(200);
        assert_eq!(shown.data()["attributes"]["status"], "failed");
        assert_eq!(shown.data()["attributes"]["errors"][0]["code"], "blank");
        let text = shown.data()["attributes"]["error_description"].as_str().unwrap();
        assert!(text.starts_with("Answer cannot be blank"), "{text}");
        for strange in ["x", "00000000-0000-0000-0000-000000000000"] {
            nora.get(&format!("/submission_requests/{strange}")).await.refuses(404, "Resource not found");
        }
        if let Some(path) = service.database.url().strip_prefix("sqlite://") {
            let mut connection = SqliteConnection::establish(path).unwrap();
            let kept = sql::<BigInt>("SELECT count(*) FROM jobs WHERE payload LIKE '%203.0.113%'");
            assert_eq!(
                kept.get_result::<i64>(&mut connection),
                Ok(0),
                "the address is removed from ended jobs"
            );
        }
        nora.delete(&format!("/jobs/{id}")).await.is(204);
        nora.get(&format!("/submission_requests/{id}")).await.refuses(404, "Resource not found");
    }
}
