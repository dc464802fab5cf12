//! What pages of lists share: filters, the filters in use, the number found, pages, and what is shown without rows.

use super::AdminRequest;
use crate::parts::{Chip, Column, EmptyState, Html, Pagination, Results, Table};
use civitas_kernel::PageRequest;

impl AdminRequest {
    /// The columns with these keys of their labels, such as `column-name column-people:num:low column-acts`. `num`: numbers;
    /// `low`: left out on a narrow page; `column-acts`: the actions of each row.
    pub(crate) fn columns(&self, keys: &str) -> Vec<Column> {
        let column = |text: &str| {
            let (key, classes) = text.split_once(':').unwrap_or((text, ""));
            let column = Column::new(self.tr(key));
            let column = if key == "column-acts" { column.hidden() } else { column };
            let column = if classes.contains("num") { column.num() } else { column };
            if classes.contains("low") { column.low() } else { column }
        };
        keys.split_whitespace().map(column).collect()
    }

    /// A filter in use, which leads to the list without it.
    pub(crate) fn chip(&self, path: &str, name: &str, text: impl Into<String>) -> Chip {
        Chip { text: text.into(), href: self.query.with(path, name, None) }
    }

    /// How many rows are shown.
    pub(crate) fn row_count_text(&self, rows: usize) -> String {
        self.translator.tr_count("found-shown", rows)
    }

    /// All below the filters. `text` says how many records were found, or their order.
    pub(crate) fn results(
        &self,
        path: &str,
        text: String,
        chips: Vec<Chip>,
        table: &Table,
        pages: Html,
    ) -> Html {
        Results { translator: &self.translator, text, chips, all: path, table: table.html(), pages }.html()
    }

    /// The links to the pages before and after this one.
    pub(crate) fn pagination(&self, path: &str, request: PageRequest, has_more: bool) -> Html {
        self.labelled_pagination(path, self.tr("pages-of-list"), request, has_more).html()
    }

    /// As [`Self::pagination`], with a name for screen readers.
    pub(crate) fn labelled_pagination(
        &self,
        path: &str,
        label: String,
        request: PageRequest,
        has_more: bool,
    ) -> Pagination<'_> {
        let page = |number: i64| self.query.with(path, "page", Some(&number.to_string()));
        Pagination {
            translator: &self.translator,
            label,
            previous: (request.page > 1).then(|| page(request.page - 1)),
            next: has_more.then(|| page(request.page + 1)),
            is_log: false,
            position: self.tr_with("pages-place", "page", request.page),
        }
    }

    /// What a list shows when no row matches its filters.
    pub(crate) fn no_match(&self, path: &str, title: String) -> EmptyState {
        EmptyState { title, text: String::new(), action: Some((path.to_owned(), self.tr("filter-clear"))) }
    }
}
