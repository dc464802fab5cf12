//! `proposal`: a proposal, or the draft of one.

use super::super::export::{ExportError, PAGE, Row, Sink};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, fixed, maybe, need, set};
use super::super::record::Record;
use super::super::refs::unknown;
use super::RecordType;
use super::component::component_for;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, Field, OrganizationId, ProposalId, StateId, Translated, UserId};
use civitas_proposals::{Proposal, ProposalAdmin};
use civitas_spaces::ComponentManifest;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) struct Proposals;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProposalRecord {
    component: Field<String>,
    title: Field<Translated>,
    body: Field<Translated>,
    authors: Field<Vec<String>>,
    published_at: Field<Moment>,
    api_client: Field<String>,
    state: Field<String>,
    state_published_at: Field<Moment>,
    withdrawn_at: Field<Moment>,
    hidden_at: Field<Moment>,
    deleted_at: Field<Moment>,
    scope_id: Field<i64>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

/// The component of this ref, which must be one for proposals.
pub(super) async fn proposals_component(
    import: &mut Import<'_>,
    organization: OrganizationId,
    reference: &str,
) -> Result<ComponentId, Fault> {
    component_for(import, organization, reference, ComponentManifest::Proposals, "proposals").await
}

impl ProposalRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Proposal, Fault> {
        let reference = need("component", &self.component)?;
        let component = proposals_component(import, organization, &reference).await?;
        need("title", &self.title)?;
        need("body", &self.body)?;
        Ok(Proposal::draft(component, import.options.now))
    }

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        proposal: &mut Proposal,
    ) -> Result<(), Fault> {
        if let Some(component) = self.component.as_value() {
            let component = import.refs.component(organization, component).await?;
            fixed("component", &Field::Value(component), &proposal.component)?;
        }
        set("title", self.title, &mut proposal.title)?;
        set("body", self.body, &mut proposal.body)?;
        match self.authors {
            Field::Absent => {}
            Field::Null => proposal.authors.clear(),
            Field::Value(said) => proposal.authors = authors(import, organization, &said).await?,
        }
        maybe(self.published_at, &mut proposal.published_at);
        match self.api_client {
            Field::Absent => {}
            Field::Null => proposal.client = None,
            Field::Value(said) => proposal.client = Some(import.refs.client(organization, &said).await?),
        }
        match self.state {
            Field::Absent => {}
            Field::Null => proposal.state = None,
            Field::Value(token) => {
                proposal.state = Some(state(import, organization, proposal.component, &token).await?);
            }
        }
        maybe(self.state_published_at, &mut proposal.state_published_at);
        maybe(self.withdrawn_at, &mut proposal.withdrawn_at);
        maybe(self.hidden_at, &mut proposal.hidden_at);
        maybe(self.deleted_at, &mut proposal.deleted_at);
        maybe(self.scope_id, &mut proposal.scope_id);
        fill(self.extended_data, &mut proposal.extended_data);
        set("created_at", self.created_at, &mut proposal.created_at)?;
        set("updated_at", self.updated_at, &mut proposal.updated_at)
    }
}

async fn authors(
    import: &mut Import<'_>,
    organization: OrganizationId,
    said: &[String],
) -> Result<Vec<UserId>, Fault> {
    let mut authors = Vec::with_capacity(said.len());
    for reference in said {
        let user = import.refs.user(organization, reference).await?;
        if authors.contains(&user) {
            return Err(format!("authors name {reference:?} twice").into());
        }
        authors.push(user);
    }
    Ok(authors)
}

async fn state(
    import: &Import<'_>,
    organization: OrganizationId,
    component: ComponentId,
    token: &str,
) -> Result<StateId, Fault> {
    let found = import.ports.states().find_by_token(organization, component, token).await?;
    found.map(|(id, _)| id).ok_or_else(|| unknown("state", token))
}

#[async_trait]
impl RecordType for Proposals {
    fn name(&self) -> &'static str {
        "proposal"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: ProposalRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let store = import.ports.proposals();
        let before = match record.seen_as(ProposalId) {
            Some(id) => store.find(organization, id).await?.map(|proposal| (id, proposal)),
            None => None,
        };
        let mut proposal = match &before {
            Some((_, proposal)) => proposal.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut proposal).await?;
        let admin = ProposalAdmin { store };
        match before {
            None => Ok(Put::created(admin.create(organization, &proposal).await?)),
            Some((id, old)) if old == proposal => Ok(Put::unchanged(id)),
            Some((id, old)) => {
                if !restamped {
                    proposal.updated_at = import.options.now;
                }
                admin.change(organization, id, &old, proposal).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let mut after = None;
        // Tokens of states, as they are met; a deployment has few.
        let mut tokens: HashMap<StateId, String> = HashMap::new();
        loop {
            let rows = ports.proposals().after(organization, after, PAGE).await?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            after = Some(*last);
            for (id, proposal) in rows {
                let token = match proposal.state {
                    Some(state) => Some(token(ports, organization, state, &mut tokens).await?),
                    None => None,
                };
                sink.write(&row(organization, id, proposal, token))?;
            }
        }
    }
}

async fn token(
    ports: &dyn Ports,
    organization: OrganizationId,
    id: StateId,
    known: &mut HashMap<StateId, String>,
) -> Result<String, ExportError> {
    if let Some(token) = known.get(&id) {
        return Ok(token.clone());
    }
    let state = ports.states().find(organization, id).await?;
    let token = state.map(|state| state.token).unwrap_or_default();
    known.insert(id, token.clone());
    Ok(token)
}

fn row(organization: OrganizationId, id: ProposalId, proposal: Proposal, state: Option<String>) -> Row {
    let authors: Vec<_> = proposal.authors.iter().map(UserId::to_string).collect();
    Row::of(organization, Proposals.name(), id)
        .with("component", proposal.component.to_string())
        .with("title", proposal.title)
        .with("body", proposal.body)
        .with("authors", authors)
        .time("published_at", proposal.published_at)
        .some("api_client", proposal.client.map(|client| client.to_string()))
        .some("state", state)
        .time("state_published_at", proposal.state_published_at)
        .time("withdrawn_at", proposal.withdrawn_at)
        .time("hidden_at", proposal.hidden_at)
        .time("deleted_at", proposal.deleted_at)
        .some("scope_id", proposal.scope_id)
        .unless_empty("extended_data", proposal.extended_data)
        .stamps(proposal.created_at, proposal.updated_at)
}
