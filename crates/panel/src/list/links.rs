//! The links of a page of a list to the pages before and after it: by number, or of a log by the time of its rows.

use crate::admin_request::AdminRequest;
use crate::parts::{Html, render};
use crate::query::Query;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{LogPage, LogStart, PageRequest};
use std::fmt::Display;
use std::str::FromStr;
use time::OffsetDateTime;

/// The links to the pages before and after this one.
#[derive(Template)]
#[template(path = "parts/pages.html")]
pub(crate) struct PageLinks<'a> {
    translator: &'a Translator,
    /// The name for screen readers.
    label: String,
    previous: Option<String>,
    next: Option<String>,
    /// Whether the pages are newer and older ones instead of previous and next ones.
    is_log: bool,
    /// The number of this page, as text.
    position: String,
}

impl<'a> PageLinks<'a> {
    /// The links of a page with this number; `has_more`: whether a page follows.
    pub(super) fn numbered(
        req: &'a AdminRequest,
        path: &str,
        request: PageRequest,
        has_more: bool,
        is_log: bool,
    ) -> Self {
        let link = |number: i64| req.query.with(path, "page", Some(&number.to_string()));
        Self {
            translator: &req.translator,
            label: req.tr("pages-of-list"),
            previous: (request.page > 1).then(|| link(request.page - 1)),
            next: has_more.then(|| link(request.page + 1)),
            is_log,
            position: req.tr_with("pages-place", "page", request.page),
        }
    }

    /// The links of a page of a log. `row`: the time and the id of a row, which are microseconds and id in an address.
    pub(super) fn by_time<T, I: Display>(
        req: &'a AdminRequest,
        path: &str,
        page: &LogPage<T>,
        row: impl Fn(&T) -> (OffsetDateTime, I),
    ) -> Self {
        let link = |name: &str, at: &T| {
            let (time, id) = row(at);
            req.query.with(path, name, Some(&format!("{}.{id}", time.unix_timestamp_nanos() / 1_000)))
        };
        Self {
            translator: &req.translator,
            label: req.tr("log-pages"),
            previous: page.items.first().filter(|_| page.has_newer).map(|row| link("newer", row)),
            next: page.items.last().filter(|_| page.has_older).map(|row| link("older", row)),
            is_log: true,
            position: String::new(),
        }
    }

    /// With this name for screen readers.
    pub(crate) fn label(self, label: String) -> Self {
        Self { label, ..self }
    }

    /// Nothing for a list of one page.
    pub(crate) fn html(&self) -> Html {
        if self.previous.is_none() && self.next.is_none() { Html::default() } else { render(self) }
    }
}

/// Where a page of a log begins: `older` or `newer` with the time and the id of a row.
pub(super) fn log_start<N: FromStr, I>(query: &Query, id: fn(N) -> I) -> LogStart<I> {
    let row = |name: &str| {
        let (time, number) = query.get(name)?.split_once('.')?;
        let time =
            OffsetDateTime::from_unix_timestamp_nanos(time.parse::<i128>().ok()?.checked_mul(1_000)?).ok()?;
        Some((time, id(number.parse().ok()?))).filter(|_| (0..=9999).contains(&time.year()))
    };
    match (row("older"), row("newer")) {
        (Some((time, id)), _) => LogStart::OlderThan(time, id),
        (None, Some((time, id))) => LogStart::NewerThan(time, id),
        (None, None) => LogStart::Newest,
    }
}
