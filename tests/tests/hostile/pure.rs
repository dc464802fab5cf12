//! Rules that are functions of a text: removal of markup, names of files, filters, paths of extended data, addresses.

use crate::budget::fuzz;
use crate::generate::{damage, damaged, in_url, number, text};
use civitas_accounts::{is_email, is_name, is_nickname};
use civitas_attachments::{sanitize, sanitize_and_shorten};
use civitas_extended_data::ObjectPath;
use civitas_kernel::filter::{FieldKind, FilterCondition, FilterField, RawFilter, RawValue, read_filters};
use civitas_kernel::text::{TRANSLATION_END, searchable, searchable_html};
use civitas_kernel::{Locale, Locales};
use civitas_organizations::is_host;
use civitas_proposals::plain_text;
use civitas_webhooks::{TargetPolicy, has_public_name};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// Pieces of HTML.
const MARKUP: &[&str] = &[
    "<b>",
    "</b>",
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<style>",
    "</style",
    "<form",
    "</form>",
    "<div a=\"",
    "<div a='",
    "<!--",
    "-->",
    "--!>",
    "<!",
    "<?",
    "<![CDATA[",
    "]]>",
    "<textarea>",
    "<title>",
    "<plaintext>",
    "<svg>",
    "<math>",
    "<a href=x",
    "&lt;script&gt;",
    "&amp",
    "&#0;",
    "&#xD800;",
    "&#x110000;",
    "&",
    "<",
    ">",
    "\"",
    "'",
    "=",
    "/",
    "\u{0}",
    "\u{b}",
    "\u{85}",
    "</scr",
    "ipt>",
    "text",
    " ",
    "\n",
    "🙂",
];

#[test]
fn markup() {
    let piece = || prop_oneof![6 => select(MARKUP).prop_map(str::to_owned), 1 => text()];
    let strategy =
        (vec(piece(), 0..40), 1_usize..12).prop_map(|(pieces, times)| pieces.concat().repeat(times));
    fuzz("markup", 1, &strategy, |text| {
        let plain = plain_text(text);
        // U+0000, which the interface refuses, becomes U+FFFD in some elements.
        if plain.len() > text.len() + 2 * text.matches('\0').count() {
            return Err(format!("longer than its source: {plain:?}"));
        }
        let ampersands = |text: &str| text.matches('&').count();
        if ampersands(&plain) > ampersands(text) { Err(format!("new markup: {plain:?}")) } else { Ok(()) }
    });
}

const FIELDS: &[FilterField<u8>] = &[
    FilterField::new("id", FieldKind::Integer, 1),
    FilterField::new("title", FieldKind::Text, 2),
    FilterField::new("state", FieldKind::Enum(&["accepted", "rejected"]), 3),
    FilterField::new("weight", FieldKind::IntegerText, 4),
    FilterField::new("extended_data", FieldKind::ExtendedData, 5),
    FilterField::new("search_text", FieldKind::SearchText, 6),
    FilterField::new("start_time", FieldKind::Time, 7),
];

#[test]
fn filters() {
    let names = &[
        "id",
        "id_eq",
        "id_in",
        "id_lt",
        "title_matches",
        "title_start",
        "title_blank",
        "state",
        "state_not_in",
        "weight_gt",
        "weight_matches",
        "extended_data_cont",
        "title_cont",
        "title_i_cont",
        "search_text",
        "search_text_in",
        "search_text_matches",
        "start_time",
        "start_time_gteq",
        "start_time_not_in",
        "_eq",
        "id_",
        "id_eq_eq",
        "İd_eq",
    ][..];
    let name = prop_oneof![6 => select(names).prop_map(str::to_owned), 1 => text()];
    let value = || prop_oneof![text(), number()];
    let raw = prop_oneof![value().prop_map(RawValue::One), vec(value(), 0..4).prop_map(RawValue::Many)];
    let strategy = vec((name, raw), 0..4).prop_map(RawFilter::new);
    fuzz("filters", 1, &strategy, |raw| match read_filters(FIELDS, raw) {
        Ok(filters) if filters.len() > raw.values.len() => Err("more filters than were sent".to_owned()),
        Ok(filters) => {
            let is_wrong = |condition: &FilterCondition| matches!(condition, FilterCondition::Words(words) if words.is_empty() || searchable(words) != *words);
            let wrong = filters.iter().find(|filter| is_wrong(&filter.condition));
            wrong.map_or(Ok(()), |filter| Err(format!("not searchable: {:?}", filter.condition)))
        }
        Err(_) => Ok(()),
    });
}

/// What is contained in a text is contained in its searchable form, wherever the text is cut.
#[test]
fn searchable_texts() {
    let piece = || prop_oneof![2 => select(MARKUP).prop_map(str::to_owned), 3 => text(), 1 => number()];
    fuzz("searchable texts", 1, &(piece(), piece()), |(one, other)| {
        let (first, second) = (searchable(one), searchable(other));
        if searchable(&format!("{one}{other}")) != format!("{first}{second}") {
            return Err(format!("{one:?} and {other:?} are not {first:?} and {second:?}"));
        }
        let html = searchable_html(&format!("{one}{other}"));
        for form in [&first, &second, &html] {
            if searchable(form) != *form || form.contains([TRANSLATION_END, '\0']) {
                return Err(format!("not searchable: {form:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn texts_with_rules() {
    let url = "https://user:pass@hooks.example:8443/a?b#c";
    let damaged_url = vec(damage(), 0..3)
        .prop_map(|damages| String::from_utf8_lossy(&damaged(url.as_bytes(), &damages)).into_owned());
    let strategy = prop_oneof![4 => text(), 1 => number(), 2 => damaged_url, 1 => text().prop_map(|text| format!("https://{}", in_url(&text)))];
    fuzz("texts with rules", 1, &strategy, |text| {
        let name = sanitize_and_shorten(text);
        if name.len() > 255 || name.contains(['/', '\\', '\0', '\n']) || sanitize(&name) != name {
            return Err(format!("the name {name:?}"));
        }
        if let Ok(path) = ObjectPath::parse(text) {
            let written = path.write(Map::new(), Value::from(1));
            let is_read = |root: &Map<String, Value>| path.read(root) == 1;
            if path.segments().len() < 50 && text != "." && !written.as_ref().is_ok_and(is_read) {
                return Err(format!("what was written is not read: {written:?}"));
            }
        }
        if let Ok(url) = TargetPolicy::parse(text) {
            let _ = (
                has_public_name(&url),
                TargetPolicy::default().check_unresolved(&url),
                TargetPolicy::ip_literal(&url),
            );
        }
        let is_address = text.parse::<std::net::IpAddr>().is_ok();
        if is_host(text, true) && !is_address && text.contains(['/', ' ', ':', '\0']) {
            return Err("a host".to_owned());
        }
        let _ = (is_email(text), is_name(text), is_nickname(text), Locale::parse(text));
        let _ = Locales::standard().choose(text.split(','));
        Ok(())
    });
}
