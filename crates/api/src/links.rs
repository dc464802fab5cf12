//! Hypermedia links (contract 01 §10).

use crate::shapes::{
    ComponentIdentifier, ResourceIdentifier, SpaceAndComponent, ToComponentRelationship, ToOneRelationship,
    published_as,
};
use civitas_application::RenderContext;
use civitas_kernel::{ComponentId, SpaceRef, Translated};
use serde::Serialize;
use utoipa::ToSchema;

/// A link to a resource or page.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = resource_link, title = "Resource URL")]
pub(crate) struct ResourceLink {
    /// The full address.
    pub(crate) href: String,
    /// Its title, for people.
    pub(crate) title: String,
    /// `resource`, or `public_page`.
    pub(crate) rel: LinkRel,
    /// The method, and the records the target belongs to.
    pub(crate) meta: LinkMeta,
    /// The languages it is available in.
    #[serde(skip_serializing_if = "Option::is_none")]
    hreflang: Option<Vec<&'static str>>,
    /// The address of the JSON schema of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    describedby: Option<String>,
}

/// The kind of target of a link.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = resource_link_rel)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinkRel {
    /// A resource.
    Resource,
    /// An HTML page.
    #[expect(dead_code, reason = "part of the published shape; nothing of this version links to a page")]
    PublicPage,
}

/// The method of a link, and the records its target belongs to. All members are texts.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = resource_link_meta)]
pub(crate) struct LinkMeta {
    /// The component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) component_id: Option<String>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) component_manifest: Option<&'static str>,
    /// The space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space_id: Option<String>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space_manifest: Option<&'static str>,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_id: Option<String>,
    /// The verb.
    pub(crate) action_method: LinkMethod,
    /// How the body of a `POST` is encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action_enctype: Option<&'static str>,
}

/// The method of a resource link: `GET`, or `POST` in the link to the operation that created the resource.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
#[schema(as = resource_link_method)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum LinkMethod {
    /// `GET`
    #[default]
    Get,
    /// `POST`
    Post,
}

impl ResourceLink {
    pub(crate) fn new(href: String, title: impl Into<String>, meta: LinkMeta) -> Self {
        Self { href, title: title.into(), rel: LinkRel::Resource, meta, hreflang: None, describedby: None }
    }
}

impl LinkMeta {
    /// The method is `POST` with a form.
    pub(crate) fn post() -> Self {
        let action_enctype = Some("application/x-www-form-urlencoded");
        Self { action_method: LinkMethod::Post, action_enctype, ..Self::default() }
    }

    /// The target belongs to a space.
    pub(crate) fn for_space(space: SpaceRef) -> Self {
        Self {
            space_id: Some(space.id.to_string()),
            space_manifest: Some(space.kind.as_str()),
            ..Self::default()
        }
    }

    /// The target belongs to a component.
    pub(crate) fn for_component(space: SpaceRef, component: ComponentId, kind: &'static str) -> Self {
        Self {
            component_id: Some(component.to_string()),
            component_manifest: Some(kind),
            ..Self::for_space(space)
        }
    }

    /// The target belongs to a resource of the component.
    pub(crate) fn for_resource(&self, resource: impl ToString + Copy) -> Self {
        Self { resource_id: Some(resource.to_string()), ..self.clone() }
    }
}

/// The links of a record of a component.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    collection: ResourceLink,
    related: ResourceLink,
}

/// The links of a record of a component, with its neighbours if it is read alone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NeighbourLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    collection: ResourceLink,
    related: ResourceLink,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<ResourceLink>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<ResourceLink>,
}

published_as! {
    /// Links of a proposal.
    ProposalLinks(NeighbourLinks) = "proposal_links",
    /// Relationships of a blog post.
    BlogRelationships(SpaceAndComponent) = "blog_relationships",
    /// Links of a blog post.
    BlogLinks(NeighbourLinks) = "blog_links",
    /// Relationships of a meeting.
    MeetingRelationships(SpaceAndComponent) = "meeting_relationships",
    /// Links of a meeting.
    MeetingLinks(RecordLinks) = "meeting_links",
}

/// Names of the records of one kind of component.
#[derive(Clone, Copy)]
pub(crate) struct RecordNames {
    /// Their path below `{base}`.
    pub(crate) path: &'static str,
    /// The kind of their component.
    pub(crate) component_kind: &'static str,
    /// The type of their component.
    pub(crate) component_type: &'static str,
    /// The start of the titles of their links.
    pub(crate) label: &'static str,
    /// The name of a neighbour in the title of its link.
    pub(crate) neighbour: &'static str,
}

/// A record of a component: builds the links and relationships common to all such records (contract 01 §10).
pub(crate) struct ComponentRecord<'a> {
    pub(crate) context: &'a RenderContext<'a>,
    pub(crate) names: RecordNames,
    pub(crate) id: i64,
    pub(crate) space: SpaceRef,
    pub(crate) component: ComponentId,
    pub(crate) component_name: &'a Translated,
}

impl ComponentRecord<'_> {
    pub(crate) fn relationships(&self) -> SpaceAndComponent {
        let Self { space, component, .. } = self;
        let component = ComponentIdentifier { id: component.to_string(), r#type: self.names.component_type };
        SpaceAndComponent {
            space: ToOneRelationship { data: ResourceIdentifier::new(space.id, space.kind.as_str()) },
            component: ToComponentRelationship { data: component },
        }
    }

    pub(crate) fn links(&self) -> RecordLinks {
        let RecordNames { path, label, .. } = self.names;
        let collection = base(self.context, format_args!("/{path}"));
        let component = origin(self.context, format_args!("/public/components/{}", self.component));
        let name = self.component_name.title(self.context.tenant.default_locale);
        RecordLinks {
            this: self.link_to(self.id, format!("{label} Details")),
            collection: ResourceLink::new(
                collection,
                format!("{label} List"),
                self.meta().for_resource(self.id),
            ),
            related: ResourceLink::new(component, name.unwrap_or("Related component"), self.meta()),
        }
    }

    /// The links of the record, with those to the next and the previous record.
    pub(crate) fn links_with_neighbours(&self, next: Option<i64>, prev: Option<i64>) -> NeighbourLinks {
        let RecordLinks { this, collection, related } = self.links();
        let neighbour = self.names.neighbour;
        NeighbourLinks {
            this,
            collection,
            related,
            next: next.map(|id| self.link_to(id, format!("Next {neighbour}"))),
            prev: prev.map(|id| self.link_to(id, format!("Previous {neighbour}"))),
        }
    }

    fn link_to(&self, id: i64, title: String) -> ResourceLink {
        let href = base(self.context, format_args!("/{}/{id}", self.names.path));
        ResourceLink::new(href, title, self.meta().for_resource(id))
    }

    fn meta(&self) -> LinkMeta {
        LinkMeta::for_component(self.space, self.component, self.names.component_kind)
    }
}

/// `{base}{path}` at the organization's primary host.
pub(crate) fn base(context: &RenderContext<'_>, path: std::fmt::Arguments<'_>) -> String {
    format!("{}{path}", context.site.base(&context.tenant.host))
}

/// `https://{primary host}{path}`.
pub(crate) fn origin(context: &RenderContext<'_>, path: std::fmt::Arguments<'_>) -> String {
    format!("{}{path}", context.site.origin(&context.tenant.host))
}
