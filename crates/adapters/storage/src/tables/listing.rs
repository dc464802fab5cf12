//! Lists of the records of one table: the dated ones in the order of an index, and the reader's own drafts, which have no
//! date, are few, and are read by author.
//!
//! Ascending, the drafts are the end of the list, descending its beginning; ids ascend within a date and among drafts
//! (contract 06 §1.5, 07 A.3). In the order of another column drafts are members as all others.

mod fields;
mod neighbours;
mod random;

pub(super) use self::fields::ListedField;
pub(super) use self::neighbours::{NeighbourIds, neighbours, seeks, with_drafts};

use super::planner::{BoxedSql, CheckedRows, LimitOffset, RANDOM_PAGE_INDEX_SUFFIX};
use super::select::{OrderKey, RecordSelect, TableColumn};
use super::visible_components::VisibleComponents;
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::filter::column_condition;
use crate::page_rows::RowReadLimits;
use crate::session::{ConnectionGuard, Session};
use async_trait::async_trait;
use civitas_kernel::{
    Direction, Locales, LocationFilter, Order, Page, PageRequest, ReadContext, Result, Sort, SortColumn,
    filter,
};
use civitas_spaces::ComponentKind;
use diesel::dsl::count_star;
use diesel_async::RunQueryDsl;

/// How many members that an index finds are read at once, whatever page is wanted.
const FEW_MEMBERS: i64 = 50;

/// A table of records that have lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedTable {
    /// Its name.
    pub(super) name: &'static str,
    /// The name of the column by which lists are ordered. Ids are the order within one value.
    pub(super) order_column: &'static str,
    /// Whether so many columns are read that a page is better read in the order itself, where its rows
    /// [are direct](LimitOffset::reads_rows_directly).
    pub(super) is_read_in_order: bool,
}

impl ListedTable {
    /// All its records.
    pub(super) fn records(self) -> RecordSelect {
        RecordSelect::from_table(self.name)
    }

    /// Its column of this name.
    pub(super) fn column(self, name: &'static str) -> TableColumn {
        TableColumn::new(self.name, name)
    }

    /// The column of the order.
    pub(super) fn key(self) -> TableColumn {
        if self.order_column == "id" {
            self.column("id").with_suffix(RANDOM_PAGE_INDEX_SUFFIX)
        } else {
            self.column(self.order_column)
        }
    }

    /// These records in the order by dates, and by ids within a date.
    pub(super) fn order(self, records: RecordSelect, dates: Direction, ids: Direction) -> RecordSelect {
        records.order(self.column(self.order_column), dates).order(self.column("id"), ids)
    }

    /// The same table with lists in this order.
    pub(super) fn ordered_by(self, order: Order) -> Self {
        let Order::By(Sort { column, .. }) = order else { return self };
        let order_column = match column {
            SortColumn::Id => "id",
            SortColumn::CreatedAt => "created_at",
            SortColumn::UpdatedAt => "updated_at",
            SortColumn::Votes => "votes_count",
        };
        Self { order_column, ..self }
    }
}

/// How the members that satisfy a filter are found.
pub(super) enum ListCondition {
    /// Each member is compared.
    Compared(BoxedSql),
    /// An index finds them; they are few.
    Few(BoxedSql),
    /// An index finds them, few or many. `test` compares each member, and costs less for few.
    Sought {
        /// For few members.
        test: BoxedSql,
        /// For all of them.
        found: BoxedSql,
        /// What `found` finds, in the order of the index, if it finds members alone: nothing else of a member needs to be
        /// compared.
        members: Option<RecordSelect>,
    },
}

impl ListCondition {
    /// The condition that each member is compared.
    pub(super) fn compared<QS: 'static>(condition: Condition<QS>) -> Self {
        Self::Compared(Box::new(condition))
    }

    /// The condition for few records, each of which is compared; also for records that are no members with a date.
    fn test(self) -> BoxedSql {
        match self {
            Self::Compared(condition) | Self::Few(condition) | Self::Sought { test: condition, .. } => {
                condition
            }
        }
    }

    /// The condition by an index, where one finds the members.
    fn found(self) -> BoxedSql {
        match self {
            Self::Compared(condition) | Self::Few(condition) | Self::Sought { found: condition, .. } => {
                condition
            }
        }
    }
}

/// The lists of one kind of records of components.
pub(super) struct ListKind<F> {
    /// The table, with the list's own order.
    pub(super) table: ListedTable,
    /// The kind of the components.
    pub(super) component_kind: ComponentKind,
    /// What a field compares.
    pub(super) field: fn(F) -> ListedField,
}

/// What all lists of records of components have.
pub(super) struct ListBase {
    /// The table, with the column of the order.
    pub(super) table: ListedTable,
    /// The components whose records are members. Without any, the list is empty.
    pub(super) components: VisibleComponents,
    order: Order,
    /// The filters of records.
    pub(super) filters: Vec<(ListedField, filter::FilterCondition)>,
    /// What is read of the rows.
    pub(super) bounds: RowReadLimits,
    locales: Locales,
}

impl ListBase {
    /// Reads the visible components that satisfy the filters.
    pub(super) async fn open<F: Copy>(
        session: &Session,
        read_context: ReadContext,
        kind: &ListKind<F>,
        (within, filters, order): (LocationFilter, &[filter::Filter<F>], Order),
    ) -> Result<Self> {
        let (mut of_components, mut of_records) = (Vec::new(), Vec::new());
        for filter::Filter { field, condition } in filters {
            let field = (kind.field)(*field);
            match field.component_column() {
                Some(column) => of_components.push(column_condition(column, condition)?),
                None => of_records.push((field, condition.clone())),
            }
        }
        let components = VisibleComponents::load_filtered(
            session,
            read_context,
            within,
            kind.component_kind,
            of_components,
        )
        .await?;
        Ok(Self {
            table: kind.table.ordered_by(order),
            components,
            order,
            filters: of_records,
            bounds: session.bounds,
            locales: session.locales().clone(),
        })
    }

    /// Whether the order is that of another column than the list's own.
    pub(super) fn is_sorted(&self) -> bool {
        matches!(self.order, Order::By(_))
    }

    /// The direction of the order; `None` if it is random.
    pub(super) fn direction(&self) -> Option<Direction> {
        match self.order {
            Order::Column(direction) | Order::By(Sort { direction, .. }) => Some(direction),
            Order::Random => None,
        }
    }
}

/// The members of a list.
pub(super) trait ListMembers: Sync {
    /// What all lists have.
    fn base(&self) -> &ListBase;
    /// The members with a date, without filters. The conditions of the partial indexes are among theirs, exactly.
    fn unfiltered(&self, of_components: Condition<()>) -> RecordSelect;
    /// The same for reads in the order of ids.
    fn unfiltered_by_id(&self, of_components: Condition<()>) -> RecordSelect {
        self.unfiltered(of_components)
    }
    /// How the members that satisfy a filter are found, if not by [`ListedField::condition`].
    fn own_condition(&self, _: ListedField, _: &filter::FilterCondition) -> Result<Option<ListCondition>> {
        Ok(None)
    }
    /// What the order compares.
    fn key(&self) -> OrderKey {
        self.base().table.key().into()
    }
    /// The reader's own drafts, without filters; `None` if there are none in the list, or they are among those with a date.
    fn drafts(&self) -> Option<RecordSelect> {
        None
    }
}

/// The filters of a list.
fn filters(list: &dyn ListMembers) -> Result<Vec<ListCondition>> {
    let condition = |(field, wanted): &(ListedField, filter::FilterCondition)| match list
        .own_condition(*field, wanted)?
    {
        Some(own) => Ok(own),
        None => field.condition(list, wanted),
    };
    list.base().filters.iter().map(condition).collect()
}

/// These members in the order by dates, and by ids within a date.
fn in_order(list: &dyn ListMembers, records: RecordSelect, dates: Direction, ids: Direction) -> RecordSelect {
    let (ordered, table) = (records.order(list.key(), dates), list.base().table);
    if table.order_column == "id" { ordered } else { ordered.order(table.column("id"), ids) }
}

/// The members with a date.
fn dated(list: &dyn ListMembers, checked: CheckedRows) -> Result<RecordSelect> {
    let filters = filters(list)?;
    if filters.iter().any(|filter| matches!(filter, ListCondition::Sought { members: Some(_), .. })) {
        return Ok(filtered(list.base().table.records(), filters));
    }
    // With filters, all rows may be checked for the first ones in an order.
    let checked = if filters.is_empty() { checked } else { CheckedRows::Many };
    let of_components = components_condition(list, &filters, checked);
    Ok(filtered(list.unfiltered(of_components), filters))
}

/// Whether a record belongs to the components. With a filter that an index finds, no index of components is used.
fn components_condition(
    list: &dyn ListMembers,
    filters: &[ListCondition],
    checked: CheckedRows,
) -> Condition<()> {
    let ListBase { components, table, .. } = list.base();
    if are_found(filters) {
        components.contain_by_id(table.name, CheckedRows::Few)
    } else {
        components.contain(table.name, checked)
    }
}

/// Whether one of the filters finds the members.
fn are_found(filters: &[ListCondition]) -> bool {
    filters.iter().any(|filter| !matches!(filter, ListCondition::Compared(_)))
}

/// Those that satisfy these filters.
fn filtered(records: RecordSelect, filters: Vec<ListCondition>) -> RecordSelect {
    filters.into_iter().map(ListCondition::found).fold(records, RecordSelect::filter)
}

/// Those of few records that satisfy the filters of a list; also of records that are no members with a date.
pub(super) fn compared(list: &dyn ListMembers, records: RecordSelect) -> Result<RecordSelect> {
    Ok(filters(list)?.into_iter().map(ListCondition::test).fold(records, RecordSelect::filter))
}

/// The first members with a date in the order, of which those are read that satisfy the filters: complete if the rows that
/// are wanted are among them. `None`: no filter is sought, or the rows are far from the first.
fn beginning(
    list: &dyn ListMembers,
    direction: Direction,
    rows: LimitOffset,
) -> Result<Option<ListBeginning>> {
    let filters = filters(list)?;
    let is_selective = |filter: &ListCondition| matches!(filter, ListCondition::Sought { .. });
    let are_few = filters.iter().any(|filter| matches!(filter, ListCondition::Few(_)));
    let Some(window) = rows.window().filter(|_| !are_few && filters.iter().any(is_selective)) else {
        return Ok(None);
    };
    let (sought, compared): (Vec<_>, Vec<_>) = filters.into_iter().partition(is_selective);
    let is_short = compared.is_empty();
    let checked = if is_short { CheckedRows::Few } else { CheckedRows::Many };
    let members = list.unfiltered(components_condition(list, &compared, checked));
    let first = in_order(list, filtered(members, compared), direction, Direction::Ascending);
    let first = first.on_page(LimitOffset { limit: window, offset: 0 });
    let members =
        sought.into_iter().map(ListCondition::test).fold(first, RecordSelect::filter).with_limit(rows);
    Ok(Some(ListBeginning { members, is_short }))
}

/// See [`beginning`].
struct ListBeginning {
    members: RecordSelect,
    /// Whether its cost does not depend on the length of the list.
    is_short: bool,
}

/// A list whose rows can be read.
#[async_trait]
pub(super) trait Listing: ListMembers {
    /// The type of a row.
    type Row: Send;

    /// Reads the rows of these records.
    async fn load(&self, connection: &mut Conn, records: RecordSelect) -> Result<Vec<Self::Row>>;
}

/// The connections that a page of a list is read with, one at a time.
#[derive(Clone, Copy)]
struct Connections<'s> {
    session: &'s Session,
    page: PageRequest,
    is_long: bool,
}

impl<'s> Connections<'s> {
    /// For what costs the same in any list.
    async fn short(self) -> Result<ConnectionGuard<'s>> {
        self.session.read().await
    }

    /// For what may cost more in a longer list.
    async fn any(self) -> Result<ConnectionGuard<'s>> {
        self.session.read_page(self.page, self.is_long).await
    }
}

/// One page of a list.
pub(super) async fn page<L: Listing>(list: &L, session: &Session, page: PageRequest) -> Result<Page<L::Row>> {
    let base = list.base();
    if base.components.is_empty() {
        return Ok(Page::new(Vec::new(), false).with_total(page.is_counted.then_some(0)));
    }
    let is_indexed = matches!(list.key(), OrderKey::Column(_)) && base.filters.is_empty();
    let is_long = !is_indexed || base.direction().is_none();
    let connections = Connections { session, page, is_long };
    let rows = match base.direction() {
        None => {
            let ids = random::ids(list, &mut *connections.any().await?, page.into()).await?;
            let mut rows = load_list_rows(list, connections, &ids).await?;
            fastrand::shuffle(&mut rows);
            rows
        }
        Some(direction) => ordered(list, connections, direction, page.into()).await?,
    };
    let total = if page.is_counted { Some(count(list, &mut *connections.any().await?).await?) } else { None };
    Ok(Page::from_fetched(rows, page).with_total(total))
}

/// The number of all members.
async fn count(list: &dyn ListMembers, connection: &mut Conn) -> Result<i64> {
    let drafts = length(&drafts(list, connection).await?);
    Ok(count_dated(list, connection).await? + drafts)
}

/// The number of members with a date.
async fn count_dated(list: &dyn ListMembers, connection: &mut Conn) -> Result<i64> {
    dated(list, CheckedRows::Many)?.select(count_star()).get_result(connection).await.map_db_error()
}

/// Some rows in the order of the list.
async fn ordered<L: Listing>(
    list: &L,
    connections: Connections<'_>,
    direction: Direction,
    rows: LimitOffset,
) -> Result<Vec<L::Row>> {
    if direction == Direction::Descending {
        let drafts = drafts(list, &mut *connections.short().await?).await?;
        let mut found = load_list_rows(list, connections, part(&drafts, rows)).await?;
        let limit = rows.limit - length(&found);
        if limit > 0 {
            let rows = LimitOffset { limit, offset: (rows.offset - length(&drafts)).max(0) };
            found.extend(dated_rows(list, connections, direction, rows).await?);
        }
        return Ok(found);
    }
    let mut found = dated_rows(list, connections, direction, rows).await?;
    let limit = rows.limit - length(&found);
    if limit > 0 {
        let drafts = drafts(list, &mut *connections.short().await?).await?;
        let offset = if drafts.is_empty() || !found.is_empty() || rows.offset == 0 {
            0
        } else {
            // The page begins after all members with a date.
            rows.offset - count_dated(list, &mut *connections.any().await?).await?
        };
        found.extend(load_list_rows(list, connections, part(&drafts, LimitOffset { limit, offset })).await?);
    }
    Ok(found)
}

/// The ids of the members that a filter finds by an index, if they are few. Drafts and records of invisible components between
/// them are read too, so it may cost more in a longer list.
async fn few_members(list: &dyn ListMembers, connections: Connections<'_>) -> Result<Option<Vec<i64>>> {
    let found = filters(list)?.into_iter().find_map(|filter| match filter {
        ListCondition::Sought { members, .. } => members,
        _ => None,
    });
    let Some(members) = found else { return Ok(None) };
    let rows = LimitOffset { limit: FEW_MEMBERS + 1, offset: 0 };
    let ids = members.with_written_limit(rows).load_ids(&mut *connections.any().await?).await?;
    Ok((length(&ids) <= FEW_MEMBERS).then_some(ids))
}

/// The rows of these ids, ascending.
async fn load_list_rows<L: Listing>(
    list: &L,
    connections: Connections<'_>,
    ids: &[i64],
) -> Result<Vec<L::Row>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let these = select_ids(list, ids).order(list.base().table.column("id"), Direction::Ascending);
    list.load(&mut *connections.short().await?, these).await
}

/// The records of these ids.
fn select_ids(list: &dyn ListMembers, ids: &[i64]) -> RecordSelect {
    let table = list.base().table;
    table.records().filter(columns::any_of::<(), _>(table.column("id"), ids))
}

/// Some of the members with a date, in this direction (docs/decisions/0068). What an index finds is planned for each request
/// on PostgreSQL: these statements read ids alone.
async fn dated_rows<L: Listing>(
    list: &L,
    connections: Connections<'_>,
    direction: Direction,
    rows: LimitOffset,
) -> Result<Vec<L::Row>> {
    if let Some(ids) = few_members(list, connections).await? {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let these = in_order(list, compared(list, select_ids(list, &ids))?, direction, Direction::Ascending);
        return list.load(&mut *connections.short().await?, these.with_limit(rows)).await;
    }
    if let Some(ListBeginning { members, is_short }) = beginning(list, direction, rows)? {
        let mut connection = if is_short { connections.short().await? } else { connections.any().await? };
        let found = list.load(&mut connection, members).await?;
        if length(&found) == rows.limit {
            return Ok(found);
        }
    }
    let table = list.base().table;
    let members = in_order(list, dated(list, rows.checked_rows())?, direction, Direction::Ascending);
    if are_found(&filters(list)?) {
        let ids = members.with_limit(rows).load_ids(&mut *connections.any().await?).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let these = in_order(list, select_ids(list, &ids), direction, Direction::Ascending);
        return list.load(&mut *connections.short().await?, these).await;
    }
    let is_direct = table.is_read_in_order && rows.reads_rows_directly();
    let members = if is_direct { members.with_written_limit(rows) } else { members.on_page(rows) };
    list.load(&mut *connections.any().await?, members).await
}

/// The ids of the drafts, ascending.
async fn drafts(list: &dyn ListMembers, connection: &mut Conn) -> Result<Vec<i64>> {
    let Some(drafts) = list.drafts() else { return Ok(Vec::new()) };
    let drafts = compared(list, drafts)?;
    drafts.order(list.base().table.column("id"), Direction::Ascending).load_ids(connection).await
}

fn length<T>(rows: &[T]) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

/// These rows of a slice; fewer if the slice is shorter.
fn part(ids: &[i64], rows: LimitOffset) -> &[i64] {
    let index = |at: i64| usize::try_from(at.max(0)).map_or(ids.len(), |at| at.min(ids.len()));
    let start = index(rows.offset);
    &ids[start..index(rows.offset.saturating_add(rows.limit)).max(start)]
}
