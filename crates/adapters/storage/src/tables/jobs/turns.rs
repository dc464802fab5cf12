//! The order in which jobs are claimed: start-time fair queuing between organizations.
//!
//! A new job gets the turn after the last waiting job of its organization, but not before the turn that is served now.
//! So the jobs of one organization keep their order, and a job of an organization without waiting jobs is claimed after
//! at most one or two jobs of each other organization, however many of them wait. Jobs are claimed in the order of one
//! index; the turn of a new job takes a lookup in each of four indexes.
//!
//! Source: docs/decisions/0035-lanes-and-fairness.md.

use crate::engine::dialect::{GREATEST, IN_LOCKED_ROWS};
use crate::engine::sql::Moment;
use diesel::dsl::{AsExprOf, sql};
use diesel::expression::{SqlLiteral, UncheckedBind};
use diesel::sql_types::{BigInt, Bool};
use time::OffsetDateTime;

/// The condition of the indexes `jobs_in_turn` and `jobs_in_turn_of_organization`.
pub(in crate::tables) const IS_WAITING: &str = "jobs.status || '' = 'pending'";

/// Whether a job is one of the first `limit` that are due, in the order of their turns. On PostgreSQL they are locked, and
/// those that others have locked are left out.
pub(super) fn first_due_condition(due: OffsetDateTime, limit: i64) -> TurnCondition {
    let (begin, end) = IN_LOCKED_ROWS;
    let select = format!("jobs.id {begin}SELECT id FROM jobs WHERE {IS_WAITING} AND due_at <= ");
    sql::<Bool>(&select)
        .bind::<Moment, _>(due)
        .sql(" ORDER BY turn, created_at LIMIT ")
        .bind::<BigInt, _>(limit)
        .sql(end)
}

type Due = UncheckedBind<SqlLiteral<Bool>, AsExprOf<OffsetDateTime, Moment>>;
type Limited = UncheckedBind<SqlLiteral<Bool, Due>, AsExprOf<i64, BigInt>>;
/// The condition of [`first_due_condition`].
pub(super) type TurnCondition = SqlLiteral<Bool, Limited>;
type BoundOrganization = UncheckedBind<SqlLiteral<BigInt>, AsExprOf<i64, BigInt>>;
type DueAt = UncheckedBind<SqlLiteral<BigInt, BoundOrganization>, AsExprOf<OffsetDateTime, Moment>>;
/// The expression of [`turn_of_new_job`].
pub(super) type TurnExpression = SqlLiteral<BigInt, DueAt>;

/// The turn of a new job of an organization. The turn that is served now is the lowest one of a job that is due; if no
/// job is due, the highest one of a job that waits for its retry or runs. Two transactions that do not see each other
/// may give the same turn.
pub(super) fn turn_of_new_job(organization: i64, now: OffsetDateTime) -> TurnExpression {
    let last =
        |of: &str| format!("coalesce((SELECT turn FROM jobs WHERE {of} ORDER BY turn DESC LIMIT 1), 0)");
    let running = last("jobs.status || '' = 'processing'");
    let retried = last(IS_WAITING);
    sql::<BigInt>(&format!(
        "1 + {GREATEST}(coalesce((SELECT turn FROM jobs WHERE {IS_WAITING} AND organization_id = "
    ))
    .bind::<BigInt, _>(organization)
    // The range makes SQLite prefer the index of this order to others of the organization.
    .sql(&format!(
        " AND turn >= 0 ORDER BY turn DESC LIMIT 1), 0), coalesce((SELECT turn FROM jobs WHERE {IS_WAITING} AND due_at <= "
    ))
    .bind::<Moment, _>(now)
    .sql(&format!(" ORDER BY turn LIMIT 1), {GREATEST}({retried}, {running})))"))
}
