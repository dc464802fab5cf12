//! Queries, paths and headers, through the server.

use crate::budget::fuzz;
use crate::generate::{in_url, number, text};
use crate::operations::{archive, operations};
use crate::wire::{Request, Server};
use civitas_tests::Engine;
use civitas_tests::service::{BASE, CITIES, SYSTEM_CLIENTS};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Names of parameters that no operation has.
const NAMES: &[&str] = &[
    "filter",
    "filter[]",
    "filter[][]",
    "filter[id",
    "filter[id]]",
    "filter[id][]",
    "filter[id_in]",
    "filter[id_eq][]",
    "filter[id_eq][a]",
    "filter[nothing]",
    "filter[_eq]",
    "filter[id_eq_eq]",
    "page",
    "page[]",
    "per_page",
    "per_page[]",
    "page[number]",
    "order",
    "order_direction",
    "order[]",
    "locales",
    "locales[]",
    "locales[][]",
    "space_id",
    "a[b][c]",
    "space_manifest",
    "component_id",
    "extended_data",
    "filter[extended_data_cont]",
    "object_path",
    "include_proposal",
];

#[test]
fn queries_of_lists_and_reads() {
    let servers = Server::on(&Engine::BOTH, &archive(), &[]);
    for server in &servers {
        let lists: Vec<_> = operations(&server.service)
            .into_iter()
            .filter(|operation| operation.method == "GET" && !operation.path.contains("/events"))
            .collect();
        let value = || prop_oneof![3 => text(), 2 => number()];
        let pair = (
            0_usize..200,
            prop_oneof![8 => Just(None), 1 => select(NAMES).prop_map(|n| Some(n.to_owned())), 1 => text().prop_map(Some)],
            value(),
        );
        let strategy = (select(lists), vec(pair, 0..8), any::<bool>()).prop_map(|(list, pairs, is_raw)| {
            let query = pairs.into_iter().map(|(index, name, value)| {
                let known = list.parameters.get(index % list.parameters.len().max(1)).cloned();
                let name = name.or(known).unwrap_or_default();
                // Raw: `&` and `=` of names and values split them.
                let escape = |text: &str| {
                    if is_raw { in_url(text) } else { in_url(text).replace('&', "%26").replace('%', "%25") }
                };
                format!("{}={}", in_url(&name), escape(&value))
            });
            let query = query.collect::<Vec<_>>().join("&");
            let mut target = format!("{}?{query}", list.path);
            target.truncate(60_000);
            (list.token, Request::new("GET", target))
        });
        fuzz(
            &format!("queries, {:?}", server.service.engine),
            servers.len() as u64,
            &strategy,
            |(token, request)| {
                let request =
                    request.clone().with("Authorization", format!("Bearer {}", server.tokens[*token]));
                // A head that is too long has an answer of the parser.
                server.check(&request, true).map(drop)
            },
        );
    }
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn paths() {
    let servers = Server::on(&Engine::BOTH, &archive(), &[]);
    for server in &servers {
        let known: Vec<String> =
            operations(&server.service).into_iter().map(|operation| operation.path).collect();
        let more = [
            "/",
            "/system",
            "/system/sign_in",
            "/files/a/b",
            "/files/",
            "/oauth/token",
            "*",
            "",
            "http://town.test/",
            BASE,
        ];
        let known: Vec<String> = known.into_iter().chain(more.map(str::to_owned)).collect();
        let methods = select(
            &["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"][..],
        );
        let segment = prop_oneof![3 => text(), 2 => number()];
        let strategy = (methods, select(known), vec((0_usize..10, segment, 0_u8..4), 0..4), any::<bool>())
            .prop_map(|(method, path, changes, is_escaped)| {
                let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
                for (at, segment, change) in changes {
                    let segment =
                        if is_escaped { in_url(&segment) } else { segment.replace([' ', '\r', '\n'], "") };
                    let at = at % segments.len();
                    match change {
                        0 => segments.insert(at, segment),
                        1 => segments[at].push_str(&segment),
                        2 => drop(segments.remove(at)),
                        _ => segments[at] = segment,
                    }
                    if segments.is_empty() {
                        segments.push(String::new());
                    }
                }
                let mut target = segments.join("/");
                let end = (0..=target.len().min(60_000)).rev().find(|end| target.is_char_boundary(*end));
                target.truncate(end.unwrap_or(0));
                Request::new(method, target)
            });
        fuzz(&format!("paths, {:?}", server.service.engine), servers.len() as u64, &strategy, |request| {
            let request = request.clone().with("Authorization", format!("Bearer {}", server.tokens[1]));
            server.check(&request, true).map(drop)
        });
    }
    servers.into_iter().for_each(Server::stop);
}

/// Headers that say where a request comes from, or how it is answered.
const HEADERS: &[&str] = &[
    "Host",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Port",
    "X-Forwarded-For",
    "Forwarded",
    "X-Real-IP",
    "Accept-Language",
    "If-None-Match",
    "If-Modified-Since",
    "Range",
    "If-Range",
    "Expect",
    "Cookie",
    "Origin",
    "Access-Control-Request-Method",
    "Last-Event-ID",
    "Accept-Encoding",
    "Content-Encoding",
    "Content-Type",
    "X-Request-Id",
    "Connection",
    "Upgrade",
    "traceparent",
];
/// Their values, besides hostile texts.
const VALUES: &[&str] = &[
    "city.test",
    "CITY.test:99999",
    "city.test.",
    "www.city.test",
    "town.test",
    "[::1]",
    "[::1",
    "::1",
    "127.0.0.1:80",
    "city.test, evil.test",
    ",",
    "for=1.2.3.4;host=city.test;proto=https",
    "for=\"[2001:db8::1]:80\"",
    "for=_x, for=\"",
    "http",
    "https",
    "javascript",
    "1.2.3.4, 5.6.7.8",
    "1.2.3.4:99999",
    "W/\"a\"",
    "*",
    "\"",
    "bytes=0-",
    "bytes=-9999999999999999999",
    "Sat, 31 Feb 2026 25:00:00 GMT",
    "100-continue",
    "close",
    "keep-alive, upgrade",
    "h2c",
    "websocket",
    "gzip, br;q=NaN",
    "text/html; charset=\"",
    "multipart/form-data",
    "application/json; a=b",
    "en;q=2, *;q=-1",
    "00-0-0-00",
    "xn--",
    "a..b",
    "-a.test",
];

#[test]
fn headers_with_and_without_trusted_proxies() {
    let archive = format!("{CITIES}{SYSTEM_CLIENTS}");
    for (name, settings) in [("a proxy", &[("trusted_proxies", "127.0.0.0/8")][..]), ("no proxy", &[])] {
        for server in Server::on(&[Engine::Sqlite], &archive, settings) {
            const PATHS: &[&str] = &[
                "/proposals",
                "/spaces/search?per_page=1",
                "/health",
                "/events",
                "/openapi.json",
                "/oauth/token",
                "/nothing",
            ];
            let piece = || prop_oneof![3 => select(VALUES).prop_map(str::to_owned), 1 => text()];
            let value = vec(piece(), 1..4).prop_map(|pieces| pieces.concat().replace(['\r', '\n'], ""));
            let strategy = (select(PATHS), vec((select(HEADERS), value), 0..6), 0_u8..8).prop_map(
                |(path, headers, odd)| {
                    let mut request = Request::new(
                        if path.ends_with("token") { "POST" } else { "GET" },
                        format!("{BASE}{path}"),
                    );
                    if odd == 0 || headers.iter().any(|(name, _)| *name == "Host") {
                        request.headers.clear();
                    }
                    headers.into_iter().fold(request, |request, (name, value)| request.with(name, value))
                },
            );
            fuzz(&format!("headers, {name}"), 2, &strategy, |request| {
                let authorized =
                    request.clone().with("Authorization", format!("Bearer {}", server.tokens[1]));
                let answer = server.check(&authorized, true)?;
                let names_another = |answer: &crate::wire::Answer| {
                    let text = String::from_utf8_lossy(&answer.body).to_ascii_lowercase();
                    answer.status == 200 && text.contains("://evil")
                        || answer.head.contains("\nlocation: http://evil")
                };
                if answer.is_some_and(|answer| names_another(&answer)) {
                    Err("an address of another host".to_owned())
                } else {
                    Ok(())
                }
            });
            server.stop();
        }
    }
}
