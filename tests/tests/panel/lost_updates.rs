//! Forms that were opened with an earlier state of a record, and forms with one state that are sent at the same moment.

use civitas_panel::Panel;
use civitas_tests::panel::{Form, SamplePage, sample_pages};
use futures_util::future::join_all;

const CHANGED: &str = "Somebody else changed this record meanwhile";
/// The number of forms that are sent at the same moment.
const AT_ONCE: usize = 4;
/// How often they are sent: two forms need not meet.
const ROUNDS: usize = 4;

/// Whether a form changes a record that is stored, by its fields.
fn is_edit(form: &Form) -> bool {
    let others = ["/system/api_permissions", "/system/account/preferences"];
    form.values("_method") == ["put"] || others.contains(&form.action.as_str())
}

/// Whether a path is one of this route.
fn is_of(route: &str, path: &str) -> bool {
    let pairs = || route.split('/').zip(path.split('/'));
    route.split('/').count() == path.split('/').count()
        && pairs().all(|(known, own)| known.starts_with('{') || known == own)
}

#[tokio::test]
async fn no_form_overwrites_a_record_that_changed_after_the_form_was_opened() {
    for (service, panel) in super::panels().await {
        let mut actions = Vec::new();
        for page in sample_pages(&service, &panel).await {
            for form in panel.get(&page.path).await.is(200).forms().into_iter().filter(is_edit) {
                let revision = form.values("revision").concat();
                assert!(!revision.is_empty(), "the form to {} sends no revision", form.action);
                actions.push(form.action.clone());
                panel.send(&form.replace("revision", "1")).await.is(422).shows(CHANGED);
            }
        }
        let routes = Panel::routes().into_iter().filter(|(method, _)| method == "PUT");
        let unseen: Vec<&str> = routes
            .map(|(_, route)| route)
            .filter(|route| !actions.iter().any(|own| is_of(route, own)))
            .collect();
        assert!(unseen.is_empty(), "no page has a form to {unseen:?}");
    }
}

/// Changes a field by the form of a page, several times at the same moment.
async fn changes_once(panel: &civitas_tests::panel::PanelClient, page: &SamplePage, field: &str) {
    for round in 0..ROUNDS {
        let opened = panel.get(&page.path).await.is(200).forms().into_iter();
        let opened = opened.filter(is_edit).find(|form| form.typed_fields().iter().any(|own| own == field));
        let opened = opened.unwrap_or_else(|| panic!("no field {field} in {}", page.path));
        let mut forms = Vec::new();
        for number in 0..AT_ONCE {
            let text = match field {
                "admin[email]" => format!("round{round}.{number}@riverton.example"),
                "extended_data" => format!(r#"{{"round": {round}, "number": {number}}}"#),
                _ => format!("More light on street {round} of {number}"),
            };
            forms.push(opened.clone().set(field, &text).replace("authenticity_token", &panel.token().await));
        }
        let sent = join_all(forms.iter().map(|form| panel.send(form))).await;
        let stored = sent.iter().filter(|page| page.status == 302).count();
        assert_eq!(stored, 1, "{field}, round {round}: {:?}", sent.iter().map(|page| page.status));
        for refused in sent.into_iter().filter(|page| page.status != 302) {
            refused.is(422).shows(CHANGED);
        }
    }
}

#[tokio::test]
async fn of_two_forms_with_one_state_that_are_sent_at_the_same_moment_one_is_stored() {
    let organization = "/system/organizations/{id}";
    let fields = [
        ("/edit", "organization[reference_prefix]"),
        ("/extended_data", "extended_data"),
        ("/users/{uid}/edit", "user[name]"),
        ("/spaces/{manifest}/{sid}/edit", "space[title][en]"),
        ("/spaces/{manifest}/{sid}/steps/{step}/edit", "step[title][en]"),
        ("/components/{cid}/edit", "component[name][en]"),
        ("/components/{cid}/states/{state}/edit", "state[title][en]"),
        ("/proposals/{pid}/edit", "proposal[title][en]"),
        ("/surveys/{vid}/edit", "survey[title][en]"),
        ("/surveys/{vid}", "question[body][en]"),
        ("/attachments/{aid}/edit", "attachment[title][en]"),
        ("/meetings/{mid}/edit", "meeting[title][en]"),
        ("/posts/{bid}/edit", "post[title][en]"),
    ];
    let fields = fields.map(|(route, field)| (format!("{organization}{route}"), field));
    let fields = fields.into_iter().chain([("/system/admins/{id}/edit".to_owned(), "admin[email]")]);
    let fields: Vec<(String, &str)> = fields.collect();
    for (service, panel) in super::panels().await {
        let pages = sample_pages(&service, &panel).await;
        for (route, field) in &fields {
            let page = pages.iter().find(|page| page.route == route);
            changes_once(&panel, page.unwrap_or_else(|| panic!("no page of {route}")), field).await;
        }
    }
}

#[tokio::test]
async fn a_form_that_is_refused_for_another_reason_keeps_the_state_it_was_opened_with() {
    for (service, panel) in super::panels().await {
        let pages = sample_pages(&service, &panel).await;
        let page = pages.iter().find(|page| page.route.ends_with("/meetings/{mid}/edit")).unwrap();
        let path = page.path.trim_end_matches("/edit");
        let opened = async || panel.get(&page.path).await.is(200).form(path);
        let first = opened().await.set("meeting[title][en]", "Mine");
        panel.send(&opened().await.set("meeting[title][en]", "Theirs")).await.is(302);
        let refused = panel.send(&first.set("meeting[start_time]", "soon")).await.is(422).lacks(CHANGED);
        let again = refused.form(path).set("meeting[start_time]", "2027-01-10T18:00");
        let refused = panel.send(&again).await.is(422).shows(CHANGED);
        assert_eq!(opened().await.values("meeting[title][en]"), ["Theirs"]);
        panel.send(&refused.form(path)).await.is(302);
        assert_eq!(opened().await.values("meeting[title][en]"), ["Mine"], "after the refusal it overwrites");
    }
}
