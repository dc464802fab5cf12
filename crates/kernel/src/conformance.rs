//! What conformance tests of many crates need.

use crate::filter::RawFilter;
use crate::testing::{ALL, raw_filter};
use crate::{Direction, Page, PageRequest, Result, Sort, SortColumn};
use std::fmt::Debug;
use time::OffsetDateTime;

/// The rows of all pages of this length.
pub async fn read_pages<T>(
    per_page: i64,
    list: impl AsyncFn(PageRequest) -> Result<Page<T>>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    for page in 1.. {
        let Page { items, has_more, .. } = list(PageRequest::new(page, per_page)).await?;
        assert!(page == 1 || !items.is_empty(), "no page follows the last row");
        rows.extend(items);
        if !has_more {
            break;
        }
    }
    Ok(rows)
}

/// Checks the orders of every list, the total and the filters by time of a list with two rows or more, all on one page
/// (contract 01 §6.2, §7). `list` reads id, creation and last change of the rows of a page.
pub async fn check_list<I: Copy + Ord + Debug>(
    list: impl AsyncFn(RawFilter, PageRequest) -> Result<Page<(I, OffsetDateTime, OffsetDateTime)>>,
) -> Result<()> {
    let all = list(RawFilter::default(), ALL).await?;
    assert_eq!(all.total, None);
    let total = i64::try_from(all.items.len()).ok();
    for column in SortColumn::COMMON {
        for direction in [Direction::Ascending, Direction::Descending] {
            let sort = Some(Sort { column, direction });
            let mut expected = all.items.clone();
            expected.sort_by_key(|row| row.0);
            expected.sort_by(|a, b| {
                let order = match column {
                    SortColumn::CreatedAt => a.1.cmp(&b.1),
                    SortColumn::UpdatedAt => a.2.cmp(&b.2),
                    SortColumn::Id | SortColumn::Votes => a.0.cmp(&b.0),
                };
                if direction == Direction::Descending { order.reverse() } else { order }
            });
            let sorted = PageRequest { sort, is_counted: true, ..ALL };
            let page = list(RawFilter::default(), sorted).await?;
            assert_eq!((&page.items, page.total), (&expected, total), "{sort:?}");
            let second = PageRequest { page: 2, per_page: 1, ..sorted };
            let page = list(RawFilter::default(), second).await?;
            assert_eq!((&page.items[..], page.total), (&expected[1..2], total), "{sort:?}");
        }
    }
    for (key, has_all) in [
        ("created_at_gteq", true),
        ("created_at_lt", false),
        ("updated_at_gteq", true),
        ("updated_at_lt", false),
    ] {
        let expected = if has_all { all.items.clone() } else { Vec::new() };
        let total = i64::try_from(expected.len()).ok();
        let found = list(raw_filter(key, "2001-01-01"), PageRequest { is_counted: true, ..ALL }).await?;
        assert_eq!((found.items, found.total), (expected, total), "{key}");
    }
    Ok(())
}

/// Declares the world of conformance tests: ports, two organizations `mine` and `other`, and what the first one has.
#[macro_export]
macro_rules! conformance_world {
    (
        $(#[$doc:meta])*
        pub struct $world:ident {
            ports($($port:ident: $of:ident),+ $(,)?)
            $($(#[$about:meta])+ $member:ident: $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        pub struct $world<'a> {
            $(
                /// Under test, or needed by a test.
                pub $port: &'a dyn $of,
            )+
            /// An organization.
            pub mine: $crate::OrganizationId,
            /// Another one.
            pub other: $crate::OrganizationId,
            $($(#[$about])+ pub $member: $type,)*
        }
    };
}
