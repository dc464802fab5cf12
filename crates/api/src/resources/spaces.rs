//! `/spaces` (contract 05 §2).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::{LinkMeta, ResourceLink, base, origin};
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{
    ComponentIdentifier, CreationDate, EditionDate, RelationshipCount, SpaceClassName, SpaceKindName,
    SpaceType, SpaceVisibility, TranslatedProp,
};
use civitas_application::RenderContext;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{Ability, SpaceKind, SpaceRef};
use civitas_spaces::{READ_SPACES, SPACE_FIELDS, SpaceDetail, Spaces};
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of spaces.
const LISTS: &[&str] = &["spaces", "components"];

/// A participatory space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = space)]
pub(crate) struct SpaceView {
    /// Its number among the spaces of its kind.
    id: String,
    /// Always `space`.
    r#type: SpaceType,
    /// Its attributes.
    attributes: SpaceAttributes,
    /// Its components.
    relationships: SpaceRelationships,
    /// Its links.
    links: SpaceLinks,
}

/// The attributes of a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = space_attributes)]
struct SpaceAttributes {
    /// Its kind.
    #[schema(value_type = SpaceKindName)]
    manifest_name: &'static str,
    /// Its kind, as a class name.
    #[schema(value_type = SpaceClassName)]
    participatory_space_type: Cow<'static, str>,
    title: TranslatedProp,
    subtitle: TranslatedProp,
    short_description: TranslatedProp,
    description: TranslatedProp,
    /// Who may see it.
    #[schema(value_type = SpaceVisibility)]
    visibility: &'static str,
    created_at: CreationDate,
    updated_at: EditionDate,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<ExtendedDataValue>,
}

/// Relationships of a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = space_relationships)]
struct SpaceRelationships {
    components: SpaceComponents,
}

/// The visible components of a space: at most 50 are listed, all are counted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = space_components)]
struct SpaceComponents {
    #[schema(max_items = 50)]
    data: Vec<ComponentIdentifier>,
    meta: RelationshipCount,
    links: SelfLink,
}

/// The address of the whole list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = self_link)]
struct SelfLink {
    #[serde(rename = "self")]
    this: ResourceLink,
}

/// Links of a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = space_links)]
struct SpaceLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    related: ResourceLink,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = |summary| {
        OperationDoc::page::<SpaceView>(summary)
            .at_replicas()
            .with_locales()
            .with_list_parameters()
            .with_filters(SPACE_FIELDS)
    };
    let show = |summary| OperationDoc::item::<SpaceView>(summary).at_replicas().with_locales();
    let search = list("Searches the spaces of all kinds");
    routes.read("searchSpaces", "/spaces/search", READ_SPACES, search, |r| index(r, None));
    for (kind, list_id, show_id) in KINDS {
        let path = format!("/spaces/{}", kind.as_str());
        let (all, one) = (list("Lists the spaces of one kind"), show("Shows a space"));
        routes.read(list_id, &path, READ_SPACES, all, move |r| index(r, Some(kind)));
        routes.read(show_id, &format!("{path}/{{id}}"), READ_SPACES, one, move |r| show_one(r, kind));
    }
}

/// The kinds, and the ids of their two operations.
const KINDS: [(SpaceKind, &str, &str); 4] = [
    (SpaceKind::ParticipatoryProcesses, "listParticipatoryProcesses", "showParticipatoryProcess"),
    (SpaceKind::Assemblies, "listAssemblies", "showAssembly"),
    (SpaceKind::Conferences, "listConferences", "showConference"),
    (SpaceKind::Initiatives, "listInitiatives", "showInitiative"),
];

async fn index(request: Request, kind: Option<SpaceKind>) -> HandlerResult {
    let context = request.render_context()?;
    let store = request.list_store(Ability::SpaceExtendedDataRead)?;
    let spaces = Spaces { store: store.spaces() };
    let page = spaces.list(context.ctx, kind, &request.filter()?, request.page()?).await?;
    let view = |space| view(&context, space);
    answers::page_reply(&request, LISTS, page, false, |space| space.changed_at, view).await
}

async fn show_one(request: Request, kind: SpaceKind) -> HandlerResult {
    let context = request.render_context()?;
    let id = SpaceRef { kind, id: request.id()? };
    let space = Spaces { store: request.ports().spaces() }.find(context.ctx, id).await?;
    answers::record_reply(&request, LISTS, space.changed_at, view(&context, space)).await
}

/// A space as visible to the caller.
pub(crate) fn view(context: &RenderContext<'_>, detail: SpaceDetail) -> SpaceView {
    let SpaceDetail { id, space, components, component_count, .. } = detail;
    let locales = context.locales();
    let part = |text: &civitas_kernel::Translated| TranslatedProp(text.in_locales(locales));
    let data = components
        .into_iter()
        .map(|(id, kind)| ComponentIdentifier { id: id.to_string(), r#type: kind.component_type() })
        .collect();
    SpaceView {
        id: id.id.to_string(),
        r#type: SpaceType,
        attributes: SpaceAttributes {
            manifest_name: id.kind.as_str(),
            participatory_space_type: context.site.class_names.to_wire(id.kind.class()),
            title: part(&space.title),
            subtitle: part(&space.subtitle),
            short_description: part(&space.short_description),
            description: part(&space.description),
            visibility: space.visibility.as_str(),
            created_at: CreationDate(space.created_at),
            updated_at: EditionDate(space.updated_at),
            extended_data: context.ctx.may(Ability::SpaceExtendedDataRead).then_some(space.extended_data),
        },
        relationships: SpaceRelationships {
            components: SpaceComponents {
                data,
                meta: RelationshipCount { count: component_count },
                links: SelfLink { this: component_search(context, id) },
            },
        },
        links: links(context, id, &space.title),
    }
}

fn component_search(context: &RenderContext<'_>, id: SpaceRef) -> ResourceLink {
    let class = context.site.class_names.to_wire(id.kind.class());
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("filter[participatory_space_type_eq]", &class)
        .append_pair("filter[participatory_space_id_eq]", &id.id.to_string())
        .finish();
    let href = base(context, format_args!("/components/search?{query}"));
    ResourceLink::new(href, "Component list for this space", LinkMeta::for_space(id))
}

fn links(context: &RenderContext<'_>, id: SpaceRef, title: &civitas_kernel::Translated) -> SpaceLinks {
    let tenant = context.tenant;
    let title = title.title(tenant.default_locale).unwrap_or("Space Details");
    let name = tenant.name.title(tenant.default_locale).unwrap_or("Organization Details");
    let public = origin(context, format_args!("/public/{}/{}", id.kind.as_str(), id.id));
    let system = origin(context, format_args!("/system/organizations/{}", tenant.id));
    SpaceLinks {
        this: ResourceLink::new(public, title, LinkMeta::for_space(id)),
        related: ResourceLink::new(system, name, LinkMeta::default()),
    }
}
