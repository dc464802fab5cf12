//! `/components` (contract 05 §3).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::{LinkMeta, ResourceLink, base};
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{
    ComponentKindName, ComponentType, CreationDate, EditionDate, RelationshipCount, ResourceIdentifier,
    SpaceClassName, ToManyRelationship, TranslatedProp,
};
use civitas_application::{CurrentSettings, RenderContext};
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::filter::{FieldKind, FilterField};
use civitas_kernel::{Ability, ComponentId, Error, ProposalId, Result, Translated};
use civitas_proposals::{ComponentRules, VotingStatus, weight_label};
use civitas_spaces::{
    COMPONENT_FIELDS, COMPONENT_FIELDS_WITHOUT_KIND, ComponentDetail, ComponentKind, Components,
    READ_COMPONENTS,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of components.
const LISTS: &[&str] =
    &["components", "spaces", "proposals", "votes", "meetings", "posts", "surveys", "entries", "roles"];

/// A component of a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = component)]
pub(crate) struct ComponentView {
    id: String,
    /// Its kind.
    #[schema(value_type = ComponentType)]
    r#type: &'static str,
    attributes: ComponentAttributes,
    relationships: ComponentRelationships,
    links: ComponentLinks,
    /// Settings in force, and permissions of the caller; the keys depend on the kind.
    #[schema(value_type = Object)]
    meta: Map<String, Value>,
}

/// The attributes of a component.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = component_attributes)]
pub(crate) struct ComponentAttributes {
    #[schema(value_type = ComponentKindName)]
    manifest_name: &'static str,
    #[schema(value_type = SpaceClassName)]
    participatory_space_type: Cow<'static, str>,
    /// The number of its space, as text.
    participatory_space_id: String,
    name: TranslatedProp,
    /// A text above its resources.
    #[schema(value_type = TranslatedProp)]
    global_announcement: Value,
    created_at: CreationDate,
    updated_at: EditionDate,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<ExtendedDataValue>,
}

/// The records of a component: at most 50 are listed, all are counted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = component_relationships)]
struct ComponentRelationships {
    resources: ToManyRelationship,
}

/// Links of a component.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = component_links)]
pub(crate) struct ComponentLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    related: ResourceLink,
    /// The caller's own draft, created through the calling client.
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<ResourceLink>,
}

/// The filters that the address of one component accepts and ignores, as in the published document (contract 12).
const IGNORED: &[FilterField<()>] = &[FilterField::new("id", FieldKind::Integer, ())];

pub(crate) fn routes(routes: &mut Routes) {
    let search = OperationDoc::new("Searches the components of all kinds", "component_index_response");
    let search = search.at_replicas().with_locales().with_list_parameters().with_filters(COMPONENT_FIELDS);
    routes.read("searchComponents", "/components/search", READ_COMPONENTS, search, |r| index(r, None));
    let list = |summary, answer| {
        OperationDoc::new(summary, answer)
            .at_replicas()
            .with_locales()
            .with_list_parameters()
            .with_filters(COMPONENT_FIELDS_WITHOUT_KIND)
    };
    let show = |summary, answer| OperationDoc::new(summary, answer).at_replicas().with_locales();
    let (proposals, blogs) = (ComponentKind::Proposals, ComponentKind::Blogs);
    let doc = list("Lists the proposals components", "proposal_component_index_response");
    let path = "/components/proposal_components";
    routes.read("listProposalComponents", path, READ_COMPONENTS, doc, move |r| index(r, Some(proposals)));
    let doc = show("Shows a proposals component", "proposal_component_item_response");
    let doc = doc
        .with_page_parameters()
        .with_filters(IGNORED)
        .with_note("Pages and filters are accepted and ignored.");
    let path = "/components/proposal_components/{id}";
    routes.read("showProposalComponent", path, READ_COMPONENTS, doc, show_proposal_component);
    let doc = list("Lists the blog components", "blog_component_index_response");
    let path = "/components/blog_components";
    routes.read("listBlogComponents", path, READ_COMPONENTS, doc, move |r| index(r, Some(blogs)));
    let doc = show("Shows a blog component", "blog_component_item_response").with_space_parameters();
    let (doc, path) = (doc.with_component_id(), "/components/blog_components/{id}");
    routes.read("showBlogComponent", path, READ_COMPONENTS, doc, show_blog_component);
}

async fn index(request: Request, kind: Option<ComponentKind>) -> HandlerResult {
    let context = request.render_context()?;
    let store = request.list_store(Ability::ComponentExtendedDataRead)?;
    let components = Components { store: store.components() };
    let page = components.list(context.ctx, kind, &request.filter()?, request.page()?).await?;
    let voting_statuses = voting_statuses(&request, &page.items).await?;
    let status = |id| voting_statuses.iter().find(|status| status.component == id);
    let view = |component: ComponentDetail| view(&context, status(component.id), component);
    answers::page_reply(&request, LISTS, page, false, |component| component.changed_at, view).await
}

async fn show_proposal_component(request: Request) -> HandlerResult {
    let found = find(&request, ComponentKind::Proposals).await?;
    answer(&request, found).await
}

/// Reads the parameters of one component, with space and component: outside of those it is not found (contract 05
/// §3.1).
async fn show_blog_component(request: Request) -> HandlerResult {
    let within = request.query.within()?;
    let found = find(&request, ComponentKind::Blogs).await?;
    let space = found.component.space;
    let inside = within.component.is_none_or(|id| id == found.id)
        && within.space_id.is_none_or(|id| id == space.id)
        && within.space_kind.is_none_or(|kind| kind == space.kind);
    if !inside {
        return Err(Error::NotFound.into());
    }
    answer(&request, found).await
}

async fn find(request: &Request, kind: ComponentKind) -> Result<ComponentDetail> {
    request.locales()?;
    let components = Components { store: request.ports().components() };
    components.find(request.ctx()?, kind, ComponentId(request.id()?)).await
}

async fn answer(request: &Request, found: ComponentDetail) -> HandlerResult {
    let voting_statuses = voting_statuses(request, std::slice::from_ref(&found)).await?;
    let (changed_at, context) = (found.changed_at, request.render_context()?);
    answers::record_reply(request, LISTS, changed_at, view(&context, voting_statuses.first(), found)).await
}

/// The voting status of the caller, if it is a user, for each proposals component.
async fn voting_statuses(request: &Request, components: &[ComponentDetail]) -> Result<Vec<VotingStatus>> {
    let ctx = request.ctx()?;
    let is_ours = |c: &&ComponentDetail| c.component.kind == ComponentKind::Proposals;
    let ids: Vec<_> = components.iter().filter(is_ours).map(|c| c.id).collect();
    match ctx.participant() {
        Some(user) if !ids.is_empty() => {
            request.ports().proposals().voting_statuses(ctx.organization, user, ctx.caller.client, &ids).await
        }
        _ => Ok(Vec::new()),
    }
}

fn view(
    context: &RenderContext<'_>,
    voting_status: Option<&VotingStatus>,
    detail: ComponentDetail,
) -> ComponentView {
    let settings =
        CurrentSettings::new(&detail.component, detail.active_step, context.tenant.comments_max_length);
    let announcement = setting_in_locales(context, &settings.value("global_announcement"));
    let meta = meta(context, settings, voting_status, &detail);
    let ComponentDetail { id, component, space_title, resources, resource_count, .. } = detail;
    let kind = component.kind.as_str();
    let data = resources.into_iter().map(|id| ResourceIdentifier::new(id, kind)).collect();
    ComponentView {
        id: id.to_string(),
        r#type: component.kind.component_type(),
        links: links(context, id, &component, &space_title, voting_status.and_then(|s| s.draft)),
        attributes: ComponentAttributes {
            manifest_name: kind,
            participatory_space_type: context.site.class_names.to_wire(component.space.kind.class()),
            participatory_space_id: component.space.id.to_string(),
            name: TranslatedProp(component.name.in_locales(context.locales())),
            global_announcement: announcement,
            created_at: CreationDate(component.created_at),
            updated_at: EditionDate(component.updated_at),
            extended_data: context
                .ctx
                .may(Ability::ComponentExtendedDataRead)
                .then_some(component.extended_data),
        },
        relationships: ComponentRelationships {
            resources: ToManyRelationship { data, meta: RelationshipCount { count: resource_count } },
        },
        meta,
    }
}

/// The requested languages, of a translated setting.
fn setting_in_locales(context: &RenderContext<'_>, texts: &Value) -> Value {
    let read: Translated = serde_json::from_value(texts.clone()).unwrap_or_default();
    json!(read.in_locales(context.locales()))
}

fn meta(
    context: &RenderContext<'_>,
    settings: CurrentSettings<'_>,
    voting_status: Option<&VotingStatus>,
    detail: &ComponentDetail,
) -> Map<String, Value> {
    let mut meta: Map<String, Value> =
        settings.meta_settings().map(|(key, value)| (key.to_owned(), value)).collect();
    meta.insert("published".to_owned(), json!(detail.component.published_at.is_some()));
    if detail.component.kind == ComponentKind::Proposals {
        let rules = settings.rules();
        let user = context.ctx.participant().is_some();
        // A user without a status here can do nothing; a service token sees whether voting is open.
        let can_vote = if user {
            voting_status.is_some() && rules.can_vote(voting_status)
        } else {
            rules.can_vote(None)
        };
        let computed = json!({
            "collaborative_drafts_enabled": false,
            "can_create_proposals": rules.can_create_proposals(voting_status),
            "can_vote": can_vote,
            "can_endorse": settings.value("endorsements_enabled"),
            "can_comment": settings.value("comments_enabled"),
            "votes": weights(context, &rules),
            "voting_cards_box_title": setting_in_locales(context, &settings.value("voting_cards_box_title")),
            "voting_cards_instructions": setting_in_locales(context, &settings.value("voting_cards_instructions")),
        });
        meta.extend(computed.as_object().cloned().unwrap_or_default());
    }
    meta
}

fn weights(context: &RenderContext<'_>, rules: &ComponentRules) -> Vec<Value> {
    let locales = context.locales();
    let offered = &context.tenant.available_locales;
    let label = |weight| weight_label(rules.voting_manifest, weight, offered).in_locales(locales);
    rules.weights().into_iter().map(|weight| json!({"label": label(weight), "weight": weight})).collect()
}

fn links(
    context: &RenderContext<'_>,
    id: ComponentId,
    component: &civitas_spaces::Component,
    space_title: &Translated,
    draft: Option<ProposalId>,
) -> ComponentLinks {
    let locale = context.tenant.default_locale;
    let meta = LinkMeta::for_space(component.space);
    let this = match component.kind {
        ComponentKind::Proposals => base(context, format_args!("/components/proposal_components/{id}")),
        ComponentKind::Blogs => base(context, format_args!("/components/blog_components/{id}")),
        _ => base(context, format_args!("/components/search?filter%5Bid_eq%5D={id}")),
    };
    let space = component.space;
    let related = base(context, format_args!("/spaces/{}/{}", space.kind.as_str(), space.id));
    let draft_link = |draft: ProposalId| {
        let meta = LinkMeta::for_component(space, id, "proposals").for_resource(draft);
        ResourceLink::new(base(context, format_args!("/draft_proposals/{draft}")), "Draft Details", meta)
    };
    let name = component.name.title(locale).unwrap_or("Component Details");
    ComponentLinks {
        this: ResourceLink::new(this, name, meta.clone()),
        related: ResourceLink::new(related, space_title.title(locale).unwrap_or("Space Details"), meta),
        draft: draft.map(draft_link),
    }
}
