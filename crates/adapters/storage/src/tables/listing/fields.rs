//! The fields by which a list is filtered (contract 01 §6.2). A list declares what each of its fields compares; the SQL
//! follows from it.

use super::{FilterCondition, Members};
use crate::columns::{Condition, Expr};
use crate::engine::sql::{Json, Moment};
use crate::filter::{Column, Member, holds};
use crate::tables::planner::Checked;
use crate::tables::select::{Among, TypedColumn};
use crate::tables::texts::{TextCondition, TextPart};
use crate::tables::visible_components::{ComponentInSpace, PlaceColumn};
use civitas_kernel::filter::{self, Is};
use civitas_kernel::{Locale, Locales, OrganizationId, Result};
use diesel::IntoSql;
use diesel::sql_types::{BigInt, Nullable, Text};

/// What a field compares: mostly a column of the table, by its name.
#[derive(Debug, Clone, Copy)]
pub(in crate::tables) enum ListedField {
    /// The component of a record.
    Place(PlaceColumn),
    /// A number.
    Number(&'static str),
    /// The same, of which an index has the values, and of which most records have a small one.
    Rank(&'static str),
    /// A text that is compared in its composed form.
    Text(&'static str),
    /// A text of ASCII characters.
    Ascii(&'static str),
    /// A time.
    Time(&'static str),
    /// The same, of which an index has the values.
    IndexedTime(&'static str),
    /// A text in several languages; its words are found by an index.
    Translated(&'static str, TextPart),
    /// The searchable texts alone.
    Searched(TextPart),
}

impl ListedField {
    /// The condition on the components whose records are members; `None` if the field is one of records.
    pub(in crate::tables) fn of_place(
        self,
        wanted: &filter::Condition,
    ) -> Option<Result<Condition<ComponentInSpace>>> {
        if let Self::Place(column) = self { Some(column.holds(wanted)) } else { None }
    }

    /// How the members that satisfy a filter are found; `None` if it is one of components.
    pub(in crate::tables) fn condition(
        self,
        list: &dyn Members,
        locales: &Locales,
        wanted: &filter::Condition,
    ) -> Result<Option<FilterCondition>> {
        let table = list.table();
        let number = |column| -> Expr<(), BigInt> { Box::new(table.column(column)) };
        let text = |column| -> Expr<(), Text> {
            Box::new(TypedColumn::<Nullable<Text>>::from(table.column(column)))
        };
        let time = |column| -> Expr<(), Moment> {
            Box::new(TypedColumn::<Nullable<Moment>>::from(table.column(column)))
        };
        let (column, indexed) = match self {
            Self::Place(_) => return Ok(None),
            Self::Searched(part) => return texts(list, part, wanted).map(Some),
            Self::Translated(_, part) if matches!(wanted, filter::Condition::Words(_)) => {
                return texts(list, part, wanted).map(Some);
            }
            Self::Translated(column, _) => {
                let column = TypedColumn::<Json>::from(table.column(column));
                let of = move |locale: Locale| -> Expr<(), Text> {
                    let key = locale.to_string().into_sql::<Text>();
                    Box::new(Member::new(column.clone(), key))
                };
                (Column::Translated(Box::new(of), locales.clone()), None)
            }
            Self::Number(column) => (Column::Integer(number(column)), None),
            Self::Rank(column) => (Column::Integer(number(column)), Some(column).filter(|_| is_from(wanted))),
            Self::Text(column) => (Column::Text(text(column)), None),
            Self::Ascii(column) => (Column::Ascii(text(column)), None),
            Self::Time(column) => (Column::Time(time(column)), None),
            Self::IndexedTime(column) => {
                (Column::Time(time(column)), Some(column).filter(|_| is_range(wanted)))
            }
        };
        let compared: Condition<()> = holds(column, wanted)?;
        // In the order of the column its index is read in any case.
        Ok(Some(match indexed.filter(|column| table.date != *column) {
            None => FilterCondition::compared(compared),
            Some(column) => {
                let again = if let Self::Rank(_) = self { Self::Number(column) } else { Self::Time(column) };
                let Some(FilterCondition::Compared(range)) = again.condition(list, locales, wanted)? else {
                    return Ok(None);
                };
                let members = list.unfiltered(list.components().contain_records(table.name, Checked::Many));
                let found = Among::of(table.column("id"), members.filter(range).ids());
                FilterCondition::Sought { test: Box::new(compared), found: Box::new(found) }
            }
        }))
    }
}

/// The condition on texts.
fn texts(list: &dyn Members, part: TextPart, wanted: &filter::Condition) -> Result<FilterCondition> {
    let organization = OrganizationId(list.components().organization());
    let condition = TextCondition::of(organization, list.table().name, part, wanted)?;
    let test = condition.test::<()>();
    if !condition.is_sought() {
        return Ok(FilterCondition::compared(test));
    }
    Ok(FilterCondition::Sought { test: Box::new(test), found: Box::new(condition.found::<()>()) })
}

/// Whether a range of an index has the times that satisfy a condition.
fn is_range(wanted: &filter::Condition) -> bool {
    matches!(wanted, filter::Condition::Time(is) if !matches!(is, Is::NotEq(_) | Is::NotIn(_) | Is::Blank(_)))
}

/// Whether the numbers that satisfy a condition have a smallest one.
fn is_from(wanted: &filter::Condition) -> bool {
    matches!(wanted, filter::Condition::Integer(Is::Gt(_) | Is::AtLeast(_) | Is::Eq(_) | Is::In(_)))
}
