//! Pages of a list (contract 01 §7), and of a log.

use time::OffsetDateTime;

/// A page of a list: its number, its length, the order, and whether all rows are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The first page is 1.
    pub page: i64,
    /// Rows on a page, 1 to 100.
    pub per_page: i64,
    /// The order instead of that of the list. Lists with an [`Order`] in their query ignore it.
    pub sort: Option<Sort>,
    /// Whether the total is counted.
    pub is_counted: bool,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self::new(1, Self::DEFAULT_LENGTH)
    }
}

impl PageRequest {
    /// The default number of rows on a page.
    pub const DEFAULT_LENGTH: i64 = 20;
    /// The most rows a page can have.
    pub const MAX_LENGTH: i64 = 100;
    /// The most bytes that an answer may have, and the JSON of the rows that are read for it.
    pub const MAX_BYTES: usize = 16 * 1024 * 1024;

    /// A page in the order of the list, without total.
    pub const fn new(page: i64, per_page: i64) -> Self {
        Self { page, per_page, sort: None, is_counted: false }
    }

    /// Parses the parameters of the caller. Never an error: a value that is not a positive integer means the default,
    /// and the maximum is [`Self::MAX_LENGTH`].
    pub fn read(page: Option<&str>, per_page: Option<&str>) -> Self {
        let positive = |text: Option<&str>| text.and_then(|t| t.parse::<i64>().ok()).filter(|n| *n >= 1);
        Self::new(
            positive(page).unwrap_or(1),
            positive(per_page).unwrap_or(Self::DEFAULT_LENGTH).min(Self::MAX_LENGTH),
        )
    }

    /// Rows before this page.
    pub fn offset(self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// The number of rows to read: one more than the page, to detect a following page.
    pub fn rows_to_fetch(self) -> i64 {
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
    /// All rows of the list; `None` if they were not counted.
    pub total: Option<i64>,
}

impl<T> Page<T> {
    /// A page without total.
    pub fn new(items: Vec<T>, has_more: bool) -> Self {
        Self { items, has_more, total: None }
    }

    /// The same page with this total.
    #[must_use]
    pub fn with_total(self, total: Option<i64>) -> Self {
        Self { total, ..self }
    }

    /// Removes the extra row of [`PageRequest::rows_to_fetch`]. The page has no total.
    pub fn from_fetched(mut items: Vec<T>, request: PageRequest) -> Self {
        let length = usize::try_from(request.per_page).unwrap_or(usize::MAX);
        let has_more = items.len() > length;
        items.truncate(length);
        Self::new(items, has_more)
    }

    /// The same page with converted rows.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page::new(self.items.into_iter().map(f).collect(), self.has_more).with_total(self.total)
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
    pub fn rows_to_fetch(&self) -> i64 {
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
    /// Removes the extra row of [`LogRequest::rows_to_fetch`]; rows that were read ascending are turned around.
    pub fn from_fetched<I>(mut items: Vec<T>, request: &LogRequest<I>) -> Self {
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

/// A column that every list can be sorted by (contract 01 §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortColumn {
    /// The id.
    Id,
    /// The time of creation.
    CreatedAt,
    /// The time of the last change.
    UpdatedAt,
    /// The number of votes. Of proposals alone (contract 06 §1.5).
    Votes,
}

impl SortColumn {
    /// The columns of every list.
    pub const COMMON: [Self; 3] = [Self::Id, Self::CreatedAt, Self::UpdatedAt];

    /// Its name in the interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "updated_at",
            Self::Votes => "votes_count",
        }
    }
}

/// An order by one column. Ids ascend within equal values, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: SortColumn,
    /// The direction of its values.
    pub direction: Direction,
}

/// The order of a list with a column of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the list's own column, then by ascending id.
    Column(Direction),
    /// By another column.
    By(Sort),
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
        assert_eq!(read("x", ""), PageRequest::new(1, 20));
        assert_eq!(read("0", "-3"), PageRequest::default());
        assert_eq!(read("3", "1000"), PageRequest::new(3, 100));
        assert_eq!(read("9223372036854775807", "100").offset(), i64::MAX);
    }

    #[test]
    fn the_extra_row_only_says_that_there_is_more() {
        let request = PageRequest::new(1, 2);
        assert_eq!(Page::from_fetched(vec![1, 2, 3], request), Page::new(vec![1, 2], true));
        assert_eq!(Page::from_fetched(vec![1, 2], request), Page::new(vec![1, 2], false));
    }

    #[test]
    fn converted_rows_keep_the_total() {
        let page = Page::new(vec![1, 2], true).with_total(Some(9));
        assert_eq!(page.map(|row| row * 2), Page { items: vec![2, 4], has_more: true, total: Some(9) });
    }
}
