//! Bodies of all writes, credentials and forms with files, through the server.

use crate::budget::fuzz;
use crate::generate::{damage, damaged, edit, edited, in_url, json, text};
use crate::operations::{Operation, archive, operations};
use crate::wire::{Request, Server};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use civitas_tests::Engine;
use civitas_tests::service::{BASE, CITIES, SYSTEM_CLIENTS};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json as document};

/// The members of a document as a form with brackets.
fn form(at: &str, value: &Value, found: &mut Vec<String>) {
    let name = |part: &str| if at.is_empty() { part.to_owned() } else { format!("{at}[{part}]") };
    match value {
        Value::Object(members) => members.iter().for_each(|(part, value)| form(&name(part), value, found)),
        Value::Array(items) => items.iter().for_each(|value| form(&name(""), value, found)),
        Value::String(text) => found.push(format!("{}={}", in_url(at), in_url(text))),
        value => found.push(format!("{}={value}", in_url(at))),
    }
}

/// A body of an operation with changes.
fn body_of(operations: Vec<Operation>) -> impl Strategy<Value = (usize, Request)> {
    let media = select(
        &[
            "application/json",
            "application/json",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "text/plain",
            "",
        ][..],
    );
    let damages = prop_oneof![6 => Just(Vec::new()), 1 => vec(damage(), 1..3)];
    let whole = prop_oneof![12 => Just(None), 1 => json().prop_map(Some)];
    (select(operations), vec(edit(), 0..4), damages, media, whole).prop_map(
        |(operation, edits, damages, media, whole)| {
            let example = operation.body.clone().unwrap_or_default();
            let text = whole.unwrap_or_else(|| edited(&example, &edits));
            let text = match serde_json::from_str(&text) {
                Ok(value) if media.contains("form") => {
                    let mut members = Vec::new();
                    form("", &value, &mut members);
                    members.join("&")
                }
                _ => text,
            };
            let body = damaged(text.as_bytes(), &damages);
            (operation.token, Request::new(&operation.method, operation.path).body(media, body))
        },
    )
}

fn bodies(name: &str, is_wanted: impl Fn(&Operation) -> bool) {
    let servers = Server::on(&Engine::BOTH, &archive(), &[]);
    for server in &servers {
        let writes = operations(&server.service).into_iter().filter(|operation| operation.body.is_some());
        let strategy = body_of(writes.filter(|operation| is_wanted(operation)).collect());
        fuzz(
            &format!("{name}, {:?}", server.service.engine),
            servers.len() as u64,
            &strategy,
            |(token, request)| {
                let request =
                    request.clone().with("Authorization", format!("Bearer {}", server.tokens[*token]));
                server.check(&request, false).map(drop)
            },
        );
        // What was written does not spoil what is read.
        for operation in
            operations(&server.service).iter().filter(|o| o.method == "GET" && !o.path.contains("/events"))
        {
            let request = Request::new("GET", operation.path.clone());
            let request = request.with("Authorization", format!("Bearer {}", server.tokens[operation.token]));
            server
                .check(&request, false)
                .unwrap_or_else(|fault| panic!("{} after {name}: {fault}", operation.path));
        }
    }
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn bodies_of_forms() {
    let is_form = |path: &str| {
        ["/answers", "/questions", "/answer_options", "/questionnaires"].iter().any(|p| path.contains(p))
    };
    bodies("bodies of forms", |operation| is_form(&operation.path));
}

#[test]
fn bodies_of_other_writes() {
    bodies("bodies of other writes", |operation| {
        !["/answers", "/questions", "/answer_options", "/questionnaires", "/oauth"]
            .iter()
            .any(|p| operation.path.contains(p))
    });
}

/// Requests for tokens and about them.
fn oauth() -> Vec<(&'static str, Value)> {
    let client = |more: Value| {
        let mut all =
            document!({"client_id": "id_city_full", "client_secret": "key_city_full", "scope": "public"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    vec![
        ("/oauth/token", client(document!({"grant_type": "client_credentials"}))),
        (
            "/oauth/token",
            client(
                document!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum", "extra": {"a": 1}}),
            ),
        ),
        (
            "/oauth/token",
            client(
                document!({"grant_type": "password", "auth_type": "impersonate", "username": "new_person",
            "meta": {"register_on_missing": true, "email": "new@city.example", "name": "New", "accept_tos_on_register": true}}),
            ),
        ),
        (
            "/oauth/token",
            client(
                document!({"grant_type": "password", "auth_type": "login", "username": "nobody_here", "password": "x"}),
            ),
        ),
        ("/oauth/introspect", client(document!({"token": "x"}))),
        ("/oauth/revoke", client(document!({"token": "x", "token_type_hint": "access_token"}))),
    ]
}

#[test]
fn credentials() {
    let servers = Server::on(&Engine::BOTH, &format!("{CITIES}{SYSTEM_CLIENTS}"), &[]);
    for server in &servers {
        let token = server.tokens[0].clone();
        let basic = STANDARD.encode("id_city_full:key_city_full");
        let authorization = prop_oneof![
            3 => Just(None),
            2 => vec(damage(), 0..3).prop_map(move |damages| Some(damaged(format!("Bearer {token}").as_bytes(), &damages))),
            2 => vec(damage(), 0..3).prop_map(move |damages| Some(damaged(format!("Basic {basic}").as_bytes(), &damages))),
            2 => (text(), text()).prop_map(|(id, secret)| {
                Some(format!("Basic {}", STANDARD.encode(format!("{id}:{secret}"))).into_bytes())
            }),
            1 => text().prop_map(|text| Some(text.into_bytes())),
        ];
        let strategy =
            (select(oauth()), vec(edit(), 0..3), authorization, any::<bool>(), vec(damage(), 0..2), 0_u8..5)
                .prop_map(|((path, example), edits, authorization, is_form, damages, part)| {
                    let text = edited(&example, &edits);
                    let mut members = Vec::new();
                    let value = if is_form { serde_json::from_str(&text).ok() } else { None };
                    if let Some(value) = &value {
                        form("", value, &mut members);
                    }
                    let (media, text) = match value {
                        Some(_) => ("application/x-www-form-urlencoded", members.join("&")),
                        None => ("application/json", text),
                    };
                    let body = if part == 0 { damaged(text.as_bytes(), &damages) } else { text.into_bytes() };
                    let request = Request::new("POST", format!("{BASE}{path}")).body(media, body);
                    let line = |value: Vec<u8>| {
                        value.into_iter().filter(|b| !b"\r\n\0".contains(b)).take(6_000).collect::<Vec<_>>()
                    };
                    authorization
                        .into_iter()
                        .fold(request, |request, value| request.with("Authorization", line(value)))
                });
        fuzz(
            &format!("credentials, {:?}", server.service.engine),
            servers.len() as u64,
            &strategy,
            |request| server.check(request, true).map(drop),
        );
    }
    servers.into_iter().for_each(Server::stop);
}

/// Heads of the parts of a form.
const HEADS: &[&str] = &[
    "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"",
    "Content-Disposition: form-data; name=\"file\"; filename=\"../../a.png\"",
    "Content-Disposition: form-data; name=\"file\"; filename*=UTF-8''%ff%00a.txt",
    "Content-Disposition: form-data; name=\"file\"; filename=\"",
    "Content-Disposition: form-data; name=file",
    "Content-Disposition: form-data",
    "Content-Disposition: attachment; name=\"title[en]\"",
    "Content-Disposition: form-data; name=\"title[en]\"",
    "Content-Disposition: form-data; name=\"title\"",
    "Content-Disposition: form-data; name=\"attached_to_type\"",
    "Content-Disposition: form-data; name=\"attached_to_id\"",
    "Content-Disposition: form-data; name=\"weight\"",
    "Content-Disposition: form-data; name=\"a[b][c][]\"",
    "Content-Disposition: form-data; name=\"data[attributes][title][en]\"",
    "Content-Type: text/plain",
    "Content-Length: 99999999999999999999",
    "Content-Transfer-Encoding: base64",
    "X: \u{0}",
    "",
];

/// Forms with parts of all kinds, behind the parts of a sound attachment to this proposal in half of them.
fn form_of_parts(proposal: String) -> impl Strategy<Value = Request> {
    let content = prop_oneof![
        text().prop_map(String::into_bytes),
        vec(any::<u8>(), 0..64),
        Just(proposal.clone().into_bytes())
    ];
    let part = (vec(select(HEADS), 0..3), content);
    let boundary = select(
        &[
            "b",
            "",
            "a b",
            "\"b\"",
            "b; boundary=c",
            "é",
            "----------------------------------------------------------------------------------",
        ][..],
    );
    let path = select(
        &["/attachments", "/attachments", "/me/extended_data/sync", "/vote_proposals/sync", "/oauth/token"][..],
    );
    (vec(part, 0..6), boundary, path, vec(damage(), 0..2), 0_u8..4, any::<bool>()).prop_map(
        move |(parts, boundary, path, damages, damage, is_sound)| {
            let mut body = Vec::new();
            let sound = [
                ("attached_to_type", "proposals"),
                ("attached_to_id", proposal.as_str()),
                ("title[en]", "A title"),
            ];
            for (name, value) in sound.iter().filter(|_| is_sound) {
                body.extend(
                    format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
                        .bytes(),
                );
            }
            for (heads, content) in parts {
                body.extend(
                    format!("--b\r\n{}\r\n\r\n", heads.join("\r\n")).bytes().chain(content).chain(*b"\r\n"),
                );
            }
            body.extend(b"--b--\r\n");
            let body = if damage == 0 { damaged(&body, &damages) } else { body };
            let method = if path.starts_with("/me") { "PUT" } else { "POST" };
            Request::new(method, format!("{BASE}{path}"))
                .body(&format!("multipart/form-data; boundary={boundary}"), body)
        },
    )
}

#[test]
fn forms_with_files() {
    let servers = Server::on(&Engine::BOTH, &archive(), &[]);
    for server in &servers {
        let strategy = form_of_parts(server.service.id("proposal", "p1").to_string());
        fuzz(
            &format!("forms with files, {:?}", server.service.engine),
            servers.len() as u64,
            &strategy,
            |request| {
                let request = request.clone().with("Authorization", format!("Bearer {}", server.tokens[0]));
                server.check(&request, false).map(drop)
            },
        );
    }
    servers.into_iter().for_each(Server::stop);
}
