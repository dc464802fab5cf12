//! The schema of a database as text, to be compared.

use super::server::{connect, named};
use super::{Database, Home};
use diesel::sql_types::Text;
use diesel::{QueryableByName, RunQueryDsl};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

const SQLITE: [&str; 3] = [
    "SELECT 'column ' || m.name || '.' || c.name || ' ' || c.type || ' not null: ' || c.\"notnull\" || ' default: ' \
     || coalesce(c.dflt_value, 'none') || ' key: ' || c.pk AS line FROM sqlite_master AS m \
     JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE '\\_\\_%' ESCAPE '\\' \
     AND m.name NOT LIKE 'sqlite%'",
    "SELECT 'reference ' || m.name || '.' || f.\"from\" || ' ' || f.\"table\" || ' ' || f.on_delete AS line \
     FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'",
    "SELECT m.type || ' ' || m.name || ' ' || coalesce(m.sql, '') AS line FROM sqlite_master AS m \
     WHERE m.type <> 'table' AND m.name NOT LIKE 'sqlite%'",
];

const POSTGRES: [&str; 5] = [
    "SELECT concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default, is_identity) \
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_%'",
    "SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE '\\_\\_%'",
    "SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint \
     WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE '\\_\\_%'",
    "SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT 'function ' || proname || ' ' || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace \
        AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')",
];

impl Database {
    /// Columns, references or constraints, indexes, triggers and functions, each as one line, in order. The order of the
    /// columns of a table does not matter. The table of the migrations is left out.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn schema(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Home::Server { address, name } = &self.home {
            let client = connect(&named(address, name)).await.expect("the server answers");
            for sql in POSTGRES {
                let rows = client.query(sql, &[]).await.expect("a part of the schema");
                lines.extend(rows.iter().map(|row| row.get::<_, String>(0)));
            }
        } else {
            for sql in SQLITE {
                let rows: Vec<Line> =
                    diesel::sql_query(sql).load(&mut self.file()).expect("a part of the schema");
                lines.extend(rows.into_iter().map(|row| row.line));
            }
        }
        let mut lines: Vec<String> =
            lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        lines.sort();
        lines
    }
}
