//! Hypermedia links (contract 01 §10).

use civitas_application::RenderContext;
use civitas_kernel::{ComponentId, ComponentPlace, SpaceRef};
use serde::Serialize;
use utoipa::ToSchema;

/// A link to something that can be read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = resource_link)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceLink {
    /// The full address.
    pub(crate) href: String,
    /// What people call it.
    pub(crate) title: String,
    /// `resource`, or `public_page`.
    pub(crate) rel: Rel,
    /// How to follow it, and what it belongs to.
    pub(crate) meta: LinkMeta,
    /// The languages it is available in.
    #[serde(skip_serializing_if = "Option::is_none")]
    hreflang: Option<Vec<&'static str>>,
    /// The address of a JSON schema of what it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    describedby: Option<String>,
}

/// What a link leads to.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = resource_link_rel)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rel {
    /// A resource.
    Resource,
    /// A page for people.
    #[expect(dead_code, reason = "part of the published shape; nothing of this version links to a page")]
    PublicPage,
}

/// How to follow a link, and what it belongs to: texts all.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = resource_link_meta)]
#[serde(deny_unknown_fields)]
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

/// The verb of a resource link: `GET`, but where the link says how its resource was made.
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
        Self { href, title: title.into(), rel: Rel::Resource, meta, hreflang: None, describedby: None }
    }
}

impl LinkMeta {
    /// It is followed with a form.
    pub(crate) fn post() -> Self {
        let action_enctype = Some("application/x-www-form-urlencoded");
        Self { action_method: LinkMethod::Post, action_enctype, ..Self::default() }
    }

    /// It belongs to a space.
    pub(crate) fn of_space(space: SpaceRef) -> Self {
        Self {
            space_id: Some(space.id.to_string()),
            space_manifest: Some(space.manifest.as_str()),
            ..Self::default()
        }
    }

    /// It belongs to a component.
    pub(crate) fn of_component(space: SpaceRef, component: ComponentId, manifest: &'static str) -> Self {
        Self {
            component_id: Some(component.to_string()),
            component_manifest: Some(manifest),
            ..Self::of_space(space)
        }
    }

    /// And is about a resource in it.
    pub(crate) fn about(&self, resource: impl ToString + Copy) -> Self {
        Self { resource_id: Some(resource.to_string()), ..self.clone() }
    }
}

/// The links of the records of a component: all of one shape (contract 01 §10).
pub(crate) struct ComponentLinks<'a> {
    context: &'a RenderContext<'a>,
    place: &'a ComponentPlace,
    path: &'static str,
    label: &'static str,
    meta: LinkMeta,
}

/// The links of records at `{base}/{path}`, which is the manifest of their component too; `label` begins their titles.
pub(crate) fn component_links<'a>(
    context: &'a RenderContext<'a>,
    place: &'a ComponentPlace,
    path: &'static str,
    label: &'static str,
) -> ComponentLinks<'a> {
    ComponentLinks {
        context,
        place,
        path,
        label,
        meta: LinkMeta::of_component(place.space, place.component, path),
    }
}

impl ComponentLinks<'_> {
    /// To a record, under this title.
    pub(crate) fn to(&self, id: impl ToString + Copy, title: impl Into<String>) -> ResourceLink {
        let href = base(self.context, format_args!("/{}/{}", self.path, id.to_string()));
        ResourceLink::new(href, title, self.meta.about(id))
    }

    /// `self`
    pub(crate) fn this(&self, id: impl ToString + Copy) -> ResourceLink {
        self.to(id, format!("{} Details", self.label))
    }

    /// `collection`
    pub(crate) fn collection(&self, id: impl ToString + Copy) -> ResourceLink {
        let href = base(self.context, format_args!("/{}", self.path));
        ResourceLink::new(href, format!("{} List", self.label), self.meta.about(id))
    }

    /// `related`: the public page of the component.
    pub(crate) fn related(&self) -> ResourceLink {
        let href = origin(self.context, format_args!("/public/components/{}", self.place.component));
        let name = self.place.name.title(self.context.tenant.default_locale).unwrap_or("Related component");
        ResourceLink::new(href, name, self.meta.clone())
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
