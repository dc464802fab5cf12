//! SQL that is specific to SQLite.

use super::{Db, read_json, sql};
use crate::columns::{self, Condition, Expr};
use crate::tables::select::{SqlTemplate, text};
use crate::tables::texts::WordIndex;
use civitas_kernel::text::{fold_case, nfc as composed};
use diesel::backend::Backend;
use diesel::deserialize;
use diesel::prelude::*;
use diesel::query_builder::AstPass;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use std::fmt::Write;
use std::sync::Arc;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The later of two times.
    #[sql_name = "max"]
    fn later(
        x: diesel::sql_types::TimestamptzSqlite,
        y: diesel::sql_types::TimestamptzSqlite,
    ) -> diesel::sql_types::TimestamptzSqlite;
    /// One case in every script; SQLite's own `lower` and `LIKE` support ASCII only.
    fn fold(x: Nullable<Text>) -> Nullable<Text>;
    /// The composed form of a text.
    fn nfc(x: Nullable<Text>) -> Nullable<Text>;
    /// Whether a number is one of these, which are sorted and have eight bytes each.
    fn is_among(x: Nullable<BigInt>, sorted: Binary) -> Nullable<Bool>;
}

pub(super) fn register(connection: &mut SqliteConnection) -> QueryResult<()> {
    fold_utils::register_impl(connection, |x: Option<String>| x.map(|x| fold_case(&x)))?;
    nfc_utils::register_impl(connection, |x: Option<String>| x.map(|x| composed(&x).into_owned()))?;
    is_among_utils::register_impl(connection, |x: Option<i64>, sorted: Vec<u8>| {
        let (sorted, _) = sorted.as_chunks::<8>();
        x.map(|x| sorted.binary_search_by_key(&x, |bytes| i64::from_be_bytes(*bytes)).is_ok())
    })
}

/// Whether the expression is one of these values. The statement text does not depend on their number, so that it is
/// cached as prepared statement: Diesel's `eq_any` writes a `?` for each, and is not cached.
pub fn is_one_of<QS: 'static>(on: Expr<QS, BigInt>, ids: &BoundIds) -> Condition<QS> {
    let ids = text(ids.array.to_string());
    Box::new(SqlTemplate::condition("? IN (SELECT value FROM json_each(?))", vec![Box::new(on), ids]))
}

/// The same, for a statement that checks few rows. SQLite fills a table with the ids for each [`is_one_of`] of a
/// statement; this function searches them, and costs more for each row.
pub fn is_one_of_few<QS: 'static>(on: Expr<QS, BigInt>, ids: &BoundIds) -> Condition<QS> {
    Box::new(is_among(on, ids.sorted.to_vec()))
}

/// Ids as a bind parameter; to clone it costs nothing.
#[derive(Debug, Clone)]
pub struct BoundIds {
    /// As an array of JSON.
    array: Arc<str>,
    /// Sorted, eight bytes for each.
    sorted: Arc<[u8]>,
}

impl BoundIds {
    /// These ids.
    pub fn new(ids: &[i64]) -> Self {
        let mut text = String::from("[");
        for (at, id) in ids.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // A `String` takes everything.
            let _ = write!(text, "{comma}{id}");
        }
        text.push(']');
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let sorted: Vec<u8> = sorted.into_iter().flat_map(i64::to_be_bytes).collect();
        Self { array: text.into(), sorted: sorted.into() }
    }
}

/// Texts as a bind parameter: an array of JSON.
#[derive(Debug)]
pub struct BoundTexts(String);

impl BoundTexts {
    /// These texts.
    pub fn new(texts: &[&str]) -> Self {
        Self(serde_json::Value::from(texts).to_string())
    }

    /// Writes them as a table with the column `value`, and its name.
    pub fn push_table<'b>(&'b self, name: &str, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("json_each(");
        pass.push_bind_param::<Text, str>(&self.0)?;
        pass.push_sql(") AS ");
        pass.push_sql(name);
        Ok(())
    }
}

/// Whether the expression is one of these values. The statement text does not depend on their number.
pub fn is_one_of_uuids<QS: 'static>(on: Expr<QS, Binary>, ids: &[uuid::Uuid]) -> Condition<QS> {
    let ids = text(uuids(ids));
    Box::new(SqlTemplate::condition("? IN (SELECT unhex(value) FROM json_each(?))", vec![Box::new(on), ids]))
}

/// Begin and end of a condition: whether a value is in the result of a query. The only writer needs no locks.
pub const IN_LOCKED_ROWS: (&str, &str) = ("IN (", ")");

/// Begin and end of a condition: whether a value is in the result of a query that runs for each row of another table.
pub const IN_CORRELATED_ROWS: (&str, &str) = ("IN (", ")");

/// A write transaction has the write lock of the database already: there is nothing to lock.
pub const LOCK_VOTES: Option<&str> = None;

/// Triggers count each vote: a number costs little here.
pub const SET_VOTE_COUNTING: Option<&str> = None;
pub const COUNT_VOTES: Option<&str> = None;

/// The statements after which the ids of new rows of a table are above this one. A table without a row so far has no line in
/// `sqlite_sequence`.
pub fn raise_ids(table: &str, id: i64) -> Vec<String> {
    vec![
        format!("UPDATE sqlite_sequence SET seq = {id} WHERE name = '{table}' AND seq < {id}"),
        format!(
            "INSERT INTO sqlite_sequence (name, seq) SELECT '{table}', {id} \
             WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '{table}')"
        ),
    ]
}

/// The function that returns the largest of its arguments.
pub const GREATEST: &str = "max";

/// The time of the database; `None` where it is that of this process.
pub const DATABASE_TIME: Option<&str> = None;

/// Select the states of a primary and of a replica, and the position of a log: there are no replicas.
pub const PRIMARY_STATE: &str = "SELECT NULL, ''";
pub const REPLICA_STATE: &str = PRIMARY_STATE;
pub const LOG_POSITION: &str = "SELECT 0";

/// The size of the database in bytes.
pub const DATABASE_BYTES: &str =
    "(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())";

/// The condition that selects some rows of a table: at most `limit` of those with a condition.
pub fn some_rows(table: &str, condition: &str, limit: i64) -> String {
    format!("rowid IN (SELECT rowid FROM {table} WHERE {condition} LIMIT {limit})")
}

/// The type of a list of UUIDs in [`ASSIGN_EVENT_POSITIONS`].
pub type UuidList = Text;

/// A list of UUIDs: a JSON array of their hexadecimal digits.
pub fn uuids(ids: &[uuid::Uuid]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.simple())).collect();
    format!("[{}]", ids.join(","))
}

/// Gives events the positions that follow a number, in the order of the list.
pub const ASSIGN_EVENT_POSITIONS: &str = "UPDATE outbox SET position = ? + given.key + 1 \
     FROM json_each(?) AS given WHERE outbox.id = unhex(given.value)";

/// The same number, but SQLite uses no index for it. Without statistics of a set of ids, SQLite may search an index for
/// each id and sort the rows, instead of reading another index in the requested order.
pub fn unindexed<QS: 'static>(on: Expr<QS, BigInt>) -> Expr<QS, BigInt> {
    columns::unindexed(on)
}

/// The same text: SQLite compares byte by byte.
pub fn in_bytes<QS: 'static>(on: Expr<QS, Text>) -> Expr<QS, Text> {
    on
}

/// The type of a list of numbers that a statement makes.
pub type NumberList = sql::Json;

/// Reads a list of numbers.
pub fn read_list(raw: <Db as Backend>::RawValue<'_>) -> deserialize::Result<Vec<i64>> {
    read_json(raw)
}

/// What `id IN (SELECT ..)` has before and after its select.
pub const IN_SUBQUERY: [&str; 2] = [" IN (", ")"];

/// What the condition that a text contains another one has before the text, before the other and after it.
pub const CONTAINS: [&str; 3] = ["instr(", ", ", ") > 0"];

/// The operand of [`CONTAINS`].
pub fn contains_operand(part: &str) -> String {
    part.to_owned()
}

/// What a subquery that scans texts has after each column and at its end: no other plan is possible.
pub const TEXT_SCAN: [&str; 2] = ["", ""];

/// How an index finds the texts of a scope of which one of these columns contains one of these parts, each of a trigram or
/// more. Names of users are not in the index.
pub fn word_index(scope: &str, columns: &[&str], parts: &[String]) -> Option<WordIndex> {
    let quoted = |text: &String| format!("\"{}\"", text.replace('"', "\"\""));
    let (columns, parts) = (columns.join(" "), parts.iter().map(quoted).collect::<Vec<_>>().join(" OR "));
    let query = format!("title : \"{scope}\" AND {{{columns}}} : ({parts})");
    (!scope.starts_with('\u{ac04}')).then_some(WordIndex { query: Some(query), scope: None })
}

/// The texts that are not in the index of words yet. By their own index: that of all texts has the same columns.
pub const UNINDEXED_TEXTS: &str = "record_texts INDEXED BY record_texts_to_index \
     WHERE NOT record_texts.is_indexed AND unicode(record_texts.scope) <> 44036";

/// Adds some texts to the index of words, in one transaction: a hundredth of a second of the write lock.
pub const ADD_TEXTS_TO_WORD_INDEX: Option<[&str; 2]> = Some([
    "INSERT INTO record_words (rowid, title, body) SELECT id, title, body FROM record_texts \
     WHERE NOT is_indexed AND unicode(scope) <> 44036 ORDER BY organization_id, scope, id LIMIT 100",
    "UPDATE record_texts SET is_indexed = true WHERE id IN (SELECT id FROM record_texts \
     WHERE NOT is_indexed AND unicode(scope) <> 44036 ORDER BY organization_id, scope, id LIMIT 100)",
]);

/// Appended to a select whose rows may not be deleted until the transaction ends: nobody else writes.
pub const KEY_SHARE: &str = "";

/// Selects the statements that an operator runs for the indexes of words. The migrations always make the index.
pub const MISSING_WORD_INDEXES: Option<&str> = None;

/// The most rows that a page skips on the thread of its caller: a step in an index costs 15 ns.
pub const SHORT_OFFSET: i64 = 20_000;

/// Whether no column is computed of the rows that a page skips.
pub const SKIPS_CHEAPLY: bool = true;

/// What a list of the values of a column has before and after its `FROM`: in this order, or in that of the rows.
pub fn list_of(column: &str, order: Option<&str>) -> [String; 2] {
    let order = order.map(|order| format!(" ORDER BY {order}")).unwrap_or_default();
    [format!("(SELECT json_group_array({column}{order})"), ")".to_owned()]
}

/// `LIKE` of the folded text with a folded pattern. In the pattern `%` and `_` are wildcards, `\` escapes.
pub fn like<QS: 'static>(on: Expr<QS, Text>, pattern: &str) -> Condition<QS> {
    Box::new(fold(on).like(pattern.to_owned()).escape('\\'))
}

// A write transaction has the write lock of the database already.
macro_rules! for_update {
    ($query:expr) => {
        $query
    };
}

/// Runs a statement for each part and returns what they return, in the order of the parts.
macro_rules! for_each_part {
    ($parts:expr, $connection:expr, |$one:ident, $part:ident| $run:expr) => {
        async {
            let mut returned = Vec::new();
            for $part in $parts {
                let $one = &mut *$connection;
                returned.push($run.await?);
            }
            diesel::QueryResult::Ok(returned)
        }
        .await
    };
}
pub(crate) use {for_each_part, for_update, for_update as for_share, for_update as skip_locked};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_among_ids_in_any_order() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        register(&mut connection).unwrap();
        let ids = BoundIds::new(&[7, -3, 300, 2]);
        for (number, expected) in [(7, true), (-3, true), (300, true), (2, true), (1, false), (301, false)] {
            let found = diesel::select(is_among(Some(number), ids.sorted.to_vec()));
            let found: Option<bool> = found.get_result(&mut connection).unwrap();
            assert_eq!(found, Some(expected), "{number}");
        }
        let none = diesel::select(is_among(Some(1), BoundIds::new(&[]).sorted.to_vec()));
        assert_eq!(none.get_result::<Option<bool>>(&mut connection).unwrap(), Some(false));
    }
}
