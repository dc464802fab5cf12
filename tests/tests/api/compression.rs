//! Compressed answers (contract 01 §11d).

use civitas_tests::service::{BASE, Service, http};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use std::io::Read;

struct Sent {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Sent {
    fn header(&self, name: &str) -> String {
        let values = self.headers.get_all(name).iter().map(|value| value.to_str().unwrap());
        values.collect::<Vec<_>>().join(", ")
    }

    fn decoded(&self) -> Vec<u8> {
        let (mut decoded, bytes) = (Vec::new(), &*self.bytes);
        match &*self.header("content-encoding") {
            "" => decoded.extend_from_slice(bytes),
            "gzip" => drop(flate2::read::GzDecoder::new(bytes).read_to_end(&mut decoded).unwrap()),
            "br" => drop(brotli::Decompressor::new(bytes, 4096).read_to_end(&mut decoded).unwrap()),
            "zstd" => decoded = zstd::stream::decode_all(bytes).unwrap(),
            other => panic!("{other}"),
        }
        decoded
    }
}

async fn ask(service: &Service, method: Method, path: &str, headers: &[(&str, &str)]) -> Sent {
    let mut request = http().request(method, format!("http://{}{path}", service.address));
    request = request.header("host", "city.test");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status(), answer.headers().clone());
    Sent { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
}

#[tokio::test]
async fn long_documents_are_compressed_as_asked_and_keep_their_validators() {
    for service in Service::on_both_engines().await {
        let token = service.machine().await.token.unwrap();
        let bearer = format!("Bearer {token}");
        let path = format!("{BASE}/proposals");
        let plain = ask(&service, Method::GET, &path, &[("authorization", &bearer)]).await;
        assert!(plain.bytes.len() > 1024);
        assert_eq!(plain.header("vary"), "Authorization, Prefer, Accept-Encoding");
        for (accepted, encoding) in [
            ("gzip", "gzip"),
            ("br", "br"),
            ("zstd", "zstd"),
            ("gzip;q=0.5, br;q=1.0", "br"),
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip, deflate, br", "gzip"),
            ("br, gzip;q=0.8", "br"),
            ("br;q=0, gzip", "gzip"),
            ("identity", ""),
            ("identity;q=0, compress", ""),
            ("strange", ""),
        ] {
            let headers = [("authorization", &*bearer), ("accept-encoding", accepted)];
            let sent = ask(&service, Method::GET, &path, &headers).await;
            assert_eq!((sent.status, &*sent.header("content-encoding")), (StatusCode::OK, encoding));
            assert_eq!(sent.decoded(), plain.bytes, "{accepted}");
            assert!(encoding.is_empty() || sent.bytes.len() < plain.bytes.len() / 2, "{accepted}");
            assert_eq!(sent.header("etag"), plain.header("etag"));
            assert!(sent.header("vary").to_lowercase().contains("accept-encoding"), "{accepted}");
            let etag = sent.header("etag");
            let headers = [("if-none-match", &*etag), headers[0], headers[1]];
            let fresh = ask(&service, Method::GET, &path, &headers).await;
            assert_eq!((fresh.status.as_u16(), fresh.bytes.len()), (304, 0), "{accepted}");
            assert_eq!(fresh.header("etag"), etag);
            assert_eq!(fresh.header("content-encoding"), "");
            assert_eq!(fresh.header("vary"), plain.header("vary"));
        }
    }
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_body() {
    for service in Service::on_both_engines().await {
        let bearer = format!("Bearer {}", service.machine().await.token.unwrap());
        let path = format!("{BASE}/proposals");
        for accepted in ["gzip", "br", "zstd", "identity"] {
            let headers = [("authorization", &*bearer), ("accept-encoding", accepted)];
            let get = ask(&service, Method::GET, &path, &headers).await;
            let head = ask(&service, Method::HEAD, &path, &headers).await;
            assert!(head.bytes.is_empty());
            let names =
                ["content-encoding", "content-length", "content-type", "etag", "last-modified", "vary"];
            for name in names {
                assert_eq!(head.header(name), get.header(name), "{accepted} {name}");
            }
            assert_eq!(get.header("content-length"), get.bytes.len().to_string(), "{accepted}");
        }
    }
}

#[tokio::test]
async fn short_answers_streams_and_pages_outside_of_the_interface_are_sent_as_they_are() {
    for service in Service::on_both_engines().await {
        let anonymous = service.anonymous();
        let asked = [("accept-encoding", "gzip, br, zstd")];
        for (path, is_compressed) in [
            (format!("{BASE}/health"), false),
            (format!("{BASE}/openapi.json"), true),
            (format!("{BASE}/docs"), true),
            ("/system/admins/sign_in".to_owned(), false),
        ] {
            let sent = ask(&service, Method::GET, &path, &asked).await;
            assert_eq!(sent.status, StatusCode::OK, "{path}");
            assert_eq!(!sent.header("content-encoding").is_empty(), is_compressed, "{path}");
        }
        let document = ask(&service, Method::GET, &format!("{BASE}/openapi.json"), &asked).await;
        let plain = anonymous.raw(Method::GET, &format!("{BASE}/openapi.json"), &[], None).await;
        assert_eq!(document.decoded(), plain.text.into_bytes());

        let machine = service.machine().await;
        let bearer = format!("Bearer {}", machine.token.clone().unwrap());
        let stream = http()
            .get(format!("http://{}{BASE}/events", service.address))
            .header("host", "city.test")
            .header("authorization", bearer)
            .header("accept-encoding", "gzip, br, zstd")
            .send()
            .await
            .unwrap();
        assert_eq!(stream.status(), StatusCode::OK);
        assert!(stream.headers().get("content-encoding").is_none());
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
    }
}
