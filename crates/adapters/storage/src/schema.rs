//! The tables of the migrations, with column types that both engines share.

/// The types of columns.
mod types {
    pub(crate) use crate::engine::sql::{Json, Moment, Uuid};
    pub(crate) use diesel::sql_types::{BigInt, Bool, Nullable, Text};
}

/// `diesel::table!` with these types.
macro_rules! table {
    ($($table:tt)+) => { diesel::table! { use crate::schema::types::*; $($table)+ } };
}

mod attached;
mod audit;
mod content;
mod forms;
mod people;
mod webhooks;
mod work;

pub(crate) use self::attached::{attachment_collections, attachments, files, uploads};
pub(crate) use self::audit::{audit_entries, audit_heads};
pub(crate) use self::content::{
    components, entries, meeting_registrations, meetings, posts, proposal_authors, proposal_counts,
    proposal_states, proposals, record_counts, votes,
};
pub(crate) use self::forms::{
    answer_options, answers, display_conditions, matrix_rows, questionnaires, questions, responses, surveys,
};
pub(crate) use self::people::{
    access_tokens, administrators, api_clients, confirmations, idempotency_keys, login_failures, magic_links,
    mail_counts, organization_hosts, organization_names, organizations, panel_sessions, panel_used_forms,
    roles, sessions, spaces, steps, users,
};
pub(crate) use self::webhooks::{
    meeting_reminders, outbox, relay, webhook_attempts, webhook_deliveries, webhook_registrations,
};
pub(crate) use self::work::{archive_refs, id_floors, jobs, list_changes, tasks};

/// What is cached, by what changes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheKind {
    /// What most requests look up: organizations, identities, components.
    Lookup,
    /// The times of the last removals from lists.
    Removal,
}

/// A table of which cached values are read ([`crate::lookups`]).
pub(crate) struct CachedTable {
    pub(crate) table: &'static str,
    pub(crate) kind: CacheKind,
    /// Whether a new row changes a cached value. What is not found is not cached.
    pub(crate) by_new_rows: bool,
}

/// The cached tables. A commit of a write to one of them ends the validity of all cached values of its kind.
pub(crate) const CACHED_TABLES: [CachedTable; 10] = [
    cached("organizations", CacheKind::Lookup),
    cached("organization_hosts", CacheKind::Lookup),
    cached("users", CacheKind::Lookup),
    CachedTable { by_new_rows: false, ..cached("api_clients", CacheKind::Lookup) },
    CachedTable { by_new_rows: false, ..cached("access_tokens", CacheKind::Lookup) },
    cached("spaces", CacheKind::Lookup),
    cached("steps", CacheKind::Lookup),
    cached("roles", CacheKind::Lookup),
    cached("components", CacheKind::Lookup),
    cached("list_changes", CacheKind::Removal),
];

const fn cached(table: &'static str, kind: CacheKind) -> CachedTable {
    CachedTable { table, kind, by_new_rows: true }
}

// The joins without a condition of their own.
diesel::joinable!(organization_hosts -> organizations (organization_id));
diesel::joinable!(panel_sessions -> administrators (administrator_id));
diesel::joinable!(access_tokens -> api_clients (api_client_id));
diesel::joinable!(access_tokens -> users (user_id));
diesel::joinable!(login_failures -> api_clients (api_client_id));
diesel::joinable!(proposal_authors -> proposals (proposal_id));
diesel::joinable!(votes -> proposals (proposal_id));
diesel::joinable!(meeting_registrations -> meetings (meeting_id));
diesel::joinable!(webhook_registrations -> api_clients (api_client_id));
diesel::joinable!(webhook_registrations -> organizations (organization_id));
diesel::joinable!(webhook_deliveries -> outbox (event_id));
diesel::joinable!(attachments -> files (file_id));

// Only tables that are in statements with others: the time to compile grows with the square of their number.
diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    organization_hosts,
    administrators,
    panel_sessions,
    users,
    api_clients,
    access_tokens,
    login_failures,
    spaces,
    steps,
    roles,
    components,
    proposal_states,
    proposals,
    proposal_counts,
    record_counts,
    proposal_authors,
    votes,
    meetings,
    meeting_registrations,
    posts,
    files,
    attachment_collections,
    attachments,
    surveys,
    questionnaires,
    responses,
    answers,
    outbox,
    webhook_registrations,
    webhook_deliveries,
    meeting_reminders,
    audit_entries,
    audit_heads,
);
