//! Hostile texts and JSON: valid inputs with changes, and bytes without a form.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// Pieces with which parsers have trouble.
const PIECES: &[&str] = &[
    "",
    " ",
    "\0",
    "\u{1}",
    "\t",
    "\u{feff}",
    "\u{202e}",
    "\u{200d}",
    "%00",
    "%",
    "%zz",
    "%2e%2e",
    "%2F",
    "%c3%28",
    "..",
    ".",
    "/",
    "//",
    "\\",
    "'",
    "\"",
    "--",
    ";",
    ":",
    ",",
    "=",
    "&",
    "?",
    "#",
    "+",
    "*",
    "_",
    "%25",
    "~",
    "<b>",
    "</b>",
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<script>",
    "<![CDATA[",
    "&amp;",
    "&#x0;",
    "&",
    "{{",
    "}}",
    "{",
    "}",
    "[",
    "]",
    "[]",
    "[][]",
    "(",
    "(((((",
    "[a-z",
    "\\d+",
    "null",
    "true",
    "false",
    "NaN",
    "-1",
    "0",
    "00",
    "+1",
    "１",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "1e309",
    "0x10",
    "é",
    "e\u{301}",
    "💥",
    "İ",
    "ß",
    "ﬀ",
    "2026-02-30T25:61:61Z",
    "0000-00-00T00:00:00Z",
    "99999-01-01T00:00:00Z",
    "2026-03-01T08:00:00+99:99",
    "a@b.c",
    "http://",
    "https://[::1]/",
    "https://127.0.0.1/",
    "https://a.example/\u{0}",
    "javascript:alert(1)",
    "en",
    "EN",
    "xx",
    "en,fr",
    "city.test",
    "town.test",
    "www.city.test",
    "Platform::Assembly",
    "Platform::",
    "Decidim::User",
    "proposals",
    "rand",
    "asc",
    "id",
    "sync",
    ".json",
    "extended_data",
    "search",
];

/// A hostile text, of up to about 20,000 bytes.
pub fn text() -> impl Strategy<Value = String> {
    let piece = || proptest::sample::select(PIECES);
    prop_oneof![
        4 => piece().prop_map(str::to_owned),
        3 => vec(piece(), 0..6).prop_map(|pieces| pieces.concat()),
        2 => vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect::<String>()),
        1 => (piece(), 1_usize..2_000).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

/// A number at a limit, or any.
pub fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (-3_i64..200).prop_map(|number| number.to_string()),
        proptest::sample::select(
            &["9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400"][..]
        )
        .prop_map(str::to_owned),
        (1_usize..3_000).prop_map(|digits| "9".repeat(digits)),
    ]
}

/// The text of a JSON value, which may be invalid.
pub fn json() -> impl Strategy<Value = String> {
    let quoted = |text: String| serde_json::to_string(&text).expect("a text");
    let raw = &[
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u0000\"",
        "\"\0\"",
        "NaN",
        "-",
        "1e400",
        "-0",
        "1.0",
        "0.1e-400",
        "123456789012345678901234567890",
        "'a'",
        "{\"a\":1,\"a\":2}",
        "{\"\":{\"\":{}}}",
        "[[[]],{}]",
        "[null,null]",
        "{\"en\":null}",
        "{\"en\":\"A\",\"xx\":\"B\"}",
        "{\"en\":{\"en\":1}}",
        "\"\u{85}\"",
        "{,}",
    ][..];
    prop_oneof![
        4 => proptest::sample::select(raw).prop_map(str::to_owned),
        4 => text().prop_map(quoted),
        2 => number(),
        1 => (1_usize..130, any::<bool>()).prop_map(|(depth, is_list)| {
            let (open, close) = if is_list { ("[", "]") } else { ("{\"a\":", "}") };
            format!("{}1{}", open.repeat(depth), close.repeat(depth))
        }),
        1 => (1_usize..2_000, number()).prop_map(|(times, number)| format!("[{}]", vec![number; times.min(50)].join(","))),
        1 => (1_usize..1_000).prop_map(|times| {
            let members: Vec<String> = (0..times).map(|n| format!("\"k{n}\":{n}")).collect();
            format!("{{{}}}", members.join(","))
        }),
    ]
}

/// A change of one member of a JSON document.
#[derive(Debug, Clone)]
pub enum Edit {
    /// Another value.
    Replace(usize, String),
    /// Without it.
    Remove(usize),
    /// Under another name.
    Rename(usize, String),
    /// A second time, with another value.
    Repeat(usize, String),
}

pub fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0_usize..64;
    prop_oneof![
        5 => (at(), json()).prop_map(|(at, value)| Edit::Replace(at, value)),
        1 => at().prop_map(Edit::Remove),
        1 => (at(), text()).prop_map(|(at, name)| Edit::Rename(at, name)),
        2 => (at(), json()).prop_map(|(at, value)| Edit::Repeat(at, value)),
    ]
}

/// A change of the bytes of an input.
#[derive(Debug, Clone)]
pub enum Damage {
    /// Cut off behind this part of it, in 1/256.
    Cut(u8),
    /// Other bytes at this part of it.
    Insert(u8, Vec<u8>),
    /// One byte is another one.
    Flip(usize, u8),
}

pub fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<u8>().prop_map(Damage::Cut),
        (any::<u8>(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<usize>(), 1_u8..255).prop_map(|(at, mask)| Damage::Flip(at, mask)),
    ]
}

/// The input with these changes.
pub fn damaged(input: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for damage in damages {
        match damage {
            Damage::Cut(part) => bytes.truncate(bytes.len() * usize::from(*part) / 256),
            Damage::Insert(part, more) => {
                let at = bytes.len() * usize::from(*part) / 256;
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Flip(at, mask) if !bytes.is_empty() => {
                let at = at % bytes.len();
                bytes[at] ^= mask;
            }
            Damage::Flip(..) => {}
        }
    }
    bytes
}

/// The pointers of all members.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut visit = |name: &str, value: &Value| {
        let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(pointer.clone());
        pointers(value, &pointer, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| visit(name, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, value)| visit(&n.to_string(), value)),
        _ => {}
    }
}

/// The text of a document with these changes. Values are written as they are given, so it may be invalid.
pub fn edited(document: &Value, edits: &[Edit]) -> String {
    let mut document = document.clone();
    let mut raw = Vec::new();
    for (number, edit) in edits.iter().enumerate() {
        let mut all = Vec::new();
        pointers(&document, "", &mut all);
        let (Edit::Replace(at, _) | Edit::Remove(at) | Edit::Rename(at, _) | Edit::Repeat(at, _)) = edit;
        let Some(pointer) = all.get(at % all.len().max(1)) else { continue };
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        let name = name.replace("~1", "/").replace("~0", "~");
        if let Edit::Replace(_, value) = edit {
            *document.pointer_mut(pointer).expect("a member") = Value::from(format!("@@{number}@@"));
            raw.push((format!("\"@@{number}@@\""), value.clone()));
            continue;
        }
        let Some(members) = document.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
        match edit {
            Edit::Rename(_, to) => {
                let value = members.remove(&name).expect("a member");
                members.insert(to.clone(), value);
            }
            Edit::Repeat(_, value) => {
                members.insert(format!("@@{number}@@"), Value::Null);
                let name = serde_json::to_string(&name).expect("a text");
                raw.push((format!("\"@@{number}@@\":null"), format!("{name}:{value}")));
            }
            _ => drop(members.remove(&name)),
        }
    }
    raw.iter().fold(document.to_string(), |text, (mark, value)| text.replacen(mark, value, 1))
}

/// Percent-encoded where a URL cannot have it; `%` stays.
pub fn in_url(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"#\"<>\\^`{|}".contains(&byte);
    text.bytes().map(|b| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
