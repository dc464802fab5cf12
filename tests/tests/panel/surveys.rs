use civitas_audit::AuditFilter;
use civitas_kernel::PageRequest;
use civitas_tests::panel::{Form, PanelClient};
use civitas_tests::{CITIES, Service};
use serde_json::{Value, json};

/// Questionnaires of the city.
const FORMS: &str = include_str!("../../fixtures/forms.ndjson");

/// A server on each engine, with an administrator who is signed in.
async fn panels() -> Vec<(Service, PanelClient)> {
    let mut panels = Vec::new();
    for service in Service::on_both_engines_with(&format!("{CITIES}{FORMS}"), &[]).await {
        let panel = service.administrator().await;
        panels.push((service, panel));
    }
    panels
}

fn list(service: &Service) -> String {
    format!("/system/organizations/{}/surveys", service.id("organization", "city"))
}

fn poll(service: &Service) -> String {
    format!("{}/{}", list(service), service.id("questionnaire", "poll"))
}

fn question(service: &Service, name: &str) -> String {
    format!("{}/questions/{}", poll(service), service.id("question", name))
}

/// The form of a question of the poll.
async fn open(service: &Service, panel: &PanelClient, name: &str) -> Form {
    let page = format!("{}?question={}", poll(service), service.id("question", name));
    panel.get(&page).await.is(200).form(&question(service, name))
}

async fn audited(service: &Service) -> Vec<String> {
    let request = PageRequest { page: 1, per_page: PageRequest::MAX_LENGTH };
    let page = service.store.audit().list(&AuditFilter::default(), request).await.unwrap();
    page.items.iter().map(|entry| entry.action.as_str().to_owned()).collect()
}

async fn times(service: &Service, action: &str) -> usize {
    audited(service).await.iter().filter(|known| *known == action).count()
}

/// The questionnaire as the interface shows it.
async fn shown(service: &Service, id: impl std::fmt::Display) -> Value {
    service.machine().await.get(&format!("/questionnaires/{id}")).await.is(200).data().clone()
}

/// Responses to the mandatory questions of the poll, with these texts. Returns their ids.
async fn answers(service: &Service, texts: &[String]) -> Vec<String> {
    let id = |kind: &str, name: &str| service.id(kind, name).to_string();
    let (poll, grid) = (id("questionnaire", "poll"), id("question", "grid"));
    let own = shown(service, &poll).await;
    let rows = own["attributes"]["schema"]["properties"][&grid]["properties"].as_object().unwrap().clone();
    let rows: Value = rows.keys().map(|row| (row.clone(), json!(id("answer_option", "good")))).collect();
    let (machine, mut ids) = (service.machine().await, Vec::new());
    for text in texts {
        let mut answers = json!({});
        answers[id("question", "text")] = json!(text);
        answers[id("question", "one")] = json!(id("answer_option", "bus"));
        answers[&grid] = rows.clone();
        let questionnaire = json!({"data": {"type": "questionnaires", "id": poll}});
        let body = json!({"meta": {"anonymous": true}, "data": {"type": "questionnaire_response",
            "attributes": {"answers": answers}, "relationships": {"questionnaire": questionnaire}}});
        let sent = machine.post("/answers/sync", &body).await.is(201);
        ids.push(sent.data()["id"].as_str().unwrap().to_owned());
    }
    ids
}

/// One response with this text.
async fn answer(service: &Service, text: &str) -> String {
    answers(service, &[text.to_owned()]).await.remove(0)
}

#[tokio::test]
async fn a_survey_is_created_with_a_question_that_the_interface_shows() {
    for (service, panel) in panels().await {
        let list = list(&service);
        let form = panel.get(&format!("{list}/new")).await.is(200).form(&list);
        let form = form
            .set("survey[component]", &service.id("component", "surveys").to_string())
            .set("survey[title][en]", "Benches")
            .set("survey[starts_at]", "2026-01-02T10:30");
        let sent = panel.send(&form).await.is(302);
        let own = sent.header("location").to_owned();
        panel.follow(&sent).await.is(200).shows("The survey Benches was created.").shows("No questions yet");
        let page = panel.get(&format!("{own}?new=multiple_option")).await.is(200);
        let form = page.form(&format!("{own}/questions"));
        let form = form
            .set("question[body][en]", "Where?")
            .set("question[max_choices]", "2")
            .set("options[new-1][en]", "Park")
            .set("options[new-3][en]", "Square");
        let sent = panel.send(&form).await.leads_to(&own);
        panel.follow(&sent).await.is(200).shows("Several choices · 2 options · at most 2 choices");
        let id = own.rsplit('/').next().unwrap();
        let attributes = shown(&service, id).await["attributes"].clone();
        let element = &attributes["ui"]["elements"][0];
        assert_eq!((&attributes["title"], &element["label"]), (&json!("Benches"), &json!("Where?")));
        assert_eq!(element["options"]["choices"][1]["translations"], json!({"en": "Square"}));
        let kept = panel.get(&format!("{own}/edit")).await.is(200).form(&own);
        assert_eq!(kept.values("survey[starts_at]"), ["2026-01-02T10:30"]);
        assert_eq!(
            (times(&service, "survey.created").await, times(&service, "survey.updated").await),
            (1, 1)
        );
        // A double click makes one survey.
        panel.send(&form).await.is(403);
    }
}

#[tokio::test]
async fn a_refused_survey_keeps_what_was_typed() {
    for (service, panel) in panels().await {
        let list = list(&service);
        let form = panel.get(&format!("{list}/new")).await.is(200).form(&list);
        let form = form
            .set("survey[component]", &service.id("component", "surveys").to_string())
            .set("survey[title][en]", "Benches")
            .set("survey[tos][fr]", "<p>Règles</p>")
            .set("survey[starts_at]", "2026-05-02T10:30")
            .set("survey[ends_at]", "2026-05-03T10:30");
        let ideas = service.id("component", "ideas").to_string();
        let foreign = service.id_in("town", "component", "surveys").to_string();
        for (field, value) in [
            ("survey[title][en]", " "),
            ("survey[title][en]", "x".repeat(300).as_str()),
            ("survey[ends_at]", "2026-05-01T10:30"),
            ("survey[ends_at]", "tomorrow"),
            ("survey[component]", ""),
            ("survey[component]", &ideas),
            ("survey[component]", &foreign),
        ] {
            let sent = form.clone().replace(field, value);
            let refused = panel.send(&sent).await;
            assert_eq!(refused.status, 422, "{field} = {value:?}");
            let again = refused.form(&list);
            for name in ["survey[tos][fr]", "survey[starts_at]"] {
                assert_eq!(again.values(name), sent.values(name), "{name} after {field} = {value:?}");
            }
        }
        assert_eq!(times(&service, "survey.created").await, 0);
    }
}

#[tokio::test]
async fn texts_and_dates_are_changed_and_only_what_was_changed() {
    for (service, panel) in panels().await {
        let own = poll(&service);
        let form = panel.get(&format!("{own}/edit")).await.is(200).form(&own);
        let sent = form.clone().set("survey[title][fr]", "").set("survey[tos][en]", "Terms");
        panel.send(&sent.set("survey[ends_at]", "2026-01-01T00:00")).await.leads_to(&format!("{own}/edit"));
        let id = service.id("questionnaire", "poll");
        let stored = service.store.questionnaires();
        let city = civitas_kernel::OrganizationId(service.id("organization", "city"));
        let found = stored.find(city, civitas_kernel::QuestionnaireId(id)).await.unwrap().unwrap();
        assert_eq!(serde_json::to_value(&found.title).unwrap(), json!({"en": "Mobility"}));
        assert_eq!(serde_json::to_value(&found.tos).unwrap(), json!({"en": "Terms"}));
        assert_eq!(serde_json::to_value(&found.description).unwrap(), json!({"en": "<p>Ten minutes.</p>"}));
        panel.get(&own).await.is(200).shows("Closed");
        // The first form is of the former state.
        let refused = panel.send(&form.set("survey[title][en]", "Other")).await.is(422);
        let again = refused.shows("Somebody else changed this record meanwhile").form(&own);
        assert_eq!(again.values("survey[title][en]"), ["Other"]);
        panel.send(&again).await.is(302);
        assert_eq!(times(&service, "survey.updated").await, 2);
    }
}

#[tokio::test]
async fn a_question_is_changed_with_its_options_and_conditions() {
    for (service, panel) in panels().await {
        let (l1, l3) = (service.id("answer_option", "l1"), service.id("answer_option", "l3"));
        let form = open(&service, &panel, "many").await;
        assert_eq!(form.values("conditions[0][option]"), [service.id("answer_option", "bus").to_string()]);
        let form = form
            .set("question[body][en]", "Which lines?")
            .set("question[description][en]", "Two at most")
            .tick("question[mandatory]", "1", true)
            .set(&format!("options[{l1}][en]"), "Line 1")
            .tick(&format!("options[{l3}][_destroy]"), "1", true)
            .set("options[new-1][en]", "Line 4")
            .set("conditions[0][type]", "not_equal");
        let more = form.with("_do", "more_options");
        let id = service.id("question", "many");
        let next = format!("{}?question={id}&options=5#options", poll(&service));
        panel.send(&more).await.leads_to(&next);
        let page = panel.get(next.split('#').next().unwrap()).await.is(200);
        assert!(page.form(&question(&service, "many")).values("options[new-5][en]") == [""]);
        let element = shown(&service, service.id("questionnaire", "poll")).await;
        let element = element["attributes"]["ui"]["elements"][3].clone();
        let choices = element["options"]["choices"].as_array().unwrap();
        let texts: Vec<&str> =
            choices.iter().map(|one| one["translations"]["en"].as_str().unwrap()).collect();
        assert_eq!(
            (element["label"].as_str(), texts),
            (Some("Which lines?"), vec!["Line 1", "L2", "Line 4"])
        );
        assert!(element["rule"]["condition"]["schema"]["not"].is_object());
        // A condition without a question is removed.
        let form = open(&service, &panel, "many").await.set("conditions[0][question]", "");
        panel.send(&form).await.is(302);
        let element = shown(&service, service.id("questionnaire", "poll")).await;
        assert!(element["attributes"]["ui"]["elements"][3]["rule"].is_null());
        assert_eq!(times(&service, "survey.updated").await, 2);
    }
}

#[tokio::test]
async fn rows_of_a_matrix_are_added_removed_and_put_in_order() {
    for (service, panel) in panels().await {
        let form = open(&service, &panel, "grid").await;
        let fields = form.typed_fields();
        let first = fields.iter().find(|name| name.starts_with("rows[") && name.ends_with("][en]")).unwrap();
        let first = first.trim_end_matches("[en]").to_owned();
        let form = form
            .set(&format!("{first}[position]"), "9")
            .set("rows[new-1][en]", "Cheap")
            .set("rows[new-1][position]", "1");
        panel.send(&form).await.is(302);
        let rows = async || {
            let own = shown(&service, service.id("questionnaire", "poll")).await;
            let rows = own["attributes"]["ui"]["elements"][5]["options"]["matrix"]["rows"].clone();
            let rows = rows.as_array().unwrap().clone();
            rows.iter().map(|row| row["translations"]["en"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(rows().await, ["Cheap", "Clean", "Safe"]);
        let form = open(&service, &panel, "grid").await.tick(&format!("{first}[_destroy]"), "1", true);
        panel.send(&form).await.is(302);
        assert_eq!(rows().await, ["Cheap", "Clean"]);
        let wrong = open(&service, &panel, "grid")
            .await
            .set("rows[new-1][en]", "x")
            .set("rows[new-1][position]", "0");
        let refused = panel.send(&wrong).await.is(422);
        assert_eq!(refused.form(&question(&service, "grid")).values("rows[new-1][en]"), ["x"]);
    }
}

#[tokio::test]
async fn a_refused_question_keeps_what_was_typed_beside_its_problem() {
    for (service, panel) in panels().await {
        let bus = service.id("answer_option", "bus");
        let form = open(&service, &panel, "many").await;
        let form = form.set("options[new-1][en]", "Kept").set("question[description][en]", "Also kept");
        for (field, value) in [
            ("question[body][en]", ""),
            ("question[max_choices]", "0"),
            ("question[max_choices]", "many"),
            ("question[question_type]", "essay"),
            ("conditions[0][option]", ""),
            ("conditions[0][type]", "like"),
            ("conditions[0][type]", "match"),
            ("conditions[0][question]", "99999999"),
        ] {
            let refused = panel.send(&form.clone().replace(field, value)).await;
            assert_eq!(refused.status, 422, "{field} = {value:?}");
            let again = refused.form(&question(&service, "many"));
            assert_eq!(again.values("options[new-1][en]"), ["Kept"], "{field}");
            assert_eq!(again.values("question[description][en]"), ["Also kept"], "{field}");
        }
        let refused = panel.send(&form.clone().set("options[new-1][en]", &"x".repeat(70_000))).await;
        assert!(refused.status == 422 || refused.status == 302);
        // The option of another question is not changed.
        let foreign = form.with(&format!("options[{bus}][en]"), "Stolen");
        panel.send(&foreign).await;
        let own = shown(&service, service.id("questionnaire", "poll")).await.to_string();
        assert!(own.contains("BUS") && !own.contains("Stolen"));
    }
}

#[tokio::test]
async fn the_type_is_locked_once_there_are_answers() {
    for (service, panel) in panels().await {
        let before = open(&service, &panel, "text").await.set("question[question_type]", "files");
        let id = answer(&service, "By tram").await;
        let form = open(&service, &panel, "text").await;
        assert!(form.values("question[question_type]").is_empty());
        let refused = panel.send(&before).await.is(422);
        refused.shows("The type cannot change: the question has answers.");
        panel.send(&form.set("question[body][en]", "How now?")).await.is(302);
        panel
            .get(&format!("{}/responses/{id}", poll(&service)))
            .await
            .is(200)
            .shows("How now?")
            .shows("By tram");
    }
}

#[tokio::test]
async fn a_question_that_goes_says_what_goes_with_it() {
    for (service, panel) in panels().await {
        answer(&service, "By tram").await;
        let id = service.id("question", "one");
        let page = panel.get(&format!("{}?question={id}", poll(&service))).await.is(200);
        page.shows("The condition of question 4 loses this option and then never holds.");
        let own = question(&service, "one");
        let page = panel.get(&format!("{own}/delete")).await.is(200);
        let page = page.shows("1 answer to the question is deleted").shows("1 condition of another question");
        let form = page.shows("2 options are deleted").form(&own);
        shown(&service, service.id("questionnaire", "poll")).await;
        panel.send(&form).await.leads_to(&poll(&service));
        let own = shown(&service, service.id("questionnaire", "poll")).await;
        assert!(own["attributes"]["schema"]["properties"][id.to_string()].is_null());
        assert!(own["attributes"]["ui"]["elements"][2]["rule"].is_null());
        assert_eq!(times(&service, "survey.updated").await, 1);
        panel.send(&form).await.is(403);
        panel.get(&format!("{}/delete", question(&service, "one"))).await.is(404);
    }
}

#[tokio::test]
async fn a_question_moves_by_one_place_but_not_before_its_condition() {
    for (service, panel) in panels().await {
        let labels = async || {
            let own = shown(&service, service.id("questionnaire", "poll")).await;
            let elements = own["attributes"]["ui"]["elements"].as_array().unwrap().clone();
            let label = |one: &Value| one["label"].as_str().or(one["text"].as_str()).unwrap().to_owned();
            elements.iter().take(4).map(label).collect::<Vec<_>>()
        };
        assert_eq!(labels().await, ["About you", "How?", "Which?", "Lines?"]);
        let shift = async |name: &str, direction: &str| {
            let path = format!("{}/move", question(&service, name));
            panel.act("POST", &path, &[("direction", direction)]).await
        };
        shift("text", "up").await.leads_to(&poll(&service));
        assert_eq!(labels().await, ["How?", "About you", "Which?", "Lines?"]);
        shift("one", "down").await.is(422).shows("cannot come before the question that its condition names");
        shift("many", "up").await.is(422);
        shift("text", "aside").await.is(422);
        shift("text", "up").await.is(302);
        assert_eq!(labels().await, ["How?", "About you", "Which?", "Lines?"]);
        assert_eq!(times(&service, "survey.updated").await, 1);
    }
}

#[tokio::test]
async fn records_of_another_organization_or_questionnaire_are_not_found() {
    for (service, panel) in panels().await {
        let response = answer(&service, "By tram").await;
        let (town, poll) =
            (service.id_in("town", "organization", "town"), service.id("questionnaire", "poll"));
        let (late, text) = (service.id("questionnaire", "late"), service.id("question", "text"));
        let (town, city) = (format!("/system/organizations/{town}/surveys"), list(&service));
        for path in [
            format!("{town}/{poll}"),
            format!("{town}/{poll}/edit"),
            format!("{town}/{poll}/preview"),
            format!("{town}/{poll}/responses"),
            format!("{town}/{poll}/responses/{response}"),
            format!("{town}/{poll}/questions/{text}/delete"),
            format!("{city}/{late}/questions/{text}/delete"),
            format!("{city}/{late}/responses/{response}"),
            format!("{city}/{late}/responses/{response}/delete"),
        ] {
            panel.get(&path).await.is(404);
        }
        for (method, path) in [
            ("PUT", format!("{town}/{poll}")),
            ("POST", format!("{town}/{poll}/questions")),
            ("PUT", format!("{city}/{late}/questions/{text}")),
            ("POST", format!("{city}/{late}/questions/{text}/move")),
            ("DELETE", format!("{city}/{late}/questions/{text}")),
            ("DELETE", format!("{city}/{late}/responses/{response}")),
            ("POST", format!("{town}/{poll}/responses/export/csv")),
            ("POST", format!("{city}/{poll}/responses/export/xml")),
        ] {
            panel.act(method, &path, &[("direction", "up")]).await.is(404);
        }
        panel.get(&format!("{city}/{poll}/responses/{response}")).await.is(200);
    }
}

#[tokio::test]
async fn responses_are_listed_exported_and_deleted() {
    for (service, panel) in panels().await {
        let texts: Vec<String> = (0..27).map(|number| format!("=1+{number}")).collect();
        let ids = answers(&service, &texts).await;
        let path = format!("{}/responses", poll(&service));
        let page = panel.get(&path).await.is(200).shows("25 shown").shows("without account");
        let older = page.attributes("a", "href").into_iter().find(|href| href.contains("older=")).unwrap();
        panel.get(&older).await.is(200).shows("2 shown");
        let export = async |format: &str| {
            let form = panel.get(&path).await.is(200).form(&format!("{path}/export/{format}"));
            // The page stays open, so the same form can be sent again.
            panel.send(&form).await.is(200);
            panel.send(&form).await.is(200)
        };
        let csv = export("csv").await;
        let name = format!("responses-{}.csv", service.id("questionnaire", "poll"));
        assert!(csv.header("content-disposition").contains(&name), "{}", csv.header("content-disposition"));
        let lines: Vec<&str> = csv.text.trim_end().split("\r\n").collect();
        assert!(lines[0].starts_with("id,submitted_at,user_id,How?,Which?,"), "{}", lines[0]);
        assert_eq!(lines.len(), 28);
        assert!(
            lines[1].starts_with(&format!("{},", ids[26])) && lines[1].contains(",'=1+26,BUS,"),
            "{}",
            lines[1]
        );
        let ndjson = export("ndjson").await;
        let last: Value = serde_json::from_str(ndjson.text.lines().last().unwrap()).unwrap();
        assert_eq!((last["id"].as_str(), &last["user_id"]), (Some(ids[0].as_str()), &Value::Null));
        assert_eq!(last["answers"][service.id("question", "text").to_string()], "=1+0");
        assert_eq!(times(&service, "responses.exported").await, 4);
        let own = format!("{path}/{}", ids[0]);
        let form =
            panel.get(&format!("{own}/delete")).await.is(200).shows("3 answers are deleted").form(&own);
        panel.send(&form).await.leads_to(&path);
        panel.get(&own).await.is(404);
        service.machine().await.get(&format!("/questionnaire_responses/{}", ids[0])).await.is(404);
        assert_eq!(times(&service, "response.deleted").await, 1);
    }
}

#[tokio::test]
async fn an_export_of_several_pages_has_every_response_once() {
    for (service, panel) in panels().await {
        let texts: Vec<String> = (0..203).map(|number| number.to_string()).collect();
        let expected = answers(&service, &texts).await;
        let path = format!("{}/responses/export/ndjson", poll(&service));
        let exported = panel.act("POST", &path, &[]).await.is(200);
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
        let mut found: Vec<String> = exported.text.lines().map(id).collect();
        found.reverse();
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn the_preview_is_in_the_language_that_was_chosen() {
    for (service, panel) in panels().await {
        let path = format!("{}/preview", poll(&service));
        let page =
            panel.get(&path).await.is(200).shows("How?").shows("BUS").shows("Displayed under 1 condition");
        assert!(page.attributes("input", "type").contains(&"radio".to_owned()));
        panel.get(&format!("{path}?in=fr")).await.is(200).shows("Comment ?").shows("bus (fr)").shows("BIKE");
        panel.get(&format!("{path}?in=xx")).await.is(200).shows("How?");
    }
}

#[tokio::test]
async fn surveys_are_searched_filtered_and_sorted() {
    for (service, panel) in panels().await {
        let list = list(&service);
        let page = panel.get(&list).await.is(200);
        let page = page.shows("Mobility").shows("Late").shows("Registration").shows("Form of a meeting");
        assert_eq!(page.lacks("No survey matches").status, 200);
        panel.get(&format!("{list}?q=mobil")).await.is(200).shows("1 shown").lacks(">Late<");
        panel.get(&format!("{list}?state=closed")).await.is(200).shows("1 shown").shows("Late");
        panel.get(&format!("{list}?state=planned")).await.is(200).shows("No survey matches");
        let meetings = service.id("component", "meetings");
        panel.get(&format!("{list}?component={meetings}&sort=created")).await.is(200).shows("2 shown");
        let town = service.id_in("town", "organization", "town");
        panel.get(&format!("/system/organizations/{town}/surveys")).await.is(200).shows("No surveys yet");
    }
}
