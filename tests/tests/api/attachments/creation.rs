//! New attachments: by form, and by an upload that is requested.

use super::{HELLO, codes, form, services};
use civitas_tests::service::{Answer, BASE, Client, Service};
use image::{ImageFormat, RgbImage};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Cursor;

/// The MD5 of [`HELLO`].
const MD5: &str = "b1kCrCNwJL3QwXbLkwY9xA==";

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(width, height, image::Rgb([9, 200, 30]))
        .write_to(&mut bytes, ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

/// A file with its name, if there is one.
type NamedFile<'a> = Option<(&'a str, &'a [u8])>;

/// The texts of an attachment.
const TEXTS: [(&str, &str); 2] = [("title", "T"), ("description", "D")];
const SMALL_FILE: NamedFile<'static> = Some(("a.txt", HELLO));

/// Sends a form that attaches a file to a proposal of this user, with these fields.
fn attaching(service: &Service, user: &Client) -> impl AsyncFn(&[(&str, &str)], NamedFile<'_>) -> Answer {
    let lamps = service.id("proposal", "lamps").to_string();
    async move |parts, file| {
        let parent = [("attached_to_type", "proposal"), ("attached_to_id", lamps.as_str())];
        form(user, &[&parent[..], parts].concat(), file).await
    }
}

/// Requests an upload of [`HELLO`] and sends its bytes; its signed id.
async fn uploaded(client: &Client) -> String {
    let signed = requested(client).await;
    send_bytes(client, &signed, HELLO, &[]).await.is(204);
    signed
}

async fn requested(client: &Client) -> String {
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
        let attach = attaching(&service, &nora);
        let cut = png(9, 9);
        for (parts, file, expected) in [
            (&TEXTS[..], None, &["file blank"][..]),
            (&TEXTS, Some(("a.txt", &b""[..])), &["file blank"]),
            (&[("title", " "), ("description", "")], SMALL_FILE, &["title blank", "description blank"]),
            (
                &[("title[fr]", "T"), ("description[xx]", "D")],
                SMALL_FILE,
                &["title blank", "description invalid"],
            ),
            (&[("title", "T"), ("description", "D"), ("weight", "x")], SMALL_FILE, &["weight not_a_number"]),
            (
                &[("title", "T"), ("description", "D"), ("attachment_collection_id", "x")],
                None,
                &["file blank", "attachment_collection_id inclusion"],
            ),
            (&TEXTS, Some(("a.exe", HELLO)), &["file extension_not_allowed"]),
            (&TEXTS, Some(("a.odt", HELLO)), &["file extension_not_allowed"]),
            (&TEXTS, Some(("a.png", HELLO)), &["file content_type_not_allowed"]),
            (&TEXTS, Some(("a.png", &cut[..40])), &["file invalid"]),
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
        let attach = attaching(&service, &nora);
        let wide = png(8_001, 1);
        let (long, longer) = (vec![b'x'; 10_485_761], vec![b'x'; 12_000_000]);
        let foreign = service.id("attachment_collection", "others").to_string();
        let refused = attach(
            &[("title", "T"), ("description", "D"), ("attachment_collection_id", &foreign)],
            SMALL_FILE,
        )
        .await;
        let sentence = "Attachment collection is not included in the list";
        assert_eq!(codes(&refused.refuses(400, sentence)), ["attachment_collection_id inclusion"]);
        let wide = attach(&TEXTS, Some(("a.png", &wide))).await.is(400);
        assert_eq!(codes(&wide), ["file image_too_big"]);
        attach(&TEXTS, Some(("a.txt", &long))).await.refuses(400, "File must be at most 10 MB");
        attach(&TEXTS, Some(("a.txt", &long[1..]))).await.is(201);
        attach(&TEXTS, Some(("a.txt", &longer))).await.refuses(413, "Payload too large");
        let missing = "param is missing or the value is empty or invalid: ";
        let named = |name: &str| format!("{missing}{name}");
        attach(&[("title", "T")], SMALL_FILE).await.refuses(400, &named("description"));
        form(&nora, &TEXTS, SMALL_FILE).await.refuses(400, &named("attached_to_type"));
        form(&nora, &[("attached_to_type", "proposal")], SMALL_FILE)
            .await
            .refuses(400, &named("attached_to_id"));
        form(&nora, &[("attached_to_type", "users"), ("attached_to_id", "1")], SMALL_FILE)
            .await
            .refuses(400, "Unknown attached_to_type: users");
        attach(&[("title", "T"), ("description", "D"), ("x", "y")], SMALL_FILE)
            .await
            .refuses(400, "Unknown key: x");
        attach(&[("title", "T"), ("title[en]", "D")], SMALL_FILE).await.is(400);
        for (kind, parent) in [
            ("proposals", "987654321"),
            ("organization", "987654321"),
            ("proposals", &service.id("proposal", "whisper").to_string()),
            ("proposals", &service.id("proposal", "sketch").to_string()),
        ] {
            let parts = [("attached_to_type", kind), ("attached_to_id", parent)];
            form(&nora, &[&parts[..], &TEXTS].concat(), SMALL_FILE).await.refuses(404, "Resource not found");
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
async fn the_type_of_sent_bytes_is_compared_without_parameters_and_may_be_any() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let upload_request = json!({"filename": "note.txt", "byte_size": 12, "checksum": MD5,
            "content_type": "text/plain"});
        let staged = nora.post("/attachments/direct_upload", &upload_request).await.is(201);
        let signed = staged.body["signed_id"].as_str().unwrap();
        for sent in ["text/plain;charset=utf-8", "Text/Plain; charset=UTF-8", "text/plain", "*/*"] {
            send_bytes(&nora, signed, HELLO, &[("content-type", sent)]).await.is(204);
        }
        for sent in ["application/octet-stream", "text/html;charset=utf-8"] {
            let answer = send_bytes(&nora, signed, HELLO, &[("content-type", sent)]).await;
            answer.refuses(422, "Content-Type mismatch");
        }
    }
}

#[tokio::test]
async fn an_upload_is_requested_sent_and_attached_once() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let lamps = service.id("proposal", "lamps");
        let body = |signed: &str| {
            json!({"signed_id": signed, "attached_to_type": "proposals",
            "attached_to_id": lamps, "title": "Note", "description": {"en": "D"}})
        };
        let signed = requested(&nora).await;
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
        send_bytes(&town, &requested(&nora).await, HELLO, &[]).await.refuses(404, "Resource not found");
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
async fn upload_requests_are_checked_as_parameters() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let request_upload =
            async |body: Value| nora.post("/attachments/direct_upload?filename=ignored.exe", &body).await;
        let good = || json!({"filename": "a.pdf", "byte_size": 12, "checksum": MD5, "content_type": "application/pdf"});
        let staged = request_upload(good()).await.is(201);
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
            request_upload(bad).await.refuses(400, sentence);
        }
        let bare = service.user_through("city", "bare", "norablum").await;
        bare.post("/attachments/direct_upload", &good()).await.refuses(403, "Forbidden");
    }
}
