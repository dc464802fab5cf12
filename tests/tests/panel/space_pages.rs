use super::audit::trail;
use super::city;
use civitas_audit::Action;
use civitas_tests::Service;
use serde_json::json;

/// The pages of records with extended data, with the paths of the same data in the interface.
fn owners(service: &Service) -> Vec<(String, Option<String>)> {
    let (city, id) = (city(service), |kind, name| service.id(kind, name));
    let (space, component, proposal) =
        (id("space", "streets"), id("component", "ideas"), id("proposal", "p2"));
    let nora = id("user", "norablum");
    vec![
        (city.clone(), None),
        (format!("{city}/users/{nora}"), None),
        (
            format!("{city}/spaces/participatory_processes/{space}"),
            Some(format!("/spaces/participatory_processes/{space}/extended_data")),
        ),
        (format!("{city}/components/{component}"), Some(format!("/components/{component}/extended_data"))),
        (format!("{city}/proposals/{proposal}"), Some(format!("/proposals/{proposal}/extended_data"))),
        (format!("{city}/proposals/{}", id("proposal", "moderated")), None),
    ]
}

#[tokio::test]
async fn extended_data_is_replaced_on_the_page_of_its_record() {
    for (service, panel) in super::panels().await {
        let machine = service.machine().await;
        for (page, path) in owners(&service) {
            let page = format!("{page}/extended_data");
            let form = panel.get(&page).await.is(200).form(&page);
            let form = form.set("extended_data", r#"{"phone": {"home": "+33"}, "empty": [], "n": 1}"#);
            panel.send(&form).await.leads_to(&page);
            let saved = panel.get(&page).await.is(200).form(&page);
            let stored: serde_json::Value = serde_json::from_str(&saved.values("extended_data")[0]).unwrap();
            assert_eq!(stored, json!({"phone": {"home": "+33"}, "n": 1}), "{page}");
            if let Some(path) = path {
                let read = machine.get(&format!("{path}?object_path=phone")).await.is(200);
                assert_eq!(*read.data(), json!({"home": "+33"}), "{path}");
            }
            let entry = &trail(&service).await[0];
            assert_eq!(entry.action, Action::ExtendedDataUpdated, "{page}");
            // The first form is older than the record now.
            let late = form.replace("extended_data", "{}").without("authenticity_token");
            let late = late.with("authenticity_token", &panel.token().await);
            panel.send(&late).await.is(422).shows("Somebody else changed this record meanwhile.");
            panel.send(&saved.clone().set("extended_data", "{}")).await.leads_to(&page);
            assert_eq!(panel.get(&page).await.is(200).form(&page).values("extended_data"), ["{}"]);
        }
    }
}

#[tokio::test]
async fn what_is_no_object_of_json_is_refused_beside_the_field() {
    let settings = [("max_extended_data_payload_bytes", "100")];
    for service in Service::on_both_engines_with(civitas_tests::CITIES, &settings).await {
        let panel = service.administrator().await;
        let page = format!("{}/extended_data", owners(&service)[4].0);
        let before = trail(&service).await.len();
        let large = format!(r#"{{"a": "{}"}}"#, "x".repeat(100));
        for (typed, problem) in [
            ("{\n \"a\": }", "This is not JSON: line 2, column 7."),
            (r#"{"a": 12345678901234567890123}"#, "A number has more digits than can be stored."),
            ("[1]", "Enter an object: keys and values in braces."),
            (r#"{"a": "\u0000"}"#, "U+0000"),
            (large.as_str(), "The data is too large. Shorten it."),
        ] {
            let form = panel.get(&page).await.is(200).form(&page).set("extended_data", typed);
            let refused = panel.send(&form).await.is(422).shows(problem);
            assert_eq!(refused.form(&page).values("extended_data"), [typed]);
        }
        let own = format!("{}/extended_data", city(&service));
        let form = panel.get(&own).await.is(200).form(&own);
        let form = form.set("extended_data", r#"{"unconfirmed_host": "new.example"}"#);
        panel.send(&form).await.is(422).shows("The key unconfirmed_host can only be removed.");
        assert_eq!(trail(&service).await.len(), before);
        let town = service.id_in("town", "organization", "town");
        let foreign = page.replace(&city(&service), &format!("/system/organizations/{town}"));
        panel.get(&foreign).await.is(404);
        panel.act("PUT", &foreign, &[("extended_data", "{}")]).await.is(404);
    }
}

#[tokio::test]
async fn a_role_is_given_and_taken_on_the_page_of_its_space() {
    for (service, panel) in super::panels().await {
        let (city, space) = (city(&service), service.id("space", "council"));
        let roles = format!("{city}/spaces/assemblies/{space}/roles");
        panel.get(&roles).await.is(200).shows("No roles");
        let form = panel.get(&format!("{roles}/new")).await.is(200).form(&roles);
        let empty = panel.send(&form).await.is(422);
        empty.shows("No person of the organization has this").shows("Choose one.");
        let form = form.set("role[type]", "space_moderator");
        let unknown = panel.send(&form.clone().set("role[person]", "norablu")).await.is(422);
        assert_eq!(unknown.form(&roles).values("role[person]"), ["norablu"]);
        let sent = panel.send(&form.clone().set("role[person]", "@NoraBlum")).await.leads_to(&roles);
        let page = panel.follow(&sent).await.is(200).shows("Norablum has the role.").shows("@norablum");
        let again = panel.get(&format!("{roles}/new")).await.is(200).form(&roles);
        let again = again.set("role[type]", "space_moderator").set("role[person]", "norablum@city.example");
        panel.send(&again).await.is(422).shows("The person already has this role there.");
        let machine = service.machine().await;
        let given = format!("/roles?filter[resource_id]={space}&filter[type]=space_moderator");
        assert_eq!(machine.get(&given).await.is(200).data().as_array().unwrap().len(), 1);
        let start = format!("{roles}/");
        let links = page.attributes("a", "href");
        let own = |href: &&String| href.starts_with(&start) && href.ends_with("/delete");
        let ask = links.iter().find(own).unwrap().clone();
        let role = ask.strip_suffix("/delete").unwrap().to_owned();
        let other = role.replace(
            &format!("/assemblies/{space}/"),
            &format!("/assemblies/{}/", service.id("space", "circle")),
        );
        panel.get(&format!("{other}/delete")).await.is(404);
        let form = panel.get(&ask).await.is(200).shows("Norablum loses the role").form(&role);
        panel.send(&form).await.leads_to(&roles);
        panel.get(&roles).await.is(200).shows("No roles");
        assert_eq!(machine.get(&given).await.is(200).data().as_array().unwrap().len(), 0);
        panel.get(&ask).await.is(404);
        let trail = trail(&service).await;
        let actions: Vec<Action> = trail.iter().map(|entry| entry.action).take(2).collect();
        assert_eq!(actions, [Action::RoleDeleted, Action::RoleCreated]);
        let initiative = service.id("space", "petition");
        panel.get(&format!("{city}/spaces/initiatives/{initiative}/roles")).await.is(404);
    }
}

#[tokio::test]
async fn a_component_moves_to_another_place() {
    for (service, panel) in super::panels().await {
        let (city, space) = (city(&service), service.id("space", "streets"));
        let page = format!("{city}/spaces/participatory_processes/{space}");
        let order = async || {
            let links = panel.get(&page).await.is(200).attributes("a", "href");
            let moves = links.iter().filter_map(|href| href.strip_suffix("/move")).map(str::to_owned);
            moves.collect::<Vec<_>>()
        };
        let before = order().await;
        assert!(before.len() > 2);
        let last = before.last().unwrap().clone();
        let action = format!("{last}/move");
        let form = panel
            .get(&action)
            .await
            .is(200)
            .forms()
            .into_iter()
            .find(|form| !form.values("place").is_empty());
        panel.send(&form.unwrap().set("place", "1")).await.leads_to(&page);
        let first = order().await;
        assert_eq!((&first[0], &first[1..]), (&last, &before[..before.len() - 1]));
        let down = panel.get(&action).await.is(200).forms();
        let down: Vec<_> = down.iter().filter(|form| form.values("way") == ["down"]).collect();
        assert_eq!(down.len(), 1);
        panel.send(down[0]).await.leads_to(&page);
        assert_eq!(order().await[..2], [first[1].clone(), last.clone()]);
        let entry = &trail(&service).await[0];
        assert_eq!(entry.action, Action::ComponentUpdated);
        panel.act("POST", &action, &[("place", "0")]).await.is(422);
        panel.act("POST", &action, &[("place", "many")]).await.is(422);
        let town = service.id_in("town", "organization", "town");
        let foreign = action.replace(&city, &format!("/system/organizations/{town}"));
        panel.get(&foreign).await.is(404);
        panel.act("POST", &foreign, &[("way", "up")]).await.is(404);
    }
}

#[tokio::test]
async fn a_state_of_proposals_is_added_and_changed() {
    for (service, panel) in super::panels().await {
        let (city, component) = (city(&service), service.id("component", "ideas"));
        let states = format!("{city}/components/{component}/states");
        let form = panel.get(&format!("{states}/new")).await.is(200).form(&states);
        let wrong = form.clone().set("state[token]", "In Budget").set("state[bg_color]", "red");
        let refused = panel.send(&wrong).await.is(422).shows("Enter a text.");
        let refused = refused.shows("Enter small letters").shows("Enter a colour such as #c0ffee.");
        assert_eq!(refused.form(&states).values("state[token]"), ["In Budget"]);
        let taken = form.clone().set("state[token]", "accepted").set("state[title][en]", "Yes");
        panel.send(&taken).await.is(422).shows("This value is already used.");
        let form = form.set("state[token]", "in_budget").set("state[title][en]", "In the budget");
        let sent = panel.send(&form).await.leads_to(&states);
        let page = panel.follow(&sent).await.is(200).shows("In the budget is created.").shows("in_budget");
        let links = page.attributes("a", "href");
        let edit = links.iter().rfind(|href| href.starts_with(&states) && href.ends_with("/edit")).unwrap();
        let state = edit.strip_suffix("/edit").unwrap();
        let form = panel.get(edit).await.is(200).shows("in_budget").form(state);
        panel.send(&form.clone().set("state[title][en]", " ")).await.is(422);
        let form = form.set("state[title][fr]", "Au budget").set("state[text_color]", "#fff");
        panel.send(&form).await.leads_to(&states);
        panel.get(&states).await.is(200).shows("#fff");
        let proposal = format!("{city}/proposals/{}", service.id("proposal", "p1"));
        let form = panel.get(&proposal).await.is(200).form(&format!("{proposal}/answer"));
        let form = form.set("answer[state]", "in_budget").set("answer[public]", "1");
        panel.send(&form).await.is(302);
        let machine = service.machine().await;
        let listed = machine.get("/proposals?filter[state]=in_budget").await.is(200).ids();
        assert_eq!(listed, [service.id("proposal", "p1")]);
        let trail = trail(&service).await;
        let actions: Vec<Action> = trail.iter().map(|entry| entry.action).skip(1).take(2).collect();
        assert_eq!(actions, [Action::ProposalStateUpdated, Action::ProposalStateCreated]);
        let other = service.id("component", "cards");
        let foreign = state.replace(&format!("/components/{component}/"), &format!("/components/{other}/"));
        panel.get(&format!("{foreign}/edit")).await.is(404);
        panel.act("PUT", &foreign, &[("state[title][en]", "X")]).await.is(404);
        let news = service.id("component", "news");
        panel.get(&format!("{city}/components/{news}/states")).await.is(404);
    }
}

#[tokio::test]
async fn votes_and_hidden_proposals_are_listed() {
    for (service, panel) in super::panels().await {
        let city = city(&service);
        let (voted, hidden) = (service.id("proposal", "p1"), service.id("proposal", "moderated"));
        let page = panel.get(&format!("{city}/proposals/{voted}/votes")).await.is(200);
        page.shows("Luisortega").shows("Counts");
        let other = service.id("proposal", "p2");
        panel.get(&format!("{city}/proposals/{other}/votes")).await.is(200).shows("No votes yet");
        let own = |id: i64| format!("{city}/proposals/{id}");
        let listed = async |query: &str| {
            let page = panel.get(&format!("{city}/proposals{query}")).await.is(200);
            let links = page.attributes("a", "href");
            [voted, hidden].map(|id| links.contains(&own(id)))
        };
        assert_eq!(listed("").await, [true, false]);
        assert_eq!(listed("?shown=hidden").await, [false, true]);
        let component = service.id("component", "ideas");
        assert_eq!(listed(&format!("?shown=hidden&sort=oldest&in={component}")).await, [false, true]);
        assert_eq!(listed("?shown=hidden&state=accepted").await, [false, false]);
        panel.act("POST", &format!("{}/show", own(hidden)), &[]).await.is(302);
        assert_eq!(listed("?shown=hidden").await, [false, false]);
        let town = service.id_in("town", "organization", "town");
        panel.get(&format!("/system/organizations/{town}/proposals/{voted}/votes")).await.is(404);
    }
}
