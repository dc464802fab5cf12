//! One row of the source.

use serde_json::{Map, Value};

/// A row, as PostgreSQL writes it in JSON.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The table, in the names of Decidim 0.32.
    pub(crate) table: &'static str,
    pub(crate) columns: Map<String, Value>,
}

impl Row {
    /// The value of a column; null if the row has no such column.
    pub(crate) fn get(&self, column: &str) -> &Value {
        self.columns.get(column).unwrap_or(&Value::Null)
    }

    pub(crate) fn id(&self) -> i64 {
        self.int("id").unwrap_or_default()
    }

    /// A whole number, also if it is stored as text.
    pub(crate) fn int(&self, column: &str) -> Option<i64> {
        integer(self.get(column))
    }

    /// A text; `""` if there is none.
    pub(crate) fn str(&self, column: &str) -> &str {
        self.get(column).as_str().unwrap_or_default()
    }

    /// A text that is not blank.
    pub(crate) fn filled(&self, column: &str) -> Option<&str> {
        Some(self.str(column)).filter(|text| !text.trim().is_empty())
    }

    /// A boolean; null is false.
    pub(crate) fn flag(&self, column: &str) -> bool {
        self.get(column).as_bool().unwrap_or_default()
    }

    /// A time of an archive, or null. The source writes UTC; `infinity` and years beyond 9999 are absent (§3.3).
    pub(crate) fn time(&self, column: &str) -> Value {
        time(self.str(column))
    }

    pub(crate) fn list(&self, column: &str) -> impl Iterator<Item = &str> {
        self.get(column).as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// The rows of a child table that the statement aggregated with `json_agg`.
    pub(crate) fn children(&self, column: &str, table: &'static str) -> Vec<Self> {
        let rows = self.get(column).as_array().into_iter().flatten().filter_map(Value::as_object);
        rows.map(|columns| Self { table, columns: columns.clone() }).collect()
    }
}

/// A whole number, also if it is a text (§3.3).
pub(crate) fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A time of an archive from a `timestamp` of PostgreSQL in JSON.
fn time(text: &str) -> Value {
    let is_of_year = text.as_bytes().get(4) == Some(&b'-') && !text.ends_with(" BC");
    if is_of_year { format!("{text}Z").into() } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_utc_and_those_that_cannot_be_written_are_absent() {
        assert_eq!(time("2022-03-01T08:00:00.123456"), "2022-03-01T08:00:00.123456Z");
        for none in ["", "infinity", "-infinity", "10000-01-01T00:00:00", "0044-03-15T00:00:00 BC"] {
            assert_eq!(time(none), Value::Null, "{none}");
        }
    }

    #[test]
    fn numbers_may_be_texts() {
        assert_eq!(integer(&json!("5")), Some(5));
        assert_eq!(integer(&json!(5)), Some(5));
        assert_eq!(integer(&json!("many")), None);
    }
}
