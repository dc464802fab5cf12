//! `GET /files/{key}/{filename}`.

use crate::uploads::place::{Place, places, url_of};
use crate::uploads::wire::{Reply, Request, file};

async fn get(place: &Place, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request =
        headers.iter().fold(Request::new("GET", path), |request, (name, value)| request.with(name, value));
    place.send(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_file_is_served() {
    let bytes: Vec<u8> = (b'a'..=b'z').cycle().take(300_000).collect();
    for place in places().await {
        let path = url_of(&place.attach(&[file(b"a.txt", &bytes)]).await);
        for (range, expected) in [
            ("bytes=0-9", 0..10),
            ("bytes=26-", 26..300_000),
            ("bytes=-26", 299_974..300_000),
            ("bytes=299999-", 299_999..300_000),
            ("bytes=100000-200000", 100_000..200_001),
            ("bytes=5-9999999", 5..300_000),
        ] {
            let reply = get(&place, &path, &[("Range", range)]).await;
            assert_eq!(reply.status, 206, "{range}");
            assert_eq!(reply.body, &bytes[expected.clone()], "{range}");
            let said = format!("bytes {}-{}/300000", expected.start, expected.end - 1);
            assert_eq!(reply.header("content-range"), said, "{range}");
            assert_eq!(reply.header("content-length"), expected.len().to_string(), "{range}");
            assert_eq!(reply.header("content-security-policy"), "default-src 'none'; sandbox");
        }
        for range in ["bytes=300000-", "bytes=-0", "bytes=99999999999-"] {
            let reply = get(&place, &path, &[("Range", range)]).await;
            assert_eq!((reply.status, reply.header("content-range")), (416, "bytes */300000"), "{range}");
            assert!(reply.body.is_empty());
        }
        for range in ["bytes=0-1,5-6", "bytes=9-1", "bytes=x", "lines=0-1", "bytes=", &"9".repeat(5_000)] {
            let reply = get(&place, &path, &[("Range", range)]).await;
            assert_eq!((reply.status, reply.body.len()), (200, bytes.len()), "{range}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_has_is_not_sent_again() {
    for place in places().await {
        let path = place.attach_text("a.txt").await;
        let whole = place.fetch(&path).await;
        let etag = whole.header("etag").to_owned();
        assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
        assert_eq!(
            (whole.header("accept-ranges"), whole.header("x-content-type-options")),
            ("bytes", "nosniff")
        );
        for sent in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let reply = get(&place, &path, &[("If-None-Match", &sent), ("Range", "bytes=0-1")]).await;
            assert_eq!((reply.status, reply.header("etag")), (304, etag.as_str()), "{sent}");
            assert!(reply.body.is_empty());
        }
        assert_eq!(get(&place, &path, &[("If-None-Match", "\"x\"")]).await.status, 200);
        let part = |condition: String| {
            let path = path.clone();
            let place = &place;
            async move { get(place, &path, &[("Range", "bytes=0-3"), ("If-Range", &condition)]).await }
        };
        let same = part(etag.clone()).await;
        assert_eq!((same.status, same.body.as_slice()), (206, &b"some"[..]));
        for other in ["\"x\"".to_owned(), format!("W/{etag}"), "Wed, 21 Oct 2015 07:28:00 GMT".to_owned()] {
            let reply = part(other.clone()).await;
            assert_eq!((reply.status, reply.body.as_slice()), (200, &b"some text\n"[..]), "{other}");
        }
        let head = place.send(Request::new("HEAD", &path)).await;
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, "10", 0));
        assert_eq!(head.header("etag"), etag);
        assert_eq!(head.header("content-type"), whole.header("content-type"));
        assert_eq!(head.header("content-disposition"), whole.header("content-disposition"));
        let head = place.send(Request::new("HEAD", &path).with("Range", "bytes=0-3")).await;
        assert!(matches!((head.status, head.header("content-length")), (206, "4") | (200, "10")), "{head:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_key_at_its_own_host_opens_a_file() {
    for place in places().await {
        let path = place.attach_text("a.txt").await;
        let key = path.split('/').nth(2).unwrap();
        let other = if key.ends_with('0') { '1' } else { '0' };
        for wrong in [
            format!("/files/{}{other}/a.txt", &key[..63]),
            format!("/files/{}/a.txt", &key[..63]),
            format!("/files/{key}0/a.txt"),
            format!("/files/{}/a.txt", key.to_uppercase()),
            format!("/files/RIVERTON%2f{key}/a.txt"),
            format!("/files/{key}/thumbnail/a.txt"),
            format!("/files/{key}"),
            format!("/files/{key}/a/b/c.txt"),
            format!("/files/..%2f{key}/a.txt"),
            "/files/%2e%2e%2f%2e%2e%2fcivitas.db/a.txt".to_owned(),
            "/files/../../../../etc/passwd".to_owned(),
            "/files/%00/a.txt".to_owned(),
            "/files//a.txt".to_owned(),
            "/files/".to_owned(),
            "/files/.staging/a.txt".to_owned(),
        ] {
            let reply = place.fetch(&wrong).await;
            let is_upper = key.to_uppercase() == key && wrong.contains(key);
            assert!(reply.status == 404 || is_upper, "{wrong}: {reply:?}");
        }
        for host in ["town.test", "elsewhere.test", "localhost"] {
            assert_eq!(place.send(Request::at(host, "GET", &path)).await.status, 404, "{host}");
        }
        let secondary = place.send(Request::at("www.city.test", "GET", &path)).await;
        let primary = format!("http://city.test{path}");
        assert_eq!((secondary.status, secondary.header("location")), (301, primary.as_str()));
        let renamed = format!("/files/{key}/another%20name.exe");
        let reply = place.fetch(&renamed).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "text/plain"), "the name is cosmetic");
        assert_eq!(reply.header("content-disposition"), "attachment; filename*=UTF-8''a.txt");
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            let reply = place.send(Request::new(method, &path)).await;
            assert!(matches!(reply.status, 400..=499), "{method}: {reply:?}");
        }
        place.assert_sound().await;
    }
}
