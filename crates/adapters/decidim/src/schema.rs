//! Every table and column that is read, in the names of Decidim 0.32, and where older versions have them.
//!
//! [`Tables::with_tables`] puts a common table expression before a statement for each table that it names. It has exactly
//! the columns of `tables.txt`: renamed where the source is older, null where it has no such column, and no rows where it
//! has no such table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The tables of a database: the type of each column by table and column.
pub(crate) type Columns = BTreeMap<String, BTreeMap<String, String>>;

/// A table a line: name, `<` and its older name, `: `, columns. A column is `name<older name:type`; `?` after the type: not
/// every version has it.
const TABLES: &str = include_str!("tables.txt");

/// Name, older name and columns of each table.
fn tables() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TABLES.lines().map(split)
}

/// The parts of `name<other:rest`. Both names are the same if there is one.
pub(crate) fn split(text: &str) -> (&str, &str, &str) {
    let (names, rest) = text.split_once(':').unwrap_or((text, ""));
    let (name, other) = names.split_once('<').unwrap_or((names, names));
    (name, other, rest)
}

/// The types of columns: letter, type of an absent column, names of the types that a source may have.
const TYPES: &[(&str, &str, &[&str])] = &[
    ("i", "bigint", &["int4", "int8", "int2"]),
    ("t", "text", &["varchar", "text", "uuid", "bpchar"]),
    ("j", "jsonb", &["jsonb", "json"]),
    ("b", "boolean", &["bool"]),
    ("d", "timestamp", &["timestamp"]),
    ("f", "double precision", &["float8", "numeric", "float4"]),
    ("l", "text[]", &["_varchar", "_text"]),
];

/// Whether a table of the source is read for more than its number of rows.
pub(crate) fn is_read(table: &str) -> bool {
    tables().any(|(name, older, _)| name == table || older == table)
}

/// The common table expressions of a source, by table.
#[derive(Debug)]
pub(crate) struct Tables(BTreeMap<&'static str, String>);

impl Tables {
    /// Those of a database with these columns.
    ///
    /// # Errors
    /// A line for each column that is missing or of another type.
    pub(crate) fn from_columns(columns: &Columns) -> Result<Self, Vec<String>> {
        let (mut bodies, mut faults) = (BTreeMap::new(), Vec::new());
        for (name, older, of) in tables() {
            let source = [name, older].into_iter().find(|name| columns.contains_key(*name));
            let has = source.and_then(|source| columns.get(source));
            let mut expressions = Vec::new();
            for column in of.split_whitespace() {
                match expression(column, has) {
                    Ok(expression) => expressions.push(expression),
                    Err(fault) => faults.push(format!("{name}: {fault}")),
                }
            }
            let from = source.map_or_else(|| " WHERE false".to_owned(), |source| format!(" FROM {source}"));
            bodies.insert(name, format!("SELECT {}{from}", expressions.join(", ")));
        }
        if faults.is_empty() { Ok(Self(bodies)) } else { Err(faults) }
    }

    /// A statement with the tables that it names.
    pub(crate) fn with_tables(&self, statement: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: BTreeSet<_> = statement.split(|c| !is_word(c)).collect();
        let mut text = String::new();
        for (name, body) in &self.0 {
            if words.contains(name) {
                let begin = if text.is_empty() { "WITH" } else { "," };
                let _ = write!(text, "{begin} {name} AS NOT MATERIALIZED ({body})");
            }
        }
        format!("{text} {statement}")
    }
}

/// A column of a common table expression. `has`: the columns of the table; `None`: the source has no such table.
fn expression(column: &str, has: Option<&BTreeMap<String, String>>) -> Result<String, String> {
    let (name, older, kind) = split(column);
    let (kind, is_optional) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
    let Some((_, type_name, types)) = TYPES.iter().find(|(letter, ..)| *letter == kind) else {
        return Err(format!("column {name} has no type"));
    };
    let found = has.and_then(|has| [name, older].into_iter().find_map(|name| Some((name, has.get(name)?))));
    match found {
        Some((source, found)) if types.contains(&found.as_str()) => Ok(format!("{source} AS {name}")),
        Some((source, found)) => Err(format!("column {source} has the type {found}")),
        None if has.is_none() || is_optional => Ok(format!("null::{type_name} AS {name}")),
        None => Err(format!("column {name} is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database with all tables and columns under their older or newer names.
    fn columns(older: bool) -> Columns {
        let type_of = |kind: &str| TYPES.iter().find(|(letter, ..)| *letter == &kind[..1]).unwrap().2[0];
        let table = |(name, old, of): (&str, &str, &str)| {
            let name = if older { old } else { name };
            let column = |column: &str| {
                let (new, old, kind) = split(column);
                (if older { old } else { new }.to_owned(), type_of(kind).to_owned())
            };
            (name.to_owned(), of.split_whitespace().map(column).collect())
        };
        tables().map(table).collect()
    }

    #[test]
    fn statements_are_the_same_for_older_names_and_missing_tables() {
        let statement = "SELECT decidim_user_id FROM decidim_members";
        let newer = Tables::from_columns(&columns(false)).unwrap().with_tables(statement);
        assert!(newer.contains("decidim_members AS NOT MATERIALIZED (SELECT id AS id"), "{newer}");
        assert!(newer.ends_with(statement) && !newer.contains("decidim_users"), "{newer}");
        let older = Tables::from_columns(&columns(true)).unwrap().with_tables(statement);
        assert!(older.contains("privatable_to_type AS participatory_space_type"), "{older}");
        let without = Tables::from_columns(&Columns::new()).unwrap().with_tables(statement);
        assert!(without.contains("null::bigint AS decidim_user_id"), "{without}");
    }

    #[test]
    fn columns_that_are_missing_or_of_another_type_are_named() {
        let mut columns = columns(false);
        let users = columns.get_mut("decidim_users").unwrap();
        users.remove("nickname");
        users.insert("email".to_owned(), "int4".to_owned());
        let faults = Tables::from_columns(&columns).unwrap_err();
        let expected =
            ["decidim_users: column email has the type int4", "decidim_users: column nickname is missing"];
        assert_eq!(faults, expected);
    }
}
