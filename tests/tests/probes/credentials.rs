//! Tokens and clients of other organizations.

use crate::targets::PROBE;
use crate::world::{FULL, ORGANIZATIONS, World, name};
use crate::{AT_ONCE, Choices, Told};
use civitas_tests::service::{BASE, Client};
use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request that is sent with a foreign and with an unknown credential.
struct Request {
    kind: &'static str,
    client: Client,
    method: Method,
    path: String,
    body: Option<Value>,
    /// The token, the name of the client, or the id of the user.
    secret: String,
}

async fn told(request: &Request) -> Told {
    let body = request.body.as_ref().map(|body| body.to_string().into_bytes());
    let headers: &[_] = if body.is_some() { &[("content-type", "application/json")] } else { &[] };
    let answer = request.client.raw(request.method.clone(), &request.path, headers, body).await;
    Told::of(&answer, request.path.contains('?'))
}

/// A token of the same form that was never issued.
fn never_issued(token: &str, choices: &mut Choices) -> String {
    let (head, _) = token.rsplit_once('.').expect("a token");
    let signature: String = (0..43).map(|_| char::from(b"abcdefghijklmnop"[choices.below(16)])).collect();
    format!("{head}.{signature}")
}

fn bearer(world: &World, host: usize, token: &str, choices: &mut Choices) -> Request {
    let target = choices.one_of(&world.targets).clone();
    let mut path = target.path.replace(PROBE, "1");
    for kind in target.needs() {
        path = path.replace(&format!("<<{kind}>>"), "1");
    }
    let client = world.actors[host][0].client.bearing(token);
    let (body, method) = (target.body.clone().map(|_| json!({})), target.method.clone());
    Request { kind: "bearer", client, method, path: format!("{BASE}{path}"), body, secret: token.to_owned() }
}

fn oauth(world: &World, host: usize, token: &str, kind: &'static str) -> Request {
    let client = world.actors[host][0].client.clone();
    let anonymous = client.without_token();
    let own = name(host);
    let credentials = json!({"token": token, "client_id": format!("id_{own}_full"),
        "client_secret": format!("key_{own}_full")});
    let (client, path, body) = match kind {
        "introspection by a bearer" => (client, "/oauth/introspect", json!({"token": token})),
        "introspection by a client" => (anonymous, "/oauth/introspect", credentials),
        "introspection with it" => (client.bearing(token), "/oauth/introspect", json!({"token": token})),
        "revocation by a client" => (anonymous, "/oauth/revoke", credentials),
        _ => (anonymous, "/oauth/revoke", json!({"token": token})),
    };
    let (body, path) = (Some(body), format!("{BASE}{path}"));
    Request { kind, client, method: Method::POST, path, body, secret: token.to_owned() }
}

/// A token request with a client of this name, or for a user with this id.
fn grant(world: &World, host: usize, client: &str, user: Option<&str>) -> Request {
    let anonymous = world.actors[host][0].client.without_token();
    let mut body = json!({"grant_type": "client_credentials", "client_id": format!("id_{client}_full"),
        "client_secret": format!("key_{client}_full"), "scope": "public"});
    if let Some(user) = user {
        body["grant_type"] = json!("password");
        body["auth_type"] = json!("impersonate");
        body["id"] = json!(user);
    }
    let (kind, secret) = match user {
        Some(user) => ("impersonation by id", user),
        None => ("token request", client),
    };
    let (method, path) = (Method::POST, format!("{BASE}/oauth/token"));
    Request { kind, client: anonymous, method, path, body: Some(body), secret: secret.to_owned() }
}

const BODIES: [&str; 5] = [
    "introspection by a bearer",
    "introspection by a client",
    "introspection with it",
    "revocation by a client",
    "revocation without a client",
];

fn pair(world: &World, number: usize, choices: &mut Choices) -> Option<[Request; 2]> {
    let (host, owner) = (choices.below(ORGANIZATIONS), choices.below(ORGANIZATIONS));
    if host == owner {
        return None;
    }
    let token = choices.one_of(&world.actors[owner]).client.token.clone().expect("a token");
    let unknown = never_issued(&token, choices);
    Some(match number % 9 {
        kind @ 0..5 => [&token, &unknown].map(|token| oauth(world, host, token, BODIES[kind])),
        5 => {
            let missing = format!("x{}", choices.below(99));
            [name(owner), missing].map(|client| grant(world, host, &client, None))
        }
        6 => {
            let users = world.records(choices.below(FULL), "user");
            let foreign = choices.one_of(users).clone();
            if world.records(host, "user").contains(&foreign) {
                return None;
            }
            [foreign.as_str(), "987654321"].map(|user| grant(world, host, &name(host), Some(user)))
        }
        _ => {
            let seed = choices.next();
            [&token, &unknown].map(|token| bearer(world, host, token, &mut Choices(seed)))
        }
    })
}

/// Sends `count` probes; adds to the counts, and the differences.
pub async fn probe(
    world: &World,
    count: usize,
    counts: &mut BTreeMap<String, usize>,
    different: &mut Vec<String>,
) {
    let mut choices = Choices(7);
    let pairs: Vec<_> = (0..count).filter_map(|number| pair(world, number, &mut choices)).collect();
    let mut answers = stream::iter(pairs)
        .map(|[foreign, unknown]| async move {
            let (one, other) = (told(&foreign).await, told(&unknown).await);
            (foreign, unknown.secret, one, other)
        })
        .buffer_unordered(AT_ONCE);
    while let Some((request, secret, foreign, unknown)) = answers.next().await {
        *counts.entry(format!("token {} {}", request.kind, unknown.status)).or_default() += 1;
        if !foreign.is_as(&unknown, &request.secret, &secret) {
            let Request { kind, method, path, .. } = request;
            different.push(format!("{kind} {method} {path}\n  {foreign:?}\n  {unknown:?}"));
        }
    }
    drop(answers);
    for actors in &world.actors {
        for actor in actors {
            let asked = json!({"token": actor.client.token});
            let answer = actor.client.post("/oauth/introspect", &asked).await.is(200);
            assert_eq!(answer.body["active"], json!(true), "a token still is what it was");
        }
    }
}
