use civitas_kernel::MeetingId;
use civitas_meetings::Meeting;
use civitas_tests::replace;
use civitas_tests::service::{CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Meetings of every kind, for `city.test`; `§` is its ref. A meeting without more begins on 1 April and is open.
const MEETINGS: &str = r#"
{"type": "api_client", "ref": "reader", §, "client_id": "id_city_reader", "client_secret": "key_city_reader", "name": "Reader", "scopes": ["public", "oauth", "proposals", "blogs", "meetings", "roles"], "permissions": ["oauth.impersonate", "meetings.read"]}
{"type": "role", "ref": "moderator", §, "user": "luisortega", "kind": "space_moderator", "space": "council"}
{"type": "component", "ref": "agenda", §, "space": "streets", "manifest": "meetings", "name": {"en": "Agenda", "fr": "Ordre du jour"}, "published_at": "2026-01-05T09:00:00Z", "updated_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "planned", §, "space": "streets", "manifest": "meetings", "name": {"en": "Planned"}}
{"type": "component", "ref": "sessions", §, "space": "council", "manifest": "meetings", "name": {}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "rounds", §, "space": "circle", "manifest": "meetings", "name": {"en": "Rounds"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "meeting", "ref": "kickoff", §, "component": "agenda", "title": {"en": "Kick-off", "fr": "Lancement"}, "description": {"en": "Come and meet us."}, "start_time": "2026-04-01T17:00:00Z", "end_time": "2026-04-01T19:00:00Z", "extended_data": {"room": {"floor": 2}}, "created_at": "2026-02-01T10:00:00Z", "updated_at": "2026-02-02T10:00:00Z", ¶}
{"type": "meeting", "ref": "walk", §, "component": "agenda", "title": {"en": "Walk"}, "start_time": "2026-03-01T08:00:00Z", "withdrawn_at": "2026-02-03T00:00:00Z", ¶}
{"type": "meeting", "ref": "tie", §, "component": "agenda", "title": {}, "start_time": "2026-04-01T17:00:00Z", ¶}
{"type": "meeting", "ref": "talk", §, "component": "meetings", "title": {"en": "Talk"}, "start_time": "2026-05-01T17:00:00Z", ¶}
{"type": "meeting", "ref": "secret", §, "component": "agenda", "title": {"en": "Secret"}, "start_time": "2026-04-02T17:00:00Z", "private": true, "registrations": ["norablum"], ¶}
{"type": "meeting", "ref": "glass", §, "component": "agenda", "title": {"en": "Glass"}, "start_time": "2026-04-03T17:00:00Z", "private": true, "transparent": true, ¶}
{"type": "meeting", "ref": "session", §, "component": "sessions", "title": {"en": "Session"}, "start_time": "2026-04-04T17:00:00Z", "private": true, ¶}
{"type": "meeting", "ref": "round", §, "component": "rounds", "title": {"en": "Round"}, "start_time": "2026-04-05T17:00:00Z", ¶}
{"type": "meeting", "ref": "early", §, "component": "planned", "title": {"en": "Early"}, "start_time": "2026-04-06T17:00:00Z", ¶}
{"type": "meeting", "ref": "unpublished", §, "component": "agenda", "title": {"en": "Unpublished"}, "start_time": "2026-04-07T17:00:00Z", "registrations": ["norablum"]}
{"type": "meeting", "ref": "moderated", §, "component": "agenda", "title": {"en": "Hidden"}, "start_time": "2026-04-08T17:00:00Z", "hidden_at": "2026-02-03T00:00:00Z", "registrations": ["norablum"], ¶}
{"type": "meeting", "ref": "deleted", §, "component": "agenda", "title": {"en": "Deleted"}, "start_time": "2026-04-09T17:00:00Z", "deleted_at": "2026-02-03T00:00:00Z", "registrations": ["norablum"], ¶}
{"type": "page", "ref": "page-1", §, "component": "pages", "title": {}}
{"type": "page", "ref": "page-2", §, "component": "pages", "title": {}, "hidden_at": "2026-02-03T00:00:00Z"}
{"type": "debate", "ref": "debate-1", §, "component": "debates", "title": {}}
{"type": "debate", "ref": "debate-2", §, "component": "debates", "title": {}}
"#;

fn archive() -> String {
    let of_city = MEETINGS.replace('§', r#""organization": "city""#);
    format!("{CITIES}{}", of_city.replace('¶', r#""published_at": "2026-02-01T10:00:00Z""#))
}

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&archive(), &[]).await
}

/// The ids of these meetings.
fn ids(service: &Service, names: &[&str]) -> Vec<i64> {
    names.iter().map(|name| service.id("meeting", name)).collect()
}

/// What becomes of a meeting.
type Edit = fn(Meeting) -> Meeting;

/// Changes a meeting as the platform does.
async fn change(service: &Service, name: &str, edit: Edit) {
    let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
    let (meetings, id) = (service.store.meetings(), MeetingId(service.id("meeting", name)));
    let meeting = meetings.find(organization, id).await.unwrap().unwrap();
    replace(meetings, organization, id, &edit(meeting)).await.unwrap();
}

#[tokio::test]
async fn a_meeting_has_the_shape_of_the_contract() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let (id, component) = (service.id("meeting", "kickoff"), service.id("component", "agenda"));
        let space = service.id("space", "streets").to_string();
        let of_component = json!({"component_id": component.to_string(), "component_manifest": "meetings",
            "space_id": space, "space_manifest": "participatory_processes", "action_method": "GET"});
        let mut of_meeting = of_component.clone();
        of_meeting["resource_id"] = json!(id.to_string());
        let base = "https://city.test/api/rest_full/v0.3/meetings";
        let link = |href: String, title: &str, meta: &Value| {
            json!({"href": href, "title": title,
            "rel": "resource", "meta": meta})
        };
        let expected = json!({
            "id": id.to_string(), "type": "meeting",
            "attributes": {
                "created_at": "2026-02-01T10:00:00Z", "updated_at": "2026-02-02T10:00:00Z",
                "title": {"en": "Kick-off", "fr": "Lancement"}, "description": {"en": "Come and meet us."},
                "start_time": "2026-04-01T17:00:00Z", "end_time": "2026-04-01T19:00:00Z",
                "extended_data": {"room": {"floor": 2}},
            },
            "relationships": {
                "space": {"data": {"id": space, "type": "participatory_processes"}},
                "component": {"data": {"id": component.to_string(), "type": "meeting_component"}},
            },
            "links": {
                "self": link(format!("{base}/{id}"), "Meetings Details", &of_meeting),
                "collection": link(base.to_owned(), "Meetings List", &of_meeting),
                "related": link(format!("https://city.test/public/components/{component}"), "Agenda", &of_component),
            },
        });
        assert_eq!(*nora.get(&format!("/meetings/{id}")).await.is(200).data(), expected);
        let listed = nora.get(&format!("/meetings?filter[id]={id}")).await.is(200);
        assert_eq!(*listed.data(), json!([expected]), "the list tells the same");

        let walk = nora.get(&format!("/meetings/{}", service.id("meeting", "walk"))).await.is(200);
        assert_eq!(walk.data()["attributes"]["end_time"], Value::Null);
        let french = nora.get(&format!("/meetings/{id}?locales[]=fr")).await.is(200);
        let attributes = &french.data()["attributes"];
        assert_eq!(attributes["title"], json!({"fr": "Lancement"}));
        assert_eq!(attributes["description"], json!({}));
        assert_eq!(french.data()["links"]["related"]["title"], "Agenda", "titles of links do not follow");
        let luis = service.user("luisortega").await;
        let session = luis.get(&format!("/meetings/{}", service.id("meeting", "session"))).await.is(200);
        assert_eq!(session.data()["links"]["related"]["title"], "Related component");
        nora.get("/meetings?locales[]=de").await.refuses(400, "Not allowed locales: de");
        nora.get(&format!("/meetings/{id}?locales[]=de")).await.refuses(400, "Not allowed locales: de");
    }
}

/// Asserts that a client sees these meetings and no others, in the list and one by one.
async fn sees(service: &Service, client: &Client, expected: &[&str]) {
    let listed = client.get("/meetings?per_page=100").await.is(200).ids();
    assert_eq!(listed, ids(service, expected));
    let all = service.refs["city"]["meeting"].as_object().unwrap();
    for name in all.keys() {
        let status = if expected.contains(&name.as_str()) { 200 } else { 404 };
        client.get(&format!("/meetings/{}", service.id("meeting", name))).await.is(status);
    }
}

#[tokio::test]
async fn private_meetings_are_for_the_registered_for_roles_in_the_space_and_for_administrators() {
    for service in services().await {
        sees(
            &service,
            &service.user("norablum").await,
            &["walk", "kickoff", "tie", "secret", "glass", "talk"],
        )
        .await;
        sees(
            &service,
            &service.user("luisortega").await,
            &["walk", "kickoff", "tie", "glass", "session", "talk"],
        )
        .await;
        sees(
            &service,
            &service.user("member_one").await,
            &["walk", "kickoff", "tie", "glass", "round", "talk"],
        )
        .await;
        let all = ["walk", "kickoff", "tie", "secret", "glass", "session", "round", "early", "talk"];
        sees(&service, &service.user("maryadmin").await, &all).await;
        sees(&service, &service.machine().await, &all).await;
    }
    let nobody_in_charge = archive().replace(r#""admin": true"#, r#""admin": false"#);
    for service in Service::on_both_engines_with(&nobody_in_charge, &[]).await {
        sees(&service, &service.machine().await, &["walk", "kickoff", "tie", "glass", "talk"]).await;
    }
}

#[tokio::test]
async fn a_meeting_of_another_organization_is_as_a_missing_one() {
    for service in services().await {
        let town = service.user_through("town", "full", "norablum").await;
        assert_eq!(town.get("/meetings").await.is(200).ids(), [] as [i64; 0]);
        let foreign = town.get(&format!("/meetings/{}", service.id("meeting", "kickoff"))).await.is(404);
        let missing = town.get("/meetings/99999999").await.refuses(404, "Resource not found");
        assert_eq!(foreign.text, missing.text);
        let nora = service.user("norablum").await;
        let invisible = nora.get(&format!("/meetings/{}", service.id("meeting", "session"))).await.is(404);
        assert_eq!(invisible.text, missing.text);
        let within = format!("component_id={}", service.id("component", "agenda"));
        assert_eq!(town.get(&format!("/meetings?{within}")).await.is(200).ids(), [] as [i64; 0]);
    }
}

#[tokio::test]
async fn meetings_come_by_their_start_and_then_by_id_in_either_direction() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let list = async |query: &str| nora.get(&format!("/meetings?{query}")).await.is(200);
        let up = ids(&service, &["walk", "kickoff", "tie", "secret", "glass", "talk"]);
        let down = ids(&service, &["talk", "glass", "secret", "kickoff", "tie", "walk"]);
        assert_eq!(list("").await.ids(), up);
        assert_eq!(list("order=start_time&order_direction=asc").await.ids(), up);
        assert_eq!(list("order_direction=desc").await.ids(), down);
        let first = list("order_direction=desc&per_page=4").await;
        assert_eq!(first.ids(), down[..4]);
        assert_eq!(first.body["meta"]["has_more"], true);
        let second = list("order_direction=desc&per_page=4&page=2").await;
        assert_eq!(second.ids(), down[4..]);
        assert_eq!(second.body["meta"]["has_more"], false);
        assert_eq!(list("page=9").await.ids(), [] as [i64; 0]);

        let shuffled = list("order=rand").await;
        assert_eq!(shuffled.ids().into_iter().collect::<BTreeSet<_>>(), up.iter().copied().collect());
        assert_eq!(shuffled.body["meta"]["has_more"], true);
        assert_ne!(shuffled.header("etag"), list("order=rand").await.header("etag"));
        let one = format!("/meetings/{}", up[0]);
        for path in ["/meetings", one.as_str()] {
            let asked = async |query: &str| nora.get(&format!("{path}?{query}")).await;
            asked("order=published_at").await.refuses(400, "Unknown order published_at");
            asked("order=asc").await.refuses(400, "Unknown order asc");
            asked("order_direction=up").await.refuses(400, "Unknown order direction up");
        }
    }
}

#[tokio::test]
async fn spaces_and_components_narrow_the_list_and_the_show() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let list = async |query: &str| nora.get(&format!("/meetings?{query}")).await.is(200).ids();
        let (agenda, streets) = (service.id("component", "agenda"), service.id("space", "streets"));
        let in_streets = ids(&service, &["walk", "kickoff", "tie", "secret", "glass"]);
        assert_eq!(list("space_manifest=conferences").await, ids(&service, &["talk"]));
        assert_eq!(
            list(&format!("space_manifest=participatory_processes&space_id={streets}")).await,
            in_streets
        );
        assert_eq!(list(&format!("component_id={agenda}")).await, in_streets);
        let nothing: [i64; 0] = [];
        assert_eq!(list("space_id=99999").await, nothing);
        for component in ["planned", "rounds", "ideas"] {
            let query = format!("component_id={}", service.id("component", component));
            assert_eq!(list(&query).await, nothing, "{component}");
        }
        let id = service.id("meeting", "kickoff");
        for (query, status) in [
            (format!("component_id={agenda}"), 200),
            (format!("space_manifest=participatory_processes&space_id={streets}"), 200),
            ("component_id=99999".to_owned(), 404),
            ("space_manifest=assemblies".to_owned(), 404),
            ("space_id=99999".to_owned(), 404),
        ] {
            nora.get(&format!("/meetings/{id}?{query}")).await.is(status);
        }
        for path in ["/meetings".to_owned(), format!("/meetings/{id}")] {
            let asked = async |query: &str| nora.get(&format!("{path}?{query}")).await;
            asked("space_manifest=towns").await.refuses(400, "manifest not supported: towns");
            asked("space_id=x").await.refuses(400, "Invalid value for space_id");
            asked("component_id=1.5").await.refuses(400, "Invalid value for component_id");
        }
    }
}

#[tokio::test]
async fn meetings_are_filtered_by_number_and_by_extended_data_for_who_may_read_it() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let reader = service.user_through("city", "reader", "norablum").await;
        let list = async |query: &str| nora.get(&format!("/meetings?{query}")).await.is(200).ids();
        let id = service.id("meeting", "kickoff");
        assert_eq!(list("filter[extended_data_cont]=%22floor%22:2").await, [id]);
        assert_eq!(list("filter[extended_data_cont]=fl%25r").await, [] as [i64; 0]);
        assert_eq!(list("filter[extended_data_cont]=").await.len(), 6);
        assert_eq!(list(&format!("filter[id_in][]={id}")).await, [id]);
        assert_eq!(list(&format!("filter[id_not_eq]={id}")).await.len(), 5);
        let asked = async |query: &str| nora.get(&format!("/meetings?{query}")).await;
        asked("filter[id]=x").await.refuses(400, "Invalid value for filter id");
        asked("filter[address]=x").await.refuses(400, "Unknown filter: address");
        asked("filter[extended_data_eq]=x").await.refuses(400, "Unknown filter: extended_data_eq");
        for query in ["filter[extended_data_cont]=", "filter[extended_data_cont]=x"] {
            reader.get(&format!("/meetings?{query}")).await.refuses(403, "Forbidden");
        }

        // Without the ability a meeting is the same but for its data; filters are nothing to a show.
        let seen = reader.get(&format!("/meetings/{id}?filter[extended_data_cont]=x")).await.is(200);
        let mut expected = nora.get(&format!("/meetings/{id}")).await.is(200).data().clone();
        expected["attributes"].as_object_mut().unwrap().remove("extended_data");
        assert_eq!(*seen.data(), expected);
        assert_eq!(
            *reader.get(&format!("/meetings?filter[id]={id}")).await.is(200).data(),
            json!([expected])
        );
    }
}

#[tokio::test]
async fn validators_follow_the_meeting_its_component_and_who_asks() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let show = format!("/meetings/{}", service.id("meeting", "kickoff"));
        let others = [
            service.user("luisortega").await,
            service.user_through("city", "second", "norablum").await,
            service.machine().await,
        ];
        for path in [show.as_str(), "/meetings"] {
            let tag = nora.get(path).await.is(200).header("etag").to_owned();
            let seen = [("if-none-match", tag.as_str())];
            nora.send(Method::GET, path, &seen, None).await.is(304);
            for other in &others {
                other.send(Method::GET, path, &seen, None).await.is(200);
            }
            for query in ["locales[]=en", "space_manifest=participatory_processes"] {
                nora.send(Method::GET, &format!("{path}?{query}"), &seen, None).await.is(200);
            }
        }
        let french = nora.get(&format!("{show}?locales[]=fr&locales[]=en")).await.is(200);
        let turned = nora.get(&format!("{show}?locales=en,fr")).await.is(200);
        assert_eq!(french.header("etag"), turned.header("etag"));

        let changes: [(&str, Edit); 2] = [
            ("the text", |m| Meeting { title: m.description.clone(), ..m }),
            ("the end", |m| Meeting { end_time: None, ..m }),
        ];
        for (what, edit) in changes {
            let before = [nora.get(&show).await.is(200), nora.get("/meetings").await.is(200)];
            change(&service, "kickoff", edit).await;
            for (path, before) in [show.as_str(), "/meetings"].into_iter().zip(&before) {
                let seen = [("if-none-match", before.header("etag"))];
                let after = nora.send(Method::GET, path, &seen, None).await.is(200);
                assert_ne!(after.body, before.body, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn a_list_that_lost_a_meeting_is_not_taken_for_unchanged() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let changes: [(&str, Edit); 3] = [
            ("secret", |m| Meeting { registrations: BTreeSet::new(), ..m }),
            ("glass", |m| Meeting { transparent: false, ..m }),
            ("tie", |m| Meeting { hidden_at: m.published_at, ..m }),
        ];
        for (name, edit) in changes {
            let before = nora.get("/meetings").await.is(200);
            let known = [("if-modified-since", before.header("last-modified"))];
            // These times are whole seconds; one that is not over tells nothing.
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            nora.send(Method::GET, "/meetings", &known, None).await.is(304);
            change(&service, name, edit).await;
            let after = nora.send(Method::GET, "/meetings", &known, None).await.is(200);
            assert_eq!(after.ids().len() + 1, before.ids().len(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_component_names_the_meetings_its_reader_sees() {
    for service in services().await {
        let named = async |client: &Client, component: &str| {
            let id = service.id("component", component);
            let found = client.get(&format!("/components/search?filter[id]={id}")).await.is(200);
            let resources = found.data()[0]["relationships"]["resources"].clone();
            (resources, found.header("etag").to_owned())
        };
        let of = |names: &[&str]| {
            let data: Vec<_> = ids(&service, names)
                .into_iter()
                .map(|id| json!({"id": id.to_string(), "type": "meetings"}))
                .collect();
            json!({"data": data, "meta": {"count": names.len()}})
        };
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let mary = service.user("maryadmin").await;
        let (seen, tag) = named(&nora, "agenda").await;
        assert_eq!(seen, of(&["kickoff", "walk", "tie", "secret", "glass"]), "by id");
        assert_eq!(named(&luis, "agenda").await.0, of(&["kickoff", "walk", "tie", "glass"]));
        assert_eq!(named(&nora, "sessions").await.0, of(&[]));
        assert_eq!(named(&luis, "sessions").await.0, of(&["session"]));
        assert_eq!(named(&mary, "planned").await.0, of(&["early"]));
        change(&service, "secret", |m| Meeting { registrations: BTreeSet::new(), ..m }).await;
        let (seen, later) = named(&nora, "agenda").await;
        assert_eq!(seen, of(&["kickoff", "walk", "tie", "glass"]));
        assert_ne!(tag, later);

        for (component, kind, names) in
            [("pages", "page", vec!["page-1"]), ("debates", "debate", vec!["debate-1", "debate-2"])]
        {
            let data: Vec<_> = names
                .iter()
                .map(|name| json!({"id": service.id(kind, name).to_string(), "type": component}))
                .collect();
            let expected = json!({"data": data, "meta": {"count": names.len()}});
            assert_eq!(named(&luis, component).await.0, expected);
        }
        assert_eq!(named(&luis, "budgets").await.0, json!({"data": [], "meta": {"count": 0}}));
    }
}

#[tokio::test]
async fn meetings_are_only_read_and_only_where_they_are_switched_on() {
    let off = super::switched_off(&archive(), "meetings_enabled");
    for service in Service::on_both_engines_with(&off, &[]).await {
        for path in ["/meetings", "/meetings/1"] {
            service.anonymous().get(path).await.refuses(501, "Not implemented");
        }
        service.machine().await.get("/meetings").await.refuses(501, "Not implemented");
        service.machine().await.get("/proposals").await.is(200);
        service.user_through("town", "full", "norablum").await.get("/meetings").await.is(200);
    }
    for service in services().await {
        service.anonymous().get("/meetings").await.refuses(401, "Unauthorized access");
        let nora = service.user("norablum").await;
        nora.post("/meetings", &json!({})).await.refuses(404, "Route not found");
        nora.delete("/meetings/1").await.refuses(404, "Route not found");
    }
}
