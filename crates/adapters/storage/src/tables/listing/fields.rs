//! The fields by which a list is filtered (contract 01 §6.2). A list declares what each of its fields compares; the SQL
//! follows from it.

use super::{ListBase, ListCondition, ListMembers, ListedTable};
use crate::columns::Expr;
use crate::engine::sql::{Json, Moment};
use crate::filter::{FilterColumn, Member, column_condition};
use crate::tables::components::{self, ComponentInSpace};
use crate::tables::planner::{BoxedSql, CheckedRows};
use crate::tables::select::{RecordSelect, SqlTemplate, in_subquery};
use crate::tables::texts::{TextCondition, TextPart};
use civitas_kernel::filter::{self, Comparison};
use civitas_kernel::{Direction, Error, Locale, Locales, OrganizationId, Result};
use diesel::IntoSql;
use diesel::sql_types::{Nullable, Text};

/// What a field compares: mostly a column of the table, by its name.
#[derive(Debug, Clone, Copy)]
pub(in crate::tables) enum ListedField {
    /// The component of a record.
    Component,
    /// The number of the space of its component.
    SpaceId,
    /// The class name of this space.
    SpaceType,
    /// An author of a proposal.
    Author,
    /// The weight of the reader's own vote.
    OwnVote,
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
    /// What it compares of each component; `None` if it is a field of records.
    pub(super) fn component_column(self) -> Option<FilterColumn<ComponentInSpace>> {
        Some(match self {
            Self::Component => FilterColumn::Integer(components::id()),
            Self::SpaceId => FilterColumn::Integer(components::space_id()),
            Self::SpaceType => FilterColumn::Ascii(components::class_of_space()),
            _ => return None,
        })
    }

    /// What it compares of each record of a table.
    fn column(self, table: ListedTable, locales: &Locales) -> Result<FilterColumn<()>> {
        let typed = |column| vec![Box::new(table.column(column)) as BoxedSql];
        Ok(match self {
            Self::Number(column) | Self::Rank(column) => {
                FilterColumn::Integer(Box::new(table.column(column)))
            }
            Self::Text(column) => {
                FilterColumn::Text(Box::new(SqlTemplate::<Nullable<Text>>::new("?", typed(column))))
            }
            Self::Ascii(column) => {
                FilterColumn::Ascii(Box::new(SqlTemplate::<Nullable<Text>>::new("?", typed(column))))
            }
            Self::Time(column) | Self::IndexedTime(column) => {
                FilterColumn::Time(Box::new(SqlTemplate::<Nullable<Moment>>::new("?", typed(column))))
            }
            Self::Translated(column, _) => {
                let of = move |locale: Locale| -> Expr<(), Text> {
                    let key = locale.to_string().into_sql::<Text>();
                    let column = SqlTemplate::<Json>::new("?", vec![Box::new(table.column(column))]);
                    Box::new(Member::new(column, key))
                };
                FilterColumn::Translated(Box::new(of), locales.clone())
            }
            _ => return Err(Error::internal("a field that is no column of the table")),
        })
    }

    /// The column of which an index has the values that satisfy a filter: a range of times, or numbers with a smallest one.
    fn indexed(self, wanted: &filter::FilterCondition) -> Option<&'static str> {
        match (self, wanted) {
            (
                Self::Rank(column),
                filter::FilterCondition::Integer(
                    Comparison::Gt(_) | Comparison::AtLeast(_) | Comparison::Eq(_) | Comparison::In(_),
                ),
            ) => Some(column),
            (Self::IndexedTime(column), filter::FilterCondition::Time(is)) => Some(column).filter(|_| {
                !matches!(is, Comparison::NotEq(_) | Comparison::NotIn(_) | Comparison::Blank(_))
            }),
            _ => None,
        }
    }

    /// How the members that satisfy a filter are found.
    pub(in crate::tables) fn condition(
        self,
        list: &dyn ListMembers,
        wanted: &filter::FilterCondition,
    ) -> Result<ListCondition> {
        let ListBase { table, components, locales, .. } = list.base();
        match self {
            Self::Searched(part) => return texts(list, part, wanted),
            Self::Translated(_, part) if matches!(wanted, filter::FilterCondition::Words(_)) => {
                return texts(list, part, wanted);
            }
            _ => {}
        }
        let compared = || column_condition(self.column(*table, locales)?, wanted);
        // In the order of the column its index is read in any case.
        let Some(column) = self.indexed(wanted).filter(|column| table.order_column != *column) else {
            return Ok(ListCondition::compared(compared()?));
        };
        let members = |checked| -> Result<RecordSelect> {
            Ok(list.unfiltered(components.contain(table.name, checked)).filter(compared()?))
        };
        let found = Box::new(in_subquery(table.column("id"), members(CheckedRows::Many)?.ids()));
        let members = members(CheckedRows::Few)?.order(table.column(column), Direction::Descending);
        Ok(ListCondition::Sought { test: Box::new(compared()?), found, members: Some(members) })
    }
}

/// The condition on texts.
fn texts(list: &dyn ListMembers, part: TextPart, wanted: &filter::FilterCondition) -> Result<ListCondition> {
    let organization = OrganizationId(list.base().components.organization);
    let condition = TextCondition::new(organization, list.base().table.name, part, wanted)?;
    let test = condition.matches::<()>();
    if !condition.is_selective() {
        return Ok(ListCondition::compared(test));
    }
    let found = Box::new(condition.matches_by_index::<()>());
    Ok(ListCondition::Sought { test: Box::new(test), found, members: None })
}
