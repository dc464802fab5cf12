//! Forms that were opened with an earlier state of a record, and forms with one state that are sent at the same moment.

use civitas_panel::Panel;
use civitas_tests::panel::{Form, Page, PanelClient, SamplePage, sample_pages};
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
                panel.send(&form.clone().replace("revision", "1")).await.is(422).shows(CHANGED);
                let none = form.without("revision").replace("authenticity_token", &panel.token().await);
                panel.send(&none).await.is(422).shows(CHANGED);
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

/// The form of a page with another value in a field, which differs for each number: a text, a box or a choice.
fn changed(form: &Form, field: &str, number: usize) -> Form {
    match (field, field.split_once('=')) {
        ("admin[email]", _) => form.clone().set(field, &format!("sample{number}@riverton.example")),
        ("extended_data", _) => form.clone().set(field, &format!(r#"{{"number": {number}}}"#)),
        (_, Some((name, value))) if form.has_box(name, value) => {
            let is_on = form.values(name).iter().any(|own| own == value);
            form.clone().tick(name, value, !is_on)
        }
        (_, Some((name, values))) => {
            let mut others = values.split('|').filter(|value| form.values(name) != [*value]);
            form.clone().set(name, others.next().unwrap())
        }
        _ => form.clone().set(field, &format!("More light on street {number}")),
    }
}

/// Whether a form has a field of [`FIELDS`].
fn has(form: &Form, field: &str) -> bool {
    let (name, value) = field.split_once('=').unwrap_or((field, ""));
    let is_choice = value.contains('|') && !form.values(name).is_empty();
    is_choice || form.has_box(name, value) || form.typed_fields().iter().any(|own| own == name)
}

/// The form of a page that changes a record by this field.
async fn opened(panel: &PanelClient, page: &SamplePage, field: &str) -> Form {
    let forms = panel.get(&page.path).await.is(200).forms();
    let form = forms.into_iter().filter(is_edit).find(|form| has(form, field));
    form.unwrap_or_else(|| panic!("no field {field} in {}", page.path))
}

/// The form to this address of a refused one.
fn again(refused: &Page, form: &Form) -> Form {
    let mut forms = refused.forms().into_iter().filter(is_edit);
    forms.find(|own| own.action == form.action).unwrap()
}

/// The routes of pages with a form of a record, and a field of it: `name=value` is a box, `name=a|b` a choice.
const FIELDS: [(&str, &str); 22] = [
    ("/system/account", "theme=dark|light"),
    ("/system/admins/{id}/edit", "admin[email]"),
    ("/system/api_clients/{id}/edit", "system_api_client[permissions][]=oauth.impersonate"),
    ("/system/organizations/{id}/edit", "organization[reference_prefix]"),
    ("/system/organizations/{id}/edit?tab=api", "organization[features][blogs_enabled]=1"),
    ("/system/organizations/{id}/extended_data", "extended_data"),
    ("/system/organizations/{id}/users/{uid}/edit", "user[name]"),
    ("/system/organizations/{id}/users/{uid}/extended_data", "extended_data"),
    ("/system/organizations/{id}/spaces/{manifest}/{sid}/edit", "space[title][en]"),
    ("/system/organizations/{id}/spaces/{manifest}/{sid}/extended_data", "extended_data"),
    ("/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}/edit", "step[title][en]"),
    ("/system/organizations/{id}/components/{cid}/edit", "component[name][en]"),
    ("/system/organizations/{id}/components/{cid}/extended_data", "extended_data"),
    ("/system/organizations/{id}/components/{cid}/states/{state}/edit", "state[title][en]"),
    ("/system/organizations/{id}/proposals/{pid}/edit", "proposal[title][en]"),
    ("/system/organizations/{id}/proposals/{pid}", "answer[state]=accepted|rejected"),
    ("/system/organizations/{id}/proposals/{pid}/extended_data", "extended_data"),
    ("/system/organizations/{id}/surveys/{vid}/edit", "survey[title][en]"),
    ("/system/organizations/{id}/surveys/{vid}", "question[body][en]"),
    ("/system/organizations/{id}/attachments/{aid}/edit", "attachment[title][en]"),
    ("/system/organizations/{id}/meetings/{mid}/edit", "meeting[title][en]"),
    ("/system/organizations/{id}/posts/{bid}/edit", "post[title][en]"),
];

/// The page of an entry of [`FIELDS`].
fn page_of<'a>(pages: &'a [SamplePage], route: &str) -> &'a SamplePage {
    let (path, tab) = route.split_once('?').unwrap_or((route, ""));
    let found = pages.iter().find(|page| page.route == path && page.path.contains("?tab") != tab.is_empty());
    found.unwrap_or_else(|| panic!("no page of {route}"))
}

#[tokio::test]
async fn of_two_administrators_with_one_state_the_second_is_refused_until_the_page_is_opened_again() {
    for (service, panel) in super::panels().await {
        let other = service.second_administrator().await;
        let pages = sample_pages(&service, &panel).await;
        let mut seen = Vec::new();
        for (number, (route, field)) in FIELDS.into_iter().enumerate() {
            let page = page_of(&pages, route);
            // Preferences are of one account: it has two sessions.
            let other = if route == "/system/account" { &panel } else { &other };
            let (first, second) = (opened(&panel, page, field).await, opened(other, page, field).await);
            seen.push(first.action.clone());
            panel.send(&changed(&first, field, 10 + number)).await.is(302);
            let kept = opened(&panel, page, field).await;
            let second = changed(&second, field, 50 + number);
            let refused = other.send(&second).await.is(422).shows(CHANGED);
            let next = again(&refused, &second);
            assert_eq!(next.values("revision"), second.values("revision"), "{route}");
            other.send(&next).await.is(422).shows(CHANGED);
            let now = opened(&panel, page, field).await;
            assert_eq!(now.values("revision"), kept.values("revision"), "{route}: nothing is stored");
            other.send(&changed(&opened(other, page, field).await, field, 50 + number)).await.is(302);
        }
        let mut unseen = Vec::new();
        for page in &pages {
            let forms = panel.get(&page.path).await.forms().into_iter().filter(is_edit);
            unseen.extend(forms.map(|form| form.action).filter(|action| !seen.contains(action)));
        }
        assert!(unseen.is_empty(), "forms without an entry in FIELDS: {unseen:?}");
    }
}

#[tokio::test]
async fn an_ability_that_was_taken_away_does_not_come_back_with_an_older_form() {
    let ability = "system_api_client[permissions][]=oauth.impersonate";
    for (service, panel) in super::panels().await {
        let other = service.second_administrator().await;
        let pages = sample_pages(&service, &panel).await;
        let page = page_of(&pages, "/system/api_clients/{id}/edit");
        let held = async || {
            let form = opened(&panel, page, ability).await;
            form.values("system_api_client[permissions][]").contains(&"oauth.impersonate".to_owned())
        };
        if !held().await {
            panel.send(&changed(&opened(&panel, page, ability).await, ability, 0)).await.is(302);
        }
        let older = opened(&other, page, ability).await.tick(
            "system_api_client[permissions][]",
            "oauth.login",
            false,
        );
        panel.send(&changed(&opened(&panel, page, ability).await, ability, 0)).await.is(302);
        let mut form = older;
        for _ in 0..3 {
            let refused = other.send(&form).await.is(422).shows(CHANGED);
            form = again(&refused, &form);
            assert!(!held().await);
        }
    }
}

/// Changes a field by the form of a page, several times at the same moment.
async fn changes_once(panel: &PanelClient, page: &SamplePage, field: &str) {
    for round in 0..ROUNDS {
        let opened = opened(panel, page, field).await;
        let mut forms = Vec::new();
        for number in 0..AT_ONCE {
            let form = changed(&opened, field, 10 * round + number);
            forms.push(form.replace("authenticity_token", &panel.token().await));
        }
        let sent = join_all(forms.iter().map(|form| panel.send(form))).await;
        let statuses: Vec<u16> = sent.iter().map(|page| page.status).collect();
        assert_eq!(
            statuses.iter().filter(|status| **status == 302).count(),
            1,
            "{field}, {round}: {statuses:?}"
        );
        for refused in sent.into_iter().filter(|page| page.status != 302) {
            refused.is(422).shows(CHANGED);
        }
    }
}

#[tokio::test]
async fn of_two_forms_with_one_state_that_are_sent_at_the_same_moment_one_is_stored() {
    for (service, panel) in super::panels().await {
        let pages = sample_pages(&service, &panel).await;
        for (route, field) in FIELDS {
            changes_once(&panel, page_of(&pages, route), field).await;
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
        panel.send(&refused.form(path)).await.is(422).shows(CHANGED);
        assert_eq!(opened().await.values("meeting[title][en]"), ["Theirs"]);
    }
}
