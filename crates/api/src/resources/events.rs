//! Renders the records of events, as an anonymous viewer sees them (contract 09 C.1, C.2).

use crate::resources::{drafts, meetings, organizations, proposals, spaces};
use async_trait::async_trait;
use civitas_application::{EventViews, Ports, RenderContext, SavedRecord, SiteSettings};
use civitas_kernel::{ClientId, Ctx, Error, Event, Locale, ProposalId, Result, SpaceRef, Subject, clock};
use civitas_organizations::Tenant;
use civitas_proposals::{ProposalDetail, ProposalNeighbours};
use civitas_spaces::{SpaceDetail, Step};
use serde_json::{Value, json};

/// Renders the records of events with the views of the interface.
pub(crate) struct Events;

#[async_trait]
impl EventViews for Events {
    async fn render_data(
        &self,
        ports: &dyn Ports,
        tenant: &Tenant,
        site: &SiteSettings,
        event: &Event,
        loaded: Option<SavedRecord<'_>>,
    ) -> Result<Value> {
        let (default_locale, locales) = (tenant.default_locale, site.locales.clone());
        let nobody = Ctx { default_locale, locales, ..Ctx::for_client(tenant.id, ClientId(0), clock::now()) };
        let asked = Some(&tenant.available_locales);
        let context = RenderContext { ctx: &nobody, tenant, site, asked, language: None };
        match event.subject {
            Subject::Draft(id) => {
                Ok(json!(drafts::event_view(&context, &proposal(ports, tenant, id, loaded).await?)))
            }
            Subject::Proposal(id) => {
                let found = proposal(ports, tenant, id, loaded).await?;
                Ok(json!(proposals::view(&context, &found, ProposalNeighbours::default())))
            }
            Subject::Meeting(id) => {
                let found = ports.meetings().detail(tenant.id, id).await?.ok_or_else(gone)?;
                Ok(json!(meetings::view(&context, found)))
            }
            Subject::Space(id) => {
                let space = space(ports, &nobody, id).await?;
                let step = ports.steps().active(tenant.id, id).await?;
                let mut shown = json!(spaces::view(&context, space));
                if let Some((step_id, step)) = step {
                    shown["meta"] = json!({
                        "active_step_id": step_id.to_string(),
                        "active_step_position": step.position,
                        "active_step_title": title_of(&step, tenant),
                    });
                }
                Ok(shown)
            }
            Subject::User(id) => {
                let user = ports.users().find(tenant.id, id).await?.ok_or_else(gone)?;
                Ok(json!(crate::resources::users::event_view(tenant, id, &user)))
            }
            Subject::Organization(id) => {
                let found = ports.organizations().find(id).await?.ok_or_else(gone)?;
                Ok(json!(organizations::view(&context, id, found)))
            }
        }
    }
}

/// The proposal as an anonymous viewer reads it.
async fn proposal(
    ports: &dyn Ports,
    tenant: &Tenant,
    id: ProposalId,
    loaded: Option<SavedRecord<'_>>,
) -> Result<ProposalDetail> {
    if let Some(SavedRecord::Proposal(proposal)) = loaded
        && proposal.id == id
    {
        return Ok(proposal.for_anonymous());
    }
    ports.proposals().detail(tenant.id, id).await?.ok_or_else(gone)
}

/// A space as an anonymous viewer sees it; without components if it is not public.
async fn space(ports: &dyn Ports, nobody: &Ctx, id: SpaceRef) -> Result<SpaceDetail> {
    if let Some(found) = ports.spaces().find_visible(nobody.read_context(), id).await? {
        return Ok(found);
    }
    let space = ports.spaces().find(nobody.organization, id).await?.ok_or_else(gone)?;
    let changed_at = space.updated_at;
    Ok(SpaceDetail { id, space, components: Vec::new(), component_count: 0, changed_at })
}

/// In the default language, else in English, else in any.
fn title_of<'a>(step: &'a Step, tenant: &Tenant) -> &'a str {
    let title = &step.title;
    title.get(tenant.default_locale).or_else(|| title.title(Locale::EN)).unwrap_or_default()
}

fn gone() -> Error {
    Error::internal("the record of an event is gone")
}
