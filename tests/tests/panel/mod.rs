//! The administration panel over HTTP, without scripts (contract 04 §1 to §3), on both engines.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod administrators;
mod attachments;
mod audit;
mod clients;
mod erasure;
mod inputs;
mod key_changes;
mod login_locks;
mod lost_updates;
mod meetings;
mod operations;
mod organizations;
mod permissions;
mod posts;
mod rate_limits;
mod routes;
mod second_factor;
mod sign_in;
mod sign_in_sources;
mod space_pages;
mod survey_questions;
mod surveys;
mod times;
mod tokens;
mod two_administrators;
mod webhooks;

use civitas_tests::Service;
use civitas_tests::panel::PanelClient;

/// A server on each engine, with an administrator who is signed in.
async fn panels() -> Vec<(Service, PanelClient)> {
    with_administrators(Service::on_both_engines().await).await
}

/// These servers, each with an administrator who is signed in.
async fn with_administrators(services: Vec<Service>) -> Vec<(Service, PanelClient)> {
    let mut panels = Vec::new();
    for service in services {
        let panel = service.administrator().await;
        panels.push((service, panel));
    }
    panels
}

/// The path of the pages of the first city.
fn city(service: &Service) -> String {
    format!("/system/organizations/{}", service.id("organization", "city"))
}

/// Signs in with wrong passwords, one after another: at once, some would be 429.
async fn fail_to_sign_in(service: &Service, email: &str, times: usize) {
    for _ in 0..times {
        service.visitor().sign_in(email, "wrong").await.is(422);
    }
}

/// The number at the end of a path.
fn id(path: &str) -> i64 {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

/// The ids of the records on a page of a list, each of whose rows has two links to its page.
async fn listed(panel: &PanelClient, list: &str, query: &str) -> Vec<i64> {
    let links = panel.get(&format!("{list}?{query}")).await.is(200).attributes("a", "href");
    let paths = links.iter().filter(|path| path.starts_with(&format!("{list}/")));
    paths.filter_map(|path| path.strip_suffix("/edit")).step_by(2).map(id).collect()
}

/// A form that was read before another change is refused and keeps its text.
async fn refuses_a_late_form(panel: &PanelClient, path: &str, field: &str) {
    let late = panel.edit(path).await.set(field, "Late");
    panel.send(&panel.edit(path).await.set(field, "First")).await.is(302);
    let refused = panel.send(&late).await.is(422).shows("Somebody else changed this record");
    assert_eq!(refused.form(path).values(field), ["Late"]);
}

/// The pages and acts of a record of the city are not found below another organization.
async fn is_of_the_city_alone(
    service: &Service,
    panel: &PanelClient,
    own: &str,
    pages: &[&str],
    acts: &[&str],
) {
    let [city, town] = [service.id("organization", "city"), service.id_in("town", "organization", "town")];
    let foreign = own.replace(&format!("/organizations/{city}/"), &format!("/organizations/{town}/"));
    for page in pages {
        panel.get(&format!("{own}/{page}")).await.is(200);
        panel.get(&format!("{foreign}/{page}")).await.is(404);
    }
    for act in acts {
        panel.act("POST", &format!("{foreign}/{act}"), &[]).await.is(404);
    }
    panel.act("PUT", &foreign, &[]).await.is(404);
    panel.act("DELETE", &foreign, &[]).await.is(404);
    let (list, _) = foreign.rsplit_once('/').unwrap();
    panel.get(list).await.is(200).lacks(&format!("{foreign}/edit"));
}
