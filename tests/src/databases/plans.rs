//! The plans of statements.

use super::server::{connect, named};
use super::{Database, Home};
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use std::collections::HashMap;

#[diesel::declare_sql_function]
extern "SQL" {
    /// A function of the storage on SQLite. To plan a statement it only has to exist.
    fn is_among(x: Nullable<BigInt>, sorted: Binary) -> Nullable<Bool>;
}

/// A step of a plan of SQLite.
#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Integer)]
    id: i32,
    #[diesel(sql_type = Integer)]
    parent: i32,
    #[diesel(sql_type = Text)]
    detail: String,
}

impl Database {
    /// The plan of a statement with unknown values: the lines of `EXPLAIN` on PostgreSQL, of
    /// `EXPLAIN QUERY PLAN` on SQLite, indented by depth.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn plan(&self, sql: &str) -> Vec<String> {
        match &self.home {
            Home::Server { address, name } => {
                let client = connect(&named(address, name)).await.expect("the server answers");
                // The texts of a test are so few that PostgreSQL would read them all.
                let scans = if sql.contains("record_texts") { "SET enable_seqscan = off;" } else { "" };
                let prepare =
                    format!("{scans} SET plan_cache_mode = force_generic_plan; PREPARE planned AS {sql}");
                client.batch_execute(&prepare).await.expect("a prepared statement");
                let values = sql.split('$').skip(1).filter_map(|s| {
                    let number = s.split(|c: char| !c.is_ascii_digit()).next()?;
                    number.parse::<usize>().ok()
                });
                let values = vec!["NULL"; values.max().unwrap_or_default()].join(", ");
                let values = if values.is_empty() { values } else { format!("({values})") };
                let explain = format!("EXPLAIN (COSTS OFF) EXECUTE planned {values}");
                let rows = client.query(&explain, &[]).await.expect("a plan");
                rows.iter().map(|row| row.get(0)).collect()
            }
            Home::Directory(_) | Home::Elsewhere => {
                let path = self.url.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path).expect("the file opens");
                is_among_utils::register_impl(&mut connection, |_: Option<i64>, _: Vec<u8>| Some(false))
                    .expect("a function");
                let explain = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
                let steps: Vec<Step> = explain.load(&mut connection).expect("a plan");
                let mut depths = HashMap::from([(0, 0)]);
                let lines = steps.into_iter().map(|step| {
                    let depth = depths.get(&step.parent).copied().unwrap_or_default();
                    depths.insert(step.id, depth + 1);
                    format!("{}{}", "  ".repeat(depth), step.detail)
                });
                lines.collect()
            }
            Home::Memory => panic!("only its store reaches a database in memory"),
        }
    }
}
