//! The resources that a component lists and counts (contract 05 §3.4, §3.7).

use crate::columns::Condition;
use crate::correlated::Correlated;
use crate::engine::{Conn, Db, sql};
use crate::failure::Stored;
use crate::schema::{components, proposal_authors, proposals, votes};
use crate::visibility::Rule;
use civitas_kernel::{ReadContext, Result, UserId, clock};
use civitas_spaces::{ComponentDetail, ComponentManifest};
use diesel::dsl::count_star;
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
    /// The number, or another one for null.
    #[sql_name = "coalesce"]
    fn or(x: Nullable<BigInt>, y: BigInt) -> BigInt;
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
        shown_in(connection, table, shown, ids, &mut found).await?;
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

/// The rows of a table that components list, each with the number in its component and the time of their latest change.
/// The table has `id`, `component_id` and `updated_at`.
struct Named {
    table: &'static str,
    shown: Rule,
    components: Condition<components::table>,
}

impl Query for Named {
    type SqlType = (BigInt, BigInt, BigInt, sql::Moment);
}

/// The text depends on the table, so statements are cached by their text.
impl QueryId for Named {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Db> for Named {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let Self { table, .. } = self;
        let in_component = format!("(PARTITION BY {table}.component_id)");
        pass.push_sql(&format!(
            "SELECT component_id, id, total, changed_at FROM (SELECT {table}.component_id, {table}.id, \
             count(*) OVER {in_component} AS total, max({table}.updated_at) OVER {in_component} AS changed_at, \
             row_number() OVER (PARTITION BY {table}.component_id ORDER BY {table}.id) AS place \
             FROM {table} INNER JOIN components ON components.id = {table}.component_id \
             INNER JOIN spaces ON spaces.manifest = components.space_manifest AND spaces.id = components.space_id \
             WHERE "
        ));
        self.components.walk_ast(pass.reborrow())?;
        pass.push_sql(" AND ");
        self.shown.walk_ast(pass.reborrow())?;
        pass.push_sql(") AS named WHERE place <= ");
        pass.push_bind_param::<BigInt, _>(&ComponentDetail::MOST_RESOURCES)?;
        pass.push_sql(" ORDER BY id");
        Ok(())
    }
}

/// The rows of a table that these components list and count.
async fn shown_in(
    connection: &mut Conn,
    table: &'static str,
    shown: Rule,
    ids: Vec<i64>,
    found: &mut HashMap<i64, Resources>,
) -> Result<()> {
    let components: Condition<components::table> = Box::new(components::id.eq_any(ids).nullable());
    let rows: Vec<(i64, i64, i64, OffsetDateTime)> =
        Named { table, shown, components }.load(connection).await.stored()?;
    for (component, id, count, changed_at) in rows {
        let resources = found.entry(component).or_default();
        resources.first.push(id);
        resources.count = count;
        resources.changed(Some(changed_at));
    }
    Ok(())
}

/// The published proposals that are neither hidden nor deleted.
async fn published(connection: &mut Conn, ids: &[i64], found: &mut HashMap<i64, Resources>) -> Result<()> {
    let shown = || {
        let published = proposals::published_at.is_not_null();
        published.and(proposals::hidden_at.is_null()).and(proposals::deleted_at.is_null())
    };
    let totals: Vec<(i64, i64, Option<OffsetDateTime>)> = proposals::table
        .filter(proposals::component_id.eq_any(ids))
        .filter(shown())
        .group_by(proposals::component_id)
        .select((proposals::component_id, count_star(), newest(proposals::updated_at)))
        .load(connection)
        .await
        .stored()?;
    for (component, count, changed_at) in totals {
        found.insert(component, Resources { first: Vec::new(), count, changed_at });
    }
    // The end of the list of a component, found by its index: rows after it are not read.
    let last_named = earlier
        .filter(earlier.field(proposals::component_id).eq(components::id))
        .filter(earlier.field(proposals::published_at).is_not_null())
        .filter(earlier.field(proposals::hidden_at).is_null())
        .filter(earlier.field(proposals::deleted_at).is_null())
        .order(earlier.field(proposals::id))
        .offset(ComponentDetail::MOST_RESOURCES - 1)
        .limit(1)
        .select(earlier.field(proposals::id));
    let named: Vec<(i64, i64)> = components::table
        .inner_join(proposals::table)
        .filter(components::id.eq_any(ids))
        .filter(shown())
        .filter(proposals::id.le(or(Correlated(last_named), i64::MAX)))
        .order(proposals::id)
        .select((components::id, proposals::id))
        .load(connection)
        .await
        .stored()?;
    for (component, id) in named {
        found.entry(component).or_default().first.push(id);
    }
    Ok(())
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
        .filter(proposals::component_id.eq_any(ids))
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
        .filter(votes::component_id.eq_any(ids))
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
