mod creation;

use civitas_tests::service::{Answer, BASE, CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};

/// Records with attachments of every kind, for `city.test`; `§` is its ref.
const FILES: &str = r#"
{"type": "component", "ref": "secret-ideas", §, "space": "circle", "manifest": "proposals", "name": {"en": "Secret"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "proposal", "ref": "lamps", §, "component": "ideas", "title": {"en": "Lamps"}, "body": {"en": "B"}, "authors": ["norablum"], "published_at": "2026-02-09T09:00:00Z"}
{"type": "proposal", "ref": "sketch", §, "component": "ideas", "title": {"en": "Sketch"}, "body": {"en": "B"}, "authors": ["withpass"]}
{"type": "proposal", "ref": "whisper", §, "component": "secret-ideas", "title": {"en": "Whisper"}, "body": {"en": "B"}, "published_at": "2026-02-09T09:00:00Z"}
{"type": "post", "ref": "item", §, "component": "news", "title": {"en": "Item"}, "body": {"en": "B"}, "author": "norablum", "published_at": "2026-02-01T08:00:00Z"}
{"type": "post", "ref": "unfinished", §, "component": "news", "title": {"en": "Unfinished"}, "body": {"en": "B"}, "author": "norablum"}
{"type": "component", "ref": "talks", §, "space": "streets", "manifest": "meetings", "name": {"en": "Talks"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "meeting", "ref": "kickoff", §, "component": "talks", "title": {"en": "Kick-off"}, "start_time": "2026-04-01T17:00:00Z", "published_at": "2026-02-01T08:00:00Z"}
{"type": "attachment_collection", "ref": "plans", §, "attached_to": {"type": "proposal", "ref": "lamps"}, "name": {"en": "Plans"}, "weight": 1}
{"type": "attachment_collection", "ref": "others", §, "attached_to": {"type": "space", "ref": "streets"}, "name": {"en": "Others"}, "weight": 1}
{"type": "attachment", "ref": "map", §, "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "Map", "fr": "Carte"}, "description": {"en": "All streets"}, "weight": 3, "link": "https://maps.example/streets"}
{"type": "attachment", "ref": "statutes", §, "attached_to": {"type": "organization", "ref": "city"}, "title": {"en": "Statutes"}, "weight": 2, "data": "aGVsbG8gd29ybGQK", "filename": "statutes.txt", "content_type": "text/plain"}
{"type": "attachment", "ref": "plan", §, "attached_to": {"type": "proposal", "ref": "lamps"}, "title": {"en": "Plan"}, "weight": 1, "collection": "plans", "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
{"type": "attachment", "ref": "of-draft", §, "attached_to": {"type": "proposal", "ref": "sketch"}, "title": {"en": "Draft"}, "data": "aGVsbG8gd29ybGQK", "filename": "draft.txt"}
{"type": "attachment", "ref": "secret", §, "attached_to": {"type": "proposal", "ref": "whisper"}, "title": {"en": "Secret"}, "data": "aGVsbG8gd29ybGQK", "filename": "secret.txt"}
{"type": "attachment", "ref": "of-post", §, "attached_to": {"type": "post", "ref": "unfinished"}, "title": {"en": "Post"}, "link": "http://example.org/"}
"#;

/// The bytes of most files here.
const HELLO: &[u8] = b"hello world\n";

async fn services() -> Vec<Service> {
    let files = FILES.replace('§', r#""organization": "city""#);
    Service::on_both_engines_with(&format!("{CITIES}{files}"), &[]).await
}

fn id(service: &Service, name: &str) -> i64 {
    service.id("attachment", name)
}

/// A form with these parts; the file is last.
async fn form(client: &Client, parts: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Answer {
    let mut body = Vec::new();
    for (name, text) in parts {
        body.extend(
            format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n").bytes(),
        );
    }
    if let Some((name, bytes)) = file {
        let head = "content-type: application/octet-stream\r\n\r\n";
        let disposition =
            format!("content-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n{head}");
        body.extend(format!("--b\r\n{disposition}").bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    client.raw(Method::POST, &format!("{BASE}/attachments"), &headers, Some(body)).await
}

fn codes(answer: &Answer) -> Vec<String> {
    let details = answer.body["error_details"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
    let word = |detail: &Value, name: &str| detail[name].as_str().unwrap().to_owned();
    details.iter().map(|d| format!("{} {}", word(d, "field"), word(d, "code"))).collect()
}

#[tokio::test]
async fn an_attachment_has_the_shape_of_the_contract() {
    for service in services().await {
        let machine = service.machine().await;
        let link = machine.get(&format!("/attachments/{}", id(&service, "map"))).await.is(200);
        let mut attributes = link.data()["attributes"].clone();
        let times = ["created_at", "updated_at"].map(|name| attributes.as_object_mut().unwrap().remove(name));
        assert!(times.iter().all(|time| time.as_ref().is_some_and(|t| t.as_str().unwrap().len() == 20)));
        let expected = json!({"title": {"en": "Map", "fr": "Carte"}, "description": {"en": "All streets"},
            "weight": 3, "attachment_collection_id": null, "file_type": "link",
            "content_type": "text/uri-list", "url": "https://maps.example/streets", "thumbnail_url": null,
            "attached_to": {"type": "Platform::ParticipatoryProcess", "id": service.id("space", "streets")}});
        assert_eq!(attributes, expected);
        assert_eq!(link.data()["type"], "attachment");
        let plan = machine.get(&format!("/attachments/{}?locales[]=fr", id(&service, "plan"))).await.is(200);
        let plan = &plan.data()["attributes"];
        assert_eq!((&plan["file_type"], &plan["content_type"]), (&json!("document"), &json!("text/plain")));
        assert_eq!(plan["attachment_collection_id"], service.id("attachment_collection", "plans"));
        let url = plan["url"].as_str().unwrap();
        assert!(url.starts_with("https://city.test/files/") && url.ends_with("/plan.txt"), "{url}");
        for path in ["/attachments/sync", "/attachments/x", "/attachments/987654321", "/attachments/-1"] {
            machine.get(path).await.refuses(404, "Resource not found");
        }
        let foreign = service.user_through("town", "full", "norablum").await;
        foreign
            .get(&format!("/attachments/{}", id(&service, "map")))
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn lists_show_what_the_reader_sees_by_weight_and_take_every_filter() {
    for service in services().await {
        let ids = |names: &[&str]| names.iter().map(|name| id(&service, name)).collect::<Vec<_>>();
        let (nora, other) = (service.user("norablum").await, service.user("withpassword").await);
        let machine = service.machine().await;
        let list = async |client: &Client, query: &str| {
            client.get(&format!("/attachments?{query}")).await.is(200).ids()
        };
        let mut own = ids(&["of-post", "plan", "statutes", "map"]);
        assert_eq!(list(&nora, "").await, own);
        own[0] = id(&service, "of-draft");
        assert_eq!(list(&other, "").await, own);
        assert_eq!(list(&machine, "").await, ids(&["secret", "plan", "statutes", "map"]));
        let lamps = service.id("proposal", "lamps");
        for (query, expected) in [
            ("filter[attached_to_type]=proposals".to_owned(), vec!["plan"]),
            ("filter[attached_to_type_eq]=Platform::Proposals::Proposal".to_owned(), vec!["plan"]),
            ("filter[attached_to_type_not_eq]=proposal".to_owned(), vec!["of-post", "statutes", "map"]),
            (
                "filter[attached_to_type_in][]=organization&filter[attached_to_type_in][]=blogs".to_owned(),
                vec!["of-post", "statutes"],
            ),
            ("filter[attached_to_type_not_in][]=organization".to_owned(), vec!["of-post", "plan", "map"]),
            ("filter[attached_to_type_start]=platform::o".to_owned(), vec!["statutes"]),
            ("filter[attached_to_type_matches]=%25Post".to_owned(), vec!["of-post"]),
            ("filter[attached_to_type_present]=true".to_owned(), vec!["of-post", "plan", "statutes", "map"]),
            (format!("filter[attached_to_id]={lamps}&filter[attached_to_type]=proposals"), vec!["plan"]),
            ("filter[attached_to_id_lt]=0".to_owned(), vec![]),
            (
                format!("filter[attachment_collection_id]={}", service.id("attachment_collection", "plans")),
                vec!["plan"],
            ),
            ("filter[attachment_collection_id_blank]=true".to_owned(), vec!["of-post", "statutes", "map"]),
            ("filter[file_type]=link".to_owned(), vec!["of-post", "map"]),
            ("filter[file_type_not_eq]=link".to_owned(), vec!["plan", "statutes"]),
            ("filter[file_type_start]=doc".to_owned(), vec!["plan", "statutes"]),
            ("per_page=2&page=2".to_owned(), vec!["statutes", "map"]),
        ] {
            assert_eq!(list(&nora, &query).await, ids(&expected), "{query}");
        }
        for (query, sentence) in [
            ("filter[attached_to_type_eq]=Kernel", "Invalid value for filter attached_to_type_eq"),
            ("filter[file_type]=film", "Invalid value for filter file_type"),
            ("filter[attached_to_id]=x", "Invalid value for filter attached_to_id"),
            ("filter[attachment_collection_id_gt]=x", "Invalid value for filter attachment_collection_id_gt"),
            ("filter[weight]=1", "Unknown filter: weight"),
        ] {
            nora.get(&format!("/attachments?{query}")).await.refuses(400, sentence);
        }
        for hidden in ["of-draft", "secret"] {
            nora.get(&format!("/attachments/{}", id(&service, hidden)))
                .await
                .refuses(404, "Resource not found");
        }
        let first = nora.get("/attachments").await.is(200);
        let headers = [("if-none-match", first.header("etag"))];
        nora.send(Method::GET, "/attachments", &headers, None).await.is(304);
        let machine = service.machine().await;
        machine.delete(&format!("/attachments/{}", id(&service, "plan"))).await.is(204);
        nora.send(Method::GET, "/attachments", &headers, None).await.is(200);
    }
}

#[tokio::test]
async fn administrators_lists_are_for_their_records() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let texts = [("title", "T"), ("description", "D")];
        let rtf = Some(("a.rtf", &b"{\\rtf1\\ansi hello}"[..]));
        for (kind, parent) in [
            ("organization", service.id("organization", "city")),
            ("Platform::ParticipatoryProcess", service.id("space", "streets")),
            ("meetings", service.id("meeting", "kickoff")),
            ("blogs", service.id("post", "unfinished")),
            ("proposal", service.id("proposal", "lamps")),
        ] {
            let parent = parent.to_string();
            let parts = [("attached_to_type", kind), ("attached_to_id", parent.as_str())];
            form(&nora, &[&parts[..], &texts].concat(), rtf).await.is(201);
            let sheet = form(&nora, &[&parts[..], &texts].concat(), Some(("a.ods", HELLO))).await.is(400);
            let expected = if kind == "proposal" {
                "file extension_not_allowed"
            } else {
                "file content_type_not_allowed"
            };
            assert_eq!(codes(&sheet), [expected], "{kind}");
        }
    }
}

#[tokio::test]
async fn members_are_changed_and_the_file_never() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let path = format!("/attachments/{}", id(&service, "plan"));
        let before = nora.get(&path).await.is(200).data().clone();
        assert_eq!(nora.put(&path, &json!({})).await.is(200).data(), &before, "nothing changes");
        let changed = nora.put(&path, &json!({"title": "Z", "weight": "9"})).await.is(200);
        assert_eq!(changed.data()["attributes"]["title"], json!({"en": "Z"}));
        assert_eq!(changed.data()["attributes"]["weight"], 9);
        let all = json!({"data": {"type": "attachment", "id": before["id"], "attributes": {
            "title": {"en": "A", "fr": "B"}, "description": {"en": "C"}, "attachment_collection_id": null}}});
        let changed = nora.send(Method::PATCH, &path, &[], Some(&all)).await.is(200);
        assert_eq!(changed.data()["attributes"]["title"], json!({"en": "A", "fr": "B"}));
        assert_eq!(changed.data()["attributes"]["attachment_collection_id"], Value::Null);
        assert_eq!(changed.data()["attributes"]["url"], before["attributes"]["url"]);
        for (body, sentence) in [
            (json!({"title": {"fr": "B"}}), "Title cannot be blank"),
            (json!({"description": " "}), "Description cannot be blank"),
            (json!({"file": "x"}), "The file cannot be replaced"),
            (json!({"signed_id": "x"}), "The file cannot be replaced"),
            (json!({"attached_to_id": 1}), "Unknown key: attached_to_id"),
            (json!({"data": {"id": "1234567", "attributes": {}}}), "data.id does not match"),
            (json!({"data": {"type": "blog", "attributes": {}}}), "data.type must be attachment"),
        ] {
            nora.put(&path, &body).await.refuses(400, sentence);
        }
        nora.put("/attachments/987654321", &json!({})).await.refuses(404, "Resource not found");
        nora.put(&format!("/attachments/{}", id(&service, "secret")), &json!({}))
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn a_deleted_attachment_is_gone_with_its_file() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let path = format!("/attachments/{}", id(&service, "plan"));
        let shown = nora.get(&path).await.is(200);
        let url = shown.data()["attributes"]["url"].as_str().unwrap().replace("https://city.test", "");
        assert_eq!(nora.raw(Method::GET, &url, &[], None).await.is(200).text.as_bytes(), HELLO);
        assert_eq!(nora.delete(&path).await.is(204).text, "");
        nora.get(&path).await.refuses(404, "Resource not found");
        nora.delete(&path).await.refuses(404, "Resource not found");
        nora.raw(Method::GET, &url, &[], None).await.is(404);
        let bare = service.user_through("city", "bare", "norablum").await;
        bare.delete(&format!("/attachments/{}", id(&service, "map"))).await.refuses(403, "Forbidden");
    }
}

#[tokio::test]
async fn files_of_a_deleted_post_are_not_served() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let post = service.id("post", "item").to_string();
        let parts = [
            ("attached_to_type", "blogs"),
            ("attached_to_id", post.as_str()),
            ("title", "T"),
            ("description", "D"),
        ];
        let made = form(&nora, &parts, Some(("a.txt", HELLO))).await.is(201);
        let url = made.data()["attributes"]["url"].as_str().unwrap().replace("https://city.test", "");
        let path = format!("/attachments/{}", made.data()["id"].as_str().unwrap());
        nora.raw(Method::GET, &url, &[], None).await.is(200);
        nora.delete(&format!("/blogs/{post}/sync")).await.is(200);
        nora.raw(Method::GET, &url, &[], None).await.is(404);
        nora.get(&path).await.refuses(404, "Resource not found");
    }
}
