//! `proposal_state`: a state of a proposals component. Built-in states exist with the component; a record with the
//! token of a built-in state changes how that state is shown.

use super::{Import, ImportResult, RecordKind, StoredRecord, Timestamp, members, required};
use super::{PatchField, Translated, async_trait};
use civitas_kernel::{ComponentId, StateId};
use civitas_proposals::ProposalState;
use civitas_spaces::ComponentKind;

pub(super) struct ProposalStateRecordType;

members! { ProposalStateRecordType, "proposal_state", ports.states(), ProposalStateFields, |kind, state: ProposalState| {
    component: parent(ComponentId),
    token: fixed(String),
    title: required(Translated),
    bg_color: optional(String),
    text_color: optional(String),
    updated_at: required(Timestamp),
}}

/// Gives a built-in state the id that the record brings. The component has it without a record, under another id.
async fn keep_id(import: &mut Import<'_, '_, ProposalStateRecordType>, id: StateId) -> ImportResult<StateId> {
    let Some(own) = import.context.ids.own.filter(|own| *own != id.0) else { return Ok(id) };
    import.context.ids.check_free(import.context.ports, "proposal_state", &[own]).await?;
    let to = StateId(own);
    if import.context.ports.states().renumber(import.owner, id, to).await? {
        import.context.refs.forget_states();
        return Ok(to);
    }
    // Proposals have it.
    import.context.ids.check_same(Some(id.0))?;
    Ok(id)
}

#[async_trait]
impl RecordKind for ProposalStateRecordType {
    /// By id, else by component and token. Checks the kind of the component.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<StateId>,
        fields: &ProposalStateFields,
    ) -> ImportResult<Option<StoredRecord<Self>>> {
        let component = if fields.component.as_value().is_some() {
            Some(import.component(&fields.component, ComponentKind::Proposals, "proposals").await?)
        } else {
            None
        };
        if let Some(found) = self.find_by_id(import, id).await? {
            return Ok(Some(found));
        }
        let (Some(component), PatchField::Value(token)) = (component, &fields.token) else { return Ok(None) };
        match import.context.ports.states().find_by_token(import.owner, component, token).await? {
            Some(_) if !ProposalState::BUILT_IN_STATES.contains(&token.as_str()) => {
                Err(format!("token {token:?} has already been taken").into())
            }
            Some((id, _)) => {
                let id = keep_id(import, id).await?;
                self.find_by_id(import, Some(id)).await
            }
            None => Ok(None),
        }
    }

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ProposalStateFields,
    ) -> ImportResult<ProposalState> {
        let component = import.required_ref("component", &fields.component).await?;
        let (token, title) = (required("token", &fields.token)?, required("title", &fields.title)?);
        if token.trim().is_empty() {
            return Err("token must not be blank".into());
        }
        Ok(ProposalState {
            component,
            token,
            title,
            bg_color: None,
            text_color: None,
            updated_at: import.context.options.now,
        })
    }
}
