//! What the pages of API clients share.

use crate::admin_request::AdminRequest;
use crate::pages::content::organization;
use crate::parts::{Head, Tab};
use civitas_accounts::{ApiClient, ClientAdministration, ClientAdministrationError};
use civitas_application::Transaction;
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{ClientId, Error, OrganizationId, PageRequest, Result};
use civitas_organizations::{OrganizationQuery, Tenant};

pub(crate) const LIST: &str = "/system/api_clients";
/// The most organizations that a page offers and names.
const MAX_ORGANIZATIONS: i64 = 100;

/// A client with its organization.
pub(crate) struct OpenedClient {
    pub(crate) id: ClientId,
    pub(crate) client: ApiClient,
    pub(crate) tenant: Option<Tenant>,
}

impl OpenedClient {
    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        format!("{LIST}/{}", self.id)
    }

    /// The head of one of the tabs of the client.
    pub(crate) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let path = self.path();
        let tabs = [
            ("details", path.clone()),
            ("permissions", format!("{path}/edit")),
            ("webhooks", format!("{path}/edit?tab=webhooks")),
        ];
        let tabs = tabs.map(|(name, href)| Tab {
            href,
            label: req.tr(&format!("client-tab-{name}")),
            is_current: name == tab,
        });
        Head::new(&self.client.name)
            .crumb(req.tr("nav-start"), "/system")
            .crumb(req.tr("nav-api-clients"), LIST)
            .tabs(req.tr("client-one"), tabs.to_vec())
    }

    /// The head of a page below the page of the client. `title`: the key of a text with the name.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: &str) -> Head {
        Head::new(req.tr_with(title, "name", self.client.name.as_str()))
            .crumb(req.tr("nav-api-clients"), LIST)
            .crumb(&self.client.name, self.path())
    }

    /// An entry of the audit trail about it.
    pub(crate) fn audit_entry(&self, req: &AdminRequest, action: Action) -> NewAuditEntry {
        let entry = req.audit_entry(action).with_object("api_client", &self.client.uid, &self.client.name);
        entry.in_organization(self.client.organization)
    }
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> ClientAdministration<'_> {
    ClientAdministration { clients: tx.clients(), organizations: tx.organization_lookup() }
}

/// The client of the path.
pub(crate) async fn find_client(req: &AdminRequest, id: i64) -> Result<OpenedClient> {
    let store = req.store();
    let id = ClientId(id);
    let client = store.clients().find(id).await?.ok_or(Error::NotFound)?;
    let tenant = match client.organization {
        Some(organization) => store.organizations().tenant(organization).await?,
        None => None,
    };
    Ok(OpenedClient { id, client, tenant })
}

/// The error of a refused change.
pub(crate) fn client_admin_error(error: ClientAdministrationError) -> Error {
    match error {
        ClientAdministrationError::Store(error) => error,
        ClientAdministrationError::UnknownClient(_) => Error::NotFound,
        other => Error::rejected(other.to_string()),
    }
}

/// The organizations to choose from: the first ones by name, and the chosen one.
pub(crate) async fn organizations(
    req: &AdminRequest,
    chosen: Option<OrganizationId>,
) -> Result<Vec<(OrganizationId, String)>> {
    let store = req.store().organizations();
    let request = PageRequest::new(1, MAX_ORGANIZATIONS);
    let mut found = store.list(&OrganizationQuery::ByName(None), request).await?.items;
    if let Some(chosen) = chosen
        && found.iter().all(|(id, _)| *id != chosen)
    {
        found.extend(store.find(chosen).await?.map(|organization| (chosen, organization)));
    }
    Ok(found.iter().map(|(id, organization)| (*id, organization::name(req, organization))).collect())
}

/// The name of one of these organizations; the number of another one.
pub(crate) fn organization_name(
    req: &AdminRequest,
    organizations: &[(OrganizationId, String)],
    id: OrganizationId,
) -> String {
    let found = organizations.iter().find(|(known, _)| *known == id);
    found.map_or_else(|| format!("{} {id}", req.tr("organization")), |(_, name)| name.clone())
}

/// The command that gets a token.
pub(crate) fn token_command(req: &AdminRequest, found: &OpenedClient, secret: &str) -> String {
    let host = found.tenant.as_ref().map_or("localhost", |tenant| tenant.host.as_str());
    let origin = req.panel.settings.site.origin(host);
    format!(
        "curl {origin}/oauth/token -d grant_type=client_credentials -d client_id={} -d client_secret={secret} -d scope=\"{}\"",
        found.client.uid, found.client.scopes
    )
}
