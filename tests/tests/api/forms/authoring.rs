use super::{id, questionnaire, services, sound, submit};
use reqwest::Method;
use serde_json::{Value, json};

fn question(poll: &str, attributes: &Value) -> Value {
    json!({"data": {"type": "questions", "attributes": attributes,
        "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": poll}}}}})
}

#[tokio::test]
async fn a_questionnaire_keeps_its_new_texts() {
    for service in services().await {
        let (machine, nora) = (service.machine().await, service.user("norablum").await);
        let path = questionnaire(&service, "poll");
        let poll = id(&service, "questionnaire", "poll");
        let body = |attributes: Value| json!({"data": {"type": "questionnaires", "id": poll, "attributes": attributes}});
        let sync = format!("{path}/sync");
        let changed = machine
            .put(&sync, &body(json!({"title": {"en": "Mobility 2026"}, "tos": {"en": "<p>T</p>"}})))
            .await
            .is(200);
        assert_eq!(changed.data()["attributes"]["title"], "Mobility 2026");
        assert_eq!(machine.get(&path).await.is(200).data(), changed.data());
        let same = machine.put(&sync, &body(json!({}))).await.is(200);
        assert_eq!(same.data(), changed.data());
        let accepted = machine
            .send(
                Method::PATCH,
                &format!("{path}?locale=fr"),
                &[],
                Some(&body(json!({"title": {"en": "B", "fr": "C"}}))),
            )
            .await
            .is(202);
        let job = machine.finished(&accepted).await;
        assert_eq!(job["command_key"], "forms/questionnaires#update");
        assert_eq!(job["data"]["data"]["attributes"]["title"], "C");
        assert_eq!(job["data"]["data"]["meta"]["locale"], "fr", "a job keeps the language of its request");
        for (body, sentence) in [
            (
                json!({"data": {"type": "x", "id": poll, "attributes": {}}}),
                "data.type must be questionnaires",
            ),
            (
                json!({"data": {"type": "questionnaires", "id": "1234567", "attributes": {}}}),
                "data.id does not match",
            ),
            (body(json!({"x": 1})), "Unknown key: data.attributes.x"),
            (body(json!({"title": {"en": " "}})), "Title cannot be blank"),
            (
                json!({"data": {"type": "questionnaires", "id": poll}}),
                "param is missing or the value is empty or invalid: attributes",
            ),
        ] {
            machine.put(&sync, &body).await.refuses(400, sentence);
        }
        nora.put(&sync, &body(json!({}))).await.refuses(403, "Forbidden");
        nora.put(&path, &body(json!({}))).await.refuses(403, "Forbidden");
        service.user("member_one").await.put(&sync, &body(json!({}))).await.is(200);
        service.user("maryadmin").await.put(&sync, &body(json!({}))).await.is(200);
        machine
            .put("/questionnaires/99999999/sync", &body(json!({})))
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn questions_are_added_changed_and_deleted_at_once_or_as_a_job() {
    for service in services().await {
        let machine = service.machine().await;
        let poll = id(&service, "questionnaire", "poll");
        let attributes = json!({"position": 20, "mandatory": false, "question_type": "multiple_option",
            "body": {"en": "More?"}, "description": {"en": "Up to 3"}, "max_choices": 3});
        let changed_at =
            machine.get(&questionnaire(&service, "poll")).await.is(200).data()["attributes"]["updated_at"]
                .clone();
        let created = machine.post("/questions/sync", &question(&poll, &attributes)).await.is(201);
        let after =
            machine.get(&questionnaire(&service, "poll")).await.is(200).data()["attributes"]["updated_at"]
                .clone();
        assert_ne!(changed_at, after, "the projection changed");
        let path = format!("/questions/{}", created.data()["id"].as_str().unwrap());
        let expected = json!({"position": 20, "mandatory": false, "body": {"en": "More?"},
            "description": {"en": "Up to 3"}, "max_choices": 3, "max_characters": 0, "question_type": "multiple_option"});
        assert_eq!(created.data()["attributes"], expected);
        assert_eq!(
            created.body["meta"],
            json!({"locale": "en", "requested_locale": "en", "fallback_from": null})
        );
        assert_eq!(machine.get(&path).await.is(200).body, created.body);
        let update = |attributes: Value| json!({"data": {"type": "questions", "attributes": attributes}});
        let switched = machine
            .put(&format!("{path}/sync"), &update(json!({"question_type": "short_answer"})))
            .await
            .is(200);
        assert_eq!(switched.data()["attributes"]["max_choices"], Value::Null);
        machine
            .put(&format!("{path}/sync"), &update(json!({"max_choices": 2})))
            .await
            .refuses(400, "Unknown key: data.attributes.max_choices");
        let job = machine.put(&path, &update(json!({"position": 0, "description": null}))).await.is(202);
        let job = machine.finished(&job).await;
        assert_eq!(
            (
                &job["data"]["data"]["attributes"]["position"],
                &job["data"]["data"]["attributes"]["description"]
            ),
            (&json!(0), &Value::Null)
        );
        let listed = machine.get(&format!("/questions?questionnaire_id={poll}&per_page=100")).await.is(200);
        assert_eq!(listed.ids().len(), 11);
        assert_eq!(listed.data()[1]["id"], created.data()["id"]);
        assert_eq!(listed.body["meta"]["requested_locale"], "en");
        let job = machine.post("/questions", &question(&poll, &attributes)).await.is(202);
        assert_eq!(machine.finished(&job).await["data"]["data"]["type"], "questions");
        let job = machine.delete(&path).await.is(202);
        assert_eq!(machine.finished(&job).await["status"], "completed");
        machine.delete(&format!("{path}/sync")).await.refuses(404, "Resource not found");
        machine.get("/questions").await.refuses(400, "filter[questionnaire_id] required");
        let nora = service.user("norablum").await;
        nora.get(&format!("/questions?questionnaire_id={poll}")).await.refuses(403, "Forbidden");
        let elsewhere = question("99999999", &attributes);
        machine.post("/questions/sync", &elsewhere).await.refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn bodies_of_questions_follow_their_variant() {
    for service in services().await {
        let machine = service.machine().await;
        let poll = id(&service, "questionnaire", "poll");
        let of = |extra: Value| {
            let mut attributes = json!({"position": 1, "mandatory": true, "question_type": "short_answer", "body": {"en": "A"}});
            attributes.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            question(&poll, &attributes)
        };
        for (extra, sentence) in [
            (json!({"max_choices": 1}), "Unknown key: data.attributes.max_choices"),
            (
                json!({"question_type": "long_answer", "max_choices": 1}),
                "Unknown key: data.attributes.max_choices",
            ),
            (
                json!({"question_type": "sorting", "max_characters": 1}),
                "Unknown key: data.attributes.max_characters",
            ),
            (json!({"question_type": "separator"}), "question_type is not included in the list"),
            (json!({"question_type": "essay"}), "question_type is not included in the list"),
            (json!({"position": -1}), "position must be 0 or more"),
            (json!({"position": null}), "param is missing or the value is empty or invalid: position"),
            (json!({"position": [1]}), "position must be an integer"),
            (json!({"mandatory": "perhaps"}), "mandatory must be a boolean"),
            (json!({"body": {"fr": "B"}}), "Body cannot be blank"),
            (json!({"question_type": "sorting", "max_choices": 0}), "max_choices must be 1 or more"),
        ] {
            machine.post("/questions/sync", &of(extra)).await.refuses(400, sentence);
        }
        let mut alone = of(json!({}));
        alone["data"].as_object_mut().unwrap().remove("relationships");
        machine.post("/questions/sync", &alone).await.refuses(400, "relationships.questionnaire required");
        let locked = format!("/questions/{}/sync", id(&service, "question", "text"));
        let refused = machine
            .put(&locked, &json!({"data": {"attributes": {"question_type": "long_answer"}}}))
            .await
            .is(422);
        assert_eq!(
            (&refused.body["error_details"][0]["code"], &refused.body["error_details"][0]["field"]),
            (&json!("locked"), &json!("question_type"))
        );
        let other = json!({"data": {"attributes": {}, "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": "1"}}}}});
        machine.put(&locked, &other).await.refuses(400, "relationships.questionnaire does not match");
    }
}

#[tokio::test]
async fn options_belong_to_questions_with_choices() {
    for service in services().await {
        let machine = service.machine().await;
        let one = id(&service, "question", "one");
        let body =
            |text: &str| json!({"data": {"type": "answer_options", "attributes": {"body": {"en": text}}}});
        let list = format!("/answer_options?filter[question_id]={one}");
        let created = machine
            .post(&format!("/answer_options/sync?filter[question_id]={one}"), &body("Tram"))
            .await
            .is(201);
        assert_eq!(
            created.data()["relationships"]["question"]["data"],
            json!({"id": one, "type": "questions"})
        );
        let job = machine.post(&list, &body("Boat")).await.is(202);
        let boat = machine.finished(&job).await["data"]["data"]["id"].clone();
        let listed = machine.get(&list).await.is(200);
        assert_eq!(listed.ids().len(), 4);
        assert_eq!(listed.data()[3]["id"], boat);
        let path = format!("/answer_options/{}", created.data()["id"].as_str().unwrap());
        let changed = machine.put(&format!("{path}/sync"), &body("Trams")).await.is(200);
        assert_eq!(changed.data()["attributes"]["body"], json!({"en": "Trams"}));
        machine.put(&format!("{path}/sync"), &body(" ")).await.refuses(400, "Body cannot be blank");
        machine.get(&path).await.refuses(404, "Route not found");
        machine.delete(&format!("{path}/sync")).await.is(204);
        machine.get("/answer_options").await.refuses(400, "filter[question_id] required");
        machine.post("/answer_options/sync", &body("A")).await.refuses(400, "filter[question_id] required");
        let text = id(&service, "question", "text");
        let refused =
            machine.post(&format!("/answer_options/sync?question_id={text}"), &body("A")).await.is(400);
        assert_eq!(refused.body["error_details"][0]["field"], "question_id");
        let bus = id(&service, "answer_option", "bus");
        machine.delete(&format!("/answer_options/{bus}/sync")).await.is(204);
        let shown = machine.get(&questionnaire(&service, "poll")).await.is(200);
        let rule = &shown.data()["attributes"]["ui"]["elements"][3]["rule"]["condition"]["schema"];
        assert_eq!(*rule, json!({"not": {}}), "the condition never holds");
        service.user("norablum").await.get(&list).await.refuses(403, "Forbidden");
    }
}

#[tokio::test]
async fn deleting_a_question_takes_its_answers_and_a_response_without_answers() {
    for service in services().await {
        let (machine, luis) = (service.machine().await, service.user("luisortega").await);
        let path = format!("/questionnaire_responses/{}", service.id("questionnaire_response", "r1"));
        let answers = luis
            .get(&format!("/answers?questionnaire_id={}", id(&service, "questionnaire", "poll")))
            .await
            .is(200)
            .ids();
        let lowest = *answers.iter().min().unwrap();
        machine.delete(&format!("/questions/{}/sync", id(&service, "question", "text"))).await.is(204);
        luis.get(&path).await.refuses(404, "Resource not found");
        let left = answers.iter().filter(|id| **id != lowest).min().unwrap();
        let shown = luis.get(&format!("/questionnaire_responses/{}", answers[0])).await.is(200);
        assert_eq!(shown.data()["id"], left.to_string(), "the lowest id that is left");
        for name in ["one", "many", "order", "grid", "table", "long", "upload"] {
            machine.delete(&format!("/questions/{}/sync", id(&service, "question", name))).await.is(204);
        }
        luis.get(&format!("/questionnaire_responses/{}", answers[0]))
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn a_deleted_response_may_be_given_again() {
    for service in services().await {
        let (machine, nora) = (service.machine().await, service.user("norablum").await);
        let answers = sound(&service, &nora).await;
        let stored = submit(&service, &nora, &answers, &json!({})).await.is(201);
        submit(&service, &nora, &answers, &json!({})).await.is(422);
        let path = format!("/questionnaire_responses/{}/sync", stored.data()["id"].as_str().unwrap());
        machine.delete(&path).await.is(204);
        submit(&service, &nora, &answers, &json!({})).await.is(201);
    }
}
