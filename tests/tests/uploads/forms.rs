//! Forms that are malformed, too long, or not forms.

use crate::uploads::place::{LIMIT, Place, places};
use crate::uploads::wire::{BOUNDARY, Request, field, file, form, part};

const TEXT: &[u8] = b"some text\n";

/// What it is, the body, its status, and the code or text of the error.
type Row = (&'static str, Vec<u8>, u16, &'static str);

const MISSING_TYPE: &str = "param is missing or the value is empty or invalid: attached_to_type";
const MALFORMED: &str = "Malformed form";

/// The parts of a sound form, without the file.
fn members(place: &Place) -> Vec<Vec<u8>> {
    let proposal = place.service.id("proposal", "p1").to_string();
    [
        ("attached_to_type", "proposals"),
        ("attached_to_id", proposal.as_str()),
        ("title", "T"),
        ("description", "D"),
    ]
    .map(|(name, text)| field(name, text))
    .into()
}

/// A sound form with these parts after the others.
fn with(place: &Place, parts: &[Vec<u8>]) -> Vec<u8> {
    form(&[&members(place)[..], &[file(b"a.txt", TEXT)], parts].concat())
}

/// A sound form without some members, and with these parts.
fn without(place: &Place, left_out: &[usize], parts: &[Vec<u8>]) -> Vec<u8> {
    let members = members(place).into_iter().enumerate();
    let kept: Vec<_> =
        members.filter(|(number, _)| !left_out.contains(number)).map(|(_, part)| part).collect();
    form(&[&kept[..], &[file(b"a.txt", TEXT)], parts].concat())
}

fn structures(place: &Place) -> Vec<Row> {
    let sound = with(place, &[]);
    let unfinished = sound[..sound.len() - BOUNDARY.len() - 6].to_vec();
    let no_name = part(b"Content-Disposition: form-data; filename=\"b.txt\"", TEXT);
    let headless = part(b"Content-Type: text/plain", TEXT);
    let attachment = part(b"Content-Disposition: attachment; name=\"x\"", TEXT);
    let lying = part(b"Content-Disposition: form-data; name=\"weight\"\r\nContent-Length: 99999", b"1");
    let negative = part(b"Content-Disposition: form-data; name=\"weight\"\r\nContent-Length: -1", b"1");
    let nested = part(
        b"Content-Disposition: form-data; name=\"weight\"\r\nContent-Type: multipart/mixed; boundary=x",
        b"--x--",
    );
    let long_head = part(
        &[&b"Content-Disposition: form-data; name=\"weight\"\r\nX: "[..], &vec![b'x'; 100_000]].concat(),
        b"1",
    );
    let many_heads = format!("Content-Disposition: form-data; name=\"weight\"{}", "\r\nX: y".repeat(40));
    vec![
        ("sound", sound.clone(), 201, ""),
        ("a preamble", [&b"preamble\r\n"[..], &sound].concat(), 201, ""),
        ("an epilogue", [&sound[..], b"epilogue"].concat(), 201, ""),
        ("an endless preamble", [&[b'x'; 200_000][..], &sound].concat(), 400, MALFORMED),
        ("no body", Vec::new(), 400, MALFORMED),
        ("no form", b"{}".to_vec(), 400, MALFORMED),
        ("only the end", form(&[]), 400, MISSING_TYPE),
        ("no end", unfinished, 400, MALFORMED),
        ("an end in the file", sound[..sound.len() - 60].to_vec(), 400, MALFORMED),
        ("a part without a name", with(place, &[no_name]), 400, MALFORMED),
        ("a part without a disposition", with(place, &[headless]), 400, MALFORMED),
        ("a part that is no form-data", with(place, &[attachment]), 400, MALFORMED),
        ("a part with a wrong length", with(place, &[lying]), 400, MALFORMED),
        ("a part with a negative length", with(place, &[negative]), 400, MALFORMED),
        ("a form in a form", with(place, &[nested]), 400, MALFORMED),
        ("a long head", with(place, &[long_head]), 400, MALFORMED),
        ("many heads", with(place, &[part(many_heads.as_bytes(), b"1")]), 400, MALFORMED),
        ("two files", with(place, &[file(b"b.txt", TEXT)]), 400, MALFORMED),
        ("101 parts", with(place, &vec![field("weight", "1"); 101]), 413, ""),
        ("a long text", with(place, &[field("weight", &"1".repeat(2 * LIMIT))]), 413, ""),
    ]
}

fn texts(place: &Place) -> Vec<Row> {
    [titles(place), others(place)].concat()
}

fn titles(place: &Place) -> Vec<Row> {
    vec![
        (
            "texts by language",
            without(place, &[2], &[field("title[en]", "T"), field("title[fr]", "T")]),
            201,
            "",
        ),
        ("a member twice", with(place, &[field("title", "T")]), 400, MALFORMED),
        ("a text and texts", with(place, &[field("title[en]", "T")]), 400, MALFORMED),
        (
            "texts and a text",
            without(place, &[2], &[field("title[fr]", "T"), field("title", "T")]),
            400,
            MALFORMED,
        ),
        (
            "a language twice",
            without(place, &[2], &[field("title[en]", "T"), field("title[en]", "T")]),
            400,
            MALFORMED,
        ),
        ("an open bracket", without(place, &[2], &[field("title[en", "T")]), 400, MALFORMED),
        ("brackets in brackets", without(place, &[2], &[field("title[en][x]", "T")]), 400, "invalid"),
        ("a list", without(place, &[2], &[field("title[]", "T")]), 400, "invalid"),
        (
            "deep brackets",
            without(place, &[2], &[field(&format!("title{}", "[a]".repeat(200)), "T")]),
            400,
            MALFORMED,
        ),
        ("another language", without(place, &[2], &[field("title[xx]", "T")]), 400, "invalid"),
        ("not the default language", without(place, &[2], &[field("title[fr]", "T")]), 400, "blank"),
        ("a blank title", without(place, &[2], &[field("title", " ")]), 400, "blank"),
        ("a NUL in a text", without(place, &[2], &[field("title", "a\0b")]), 400, MALFORMED),
    ]
}

fn others(place: &Place) -> Vec<Row> {
    let unknown = part(b"Content-Disposition: form-data; name=\"other\"; filename=\"b.txt\"", TEXT);
    let not_text = part(b"Content-Disposition: form-data; name=\"weight\"", b"\xff\xfe");
    vec![
        ("an unknown member", with(place, &[field("colour", "red")]), 400, "Unknown key: colour"),
        ("a nameless member", with(place, &[field("", "red")]), 400, "Unknown key: "),
        ("an unknown file", with(place, &[unknown]), 400, "Unknown key: other"),
        ("a NUL in a name", with(place, &[field("weight\0", "1")]), 400, MALFORMED),
        ("bytes that are no text", with(place, &[not_text]), 400, MALFORMED),
        ("a weight that is none", with(place, &[field("weight", "heavy")]), 400, "not_a_number"),
        ("a weight without end", with(place, &[field("weight", &"9".repeat(30))]), 400, "not_a_number"),
        ("a collection of nobody", with(place, &[field("attachment_collection_id", "1")]), 400, "inclusion"),
        ("a signed id in a form", with(place, &[field("signed_id", "1--00")]), 201, ""),
        ("no record", without(place, &[0], &[]), 400, MISSING_TYPE),
        (
            "an unknown kind",
            without(place, &[0], &[field("attached_to_type", "Kernel")]),
            400,
            "Unknown attached_to_type: Kernel",
        ),
        (
            "a record far away",
            without(place, &[1], &[field("attached_to_id", &i64::MAX.to_string())]),
            404,
            "Resource not found",
        ),
        (
            "a record beyond numbers",
            without(place, &[1], &[field("attached_to_id", &"9".repeat(40))]),
            400,
            "attached_to_id must be an integer",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_read_as_a_whole_or_refused() {
    for place in places().await {
        for (what, body, status, reason) in structures(&place).into_iter().chain(texts(&place)) {
            let reply = place.post_form(&body).await;
            assert_eq!(reply.status, status, "{what}: {reply:?}");
            assert!(status == 413 || reply.reason() == reason, "{what}: {reply:?}");
            place.assert_contained(what).await;
        }
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_may_have_the_limit_and_not_one_byte_more() {
    for place in places().await {
        for (length, status, reason) in [(LIMIT, 201, ""), (LIMIT + 1, 400, "too_large")] {
            let reply = place.attach(&[file(b"a.txt", &vec![b'x'; length])]).await;
            assert_eq!((reply.status, reply.reason().as_str()), (status, reason), "{length}: {reply:?}");
        }
        let body = form(&[&members(&place)[..], &[file(b"a.txt", &vec![b'x'; 3 * LIMIT])]].concat());
        assert_eq!(place.post_form(&body).await.status, 413, "announced");
        let multipart = format!("multipart/form-data; boundary={BOUNDARY}");
        let chunked =
            place.authorized("POST", "/attachments").with("Content-Type", &multipart).chunked(&body);
        assert_eq!(place.send(chunked).await.status, 413, "in chunks");
        let small = with(&place, &[]);
        let chunked =
            place.authorized("POST", "/attachments").with("Content-Type", &multipart).chunked(&small);
        assert_eq!(place.send(chunked).await.status, 201, "a chunked form");
        place.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_media_types_are_refused() {
    for place in places().await {
        let body = with(&place, &[]);
        let send = async |content_type: &str, body: &[u8]| {
            place
                .send(place.authorized("POST", "/attachments").with("Content-Type", content_type).body(body))
                .await
        };
        for (content_type, status) in [
            ("multipart/form-data", 400),
            ("multipart/form-data; boundary=", 400),
            ("multipart/form-data; boundary=\"\"", 400),
            ("multipart/form-data; boundary=another", 400),
            ("multipart/form-data; boundary", 400),
            ("multipart/mixed; boundary=boundary-of-tests", 415),
            ("text/plain", 415),
            ("application/octet-stream", 415),
            ("application/json", 400),
            ("image/png", 415),
        ] {
            assert_eq!(send(content_type, &body).await.status, status, "{content_type}");
        }
        let long = format!("multipart/form-data; boundary={}", "x".repeat(5_000));
        assert_eq!(send(&long, &body).await.status, 400, "a long boundary");
        let anonymous = Request::new("POST", "/api/rest_full/v0.3/attachments").body(body.clone());
        let anonymous = anonymous.with("Content-Type", &format!("multipart/form-data; boundary={BOUNDARY}"));
        assert_eq!(place.send(anonymous).await.status, 401);
        place.assert_sound().await;
        assert!(place.rows().await.is_empty());
    }
}
