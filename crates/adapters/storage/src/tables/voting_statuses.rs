//! The voting status of users in proposals components (contract 05 §3.8).

use super::components::is_in_space;
use super::planner::without_index;
use super::proposals::authors::written_by;
use super::select::correlated;
use crate::columns;
use crate::engine::Conn;
use crate::schema::{components, proposal_counts, proposals, spaces, votes};
use crate::session::{LoadRowsExt, borrowed_connection};
use crate::visibility::VisibilityRule;
use civitas_kernel::{ClientId, ComponentId, OrganizationId, ProposalId, Result, UserId};
use civitas_proposals::{VoteTally, VotingStatus};
use diesel::dsl::count_star;
use diesel::prelude::*;
use std::collections::HashMap;

/// The voting status of a user in each of these components, by id.
pub(super) async fn load_for_user(
    connection: &mut Conn,
    organization: OrganizationId,
    user: UserId,
    client: ClientId,
    components: &[ComponentId],
) -> Result<Vec<VotingStatus>> {
    let ids: Vec<i64> = components.iter().map(|id| id.0).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut tallies = tallies(connection, user, &ids).await?;
    let rows = own_votes(connection, organization, user, client, &ids).await?;
    let voting_statuses = rows.into_iter().map(|row| VotingStatus {
        component: ComponentId(row.component),
        published: row.published.unwrap_or_default(),
        votes: row.votes.unwrap_or_default(),
        draft: row.draft.map(ProposalId),
        participates: row.participates.unwrap_or_default(),
        tallies: tallies.remove(&row.component).unwrap_or_default(),
    });
    Ok(voting_statuses.collect())
}

#[derive(Queryable)]
struct OwnVotes {
    component: i64,
    published: Option<i64>,
    votes: Option<i64>,
    draft: Option<i64>,
    participates: Option<bool>,
}

/// The votes of the user in each component.
async fn own_votes(
    connection: &mut Conn,
    organization: OrganizationId,
    user: UserId,
    client: ClientId,
    ids: &[i64],
) -> Result<Vec<OwnVotes>> {
    let of_user = || written_by(user.0).filter(without_index(proposals::component_id).eq(components::id));
    let published = of_user().filter(proposals::published_at.is_not_null()).select(count_star());
    let voted = votes::table
        .filter(votes::user_id.eq(user.0))
        .filter(votes::component_id.eq(components::id))
        .select(count_star());
    let draft = of_user()
        .filter(proposals::published_at.is_null())
        .filter(proposals::hidden_at.is_null())
        .filter(without_index(proposals::api_client_id).eq(client.0))
        .order(proposals::id)
        .limit(1)
        .select(proposals::id);
    components::table
        .inner_join(spaces::table.on(is_in_space()))
        .filter(components::organization_id.eq(organization.0))
        .filter(columns::any_of(components::id.nullable(), ids))
        .order(components::id)
        .select((
            components::id,
            correlated(published),
            correlated(voted),
            correlated(draft),
            VisibilityRule::Participates(Some(user)),
        ))
        .rows_from(borrowed_connection(connection))
        .await
}

/// How many published, visible proposals each component has by public state, and how many of them the user has
/// voted on: stored counts, and a count of the user's votes along an index.
async fn tallies(connection: &mut Conn, user: UserId, ids: &[i64]) -> Result<HashMap<i64, Vec<VoteTally>>> {
    let totals: Vec<(i64, String, i64)> = proposal_counts::table
        .filter(columns::any_of(proposal_counts::component_id.nullable(), ids))
        .filter(proposal_counts::shown.gt(0))
        .order((proposal_counts::component_id, proposal_counts::public_state))
        .select((proposal_counts::component_id, proposal_counts::public_state, proposal_counts::shown))
        .rows_from(borrowed_connection(connection))
        .await?;
    let voted: Vec<(i64, String, i64)> = votes::table
        .inner_join(proposals::table)
        .filter(votes::user_id.eq(user.0))
        .filter(columns::any_of(votes::component_id.nullable(), ids))
        .filter(proposals::published_at.is_not_null())
        .filter(proposals::hidden_at.is_null())
        .filter(proposals::deleted_at.is_null())
        .group_by((proposals::component_id, proposals::public_state))
        .select((proposals::component_id, proposals::public_state, count_star()))
        .rows_from(borrowed_connection(connection))
        .await?;
    let mut voted: HashMap<(i64, String), i64> =
        voted.into_iter().map(|(component, token, count)| ((component, token), count)).collect();
    let mut tallies: HashMap<i64, Vec<VoteTally>> = HashMap::new();
    for (component, token, proposals) in totals {
        let voted = voted.remove(&(component, token.clone())).unwrap_or_default();
        tallies.entry(component).or_default().push(VoteTally { token, proposals, voted });
    }
    Ok(tallies)
}
