//! The filters of lists of proposals (contract 06 §1.4, 01 §6.2).

use super::reading::{PROPOSALS, own_weight};
use crate::columns::{Condition, Expr};
use crate::correlated::Correlated;
use crate::engine::dialect::{self, BoundIds};
use crate::filter::{Column, holds};
use crate::schema::{proposal_authors, proposals, votes};
use crate::tables::listing::{FilterCondition, ListedField, Members};
use crate::tables::planner::Rows;
use crate::tables::select::{Among, Records, TableColumn};
use crate::tables::texts::TextPart;
use crate::tables::visible_components::PlaceColumn;
use civitas_kernel::filter::{self, Is};
use civitas_kernel::{Locales, Result, UserId};
use civitas_proposals::{ProposalField, ProposalFilter};
use diesel::dsl::{case_when, not};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

/// What a field compares; `None` for those of votes and authors.
pub(super) fn field(field: ProposalField) -> Option<ListedField> {
    Some(match field {
        ProposalField::VotedWeight | ProposalField::Author => return None,
        ProposalField::Id => ListedField::Number("id"),
        ProposalField::State => ListedField::Ascii("public_state"),
        ProposalField::ExtendedData => ListedField::Text("extended_data_text"),
        ProposalField::CreatedAt => ListedField::IndexedTime("created_at"),
        ProposalField::UpdatedAt => ListedField::IndexedTime("updated_at"),
        ProposalField::PublishedAt => ListedField::IndexedTime("published_at"),
        ProposalField::Title => ListedField::Translated("title", TextPart::Title),
        ProposalField::Body => ListedField::Translated("body", TextPart::Body),
        ProposalField::SearchText => ListedField::Searched(TextPart::Either),
        ProposalField::Component => ListedField::Place(PlaceColumn::Component),
        ProposalField::SpaceId => ListedField::Place(PlaceColumn::SpaceId),
        ProposalField::SpaceType => ListedField::Place(PlaceColumn::SpaceType),
        ProposalField::VotesCount => ListedField::Rank("votes_count"),
    })
}

/// What filters need besides the list.
pub(super) struct FilterContext<'a> {
    /// The token's own user.
    pub(super) reader: Option<UserId>,
    /// The components that hide the number of votes.
    pub(super) hidden_votes: Option<&'a BoundIds>,
    /// The languages of the deployment.
    pub(super) locales: &'a Locales,
}

/// How the proposals that satisfy a filter are found; `None` if it compares the component.
pub(super) fn condition(
    list: &dyn Members,
    context: &FilterContext<'_>,
    filter: &ProposalFilter,
) -> Result<Option<FilterCondition>> {
    let wanted = &filter.condition;
    match (filter.field, wanted, context.hidden_votes) {
        (ProposalField::Author, filter::Condition::Integer(is), _) => author(is).map(Some),
        (ProposalField::VotesCount, _, Some(hidden)) => {
            let shown = holds(Column::Integer(shown_votes(hidden)), wanted)?;
            Ok(Some(FilterCondition::compared(shown)))
        }
        _ => match field(filter.field) {
            Some(field) => field.condition(list, context.locales, wanted),
            None => own_vote(context.reader, wanted).map(Some),
        },
    }
}

/// Whether the weight of the reader's vote satisfies a condition.
fn own_vote(reader: Option<UserId>, wanted: &filter::Condition) -> Result<FilterCondition> {
    let weight = holds(Column::Integer(own_weight(reader)), wanted)?;
    Ok(match reader.filter(|_| !wanted.holds_for_null()) {
        None => FilterCondition::compared(weight),
        Some(user) => FilterCondition::Few(Box::new(voted(user).and(weight))),
    })
}

/// Whether the user voted on a proposal: found by the votes, which are few.
fn voted(user: UserId) -> Condition<proposals::table> {
    let voted = votes::table.filter(votes::user_id.eq(user.0)).select(votes::proposal_id);
    Box::new(proposals::id.eq_any(voted).nullable())
}

/// Whether one of the authors satisfies a condition. A negative one is satisfied by proposals with authors of which none is
/// named.
fn author(is: &Is<i64>) -> Result<FilterCondition> {
    let some = |is: &Is<i64>| -> Result<Condition<proposals::table>> {
        let one = Rows { limit: 1, offset: 0 };
        let of_this = authors(is)?.filter(proposal_authors::proposal_id.eq(proposals::id)).limited(one);
        Ok(Box::new(Correlated(of_this.select(PROPOSAL)).is_not_null().nullable()))
    };
    let none_of = |named: Is<i64>| -> Result<FilterCondition> {
        let others: Condition<proposals::table> = Box::new(some(&Is::Blank(false))?.and(not(some(&named)?)));
        Ok(FilterCondition::compared(others))
    };
    match is {
        Is::Eq(_) | Is::In(_) => Ok(FilterCondition::Sought {
            test: Box::new(some(is)?),
            found: Box::new(Among::of(PROPOSALS.column("id"), authors(is)?.select(PROPOSAL))),
        }),
        Is::NotEq(user) => none_of(Is::Eq(*user)),
        Is::NotIn(users) => none_of(Is::In(users.clone())),
        Is::Blank(true) => {
            let without: Condition<proposals::table> = Box::new(not(some(&Is::Blank(false))?));
            Ok(FilterCondition::compared(without))
        }
        _ => Ok(FilterCondition::compared(some(is)?)),
    }
}

/// The proposal of an author.
const PROPOSAL: TableColumn = TableColumn::of("proposal_authors", "proposal_id");

/// The authors whose id satisfies a condition.
fn authors(is: &Is<i64>) -> Result<Records> {
    let id = Column::<proposal_authors::table>::Integer(Box::new(proposal_authors::user_id.nullable()));
    Ok(Records::of("proposal_authors").filter(holds(id, &filter::Condition::Integer(is.clone()))?))
}

/// The number of votes as it is shown: 0 in components that hide it.
fn shown_votes(hidden: &BoundIds) -> Expr<proposals::table, BigInt> {
    let is_hidden =
        dialect::among_for_few::<proposals::table>(Box::new(proposals::component_id.nullable()), hidden);
    let none = 0_i64.into_sql::<BigInt>().nullable();
    Box::new(case_when(is_hidden, none).otherwise(proposals::votes_count.nullable()))
}
