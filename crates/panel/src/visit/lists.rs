//! What pages of lists share: filters, the filters in use, the number found, pages, and what is shown without rows.

use super::Visit;
use crate::parts::{Chip, Column, Empty, Html, Pages, Results, Table};
use civitas_kernel::PageRequest;

impl Visit {
    /// Columns of texts, with these keys of their labels.
    pub(crate) fn columns(&self, keys: &[&str]) -> Vec<Column> {
        keys.iter().map(|key| Column::new(self.say(key))).collect()
    }

    /// A filter in use, which leads to the list without it.
    pub(crate) fn chip(&self, path: &str, name: &str, text: impl Into<String>) -> Chip {
        Chip { text: text.into(), href: self.query.with(path, name, None) }
    }

    /// How many rows are shown.
    pub(crate) fn shown(&self, rows: usize) -> String {
        self.words.count("found-shown", i64::try_from(rows).unwrap_or_default())
    }

    /// All below the filters. `text` says how many records were found, or their order.
    pub(crate) fn results(
        &self,
        path: &str,
        (text, chips): (String, Vec<Chip>),
        table: &Table,
        pages: Html,
    ) -> Html {
        Results { words: &self.words, text, chips, all: path, table: table.html(), pages }.html()
    }

    /// The links to the pages before and after this one.
    pub(crate) fn pages(&self, path: &str, request: PageRequest, has_more: bool) -> Html {
        self.named_pages(path, self.say("pages-of-list"), request, has_more).html()
    }

    /// As [`Self::pages`], with a name for screen readers.
    pub(crate) fn named_pages(
        &self,
        path: &str,
        label: String,
        request: PageRequest,
        has_more: bool,
    ) -> Pages<'_> {
        let page = |number: i64| self.query.with(path, "page", Some(&number.to_string()));
        Pages {
            words: &self.words,
            label,
            previous: (request.page > 1).then(|| page(request.page - 1)),
            next: has_more.then(|| page(request.page + 1)),
            is_log: false,
            place: self.tell("pages-place", &[("page", request.page.into())]),
        }
    }

    /// What a list shows when no row matches its filters.
    pub(crate) fn no_match(&self, path: &str, title: String) -> Empty {
        Empty { title, text: String::new(), act: Some((path.to_owned(), self.say("filter-clear"))) }
    }
}
