//! `proposal`: a proposal or a draft.

use super::{ExtendedDataValue, Field, OrganizationId, Ports, Result, Translated, async_trait};
use super::{
    Import, ImportContext, Imported, Moment, OrganizationKind, PAGE, Person, RecordKind, Rows, StoredRecord,
    members, required,
};
use civitas_kernel::records::{RecordAdmin, Records};
use civitas_kernel::{ComponentId, ProposalId, StateId};
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
    authors: users(with),
    published_at: optional(Moment),
    api_client: reference(client),
    state: resolved(String, set_state, optional(proposal.state.map(|state| kind.token(state)))),
    state_published_at: optional(Moment),
    withdrawn_at: optional(Moment),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    scope_id: optional(i64),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

impl Proposals {
    pub(super) fn new() -> Self {
        Self { tokens: HashMap::new() }
    }

    fn token(&self, state: StateId) -> &str {
        self.tokens.get(&state).map(String::as_str).unwrap_or_default()
    }
}

/// Finds the state by its token in the component of the proposal.
async fn set_state(
    import: &mut Import<'_, '_, Proposals>,
    fields: &mut ProposalFields,
    proposal: &mut Proposal,
) -> Imported {
    match &fields.state {
        Field::Absent => {}
        Field::Null => proposal.state = None,
        Field::Value(token) => {
            let refs = &mut import.context.refs;
            proposal.state = Some(refs.state(import.owner, proposal.component, token).await?);
        }
    }
    Ok(())
}

#[async_trait]
impl OrganizationKind for Proposals {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Proposal> {
        ports.proposals()
    }

    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdmin<Proposal> + 'a> {
        let ports = context.ports;
        Box::new(ProposalAdmin { store: ports.proposals() })
    }

    /// Also loads the tokens of the states of the page.
    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<ProposalId>) -> Rows<Self> {
        let rows = ports.proposals().page_after(of, after, PAGE).await?;
        for state in rows.iter().filter_map(|(_, proposal)| proposal.state) {
            if let Entry::Vacant(entry) = self.tokens.entry(state) {
                let found = ports.states().find(of, state).await?;
                entry.insert(found.map(|state| state.token).unwrap_or_default());
            }
        }
        Ok(rows)
    }
}

#[async_trait]
impl RecordKind for Proposals {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &ProposalFields) -> Imported<Proposal> {
        let component =
            import.component(&fields.component, ComponentManifest::Proposals, "proposals").await?;
        required("title", &fields.title)?;
        required("body", &fields.body)?;
        Ok(Proposal::draft(component, import.context.options.now))
    }

    fn is_of_person(&self, person: &mut Person, (id, proposal): &mut StoredRecord<Self>) -> bool {
        person.has_written(*id, proposal.authors.contains(&person.id))
    }
}
