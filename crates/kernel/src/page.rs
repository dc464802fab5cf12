//! Pages of a list (contract 01 §7), and of a log.

use time::OffsetDateTime;

/// The number and length of a page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The first page is 1.
    pub page: i64,
    /// Rows on a page, 1 to 100.
    pub per_page: i64,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, per_page: Self::DEFAULT_LENGTH }
    }
}

impl PageRequest {
    /// The default number of rows on a page.
    pub const DEFAULT_LENGTH: i64 = 20;
    /// The most rows a page can have.
    pub const MAX_LENGTH: i64 = 100;
    /// The most bytes that an answer may have, and the JSON of the rows that are read for it.
    pub const MAX_BYTES: usize = 16 * 1024 * 1024;

    /// Parses the parameters of the caller. Never an error: a value that is not a positive integer means the default,
    /// and the maximum is [`Self::MAX_LENGTH`].
    pub fn read(page: Option<&str>, per_page: Option<&str>) -> Self {
        let positive = |text: Option<&str>| text.and_then(|t| t.parse::<i64>().ok()).filter(|n| *n >= 1);
        Self {
            page: positive(page).unwrap_or(1),
            per_page: positive(per_page).unwrap_or(Self::DEFAULT_LENGTH).min(Self::MAX_LENGTH),
        }
    }

    /// Rows before this page.
    pub fn offset(self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// The number of rows to read: one more than the page, to detect a following page.
    pub fn fetch(self) -> i64 {
        self.per_page + 1
    }
}

/// The rows of one page, and whether another one follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// At most `per_page` rows.
    pub items: Vec<T>,
    /// Whether a row follows the last one.
    pub has_more: bool,
}

impl<T> Page<T> {
    /// Removes the extra row of [`PageRequest::fetch`].
    pub fn cut(mut items: Vec<T>, request: PageRequest) -> Self {
        let length = usize::try_from(request.per_page).unwrap_or(usize::MAX);
        let has_more = items.len() > length;
        items.truncate(length);
        Self { items, has_more }
    }

    /// The same page with converted rows.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), has_more: self.has_more }
    }
}

/// Where a page of a log begins. Logs are ordered by time and id, the newest first, and have no page numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogStart<I> {
    /// With the newest row.
    #[default]
    Newest,
    /// After the row of this time and id: with the next older row.
    OlderThan(OffsetDateTime, I),
    /// The rows just before the row of this time and id: those that are newer.
    NewerThan(OffsetDateTime, I),
}

/// A page of a log to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRequest<I> {
    /// Where it begins.
    pub start: LogStart<I>,
    /// Rows on the page, 1 to 100.
    pub limit: i64,
}

impl<I> LogRequest<I> {
    /// The number of rows to read: one more than the page, to detect a following page.
    pub fn fetch(&self) -> i64 {
        self.limit + 1
    }
}

/// The rows of one page of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage<T> {
    /// At most `limit` rows, the newest first.
    pub items: Vec<T>,
    /// Whether there are newer rows. After [`LogStart::OlderThan`] it is true: the row of the request is one.
    pub has_newer: bool,
    /// Whether there are older rows. After [`LogStart::NewerThan`] it is true: the row of the request is one.
    pub has_older: bool,
}

impl<T> LogPage<T> {
    /// Removes the extra row of [`LogRequest::fetch`]; rows that were read ascending are turned around.
    pub fn cut<I>(mut items: Vec<T>, request: &LogRequest<I>) -> Self {
        let length = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > length;
        items.truncate(length);
        match request.start {
            LogStart::Newest => Self { items, has_newer: false, has_older: has_more },
            LogStart::OlderThan(..) => Self { items, has_newer: true, has_older: has_more },
            LogStart::NewerThan(..) => {
                items.reverse();
                Self { items, has_newer: has_more, has_older: true }
            }
        }
    }

    /// The same page with converted rows.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> LogPage<U> {
        LogPage {
            items: self.items.into_iter().map(f).collect(),
            has_newer: self.has_newer,
            has_older: self.has_older,
        }
    }
}

/// The direction of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// The order of a list that can be sorted by its one column or shuffled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the list's own column, then by ascending id.
    Column(Direction),
    /// Random for each request.
    Random,
}

impl Default for Order {
    fn default() -> Self {
        Self::Column(Direction::Ascending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_means_the_default_and_too_long_a_page_is_cut() {
        let read = |page, per_page| PageRequest::read(Some(page), Some(per_page));
        assert_eq!(read("x", ""), PageRequest { page: 1, per_page: 20 });
        assert_eq!(read("0", "-3"), PageRequest { page: 1, per_page: 20 });
        assert_eq!(read("3", "1000"), PageRequest { page: 3, per_page: 100 });
        assert_eq!(read("9223372036854775807", "100").offset(), i64::MAX);
    }

    #[test]
    fn the_extra_row_only_says_that_there_is_more() {
        let request = PageRequest { page: 1, per_page: 2 };
        assert_eq!(Page::cut(vec![1, 2, 3], request), Page { items: vec![1, 2], has_more: true });
        assert_eq!(Page::cut(vec![1, 2], request), Page { items: vec![1, 2], has_more: false });
    }
}
