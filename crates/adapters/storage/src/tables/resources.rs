//! What stands in components, as a component names it (contract 05 §3.4, §3.7).

use crate::correlated::Correlated;
use crate::engine::{Conn, sql};
use crate::failure::Stored;
use crate::schema::{components, proposal_authors, proposals, votes};
use civitas_kernel::{Result, Sight, UserId};
use civitas_spaces::{ComponentDetail, ComponentManifest};
use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use diesel_async::RunQueryDsl;
use std::collections::HashMap;
use time::OffsetDateTime;

diesel::alias!(proposals as earlier: Earlier);

#[diesel::declare_sql_function]
extern "SQL" {
    /// The newest of several moments.
    #[aggregate]
    #[sql_name = "max"]
    fn newest(x: sql::Moment) -> Nullable<sql::Moment>;
    /// The number, or another where there is none.
    #[sql_name = "coalesce"]
    fn or(x: Nullable<BigInt>, y: BigInt) -> BigInt;
}

/// The visible resources of one component.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The first [`ComponentDetail::MOST_RESOURCES`], by id.
    pub(super) first: Vec<i64>,
    /// How many there are.
    pub(super) count: i64,
    /// The newest change of one of them, or of a vote of the reader in the component.
    pub(super) changed_at: Option<OffsetDateTime>,
}

impl Resources {
    fn changed(&mut self, at: Option<OffsetDateTime>) {
        self.changed_at = self.changed_at.max(at);
    }
}

/// The visible resources of visible components. Of a token's user also the own drafts and votes.
pub(super) async fn of_components(
    connection: &mut Conn,
    sight: Sight,
    components: &[(i64, ComponentManifest)],
) -> Result<HashMap<i64, Resources>> {
    let of_kind = |kind| components.iter().filter(move |(_, manifest)| *manifest == kind).map(|(id, _)| *id);
    let with_proposals: Vec<i64> = of_kind(ComponentManifest::Proposals).collect();
    let mut found = HashMap::new();
    if with_proposals.is_empty() {
        return Ok(found);
    }
    published(connection, &with_proposals, &mut found).await?;
    if let Some(user) = sight.participant {
        own(connection, user, &with_proposals, &mut found).await?;
    }
    Ok(found)
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
    // Where the list of a component ends, found by its index: what stands beyond is not read.
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

/// The drafts of a user, whatever client created them, and when the user last voted.
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
