//! Which commits end the validity of cached values ([`crate::lookups`]): those of writes to a table of
//! [`CACHED_TABLES`]. The connections that write have a [`StatementObserver`], which reads the text of each statement,
//! so that no code that writes says what is cached.

use crate::schema::{CACHED_TABLES, CacheKind};
use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of changes of cached values by this process, by kind. It is raised after a commit, and before its caller
/// learns of it.
#[derive(Debug, Default)]
pub(crate) struct ChangeCounters([AtomicU64; 2]);

/// Several kinds, one bit for each.
type Kinds = u8;

impl ChangeCounters {
    /// The number of changes of values of this kind.
    pub(crate) fn change_count(&self, kind: CacheKind) -> u64 {
        self.0[kind as usize].load(Ordering::SeqCst)
    }

    fn add(&self, kinds: Kinds) {
        for (position, number) in self.0.iter().enumerate() {
            if kinds & (1 << position) != 0 {
                number.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// Observes the statements of one connection.
///
/// Outside of transactions a statement that returns rows may be counted a moment before its commit on PostgreSQL: use a
/// transaction if it changes cached rows. Diesel does not promise the text and the order of what it reports; the tests of
/// cached lookups would find a difference, and no value is used for longer than a second.
pub(crate) struct StatementObserver {
    changes: Arc<ChangeCounters>,
    /// What the current statement changes when it ends.
    statement: Kinds,
    /// What the commit of the open transaction changes.
    transaction: Kinds,
    /// Who else observes all connections.
    other: Option<Box<dyn Instrumentation>>,
}

impl StatementObserver {
    /// One that counts the changes of its connection there.
    pub(crate) fn new(changes: Arc<ChangeCounters>) -> Self {
        Self { changes, statement: 0, transaction: 0, other: get_default_instrumentation() }
    }

    fn ends(&mut self) {
        self.changes.add(std::mem::take(&mut self.statement));
    }

    fn begins(&mut self, sql: &str) {
        // A statement whose caller is gone may have been executed all the same.
        self.ends();
        if sql.starts_with("BEGIN") {
            self.transaction = 0;
        } else if sql.ends_with("COMMIT") {
            self.statement = std::mem::take(&mut self.transaction);
        } else if !sql.starts_with("SELECT ") {
            self.statement = changed_by(sql);
            self.transaction |= self.statement;
        }
    }
}

impl Instrumentation for StatementObserver {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match &event {
            InstrumentationEvent::StartQuery { query, .. } => {
                // Always an error: the rest of the text, which has the values, is not read.
                let _ = write!(Statement(self), "{query}");
            }
            InstrumentationEvent::FinishQuery { .. } => self.ends(),
            _ => {}
        }
        self.other.on_connection_event(event);
    }
}

/// The connection was closed, maybe during a commit.
impl Drop for StatementObserver {
    fn drop(&mut self) {
        self.changes.add(self.statement | self.transaction);
    }
}

/// Gets the text of a statement as a whole, before its values.
struct Statement<'a>(&'a mut StatementObserver);

impl Write for Statement<'_> {
    fn write_str(&mut self, sql: &str) -> fmt::Result {
        self.0.begins(sql);
        Err(fmt::Error)
    }
}

/// What a statement changes when it is committed.
fn changed_by(sql: &str) -> Kinds {
    let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let (mut before, mut last, mut changed) = ("", "", 0);
    for word in words {
        let adds = last == "INTO";
        if adds || last == "UPDATE" || (before, last) == ("DELETE", "FROM") {
            let of =
                CACHED_TABLES.iter().filter(|cached| cached.table == word && (cached.by_new_rows || !adds));
            changed |= of.fold(0, |kinds, cached| kinds | (1 << cached.kind as u8));
        }
        (before, last) = (last, word);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [CacheKind; 2] = [CacheKind::Lookup, CacheKind::Removal];

    fn numbers(changes: &ChangeCounters) -> [u64; 2] {
        BOTH.map(|kind| changes.change_count(kind))
    }

    #[test]
    fn a_write_to_a_cached_table_is_found_in_its_text() {
        let (none, lookup, removal) = (0, 1, 2);
        for (sql, expected) in [
            ("UPDATE \"users\" SET \"name\" = $1", lookup),
            ("UPDATE `users` SET `name` = ?", lookup),
            ("DELETE FROM organization_hosts WHERE id = 1", lookup),
            ("INSERT INTO `components` (`id`) VALUES (?)", lookup),
            ("INSERT INTO \"list_changes\" (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = $2", removal),
            ("INSERT INTO `access_tokens` (`id`) VALUES (?)", none),
            ("UPDATE `access_tokens` SET `revoked_at` = ?", lookup),
            ("INSERT INTO votes (user_id) SELECT id FROM users", none),
            ("WITH old AS (DELETE FROM roles RETURNING id) UPDATE list_changes SET a = 1", lookup | removal),
            ("WITH proposal AS (SELECT 1 FROM proposals FOR UPDATE) SELECT id FROM users FOR UPDATE", none),
            ("UPDATE `proposals` SET `component_id` = ?", none),
        ] {
            assert_eq!(changed_by(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_change_is_counted_after_its_commit() {
        let changes = Arc::<ChangeCounters>::default();
        let mut observer = StatementObserver::new(changes.clone());
        let mut run = |sql| {
            observer.begins(sql);
            observer.ends();
            numbers(&changes)
        };
        assert_eq!(run("UPDATE users SET a = 1"), [1, 0], "outside a transaction");
        for commit in ["COMMIT", "SELECT 1; COMMIT"] {
            let before = run("BEGIN IMMEDIATE");
            assert_eq!(run("UPDATE votes SET a = 1"), before);
            let within = run("UPDATE users SET a = 1");
            assert_eq!(run("SELECT 1"), within);
            assert_eq!(run(commit), [within[0] + 1, 0]);
            assert_eq!(run(commit), [within[0] + 1, 0], "once");
        }
        let before = run("UPDATE list_changes SET a = 1");
        drop(observer);
        assert!(changes.change_count(CacheKind::Removal) > before[1], "its connection was closed");
    }
}
