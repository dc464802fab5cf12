//! Filters of all lists with random predicates and terms. No statement exceeds its time limit, which would be a 503, and
//! both engines find the same number of rows.

use crate::budget::fuzz;
use crate::generate::{number, text};
use crate::operations::{Operation, archive, operations};
use crate::wire::{Answer, Request, Server};
use civitas_tests::{Engine, numbered_proposals};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

/// Proposals beside those of [`archive`].
const PROPOSALS: i64 = 1_000;
/// The longest target that the parser of heads certainly accepts.
const MAX_BYTES: usize = 24_000;

/// Parts of terms: operators of the indexes of words, wildcards, marks, control characters, and characters whose searchable
/// form has another length.
const PARTS: &[&str] = &[
    "\"",
    "\"\"",
    "*",
    "^",
    ":",
    "+",
    "-",
    ",",
    "(",
    ")",
    "{",
    "}",
    "NEAR",
    "NEAR(",
    "NEAR/2 ",
    " AND ",
    " OR ",
    " NOT ",
    "title:",
    "scope : ",
    "{title body} : ",
    "%",
    "_",
    "\\",
    "\\%",
    "'",
    "';--",
    "<b>",
    "</b>",
    "<!--",
    "&amp;",
    "\u{1}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{ad}",
    "\u{200d}",
    "\u{200f}",
    "\u{202e}",
    "\u{feff}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{4e00}\u{4e00}\u{4e01}",
    "\u{301}",
    "\u{345}",
    "\u{5b0}",
    "\u{20dd}",
    "\u{fe0f}",
    "é",
    "e\u{301}",
    "ß",
    "ẞ",
    "İ",
    "ı",
    "ς",
    "ﬃ",
    "ΐ",
    "Ⅷ",
    "㍿",
    "ﷺ",
    "ｶﾞ",
    "가",
    "\u{1100}\u{1161}",
    "図",
    "書館",
    "حديقة",
    "🌳",
    "👩\u{200d}👩\u{200d}👧",
    "a",
    "e",
    "7",
    "number",
    "Proposal number 7",
    "summer",
    "city",
    " ",
];

fn part() -> impl Strategy<Value = String> {
    select(PARTS).prop_map(str::to_owned)
}

/// A term of up to a few more bytes than are allowed.
fn term() -> impl Strategy<Value = String> {
    let times = |part: String, bytes: usize| part.repeat(bytes / part.len());
    prop_oneof![
        4 => part(),
        4 => vec(part(), 1..5).prop_map(|parts| parts.concat()),
        2 => vec(any::<char>(), 1..3).prop_map(|chars| chars.into_iter().collect::<String>()),
        1 => (part(), 1_000_usize..1_030).prop_map(move |(part, bytes)| times(part, bytes)),
        1 => vec(select(&["\u{301}", "\u{302}", "\u{327}", "\u{5b0}"][..]), 1..400).prop_map(|marks| marks.concat()),
        1 => text(),
    ]
}

/// A time, a date, or almost one.
fn time() -> impl Strategy<Value = String> {
    const TIMES: &[&str] = &[
        "2025-02-20T00:00:00Z",
        "2026-02-05",
        "2026-02-05T09:00:00.000001Z",
        "2026-02-05T09:00:00+23:59",
        "0001-01-01",
        "0000-01-01",
        "9998-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z",
        "-0001-01-01",
        "+12026-01-01",
        "2026-02-29",
        "2026-W06-4",
        "2026-036",
        "20260205T090000Z",
        "2026-02-05T24:00:00Z",
        "2026-02-05T09:00",
        "2026-12-31T23:59:60Z",
    ];
    prop_oneof![4 => select(TIMES).prop_map(str::to_owned), 1 => term()]
}

/// One filter: the place of its name among the parameters, and a value for each kind of field.
type Pair = (usize, String, String, String, u8);

fn pair() -> impl Strategy<Value = Pair> {
    (0_usize..1_000, term(), time(), number(), 0_u8..16)
}

/// The value for a parameter: mostly of the kind of its field.
fn value((_, term, time, number, choice): &Pair, name: &str) -> String {
    let is_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match *choice {
        0 => term.clone(),
        _ if is_of(&["_blank]", "_present]"]) => {
            ["true", "false", "1", "0"][usize::from(choice % 4)].to_owned()
        }
        _ if is_of(&["_at_", "_time_", "_at]", "_time]"]) => time.clone(),
        1..8 if is_of(&["id_", "id]", "weight", "votes_count"]) => (choice % 5).to_string(),
        _ if is_of(&["id_", "id]", "weight", "votes_count"]) => number.clone(),
        _ => term.clone(),
    }
}

/// Percent-encoded: all but digits and the alphabet of ASCII.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes().map(|b| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn target(list: &Operation, pairs: &[Pair], more: &str) -> String {
    let filters: Vec<&String> = list.parameters.iter().filter(|name| name.starts_with("filter[")).collect();
    let mut target = format!("{}?per_page=100{more}", list.path);
    for pair in pairs {
        let name = filters[pair.0 % filters.len()];
        let next = format!("&{}={}", escaped(name), escaped(&value(pair, name)));
        if target.len() + next.len() > MAX_BYTES {
            break;
        }
        target.push_str(&next);
    }
    target
}

/// The status, the number of rows on the page, and the total.
fn outcome(answer: &Answer) -> (u16, Option<usize>, Option<String>) {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let total = answer.head.lines().find_map(|line| line.strip_prefix("total: "));
    (answer.status, body["data"].as_array().map(Vec::len), total.map(str::to_owned))
}

#[test]
fn filters_of_lists() {
    let numbered = numbered_proposals("city", "ideas", PROPOSALS, |_, _| ());
    let servers = Server::on(&Engine::BOTH, &format!("{}{numbered}", archive()), &[]);
    let [first, others @ ..] = &servers[..] else { return };
    for other in others {
        for kind in
            ["user", "space", "component", "proposal", "post", "attachment", "questionnaire", "question"]
        {
            let ids = |server: &Server| server.service.refs["city"][kind].clone();
            assert_eq!(ids(first), ids(other), "the same archive has the same ids");
        }
    }
    let is_filtered = |operation: &Operation| {
        operation.method == "GET" && operation.parameters.iter().any(|name| name.starts_with("filter["))
    };
    let lists: Vec<_> = operations(&first.service).into_iter().filter(is_filtered).collect();
    assert!(lists.len() >= 10, "only {} lists", lists.len());
    let pairs = prop_oneof![
        4 => vec(pair(), 1..2),
        4 => vec(pair(), 2..6),
        1 => vec(pair(), 48..52),
    ];
    let more = &[
        "",
        "",
        "&page=2",
        "&page=90",
        "&order=id",
        "&order=created_at&order_direction=desc",
        "&order=updated_at",
        "&order=votes_count&order_direction=desc",
        "&order_direction=desc",
    ][..];
    let strategy =
        (select(lists), pairs, select(more), any::<bool>()).prop_map(|(list, pairs, more, counts)| {
            let request = Request::new("GET", target(&list, &pairs, more));
            (list.token, if counts { request.with("Prefer", "count=exact") } else { request })
        });
    fuzz("filters of lists", 1, &strategy, |(token, request)| {
        let mut outcomes = Vec::new();
        for server in &servers {
            let request = request.clone().with("Authorization", format!("Bearer {}", server.tokens[*token]));
            let answer = server.check(&request, false)?.ok_or("no answer")?;
            outcomes.push(outcome(&answer));
        }
        match &outcomes[..] {
            [one, other] if one != other => Err(format!("{one:?}, then {other:?}")),
            _ => Ok(()),
        }
    });
    servers.into_iter().for_each(Server::stop);
}
