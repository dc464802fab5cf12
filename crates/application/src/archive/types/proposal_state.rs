//! `proposal_state`: a state a proposals component owns. The built-in ones come with the component; a record of
//! such a token changes how it is shown.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{fixed, maybe, need, set};
use super::super::record::Record;
use super::RecordType;
use super::proposal::proposals_component;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, Field, OrganizationId, StateId, Translated};
use civitas_proposals::ProposalState;
use serde::Deserialize;

pub(super) struct ProposalStates;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProposalStateRecord {
    component: Field<String>,
    token: Field<String>,
    title: Field<Translated>,
    bg_color: Field<String>,
    text_color: Field<String>,
}

impl ProposalStateRecord {
    fn begin(&self, component: Option<ComponentId>) -> Result<ProposalState, Fault> {
        let component = component.ok_or("component is required")?;
        let (token, title) = (need("token", &self.token)?, need("title", &self.title)?);
        if token.trim().is_empty() {
            return Err("token must not be blank".into());
        }
        Ok(ProposalState { component, token, title, bg_color: None, text_color: None })
    }

    fn apply(self, state: &mut ProposalState) -> Result<(), Fault> {
        fixed("token", &self.token, &state.token)?;
        set("title", self.title, &mut state.title)?;
        maybe(self.bg_color, &mut state.bg_color);
        maybe(self.text_color, &mut state.text_color);
        Ok(())
    }
}

/// The state a record stands for: the one its ref was remembered for, else the built-in one of its token.
async fn find(
    import: &Import<'_>,
    organization: OrganizationId,
    record: &Record,
    component: Option<ComponentId>,
    token: &Field<String>,
) -> Result<Option<(StateId, ProposalState)>, Fault> {
    let store = import.ports.states();
    if let Some(id) = record.seen_as(StateId)
        && let Some(state) = store.find(organization, id).await?
    {
        return Ok(Some((id, state)));
    }
    let (Some(component), Field::Value(token)) = (component, token) else { return Ok(None) };
    match store.find_by_token(organization, component, token).await? {
        Some(_) if !ProposalState::BUILT_IN.contains(&token.as_str()) => {
            Err(format!("token {token:?} has already been taken").into())
        }
        found => Ok(found),
    }
}

#[async_trait]
impl RecordType for ProposalStates {
    fn name(&self) -> &'static str {
        "proposal_state"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: ProposalStateRecord = record.members()?;
        let component = match said.component.as_value() {
            Some(component) => Some(proposals_component(import, organization, component).await?),
            None => None,
        };
        let before = find(import, organization, &record, component, &said.token).await?;
        let mut state = match &before {
            Some((_, state)) => state.clone(),
            None => said.begin(component)?,
        };
        if let Some(component) = component {
            fixed("component", &Field::Value(component), &state.component)?;
        }
        said.apply(&mut state)?;
        let store = import.ports.states();
        match before {
            None => Ok(Put::created(store.add(organization, &state).await?)),
            Some((id, old)) if old == state => Ok(Put::unchanged(id)),
            Some((id, _)) => {
                store.save(organization, id, &state).await?;
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
        let page = |after| ports.states().after(organization, after, PAGE);
        every(page, |id, state| {
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("component", state.component.to_string())
                    .with("token", state.token)
                    .with("title", state.title)
                    .some("bg_color", state.bg_color)
                    .some("text_color", state.text_color),
            )
        })
        .await
    }
}
