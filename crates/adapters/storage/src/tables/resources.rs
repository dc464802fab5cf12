//! The resources that a component lists and counts (contract 05 §3.4, §3.7).

use crate::columns::{self, Condition, ListColumn, cached_by_text};
use crate::engine::{Conn, Db, dialect, sql};
use crate::schema::{components, meeting_registrations, meetings, posts, proposal_authors, proposals, votes};
use crate::session::{LoadRowsExt, borrowed_connection};
use crate::visibility::VisibilityRule;
use civitas_kernel::{ReadContext, Result, UserId, Viewer, clock};
use civitas_spaces::{ComponentDetail, ComponentKind};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable};
use std::collections::HashMap;
use time::OffsetDateTime;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The latest of several times.
    #[aggregate]
    #[sql_name = "max"]
    fn newest(x: sql::Moment) -> Nullable<sql::Moment>;
}

/// The visible resources of one component.
#[derive(Debug, Default)]
pub(super) struct ComponentResources {
    /// The first [`ComponentDetail::MAX_RESOURCES`], by id.
    pub(super) first: Vec<i64>,
    /// Their number.
    pub(super) count: i64,
    /// The latest change of one of them, or of a vote of the reader in the component.
    pub(super) changed_at: Option<OffsetDateTime>,
}

impl ComponentResources {
    fn changed(&mut self, at: Option<OffsetDateTime>) {
        self.changed_at = self.changed_at.max(at);
    }

    /// Adds resources to the first ones.
    fn list(&mut self, ids: Vec<i64>) {
        self.first.extend(ids);
        self.first.sort_unstable();
        self.first.truncate(usize::try_from(ComponentDetail::MAX_RESOURCES).unwrap_or(usize::MAX));
    }
}

/// The visible resources of visible components, with those that only the user of the token sees.
pub(super) async fn load_for_components(
    connection: &mut Conn,
    read_context: ReadContext,
    components: &[(i64, ComponentKind)],
) -> Result<HashMap<i64, ComponentResources>> {
    let now = clock::now();
    let with = |kinds: &[ComponentKind]| -> Vec<i64> {
        components.iter().filter(|(_, kind)| kinds.contains(kind)).map(|(id, _)| *id).collect()
    };
    let mut found = HashMap::new();
    let proposals = with(&[ComponentKind::Proposals]);
    shown_in(connection, ResourceKind::Proposals, &proposals, &mut found).await?;
    if let Some(user) = read_context.participant.filter(|_| !proposals.is_empty()) {
        add(&mut found, drafts(connection, user, &proposals).await?);
        voted(connection, user, &proposals, &mut found).await?;
    }
    let meetings = with(&[ComponentKind::Meetings]);
    let restricted = shown_in(connection, ResourceKind::Meetings, &meetings, &mut found).await?;
    let open = with_access(connection, read_context.viewer, &restricted).await?;
    shown_in(connection, ResourceKind::RestrictedMeetings, &open, &mut found).await?;
    let closed: Vec<_> = restricted.into_iter().filter(|id| !open.contains(id)).collect();
    if let Some(user) = read_context.viewer.user().filter(|_| !closed.is_empty()) {
        add(&mut found, registered(connection, user, &closed).await?);
    }
    let blogs = with(&[ComponentKind::Blogs]);
    shown_in(connection, ResourceKind::Posts(now), &blogs, &mut found).await?;
    if let Some(user) = read_context.participant.filter(|_| !blogs.is_empty()) {
        add(&mut found, not_yet_published(connection, user, now, &blogs).await?);
    }
    let entries = with(&[
        ComponentKind::Pages,
        ComponentKind::Budgets,
        ComponentKind::Accountability,
        ComponentKind::Debates,
    ]);
    shown_in(connection, ResourceKind::Entries, &entries, &mut found).await?;
    shown_in(connection, ResourceKind::Surveys, &with(&[ComponentKind::Surveys]), &mut found).await?;
    Ok(found)
}

/// The records of a kind that every reader of their component sees, except restricted meetings.
#[derive(Debug, Clone, Copy)]
enum ResourceKind {
    Proposals,
    /// Those that are not private, and the transparent ones.
    Meetings,
    /// The others. Not everyone sees them.
    RestrictedMeetings,
    /// Those that are published at this time.
    Posts(OffsetDateTime),
    Entries,
    Surveys,
}

impl ResourceKind {
    /// It has the columns `id`, `component_id` and `updated_at`.
    fn table(self) -> &'static str {
        match self {
            Self::Proposals => "proposals",
            Self::Meetings | Self::RestrictedMeetings => "meetings",
            Self::Posts(_) => "posts",
            Self::Entries => "entries",
            Self::Surveys => "surveys",
        }
    }

    /// The condition of the partial indexes for the first records and the latest change; the triggers count by it.
    fn condition(self) -> &'static str {
        match self {
            Self::Proposals => {
                "proposals.published_at IS NOT NULL AND proposals.hidden_at IS NULL AND proposals.deleted_at IS NULL"
            }
            Self::Meetings => {
                "meetings.published_at IS NOT NULL AND meetings.hidden_at IS NULL AND meetings.deleted_at IS NULL \
                 AND (NOT meetings.private OR meetings.transparent)"
            }
            Self::RestrictedMeetings => {
                "meetings.published_at IS NOT NULL AND meetings.hidden_at IS NULL AND meetings.deleted_at IS NULL \
                 AND meetings.private AND NOT meetings.transparent"
            }
            Self::Posts(_) => {
                "posts.published_at IS NOT NULL AND posts.hidden_at IS NULL AND posts.deleted_at IS NULL"
            }
            Self::Entries => "entries.hidden_at IS NULL AND entries.deleted_at IS NULL",
            Self::Surveys => "surveys.deleted_at IS NULL",
        }
    }

    /// The stored number of the records that satisfy the condition.
    fn stored_count(self) -> &'static str {
        match self {
            Self::Proposals => {
                "(SELECT CAST(sum(shown) AS bigint) FROM proposal_counts WHERE component_id = components.id)"
            }
            Self::RestrictedMeetings => {
                "(SELECT restricted FROM record_counts WHERE component_id = components.id)"
            }
            _ => "(SELECT shown FROM record_counts WHERE component_id = components.id)",
        }
    }
}

/// The number of these records in each component, that of restricted meetings, the time of the latest change, and the first
/// ids. Component by component: as a join, PostgreSQL may read the records of all components.
struct ResourceSummary {
    shown: ResourceKind,
    components: Condition<components::table>,
}

/// A row of [`ResourceSummary`].
type Summarized = (i64, i64, i64, Option<OffsetDateTime>, ListColumn);

impl ResourceSummary {
    /// The records of the component, by an index with the order that is appended.
    fn records<'b>(&'b self, what: &str, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let (table, condition) = (self.shown.table(), self.shown.condition());
        pass.push_sql(&format!(
            "(SELECT {what} FROM {table} WHERE {table}.component_id = components.id AND {condition}"
        ));
        if let ResourceKind::Posts(now) = &self.shown {
            // Not a range: SQLite would read all posts in the order of their times.
            pass.push_sql(" AND (posts.published_at > ");
            pass.push_bind_param::<sql::Moment, _>(now)?;
            pass.push_sql(") IS NOT TRUE");
        }
        Ok(())
    }
}

// The text depends on the kind.
cached_by_text! { [] ResourceSummary: (BigInt, BigInt, BigInt, Nullable<sql::Moment>, dialect::NumberList) }

impl QueryFragment<Db> for ResourceSummary {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let table = self.shown.table();
        pass.push_sql(&format!("SELECT components.id, coalesce({}, 0)", self.shown.stored_count()));
        if let ResourceKind::Posts(now) = &self.shown {
            // Scheduled posts are few.
            pass.push_sql(" - (SELECT count(*) FROM posts WHERE posts.component_id = components.id AND ");
            pass.push_sql(self.shown.condition());
            pass.push_sql(" AND posts.published_at > ");
            pass.push_bind_param::<sql::Moment, _>(now)?;
            pass.push_sql(")");
        }
        let restricted = ResourceKind::RestrictedMeetings.stored_count();
        pass.push_sql(&format!(", coalesce({restricted}, 0), "));
        self.records(&format!("{table}.updated_at"), &mut pass)?;
        let [begin, end] = dialect::list_of("named.id", None);
        pass.push_sql(&format!(" ORDER BY {table}.updated_at DESC LIMIT 1), {begin} FROM "));
        self.records(&format!("{table}.id"), &mut pass)?;
        pass.push_sql(&format!(
            " ORDER BY {table}.id LIMIT {}) AS named{end} FROM components WHERE ",
            ComponentDetail::MAX_RESOURCES
        ));
        self.components.walk_ast(pass)
    }
}

/// These components.
fn these(ids: &[i64]) -> Condition<components::table> {
    columns::any_of(components::id.nullable(), ids)
}

/// Reads the records of a kind in these components; those components that have restricted meetings too.
async fn shown_in(
    connection: &mut Conn,
    shown: ResourceKind,
    ids: &[i64],
    found: &mut HashMap<i64, ComponentResources>,
) -> Result<Vec<i64>> {
    let mut restricted = Vec::new();
    if ids.is_empty() {
        return Ok(restricted);
    }
    let rows: Vec<Summarized> =
        ResourceSummary { shown, components: these(ids) }.rows_from(borrowed_connection(connection)).await?;
    for (component, count, others, changed_at, first) in rows {
        if others > 0 {
            restricted.push(component);
        }
        let resources = found.entry(component).or_default();
        resources.count += count;
        resources.changed(changed_at);
        resources.list(first.0);
    }
    Ok(restricted)
}

/// A record that only some readers see: its component, its id and its latest change.
type PersonalRecord = (i64, i64, OffsetDateTime);

fn add(found: &mut HashMap<i64, ComponentResources>, records: Vec<PersonalRecord>) {
    for (component, id, changed_at) in records {
        let resources = found.entry(component).or_default();
        resources.count += 1;
        resources.changed(Some(changed_at));
        resources.list(vec![id]);
    }
}

/// The drafts of a user, created by any client.
async fn drafts(connection: &mut Conn, user: UserId, ids: &[i64]) -> Result<Vec<PersonalRecord>> {
    proposals::table
        .inner_join(proposal_authors::table)
        .filter(proposal_authors::user_id.eq(user.0))
        .filter(columns::any_of(proposals::component_id.nullable(), ids))
        .filter(proposals::published_at.is_null())
        .filter(proposals::hidden_at.is_null())
        .filter(proposals::deleted_at.is_null())
        .select((proposals::component_id, proposals::id, proposals::updated_at))
        .rows_from(borrowed_connection(connection))
        .await
}

/// The time of the user's last vote.
async fn voted(
    connection: &mut Conn,
    user: UserId,
    ids: &[i64],
    found: &mut HashMap<i64, ComponentResources>,
) -> Result<()> {
    let voted: Vec<(i64, Option<OffsetDateTime>)> = votes::table
        .filter(votes::user_id.eq(user.0))
        .filter(columns::any_of(votes::component_id.nullable(), ids))
        .group_by(votes::component_id)
        .select((votes::component_id, newest(votes::updated_at)))
        .rows_from(borrowed_connection(connection))
        .await?;
    for (component, voted_at) in voted {
        found.entry(component).or_default().changed(voted_at);
    }
    Ok(())
}

/// Those of these components whose restricted meetings the viewer sees: administrators all, others with a role in the space.
async fn with_access(connection: &mut Conn, viewer: Viewer, ids: &[i64]) -> Result<Vec<i64>> {
    match viewer {
        Viewer::Admin(_) => Ok(ids.to_vec()),
        Viewer::Participant(user) if !ids.is_empty() => {
            components::table
                .filter(these(ids))
                .filter(VisibilityRule::HasRole(user))
                .select(components::id)
                .rows_from(borrowed_connection(connection))
                .await
        }
        Viewer::Participant(_) | Viewer::Public => Ok(Vec::new()),
    }
}

/// The restricted meetings that a user is registered for.
async fn registered(connection: &mut Conn, user: UserId, ids: &[i64]) -> Result<Vec<PersonalRecord>> {
    meetings::table
        .inner_join(meeting_registrations::table)
        .filter(meeting_registrations::user_id.eq(user.0))
        .filter(columns::any_of(meetings::component_id.nullable(), ids))
        .filter(diesel::dsl::sql::<Bool>(ResourceKind::RestrictedMeetings.condition()))
        .select((meetings::component_id, meetings::id, meetings::updated_at))
        .rows_from(borrowed_connection(connection))
        .await
}

/// The drafts and scheduled posts of a user.
async fn not_yet_published(
    connection: &mut Conn,
    user: UserId,
    now: OffsetDateTime,
    ids: &[i64],
) -> Result<Vec<PersonalRecord>> {
    posts::table
        .filter(posts::author_id.eq(user.0))
        .filter(posts::published_at.is_null().or(posts::published_at.gt(now)))
        .filter(posts::hidden_at.is_null())
        .filter(posts::deleted_at.is_null())
        .filter(columns::any_of(posts::component_id.nullable(), ids))
        .select((posts::component_id, posts::id, posts::updated_at))
        .rows_from(borrowed_connection(connection))
        .await
}
