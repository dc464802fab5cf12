use civitas_kernel::clock;
use civitas_tests::service::{CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// Posts of every kind, for `city.test`; `§` is its ref.
const POSTS: &str = r#"
{"type": "component", "ref": "notes", §, "space": "streets", "manifest": "blogs", "name": {"en": "Notes"}, "published_at": "2026-01-05T09:00:00Z", "scope_id": 9, "created_at": "2026-01-05T09:00:00Z", "updated_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "secret-blog", §, "space": "circle", "manifest": "blogs", "name": {"en": "Secret"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "post", "ref": "old", §, "component": "news", "title": {"en": "Old", "fr": "Ancien"}, "body": {"en": "<p>Old & good</p>"}, "published_at": "2026-02-01T08:00:00.25Z", "created_at": "2026-01-20T10:00:00Z", "updated_at": "2026-01-21T10:00:00Z"}
{"type": "post", "ref": "new", §, "component": "notes", "title": {"en": "New"}, "body": {"en": "B"}, "author": "norablum", "published_at": "2026-03-01T08:00:00Z"}
{"type": "post", "ref": "tie", §, "component": "news", "title": {"en": "Tie"}, "body": {"en": "B"}, "author": "luisortega", "published_at": "2026-03-01T08:00:00Z"}
{"type": "post", "ref": "draft", §, "component": "news", "title": {"en": "Draft"}, "body": {"en": "B"}, "author": "norablum"}
{"type": "post", "ref": "scheduled", §, "component": "news", "title": {"en": "Later"}, "body": {"en": "B"}, "author": "luisortega", "published_at": "2999-01-01T00:00:00Z"}
{"type": "post", "ref": "deleted", §, "component": "news", "title": {"en": "Gone"}, "body": {"en": "B"}, "published_at": "2026-03-01T08:00:00Z", "deleted_at": "2026-03-02T08:00:00Z"}
{"type": "post", "ref": "hidden", §, "component": "secret-blog", "title": {"en": "Hidden"}, "body": {"en": "B"}, "published_at": "2026-03-01T08:00:00Z"}
{"type": "role", "ref": "editor", §, "user": "member_one", "kind": "space_administrator", "space": "streets"}
"#;

async fn services() -> Vec<Service> {
    let posts = POSTS.replace('§', r#""organization": "city""#);
    Service::on_both_engines_with(&format!("{CITIES}{posts}"), &[]).await
}

fn ids(service: &Service, names: &[&str]) -> Vec<i64> {
    names.iter().map(|name| service.id("post", name)).collect()
}

fn neighbours(post: &Value) -> [Option<i64>; 2] {
    ["next", "prev"].map(|link| {
        let id = post["links"].get(link)?["meta"]["resource_id"].as_str();
        Some(id.unwrap().parse().unwrap())
    })
}

fn body(component: i64, title: &str) -> Value {
    json!({"data": {"component_id": component,
        "attributes": {"title": {"en": title}, "body": {"en": "<p>Text</p>"}}}})
}

#[tokio::test]
async fn a_post_has_the_shape_of_the_contract() {
    for service in services().await {
        let (nora, id) = (service.user("norablum").await, service.id("post", "old"));
        let (news, streets) = (service.id("component", "news"), service.id("space", "streets"));
        let shown = nora.get(&format!("/blogs/{id}?component_id={news}&locales[]=fr")).await.is(200);
        let meta = |resource: Option<i64>| {
            let mut meta = json!({"component_id": news.to_string(), "component_manifest": "blogs",
                "space_id": streets.to_string(), "space_manifest": "participatory_processes", "action_method": "GET"});
            if let Some(id) = resource {
                meta["resource_id"] = json!(id.to_string());
            }
            meta
        };
        let link = |path: &str, title: &str, meta: Value| json!({"href": format!("https://city.test{path}"), "title": title, "rel": "resource", "meta": meta});
        let base = "/api/rest_full/v0.3";
        let tie = service.id("post", "tie");
        let draft = service.id("post", "draft");
        assert_ne!(draft, tie);
        let expected = json!({
            "id": id.to_string(), "type": "blog",
            "attributes": {"title": {"fr": "Ancien"}, "body": {}, "created_at": "2026-01-20T10:00:00Z",
                "updated_at": "2026-01-21T10:00:00Z", "published_at": "2026-02-01T08:00:00.250Z"},
            "relationships": {
                "space": {"data": {"id": streets.to_string(), "type": "participatory_processes"}},
                "component": {"data": {"id": news.to_string(), "type": "blog_component"}}},
            "links": {
                "self": link(&format!("{base}/blogs/{id}"), "Blogs Details", meta(Some(id))),
                "collection": link(&format!("{base}/blogs"), "Blogs List", meta(Some(id))),
                "related": link(&format!("/public/components/{news}"), "News", meta(None)),
                "prev": link(&format!("{base}/blogs/{tie}"), "Previous post", meta(Some(tie)))},
            "meta": {"published": true}
        });
        assert_eq!(shown.data(), &expected);
        let scoped = nora.get(&format!("/blogs/{}", service.id("post", "new"))).await.is(200);
        assert_eq!(scoped.data()["meta"], json!({"published": true, "scope": 9}));
    }
}

#[tokio::test]
async fn drafts_and_scheduled_posts_are_for_their_author_alone() {
    for service in services().await {
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let (machine, admin) = (service.machine().await, service.user("maryadmin").await);
        let published = ids(&service, &["old", "new", "tie"]);
        assert_eq!(
            nora.get("/blogs").await.is(200).ids(),
            [&published[..], &ids(&service, &["draft"])].concat()
        );
        assert_eq!(
            luis.get("/blogs").await.is(200).ids(),
            [&published[..], &ids(&service, &["scheduled"])].concat()
        );
        for client in [&machine, &admin] {
            let listed = client.get("/blogs").await.is(200).ids();
            assert_eq!(listed, ids(&service, &["old", "new", "tie", "hidden"]));
        }
        let descending = nora.get("/blogs?order=published_at&order_direction=desc").await.is(200).ids();
        assert_eq!(descending, ids(&service, &["draft", "new", "tie", "old"]));
        let scheduled = format!("/blogs/{}", service.id("post", "scheduled"));
        assert_eq!(luis.get(&scheduled).await.is(200).data()["meta"]["published"], false);
        for name in ["scheduled", "deleted", "hidden"] {
            let path = format!("/blogs/{}", service.id("post", name));
            nora.get(&path).await.refuses(404, "Resource not found");
        }
        let component = service.id("component", "news");
        let counted = luis.get(&format!("/components/blog_components/{component}")).await.is(200);
        assert_eq!(counted.data()["relationships"]["resources"]["meta"]["count"], 3, "{}", counted.text);
        service.at("town.test").get("/blogs").await.is(401);
    }
}

#[tokio::test]
async fn lists_take_the_parameters_of_the_sheet() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let (notes, streets) = (service.id("component", "notes"), service.id("space", "streets"));
        let listed = async |query: &str| nora.get(&format!("/blogs?{query}")).await.is(200);
        assert_eq!(listed(&format!("component_id={notes}")).await.ids(), ids(&service, &["new"]));
        assert!(listed(&format!("component_id={}", service.id("component", "ideas"))).await.ids().is_empty());
        assert_eq!(listed(&format!("space_id={streets}")).await.ids().len(), 4);
        assert!(listed("space_manifest=assemblies").await.ids().is_empty());
        assert_eq!(listed("filter[state_not_eq]=x&per_page=2").await.ids().len(), 2, "filters are ignored");
        assert!(listed("page=9").await.ids().is_empty());
        let random = listed("order=rand").await;
        assert_eq!((random.ids().len(), &random.body["meta"]["has_more"]), (4, &json!(true)));
        for (query, sentence) in [
            ("order=asc", "Unknown order asc"),
            ("order_direction=up", "Unknown order direction up"),
            ("space_manifest=towns", "manifest not supported: towns"),
            ("locales[]=xx", "Not allowed locales: xx"),
            ("component_id=x", "Invalid value for component_id"),
        ] {
            nora.get(&format!("/blogs?{query}")).await.refuses(400, sentence);
            let path = format!("/blogs/{}?{query}", service.id("post", "old"));
            nora.get(&path).await.refuses(400, sentence);
        }
    }
}

#[tokio::test]
async fn neighbours_are_those_of_the_newest_first() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let [old, new, tie, draft] = ids(&service, &["old", "new", "tie", "draft"])[..] else { panic!() };
        let beside = async |id: i64, query: &str| {
            neighbours(nora.get(&format!("/blogs/{id}?{query}")).await.is(200).data())
        };
        assert_eq!(beside(draft, "").await, [Some(new), None]);
        assert_eq!(beside(new, "").await, [Some(tie), Some(draft)]);
        assert_eq!(beside(tie, "order=rand").await, [Some(old), Some(new)], "as without an order");
        assert_eq!(beside(old, "").await, [None, Some(tie)]);
        assert_eq!(beside(old, "order_direction=asc").await, [Some(new), None]);
        assert_eq!(beside(tie, "order_direction=asc").await, [Some(draft), Some(new)]);
        let notes = service.id("component", "notes");
        assert_eq!(beside(new, &format!("component_id={notes}")).await, [None, None]);
        nora.get(&format!("/blogs/{old}?component_id={notes}")).await.refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn a_post_is_created_changed_and_deleted_at_once_or_as_a_job() {
    for service in services().await {
        let (nora, news) = (service.user("norablum").await, service.id("component", "news"));
        let created = nora.post("/blogs/sync", &body(news, "First")).await.is(201);
        assert_eq!(created.data()["attributes"]["published_at"], Value::Null);
        assert_eq!(created.data()["meta"]["published"], false);
        let path = format!("/blogs/{}", created.data()["id"].as_str().unwrap());
        let update = |attributes: Value| json!({"data": {"type": "blog", "attributes": attributes}});
        let dated = update(json!({"published_at": "2026-03-01T10:00:00+02:00"}));
        let dated = nora.put(&format!("{path}/sync"), &dated).await.is(200);
        assert_eq!(dated.data()["attributes"]["published_at"], "2026-03-01T08:00:00.000Z");
        assert_eq!(dated.data()["attributes"]["title"], json!({"en": "First"}));
        let same = nora.put(&format!("{path}/sync"), &update(json!({}))).await.is(200);
        assert_eq!(same.data(), dated.data(), "nothing changes");
        let accepted = nora.put(&path, &update(json!({"title": {"en": "Second"}}))).await.is(202);
        let job = nora.finished(&accepted).await;
        assert_eq!(
            (&job["command_key"], &job["status"]),
            (&json!("blogs/posts#update"), &json!("completed"))
        );
        assert_eq!(job["data"]["data"]["attributes"]["title"], json!({"en": "Second"}));
        let patched = update(json!({"published_at": null}));
        let accepted = nora.send(Method::PATCH, &path, &[], Some(&patched)).await.is(202);
        let draft = nora.finished(&accepted).await["data"]["data"].clone();
        assert_eq!(draft["attributes"]["published_at"], Value::Null);
        let deleted = nora.delete(&format!("{path}/sync")).await.is(200);
        assert_eq!(deleted.data(), &draft);
        nora.get(&path).await.refuses(404, "Resource not found");
        nora.delete(&path).await.refuses(404, "Resource not found");
        let accepted = nora.post("/blogs", &body(news, "Third")).await.is(202);
        let job = nora.finished(&accepted).await;
        assert_eq!(
            (&job["command_key"], &job["status"]),
            (&json!("blogs/posts#create"), &json!("completed"))
        );
        let path = format!("/blogs/{}", job["data"]["data"]["id"].as_str().unwrap());
        let accepted = nora.delete(&path).await.is(202);
        assert_eq!(nora.finished(&accepted).await["command_key"], "blogs/posts#destroy");
    }
}

#[tokio::test]
async fn bodies_are_closed_and_texts_are_needed_in_the_default_locale() {
    for service in services().await {
        let (nora, news) = (service.user("norablum").await, service.id("component", "news"));
        let create = async |body: Value| nora.post("/blogs/sync", &body).await;
        let of = |attributes: Value| json!({"data": {"component_id": news, "attributes": attributes}});
        for (body, sentence) in [
            (json!({"data": {}, "x": 1}), "Unknown key: x"),
            (json!({"data": {"foo": 1}}), "Unknown key: data.foo"),
            (of(json!({"author": 1})), "Unknown key: data.attributes.author"),
            (json!({}), "param is missing or the value is empty or invalid: data"),
            (json!({"data": {"attributes": {}}}), "component_id required"),
            (
                json!({"data": {"component_id": news}}),
                "param is missing or the value is empty or invalid: attributes",
            ),
            (of(json!({"title": {"en": " "}, "body": {}})), "Title cannot be blank. Body cannot be blank"),
            (of(json!({"title": {"fr": "A"}, "body": {"en": "B"}})), "Title cannot be blank"),
            (of(json!({"title": {"de": "A"}})), "title and body must be objects of texts by language"),
            (of(json!({"published_at": "tomorrow"})), "published_at is not a valid date-time"),
        ] {
            create(body.clone()).await.refuses(400, sentence);
        }
        let blank = create(of(json!({"title": {"en": "A"}}))).await.is(400);
        assert_eq!(blank.body["error"], "400: Invalid request");
        let details = json!([{"code": "blank", "field": "body", "description": "Body cannot be blank"}]);
        assert_eq!(blank.body["error_details"], details);
        let missing = of(json!({"title": {"en": "A"}, "body": null}));
        nora.post("/blogs", &missing).await.refuses(400, "Body cannot be blank");
        nora.post("/blogs", &of(json!({}))).await.refuses(400, "Title cannot be blank. Body cannot be blank");
        nora.post("/blogs", &of(json!({"title": {}, "body": {}}))).await.is(202);
        for other in [service.id("component", "ideas"), service.id("component", "secret-blog"), 987_654] {
            create(body(other, "A")).await.refuses(404, "Resource not found");
        }
        let fallback = json!({"data": {"attributes": {"title": {"en": "A"}, "body": {"en": "B"}}}});
        nora.post(&format!("/blogs/sync?component_id={news}"), &fallback).await.is(201);
        let text = json!({"data": {"component_id": news.to_string(), "attributes": {"title": {"en": "A"}, "body": {"en": "B"},
            "published_at": "2026-03-01T08:00:00"}}});
        let stored = create(text).await.is(201);
        assert_eq!(
            stored.data()["attributes"]["published_at"],
            "2026-03-01T08:00:00.000Z",
            "UTC without an offset"
        );
        let draft = format!("/blogs/{}/sync", service.id("post", "draft"));
        nora.put(&draft, &json!({"data": {"id": "1", "attributes": {}}}))
            .await
            .refuses(400, "id does not match the path");
        nora.put(&draft, &json!({"data": {"component_id": news, "attributes": {}}}))
            .await
            .refuses(400, "Unknown key: data.component_id");
        nora.put(&draft, &json!({"data": {"attributes": {"title": {"fr": "A"}}}}))
            .await
            .refuses(400, "Title cannot be blank");
    }
}

#[tokio::test]
async fn authors_and_administrators_write_and_nobody_else() {
    for service in services().await {
        let update = json!({"data": {"attributes": {"title": {"en": "Changed"}}}});
        let path = |name: &str| format!("/blogs/{}", service.id("post", name));
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        for path in [path("tie"), format!("{}/sync", path("tie"))] {
            nora.put(&path, &update).await.refuses(403, "Forbidden");
            nora.delete(&path).await.refuses(403, "Forbidden");
        }
        luis.put(&format!("{}/sync", path("draft")), &update).await.refuses(404, "Resource not found");
        for editor in ["member_one", "maryadmin"] {
            let editor: Client = service.user(editor).await;
            editor.get(&path("draft")).await.refuses(404, "Resource not found");
            editor.put(&format!("{}/sync", path("draft")), &update).await.is(200);
            editor.put(&format!("{}/sync", path("old")), &update).await.is(200);
        }
        let machine = service.machine().await;
        let create = body(service.id("component", "news"), "A");
        machine.post("/blogs/sync", &create).await.refuses(400, "User required");
        machine.delete(&path("old")).await.refuses(400, "User required");
        for strange in ["x", "12abc", "-1", "999999999999999999999999"] {
            nora.put(&format!("/blogs/{strange}"), &update).await.refuses(404, "Resource not found");
        }
    }
}

#[tokio::test]
async fn a_scheduled_post_is_published_by_the_clock_past_every_validator() {
    for service in services().await {
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let news = service.id("component", "news");
        let before = nora.get("/blogs").await.is(200);
        let mut scheduled = body(news, "Soon");
        let at = clock::now() + Duration::from_millis(1_500);
        let at = at.format(&time::format_description::well_known::Rfc3339).unwrap();
        scheduled["data"]["attributes"]["published_at"] = json!(at);
        let created = luis.post("/blogs/sync", &scheduled).await.is(201);
        let id: i64 = created.data()["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(nora.get("/blogs").await.is(200).ids(), before.ids());
        let seen = nora.get("/blogs").await.is(200);
        tokio::time::sleep(Duration::from_millis(1_700)).await;
        let headers = [("if-none-match", seen.header("etag"))];
        let after = nora.send(Method::GET, "/blogs", &headers, None).await.is(200);
        assert!(after.ids().contains(&id), "the validator matched beyond the publication");
    }
}
