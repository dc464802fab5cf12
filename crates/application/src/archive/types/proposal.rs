//! `proposal`: a proposal or a draft.

use super::super::refs::unknown;
use super::{Field, Map, OrganizationId, Ports, Result, Translated, Value, async_trait};
use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_kernel::{ComponentId, ProposalId, StateId, UserId};
use civitas_proposals::{Proposal, ProposalAdmin};
use civitas_spaces::ComponentManifest;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct Proposals {
    /// The tokens of the states of exported proposals.
    tokens: HashMap<StateId, String>,
}

members! { Proposals, "proposal", OrganizationId, ProposalFields, |kind, proposal: Proposal| {
    component: parent(ComponentId),
    title: required(Translated),
    body: required(Translated),
    authors: resolved(
        Vec<String>,
        set_authors,
        with(proposal.authors.iter().map(UserId::to_string).collect::<Vec<_>>())
    ),
    published_at: optional(Moment),
    api_client: resolved(String, set_client, optional(proposal.client.map(|client| client.to_string()))),
    state: resolved(String, set_state, optional(proposal.state.map(|state| kind.token(state)))),
    state_published_at: optional(Moment),
    withdrawn_at: optional(Moment),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    scope_id: optional(i64),
    extended_data: filled(Map<String, Value>),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

impl Proposals {
    pub(super) fn new() -> Self {
        Self { tokens: HashMap::new() }
    }

    fn token(&self, state: StateId) -> &str {
        self.tokens.get(&state).map(String::as_str).unwrap_or_default()
    }
}

async fn set_authors(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    fields: &mut ProposalFields,
    proposal: &mut Proposal,
) -> Result<(), RecordError> {
    match &fields.authors {
        Field::Absent => {}
        Field::Null => proposal.authors.clear(),
        Field::Value(references) => {
            proposal.authors = context.refs.distinct_users(organization, "authors", references).await?;
        }
    }
    Ok(())
}

async fn set_client(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    fields: &mut ProposalFields,
    proposal: &mut Proposal,
) -> Result<(), RecordError> {
    match &fields.api_client {
        Field::Absent => {}
        Field::Null => proposal.client = None,
        Field::Value(client) => proposal.client = Some(context.refs.resolve(organization, client).await?),
    }
    Ok(())
}

/// Finds the state by its token in the component of the proposal.
async fn set_state(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    fields: &mut ProposalFields,
    proposal: &mut Proposal,
) -> Result<(), RecordError> {
    match &fields.state {
        Field::Absent => {}
        Field::Null => proposal.state = None,
        Field::Value(token) => {
            let store = context.ports.states();
            let (id, _) = store
                .find_by_token(organization, proposal.component, token)
                .await?
                .ok_or_else(|| unknown("state", token))?;
            proposal.state = Some(id);
        }
    }
    Ok(())
}

#[async_trait]
impl RecordKind for Proposals {
    type Id = ProposalId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: ProposalId) -> Result<Option<Proposal>> {
        ports.proposals().find(of, id).await
    }

    /// Also loads the tokens of the states of the page.
    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<ProposalId>) -> Rows<Self> {
        let rows = ports.proposals().after(of, after, PAGE).await?;
        for state in rows.iter().filter_map(|(_, proposal)| proposal.state) {
            if let Entry::Vacant(entry) = self.tokens.entry(state) {
                let found = ports.states().find(of, state).await?;
                entry.insert(found.map(|state| state.token).unwrap_or_default());
            }
        }
        Ok(rows)
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        fields: &ProposalFields,
    ) -> Result<Proposal, RecordError> {
        let manifest = ComponentManifest::Proposals;
        let component = context.refs.component_for(of, &fields.component, manifest, "proposals").await?;
        required("title", &fields.title)?;
        required("body", &fields.body)?;
        Ok(Proposal::draft(component, context.options.now))
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        proposal: &Proposal,
    ) -> Result<ProposalId, RecordError> {
        Ok(ProposalAdmin { store: context.ports.proposals() }.create(of, proposal).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (id, old): &Found<Self>,
        proposal: Proposal,
    ) -> Result<(), RecordError> {
        Ok(ProposalAdmin { store: context.ports.proposals() }.change(of, *id, old, proposal).await?)
    }
}
