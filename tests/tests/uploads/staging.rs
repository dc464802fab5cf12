//! Uploads that are requested first: `POST /attachments/direct_upload`, `PUT` of the bytes, `POST /attachments`.

use crate::uploads::place::{Kind, LIMIT, Place, engines, places};
use crate::uploads::wire::{Reply, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use civitas_tests::service::BASE;
use md5::{Digest, Md5};
use serde_json::json;
use time::Duration;
use url::form_urlencoded::Serializer;

const BYTES: &[u8] = b"hello world\n";
/// The begin of the text for a parameter that is missing.
const MISSING: &str = "param is missing or the value is empty or invalid: ";
/// The MD5 of [`BYTES`] (contract 07 B.6).
const MD5: &str = "b1kCrCNwJL3QwXbLkwY9xA==";

pub fn checksum(bytes: &[u8]) -> String {
    STANDARD.encode(Md5::digest(bytes))
}

/// Requests an upload with these members in the query.
async fn request_upload(place: &Place, token: &str, members: &[(&str, &str)]) -> Reply {
    let query = Serializer::new(String::new()).extend_pairs(members).finish();
    let request = Request::new("POST", &format!("{BASE}/attachments/direct_upload?{query}"));
    place.send(request.with("Authorization", &format!("Bearer {token}"))).await
}

/// Requests an upload under a name; returns the signed id.
pub async fn stage(place: &Place, name: &str, bytes: &[u8]) -> String {
    let (size, checksum) = (bytes.len().to_string(), checksum(bytes));
    let members =
        [("filename", name), ("byte_size", &size), ("checksum", &checksum), ("content_type", "text/plain")];
    let reply = request_upload(place, &place.token, &members).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let signed = reply.json()["signed_id"].as_str().unwrap().to_owned();
    assert_eq!(reply.header("location"), format!("http://city.test{}", address(&signed)));
    signed
}

fn address(signed: &str) -> String {
    format!("{BASE}/attachments/direct_upload/{signed}")
}

/// Sends bytes.
pub async fn put(place: &Place, signed: &str, bytes: &[u8]) -> Reply {
    place.send(Request::new("PUT", &address(signed)).body(bytes)).await
}

async fn uploaded(place: &Place, name: &str, bytes: &[u8]) -> String {
    let signed = stage(place, name, bytes).await;
    let reply = put(place, &signed, bytes).await;
    assert_eq!((reply.status, reply.body.as_slice()), (204, &b""[..]), "{reply:?}");
    signed
}

/// Attaches an uploaded file to proposal `p1`.
async fn attach(place: &Place, token: &str, signed: &str) -> Reply {
    let members = json!({"signed_id": signed, "attached_to_type": "proposals",
        "attached_to_id": place.service.id("proposal", "p1"), "title": "T", "description": "D"});
    let request =
        Request::new("POST", &format!("{BASE}/attachments")).with("Content-Type", "application/json");
    place.send(request.with("Authorization", &format!("Bearer {token}")).body(members.to_string())).await
}

async fn assert_refused(place: &Place, token: &str, signed: &str, what: &str) {
    let reply = attach(place, token, signed).await;
    assert_eq!((reply.status, reply.reason().as_str()), (400, "invalid"), "{what}: {reply:?}");
    assert_eq!(reply.json()["error_details"][0]["field"], "signed_id", "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_request_is_checked_before_anything_is_stored() {
    let long = format!("{}.txt", "x".repeat(296));
    let over = (LIMIT + 1).to_string();
    let (name, size) = ("filename is invalid", "byte_size must be between 1 and 1048576");
    let rows: [(&str, &str, &str); 31] = [
        ("filename", "", MISSING),
        ("filename", ".", name),
        ("filename", "..", name),
        ("filename", "/", name),
        ("filename", "..\\", name),
        ("filename", "a.txt/", name),
        ("filename", "\0\0", "Malformed query"),
        ("filename", "\u{202e}\u{200b}", name),
        ("filename", "   ", name),
        ("filename", &long, name),
        ("filename", ".txt", name),
        ("filename", "a.exe", name),
        ("filename", "a.svg", name),
        ("filename", "a.txt\0.svg", "Malformed query"),
        ("filename", "a.txt;a.svg", name),
        ("byte_size", "", MISSING),
        ("byte_size", "0", size),
        ("byte_size", "-1", size),
        ("byte_size", "1.5", size),
        ("byte_size", "1e3", size),
        ("byte_size", "ten", size),
        ("byte_size", &over, size),
        ("byte_size", "9223372036854775808", size),
        ("checksum", "", MISSING),
        ("checksum", "x", "checksum must be a base64 MD5 digest"),
        ("checksum", "6f5902ac237024bdd0c176cb93063dc4", "checksum must be a base64 MD5 digest"),
        ("checksum", "b1kCrCNwJL3QwXbLkwY9x-==", "checksum must be a base64 MD5 digest"),
        ("checksum", "b1kCrCNwJL3QwXbLkwY9xA==\n", "checksum must be a base64 MD5 digest"),
        ("content_type", "text/plain\r\nX-Evil: 1", "content_type is invalid"),
        ("content_type", "text/plän", "content_type is invalid"),
        ("content_type", "\0", "Malformed query"),
    ];
    for place in engines(Kind::Directory).await {
        for (member, sent, refusal) in rows {
            let mut members = vec![("filename", "a.txt"), ("byte_size", "12"), ("checksum", MD5)];
            members.retain(|(name, _)| *name != member);
            members.push((member, sent));
            let reply = request_upload(&place, &place.token, &members).await;
            let refusal = if refusal == MISSING { format!("{MISSING}{member}") } else { refusal.to_owned() };
            assert_eq!((reply.status, reply.reason()), (400, refusal), "{member} {sent:?}: {reply:?}");
        }
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_an_upload_request_is_only_shown() {
    for place in engines(Kind::Directory).await {
        for (sent, stored) in [
            ("../../a.txt", "a.txt"),
            ("C:\\x\\a.pdf", "a.pdf"),
            ("a\r\nb.txt", "ab.txt"),
            ("\u{202e}a.txt", "a.txt"),
        ] {
            let members = [("filename", sent), ("byte_size", "12"), ("checksum", MD5)];
            let reply = request_upload(&place, &place.token, &members).await;
            assert_eq!((reply.status, &reply.json()["filename"]), (201, &json!(stored)), "{sent:?}");
            assert_eq!(reply.json().as_object().unwrap().len(), 4);
        }
        for (name, value) in [("filename", json!(1)), ("checksum", json!(1)), ("content_type", json!(0))] {
            let mut body = json!({"filename": "a.txt", "byte_size": 12, "checksum": MD5});
            body[name] = value;
            let request = place.authorized("POST", "/attachments/direct_upload");
            let request = request.with("Content-Type", "application/json");
            assert_eq!(place.send(request.body(body.to_string())).await.status, 400, "{name}");
        }
        let anonymous = Request::new("POST", &format!("{BASE}/attachments/direct_upload?filename=a.txt"));
        assert_eq!(place.send(anonymous).await.status, 401);
        let form = place
            .authorized("POST", "/attachments/direct_upload")
            .with("Content-Type", "multipart/form-data; boundary=x");
        assert_eq!(place.send(form.body("--x--")).await.status, 415);
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_requested_bytes_are_stored() {
    let other = checksum(b"hello_world\n");
    for place in places().await {
        let signed = stage(&place, "a.txt", BYTES).await;
        let to = || Request::new("PUT", &address(&signed));
        let rows = [
            ("too few bytes", to().body(&BYTES[1..]), 422),
            ("too many bytes", to().body([BYTES, b"x"].concat()), 422),
            ("no bytes", to().body(""), 422),
            ("other bytes", to().body("hello_world\n"), 422),
            ("a wrong Content-MD5", to().with("Content-MD5", &other).body(BYTES), 422),
            ("a Content-MD5 that is none", to().with("Content-MD5", "x").body(BYTES), 422),
            ("a wrong Content-Type", to().with("Content-Type", "text/html").body(BYTES), 422),
            ("two types", to().with("Content-Type", "text/plain, text/html").body(BYTES), 422),
            ("chunks that are too short", to().chunked(&BYTES[1..]), 422),
            ("chunks that are too long", to().chunked(&[BYTES, BYTES].concat()), 422),
            ("chunks of another file", to().chunked(b"hello_world\n"), 422),
            ("no chunks", to().chunked(b""), 422),
            ("more than the limit", to().body(vec![0; LIMIT + 1]), 413),
            ("chunks beyond the limit", to().chunked(&vec![b'x'; LIMIT + 1]), 422),
        ];
        for (what, request, status) in rows {
            let reply = place.send(request).await;
            assert_eq!(reply.status, status, "{what}: {reply:?}");
            assert!(place.names().await.is_empty(), "{what}");
        }
        let broken =
            to().with("Transfer-Encoding", "chunked").body("xyz\r\n").try_send(place.service.address).await;
        assert!(broken.is_none_or(|reply| reply.status == 400), "the connection is closed");
        let pending = attach(&place, &place.token, &signed).await;
        assert_eq!((pending.status, pending.reason().as_str()), (400, "not_uploaded"));
        let mismatch = put(&place, &signed, b"hello_world\n").await;
        assert_eq!(mismatch.reason(), "mismatch", "{mismatch:?}");
        assert_eq!(mismatch.json()["error_description"], "Checksum mismatch");
        let all = to()
            .with("Content-MD5", MD5)
            .with("Content-Type", "text/plain")
            .with("Authorization", "Bearer x");
        assert_eq!(place.send(all.chunked(BYTES)).await.status, 204, "after all that");
        assert_eq!(put(&place, &signed, BYTES).await.status, 204, "the same again");
        assert_eq!(put(&place, &signed, b"hello_world\n").await.status, 422, "others are refused again");
        let attached = attach(&place, &place.token, &signed).await;
        assert_eq!(attached.status, 201, "{attached:?}");
        assert_eq!(place.fetch(&crate::uploads::place::url_of(&attached)).await.body, BYTES);
        place.assert_sound().await;
        assert_eq!(place.rows().await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_id_cannot_be_forged() {
    for place in places().await {
        let signed = uploaded(&place, "a.txt", BYTES).await;
        let other = uploaded(&place, "b.txt", BYTES).await;
        let ((id, secret), (other_id, _)) =
            (signed.split_once("--").unwrap(), other.split_once("--").unwrap());
        let last = if secret.ends_with('0') { "1" } else { "0" };
        let turned: String = secret.chars().rev().collect();
        let forged = [
            format!("{other_id}--{secret}"),
            format!("{id}--{}{last}", &secret[..63]),
            format!("{id}--{turned}"),
            format!("{id}--{}", &secret[..63]),
            format!("{id}--{secret}0"),
            format!("{id}--{}", secret.to_uppercase()),
            format!("{id}-{secret}"),
            format!("-{id}--{secret}"),
            format!("0{id}--{secret}0"),
            format!("{}--{secret}", "9".repeat(30)),
            format!("{}--{secret}", i64::MAX),
            format!("{id}--"),
            format!("{id}'--{secret}"),
            "--".to_owned(),
        ];
        for text in forged {
            let path = address(&text.replace('\'', "%27"));
            assert_eq!(place.send(Request::new("PUT", &path).body(BYTES)).await.status, 404, "{text}");
            assert_refused(&place, &place.token, &text, &text).await;
        }
        for text in ["../../etc/passwd", "\u{0}", "", "%00"] {
            let reply = attach(&place, &place.token, text).await;
            assert_eq!(reply.status, 400, "{text:?}: {reply:?}");
        }
        for path in [address(""), address("..%2f..%2fx"), address("%00"), address("a/b")] {
            assert_eq!(place.send(Request::new("PUT", &path).body(BYTES)).await.status, 404, "{path}");
        }
        let another = place.token_of("city.test", "another").await;
        assert_refused(&place, &another, &signed, "another client").await;
        let foreign = Request::at("town.test", "PUT", &address(&signed)).body(BYTES);
        assert_eq!(place.send(foreign).await.status, 404, "another organization");
        let token = place.token_of("town.test", "foreign").await;
        let members = json!({"signed_id": signed, "attached_to_type": "proposals",
            "attached_to_id": place.service.id_in("town", "proposal", "p1"), "title": "T", "description": "D"});
        let request = Request::at("town.test", "POST", &format!("{BASE}/attachments"))
            .with("Content-Type", "application/json");
        let reply = place
            .send(request.with("Authorization", &format!("Bearer {token}")).body(members.to_string()))
            .await;
        assert_eq!(
            (reply.status, reply.reason().as_str()),
            (400, "invalid"),
            "another organization: {reply:?}"
        );
        assert_eq!(attach(&place, &place.token, &signed).await.status, 201, "the right one, after all that");
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_id_is_used_once_and_in_time() {
    for place in places().await {
        let signed = uploaded(&place, "a.txt", BYTES).await;
        assert_eq!(attach(&place, &place.token, &signed).await.status, 201);
        assert_refused(&place, &place.token, &signed, "used before").await;
        assert_eq!(put(&place, &signed, BYTES).await.status, 404, "bytes after the use");

        let late = stage(&place, "a.txt", BYTES).await;
        place.age(&late, Duration::minutes(15)).await;
        assert_eq!(put(&place, &late, BYTES).await.status, 404, "after 15 minutes");
        assert_eq!(attach(&place, &place.token, &late).await.reason(), "not_uploaded");

        let early = uploaded(&place, "a.txt", BYTES).await;
        place.age(&early, Duration::hours(23)).await;
        assert_eq!(put(&place, &early, BYTES).await.status, 404, "bytes after 23 hours");
        let old = uploaded(&place, "a.txt", BYTES).await;
        place.age(&old, Duration::hours(24)).await;
        assert_refused(&place, &place.token, &old, "after 24 hours").await;
        assert_eq!(attach(&place, &place.token, &early).await.status, 201, "after 23 hours");

        let wrong = uploaded(&place, "a.pdf", BYTES).await;
        for _ in 0..2 {
            let reply = attach(&place, &place.token, &wrong).await;
            assert_eq!(reply.reason(), "content_type_not_allowed", "a refusal uses nothing up: {reply:?}");
        }
        let office = uploaded(&place, "a.docx", &crate::uploads::samples::docx()).await;
        let reply = attach(&place, &place.token, &office).await;
        assert_eq!(reply.reason(), "extension_not_allowed", "for administrators: {reply:?}");
        place.assert_sound().await;
        // Two attachments and two uploads that can still be attached.
        assert_eq!(place.rows().await.len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_use_a_signed_id_at_once_one_succeeds() {
    for place in places().await {
        for _ in 0..5 {
            let signed = uploaded(&place, "a.txt", BYTES).await;
            let attempts = (0..6).map(|_| attach(&place, &place.token, &signed));
            let replies = futures_util::future::join_all(attempts).await;
            let created = replies.iter().filter(|reply| reply.status == 201).count();
            let refused = replies.iter().filter(|reply| reply.reason() == "invalid").count();
            assert_eq!((created, refused), (1, 5), "{replies:?}");
        }
        for _ in 0..5 {
            let signed = uploaded(&place, "a.txt", BYTES).await;
            let (sent, attached, again) = tokio::join!(
                put(&place, &signed, BYTES),
                attach(&place, &place.token, &signed),
                put(&place, &signed, BYTES)
            );
            assert_eq!(attached.status, 201, "{attached:?}");
            assert!([sent, again].iter().all(|reply| matches!(reply.status, 204 | 404)));
            let served = place.fetch(&crate::uploads::place::url_of(&attached)).await;
            assert_eq!((served.status, served.body.as_slice()), (200, BYTES));
        }
        place.assert_sound().await;
        assert_eq!(place.rows().await.len(), 10);
    }
}
