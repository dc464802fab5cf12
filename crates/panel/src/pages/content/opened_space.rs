//! A space of the path, and what the pages of spaces share.

use super::organization::{self, LIST, open_organization};
use crate::admin_request::AdminRequest;
use crate::parts::{Badge, Head, PageAction, Tab};
use crate::translated::title;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{Error, OrganizationId, PageRequest, Result, SpaceKind, SpaceRef};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceDetail, SpaceField, SpaceFilter, Visibility};

/// The path of the list of spaces.
pub(crate) fn spaces_path(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/spaces")
}

/// The path of a space.
pub(crate) fn space_path(organization: OrganizationId, space: SpaceRef) -> String {
    format!("{}/{}/{}", spaces_path(organization), space.kind.as_str(), space.id)
}

/// The text of the name of a kind.
pub(crate) fn space_kind_key(kind: SpaceKind) -> String {
    format!("space-{}", kind.as_str().replace('_', "-"))
}

/// The name of a kind: `Process`.
pub(crate) fn space_kind_name(req: &AdminRequest, kind: SpaceKind) -> String {
    req.tr(&space_kind_key(kind))
}

/// The name of a visibility: `Public`.
pub(crate) fn visibility_name(req: &AdminRequest, visibility: Visibility) -> String {
    req.tr(&format!("visibility-{}", visibility.as_str()))
}

/// The space that a text such as `assemblies/7` names.
pub(crate) fn parse_space_ref(text: &str) -> Option<SpaceRef> {
    let (kind, id) = text.split_once('/')?;
    Some(SpaceRef { kind: SpaceKind::parse(kind)?, id: id.parse().ok()? })
}

/// The spaces with these numbers, of all kinds: spaces of each of the four kinds can have the same number. One read.
pub(crate) async fn spaces_by_ids(
    req: &AdminRequest,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<Vec<SpaceDetail>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let filter =
        SpaceFilter { field: SpaceField::Id, condition: FilterCondition::Integer(Comparison::In(ids)) };
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let reader = organization::admin_read_context(organization);
    Ok(req.store().spaces().list(reader, None, &[filter], request).await?.items)
}

/// A space of the path, with its organization.
pub(crate) struct OpenedSpace {
    pub(crate) organization_id: OrganizationId,
    pub(crate) organization: Organization,
    pub(crate) space_ref: SpaceRef,
    pub(crate) space: Space,
}

impl OpenedSpace {
    /// The space of the path.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let kind = SpaceKind::parse(req.path_param("manifest")).ok_or(Error::NotFound)?;
        let space_ref = SpaceRef { kind, id: req.path_id("sid")? };
        Self::find(req, space_ref).await
    }

    /// This space of the organization of the path.
    pub(crate) async fn find(req: &AdminRequest, space_ref: SpaceRef) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let found = req.store().spaces().find(organization_id, space_ref).await?;
        Ok(Self { organization_id, organization, space_ref, space: found.ok_or(Error::NotFound)? })
    }

    /// The path of the page of the space.
    pub(crate) fn path(&self) -> String {
        space_path(self.organization_id, self.space_ref)
    }

    /// The title of the space.
    pub(crate) fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.space.title)
    }

    /// The head of a page below the page of the space.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: impl Into<String>) -> Head {
        organization::head(req, self.organization_id, &self.organization, title.into())
            .crumb(req.tr("spaces"), spaces_path(self.organization_id))
            .crumb(self.title(req), self.path())
    }

    /// The head of one of the tabs of the space.
    pub(crate) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let path = self.path();
        let mut tabs = vec![("content", "space-tab-content"), ("edit", "space-tab-edit")];
        // Initiatives have no roles.
        if self.space_ref.kind != SpaceKind::Initiatives {
            tabs.push(("roles", "roles"));
        }
        tabs.extend([("attachments", "attachments"), ("extended_data", "extended-data")]);
        let tabs = tabs.into_iter().map(|(page, key)| Tab {
            href: if page == "content" { path.clone() } else { format!("{path}/{page}") },
            label: req.tr(key),
            is_current: page == tab,
        });
        let is_published = self.space.published_at.is_some();
        let (action, key) = if is_published { ("unpublish", "unpublish") } else { ("publish", "publish") };
        let lede = req.tr_args(
            "space-lede",
            &[
                ("kind", space_kind_name(req, self.space_ref.kind).into()),
                ("id", self.space_ref.id.to_string().into()),
            ],
        );
        organization::head(req, self.organization_id, &self.organization, self.title(req))
            .crumb(req.tr("spaces"), spaces_path(self.organization_id))
            .badge(Badge::published(&req.translator, is_published))
            .badge(Badge::plain(visibility_name(req, self.space.visibility)))
            .lede(lede)
            .action(PageAction::post(format!("{path}/{action}"), req.tr(key), req.token()))
            .tabs(req.tr("space-tabs"), tabs.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_written_as_kind_and_number() {
        let youth = SpaceRef { kind: SpaceKind::Assemblies, id: 7 };
        assert_eq!(parse_space_ref("assemblies/7"), Some(youth));
        for wrong in ["assemblies", "councils/7", "assemblies/x"] {
            assert_eq!(parse_space_ref(wrong), None, "{wrong}");
        }
    }
}
