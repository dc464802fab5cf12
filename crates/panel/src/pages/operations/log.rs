//! Logs and other lists of the deployment: filters, rows, pages.

use crate::admin_request::AdminRequest;
use crate::format::{self, Zone};
use crate::parts::{Choice, Field, Head, Html, PageAction, Pagination, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use civitas_kernel::{LogPage, LogRequest, LogStart, OrganizationId, Result};
use std::fmt::Display;
use time::OffsetDateTime;
use uuid::Uuid;

/// The page of a list. The keys of its texts begin with its name: `nav-jobs`, `jobs-lede`, `jobs-filter`.
pub(crate) struct LogList<'a> {
    req: &'a AdminRequest,
    path: &'static str,
    name: &'static str,
    pub(crate) filters: ListFilters<'a>,
    /// The text before the filters in use.
    pub(crate) found: String,
    /// The action in the head.
    pub(crate) action: Option<PageAction>,
}

impl<'a> LogList<'a> {
    pub(crate) fn new(req: &'a AdminRequest, path: &'static str, name: &'static str) -> Self {
        let (filters, found) = (ListFilters::new(req, path), req.tr("newest-first"));
        Self { req, path, name, filters, found, action: None }
    }

    /// Adds a filter. Returns its value.
    pub(crate) fn field(&mut self, name: &str, field: &Field) -> Option<&'a str> {
        let req = self.req;
        let value = req.query.get(name);
        self.filters.field(field, value.map(|value| req.chip(self.path, name, value)));
        value
    }

    /// A line of text.
    pub(crate) fn text(&mut self, name: &str, label: &str) -> Option<String> {
        let field = Field::text(name, self.req.tr(label), self.req.query.field_value(name));
        self.field(name, &field).map(str::to_owned)
    }

    /// One of these values, or all.
    pub(crate) fn select(
        &mut self,
        name: &str,
        label: &str,
        choices: impl IntoIterator<Item = Choice>,
    ) -> Option<&'a str> {
        let req = self.req;
        let choices = std::iter::once(Choice::new("", req.tr("all"))).chain(choices).collect();
        self.field(name, &Field::select(name, req.tr(label), req.query.field_value(name), choices))
    }

    /// The first or the last time: `from` or `to`.
    pub(crate) fn time(&mut self, name: &str) -> Option<OffsetDateTime> {
        let field = Field::datetime(name, self.req.tr(name), self.req.query.field_value(name));
        self.field(name, &field).and_then(|text| format::parse_datetime_field(Zone::utc(), text))
    }

    /// The page to read, of rows with an id of this type.
    pub(crate) fn request<I>(&self, id: fn(Uuid) -> I) -> LogRequest<I> {
        let start = log_start(self.req, |text| Uuid::parse_str(text).ok().map(id));
        LogRequest { start, limit: PER_PAGE }
    }

    /// The page with this table, and the links to its pages.
    pub(crate) async fn show(self, table: &Table, pages: Html) -> Result<Reply> {
        let (req, name) = (self.req, self.name);
        let head = req.head(&format!("nav-{name}")).lede(req.tr(&format!("{name}-lede")));
        let head = self.action.into_iter().fold(head, Head::action);
        self.filters.show(name, head, self.found, table, pages).await
    }
}

/// Where a page of a log begins: `older` or `newer` with the time and the id of a row.
pub(crate) fn log_start<I>(req: &AdminRequest, read: impl Fn(&str) -> Option<I>) -> LogStart<I> {
    let row = |name: &str| {
        let (time, id) = req.query.get(name)?.split_once('.')?;
        let time =
            OffsetDateTime::from_unix_timestamp_nanos(time.parse::<i128>().ok()?.checked_mul(1_000)?).ok()?;
        Some((time, read(id)?)).filter(|_| (0..=9999).contains(&time.year()))
    };
    match (row("older"), row("newer")) {
        (Some((time, id)), _) => LogStart::OlderThan(time, id),
        (None, Some((time, id))) => LogStart::NewerThan(time, id),
        (None, None) => LogStart::Newest,
    }
}

/// The links to newer and older rows. `row`: the time and the id of a row, which are microseconds and id in an address.
pub(crate) fn log_pagination<T, I: Display>(
    req: &AdminRequest,
    path: &str,
    page: &LogPage<T>,
    row: impl Fn(&T) -> (OffsetDateTime, I),
) -> Html {
    let link = |name: &str, at: &T| {
        let (time, id) = row(at);
        req.query.with(path, name, Some(&format!("{}.{id}", time.unix_timestamp_nanos() / 1_000)))
    };
    let pages = Pagination {
        translator: &req.translator,
        label: req.tr("log-pages"),
        previous: page.items.first().filter(|_| page.has_newer).map(|row| link("newer", row)),
        next: page.items.last().filter(|_| page.has_older).map(|row| link("older", row)),
        is_log: true,
        position: String::new(),
    };
    pages.html()
}

/// The name of an organization; empty when it is not in the list.
pub(crate) fn organization_name(organizations: &[(OrganizationId, String)], id: OrganizationId) -> &str {
    organizations.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name)
}
