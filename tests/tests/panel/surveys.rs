use civitas_audit::AuditFilter;
use civitas_kernel::PageRequest;
use civitas_tests::panel::{Form, PanelClient};
use civitas_tests::{CITIES, Service};
use serde_json::{Value, json};

/// Questionnaires of the city.
const FORMS: &str = include_str!("../../fixtures/forms.ndjson");

/// A server on each engine, with an administrator who is signed in.
pub(crate) async fn panels() -> Vec<(Service, PanelClient)> {
    super::with_administrators(Service::on_both_engines_with(&format!("{CITIES}{FORMS}"), &[]).await).await
}

fn list(service: &Service) -> String {
    super::city(service) + "/surveys"
}

/// The form of a new survey, filled in.
async fn filled(service: &Service, panel: &PanelClient) -> Form {
    let list = list(service);
    let form = panel.get(&format!("{list}/new")).await.is(200).form(&list);
    let form = form.set("survey[component]", &service.id("component", "surveys").to_string());
    form.set("survey[title][en]", "Benches")
}

pub(crate) fn poll(service: &Service) -> String {
    format!("{}/{}", list(service), service.id("questionnaire", "poll"))
}

async fn audited(service: &Service) -> Vec<String> {
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let page = service.store.audit().list(&AuditFilter::default(), request).await.unwrap();
    page.items.iter().map(|entry| entry.action.as_str().to_owned()).collect()
}

pub(crate) async fn times(service: &Service, action: &str) -> usize {
    audited(service).await.iter().filter(|known| *known == action).count()
}

/// The questionnaire as the interface shows it.
pub(crate) async fn shown(service: &Service, id: impl std::fmt::Display) -> Value {
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
pub(crate) async fn answer(service: &Service, text: &str) -> String {
    answers(service, &[text.to_owned()]).await.remove(0)
}

#[tokio::test]
async fn a_survey_is_created_with_a_question_that_the_interface_shows() {
    for (service, panel) in panels().await {
        let form = filled(&service, &panel).await.set("survey[starts_at]", "2026-01-02T10:30");
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
        let kept = panel.edit(&own).await;
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
        let form = filled(&service, &panel).await;
        let form = form
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
        let edit = async || panel.edit(&own).await;
        let (form, sent) = (edit().await, edit().await);
        let sent = sent.set("survey[title][fr]", "").set("survey[tos][en]", "Terms");
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
        panel.send(&again).await.is(422);
        panel.send(&edit().await.set("survey[title][en]", "Other")).await.is(302);
        assert_eq!(times(&service, "survey.updated").await, 2);
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
        panel.get(&older).await.is(200).shows("3 shown").shows("Luisortega");
        let export = async |format: &str| {
            let form = panel.get(&path).await.is(200).form(&format!("{path}/export/{format}"));
            // The page stays open, so the same form can be sent again.
            panel.send(&form).await.is(200);
            panel.send(&form).await.is(200)
        };
        let csv = export("csv").await;
        let name = format!("responses-{}.csv", service.id("questionnaire", "poll"));
        assert!(csv.header("content-disposition").contains(&name), "{}", csv.header("content-disposition"));
        let text = csv.text.strip_prefix('\u{feff}').expect("a byte order mark, for Excel");
        let lines: Vec<&str> = text.trim_end().split("\r\n").collect();
        assert!(lines[0].starts_with("id,submitted_at,user_id,How?,Which?,"), "{}", lines[0]);
        assert_eq!(lines.len(), 29);
        assert!(
            lines[1].starts_with(&format!("{},", ids[26])) && lines[1].contains(",'=1+26,BUS,"),
            "{}",
            lines[1]
        );
        let ndjson = export("ndjson").await;
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let (first, last) = (ndjson.text.lines().next().unwrap(), ndjson.text.lines().last().unwrap());
        let (first, last) = (read(first), read(last));
        assert_eq!((first["id"].as_str(), &first["user_id"]), (Some(ids[26].as_str()), &Value::Null));
        assert_eq!(first["answers"][service.id("question", "text").to_string()], "=1+26");
        assert_eq!(last["user_id"], service.id("user", "luisortega").to_string());
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
        assert_eq!(found.split_off(1), expected);
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
        panel.get(&format!("{list}?in={meetings}&sort=created")).await.is(200).shows("2 shown");
        let town = service.id_in("town", "organization", "town");
        panel.get(&format!("/system/organizations/{town}/surveys")).await.is(200).shows("No surveys yet");
    }
}
