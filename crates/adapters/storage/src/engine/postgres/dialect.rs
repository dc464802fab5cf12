//! SQL that is specific to PostgreSQL.

use super::{Db, sql};
use crate::columns::{Condition, Expr, UuidColumn};
use crate::tables::texts::WordIndex;
use civitas_kernel::text::{DOT_ABOVE, fold_char};
use diesel::deserialize::{self, FromSql};
use diesel::pg::PgValue;
use diesel::prelude::*;
use diesel::query_builder::AstPass;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

#[diesel::declare_sql_function]
extern "SQL" {
    /// The later of two times.
    #[sql_name = "greatest"]
    fn later(
        x: diesel::sql_types::Timestamptz,
        y: diesel::sql_types::Timestamptz,
    ) -> diesel::sql_types::Timestamptz;
    /// The composed form of a text.
    #[sql_name = "normalize"]
    fn nfc(x: Nullable<Text>) -> Nullable<Text>;
    /// The text with each character of one list replaced by that of another one; those without one are removed.
    fn translate(x: Nullable<Text>, from: Text, to: Text) -> Nullable<Text>;
}

/// Whether the expression is one of these values.
pub fn is_one_of<QS: 'static>(on: Expr<QS, BigInt>, ids: &BoundIds) -> Condition<QS> {
    Box::new(on.eq_any(ids.0.to_vec()))
}

/// The same: here it makes no difference how many rows are checked.
pub fn is_one_of_few<QS: 'static>(on: Expr<QS, BigInt>, ids: &BoundIds) -> Condition<QS> {
    is_one_of(on, ids)
}

/// Ids as a bind parameter, an array; to clone it costs nothing.
#[derive(Debug, Clone)]
pub struct BoundIds(Arc<[i64]>);

impl BoundIds {
    /// These ids.
    pub fn new(ids: &[i64]) -> Self {
        Self(ids.into())
    }
}

/// Texts as a bind parameter, an array.
#[derive(Debug)]
pub struct BoundTexts(Vec<String>);

impl BoundTexts {
    /// These texts.
    pub fn new(texts: &[&str]) -> Self {
        Self(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    /// Writes them as a table with the column `value`, and its name.
    pub fn push_table<'b>(&'b self, name: &str, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("unnest(");
        pass.push_bind_param::<Array<Text>, [String]>(&self.0)?;
        pass.push_sql("::text[]) AS ");
        pass.push_sql(name);
        pass.push_sql(" (value)");
        Ok(())
    }
}

/// Whether the expression is one of these values.
pub fn is_one_of_uuids<QS: 'static>(on: Expr<QS, sql::Uuid>, ids: &[uuid::Uuid]) -> Condition<QS> {
    Box::new(on.eq_any(uuids(ids)))
}

/// Begin and end of a condition: whether a value is in the result of a query, whose rows are locked. Rows that others
/// have locked are left out. The query runs once: PostgreSQL may run one behind `IN` for each row.
pub const IN_LOCKED_ROWS: (&str, &str) = ("= ANY(ARRAY(", " FOR UPDATE SKIP LOCKED))");

/// Begin and end of a condition: whether a value is in the result of a query that runs for each row of another table. As an
/// array, so that the values are looked up in an index.
pub const IN_CORRELATED_ROWS: (&str, &str) = ("= ANY(ARRAY(", "))");

/// Locks the settings of the component against changes, a proposal and a user until the transaction ends, in one round
/// trip and always in this order, which prevents deadlocks: a change of the minimum of votes locks the component, then
/// changes the counts of its proposals. The values are the organization, the proposal, the user.
///
/// The voters of one proposal take turns: an advisory lock of its own. Without it each change of the row's number of votes
/// would wake all voters who wait for the row, which find it locked again by the next one.
///
/// With a minimum of votes, a vote also changes the counts of the user's other proposals. Two voters would lock these
/// against each other, so the voters of such a component take turns: an advisory lock, whose number is the negative id of
/// the component. It is taken only if the locked settings have a minimum, which no row lock of one statement could do.
/// An import locks proposals in the order of its records: one that ends in a deadlock is a `Conflict`.
pub const LOCK_VOTES: Option<&str> = Some(
    "WITH component AS MATERIALIZED (SELECT components.id, components.settings FROM proposals, components \
         WHERE proposals.organization_id = $1 AND proposals.id = $2 AND components.organization_id = $1 \
         AND components.id = proposals.component_id FOR SHARE OF components), \
     turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(-id) FROM component \
         WHERE settings -> 'minimum_votes_per_user' > '0' \
         UNION ALL SELECT pg_advisory_xact_lock(1, ($2 % 2147483647)::int) FROM component), \
     proposal AS MATERIALIZED (SELECT proposals.id FROM (SELECT count(*) FROM turn) AS turns, proposals \
         WHERE proposals.organization_id = $1 AND proposals.id = $2 AND EXISTS (SELECT FROM component) \
         FOR UPDATE OF proposals) \
     SELECT id FROM users WHERE organization_id = $1 AND id = $3 AND EXISTS (SELECT FROM proposal) FOR UPDATE",
);

/// Sets whether triggers count votes until the transaction ends, `on` or `off`.
pub const SET_VOTE_COUNTING: Option<&str> = Some("SELECT set_config('civitas.vote_counting', $1, true)");

/// Makes the numbers of votes of proposals of an organization right, of the ids from the second value to the third. The
/// statement sees the votes and the numbers at one time, so their difference is what this transaction has not counted.
/// Others may change a number meanwhile: the difference is added. Proposals are locked in the order of their ids.
pub const COUNT_VOTES: Option<&str> = Some(
    "WITH wrong AS MATERIALIZED (SELECT proposals.id, counted.number - votes_count AS difference FROM proposals, \
         LATERAL (SELECT count(*) AS number FROM votes WHERE proposal_id = proposals.id AND NOT temporary) AS counted \
         WHERE organization_id = $1 AND proposals.id BETWEEN $2 AND $3 AND counted.number <> votes_count), \
     locked AS MATERIALIZED (SELECT proposals.id, difference FROM wrong, proposals WHERE proposals.id = wrong.id \
         ORDER BY proposals.id FOR NO KEY UPDATE OF proposals) \
     UPDATE proposals SET votes_count = votes_count + difference, votes_changed_at = clock_timestamp() \
     FROM locked WHERE proposals.id = locked.id",
);

/// The statements after which the ids of new rows of a table are above this one. They stay when the transaction is rolled back.
pub fn raise_ids(table: &str, id: i64) -> Vec<String> {
    vec![format!(
        "SELECT setval(ids, {id}) FROM (SELECT pg_get_serial_sequence('{table}', 'id')::regclass AS ids) AS of_table \
         WHERE {id} > coalesce(pg_sequence_last_value(ids), 0)"
    )]
}

/// The function that returns the largest of its arguments.
pub const GREATEST: &str = "greatest";

/// The time of the database; `None` where it is that of this process.
pub const DATABASE_TIME: Option<&str> = Some("clock_timestamp()");

/// Selects the position up to which standbys can have the log of this server, and which database it is.
pub const PRIMARY_STATE: &str = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint, \
     system_identifier || '/' || current_database() FROM pg_control_system()";

/// Selects the position up to which a standby shows the log, null for another server, and which database it is.
pub const REPLICA_STATE: &str = "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' END)::bigint, \
     system_identifier || '/' || current_database() FROM pg_control_system()";

/// Selects the position of the log after what was committed. With `synchronous_commit = off` a commit is not written yet.
pub const LOG_POSITION: &str = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";

/// The size of the database in bytes.
pub const DATABASE_BYTES: &str = "pg_database_size(current_database())";

/// The condition that selects some rows of a table: at most `limit` of those with a condition.
pub fn some_rows(table: &str, condition: &str, limit: i64) -> String {
    format!("ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT {limit}))")
}

/// The type of a list of UUIDs in [`ASSIGN_EVENT_POSITIONS`].
pub type UuidList = Array<sql::Uuid>;

/// A list of UUIDs.
pub fn uuids(ids: &[uuid::Uuid]) -> Vec<UuidColumn> {
    ids.iter().copied().map(UuidColumn).collect()
}

/// Gives events the positions that follow a number, in the order of the list.
pub const ASSIGN_EVENT_POSITIONS: &str = "UPDATE outbox SET position = $1 + given.n \
     FROM unnest($2) WITH ORDINALITY AS given (id, n) WHERE outbox.id = given.id";

/// The same number. PostgreSQL has statistics, and chooses the right index.
pub fn unindexed<QS: 'static>(on: Expr<QS, BigInt>) -> Expr<QS, BigInt> {
    on
}

diesel::postfix_operator!(InBytes, " COLLATE \"C\"", Nullable<Text>, backend: diesel::pg::Pg);

/// The same text, compared byte by byte instead of in the order of a language.
pub fn in_bytes<QS: 'static>(on: Expr<QS, Text>) -> Expr<QS, Text> {
    Box::new(InBytes::new(on))
}

/// The type of a list of numbers that a statement makes.
pub type NumberList = Array<BigInt>;

/// Reads a list of numbers.
pub fn read_list(raw: PgValue<'_>) -> deserialize::Result<Vec<i64>> {
    FromSql::<Array<BigInt>, Db>::from_sql(raw)
}

/// What `id IN (SELECT ..)` has before and after its select. PostgreSQL would join the rows of a subquery; a list of ids is
/// searched in the index.
pub const IN_SUBQUERY: [&str; 2] = [" = ANY(ARRAY(", "))"];

/// What the condition that a text contains another one has before the text, before the other and after it.
pub const CONTAINS: [&str; 3] = ["", " LIKE ", ""];

/// The operand of [`CONTAINS`].
pub fn contains_operand(part: &str) -> String {
    crate::filter::containing(part)
}

/// What a subquery that scans texts has after each column, so that a plan for any values does not take the index of trigrams
/// for short terms; and at its end, so that it is run once and not for each record in the order of the list.
pub const TEXT_SCAN: [&str; 2] = [" || ''", " OFFSET 0"];

/// How an index finds the texts of a scope of which one of some columns contains one of some parts, each of a trigram or more.
#[expect(clippy::unnecessary_wraps, reason = "on SQLite some texts have no index")]
pub fn word_index(scope: &str, _: &[&str], _: &[String]) -> Option<WordIndex> {
    Some(WordIndex { query: None, scope: Some(scope.to_owned()) })
}

/// Appended to a select whose rows may not be deleted until the transaction ends; they may be updated.
pub const KEY_SHARE: &str = " FOR KEY SHARE";

/// Selects the statements that an operator runs for the indexes of words, which migrations could not make without the right
/// to create the extension.
pub const MISSING_WORD_INDEXES: Option<&str> = Some(
    "SELECT 'CREATE EXTENSION pg_trgm;' WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') UNION ALL \
     SELECT 'CREATE INDEX CONCURRENTLY record_texts_' || part || '_words ON record_texts USING gin (' || part || \
     ' gin_trgm_ops);' FROM (VALUES ('title'), ('body')) AS parts (part) WHERE NOT EXISTS (SELECT FROM pg_index \
     WHERE indexrelid = to_regclass('record_texts_' || part || '_words') AND indisvalid)",
);

/// Of no use: see [`ADD_TEXTS_TO_WORD_INDEX`].
pub const UNINDEXED_TEXTS: &str = "record_texts WHERE false";

/// PostgreSQL fills its indexes itself.
pub const ADD_TEXTS_TO_WORD_INDEX: Option<[&str; 2]> = None;

/// The most rows that a page skips on a connection of short reads.
pub const SHORT_OFFSET: i64 = 1000;

/// Whether no column is computed of the rows that a page skips. PostgreSQL computes all.
pub const SKIPS_CHEAPLY: bool = false;

/// What a list of the values of a column has before and after its `FROM`: in this order, or in that of the rows.
pub fn list_of(column: &str, order: Option<&str>) -> [String; 2] {
    let order = order.map(|order| format!(" ORDER BY {order}")).unwrap_or_default();
    [format!("ARRAY(SELECT {column}"), format!("{order})")]
}

/// The characters outside of ASCII that are folded to another one, by that one.
static OTHER_CASES: LazyLock<HashMap<char, Vec<char>>> = LazyLock::new(|| {
    let mut cases: HashMap<char, Vec<char>> = HashMap::new();
    for other in '\u{80}'..='\u{1ffff}' {
        let one = fold_char(other);
        if one != other {
            cases.entry(one).or_default().push(other);
        }
    }
    cases
});

/// `LIKE` of the folded text with a folded pattern, whatever the locale of the database: the characters of the pattern are
/// folded in the text, those of ASCII by the locale `C`. In the pattern `%` and `_` are wildcards, `\` escapes.
pub fn like<QS: 'static>(on: Expr<QS, Text>, pattern: &str) -> Condition<QS> {
    let (mut from, mut to) = (String::new(), String::new());
    for one in pattern.chars().collect::<BTreeSet<char>>() {
        for other in OTHER_CASES.get(&one).into_iter().flatten() {
            from.push(*other);
            to.push(one);
        }
    }
    from.push(DOT_ABOVE);
    Box::new(InBytes::new(translate(on, from, to)).ilike(pattern.to_owned()).escape('\\'))
}

// Macros, because the type parameter of `LockingDsl` cannot be named outside Diesel.
macro_rules! for_update {
    ($query:expr) => {
        $query.for_update()
    };
}
macro_rules! for_share {
    ($query:expr) => {
        $query.for_share()
    };
}
macro_rules! skip_locked {
    ($query:expr) => {
        $query.for_update().skip_locked()
    };
}

/// Runs a statement for each part and returns what they return, in the order of the parts. All are sent before the first one
/// is answered: while the server executes one, the next is written.
macro_rules! for_each_part {
    ($parts:expr, $connection:expr, |$one:ident, $part:ident| $run:expr) => {{
        let shared = &*$connection;
        futures_util::future::try_join_all($parts.map(|$part| async move {
            let mut shared = shared;
            let $one = &mut shared;
            $run.await
        }))
        .await
    }};
}
pub(crate) use {for_each_part, for_share, for_update, skip_locked};
