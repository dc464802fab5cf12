//! Time and memory of hostile shapes of growing length.

use crate::operations::archive;
use crate::wire::{Request, Server};
use allocation_counter::measure;
use civitas_accounts::{is_email, is_name};
use civitas_archive::{ImportError, ImportOptions, import};
use civitas_attachments::sanitize_and_shorten;
use civitas_extended_data::ObjectPath;
use civitas_kernel::Locales;
use civitas_kernel::filter::{FieldKind, FilterField, RawFilter, RawValue, read_filters};
use civitas_kernel::text::{searchable, searchable_html};
use civitas_proposals::plain_text;
use civitas_tests::service::BASE;
use civitas_tests::{Database, Engine, import_options};
use civitas_tokens::Argon2Passwords;
use civitas_webhooks::TargetPolicy;
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use time::macros::datetime;
use tokio::runtime::Runtime;

/// How much longer eight times the input may take: linear is 8, quadratic is 64.
const LONGER: u32 = 24;
/// Shorter times are not compared.
const FLOOR: Duration = Duration::from_millis(4);
/// The most bytes that a function may have at once, and allocate in all, for each byte of its input. The tokenizer of
/// markup keeps an error for each faulty character.
const MAX_AT_ONCE: u64 = 256;
const MAX_IN_ALL: u64 = 1_024;
/// What any call may allocate besides.
const FRAME: u64 = 64 * 1024;

/// The time this thread has run on a processor, which other programs do not prolong; without Linux, the time of the
/// clock.
fn of_this_thread() -> Duration {
    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = read.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| STARTED.elapsed(), Duration::from_nanos)
}

/// The time of the clock, for work of other threads.
fn of_the_clock() -> Duration {
    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
    STARTED.elapsed()
}

/// Whether the time grows with the length, not with its square: the median of five calls with `n`, 2 `n`, 4 `n`, 8 `n`.
/// On a busy machine one attempt of six must hold.
fn assert_linear(name: &str, n: usize, now: fn() -> Duration, call: impl Fn(usize)) {
    let mut seen = Vec::new();
    for _ in 0..6 {
        let medians = [1, 2, 4, 8].map(|times| {
            let mut took = [0; 5].map(|_| {
                let started = now();
                call(n * times);
                now().saturating_sub(started)
            });
            took.sort();
            took[2]
        });
        if medians[3] < medians[0].max(FLOOR) * LONGER {
            return;
        }
        seen.push(medians);
    }
    panic!("{name}: n, 2n, 4n and 8n took {seen:?}");
}

/// The same for memory, measured at the greatest length.
fn assert_bounded(name: &str, input: &str, call: &impl Fn(&str)) {
    let used = measure(|| call(input));
    let length = input.len() as u64;
    assert!(
        used.bytes_max < length * MAX_AT_ONCE + FRAME,
        "{name}: {} bytes at once for {length}",
        used.bytes_max
    );
    assert!(
        used.bytes_total < length * MAX_IN_ALL + FRAME,
        "{name}: {} bytes in all for {length}",
        used.bytes_total
    );
}

/// Shapes with which parsers take long: one piece again and again.
const SHAPES: &[&str] = &[
    "<b>",
    "</b>",
    "<div a=",
    "<div a=\"b\" ",
    "<!--",
    "<script>",
    "</script",
    "&",
    "&amp;",
    "&#",
    "<![CDATA[",
    "<",
    "><",
    "a",
    "a.",
    ".",
    "/",
    "\\",
    "é",
    "\u{202e}",
    "\0",
    "%25",
    "%25a",
    "_",
    "[",
    "(",
    "@",
    "a@",
    "-",
    "1",
    " ",
    "en,",
    "\u{1f642}\u{200d}",
];

const FIELDS: &[FilterField<u8>] = &[
    FilterField::new("title", FieldKind::Text, 1),
    FilterField::new("id", FieldKind::Integer, 2),
    FilterField::new("search_text", FieldKind::SearchText, 3),
    FilterField::new("start_time", FieldKind::Time, 4),
];

type Function = (&'static str, fn(&str));

/// Functions of a text.
const FUNCTIONS: &[Function] = &[
    ("plain_text", |text| drop(black_box(plain_text(text)))),
    ("sanitize_and_shorten", |text| drop(black_box(sanitize_and_shorten(text)))),
    ("ObjectPath::parse", |text| drop(black_box(ObjectPath::parse(text)))),
    ("ObjectPath::write", |text| {
        drop(black_box(ObjectPath::root().write(Map::new(), json!({"a": [text], text: {"b": null}}))));
    }),
    ("filter::read_filters", |text| {
        // One by one: the first value that is refused ends the reading of all.
        for name in ["title_matches", "title_start", "title_cont", "search_text", "start_time", "id_eq", text]
        {
            let raw = RawFilter::new(vec![(name.to_owned(), RawValue::One(text.to_owned()))]);
            drop(black_box(read_filters(FIELDS, &raw)));
        }
    }),
    ("searchable", |text| drop(black_box(searchable(text)))),
    ("searchable_html", |text| drop(black_box(searchable_html(text)))),
    ("is_email", |text| _ = black_box((is_email(text), is_name(text)))),
    ("TargetPolicy::parse", |text| drop(black_box(TargetPolicy::parse(&format!("https://{text}"))))),
    ("Locales::choose", |text| drop(black_box(Locales::standard().choose(text.split(','))))),
];

#[test]
fn functions_of_texts_take_time_and_memory_in_proportion() {
    for (name, function) in FUNCTIONS {
        for shape in SHAPES {
            let name = format!("{name} of {shape:?}");
            let longest = shape.repeat(8 * 1_000);
            let end = |times: usize| times * shape.len();
            assert_linear(&name, 1_000, of_this_thread, |times| function(&longest[..end(times)]));
            assert_bounded(&name, &longest, function);
        }
    }
}

/// Bodies of about this many bytes.
fn bodies(server: &Server, length: usize) -> Vec<(&'static str, Request)> {
    let service = &server.service;
    let question = service.id("question", "text").to_string();
    let (one, poll) =
        (service.id("question", "many").to_string(), service.id("questionnaire", "poll").to_string());
    let answers = |answers: serde_json::Value| {
        json!({"data": {"type": "questionnaire_response", "attributes": {"answers": answers},
            "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": poll}}}}})
    };
    let many: serde_json::Map<_, _> =
        (0..length / 12).map(|n| (format!("{}", 900_000 + n), json!("a"))).collect();
    let hosts: Vec<String> = (0..length / 14).map(|n| format!("h{n}.test")).collect();
    let text = |unit: &str| unit.repeat(length / unit.len());
    let post = |path: &str, body: serde_json::Value| {
        Request::new("POST", format!("{BASE}{path}")).body("application/json", body.to_string())
    };
    vec![
        ("unknown answers", post("/answers/sync", answers(json!(many)))),
        ("a long answer", post("/answers/sync", answers(json!({question: text("a")})))),
        ("many choices", post("/answers/sync", answers(json!({one: vec!["1"; length / 4]})))),
        (
            "many subscriptions",
            post(
                "/webhook_registrations",
                json!({"data": {"attributes": {"url": "https://a.example/",
            "subscriptions": hosts}}}),
            ),
        ),
        (
            "many languages",
            post("/questions/sync", json!({"data": {"type": "questions", "attributes": {"body": many}}})),
        ),
        (
            "a long redirect",
            post("/me/magic_links", json!({"data": {"redirect_url": format!("https://{}", text("a."))}})),
        ),
        (
            "a long role",
            post(
                "/roles/sync",
                json!({"data": {"attributes": {"type": text("a"), "user_id": 1, "resource_id": 1,
            "resource_type": "Platform::Assembly"}}}),
            ),
        ),
        (
            "a form",
            Request::new("POST", format!("{BASE}/draft_proposals/sync"))
                .body("application/x-www-form-urlencoded", text("data[a][][b]=%20&")),
        ),
    ]
}

/// Asserts that the time of requests grows with their length. `of`: requests of about this many bytes, by name. `is_raw` is
/// as in [`Server::check`].
fn assert_requests_linear(server: &Server, of: impl Fn(usize) -> Vec<(&'static str, Request)>, is_raw: bool) {
    let [n, two, four, eight] = [1, 2, 4, 8].map(|times| of(6_000 * times));
    for (((one, two), four), eight) in n.into_iter().zip(two).zip(four).zip(eight) {
        let all = [&one.1, &two.1, &four.1, &eight.1];
        assert_linear(one.0, 1, of_the_clock, |times| {
            server
                .check(all[times.ilog2() as usize], is_raw)
                .unwrap_or_else(|fault| panic!("{}: {fault}", one.0));
        });
    }
}

#[test]
fn requests_take_time_in_proportion_to_their_bodies() {
    for server in Server::on(&[Engine::Sqlite], &archive(), &[]) {
        let token = format!("Bearer {}", server.tokens[1]);
        let with_token = |(name, request): (_, Request)| (name, request.with("Authorization", token.clone()));
        let bodies = |length| bodies(&server, length).into_iter().map(with_token).collect();
        assert_requests_linear(&server, bodies, false);
        server.stop();
    }
}

/// Heads of about this many bytes.
fn heads(length: usize) -> Vec<(&'static str, Request)> {
    let text = |unit: &str| unit.repeat(length / unit.len());
    let get = |rest: String| Request::new("GET", format!("{BASE}{rest}"));
    let list = || get("/proposals?per_page=1".to_owned());
    vec![
        ("a path of many parts", get(format!("/spaces{}", text("/x")))),
        ("a path of encoded parts", get(format!("/proposals/{}", text("%2e%2f")))),
        ("many parameters", get(format!("/proposals?{}", text("a=%20&")))),
        ("a deep parameter", get(format!("/proposals?filter{}=1", text("[a]")))),
        ("a long filter", get(format!("/proposals?filter[title_matches]={}", text("%25a")))),
        ("a long word", get(format!("/proposals?filter[title_cont]={}", text("%C3%A9")))),
        ("a long bearer", list().with("Authorization", format!("Bearer {}", text("a.")))),
        ("many bearers", list().with("Authorization", text("Bearer a, "))),
        ("long credentials", list().with("Authorization", format!("Basic {}", text("YTph")))),
        ("many languages", list().with("Accept-Language", text("en;q=0.5,"))),
        ("many encodings", list().with("Accept-Encoding", text("gzip;q=0.5,"))),
        ("many validators", list().with("If-None-Match", text("\"a\","))),
        ("many proxies", list().with("X-Forwarded-For", text("1.1.1.1,"))),
        ("many forwards", list().with("Forwarded", text("for=\"[::1]\";host=a,"))),
        ("many cookies", Request::new("GET", "/system/").with("Cookie", text("a=b; "))),
        ("many headers", (0..length / 8).fold(list(), |request, _| request.with("x-a", "b"))),
    ]
}

#[test]
fn requests_take_time_in_proportion_to_their_heads() {
    for server in Server::on(&[Engine::Sqlite], &archive(), &[("trusted_proxies", "127.0.0.0/8")]) {
        assert_requests_linear(&server, heads, true);
        server.stop();
    }
}

/// Lines of about this many bytes, for the city of the other lines.
fn lines(length: usize) -> Vec<(&'static str, String)> {
    let text = |unit: &str| unit.repeat(length / unit.len());
    let many = |unit: &str| -> Vec<String> { (0..length / 12).map(|n| format!("{unit}{n}")).collect() };
    let proposal = |name: &str, value: Value| {
        let mut line = json!({"type": "proposal", "ref": "long", "organization": "city", "component": "ideas",
            "title": {"en": "A proposal"}, "body": {"en": "Text"}});
        line[name] = value;
        line.to_string()
    };
    let keys: Map<_, _> = many("k").into_iter().map(|key| (key, json!(1))).collect();
    vec![
        ("a long title", proposal("title", json!({"en": text("a ")}))),
        ("markup", proposal("body", json!({"en": text("<div a=\"b\">")}))),
        ("many authors", proposal("authors", json!(many("u")))),
        ("extended data of many keys", proposal("extended_data", Value::Object(keys.clone()))),
        ("many members", {
            let members = many("m").join(r#"":1,""#);
            format!(r#"{{"{members}":1,{}"#, &proposal("authors", json!([]))[1..])
        }),
        ("many languages", proposal("title", Value::Object(keys))),
        ("brackets alone", text("[")),
        (
            "a file",
            json!({"type": "attachment", "ref": "file", "organization": "city",
            "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "File"},
            "data": text("YWFh"), "filename": "a.txt"})
            .to_string(),
        ),
        (
            "many hosts",
            json!({"type": "organization", "ref": "town", "host": "town.test", "name": {"en": "Town"},
                "available_locales": ["en"], "default_locale": "en", "secondary_hosts": many("h")})
            .to_string(),
        ),
    ]
}

#[test]
fn lines_of_archives_take_time_in_proportion() {
    let runtime = Runtime::new().expect("a runtime");
    let database = runtime.block_on(Database::fresh(Engine::Sqlite)).expect("a database");
    let passwords = Argon2Passwords::new();
    let before: Vec<String> = crate::archive::lines().iter().take(10).map(Value::to_string).collect();
    let check = |archive: &str| {
        let options = import_options(datetime!(2026-11-21 10:00 UTC));
        let options = ImportOptions { dry_run: true, ..options };
        runtime.block_on(import(&*database.store, &passwords, archive.as_bytes(), options, &mut |_| {}))
    };
    check(&before.join("\n")).expect("the lines before the long one are right");
    let [n, two, four, eight] = [1, 2, 4, 8].map(|times| lines(60_000 * times));
    for (((one, two), four), eight) in n.into_iter().zip(two).zip(four).zip(eight) {
        let all = [&one.1, &two.1, &four.1, &eight.1].map(|line| format!("{}\n{line}", before.join("\n")));
        assert_linear(one.0, 1, of_the_clock, |times| {
            if let Err(fault @ ImportError::Store(..)) = check(&all[times.ilog2() as usize]) {
                panic!("{}: {fault}", one.0);
            }
        });
    }
}
