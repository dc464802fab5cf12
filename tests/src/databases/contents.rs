//! What all tables of a database have, past the store.

use super::server::{connect, named};
use super::{Database, Home};
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};

/// A column of a table.
#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    tab: String,
    #[diesel(sql_type = Text)]
    col: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

const SQLITE_COLUMNS: &str = "SELECT m.name AS tab, c.name AS col FROM sqlite_master AS m \
     JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE '\\_\\_%' ESCAPE '\\' \
     ORDER BY 1, 2";
const POSTGRES_COLUMNS: &str = "SELECT table_name::text, column_name::text FROM information_schema.columns \
     WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_%' ORDER BY 1, 2";

impl Database {
    /// The columns, as `table.column`, of all tables where some row contains one of these texts, in any case.
    ///
    /// # Panics
    /// When the database refuses a statement.
    pub async fn columns_with(&self, texts: &[&str]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase().replace('\'', "''")).collect();
        let contains = |column: &str, text: &str| match &self.home {
            Home::Server { .. } => format!("position('{text}' IN lower(\"{column}\"::text)) > 0"),
            _ => format!("instr(lower(CAST(\"{column}\" AS text)), '{text}') > 0"),
        };
        let condition =
            |column: &str| texts.iter().map(|text| contains(column, text)).collect::<Vec<_>>().join(" OR ");
        let mut found = Vec::new();
        for (table, column) in self.columns().await {
            if self.count(&table, &condition(&column)).await > 0 {
                found.push(format!("{table}.{column}"));
            }
        }
        found
    }

    /// The tables with a column `organization_id` that have rows of this organization.
    ///
    /// # Panics
    /// When the database refuses a statement.
    pub async fn tables_of(&self, organization: i64) -> Vec<String> {
        let mut found = Vec::new();
        for (table, column) in self.columns().await {
            if column == "organization_id"
                && self.count(&table, &format!("organization_id = {organization}")).await > 0
            {
                found.push(table);
            }
        }
        found
    }

    /// The number of rows of a table with this condition.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn count(&self, table: &str, condition: &str) -> i64 {
        let sql = format!("SELECT count(*) AS number FROM \"{table}\" WHERE {condition}");
        if let Home::Server { address, name } = &self.home {
            let client = connect(&named(address, name)).await.expect("the server answers");
            return client.query_one(&sql, &[]).await.expect("a number").get(0);
        }
        let rows: Vec<Count> = diesel::sql_query(sql).load(&mut self.file()).expect("a number");
        rows.iter().map(|count| count.number).sum()
    }

    async fn columns(&self) -> Vec<(String, String)> {
        if let Home::Server { address, name } = &self.home {
            let client = connect(&named(address, name)).await.expect("the server answers");
            let rows = client.query(POSTGRES_COLUMNS, &[]).await.expect("the columns");
            return rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        }
        let rows: Vec<Column> =
            diesel::sql_query(SQLITE_COLUMNS).load(&mut self.file()).expect("the columns");
        rows.into_iter().map(|column| (column.tab, column.col)).collect()
    }

    pub(super) fn file(&self) -> SqliteConnection {
        SqliteConnection::establish(self.url.trim_start_matches("sqlite://")).expect("the file opens")
    }
}
