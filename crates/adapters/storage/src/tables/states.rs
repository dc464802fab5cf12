//! The states of proposals.

use crate::columns::columns;
use crate::engine::Conn;
use crate::records::records;
use crate::schema::{proposal_states, proposals};
use crate::session::{ExecuteExt, LoadModelsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_kernel::{ComponentId, OrganizationId, Result, StateId, Translated};
use civitas_proposals::{ProposalState, StateStore};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A state as its row stores it.
    proposal_states as ProposalState;
    id StateId;
    fields {
        component as component_id: ComponentId,
        token: String,
        title: Translated,
        bg_color: Option<String>,
        text_color: Option<String>,
        updated_at: OffsetDateTime,
    }
}

/// Writes the token into the proposals that have the state as public answer: `public_state` is a copy of it, for
/// filters and indices.
async fn write_public_tokens(
    connection: &mut Conn,
    _: OrganizationId,
    id: StateId,
    before: Option<&ProposalState>,
    after: &ProposalState,
) -> Result<()> {
    if before.is_none_or(|before| before.token == after.token) {
        return Ok(());
    }
    let answered = proposals::table
        .filter(proposals::component_id.eq(after.component.0))
        .filter(proposals::state_id.eq(id.0))
        .filter(proposals::state_published_at.is_not_null())
        .filter(proposals::withdrawn_at.is_null());
    diesel::update(answered)
        .set(proposals::public_state.eq(&after.token))
        .done_on(borrowed_connection(connection))
        .await
}

records! {
    scoped proposal_states: StateId => ProposalState;
    write write_public_tokens;
}

#[async_trait]
impl StateStore for Session {
    async fn find_by_token(
        &self,
        organization: OrganizationId,
        component: ComponentId,
        token: &str,
    ) -> Result<Option<(StateId, ProposalState)>> {
        rows_of(organization)
            .filter(proposal_states::component_id.eq(component.0))
            .filter(proposal_states::token.eq(token))
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn renumber(&self, organization: OrganizationId, id: StateId, to: StateId) -> Result<bool> {
        let used = proposals::table.filter(proposals::state_id.eq(id.0));
        diesel::update(rows_of(organization).filter(proposal_states::id.eq(id.0)).filter(not(exists(used))))
            .set(proposal_states::id.eq(to.0))
            .any_on(self.write())
            .await
    }

    async fn list_of_component(
        &self,
        organization: OrganizationId,
        component: ComponentId,
        limit: i64,
    ) -> Result<Vec<(StateId, ProposalState)>> {
        rows_of(organization)
            .filter(proposal_states::component_id.eq(component.0))
            .order(proposal_states::token)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
