//! `proposal`: a proposal or a draft.

use super::{
    ExportedPerson, ExtendedDataValue, Import, ImportContext, ImportResult, OrganizationId,
    OrganizationRecordKind, PAGE, PatchField, Ports, RecordKind, Result, Rows, StoredRecord, Timestamp,
    Translated, async_trait, members, required,
};
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{ComponentId, ProposalId, StateId};
use civitas_proposals::{Proposal, ProposalAdministration};
use civitas_spaces::ComponentKind;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct ProposalRecordType {
    /// The tokens of the states of exported proposals.
    tokens: HashMap<StateId, String>,
}

members! { ProposalRecordType, "proposal", OrganizationId, ProposalFields, |kind, proposal: Proposal| {
    component: parent(ComponentId),
    title: required(Translated),
    body: required(Translated),
    authors: users(with),
    published_at: optional(Timestamp),
    api_client: reference(client),
    state: resolved(String, set_state, with_optional(proposal.state.map(|state| kind.token(state)))),
    state_published_at: optional(Timestamp),
    withdrawn_at: optional(Timestamp),
    hidden_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    scope_id: optional(i64),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

impl ProposalRecordType {
    pub(super) fn new() -> Self {
        Self { tokens: HashMap::new() }
    }

    fn token(&self, state: StateId) -> &str {
        self.tokens.get(&state).map(String::as_str).unwrap_or_default()
    }
}

/// Finds the state by its token in the component of the proposal.
async fn set_state(
    import: &mut Import<'_, '_, ProposalRecordType>,
    fields: &mut ProposalFields,
    proposal: &mut Proposal,
) -> ImportResult {
    match &fields.state {
        PatchField::Absent => {}
        PatchField::Null => proposal.state = None,
        PatchField::Value(token) => {
            let refs = &mut import.context.refs;
            proposal.state = Some(refs.state(import.owner, proposal.component, token).await?);
        }
    }
    Ok(())
}

#[async_trait]
impl OrganizationRecordKind for ProposalRecordType {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Proposal> {
        ports.proposals()
    }

    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdministration<Proposal> + 'a> {
        let ports = context.ports;
        Box::new(ProposalAdministration { store: ports.proposals() })
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
impl RecordKind for ProposalRecordType {
    const IN_BATCHES: bool = true;

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ProposalFields,
    ) -> ImportResult<Proposal> {
        let component = import.component(&fields.component, ComponentKind::Proposals, "proposals").await?;
        required("title", &fields.title)?;
        required("body", &fields.body)?;
        Ok(Proposal::draft(component, import.context.options.now))
    }

    fn belongs_to_person(
        &self,
        person: &mut ExportedPerson,
        (id, proposal): &mut StoredRecord<Self>,
    ) -> bool {
        person.add_if_author(*id, proposal.authors.contains(&person.id))
    }
}
