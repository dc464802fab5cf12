use super::{id, questionnaire, rows, services};
use civitas_tests::service::BASE;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn a_questionnaire_is_projected_to_json_forms() {
    for service in services().await {
        let luis = service.user("luisortega").await;
        let shown = luis.get(&questionnaire(&service, "poll")).await.is(200);
        let (q, o) =
            (|name: &str| id(&service, "question", name), |name: &str| id(&service, "answer_option", name));
        let data = shown.data();
        let (grid, table) = (rows(data, &q("grid")), rows(data, &q("table")));
        let one = |names: &[&str]| names.iter().map(|name| o(name)).collect::<Vec<_>>();
        let mut properties = json!({});
        properties[q("text")] = json!({"type": "string", "title": "How?", "maxLength": 20});
        properties[q("one")] = json!({"type": "string", "title": "Which?", "enum": one(&["bus", "bike"])});
        let list = |names: &[&str]| json!({"type": "string", "enum": one(names)});
        properties[q("many")] = json!({"type": "array", "title": "Lines?", "items": list(&["l1", "l2", "l3"]),
            "uniqueItems": true, "maxItems": 2});
        properties[q("order")] = json!({"type": "array", "title": "Best first", "items": list(&["s1", "s2"]),
            "uniqueItems": true, "minItems": 2, "maxItems": 2});
        let row = |title: &str| json!({"type": "string", "title": title, "enum": one(&["good", "bad"])});
        properties[q("grid")] = json!({"type": "object", "title": "Rate",
            "properties": {&grid[0]: row("Safe"), &grid[1]: row("Clean")}});
        properties[q("table")] = json!({"type": "object", "title": "When", "properties": {&table[0]: {
            "type": "array", "title": "Day", "items": list(&["am", "pm", "eve"]), "uniqueItems": true, "maxItems": 2}}});
        properties[q("long")] = json!({"type": "string", "title": "Why?"});
        properties[q("upload")] = json!({"type": "array", "title": "Photos", "items": {"type": "string"}});
        let schema = &data["attributes"]["schema"];
        assert_eq!(schema["properties"], properties);
        assert_eq!(schema["required"], json!([q("text"), q("one"), q("grid")]));
        let elements = data["attributes"]["ui"]["elements"].as_array().unwrap();
        assert_eq!(elements.len(), 10);
        assert_eq!(elements[0], json!({"type": "Group", "label": "About you", "elements": []}));
        let scope = |name: &str| format!("#/properties/{}", q(name));
        assert_eq!(elements[1], json!({"type": "Control", "scope": scope("text"), "label": "How?"}));
        let choices = json!([{"id": o("bus"), "translations": {"en": "BUS", "fr": "bus (fr)"}},
            {"id": o("bike"), "translations": {"en": "BIKE"}}]);
        assert_eq!(elements[2]["options"], json!({"choices": choices}));
        let equal = json!({"scope": scope("one"), "schema": {"const": o("bus")}, "failWhenUndefined": true});
        assert_eq!(elements[3]["rule"], json!({"effect": "SHOW", "condition": equal}));
        assert_eq!(elements[5]["options"]["matrix"]["rowId"], *grid[0]);
        assert_eq!(elements[7]["options"], json!({"multi": true}));
        let any = &elements[7]["rule"]["condition"];
        assert_eq!(any["type"], "OR");
        assert_eq!(any["conditions"][0]["schema"], json!({"pattern": r"\(Bike"}));
        assert_eq!(any["conditions"][1]["schema"], json!({"minItems": 1}));
        assert_eq!(elements[9], json!({"type": "Label", "text": "Thanks"}));
        assert_eq!(
            data["meta"],
            json!({"locale": "en", "requested_locale": "en", "fallback_from": null,
                "submission": {"allows_anonymous": true, "requires_participant_ip": true}})
        );
        let base = "https://city.test/api/rest_full/v0.3";
        let poll = id(&service, "questionnaire", "poll");
        assert_eq!(
            data["links"]["submit"],
            json!({"href": format!("{base}/answers"), "title": "Submit answers", "rel": "submit",
                "meta": {"action_method": "POST", "questionnaire_id": poll}})
        );
        let questions = format!("{base}/questions?filter%5Bquestionnaire_id%5D={poll}");
        assert_eq!(data["links"]["questions"]["href"], *questions);
    }
}

#[tokio::test]
async fn the_properties_of_a_schema_are_in_the_order_of_positions() {
    for service in services().await {
        let machine = service.machine().await;
        let ids: Vec<_> = ["text", "one", "upload"].map(|name| id(&service, "question", name)).into();
        for (position, question) in ids.iter().rev().enumerate() {
            let body = json!({"data": {"attributes": {"position": position}}});
            machine.put(&format!("/questions/{question}/sync"), &body).await.is(200);
        }
        for path in [questionnaire(&service, "poll"), "/questionnaires".to_owned()] {
            let text = machine.get(&path).await.is(200).text;
            let at = |id: &String| text.find(&format!("\"{id}\":{{\"")).unwrap();
            assert!(ids.iter().rev().map(at).is_sorted(), "{text}");
        }
    }
}

#[tokio::test]
async fn lists_have_what_is_visible_last_changed_first_and_take_filters() {
    for service in services().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        let names = |names: &[&str]| -> Vec<i64> {
            names.iter().map(|name| service.id("questionnaire", name)).collect()
        };
        let seen = names(&["registration", "poll", "late", "empty"]);
        let all = names(&["registration", "poll", "late", "empty", "closed-registration", "hidden"]);
        assert_eq!(nora.get("/questionnaires").await.is(200).ids(), seen);
        assert_eq!(machine.get("/questionnaires").await.is(200).ids(), all);
        let (surveys, days) = (service.id("component", "surveys"), service.id("space", "days"));
        let poll = service.id("questionnaire", "poll");
        for (query, expected) in [
            (format!("filter[questionnaire_id]={poll}"), names(&["poll"])),
            (format!("filter[component_id]={surveys}"), names(&["poll", "late", "empty"])),
            (
                format!("filter[component_id][]={surveys}&filter[component_id][]=1"),
                names(&["poll", "late", "empty"]),
            ),
            (
                format!(
                    "filter[participatory_space_id_in][]={days}&filter[participatory_space_type]=conferences"
                ),
                seen.clone(),
            ),
            ("filter[participatory_space_type]=Platform::Assembly".to_owned(), vec![]),
            (
                format!(
                    "filter[participatory_space_type]=Decidim::Conference&filter[questionnaire_id]={poll}"
                ),
                names(&["poll"]),
            ),
            ("per_page=1&page=2".to_owned(), names(&["poll"])),
        ] {
            assert_eq!(
                nora.get(&format!("/questionnaires?{query}")).await.is(200).ids(),
                expected,
                "{query}"
            );
        }
        for (query, sentence) in [
            ("filter[component_id]=x", "Invalid value for filter component_id"),
            ("filter[title]=x", "Unknown filter: title"),
            ("filter[participatory_space_type]=towns", "Invalid value for filter participatory_space_type"),
        ] {
            nora.get(&format!("/questionnaires?{query}")).await.refuses(400, sentence);
        }
    }
}

#[tokio::test]
async fn what_is_hidden_or_of_another_organization_is_not_found() {
    for service in services().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        let (surveys, poll) = (service.id("component", "surveys"), service.id("questionnaire", "poll"));
        let hidden = service.id("questionnaire", "hidden");
        for path in [
            format!("/questionnaires/{hidden}"),
            format!("/answers?filter[questionnaire_id]={hidden}"),
            format!("/questions?filter[questionnaire_id]={hidden}"),
            format!("/questions/{}", id(&service, "question", "hidden-text")),
            "/questionnaires/x".to_owned(),
        ] {
            nora.get(&path).await.refuses(404, "Resource not found");
        }
        machine.get(&format!("/questionnaires/{hidden}")).await.is(200);
        let town = service.user_through("town", "full", "maryadmin").await;
        town.get(&format!("/questionnaires/{poll}")).await.refuses(404, "Resource not found");
        assert!(town.get("/questionnaires").await.is(200).ids().is_empty());
        let found = nora.get(&format!("/components/search?filter[id_eq]={surveys}")).await.is(200);
        assert_eq!(found.data()[0]["relationships"]["resources"]["meta"]["count"], 3, "{}", found.text);
    }
}

#[tokio::test]
async fn texts_are_in_one_language_which_is_chosen_by_four_rules() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let path = questionnaire(&service, "poll");
        let read = async |query: &str, header: &str| {
            let headers = if header.is_empty() { vec![] } else { vec![("accept-language", header)] };
            nora.send(Method::GET, &format!("{path}{query}"), &headers, None).await
        };
        for (query, header, locale, title) in [
            ("", "", "fr", "Mobilité"),
            ("?locale=en", "fr", "en", "Mobility"),
            ("?locale=fr", "en", "fr", "Mobilité"),
            ("?locale=FR", "", "fr", "Mobilité"),
            ("", "fr-CH, en;q=0.9", "fr", "Mobilité"),
            ("", "de, *", "fr", "Mobilité"),
        ] {
            let shown = read(query, header).await.is(200);
            assert_eq!(shown.data()["attributes"]["title"], title, "{query} {header}");
            let meta = &shown.data()["meta"];
            assert_eq!((&meta["locale"], &meta["requested_locale"]), (&json!(locale), &json!(locale)));
            assert_eq!(shown.header("vary"), "Authorization, Accept-Language");
        }
        let refused = read("?locale=de", "").await.is(400);
        assert_eq!(refused.body["error_details"][0]["code"], "invalid_locale");
        read("?locales[]=xx", "").await.is(200);
        let (english, french) = (read("?locale=en", "").await, read("?locale=fr", "").await);
        assert_ne!(english.header("etag"), french.header("etag"));
        let tag = french.header("etag").to_owned();
        let headers = [("if-none-match", tag.as_str())];
        nora.send(Method::GET, &format!("{path}?locale=fr"), &headers, None).await.is(304);
        nora.send(Method::GET, &format!("{path}?locale=en"), &headers, None).await.is(200);
        let machine = service.machine().await;
        assert_eq!(machine.get(&path).await.is(200).data()["meta"]["locale"], "en", "the organization's");
        let fallback = nora.get(&questionnaire(&service, "empty")).await.is(200);
        assert_eq!(fallback.data()["attributes"]["title"], "Vide");
        assert_eq!(fallback.data()["attributes"]["description"], Value::Null);
    }
}

#[tokio::test]
async fn answers_are_read_by_administrators_and_by_their_respondent() {
    for service in services().await {
        let response = service.id("questionnaire_response", "r1");
        let poll = service.id("questionnaire", "poll");
        let (path, list) = (
            format!("/questionnaire_responses/{response}"),
            format!("/answers?filter[questionnaire_id]={poll}"),
        );
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let (machine, editor) = (service.machine().await, service.user("member_one").await);
        nora.get(&path).await.refuses(404, "Resource not found");
        assert!(nora.get(&list).await.is(200).ids().is_empty());
        let q = |name: &str| id(&service, "question", name);
        for reader in [&luis, &machine, &editor] {
            let shown = reader.get(&path).await.is(200);
            let answers = &shown.data()["attributes"]["answers"];
            assert_eq!(answers[q("text")], "By bike");
            assert_eq!(answers[q("one")], json!([id(&service, "answer_option", "bike")]));
            assert_eq!(answers[q("table")], Value::Null);
            assert_eq!(shown.data()["attributes"]["client_ip"], "120488");
            assert_eq!(shown.data()["meta"]["user"]["id"], id(&service, "user", "luisortega"));
            let listed = reader.get(&list).await.is(200);
            assert_eq!(listed.ids().len(), 7);
            assert_eq!(listed.body["meta"]["locale"], "en");
            let oldest = &listed.data()[6];
            assert_eq!(
                (&oldest["id"], &oldest["attributes"]["body"]),
                (&json!(response.to_string()), &json!("By bike"))
            );
            let by_another = format!("/questionnaire_responses/{}", listed.ids()[0]);
            assert_eq!(reader.get(&by_another).await.is(200).data()["id"], response.to_string());
        }
        nora.get("/answers").await.refuses(400, "filter[questionnaire_id] required");
        machine.get("/answers?questionnaire_id=99999999").await.refuses(404, "Resource not found");
        machine.get("/answers?filter[questionnaire_id]=x").await.is(400);
        let refused = machine.raw(Method::PUT, &format!("{BASE}{path}"), &[], None).await.is(405);
        assert_eq!(
            (refused.header("allow"), &refused.body["error"]),
            ("GET, HEAD, DELETE", &json!("405: Method not allowed"))
        );
        luis.delete(&format!("{path}/sync")).await.refuses(403, "Forbidden");
        let tag = machine.get(&list).await.header("etag").to_owned();
        let job = machine.delete(&path).await.is(202);
        assert_eq!(machine.finished(&job).await["data"], Value::Null);
        machine.get(&path).await.refuses(404, "Resource not found");
        machine.delete(&format!("{path}/sync")).await.refuses(404, "Resource not found");
        let listed = machine.send(Method::GET, &list, &[("if-none-match", &tag)], None).await.is(200);
        assert!(listed.ids().is_empty());
    }
}
