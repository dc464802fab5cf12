//! What a database has, in numbers and checksums: two databases with equal contents have equal rows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The number of its rows.
    pub rows: u64,
    /// SHA-256 of all rows in the order of the primary key, in hexadecimal.
    pub sha256: String,
}

/// The tables and sequences of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The tables by name.
    pub tables: BTreeMap<String, Table>,
    /// The last value of each sequence that was used.
    pub sequences: BTreeMap<String, i64>,
}

impl Contents {
    /// The number of rows of all tables.
    pub fn rows(&self) -> u64 {
        self.tables.values().map(|table| table.rows).sum()
    }

    /// The first difference, as a sentence; `None` if both are equal. `self` is what was copied, `restored` what came
    /// of it.
    pub fn difference(&self, restored: &Self) -> Option<String> {
        for (name, table) in &self.tables {
            match restored.tables.get(name) {
                None => return Some(format!("the table {name} is missing")),
                Some(other) if other.rows != table.rows => {
                    return Some(format!(
                        "the table {name} has {} rows instead of {}",
                        other.rows, table.rows
                    ));
                }
                Some(other) if other.sha256 != table.sha256 => {
                    return Some(format!("the rows of the table {name} are not those that were copied"));
                }
                Some(_) => {}
            }
        }
        if let Some(name) = restored.tables.keys().find(|name| !self.tables.contains_key(*name)) {
            return Some(format!("the table {name} was not copied"));
        }
        (self.sequences != restored.sequences).then(|| "the sequences differ".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(rows: u64, sha256: &str) -> Contents {
        let table = Table { rows, sha256: sha256.to_owned() };
        Contents { tables: [("users".to_owned(), table)].into(), ..Contents::default() }
    }

    #[test]
    fn equal_contents_have_no_difference() {
        assert_eq!(contents(2, "aa").difference(&contents(2, "aa")), None);
    }

    #[test]
    fn each_difference_is_named() {
        let copied = contents(2, "aa");
        let sequence = Contents { sequences: [("users_id_seq".to_owned(), 3)].into(), ..copied.clone() };
        for (restored, part) in [
            (Contents::default(), "users is missing"),
            (contents(1, "bb"), "1 rows instead of 2"),
            (contents(2, "bb"), "not those"),
            (sequence, "sequences"),
        ] {
            let difference = copied.difference(&restored).unwrap();
            assert!(difference.contains(part), "{difference}");
        }
        let extra = Contents::default().difference(&copied).unwrap();
        assert!(extra.contains("was not copied"), "{extra}");
    }
}
