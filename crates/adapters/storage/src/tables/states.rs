//! The states of proposals.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::{Stored, changed};
use crate::schema::{proposal_states, proposals};
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, Error, Locale, OrganizationId, Result, StateId, Translated};
use civitas_proposals::{ProposalState, StateStore};
use diesel::dsl::{Eq, Filter};
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

const TAKEN: &str = "token has already been taken";

type Scoped = Filter<proposal_states::table, Eq<proposal_states::organization_id, i64>>;

/// The states of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    proposal_states::table.filter(proposal_states::organization_id.eq(organization.0))
}

/// The titles of the states every proposals component has.
fn built_in_title(token: &str) -> Translated {
    let [en, fr, es] = match token {
        "not_answered" => ["Not answered", "Sans réponse", "Sin respuesta"],
        "evaluating" => ["Evaluating", "En cours d’évaluation", "En evaluación"],
        "accepted" => ["Accepted", "Acceptée", "Aceptada"],
        _ => ["Rejected", "Rejetée", "Rechazada"],
    };
    [(Locale::EN, en), (Locale::FR, fr), (Locale::ES, es)].map(|(l, text)| (l, text.to_owned())).into()
}

/// Gives a new proposals component its states.
pub(super) async fn add_built_in(
    connection: &mut Conn,
    organization: OrganizationId,
    component: ComponentId,
) -> Result<()> {
    for token in ProposalState::BUILT_IN {
        let title = built_in_title(token);
        let state =
            ProposalState { component, token: token.to_owned(), title, bg_color: None, text_color: None };
        diesel::insert_into(proposal_states::table)
            .values((proposal_states::organization_id.eq(organization.0), Changeset::of(&state)))
            .execute(connection)
            .await
            .stored()?;
    }
    Ok(())
}

#[async_trait]
impl StateStore for Session {
    async fn find(&self, organization: OrganizationId, id: StateId) -> Result<Option<ProposalState>> {
        let row: Option<Row> = of(organization)
            .filter(proposal_states::id.eq(id.0))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(StateId, ProposalState)>::from(row).1))
    }

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
            .optional()
            .stored()?;
        Ok(row.map(Into::into))
    }

    async fn add(&self, organization: OrganizationId, state: &ProposalState) -> Result<StateId> {
        let id: Option<i64> = diesel::insert_into(proposal_states::table)
            .values((proposal_states::organization_id.eq(organization.0), Changeset::of(state)))
            .on_conflict_do_nothing()
            .returning(proposal_states::id)
            .get_result(&mut *self.write().await?)
            .await
            .optional()
            .stored()?;
        id.map(StateId).ok_or_else(|| Error::rejected(TAKEN))
    }

    async fn save(&self, organization: OrganizationId, id: StateId, state: &ProposalState) -> Result<()> {
        let atomic = self.atomic().await?;
        diesel::update(of(organization).filter(proposal_states::id.eq(id.0)))
            .set(Changeset::of(state))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored_unless_taken(TAKEN)
            .and_then(changed)?;
        // Proposals keep the token of their public answer beside it.
        let answered = proposals::table
            .filter(proposals::component_id.eq(state.component.0))
            .filter(proposals::state_id.eq(id.0))
            .filter(proposals::state_published_at.is_not_null())
            .filter(proposals::withdrawn_at.is_null())
            .filter(proposals::public_state.ne(&state.token));
        diesel::update(answered)
            .set(proposals::public_state.eq(&state.token))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()?;
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<StateId>,
        limit: i64,
    ) -> Result<Vec<(StateId, ProposalState)>> {
        let rows: Vec<Row> = of(organization)
            .filter(proposal_states::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(proposal_states::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
