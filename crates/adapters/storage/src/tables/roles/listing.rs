//! The list of roles: flags of accounts and rows, as one statement (contract 03 §4.2).
//!
//! Both halves are limited before the union, so that the cost of a page does not depend on the pages after it.

use super::rows_of;
use crate::columns::{Condition, EnumColumn, Expr};
use crate::engine::{Conn, Db, sql as engine};
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::{count, in_order};
use crate::schema::{roles, users};
use crate::session::{LoadRowsExt, borrowed_connection};
use crate::tables::select::SqlTemplate;
use civitas_accounts::{Role, RoleDetail, RoleField, RoleFilter, RoleId, RoleKind, RoleType};
use civitas_kernel::{
    Direction, OrganizationId, Page, PageRequest, Result, SortColumn, SpaceKind, SpaceRef, UserId,
};
use diesel::dsl::{exists, not, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::query_dsl::positional_order_dsl::{
    IntoPositionalOrderExpr, PositionalOrderDsl, PositionalOrderExpr,
};
use diesel::sql_types::{Integer, Nullable, Text};
use time::OffsetDateTime;

/// A role as both halves read it.
#[derive(Queryable)]
struct ListedRole {
    _group: i32,
    created_at: OffsetDateTime,
    /// Of the account or the row.
    number: i64,
    user: Option<i64>,
    space_manifest: Option<EnumColumn<SpaceKind>>,
    resource: i64,
    kind: Option<EnumColumn<RoleKind>>,
    invited_at: Option<OffsetDateTime>,
    accepted_at: Option<OffsetDateTime>,
    updated_at: OffsetDateTime,
}

impl From<ListedRole> for RoleDetail {
    fn from(listed: ListedRole) -> Self {
        let ListedRole { number, resource, invited_at, accepted_at, created_at, updated_at, .. } = listed;
        let (Some(space_kind), Some(kind)) = (listed.space_manifest, listed.kind) else {
            let id = RoleId::GeneralAdmin { organization: OrganizationId(resource), user: UserId(number) };
            return Self { id, accepted_invite: true, created_at, updated_at };
        };
        let role = Role {
            space: SpaceRef { kind: space_kind.0, id: resource },
            user: listed.user.map(UserId),
            email: None,
            kind: kind.0,
            invited_at,
            accepted_at,
            created_at,
            updated_at,
        };
        role.detail()
    }
}

/// The sort key of a row; general administrators are group 0. The same expression as in the indexes `roles_in_order..`.
fn group() -> SqlLiteral<Integer> {
    sql("CASE roles.space_manifest WHEN 'participatory_processes' THEN 1 \
         WHEN 'assemblies' THEN CASE roles.kind WHEN 'space_private_member' THEN 3 ELSE 2 END ELSE 4 END")
}

/// The class name of a row's space. The same expression as in the index `roles_in_order_of_class`.
fn class() -> SqlLiteral<Nullable<Text>> {
    sql("CASE roles.space_manifest WHEN 'participatory_processes' THEN 'Platform::ParticipatoryProcess' \
         WHEN 'assemblies' THEN 'Platform::Assembly' ELSE 'Platform::Conference' END")
}

/// Whether the account of the row is not deleted.
pub(super) fn is_of_existing_user() -> Condition<roles::table> {
    let deleted =
        users::table.filter(users::id.nullable().eq(roles::user_id)).filter(users::deleted_at.is_not_null());
    Box::new(not(exists(deleted)).nullable())
}

fn row_condition(filter: &RoleFilter) -> Result<Condition<roles::table>> {
    let column = match filter.field {
        RoleField::User => FilterColumn::Integer(Box::new(roles::user_id)),
        RoleField::ResourceId => FilterColumn::Integer(Box::new(roles::space_id.nullable())),
        RoleField::ResourceType => FilterColumn::Ascii(Box::new(class())),
        RoleField::Type => FilterColumn::Ascii(Box::new(roles::kind.nullable())),
        RoleField::CreatedAt => FilterColumn::Time(Box::new(roles::created_at.nullable())),
        RoleField::UpdatedAt => FilterColumn::Time(Box::new(roles::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

fn admin_condition(filter: &RoleFilter) -> Result<Condition<users::table>> {
    let word = |word: &str| -> Expr<users::table, Text> {
        Box::new(Some(word.to_owned()).into_sql::<Nullable<Text>>())
    };
    let column = match filter.field {
        RoleField::User => FilterColumn::Integer(Box::new(users::id.nullable())),
        RoleField::ResourceId => FilterColumn::Integer(Box::new(users::organization_id.nullable())),
        RoleField::ResourceType => FilterColumn::Ascii(word(RoleId::ORGANIZATION)),
        RoleField::Type => FilterColumn::Ascii(word(RoleType::GeneralAdmin.as_str())),
        RoleField::CreatedAt => FilterColumn::Time(Box::new(users::created_at.nullable())),
        RoleField::UpdatedAt => FilterColumn::Time(Box::new(users::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// The order of the rows of both halves, by their positions in [`ListedRole`]. Of rows of one time and of one number, those of
/// administrators are first.
fn order(page: PageRequest) -> SqlTemplate<Integer> {
    let descending = page.sort.is_some_and(|sort| sort.direction == Direction::Descending);
    let order = match (page.sort.map(|sort| sort.column), descending) {
        (None, _) => "1, 2, 3",
        (Some(SortColumn::CreatedAt), false) => "2, 3, 1",
        (Some(SortColumn::CreatedAt), true) => "2 DESC, 3, 1",
        (Some(SortColumn::UpdatedAt), false) => "10, 3, 1",
        (Some(SortColumn::UpdatedAt), true) => "10 DESC, 3, 1",
        (Some(_), false) => "3, 1",
        (Some(_), true) => "3 DESC, 1 DESC",
    };
    SqlTemplate::new(order, Vec::new())
}

impl PositionalOrderExpr for SqlTemplate<Integer> {}

impl IntoPositionalOrderExpr for SqlTemplate<Integer> {
    type Output = Self;

    fn into_positional_expr(self) -> Self {
        self
    }
}

/// A page of the list.
pub(super) async fn list(
    connection: &mut Conn,
    organization: OrganizationId,
    filters: &[RoleFilter],
    page: PageRequest,
) -> Result<Page<RoleDetail>> {
    let end = page.offset().saturating_add(page.rows_to_fetch());
    let (word, moment) = (None::<String>, None::<OffsetDateTime>);
    let admins = || {
        let admins = users::table
            .filter(users::organization_id.eq(organization.0))
            .filter(users::admin)
            .filter(users::deleted_at.is_null())
            .select((
                0.into_sql::<Integer>(),
                users::created_at,
                users::id,
                users::id.nullable(),
                word.clone().into_sql::<Nullable<Text>>(),
                users::organization_id,
                word.clone().into_sql::<Nullable<Text>>(),
                moment.into_sql::<Nullable<engine::Moment>>(),
                moment.into_sql::<Nullable<engine::Moment>>(),
                users::updated_at,
            ))
            .into_boxed::<Db>();
        filters.iter().try_fold(admins, |some, filter| Result::<_>::Ok(some.filter(admin_condition(filter)?)))
    };
    let rows = || {
        let rows = rows_of(organization)
            .filter(is_of_existing_user())
            .select((
                group(),
                roles::created_at,
                roles::id,
                roles::user_id,
                roles::space_manifest.nullable(),
                roles::space_id,
                roles::kind.nullable(),
                roles::invited_at,
                roles::accepted_at,
                roles::updated_at,
            ))
            .into_boxed::<Db>();
        filters.iter().try_fold(rows, |some, filter| Result::<_>::Ok(some.filter(row_condition(filter)?)))
    };
    let all = if page.is_counted { Some(admins()?.union_all(rows()?)) } else { None };
    let admins = in_order!(admins()?, page, users, (users::created_at, users::id)).limit(end);
    let rows = in_order!(rows()?, page, roles, (group(), roles::created_at, roles::id)).limit(end);
    let total = count(connection, all).await?;
    let listed: Vec<ListedRole> = admins
        .union_all(rows)
        .positional_order_by(order(page))
        .limit(page.rows_to_fetch())
        .offset(page.offset())
        .rows_from(borrowed_connection(connection))
        .await?;
    Ok(Page::from_fetched(listed.into_iter().map(Into::into).collect(), page).with_total(total))
}
