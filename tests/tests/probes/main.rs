//! A record of another organization cannot be told from one that does not exist, and a token of another organization
//! cannot be told from one that was never issued (contract 01 §1).
//!
//! A hundred organizations are equal in everything but their hosts. Each probe is sent twice: with an id or token of
//! another organization, and with one that does not exist. `CIVITAS_PROBES` is their number for each engine.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod credentials;
mod statements;
mod targets;
mod world;

use civitas_archive::ExportOptions;
use civitas_tests::Engine;
use civitas_tests::service::{Answer, BASE, Client};
use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use targets::{PROBE, Target, targets};
use world::{FULL, ORGANIZATIONS, World};

/// The probes of an ordinary run, for each engine.
const PROBES: usize = 3_000;
/// Requests at the same time.
const AT_ONCE: usize = 8;

/// The number of probes for each engine.
#[expect(clippy::disallowed_methods, reason = "how long a test runs is no setting of the server")]
fn probes() -> usize {
    std::env::var("CIVITAS_PROBES").ok().map_or(PROBES, |count| count.parse().expect("a number of probes"))
}

/// A sequence that looks random and is the same in each run.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).expect("31 bits") % limit
    }

    fn one_of<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}

/// What an answer tells, without what is random.
#[derive(Debug, PartialEq, Clone)]
struct Told {
    status: u16,
    headers: BTreeMap<String, String>,
    text: String,
}

impl Told {
    /// The entity tag of a list depends on its query, which the client knows; only its presence is kept.
    fn of(answer: &Answer, has_query: bool) -> Self {
        // Whether the connection stays open depends on how much of the body had arrived.
        let random = ["date", "x-request-id", "content-length", "connection"];
        let headers = answer.headers.iter().filter(|(name, _)| !random.contains(&name.as_str()));
        let headers = headers.map(|(name, value)| {
            let is_hidden = has_query && name == "etag";
            let value = if is_hidden { "present".into() } else { String::from_utf8_lossy(value.as_bytes()) };
            (name.to_string(), value.into_owned())
        });
        Self { status: answer.status.as_u16(), headers: headers.collect(), text: answer.text.clone() }
    }

    /// Whether it is the answer to the same request with `missing` for `foreign`. `missing` is so long that it is in
    /// the answer only if the request is repeated there.
    fn is_as(&self, other: &Self, foreign: &str, missing: &str) -> bool {
        let headers =
            other.headers.iter().map(|(name, value)| (name.clone(), value.replace(missing, foreign)));
        let text = other.text.replace(missing, foreign);
        *self == Self { status: other.status, headers: headers.collect(), text }
    }
}

/// An id of the same form that no record has.
fn missing(kind: &str, foreign: &str, choices: &mut Choices) -> String {
    let hex = |length: usize, choices: &mut Choices| -> String {
        (0..length)
            .map(|_| char::from_digit(u32::try_from(choices.below(16)).unwrap(), 16).unwrap())
            .collect()
    };
    match kind {
        "job" | "submission" => {
            let text = hex(32, choices);
            format!("{}-{}-4{}-8{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..])
        }
        "role" => {
            use base64::Engine as _;
            let code = base64::engine::general_purpose::URL_SAFE_NO_PAD;
            let mut role: Value = serde_json::from_slice(&code.decode(foreign).unwrap()).unwrap();
            role["user_id"] = json!(900_000_000 + choices.below(99_999_999));
            code.encode(role.to_string())
        }
        "upload" => format!("{}--{}", foreign.split("--").next().unwrap(), hex(64, choices)),
        "magic link" => hex(foreign.len(), choices),
        "file" => {
            let (key, name) = foreign.split_once('/').unwrap();
            format!("{}/{name}", hex(key.len(), choices))
        }
        _ => (900_000_000 + choices.below(99_999_999)).to_string(),
    }
}

/// A request to an organization, with this id at the place of the target.
async fn ask(world: &World, host: usize, client: &Client, target: &Target, id: &str) -> Told {
    let fill = |text: &str| {
        let mut text = text.replace(PROBE, id);
        for kind in target.needs() {
            text = text.replace(&format!("<<{kind}>>"), own(world, host, &kind));
        }
        text
    };
    let path = fill(&target.path);
    let path = if target.place == "file" { path } else { format!("{BASE}{path}") };
    // PROBE is written as an escape in JSON.
    let body =
        target.body.as_ref().map(|body| fill(&body.to_string().replace("\\u0001", PROBE)).into_bytes());
    let headers: &[_] = if body.is_some() { &[("content-type", "application/json")] } else { &[] };
    let is_upload = target.kind == "upload" && target.place == "path";
    let (headers, body) =
        if is_upload { (&[][..], Some(b"hello world\n".to_vec())) } else { (headers, body) };
    let answer = client.raw(target.method.clone(), &path, headers, body).await;
    if answer.status == 202 && answer.body["job_id"].is_string() {
        let mut job = client.finished(&answer).await;
        for random in ["id", "created_at", "updated_at", "links"] {
            job.as_object_mut().unwrap().remove(random);
        }
        return Told { status: 202, headers: BTreeMap::new(), text: job.to_string() };
    }
    Told::of(&answer, target.path.contains('?'))
}

/// An own record; a questionnaire of a survey comes first.
fn own<'w>(world: &'w World, host: usize, kind: &str) -> &'w str {
    world.records(host, kind).first().unwrap_or_else(|| panic!("no {kind} in {host}"))
}

/// The callers that a target does not refuse for their rights, by name. All of them where it refuses everybody: other
/// organizations are a 403 for system clients (contract 03 §1.4).
async fn callers(world: &World, target: &Target) -> Vec<&'static str> {
    let mut callers = Vec::new();
    let id = missing(&target.kind, own(world, 1, &target.kind), &mut Choices(1));
    for actor in &world.actors[0] {
        let told = ask(world, 0, &actor.client, target, &id).await;
        if told.status != 403 && !told.text.contains("User required") {
            callers.push(actor.name);
        }
    }
    if callers.is_empty() { world.actors[0].iter().map(|actor| actor.name).collect() } else { callers }
}

/// A probe: target, host, caller, and the id of another organization.
struct Probe {
    target: usize,
    host: usize,
    caller: &'static str,
    foreign: String,
    missing: String,
}

fn choose(world: &World, targets: &[(Target, Vec<&'static str>)], count: usize) -> Vec<Probe> {
    let mut choices = Choices(20_261_123);
    let mut probes = Vec::new();
    for number in 0..count * 2 {
        let index = number % targets.len();
        let (target, callers) = &targets[index];
        let hosts = if target.is_plain() && number % 3 != 0 { ORGANIZATIONS } else { FULL };
        let host = choices.below(hosts);
        let caller = *choices.one_of(callers);
        let caller = if host >= FULL && !["maryadmin", "machine", "system"].contains(&caller) {
            "maryadmin"
        } else {
            caller
        };
        let owner = choices.below(ORGANIZATIONS);
        let owner = if world.records(owner, &target.kind).is_empty() { choices.below(FULL) } else { owner };
        if owner == host || !callers.contains(&caller) {
            continue;
        }
        let foreign = choices.one_of(world.records(owner, &target.kind)).clone();
        // Spaces of different kinds, and different records with attachments, may have the same number.
        let is_own = ["space", "proposal", "meeting", "post", "organization"]
            .iter()
            .any(|kind| world.records(host, kind).contains(&foreign));
        if !is_own {
            let missing = missing(&target.kind, &foreign, &mut choices);
            probes.push(Probe { target: index, host, caller, foreign, missing });
        }
        if probes.len() == count {
            break;
        }
    }
    probes
}

/// Everything that an archive has, and lists; one line for each record and list.
async fn content(world: &World) -> Vec<String> {
    let archive =
        world.service.export(&ExportOptions { with_secrets: true, ..ExportOptions::default() }).await;
    let mut lines: Vec<String> = archive.lines().map(str::to_owned).collect();
    for organization in 0..FULL {
        for actor in &world.actors[organization] {
            for path in ["/users", "/roles", "/proposals", "/attachments", "/webhook_registrations"] {
                lines.push(actor.client.raw(Method::GET, &format!("{BASE}{path}"), &[], None).await.text);
            }
        }
    }
    lines
}

/// Own links and uploads still work, and each record is found where it belongs.
async fn positive(world: &World) {
    let mut seen = BTreeMap::new();
    for target in targets().iter().filter(|target| target.place == "path" && target.method == Method::GET) {
        for id in world.records(1, &target.kind) {
            for actor in &world.actors[1] {
                if target.path.ends_with("/events") || target.kind == "magic link" {
                    continue;
                }
                let told = ask(world, 1, &actor.client, target, id).await;
                *seen.entry(target.path.clone()).or_insert(false) |= told.status == 200;
            }
        }
    }
    let never: Vec<_> = seen.iter().filter(|(_, is_found)| !**is_found).collect();
    assert!(never.is_empty(), "no record is found at its own host: {never:?}");
    for organization in 0..FULL {
        let anonymous = world.actors[organization][0].client.without_token();
        let signed = &world.records(organization, "upload")[0];
        let path = format!("{BASE}/attachments/direct_upload/{signed}");
        anonymous.raw(Method::PUT, &path, &[], Some(b"hello world\n".to_vec())).await.is(204);
        let token = &world.records(organization, "magic link")[0];
        anonymous.raw(Method::GET, &format!("{BASE}/me/magic_links/{token}"), &[], None).await.is(302);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_of_another_organization_is_as_if_it_were_not_there() {
    statements::log();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let world = Arc::new(world);
        statements::forget();
        let before = content(&world).await;
        let mut targets: Vec<(Target, Vec<&'static str>)> = Vec::new();
        for target in self::targets() {
            let callers = callers(&world, &target).await;
            targets.push((target, callers));
        }
        let probes = choose(&world, &targets, probes());
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut different = Vec::new();
        let mut answers = stream::iter(&probes)
            .map(|probe| {
                let (world, target) = (&world, &targets[probe.target].0);
                async move {
                    let client = world.actor(probe.host, probe.caller).unwrap();
                    let foreign = ask(world, probe.host, client, target, &probe.foreign).await;
                    let missing = ask(world, probe.host, client, target, &probe.missing).await;
                    (probe, target, foreign, missing)
                }
            })
            .buffer_unordered(AT_ONCE);
        while let Some((probe, target, foreign, missing)) = answers.next().await {
            *counts.entry(format!("{} {} {}", target.place, target.kind, missing.status)).or_default() += 1;
            if !foreign.is_as(&missing, &probe.foreign, &probe.missing) {
                let at = (probe.host, probe.caller, &probe.foreign);
                different
                    .push(format!("{} {} {at:?}\n  {foreign:?}\n  {missing:?}", target.method, target.path));
            }
        }
        drop(answers);
        credentials::probe(&world, probes.len() / 5, &mut counts, &mut different).await;
        let total: usize = counts.values().sum();
        println!("{engine:?}: {total} probes of {} targets", targets.len());
        for (kind, count) in &counts {
            println!("  {count:>6} {kind}");
        }
        assert!(
            different.is_empty(),
            "{} differences:\n{}",
            different.len(),
            different[..different.len().min(20)].join("\n")
        );
        let unnamed = statements::without_organization();
        assert!(
            unnamed.is_empty(),
            "{} statements of no organization:\n{}",
            unnamed.len(),
            unnamed.join("\n")
        );
        let changed: Vec<_> =
            content(&world).await.into_iter().filter(|line| !before.contains(line)).collect();
        assert!(changed.is_empty(), "changed: {changed:#?}");
        positive(&world).await;
        Arc::into_inner(world).unwrap().service.stop().await;
    }
}
