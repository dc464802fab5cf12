use civitas_tests::service::{Answer, BASE, CITIES, Client, Service};
use image::{ImageFormat, RgbImage};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Cursor;

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

/// The bytes of most files here, and their MD5.
const HELLO: &[u8] = b"hello world\n";
const MD5: &str = "b1kCrCNwJL3QwXbLkwY9xA==";

async fn services() -> Vec<Service> {
    let files = FILES.replace('§', r#""organization": "city""#);
    Service::on_both_engines_with(&format!("{CITIES}{files}"), &[]).await
}

fn id(service: &Service, name: &str) -> i64 {
    service.id("attachment", name)
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(width, height, image::Rgb([9, 200, 30]))
        .write_to(&mut bytes, ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
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

/// Announces an upload of [`HELLO`] and sends its bytes; its signed id.
async fn uploaded(client: &Client) -> String {
    let signed = announced(client).await;
    send_bytes(client, &signed, HELLO, &[]).await.is(204);
    signed
}

async fn announced(client: &Client) -> String {
    let query = format!("filename=note.txt&byte_size=12&checksum={}", MD5.replace('=', "%3D"));
    let staged = client.post(&format!("/attachments/direct_upload?{query}"), &json!({})).await.is(201);
    let signed = staged.body["signed_id"].as_str().unwrap().to_owned();
    assert!(staged.header("location").ends_with(&format!("{BASE}/attachments/direct_upload/{signed}")));
    signed
}

async fn send_bytes(client: &Client, signed: &str, bytes: &[u8], headers: &[(&str, &str)]) -> Answer {
    let mut nobody = client.clone();
    nobody.token = None;
    let path = format!("{BASE}/attachments/direct_upload/{signed}");
    nobody.raw(Method::PUT, &path, headers, Some(bytes.to_vec())).await
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
async fn a_form_attaches_a_file_and_an_image_has_a_thumbnail() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let lamps = service.id("proposal", "lamps").to_string();
        let collection = service.id("attachment_collection", "plans").to_string();
        let parts = [
            ("attached_to_type", "proposals"),
            ("attached_to_id", &lamps),
            ("title[en]", "Lamp"),
            ("title[fr]", "Lampe"),
            ("description", "By night"),
            ("weight", "7"),
            ("attachment_collection_id", &collection),
        ];
        let made = form(&nora, &parts, Some(("lamp.PNG", &png(640, 480)))).await.is(201);
        let attributes = &made.data()["attributes"];
        assert_eq!(attributes["title"], json!({"en": "Lamp", "fr": "Lampe"}));
        assert_eq!(attributes["description"], json!({"en": "By night"}));
        assert_eq!((&attributes["weight"], &attributes["file_type"]), (&json!(7), &json!("image")));
        assert_eq!(attributes["content_type"], "image/png");
        let shown = nora.get(&format!("/attachments/{}", made.data()["id"].as_str().unwrap())).await.is(200);
        assert_eq!(shown.data(), made.data());
        let path = |name: &str| attributes[name].as_str().unwrap().replace("https://city.test", "");
        let file = nora.raw(Method::GET, &path("url"), &[], None).await.is(200);
        assert_eq!(file.header("content-type"), "image/png");
        assert_eq!(file.header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        assert_eq!(file.header("content-disposition"), "inline; filename*=UTF-8''lamp.PNG");
        let thumbnail = nora.raw(Method::GET, &path("thumbnail_url"), &[], None).await.is(200);
        assert_eq!(thumbnail.header("content-type"), "image/png");
        assert_ne!(thumbnail.header("etag"), file.header("etag"));
        service.at("town.test").raw(Method::GET, &path("url"), &[], None).await.is(404);
        nora.raw(Method::GET, "/files/0000/x.png", &[], None).await.is(404);
        let etag = [("if-none-match", file.header("etag"))];
        nora.raw(Method::GET, &path("url"), &etag, None).await.is(304);
        let head = nora.raw(Method::HEAD, &path("url"), &[], None).await.is(200);
        assert_eq!(head.header("content-length"), file.header("content-length"));
        let part = nora.raw(Method::GET, &path("url"), &[("range", "bytes=1-3")], None).await.is(206);
        assert_eq!(part.text, "PNG");
        let old = [("range", "bytes=1-3"), ("if-range", "\"other\"")];
        nora.raw(Method::GET, &path("url"), &old, None).await.is(200);
        nora.raw(Method::GET, &path("url"), &[("range", "bytes=99999999-")], None).await.is(416);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_new_attachment_is_listed_by_member() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let lamps = service.id("proposal", "lamps").to_string();
        let parent = [("attached_to_type", "proposal"), ("attached_to_id", lamps.as_str())];
        let attach =
            async |parts: &[(&str, &str)], file| form(&nora, &[&parent[..], parts].concat(), file).await;
        let texts = [("title", "T"), ("description", "D")];
        let hello = Some(("a.txt", HELLO));
        let cut = png(9, 9);
        for (parts, file, expected) in [
            (&texts[..], None, &["file blank"][..]),
            (&texts, Some(("a.txt", &b""[..])), &["file blank"]),
            (&[("title", " "), ("description", "")], hello, &["title blank", "description blank"]),
            (&[("title[fr]", "T"), ("description[xx]", "D")], hello, &["title blank", "description invalid"]),
            (&[("title", "T"), ("description", "D"), ("weight", "x")], hello, &["weight not_a_number"]),
            (
                &[("title", "T"), ("description", "D"), ("attachment_collection_id", "x")],
                None,
                &["file blank", "attachment_collection_id inclusion"],
            ),
            (&texts, Some(("a.exe", HELLO)), &["file extension_not_allowed"]),
            (&texts, Some(("a.odt", HELLO)), &["file extension_not_allowed"]),
            (&texts, Some(("a.png", HELLO)), &["file content_type_not_allowed"]),
            (&texts, Some(("a.png", &cut[..40])), &["file invalid"]),
        ] {
            let refused = attach(parts, file).await.is(400);
            assert_eq!(refused.body["error"], "400: Invalid request");
            assert_eq!(codes(&refused), expected, "{parts:?}");
        }
    }
}

#[tokio::test]
async fn lengths_names_and_records_of_a_new_attachment_are_checked() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let lamps = service.id("proposal", "lamps").to_string();
        let parent = [("attached_to_type", "proposal"), ("attached_to_id", lamps.as_str())];
        let attach =
            async |parts: &[(&str, &str)], file| form(&nora, &[&parent[..], parts].concat(), file).await;
        let texts = [("title", "T"), ("description", "D")];
        let hello = Some(("a.txt", HELLO));
        let wide = png(8_001, 1);
        let (long, longer) = (vec![b'x'; 10_485_761], vec![b'x'; 12_000_000]);
        let foreign = service.id("attachment_collection", "others").to_string();
        let refused =
            attach(&[("title", "T"), ("description", "D"), ("attachment_collection_id", &foreign)], hello)
                .await;
        let sentence = "Attachment collection is not included in the list";
        assert_eq!(codes(&refused.refuses(400, sentence)), ["attachment_collection_id inclusion"]);
        let wide = attach(&texts, Some(("a.png", &wide))).await.is(400);
        assert_eq!(codes(&wide), ["file image_too_big"]);
        attach(&texts, Some(("a.txt", &long))).await.refuses(400, "File must be at most 10 MB");
        attach(&texts, Some(("a.txt", &long[1..]))).await.is(201);
        attach(&texts, Some(("a.txt", &longer))).await.refuses(413, "Payload too large");
        let missing = "param is missing or the value is empty or invalid: ";
        let named = |name: &str| format!("{missing}{name}");
        attach(&[("title", "T")], hello).await.refuses(400, &named("description"));
        form(&nora, &texts, hello).await.refuses(400, &named("attached_to_type"));
        form(&nora, &[("attached_to_type", "proposal")], hello).await.refuses(400, &named("attached_to_id"));
        form(&nora, &[("attached_to_type", "users"), ("attached_to_id", "1")], hello)
            .await
            .refuses(400, "Unknown attached_to_type: users");
        attach(&[("title", "T"), ("description", "D"), ("x", "y")], hello)
            .await
            .refuses(400, "Unknown key: x");
        attach(&[("title", "T"), ("title[en]", "D")], hello).await.is(400);
        for (kind, parent) in [
            ("proposals", "987654321"),
            ("organization", "987654321"),
            ("proposals", &service.id("proposal", "whisper").to_string()),
            ("proposals", &service.id("proposal", "sketch").to_string()),
        ] {
            let parts = [("attached_to_type", kind), ("attached_to_id", parent)];
            form(&nora, &[&parts[..], &texts].concat(), hello).await.refuses(404, "Resource not found");
        }
        nora.raw(
            Method::POST,
            &format!("{BASE}/attachments"),
            &[("content-type", "multipart/form-data")],
            Some(b"x".to_vec()),
        )
        .await
        .is(400);
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
async fn an_upload_is_announced_sent_and_attached_once() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let lamps = service.id("proposal", "lamps");
        let body = |signed: &str| {
            json!({"signed_id": signed, "attached_to_type": "proposals",
            "attached_to_id": lamps, "title": "Note", "description": {"en": "D"}})
        };
        let signed = announced(&nora).await;
        let early =
            nora.post("/attachments", &body(&signed)).await.refuses(400, "File has not been uploaded");
        assert_eq!(codes(&early), ["signed_id not_uploaded"]);
        for (bytes, headers, sentence) in [
            (&b"hello world"[..], &[][..], "Content length mismatch"),
            (HELLO, &[("content-type", "text/plain")], "Content-Type mismatch"),
            (HELLO, &[("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==")], "Checksum mismatch"),
            (b"Hello world\n", &[], "Checksum mismatch"),
        ] {
            send_bytes(&nora, &signed, bytes, headers).await.refuses(422, sentence);
        }
        let headers = [("content-md5", MD5), ("content-type", "application/octet-stream")];
        send_bytes(&nora, &signed, HELLO, &headers).await.is(204);
        send_bytes(&nora, &signed, HELLO, &[]).await.is(204);
        let mut bad = body(&signed);
        bad["title"] = json!(" ");
        assert_eq!(codes(&nora.post("/attachments", &bad).await.is(400)), ["title blank"], "not used up");
        let second = service.user_through("city", "second", "norablum").await;
        let dead = "signed_id is invalid or expired";
        second.post("/attachments", &body(&signed)).await.refuses(400, dead);
        let wrapped = json!({"data": {"type": "attachment", "attributes": body(&signed)}});
        let made = nora.post("/attachments", &wrapped).await.is(201);
        assert_eq!(made.data()["attributes"]["content_type"], "text/plain");
        nora.post("/attachments", &body(&signed)).await.refuses(400, dead);
        nora.post("/attachments", &body("forged")).await.refuses(400, dead);
        send_bytes(&nora, &signed, HELLO, &[]).await.refuses(404, "Resource not found");
        let town = service.at("town.test");
        send_bytes(&town, &announced(&nora).await, HELLO, &[]).await.refuses(404, "Resource not found");
        let sent = body(&uploaded(&nora).await);
        let (one, two) = tokio::join!(nora.post("/attachments", &sent), nora.post("/attachments", &sent));
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 400], "{} {}", one.text, two.text);
        let unknown = json!({"data": {"attributes": {"file": "x"}}});
        nora.post("/attachments", &unknown).await.refuses(400, "Unknown key: data.attributes.file");
    }
}

#[tokio::test]
async fn announcements_are_checked_as_parameters() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let announce =
            async |body: Value| nora.post("/attachments/direct_upload?filename=ignored.exe", &body).await;
        let good = || json!({"filename": "a.pdf", "byte_size": 12, "checksum": MD5, "content_type": "application/pdf"});
        let staged = announce(good()).await.is(201);
        let mut keys: Vec<&String> = staged.body.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["byte_size", "content_type", "filename", "signed_id"]);
        for (name, value, sentence) in [
            ("filename", json!(""), "param is missing or the value is empty or invalid: filename"),
            ("byte_size", json!(null), "param is missing or the value is empty or invalid: byte_size"),
            ("filename", json!("a.svg"), "filename is invalid"),
            ("byte_size", json!(0), "byte_size must be between 1 and 10485760"),
            ("byte_size", json!("x"), "byte_size must be between 1 and 10485760"),
            ("byte_size", json!(10_485_761), "byte_size must be between 1 and 10485760"),
            ("checksum", json!("x"), "checksum must be a base64 MD5 digest"),
        ] {
            let mut bad = good();
            bad[name] = value;
            announce(bad).await.refuses(400, sentence);
        }
        let bare = service.user_through("city", "bare", "norablum").await;
        bare.post("/attachments/direct_upload", &good()).await.refuses(403, "Forbidden");
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
