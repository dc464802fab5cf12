//! Lists of the records of one table: the dated ones in the order of an index, and the reader's own drafts, which have no
//! date, are few, and are read by author.
//!
//! Ascending, the drafts are the end of the list, descending its beginning; ids ascend within a date and among drafts
//! (contract 06 §1.5, 07 A.3). In the order of another column drafts are members as all others.

mod fields;
mod neighbours;
mod random;

pub(super) use self::fields::ListedField;
pub(super) use self::neighbours::{Beside, neighbours, seeks, with_drafts};

use super::planner::{BY_RANDOM_PAGES, Checked, Rows, Sql};
use super::select::{Key, Records, TableColumn};
use super::visible_components::VisibleComponents;
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::failure::Stored;
use async_trait::async_trait;
use civitas_kernel::{Direction, Order, Page, PageRequest, Result, Sort, SortColumn};
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

    /// The column of the order.
    pub(super) fn key(self) -> TableColumn {
        if self.date == "id" { self.column("id").and(BY_RANDOM_PAGES) } else { self.column(self.date) }
    }

    /// These records in the order by dates, and by ids within a date.
    pub(super) fn order(self, records: Records, dates: Direction, ids: Direction) -> Records {
        records.order(self.column(self.date), dates).order(self.column("id"), ids)
    }

    /// The same table with lists in this order.
    pub(super) fn sorted(self, order: Order) -> Self {
        let Order::By(Sort { column, .. }) = order else { return self };
        let date = match column {
            SortColumn::Id => "id",
            SortColumn::CreatedAt => "created_at",
            SortColumn::UpdatedAt => "updated_at",
            SortColumn::Votes => "votes_count",
        };
        Self { date, ..self }
    }
}

/// How the members that satisfy a filter are found.
pub(super) enum FilterCondition {
    /// Each member is compared.
    Compared(Sql),
    /// An index finds them; they are few.
    Few(Sql),
    /// An index finds them, few or many. `test` compares each member, and costs less for few.
    Sought {
        /// For few members.
        test: Sql,
        /// For all of them.
        found: Sql,
    },
}

impl FilterCondition {
    /// The condition that each member is compared.
    pub(super) fn compared<QS: 'static>(condition: Condition<QS>) -> Self {
        Self::Compared(Box::new(condition))
    }
}

/// The members of a list.
pub(super) trait Members: Sync {
    /// The table, with the column of the order.
    fn table(&self) -> ListedTable;
    /// The components whose records are members. Without any, the list is empty.
    fn components(&self) -> &VisibleComponents;
    /// The members with a date, without filters. The conditions of the partial indexes are among theirs, exactly.
    fn unfiltered(&self, of_components: Condition<()>) -> Records;
    /// The same for reads in the order of ids.
    fn unfiltered_by_id(&self, of_components: Condition<()>) -> Records {
        self.unfiltered(of_components)
    }
    /// The filters.
    fn filters(&self) -> Result<Vec<FilterCondition>> {
        Ok(Vec::new())
    }
    /// What the order compares.
    fn key(&self) -> Key {
        self.table().key().into()
    }
    /// Whether the order is that of another column than the list's own.
    fn is_sorted(&self) -> bool {
        false
    }
    /// The reader's own drafts; `None` if there are none in the list, or they are among those with a date.
    fn drafts(&self) -> Result<Option<Records>> {
        Ok(None)
    }
}

/// These members in the order by dates, and by ids within a date.
fn in_order(list: &dyn Members, records: Records, dates: Direction, ids: Direction) -> Records {
    let ordered = records.order(list.key(), dates);
    if list.table().date == "id" { ordered } else { ordered.order(list.table().column("id"), ids) }
}

/// The members with a date.
fn dated(list: &dyn Members, checked: Checked) -> Result<Records> {
    let filters = list.filters()?;
    // With filters, all rows may be checked for the first ones in an order.
    let checked = if filters.is_empty() { checked } else { Checked::Many };
    let of_components = of_components(list, &filters, checked);
    Ok(filtered(list.unfiltered(of_components), filters))
}

/// Whether a record belongs to the components. With a filter that an index finds, no index of components is used.
fn of_components(list: &dyn Members, filters: &[FilterCondition], checked: Checked) -> Condition<()> {
    let (components, table) = (list.components(), list.table().name);
    if are_found(filters) {
        components.contain_records_by_id(table, Checked::Few)
    } else {
        components.contain_records(table, checked)
    }
}

/// Whether one of the filters finds the members.
fn are_found(filters: &[FilterCondition]) -> bool {
    filters.iter().any(|filter| !matches!(filter, FilterCondition::Compared(_)))
}

/// Those that satisfy these filters.
pub(super) fn filtered(records: Records, filters: Vec<FilterCondition>) -> Records {
    filters.into_iter().fold(records, |records, filter| match filter {
        FilterCondition::Compared(condition) | FilterCondition::Few(condition) => records.filter(condition),
        FilterCondition::Sought { found, .. } => records.filter(found),
    })
}

/// The same for few records, each of which is compared; also for records that are no members with a date.
pub(super) fn compared(records: Records, filters: Vec<FilterCondition>) -> Records {
    filters.into_iter().fold(records, |records, filter| match filter {
        FilterCondition::Compared(condition) | FilterCondition::Few(condition) => records.filter(condition),
        FilterCondition::Sought { test, .. } => records.filter(test),
    })
}

/// The first members with a date in the order, of which those are read that satisfy the filters: complete if the rows that
/// are wanted are among them. `None`: no filter is sought, or the rows are far from the first.
fn beginning(list: &dyn Members, direction: Direction, rows: Rows) -> Result<Option<Records>> {
    let filters = list.filters()?;
    let is_sought = |filter: &FilterCondition| matches!(filter, FilterCondition::Sought { .. });
    let are_few = filters.iter().any(|filter| matches!(filter, FilterCondition::Few(_)));
    let Some(window) = rows.window().filter(|_| !are_few && filters.iter().any(is_sought)) else {
        return Ok(None);
    };
    let (table, components) = (list.table(), list.components());
    let (mut compared, mut tests) = (Vec::new(), Vec::new());
    for filter in filters {
        match filter {
            FilterCondition::Sought { test, .. } => tests.push(test),
            other => compared.push(other),
        }
    }
    let checked = if compared.is_empty() { Checked::Few } else { Checked::Many };
    let members = list.unfiltered(components.contain_records(table.name, checked));
    let first = in_order(list, filtered(members, compared), direction, Direction::Ascending);
    let first = first.on_page(Rows { limit: window, offset: 0 });
    Ok(Some(tests.into_iter().fold(first, Records::filter).limited(rows)))
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
        Order::Column(direction) | Order::By(Sort { direction, .. }) => {
            ordered(list, connection, direction, page.into()).await?
        }
    };
    let total = if page.is_counted { Some(count(list, connection).await?) } else { None };
    Ok(Page::cut(rows, page).with_total(total))
}

/// The number of all members.
async fn count(list: &dyn Members, connection: &mut Conn) -> Result<i64> {
    if list.components().is_empty() {
        return Ok(0);
    }
    let counted = dated(list, Checked::Many)?.select(count_star());
    let counted: i64 = counted.get_result(connection).await.stored()?;
    Ok(counted + length(&drafts(list, connection).await?))
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
            found.extend(dated_rows(list, connection, direction, rows).await?);
        }
        return Ok(found);
    }
    let mut found = dated_rows(list, connection, direction, rows).await?;
    let limit = rows.limit - length(&found);
    if limit > 0 {
        let drafts = drafts(list, connection).await?;
        let offset = if drafts.is_empty() || !found.is_empty() || rows.offset == 0 {
            0
        } else {
            // The page begins after all members with a date.
            let dated = dated(list, Checked::Many)?.select(count_star());
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

/// Some of the members with a date, in this direction (docs/decisions/0068).
async fn dated_rows<L: Listing>(
    list: &L,
    connection: &mut Conn,
    direction: Direction,
    rows: Rows,
) -> Result<Vec<L::Row>> {
    if let Some(beginning) = beginning(list, direction, rows)? {
        let found = list.load(connection, beginning).await?;
        if length(&found) == rows.limit {
            return Ok(found);
        }
    }
    let table = list.table();
    let members = in_order(list, dated(list, rows.checked())?, direction, Direction::Ascending);
    let is_direct = table.is_read_in_order && rows.are_direct();
    list.load(connection, if is_direct { members.at_least(rows) } else { members.on_page(rows) }).await
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
