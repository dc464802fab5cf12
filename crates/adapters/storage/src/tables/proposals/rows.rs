//! The row of a proposal.

use crate::columns::columns;
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::schema::{proposal_states, proposals};
use civitas_kernel::extended_data::{ExtendedDataValue, canonical_object};
use civitas_kernel::{ClientId, ComponentId, Error, OrganizationId, Result, StateId, Translated, UserId};
use civitas_proposals::{Proposal, PublicState};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use std::collections::HashMap;
use time::OffsetDateTime;

columns! {
    /// A proposal as its row stores it.
    proposals as Proposal;
    read_only { id: i64, public_state: String, votes_count: i64, votes_changed_at: Option<OffsetDateTime> }
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
        extended_data: ExtendedDataValue,
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
    /// The public part of the state.
    pub(super) fn public_state(&self) -> PublicState {
        match (self.withdrawn_at, self.state_published_at, self.state_id) {
            (Some(_), ..) => PublicState::Withdrawn,
            (None, Some(_), Some(id)) => PublicState::Answered(StateId(id), self.public_state.clone()),
            _ => PublicState::None,
        }
    }
}

/// The columns to write, with the public token of its state.
pub(super) async fn changeset<'a>(
    connection: &mut Conn,
    _: OrganizationId,
    proposal: &'a Proposal,
) -> Result<Changeset<'a>> {
    let public_state = public_token(connection, proposal).await?;
    Ok(Changeset::new(proposal, public_state))
}

/// The same for several proposals. Reads each state once.
pub(super) async fn changesets<'a>(
    connection: &mut Conn,
    _: OrganizationId,
    proposals: &'a [Proposal],
) -> Result<Vec<Changeset<'a>>> {
    let mut tokens: HashMap<(StateId, ComponentId), String> = HashMap::new();
    let mut changesets = Vec::with_capacity(proposals.len());
    for proposal in proposals {
        let is_public = proposal.withdrawn_at.is_none() && proposal.state_published_at.is_some();
        let state = proposal.state.filter(|_| is_public).map(|state| (state, proposal.component));
        let public_state = match state.and_then(|state| tokens.get(&state)) {
            Some(token) => token.clone(),
            None => public_token(connection, proposal).await?,
        };
        if let Some(state) = state {
            tokens.entry(state).or_insert_with(|| public_state.clone());
        }
        changesets.push(Changeset::new(proposal, public_state));
    }
    Ok(changesets)
}

/// The first author of a draft, who may have one draft in a component; `None` for other proposals.
fn draft_author(proposal: &Proposal) -> Option<i64> {
    let is_draft = proposal.published_at.is_none() && proposal.deleted_at.is_none();
    if is_draft { first(&proposal.authors) } else { None }
}

/// The first author. (`first` of a list is Diesel's here.)
fn first(authors: &[UserId]) -> Option<i64> {
    match authors {
        [UserId(first), ..] => Some(*first),
        [] => None,
    }
}

/// The public state token of contract 06 §1.6, stored with the proposal for filters.
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
        .optional_row()?;
    token.ok_or_else(|| Error::internal(format!("component {} has no state {state}", proposal.component)))
}
