//! The states of proposals.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::records::records;
use crate::schema::{proposal_states, proposals};
use crate::scoped::scoped;
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, OrganizationId, Result, StateId, Translated};
use civitas_proposals::{ProposalState, StateStore};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

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
    }
}

scoped! { proposal_states }

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
        .execute(connection)
        .await
        .stored()
        .map(drop)
}

records! {
    proposal_states: StateId => ProposalState;
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
        let row: Option<Row> = of(organization)
            .filter(proposal_states::component_id.eq(component.0))
            .filter(proposal_states::token.eq(token))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .found()?;
        Ok(row.map(Into::into))
    }

    async fn of_component(
        &self,
        organization: OrganizationId,
        component: ComponentId,
        limit: i64,
    ) -> Result<Vec<(StateId, ProposalState)>> {
        let rows: Vec<Row> = of(organization)
            .filter(proposal_states::component_id.eq(component.0))
            .order(proposal_states::token)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
