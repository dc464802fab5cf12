//! The resources that a component lists and counts (contract 05 §3.4, §3.7).

use crate::columns::{self, Condition, JsonColumn};
use crate::correlated::Correlated;
use crate::engine::{Conn, Db, dialect, sql};
use crate::failure::Stored;
use crate::schema::{components, proposal_authors, proposal_counts, proposals, votes};
use crate::visibility::Rule;
use civitas_kernel::{ReadContext, Result, UserId, clock};
use civitas_spaces::{ComponentDetail, ComponentManifest};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Nullable};
use diesel_async::RunQueryDsl;
use std::collections::{BTreeMap, HashMap};
use time::OffsetDateTime;

diesel::alias!(proposals as earlier: Earlier);

#[diesel::declare_sql_function]
extern "SQL" {
    /// The latest of several times.
    #[aggregate]
    #[sql_name = "max"]
    fn newest(x: sql::Moment) -> Nullable<sql::Moment>;
}

/// The visible resources of one component.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The first [`ComponentDetail::MOST_RESOURCES`], by id.
    pub(super) first: Vec<i64>,
    /// Their number.
    pub(super) count: i64,
    /// The latest change of one of them, or of a vote of the reader in the component.
    pub(super) changed_at: Option<OffsetDateTime>,
}

impl Resources {
    fn changed(&mut self, at: Option<OffsetDateTime>) {
        self.changed_at = self.changed_at.max(at);
    }
}

/// The visible resources of visible components, with the drafts and votes of the user of the token.
pub(super) async fn of_components(
    connection: &mut Conn,
    read_context: ReadContext,
    components: &[(i64, ComponentManifest)],
) -> Result<HashMap<i64, Resources>> {
    let now = clock::now();
    let mut found = HashMap::new();
    let mut of_table: BTreeMap<&str, (Rule, Vec<i64>)> = BTreeMap::new();
    let mut with_proposals = Vec::new();
    for (id, manifest) in components {
        match kept_in(*manifest, read_context, now) {
            Location::AsProposals => with_proposals.push(*id),
            Location::In(table, shown) => of_table.entry(table).or_insert((shown, Vec::new())).1.push(*id),
            Location::None => {}
        }
    }
    for (table, (shown, ids)) in of_table {
        shown_in(connection, table, shown, &ids, &mut found).await?;
    }
    if !with_proposals.is_empty() {
        published(connection, &with_proposals, &mut found).await?;
        if let Some(user) = read_context.participant {
            own(connection, user, &with_proposals, &mut found).await?;
        }
    }
    Ok(found)
}

/// The table of the resources of a component.
enum Location {
    /// The proposals, with drafts and votes of the reader.
    AsProposals,
    /// This table, with this condition.
    In(&'static str, Rule),
    /// None, or not stored yet.
    None,
}

fn kept_in(manifest: ComponentManifest, read_context: ReadContext, now: OffsetDateTime) -> Location {
    match manifest {
        ComponentManifest::Proposals => Location::AsProposals,
        ComponentManifest::Meetings => Location::In("meetings", Rule::MeetingIsVisible(read_context.viewer)),
        ComponentManifest::Pages
        | ComponentManifest::Budgets
        | ComponentManifest::Accountability
        | ComponentManifest::Debates => Location::In("entries", Rule::EntryIsShown),
        ComponentManifest::Blogs => Location::In("posts", Rule::PostIsVisible(read_context.participant, now)),
        ComponentManifest::Surveys => Location::In("surveys", Rule::SurveyIsShown),
        ComponentManifest::AwesomeMap | ComponentManifest::AwesomeIframe => Location::None,
    }
}

/// What to read of the rows of a table that components list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The number in each component, and the time of the latest change.
    Totals,
    /// The first ids of each component.
    First,
}

/// A part of the rows of a table that components list. The table has `id`, `component_id` and `updated_at`.
struct Listed {
    part: Part,
    table: &'static str,
    shown: Rule,
    components: Condition<components::table>,
}

/// The components with their spaces, which rules use. Append the condition.
const LOCATED: &str = "INNER JOIN spaces ON spaces.manifest = components.space_manifest \
    AND spaces.id = components.space_id WHERE ";

impl QueryFragment<Db> for Listed {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let Self { table, .. } = self;
        match self.part {
            Part::Totals => {
                // Component by component: as a join, PostgreSQL may read the posts of all components.
                pass.push_sql("SELECT components.id");
                for what in ["count(*)", &format!("max({table}.updated_at)")] {
                    pass.push_sql(&format!(
                        ", (SELECT {what} FROM {table} WHERE {table}.component_id = components.id AND "
                    ));
                    self.shown.walk_ast(pass.reborrow())?;
                    pass.push_sql(")");
                }
                pass.push_sql(&format!(" FROM components {LOCATED}"));
                self.components.walk_ast(pass.reborrow())?;
            }
            Part::First => {
                pass.push_sql(&format!(
                    "SELECT components.id, (SELECT {}(named.id) FROM (SELECT {table}.id FROM {table} \
                     WHERE {table}.component_id = components.id AND ",
                    dialect::JSON_ARRAY
                ));
                self.shown.walk_ast(pass.reborrow())?;
                pass.push_sql(&format!(
                    " ORDER BY {table}.id LIMIT {}) AS named) FROM components {LOCATED}",
                    ComponentDetail::MOST_RESOURCES
                ));
                self.components.walk_ast(pass.reborrow())?;
            }
        }
        Ok(())
    }
}

/// [`Part::Totals`] of a table.
struct Totals(Listed);

/// [`Part::First`] of a table.
struct First(Listed);

impl Query for Totals {
    type SqlType = (BigInt, BigInt, Nullable<sql::Moment>);
}

impl Query for First {
    type SqlType = (BigInt, Nullable<sql::Json>);
}

/// The texts depend on the table, so statements are cached by their text.
macro_rules! cached_by_text {
    ($($query:ident)+) => {$(
        impl QueryId for $query {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl QueryFragment<Db> for $query {
            fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
                self.0.walk_ast(pass)
            }
        }
    )+};
}

cached_by_text!(Totals First);

/// These components.
fn these(ids: &[i64]) -> Condition<components::table> {
    columns::any_of(components::id.nullable(), ids)
}

/// The rows of a table that these components list and count.
async fn shown_in(
    connection: &mut Conn,
    table: &'static str,
    shown: Rule,
    ids: &[i64],
    found: &mut HashMap<i64, Resources>,
) -> Result<()> {
    let totals = Totals(Listed { part: Part::Totals, table, shown, components: these(ids) });
    let totals: Vec<(i64, i64, Option<OffsetDateTime>)> = totals.load(connection).await.stored()?;
    for (component, count, changed_at) in totals {
        let resources = found.entry(component).or_default();
        resources.count = count;
        resources.changed(changed_at);
    }
    first_in(connection, table, shown, ids, found).await
}

/// The rows of a table that these components list.
async fn first_in(
    connection: &mut Conn,
    table: &'static str,
    shown: Rule,
    ids: &[i64],
    found: &mut HashMap<i64, Resources>,
) -> Result<()> {
    let first = First(Listed { part: Part::First, table, shown, components: these(ids) });
    let first: Vec<(i64, Option<JsonColumn<Vec<i64>>>)> = first.load(connection).await.stored()?;
    for (component, named) in first {
        let mut named = named.map_or(Vec::new(), |named| named.0);
        named.sort_unstable();
        found.entry(component).or_default().first = named;
    }
    Ok(())
}

/// The published proposals that are neither hidden nor deleted.
async fn published(connection: &mut Conn, ids: &[i64], found: &mut HashMap<i64, Resources>) -> Result<()> {
    let newest = earlier
        .filter(earlier.field(proposals::component_id).eq(components::id))
        .filter(earlier.field(proposals::published_at).is_not_null())
        .filter(earlier.field(proposals::hidden_at).is_null())
        .filter(earlier.field(proposals::deleted_at).is_null())
        .order(earlier.field(proposals::updated_at).desc())
        .limit(1)
        .select(earlier.field(proposals::updated_at));
    let counts: Vec<(i64, i64, Option<OffsetDateTime>)> = components::table
        .inner_join(proposal_counts::table)
        .filter(columns::any_of(components::id.nullable(), ids))
        .filter(proposal_counts::shown.gt(0))
        .select((components::id, proposal_counts::shown, Correlated(newest)))
        .load(connection)
        .await
        .stored()?;
    for (component, count, changed_at) in counts {
        let resources = found.entry(component).or_default();
        resources.count += count;
        resources.changed(changed_at);
    }
    first_in(connection, "proposals", Rule::ProposalIsShown, ids, found).await
}

/// The drafts of a user, created by any client, and the time of the user's last vote.
async fn own(
    connection: &mut Conn,
    user: UserId,
    ids: &[i64],
    found: &mut HashMap<i64, Resources>,
) -> Result<()> {
    let drafts: Vec<(i64, i64, OffsetDateTime)> = proposals::table
        .inner_join(proposal_authors::table)
        .filter(proposal_authors::user_id.eq(user.0))
        .filter(columns::any_of(proposals::component_id.nullable(), ids))
        .filter(proposals::published_at.is_null())
        .filter(proposals::hidden_at.is_null())
        .filter(proposals::deleted_at.is_null())
        .select((proposals::component_id, proposals::id, proposals::updated_at))
        .load(connection)
        .await
        .stored()?;
    for (component, id, changed_at) in drafts {
        let resources = found.entry(component).or_default();
        resources.count += 1;
        resources.changed(Some(changed_at));
        let place = resources.first.partition_point(|other| *other < id);
        resources.first.insert(place, id);
        resources.first.truncate(usize::try_from(ComponentDetail::MOST_RESOURCES).unwrap_or(usize::MAX));
    }
    let voted: Vec<(i64, Option<OffsetDateTime>)> = votes::table
        .filter(votes::user_id.eq(user.0))
        .filter(columns::any_of(votes::component_id.nullable(), ids))
        .group_by(votes::component_id)
        .select((votes::component_id, newest(votes::updated_at)))
        .load(connection)
        .await
        .stored()?;
    for (component, voted_at) in voted {
        found.entry(component).or_default().changed(voted_at);
    }
    Ok(())
}
