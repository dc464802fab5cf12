//! The row of a proposal.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::schema::{proposal_authors, proposal_states, proposals};
use civitas_kernel::extended_data::canonical_object;
use civitas_kernel::{ClientId, ComponentId, Error, ProposalId, Result, StateId, Translated, UserId};
use civitas_proposals::{Proposal, PublicState};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use std::collections::HashMap;
use time::OffsetDateTime;

columns! {
    /// A proposal as its row stores it.
    proposals as Proposal;
    read_only { id: i64, public_state: String }
    fields {
        component as component_id: ComponentId,
        title: Translated,
        body: Translated,
        client as api_client_id: Option<ClientId>,
        published_at: Option<OffsetDateTime>,
        state as state_id: Option<StateId>,
        state_published_at: Option<OffsetDateTime>,
        withdrawn_at: Option<OffsetDateTime>,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        scope_id: Option<i64>,
        extended_data: Map<String, Value>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { authors: Vec<UserId> }
    write_only {
        draft_author_id: Option<i64> = |proposal| draft_author(proposal),
        extended_data_text: String = |proposal| canonical_object(&proposal.extended_data),
    }
    write_with { public_state: String }
}

impl Row {
    /// What everybody may know of the state.
    pub(super) fn public_state(&self) -> PublicState {
        match (self.withdrawn_at, self.state_published_at, self.state_id) {
            (Some(_), ..) => PublicState::Withdrawn,
            (None, Some(_), Some(id)) => PublicState::Answered(StateId(id), self.public_state.clone()),
            _ => PublicState::None,
        }
    }
}

/// What to write, with the public token of its state.
pub(super) async fn changeset<'a>(connection: &mut Conn, proposal: &'a Proposal) -> Result<Changeset<'a>> {
    let public_state = public_token(connection, proposal).await?;
    Ok(Changeset::of(proposal, public_state))
}

/// Whose one draft in its component this is.
fn draft_author(proposal: &Proposal) -> Option<i64> {
    let is_draft = proposal.published_at.is_none() && proposal.deleted_at.is_none();
    if is_draft { first(&proposal.authors) } else { None }
}

/// The one who began it. (`first` of a list is Diesel's here.)
fn first(authors: &[UserId]) -> Option<i64> {
    match authors {
        [UserId(first), ..] => Some(*first),
        [] => None,
    }
}

/// The public state token of contract 06 §1.6, kept beside the proposal for filters.
async fn public_token(connection: &mut Conn, proposal: &Proposal) -> Result<String> {
    if proposal.withdrawn_at.is_some() {
        return Ok(PublicState::Withdrawn.token().to_owned());
    }
    let Some(state) = proposal.state.filter(|_| proposal.state_published_at.is_some()) else {
        return Ok(PublicState::None.token().to_owned());
    };
    let token: Option<String> = proposal_states::table
        .filter(proposal_states::id.eq(state.0))
        .filter(proposal_states::component_id.eq(proposal.component.0))
        .select(proposal_states::token)
        .first(connection)
        .await
        .optional()
        .stored()?;
    token.ok_or_else(|| Error::internal(format!("component {} has no state {state}", proposal.component)))
}

#[derive(Insertable)]
#[diesel(table_name = proposal_authors)]
struct Author {
    proposal_id: i64,
    user_id: i64,
    position: i64,
}

/// The authors of these proposals, in the order of joining.
pub(super) async fn authors_of(connection: &mut Conn, ids: &[i64]) -> Result<HashMap<i64, Vec<UserId>>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(i64, i64)> = proposal_authors::table
        .filter(columns::any_of(proposal_authors::proposal_id.nullable(), ids))
        .order((proposal_authors::proposal_id, proposal_authors::position))
        .select((proposal_authors::proposal_id, proposal_authors::user_id))
        .load(connection)
        .await
        .stored()?;
    let mut authors: HashMap<i64, Vec<UserId>> = HashMap::new();
    for (proposal, user) in rows {
        authors.entry(proposal).or_default().push(UserId(user));
    }
    Ok(authors)
}

/// Keeps the authors of a proposal that has none yet. Who is named twice is kept once.
pub(super) async fn add_authors(connection: &mut Conn, id: ProposalId, authors: &[UserId]) -> Result<()> {
    for (position, user) in (0..).zip(authors) {
        diesel::insert_into(proposal_authors::table)
            .values(Author { proposal_id: id.0, user_id: user.0, position })
            .on_conflict_do_nothing()
            .execute(connection)
            .await
            .stored()?;
    }
    Ok(())
}

/// Keeps these authors instead of others.
pub(super) async fn replace_authors(connection: &mut Conn, id: ProposalId, authors: &[UserId]) -> Result<()> {
    let kept = authors_of(connection, &[id.0]).await?.remove(&id.0).unwrap_or_default();
    if kept == authors {
        return Ok(());
    }
    diesel::delete(proposal_authors::table.filter(proposal_authors::proposal_id.eq(id.0)))
        .execute(connection)
        .await
        .stored()?;
    add_authors(connection, id, authors).await
}
