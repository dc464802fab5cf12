//! Column types for types of the domain, and the types of expressions over columns.

mod mapping;
mod values;

pub(crate) use self::mapping::columns;
pub(crate) use self::values::{ColumnValue, ids};
use crate::engine::dialect::BoundIds;
use crate::engine::{self, Db, dialect, sql};
use crate::page_rows;
use civitas_accounts::{PanelTheme, RoleKind};
use civitas_attachments::{ContentError, FileState, FileType, ParentKind};
use civitas_jobs::JobStatus;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{EventName, Locale, SpaceKind};
use civitas_organizations::{MoveState, RegistrationMode};
use civitas_spaces::{ComponentEntryKind, ComponentKind, Visibility};
use civitas_surveys::{ConditionType, QuestionType};
use civitas_webhooks::DeliveryStatus;
use diesel::ExpressionMethods;
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::{AsExpression, BoxableExpression, Selectable};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use uuid::Uuid;

/// A nullable expression over the tables `QS`, of the SQL type `ST`. Boxed, so that functions that take it need no
/// bounds.
pub(crate) type Expr<QS, ST> = Box<dyn BoxableExpression<QS, Db, SqlType = Nullable<ST>>>;
/// A condition over the tables `QS`.
pub(crate) type Condition<QS> = Expr<QS, Bool>;

/// Makes parts of statements expressions of an SQL type, over any tables. Statements with them are cached by their text.
macro_rules! expressions {
    ($($name:ident: $sql:ty;)+) => {$(
        impl ::diesel::expression::Expression for $name {
            type SqlType = $sql;
        }
        impl<QS> ::diesel::expression::AppearsOnTable<QS> for $name {}
        impl<QS> ::diesel::expression::SelectableExpression<QS> for $name {}
        impl<GB> ::diesel::expression::ValidGrouping<GB> for $name {
            type IsAggregate = ::diesel::expression::is_aggregate::No;
        }
        $crate::columns::cached_by_text! { [] $name }
    )+};
}
pub(crate) use expressions;

/// Caches statements that have this type in them by their text. The type parameters are in brackets. With the SQL type of the
/// rows if it is a statement that returns rows: `cached_by_text! { [C] InsertRecords<'_, C>: BigInt }`.
macro_rules! cached_by_text {
    ([$($parameter:ident),*] $part:ty) => {
        impl<$($parameter),*> ::diesel::query_builder::QueryId for $part {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }
    };
    ([$($parameter:ident),*] $statement:ty: $sql:ty) => {
        $crate::columns::cached_by_text! { [$($parameter),*] $statement }
        impl<$($parameter),*> ::diesel::query_builder::Query for $statement {
            type SqlType = $sql;
        }
    };
}
pub(crate) use cached_by_text;

/// The columns of a row, in the order of its fields. Diesel's `as_select` is equivalent, but adds two seconds of
/// compile time for each statement.
pub(crate) fn all_columns<R: Selectable<Db>>() -> R::SelectExpression {
    R::construct_selection()
}

/// These ids, sorted, without repetitions.
pub(crate) fn distinct_ids(ids: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Whether the expression is one of these values. There are two statement texts, independent of the number of values.
pub(crate) fn any_of<QS: 'static, E>(on: E, ids: &[i64]) -> Condition<QS>
where
    E: BoxableExpression<QS, Db, SqlType = Nullable<BigInt>> + 'static,
{
    match ids {
        [id] => {
            let on: Expr<QS, BigInt> = Box::new(on);
            Box::new(on.eq(*id))
        }
        _ => dialect::is_one_of(Box::new(on), &BoundIds::new(ids)),
    }
}

// A literal, to save a bind parameter.
diesel::postfix_operator!(PlusZero, " + 0", Nullable<BigInt>);

/// The same number, for which no index is used. PostgreSQL plans for any values: it expects the rows of an average component, and
/// would read all of a large one for each row that another condition finds.
pub(crate) fn unindexed<QS: 'static>(on: Expr<QS, BigInt>) -> Expr<QS, BigInt> {
    Box::new(PlusZero::new(on))
}

/// Whether the expression is this value, where another condition finds the rows: SQLite uses no index for this one.
pub(crate) fn equals_unindexed<QS: 'static, E>(on: E, value: i64) -> Condition<QS>
where
    E: BoxableExpression<QS, Db, SqlType = Nullable<BigInt>> + 'static,
{
    Box::new(dialect::unindexed(Box::new(on)).eq(value))
}

/// Whether the expression is one of these values. The statement text does not depend on their number.
pub(crate) fn any_uuid<QS: 'static, E>(on: E, ids: impl IntoIterator<Item = Uuid>) -> Condition<QS>
where
    E: BoxableExpression<QS, Db, SqlType = Nullable<sql::Uuid>> + 'static,
{
    dialect::is_one_of_uuids(Box::new(on), &ids.into_iter().collect::<Vec<_>>())
}

/// A JSON column. To write, `T` may be a reference.
#[derive(Debug, Clone, Copy, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql::Json)]
pub(crate) struct JsonColumn<T: Debug>(pub(crate) T);

impl<T: Debug + DeserializeOwned> FromSql<sql::Json, Db> for JsonColumn<T> {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        engine::read_json(raw).map(Self)
    }
}

impl<T: Debug + Serialize> ToSql<sql::Json, Db> for JsonColumn<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Db>) -> serialize::Result {
        engine::write_json(&self.0, out)
    }
}

/// Extended data, as text.
#[derive(Debug, FromSqlRow)]
pub(crate) struct DataColumn(pub(crate) ExtendedDataValue);

impl FromSql<sql::Json, Db> for DataColumn {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        if page_rows::omits_extended_data() {
            return Ok(Self(ExtendedDataValue::default()));
        }
        engine::read_data(raw).map(|text| Self(text.into()))
    }
}

/// A text without a maximum, which counts as [`page_rows::count_decoded_bytes`] says.
#[derive(Debug, FromSqlRow)]
pub(crate) struct LongText(pub(crate) String);

impl FromSql<Text, Db> for LongText {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let text = <String as FromSql<Text, Db>>::from_sql(raw)?;
        page_rows::count_decoded_bytes(text.len());
        Ok(Self(text))
    }
}

/// A list of numbers that a statement makes.
#[derive(Debug, FromSqlRow)]
pub(crate) struct ListColumn(pub(crate) Vec<i64>);

impl FromSql<dialect::NumberList, Db> for ListColumn {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        dialect::read_list(raw).map(Self)
    }
}

/// A column that is read even if its value is invalid, so that one broken row does not fail a query of many rows. The
/// error says why the value could not be read.
#[derive(Debug, Clone, FromSqlRow)]
pub(crate) struct LenientColumn<C>(pub(crate) Result<C, String>);

impl<ST, C: FromSql<ST, Db>> FromSql<ST, Db> for LenientColumn<C> {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(C::from_sql(raw).map_err(|error| error.to_string())))
    }
}

/// The rows that could be read, and the ids of the others with the causes.
pub(crate) fn split_readable<T>(
    rows: impl IntoIterator<Item = Result<T, (Uuid, String)>>,
) -> (Vec<T>, Vec<(Uuid, String)>) {
    let (mut readable, mut broken) = (Vec::new(), Vec::new());
    for row in rows {
        match row {
            Ok(row) => readable.push(row),
            Err(fault) => broken.push(fault),
        }
    }
    (readable, broken)
}

/// A UUID column. (Diesel binds `Uuid` itself on PostgreSQL alone.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql::Uuid)]
pub(crate) struct UuidColumn(pub(crate) Uuid);

impl FromSql<sql::Uuid, Db> for UuidColumn {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        engine::read_uuid(raw).map(Self)
    }
}

impl ToSql<sql::Uuid, Db> for UuidColumn {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Db>) -> serialize::Result {
        engine::write_uuid(&self.0, out)
    }
}

/// A value that is stored by its name.
pub(crate) trait TextEnum: Sized + Copy + Debug {
    /// The stored name.
    fn name(&self) -> &str;
    /// The value with this name.
    fn named(name: &str) -> Option<Self>;
}

/// A text column with a value of a closed list, or of a fixed format such as a locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Text)]
pub(crate) struct EnumColumn<T: Debug>(pub(crate) T);

impl<T: TextEnum> FromSql<Text, Db> for EnumColumn<T> {
    fn from_sql(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let name = <String as FromSql<Text, Db>>::from_sql(raw)?;
        T::named(&name).map(Self).ok_or_else(|| format!("no such name: {name}").into())
    }
}

impl<T: TextEnum> ToSql<Text, Db> for EnumColumn<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Db>) -> serialize::Result {
        <str as ToSql<Text, Db>>::to_sql(self.0.name(), out)
    }
}

/// Stores types by their names on the wire.
macro_rules! text_enums {
    ($($value:ty),+ $(,)?) => {$(
        impl TextEnum for $value {
            fn name(&self) -> &str {
                (*self).as_str()
            }
            fn named(name: &str) -> Option<Self> {
                <$value>::parse(name)
            }
        }
    )+};
}

text_enums!(
    ComponentKind,
    ConditionType,
    ContentError,
    ComponentEntryKind,
    EventName,
    FileState,
    FileType,
    JobStatus,
    Locale,
    MoveState,
    ParentKind,
    QuestionType,
    RegistrationMode,
    RoleKind,
    SpaceKind,
    DeliveryStatus,
    PanelTheme,
    Visibility,
);
