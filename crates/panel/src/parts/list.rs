//! What is above and below the table of a list: filters, the number found, pages.

use super::Html;
use super::html::render;
use crate::translator::Translator;
use askama::Template;

/// The filters of a list: a form that is sent with GET.
#[derive(Template)]
#[template(path = "parts/filters.html")]
pub(crate) struct Filters<'a> {
    pub(crate) translator: &'a Translator,
    pub(crate) label: String,
    pub(crate) fields: Vec<Html>,
}

/// A filter in use, and the address without it.
#[derive(Debug, Clone)]
pub(crate) struct Chip {
    pub(crate) text: String,
    pub(crate) href: String,
}

/// All below the filters: how many records were found, the filters in use, the records. Scripts replace it when a filter
/// changes.
#[derive(Template)]
#[template(path = "parts/results.html")]
pub(crate) struct Results<'a> {
    pub(crate) translator: &'a Translator,
    /// How many records were found, or their order.
    pub(crate) text: String,
    pub(crate) chips: Vec<Chip>,
    /// The address without filters.
    pub(crate) all: &'a str,
    pub(crate) table: Html,
    pub(crate) pages: Html,
}

/// The way to the pages before and after this one.
#[derive(Template)]
#[template(path = "parts/pages.html")]
pub(crate) struct Pagination<'a> {
    pub(crate) translator: &'a Translator,
    pub(crate) label: String,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
    /// Whether the list is a log: newer and older instead of previous and next.
    pub(crate) is_log: bool,
    /// The number of this page, as text.
    pub(crate) position: String,
}

impl Pagination<'_> {
    /// Nothing for a list of one page.
    pub(crate) fn html(&self) -> Html {
        if self.previous.is_none() && self.next.is_none() { Html::default() } else { render(self) }
    }
}
