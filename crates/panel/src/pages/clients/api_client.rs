//! What the pages of API clients share.

use crate::admin_request::AdminRequest;
use crate::parts::{Head, Tab};
use civitas_accounts::{ApiClient, ClientAdmin, ClientAdminError};
use civitas_application::Transaction;
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{ClientId, Error, OrganizationId, Result};
use civitas_organizations::{OrganizationQuery, Tenant};

pub(crate) const LIST: &str = "/system/api_clients";

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

    /// The head of a confirmation page, with the keys of its texts.
    pub(crate) fn confirmation_head(&self, req: &AdminRequest, title: &str, current: &str) -> Head {
        Head::new(req.tr_with(title, "name", self.client.name.as_str()))
            .crumb(req.tr("nav-api-clients"), LIST)
            .crumb(&self.client.name, self.path())
            .current(req.tr(current))
    }

    /// An entry of the audit trail about it.
    pub(crate) fn audit_entry(&self, req: &AdminRequest, action: Action) -> NewAuditEntry {
        let entry = req.audit_entry(action).with_object("api_client", &self.client.uid, &self.client.name);
        entry.in_organization(self.client.organization)
    }
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> ClientAdmin<'_> {
    ClientAdmin { clients: tx.clients(), organizations: tx.organization_lookup() }
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
pub(crate) fn client_admin_error(error: ClientAdminError) -> Error {
    match error {
        ClientAdminError::Store(error) => error,
        ClientAdminError::UnknownClient(_) => Error::NotFound,
        other => Error::rejected(other.to_string()),
    }
}

/// The head of the pages of one client.
pub(crate) fn head(req: &AdminRequest, found: &OpenedClient, tab: &str) -> Head {
    let path = found.path();
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
    Head::new(&found.client.name)
        .crumb(req.tr("nav-start"), "/system")
        .crumb(req.tr("nav-api-clients"), LIST)
        .tabs(req.tr("client-one"), tabs.to_vec())
}

/// The organizations to choose from, by name.
pub(crate) async fn organizations(req: &AdminRequest) -> Result<Vec<(OrganizationId, String)>> {
    let request = civitas_kernel::PageRequest::new(1, 100);
    let page = req.store().organizations().list(&OrganizationQuery::ByName(None), request).await?;
    let locale = req.translator.locale;
    let name = |o: &civitas_organizations::Organization| o.name.title(locale).unwrap_or(&o.host).to_owned();
    Ok(page.items.iter().map(|(id, organization)| (*id, name(organization))).collect())
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
