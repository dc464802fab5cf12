//! Cards of a record: keys with values, JSON, a course of events.

use super::{Badge, Html};
use crate::translator::Translator;
use askama::Template;

/// A card with a heading.
#[derive(Template)]
#[template(
    source = r#"<section class="card" aria-labelledby="{{ id }}"><header><h2 id="{{ id }}">{{ title }}</h2>{% if let Some(badge) = badge %}{{ badge.html() }}{% endif %}</header>{{ body }}</section>"#,
    ext = "html"
)]
pub(crate) struct Card {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) badge: Option<Badge>,
    pub(crate) body: Html,
}

impl Card {
    pub(crate) fn new(id: &'static str, title: impl Into<String>, body: Html) -> Self {
        Self { id, title: title.into(), badge: None, body }
    }

    pub(crate) fn badge(mut self, badge: Badge) -> Self {
        self.badge = Some(badge);
        self
    }
}

/// Keys with values.
#[derive(Template, Default)]
#[template(
    source = r#"<dl class="kv">{% for (key, value) in rows %}<dt>{{ key }}</dt><dd>{{ value }}</dd>{% endfor %}</dl>"#,
    ext = "html"
)]
pub(crate) struct KeyValues {
    rows: Vec<(String, Html)>,
}

impl KeyValues {
    pub(crate) fn row(mut self, key: impl Into<String>, value: Html) -> Self {
        self.rows.push((key.into(), value));
        self
    }

    pub(crate) fn text(self, key: impl Into<String>, value: &str) -> Self {
        self.row(key, Html::text(value))
    }
}

/// JSON, as text when it is none.
#[derive(Template)]
#[template(path = "parts/json.html")]
pub(crate) struct Json<'a> {
    translator: &'a Translator,
    id: &'static str,
    title: String,
    text: String,
    is_cut: bool,
}

/// The most bytes of JSON on a page.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

impl<'a> Json<'a> {
    /// Indented; cut after 64 KiB.
    pub(crate) fn new(
        translator: &'a Translator,
        id: &'static str,
        title: impl Into<String>,
        text: &str,
    ) -> Self {
        let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
        let mut text = value
            .and_then(|value| serde_json::to_string_pretty(&value).ok())
            .unwrap_or_else(|| text.to_owned());
        let is_cut = text.len() > MAX_SHOWN_BYTES;
        if is_cut {
            let end = (0..=MAX_SHOWN_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            text.truncate(end);
        }
        Self { translator, id, title: title.into(), text, is_cut }
    }
}

/// An event in the course of a record.
pub(crate) struct TimelineEvent {
    /// `good`, `bad`, `warn` or nothing.
    pub(crate) kind: &'static str,
    pub(crate) what: String,
    pub(crate) time: String,
    pub(crate) note: String,
    /// More, such as the answer of a receiver.
    pub(crate) more: Html,
}

impl TimelineEvent {
    pub(crate) fn new(kind: &'static str, what: String, time: String, note: String) -> Self {
        Self { kind, what, time, note, more: Html::default() }
    }
}

/// The course of a record, the first event first.
#[derive(Template)]
#[template(
    source = r#"<ol class="timeline">{% for event in events %}<li{% if !event.kind.is_empty() %} class="{{ event.kind }}"{% endif %}><div class="what"><strong>{{ event.what }}</strong><span>{{ event.time }}</span></div><span class="soft small">{{ event.note }}</span>{{ event.more }}</li>{% endfor %}</ol>"#,
    ext = "html"
)]
pub(crate) struct Timeline {
    pub(crate) events: Vec<TimelineEvent>,
}

/// Two columns of cards.
#[derive(Template)]
#[template(
    source = r#"<div class="split"><div class="flow">{{ left }}</div><div class="flow">{{ right }}</div></div>"#,
    ext = "html"
)]
pub(crate) struct TwoColumns {
    pub(crate) left: Html,
    pub(crate) right: Html,
}
