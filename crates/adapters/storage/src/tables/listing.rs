//! Lists of the records of one table: the dated ones in the order of an index, and the reader's own drafts, which have no
//! date, are few, and are read by author.
//!
//! Ascending, the drafts are the end of the list, descending its beginning; ids ascend within a date and among drafts
//! (contract 06 §1.5, 07 A.3).

mod neighbours;
mod random;

pub(super) use self::neighbours::{Beside, neighbours, seeks, with_drafts};

use super::planner::{Checked, Rows};
use super::select::{Records, TableColumn};
use super::visible_components::VisibleComponents;
use crate::columns;
use crate::engine::Conn;
use crate::failure::Stored;
use async_trait::async_trait;
use civitas_kernel::{Direction, Order, Page, PageRequest, Result};
use diesel::dsl::count_star;
use diesel_async::RunQueryDsl;

/// A table of records that have lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedTable {
    /// Its name.
    pub(super) name: &'static str,
    /// The column of the order. Ids are the order within one value.
    pub(super) date: &'static str,
    /// Whether so many columns are read that a page is better read in the order itself, where its rows
    /// [are direct](Rows::are_direct).
    pub(super) is_read_in_order: bool,
}

impl ListedTable {
    /// All its records.
    pub(super) fn records(self) -> Records {
        Records::of(self.name)
    }

    /// Its column of this name.
    pub(super) fn column(self, name: &'static str) -> TableColumn {
        TableColumn::of(self.name, name)
    }

    /// These records in the order by dates, and by ids within a date.
    pub(super) fn order(self, records: Records, dates: Direction, ids: Direction) -> Records {
        records.order(self.column(self.date), dates).order(self.column("id"), ids)
    }
}

/// The members of a list.
pub(super) trait Members: Sync {
    /// The table.
    fn table(&self) -> ListedTable;
    /// The components whose records are members. Without any, the list is empty.
    fn components(&self) -> &VisibleComponents;
    /// The members with a date. The conditions of the partial indexes are among theirs, exactly.
    fn dated(&self, checked: Checked) -> Result<Records>;
    /// The same for reads in the order of ids.
    fn dated_by_id(&self) -> Result<Records> {
        self.dated(Checked::Few)
    }
    /// The reader's own drafts; `None` if there are none in the list.
    fn drafts(&self) -> Result<Option<Records>> {
        Ok(None)
    }
    /// Whether the members with a date are found by something else than the list, and are few.
    fn are_few(&self) -> bool {
        false
    }
}

/// A list whose rows can be read.
#[async_trait]
pub(super) trait Listing: Members {
    /// The type of a row.
    type Row: Send;

    /// Reads the rows of these records.
    async fn load(&self, connection: &mut Conn, records: Records) -> Result<Vec<Self::Row>>;
}

/// One page of a list.
pub(super) async fn page<L: Listing>(
    list: &L,
    connection: &mut Conn,
    order: Order,
    page: PageRequest,
) -> Result<Page<L::Row>> {
    let rows = match order {
        _ if list.components().is_empty() => Vec::new(),
        Order::Random => {
            let ids = random::ids(list, connection, page.into()).await?;
            let mut rows = rows_of(list, connection, &ids).await?;
            fastrand::shuffle(&mut rows);
            rows
        }
        Order::Column(direction) => ordered(list, connection, direction, page.into()).await?,
    };
    Ok(Page::cut(rows, page))
}

/// Some rows in the order of the list.
async fn ordered<L: Listing>(
    list: &L,
    connection: &mut Conn,
    direction: Direction,
    rows: Rows,
) -> Result<Vec<L::Row>> {
    if direction == Direction::Descending {
        let drafts = drafts(list, connection).await?;
        let mut found = rows_of(list, connection, part(&drafts, rows)).await?;
        let limit = rows.limit - length(&found);
        if limit > 0 {
            let rows = Rows { limit, offset: (rows.offset - length(&drafts)).max(0) };
            found.extend(list.load(connection, dated(list, direction, rows)?).await?);
        }
        return Ok(found);
    }
    let mut found = list.load(connection, dated(list, direction, rows)?).await?;
    let limit = rows.limit - length(&found);
    if limit > 0 {
        let drafts = drafts(list, connection).await?;
        let offset = if drafts.is_empty() || !found.is_empty() || rows.offset == 0 {
            0
        } else {
            // The page begins after all members with a date.
            let dated = list.dated(Checked::Many)?.select(count_star());
            rows.offset - dated.get_result::<i64>(connection).await.stored()?
        };
        found.extend(rows_of(list, connection, part(&drafts, Rows { limit, offset })).await?);
    }
    Ok(found)
}

/// The rows of these ids, ascending.
async fn rows_of<L: Listing>(list: &L, connection: &mut Conn, ids: &[i64]) -> Result<Vec<L::Row>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let id = list.table().column("id");
    let these = list.table().records().filter(columns::any_of::<(), _>(id, ids));
    list.load(connection, these.order(id, Direction::Ascending)).await
}

/// Some of the members with a date, in this direction.
fn dated(list: &dyn Members, direction: Direction, rows: Rows) -> Result<Records> {
    let table = list.table();
    let members = table.order(list.dated(rows.checked())?, direction, Direction::Ascending);
    let is_direct = table.is_read_in_order && rows.are_direct();
    Ok(if is_direct { members.at_least(rows) } else { members.on_page(rows) })
}

/// The ids of the drafts, ascending.
async fn drafts(list: &dyn Members, connection: &mut Conn) -> Result<Vec<i64>> {
    match list.drafts()? {
        None => Ok(Vec::new()),
        Some(drafts) => {
            drafts.order(list.table().column("id"), Direction::Ascending).load_ids(connection).await
        }
    }
}

fn length<T>(rows: &[T]) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

/// These rows of a slice; fewer if the slice is shorter.
fn part(ids: &[i64], rows: Rows) -> &[i64] {
    let index = |at: i64| usize::try_from(at.max(0)).map_or(ids.len(), |at| at.min(ids.len()));
    let start = index(rows.offset);
    &ids[start..index(rows.offset.saturating_add(rows.limit)).max(start)]
}
