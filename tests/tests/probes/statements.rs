//! Every statement of a request names its organization (decision 0038): the statements that servers send during the
//! probes.

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The tables and their columns.
const SCHEMA: [&str; 7] = [
    include_str!("../../../crates/adapters/storage/src/schema/attached.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/audit.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/content.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/forms.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/people.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/webhooks.rs"),
    include_str!("../../../crates/adapters/storage/src/schema/work.rs"),
];

/// The different statements since [`log`].
static TEXTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct StatementLog;

impl Instrumentation for StatementLog {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            // Behind the text are the values.
            let text = query.to_string();
            let text = text.split(" -- binds: ").next().unwrap_or_default();
            TEXTS.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned());
        }
    }
}

/// Logs the statements of all connections that are opened from now on.
pub(crate) fn log() {
    set_default_instrumentation(|| Some(Box::new(StatementLog))).unwrap();
}

/// Forgets the statements so far: those of the start.
pub(crate) fn forget() {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The tables with an `organization_id`.
fn tables() -> Vec<String> {
    let mut tables = Vec::new();
    for table in SCHEMA.iter().flat_map(|schema| schema.split("table! {").skip(1)) {
        if table.contains("organization_id ->") {
            let name = table.trim_start().split([' ', '(']).next().unwrap_or_default();
            tables.push(name.to_owned());
        }
    }
    assert!(tables.len() > 30, "{tables:?}");
    tables
}

/// Parts of statements that need no organization, and why.
const EXCEPTIONS: [(&str, &str); 19] = [
    ("jobs.status", "workers serve all organizations"),
    ("tasks.", "workers serve all organizations"),
    ("outbox.", "the relay serves all organizations"),
    ("uploads.created_at <", "old uploads are removed"),
    ("files.state <>", "files that are not stored are removed"),
    ("meeting_reminders.", "reminders of all organizations are recorded"),
    ("webhook_registrations", "a registration belongs to a client, which may have no organization"),
    ("api_clients.uid =", "finds the client of a request"),
    ("api_clients.id >", "clients of the deployment, for the panel"),
    ("administrators.", "administrators belong to the deployment"),
    ("organization_hosts.host =", "finds the organization of a request"),
    ("organizations.id =", "the organization itself"),
    ("answers.response_id =", "of a response that was found"),
    ("components.id =", "of a component that was found"),
    ("SELECT components.id, coalesce", "numbers of components that were found"),
    ("FROM proposals WHERE proposals.id ", "rows of a page whose ids were found"),
    ("FROM posts WHERE posts.id ", "rows of a page whose ids were found"),
    ("is_indexed = true", "background work indexes texts of all organizations"),
    ("FROM meetings WHERE meetings.id ", "rows of a page whose ids were found"),
];

/// The text without quotes, brackets, and what planners need: `organization_id + 0 = ?` is `organization_id = ?`.
fn plain(text: &str) -> String {
    let text = text.replace(['"', '`', '(', ')'], "");
    let mut words = text.split_whitespace();
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        if word == "+" {
            words.next();
        } else {
            plain.push(word);
        }
    }
    plain.join(" ").replace(", ?", "").replace("= ANY", "IN")
}

/// The statements that read or change rows of a table of organizations without an equation with one, or with components, which
/// are those that a reader sees of one organization.
pub(crate) fn without_organization() -> Vec<String> {
    let tables = tables();
    let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(texts.len() > 100, "{} statements", texts.len());
    let is_without = |text: &&String| {
        let text = plain(text);
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let is_read = ["SELECT", "UPDATE", "DELETE", "WITH"].iter().any(|verb| text.starts_with(verb));
        let columns = ["organization_id", "component_id"];
        let is_named = columns.iter().any(|column| {
            ["= $", "= ?", "IN"].iter().any(|compared| text.contains(&format!("{column} {compared}")))
        });
        let is_named = is_named || text.contains("is_among");
        let is_exception = EXCEPTIONS.iter().any(|(part, _)| text.contains(part));
        is_read && !is_named && !is_exception && tables.iter().any(|table| words.contains(table.as_str()))
    };
    texts.iter().filter(is_without).cloned().collect()
}
