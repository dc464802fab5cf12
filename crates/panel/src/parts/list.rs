//! What is above and below the table of a list: filters, the number found, pages.

use super::html::render;
use super::{Choice, Field, Html};
use crate::query::Query;
use crate::words::Words;
use askama::Template;

/// The filters of a list: a form that is sent with GET.
#[derive(Template)]
#[template(path = "parts/filters.html")]
pub(crate) struct Filters<'a> {
    pub(crate) words: &'a Words,
    pub(crate) query: &'a Query,
    pub(crate) label: String,
    pub(crate) fields: Vec<Html>,
}

impl Filters<'_> {
    /// A text to search for.
    pub(crate) fn search(self, placeholder: impl Into<String>) -> Self {
        let field = Field::search("q", self.words.say("search"), self.query.shown("q"));
        self.field(&field.placeholder(placeholder))
    }

    /// One of these values, or all.
    pub(crate) fn select(
        self,
        name: &str,
        label: impl Into<String>,
        choices: impl IntoIterator<Item = Choice>,
    ) -> Self {
        let all = Choice::new("", self.words.say("all"));
        let choices = std::iter::once(all).chain(choices).collect();
        let chosen = self.query.shown(name);
        self.field(&Field::select(name, label, chosen, choices))
    }

    /// The order: the one without a value, and another one.
    pub(crate) fn sort(self, first: impl Into<String>, value: &str, other: impl Into<String>) -> Self {
        let choices = vec![Choice::new("", first), Choice::new(value, other)];
        let field = Field::select("sort", self.words.say("sort-by"), self.query.shown("sort"), choices);
        self.field(&field)
    }

    /// The first and the last time.
    pub(crate) fn times(self) -> Self {
        let from = Field::moment("from", self.words.say("from"), self.query.shown("from"));
        let to = Field::moment("to", self.words.say("to"), self.query.shown("to"));
        self.field(&from).field(&to)
    }

    pub(crate) fn field(mut self, field: &Field) -> Self {
        self.fields.push(field.html(self.words));
        self
    }

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
