//! Bodies and queries that are forms (contract 01 §2).

use civitas_tests::service::{Answer, BASE, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::borrow::Cow;

const URLENCODED: &str = "application/x-www-form-urlencoded";

/// Writes extended data with a form.
async fn put(client: &Client, media_type: &str, form: &[u8]) -> Answer {
    let path = format!("{BASE}/me/extended_data/sync");
    client.raw(Method::PUT, &path, &[("content-type", media_type)], Some(form.to_vec())).await
}

/// The same fields in both encodings.
fn encodings(fields: &str) -> [(&'static str, Vec<u8>); 2] {
    let part = |(name, value): (Cow<str>, Cow<str>)| {
        format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let parts = url::form_urlencoded::parse(fields.as_bytes()).map(part);
    let parts: String = parts.chain(["--b--\r\n".to_owned()]).collect();
    [(URLENCODED, fields.into()), ("multipart/form-data; boundary=b", parts.into_bytes())]
}

async fn stored(client: &Client) -> Value {
    client.get("/me/extended_data?object_path=.").await.is(200).data().clone()
}

#[tokio::test]
async fn a_list_of_objects_in_a_form_is_stored_as_a_list_of_objects() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for (fields, expected) in [
            ("data[a][][b]=1&data[a][][c]=2&data[a][][b]=3", json!([{"b": "1", "c": "2"}, {"b": "3"}])),
            (
                "data[a][][b][c]=1&data[a][][b][d]=2&data[a][][e][]=3",
                json!([{"b": {"c": "1", "d": "2"}, "e": ["3"]}]),
            ),
            ("data[a][]=1&data[a][]=2", json!(["1", "2"])),
        ] {
            for (media_type, form) in encodings(fields) {
                put(&nora, media_type, &form).await.is(200);
                assert_eq!(stored(&nora).await["a"], expected, "{media_type}: {fields}");
            }
        }
    }
}

#[tokio::test]
async fn a_form_or_query_that_contradicts_itself_or_is_not_utf8_is_refused() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let before = stored(&nora).await;
        let refuse = async |media_type: &str, form: &[u8]| {
            let refused = put(&nora, media_type, form).await.is(400);
            let what = String::from_utf8_lossy(form);
            assert_eq!(
                (&refused.body["error"], &refused.body["error_description"]),
                (&json!("400: Bad request"), &json!("Malformed form")),
                "{media_type}: {what}"
            );
        };
        for fields in
            ["data[a]=1&data[a][b]=2", "data[a][b]=1&data[a]=2", "data[a][]=1&data[a]=2", "data[a=1"]
        {
            for (media_type, form) in encodings(fields) {
                refuse(media_type, &form).await;
            }
        }
        for charset in ["", "; charset=ISO-8859-1", "; charset=utf-8"] {
            for form in [&b"data[a]=caf%E9"[..], b"data[caf%E9]=1", b"data[a]=caf\xe9", b"data[a]=%00"] {
                refuse(&format!("{URLENCODED}{charset}"), form).await;
            }
        }
        let part = b"--b\r\ncontent-disposition: form-data; name=\"data[a]\"\r\n\r\ncaf\xe9\r\n--b--\r\n";
        refuse("multipart/form-data; boundary=b", part).await;
        for query in ["filter[title_start]=caf%E9", "%E9=1", "page=1&x=%C3%28", "x=%00"] {
            nora.get(&format!("/proposals?{query}")).await.refuses(400, "Malformed query");
        }
        nora.put("/me/extended_data/sync?object_path=caf%E9", &json!({"data": 1}))
            .await
            .refuses(400, "Malformed query");
        assert_eq!(stored(&nora).await, before);
        nora.get("/proposals?x=caf%C3%A9").await.is(200);
    }
}
