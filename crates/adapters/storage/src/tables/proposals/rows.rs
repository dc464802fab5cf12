//! A proposal as its row holds it.

use crate::columns::{self, Document};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::schema::{proposal_authors, proposal_states, proposals};
use civitas_kernel::extended_data::canonical_text;
use civitas_kernel::{ClientId, ComponentId, Error, ProposalId, Result, StateId, Translated, UserId};
use civitas_proposals::{Proposal, PublicState};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use std::collections::HashMap;
use time::OffsetDateTime;

#[derive(Queryable, Selectable)]
#[diesel(table_name = proposals, check_for_backend(Db))]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) component_id: i64,
    title: Document<Translated>,
    body: Document<Translated>,
    api_client_id: Option<i64>,
    published_at: Option<OffsetDateTime>,
    state_id: Option<i64>,
    state_published_at: Option<OffsetDateTime>,
    public_state: String,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    scope_id: Option<i64>,
    extended_data: Document<Map<String, Value>>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
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

    /// The proposal with its authors.
    pub(super) fn by(self, authors: Vec<UserId>) -> Proposal {
        Proposal {
            component: ComponentId(self.component_id),
            title: self.title.0,
            body: self.body.0,
            authors,
            client: self.api_client_id.map(ClientId),
            published_at: self.published_at,
            state: self.state_id.map(StateId),
            state_published_at: self.state_published_at,
            withdrawn_at: self.withdrawn_at,
            hidden_at: self.hidden_at,
            deleted_at: self.deleted_at,
            scope_id: self.scope_id,
            extended_data: self.extended_data.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = proposals, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct Written<'a> {
    component_id: i64,
    title: Document<&'a Translated>,
    body: Document<&'a Translated>,
    api_client_id: Option<i64>,
    draft_author_id: Option<i64>,
    published_at: Option<OffsetDateTime>,
    state_id: Option<i64>,
    state_published_at: Option<OffsetDateTime>,
    public_state: String,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    scope_id: Option<i64>,
    extended_data: Document<&'a Map<String, Value>>,
    extended_data_text: String,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl<'a> Written<'a> {
    /// What to write, with the token everybody may know and the author whose one draft this is.
    pub(super) async fn of(connection: &mut Conn, proposal: &'a Proposal) -> Result<Self> {
        let is_draft = proposal.published_at.is_none() && proposal.deleted_at.is_none();
        Ok(Self {
            component_id: proposal.component.0,
            title: Document(&proposal.title),
            body: Document(&proposal.body),
            api_client_id: proposal.client.map(|id| id.0),
            draft_author_id: is_draft.then(|| first(&proposal.authors)).flatten(),
            published_at: proposal.published_at,
            state_id: proposal.state.map(|id| id.0),
            state_published_at: proposal.state_published_at,
            public_state: public_token(connection, proposal).await?,
            withdrawn_at: proposal.withdrawn_at,
            hidden_at: proposal.hidden_at,
            deleted_at: proposal.deleted_at,
            scope_id: proposal.scope_id,
            extended_data: Document(&proposal.extended_data),
            extended_data_text: canonical_text(&Value::Object(proposal.extended_data.clone())),
            created_at: proposal.created_at,
            updated_at: proposal.updated_at,
        })
    }
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
