//! What is above and below the table of a list: filters, the number found, pages.

use super::Html;
use super::html::render;
use crate::words::Words;
use askama::Template;

/// The filters of a list: a form that is sent with GET.
#[derive(Debug, Template)]
#[template(path = "parts/filters.html")]
pub(crate) struct Filters {
    pub(crate) label: String,
    pub(crate) fields: Vec<Html>,
    pub(crate) apply: String,
    /// Parameters that stay, such as the tab.
    pub(crate) kept: Vec<(String, String)>,
}

impl Filters {
    pub(crate) fn html(&self) -> Html {
        render(self)
    }
}

/// A filter in use, and the address without it.
#[derive(Debug, Clone)]
pub(crate) struct Chip {
    pub(crate) text: String,
    pub(crate) href: String,
}

/// How many records were found, and the filters in use.
#[derive(Template)]
#[template(path = "parts/found.html")]
pub(crate) struct Found<'a> {
    pub(crate) words: &'a Words,
    pub(crate) text: String,
    pub(crate) chips: Vec<Chip>,
    /// The address without filters.
    pub(crate) all: String,
}

impl Found<'_> {
    pub(crate) fn html(&self) -> Html {
        render(self)
    }
}

/// All below the filters; scripts replace it when a filter changes.
#[derive(Template)]
#[template(source = r#"<div id="results">{{ found }}{{ table }}{{ pages }}</div>"#, ext = "html")]
pub(crate) struct Results {
    pub(crate) found: Html,
    pub(crate) table: Html,
    pub(crate) pages: Html,
}

impl Results {
    pub(crate) fn html(&self) -> Html {
        render(self)
    }
}

/// The way to the pages before and after this one.
#[derive(Template)]
#[template(path = "parts/pages.html")]
pub(crate) struct Pages<'a> {
    pub(crate) words: &'a Words,
    pub(crate) label: String,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
    /// Whether the list is a log: newer and older instead of previous and next.
    pub(crate) is_log: bool,
    /// Where this page is.
    pub(crate) place: String,
}

impl Pages<'_> {
    /// Nothing for a list of one page.
    pub(crate) fn html(&self) -> Html {
        if self.previous.is_none() && self.next.is_none() { Html::default() } else { render(self) }
    }
}
