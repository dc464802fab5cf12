//! What the pages of API clients share.

use crate::parts::{Head, Tab};
use crate::visit::Visit;
use civitas_accounts::{ApiClient, ClientAdmin, ClientAdminError};
use civitas_application::Transaction;
use civitas_audit::{Action, Record};
use civitas_kernel::{ClientId, Error, OrganizationId, Result};
use civitas_organizations::{OrganizationQuery, Tenant};

pub(crate) const LIST: &str = "/system/api_clients";

/// A client with its organization.
pub(crate) struct ClientPage {
    pub(crate) id: ClientId,
    pub(crate) client: ApiClient,
    pub(crate) tenant: Option<Tenant>,
}

impl ClientPage {
    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        format!("{LIST}/{}", self.id)
    }

    /// The head of a page that asks, with the keys of its texts.
    pub(crate) fn asks(&self, visit: &Visit, title: &str, here: &str) -> Head {
        Head::new(visit.tell(title, &[("name", self.client.name.as_str().into())]))
            .crumb(visit.say("nav-api-clients"), LIST)
            .crumb(&self.client.name, self.path())
            .here(visit.say(here))
    }

    /// An entry of the audit trail about it.
    pub(crate) fn record(&self, visit: &Visit, action: Action) -> Record {
        let record = visit.record(action).on("api_client", &self.client.uid, &self.client.name);
        record.of(self.client.organization)
    }
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> ClientAdmin<'_> {
    ClientAdmin { clients: tx.clients(), organizations: tx.organization_lookup() }
}

/// The client of the path.
pub(crate) async fn client(visit: &Visit, id: i64) -> Result<ClientPage> {
    let store = visit.panel.store();
    let id = ClientId(id);
    let client = store.clients().find(id).await?.ok_or(Error::NotFound)?;
    let tenant = match client.organization {
        Some(organization) => store.organizations().tenant(organization).await?,
        None => None,
    };
    Ok(ClientPage { id, client, tenant })
}

/// The error of a refused change.
pub(crate) fn fault(fault: ClientAdminError) -> Error {
    match fault {
        ClientAdminError::Store(error) => error,
        ClientAdminError::UnknownClient(_) => Error::NotFound,
        other => Error::rejected(other.to_string()),
    }
}

/// The head of the pages of one client.
pub(crate) fn head(visit: &Visit, found: &ClientPage, tab: &str) -> Head {
    let path = found.path();
    let tabs = [
        ("details", path.clone()),
        ("permissions", format!("{path}/edit")),
        ("webhooks", format!("{path}/edit?tab=webhooks")),
    ];
    let tabs = tabs.map(|(name, href)| Tab {
        href,
        label: visit.say(&format!("client-tab-{name}")),
        is_current: name == tab,
    });
    Head::new(&found.client.name)
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-api-clients"), LIST)
        .tabs(visit.say("client-one"), tabs.to_vec())
}

/// The organizations to choose from, by name.
pub(crate) async fn organizations(visit: &Visit) -> Result<Vec<(OrganizationId, String)>> {
    let request = civitas_kernel::PageRequest::of(1, 100);
    let page = visit.panel.store().organizations().list(&OrganizationQuery::ByName(None), request).await?;
    let locale = visit.words.locale;
    let name = |o: &civitas_organizations::Organization| o.name.title(locale).unwrap_or(&o.host).to_owned();
    Ok(page.items.iter().map(|(id, organization)| (*id, name(organization))).collect())
}

/// The command that gets a token.
pub(crate) fn token_command(visit: &Visit, found: &ClientPage, secret: &str) -> String {
    let host = found.tenant.as_ref().map_or("localhost", |tenant| tenant.host.as_str());
    let origin = visit.panel.settings.site.origin(host);
    format!(
        "curl {origin}/oauth/token -d grant_type=client_credentials -d client_id={} -d client_secret={secret} -d scope=\"{}\"",
        found.client.uid, found.client.scopes
    )
}
