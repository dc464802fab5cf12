//! A city runs a process in the panel: space, steps, component, webhook, answer, survey; the interface shows each.

use super::{browser, service_with, sign_in};
use crate::browser::driver::Browser;
use civitas_tests::panel::{EMAIL, PASSWORD};
use civitas_tests::{Client, Receiver, Service};
use serde_json::{Value, json};

const EVENT: &str = "participatory_process.step_activated.succeeded";

/// The addresses of the links of a page that end like this, in their order.
async fn links(browser: &Browser, end: &str) -> Vec<String> {
    let script = format!(
        "return [...document.querySelectorAll('main a[href$=\"{end}\"]')].map(a => a.getAttribute('href'))"
    );
    let found = browser.run(&script).await;
    found.as_array().unwrap().iter().map(|href| href.as_str().unwrap().to_owned()).collect()
}

/// A published process with two steps; its path in the panel and its number.
async fn create_process(browser: &Browser, organization: &str) -> (String, String) {
    let spaces = format!("{organization}/spaces");
    browser.open(&format!("{spaces}/new")).await;
    browser.write("space[title][en]", "Lake quarter").await;
    browser.write("space[slug]", "lake-quarter").await;
    browser.submit(&spaces).await;
    let process = browser.path().await;
    let number = process.rsplit('/').next().unwrap().to_owned();
    browser.submit(&format!("{process}/publish")).await;
    for title in ["Ideas", "Voting"] {
        browser.open(&format!("{process}/steps/new")).await;
        browser.write("step[title][en]", title).await;
        browser.submit(&format!("{process}/steps")).await;
    }
    (process, number)
}

/// A published component of this kind; its path in the panel.
async fn create_component(
    browser: &Browser,
    organization: &str,
    process: &str,
    kind: &str,
    name: &str,
) -> String {
    let space = process.split_once("/spaces/").unwrap().1;
    browser.open(&format!("{organization}/components/new?space={space}&manifest={kind}")).await;
    browser.write("component[name][en]", name).await;
    browser.submit(&format!("{organization}/components")).await;
    let edit = links(browser, "/edit").await;
    let components = format!("{organization}/components/");
    let edit = edit.iter().rfind(|href| href.starts_with(&components)).unwrap();
    let component = edit.strip_suffix("/edit").unwrap().to_owned();
    browser.submit(&format!("{component}/publish")).await;
    component
}

/// A survey with one question; its path in the panel and the id of the question.
async fn create_survey(browser: &Browser, organization: &str, component: &str) -> (String, String) {
    let (surveys, component) = (format!("{organization}/surveys"), component.rsplit('/').next().unwrap());
    browser.open(&format!("{surveys}/new")).await;
    browser.click(&format!("[name='survey[component]'] option[value='{component}']")).await;
    browser.write("survey[title][en]", "Life at the lake").await;
    browser.submit(&surveys).await;
    let survey = browser.path().await;
    browser.open(&format!("{survey}?new=short_answer")).await;
    browser.write("question[body][en]", "What is missing?").await;
    browser.submit(&format!("{survey}/questions")).await;
    let edit = links(browser, "#open-question").await.pop().unwrap();
    let question = edit.split_once("question=").unwrap().1.split('#').next().unwrap().to_owned();
    (survey, question)
}

/// A client that reads spaces and receives the activation of steps at the receiver.
async fn create_receiver(service: &Service, browser: &Browser, organization: &str, url: &str) -> Client {
    let id = organization.rsplit('/').next().unwrap();
    browser.open("/system/api_clients/new").await;
    browser.write("system_api_client[name]", "Lake app").await;
    browser.click(&format!("[name='system_api_client[organization_id]'] option[value='{id}']")).await;
    for scope in ["oauth", "proposals", "surveys", "webhooks"] {
        browser.click(&format!("[name='system_api_client[scopes][]'][value={scope}]")).await;
    }
    browser.submit("/system/api_clients").await;
    let (uid, secret) = (browser.find("#once-1").await, browser.find("#once-2").await);
    let (uid, secret) = (uid.value().await, secret.value().await);
    let edit = browser.path().await;
    for ability in [
        "oauth.impersonate",
        "public.space.read",
        "public.component.read",
        "proposals.read",
        "surveys.questionnaires.read",
        "surveys.answers.submit",
        EVENT,
    ] {
        browser.click(&format!("[value='{ability}']")).await;
    }
    browser.submit("/system/api_permissions").await;
    browser.open(&format!("{edit}?tab=webhooks")).await;
    browser.write("webhook_registration_form[url]", url).await;
    browser.click(&format!("[value='{EVENT}']")).await;
    browser.submit("/system/webhook_registrations").await;
    let told = browser.text(".flash").await;
    assert!(told.contains("Webhook registration created successfully"), "{told}");
    let asked = json!({"grant_type": "password", "auth_type": "impersonate", "username": "member_one",
        "client_id": uid, "client_secret": secret, "scope": "public oauth proposals surveys"});
    service.anonymous().with_token(&asked).await
}

fn attribute<'a>(answer: &'a Value, name: &str) -> &'a Value {
    &answer["attributes"][name]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_city_runs_a_process_and_the_interface_shows_each_act() {
    let receiver = Receiver::start().await;
    let service = service_with(&[("webhook_allowed_networks", "127.0.0.0/8")]).await;
    let Some(browser) = browser(&service).await else { return };
    service.add_administrator(EMAIL, PASSWORD).await;
    let organization = format!("/system/organizations/{}", service.id("organization", "city"));
    browser.open("/system/jobs").await;
    sign_in(&browser).await;
    let app = create_receiver(&service, &browser, &organization, &receiver.url("/events")).await;

    let (process, number) = create_process(&browser, &organization).await;
    let shown = app.get(&format!("/spaces/participatory_processes/{number}")).await.is(200);
    assert_eq!(attribute(shown.data(), "title")["en"], "Lake quarter");
    let component =
        create_component(&browser, &organization, &process, "proposals", "Ideas for the lake").await;
    let component_id = component.rsplit('/').next().unwrap().to_owned();
    app.get(&format!("/components/proposal_components/{component_id}")).await.is(200);

    browser.open(&process).await;
    let activate = links(&browser, "/activate").await.pop().unwrap();
    browser.open(&activate).await;
    browser.submit(&activate).await;
    assert!(browser.text(".flash.good strong").await.contains("Voting"));
    let arrived = receiver.wait_for(1).await;
    assert_eq!(arrived[0].event(), EVENT);

    let proposal = service.id("proposal", "p2");
    browser.open(&format!("{organization}/proposals/{proposal}")).await;
    browser.click("[name='answer[state]'][value=accepted]").await;
    browser.click("[name='answer[public]'][value='1']").await;
    browser.submit(&format!("{organization}/proposals/{proposal}/answer")).await;
    let answered = app.get(&format!("/proposals/{proposal}")).await.is(200);
    assert!(answered.data().to_string().contains("accepted"), "{}", answered.data());

    let component = create_component(&browser, &organization, &process, "surveys", "Your opinion").await;
    let (survey, question) = create_survey(&browser, &organization, &component).await;
    let id = survey.rsplit('/').next().unwrap();
    let questionnaire = json!({"data": {"type": "questionnaires", "id": id}});
    let response = json!({"meta": {"anonymous": false}, "data": {"type": "questionnaire_response",
        "attributes": {"answers": {question: "More benches at the lake"}},
        "relationships": {"questionnaire": questionnaire}}});
    app.post("/answers/sync", &response).await.is(201);
    browser.open(&format!("{survey}/responses")).await;
    browser.leave("main th a[href*='/responses/']").await;
    assert!(browser.source().await.contains("More benches at the lake"));
    browser.quit().await;
}
