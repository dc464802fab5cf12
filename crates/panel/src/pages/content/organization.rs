//! What the pages of one organization share.

use crate::admin_request::AdminRequest;
use crate::format::Zone;
use crate::parts::{Head, Tab};
use civitas_kernel::{Error, OrganizationId, ReadContext, Result, UserId, Viewer};
use civitas_organizations::Organization;

pub(crate) const LIST: &str = "/system/organizations";

/// The name of an organization in the language of the page.
pub(crate) fn name(req: &AdminRequest, organization: &Organization) -> String {
    organization.name.title(req.translator.locale).unwrap_or(&organization.host).to_owned()
}

/// The organization of the path. The times of the page are in its zone.
pub(crate) async fn find_from_path(req: &AdminRequest) -> Result<(OrganizationId, Organization)> {
    let id = OrganizationId(req.path_id("id")?);
    let organization = req.store().organizations().find(id).await?.ok_or(Error::NotFound)?;
    req.zone.set(Zone::named(&organization.time_zone));
    Ok((id, organization))
}

/// Reads the organization of the path, and keeps it in the navigation.
pub(crate) async fn open_organization(req: &AdminRequest) -> Result<(OrganizationId, Organization)> {
    let (id, organization) = find_from_path(req).await?;
    req.set_navigation_organization(id).await?;
    Ok((id, organization))
}

/// The head of a page of the organization.
pub(crate) fn head(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    title: String,
) -> Head {
    Head::new(title).crumb(name(req, organization), format!("{LIST}/{id}"))
}

/// The head of the pages of settings.
pub(crate) fn settings_tab_head(req: &AdminRequest, id: OrganizationId, name: &str, tab: &str) -> Head {
    let path = format!("{LIST}/{id}/edit");
    let tabs = [
        ("settings", path.clone(), "organization-tab-settings"),
        ("api", format!("{path}?tab=api"), "organization-tab-api"),
        ("extended_data", format!("{LIST}/{id}/extended_data"), "extended-data"),
    ];
    let tabs = tabs.map(|(page, href, key)| Tab { href, label: req.tr(key), is_current: page == tab });
    Head::new(req.tr("nav-settings"))
        .crumb(req.tr("nav-organizations"), LIST)
        .crumb(name, format!("{LIST}/{id}"))
        .tabs(req.tr("organization-tabs"), tabs.to_vec())
}

/// Reads as an administrator of the organization does. No account has the id 0.
pub(crate) fn admin_read_context(organization: OrganizationId) -> ReadContext {
    ReadContext { organization, viewer: Viewer::Admin(UserId(0)), participant: None }
}
