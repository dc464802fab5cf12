//! Lists find what people look for (contract 01 §6.2, §7): searches in a third organization, `metro.test`.

mod counts;
mod orders;
mod others;
mod words;

use civitas_tests::service::{BASE, CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::Value;

/// People, spaces and components of the metro; `§` is its ref.
const METRO: &str = r#"
{"type": "organization", "ref": "metro", "host": "metro.test", "name": {"en": "Metro"}, "available_locales": ["en", "fr"], "default_locale": "en"}
{"type": "user", "ref": "ada", §, "nickname": "ada", "email": "ada@metro.example", "name": "Ada Müller", "confirmed_at": "2026-01-05T09:00:00Z", "tos_accepted_at": "2026-01-05T09:00:00Z"}
{"type": "user", "ref": "bob", §, "nickname": "bob", "email": "bob@metro.example", "name": "Bob Stone", "confirmed_at": "2026-01-05T09:00:00Z", "tos_accepted_at": "2026-01-05T09:00:00Z"}
{"type": "user", "ref": "cleo", §, "nickname": "cleo", "email": "cleo@metro.example", "name": "Cleo Novák", "confirmed_at": "2026-01-05T09:00:00Z", "tos_accepted_at": "2026-01-05T09:00:00Z"}
{"type": "user", "ref": "dora", §, "nickname": "dora", "email": "dora@metro.example", "name": "Δώρα", "confirmed_at": "2026-01-05T09:00:00Z", "tos_accepted_at": "2026-01-05T09:00:00Z"}
{"type": "space", "ref": "streets", §, "manifest": "participatory_processes", "slug": "streets", "title": {"en": "Streets", "fr": "Les rues étroites"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "space", "ref": "council", §, "manifest": "assemblies", "slug": "council", "title": {"en": "Council"}, "published_at": "2026-02-05T09:00:00Z"}
{"type": "component", "ref": "ideas", §, "space": "streets", "manifest": "proposals", "name": {"en": "Ideas", "fr": "Idées"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "motions", §, "space": "council", "manifest": "proposals", "name": {"en": "Motions"}, "published_at": "2026-02-05T09:00:00Z"}
"#;

/// The people who vote, in turn.
const VOTERS: [&str; 3] = ["bob", "cleo", "dora"];

/// The lines of all organizations, with these further records; `§` is the ref of the metro.
fn archive(more: &str) -> String {
    let full = CITIES.lines().find(|line| line.contains("id_city_full")).unwrap();
    let full = full.replace(r#""city""#, r#""metro""#).replace("_city_", "_metro_");
    let [metro, more] = [METRO, more].map(|lines| lines.replace('§', r#""organization": "metro""#));
    format!("{CITIES}{}{full}\n{SYSTEM_CLIENTS}{more}", metro.trim_start())
}

/// Lines of this number of votes for a proposal of the metro.
fn votes(proposal: &str, count: usize) -> String {
    let line = |voter: &&str| {
        format!(
            r#"{{"type": "vote", "ref": "{voter}-{proposal}", "organization": "metro", "proposal": "{proposal}", "user": "{voter}"}}"#
        )
    };
    VOTERS[..count].iter().map(|voter| line(voter) + "\n").collect()
}

/// A person of the metro.
async fn person(service: &Service, nickname: &str) -> Client {
    service.user_through("metro", "full", nickname).await
}

/// The id of a record of the metro.
fn id(service: &Service, kind: &str, reference: &str) -> i64 {
    service.id_in("metro", kind, reference)
}

/// A filter of a query, with everything percent-encoded that is neither letter nor digit.
fn filter(key: &str, value: &str) -> String {
    let escaped = value.bytes().map(|b| match b {
        b if b.is_ascii_alphanumeric() => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    });
    format!("filter[{key}]={}", escaped.collect::<String>())
}

/// The total of a list, counted by the server.
async fn total(client: &Client, path: &str) -> i64 {
    let answer = client.send(Method::GET, path, &[("prefer", "count=exact")], None).await.is(200);
    answer.header("total").parse().unwrap_or_else(|_| panic!("{path}: no total"))
}

/// The rows of all pages of a list: each page has the address of the next one.
async fn rows(client: &Client, path: &str) -> Vec<Value> {
    let (mut rows, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = client.get(&path).await.is(200);
        rows.extend(page.data().as_array().unwrap().iter().cloned());
        next = page.body["meta"]["next"].as_str().map(|url| url.split_once(BASE).unwrap().1.to_owned());
    }
    rows
}

/// The ids of all pages of a list.
async fn ids(client: &Client, path: &str) -> Vec<i64> {
    let rows = rows(client, path).await;
    rows.iter().map(|row| row["id"].as_str().unwrap().parse().unwrap()).collect()
}

/// Asserts that this query of a list finds these records of the metro, in any order, and counts them.
async fn finds(service: &Service, client: &Client, path: &str, kind: &str, expected: &[&str]) {
    let mut expected: Vec<i64> = expected.iter().map(|name| id(service, kind, name)).collect();
    expected.sort_unstable();
    let mut found = ids(client, path).await;
    found.sort_unstable();
    assert_eq!(found, expected, "{:?}: {path}", service.engine);
    let total = total(client, path).await;
    assert_eq!(usize::try_from(total).unwrap(), expected.len(), "{:?}: {path}", service.engine);
}
