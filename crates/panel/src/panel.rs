//! The panel: what its pages need.

use crate::form_tokens::FormTokens;
use crate::query::Query;
use civitas_accounts::Passwords;
use civitas_accounts::administrators::{SecondFactorCodes, TextCipher};
use civitas_application::{
    AuthenticationLimit, EventCommitter, Files, HealthChecks, PanelSignIn, Shares, SiteSettings, Store,
};
use civitas_kernel::{EventName, Result};
use civitas_webhooks::{SecretCipher, TargetPolicy, TargetResolver};
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;

/// The page that creates the first administrator.
pub(crate) const SETUP_PATH: &str = "/system/setup";

/// Settings of the panel.
pub struct Settings {
    /// Scheme and port of links, and the languages of the deployment.
    pub site: SiteSettings,
    /// Proxies whose forwarded headers count.
    pub trusted_proxies: Vec<IpNet>,
    /// The addresses that a new host must resolve to.
    pub loadbalancer_ips: Vec<IpAddr>,
    /// The key of the tokens of forms.
    pub form_key: [u8; 32],
    /// The token in the link to the page that creates the first administrator.
    pub setup_token: String,
    /// The path of the documentation of the interface.
    pub docs_path: &'static str,
    /// The most extended data a record may have, in bytes of compact JSON.
    pub extended_data_limit: usize,
    /// Whether forms are refused, except those to sign in and out.
    pub read_only: bool,
}

/// What the panel needs from outside.
pub struct Services {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Renders and records events.
    pub committer: EventCommitter,
    /// Receives and stores the files of forms.
    pub files: Files,
    /// Hashes and verifies passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Encrypts results of actions between two pages, and the secrets of second factors.
    pub cipher: Arc<dyn TextCipher>,
    /// Checks the codes of second factors.
    pub codes: Arc<dyn SecondFactorCodes>,
    /// Encrypts the secrets of webhook registrations.
    pub webhook_cipher: Arc<dyn SecretCipher>,
    /// Which addresses webhooks may reach.
    pub webhook_policy: TargetPolicy,
    /// The body of an example of an event, with links that begin with this origin.
    pub webhook_example: fn(EventName, &str) -> Option<String>,
    /// Resolves the hosts of webhooks.
    pub webhook_resolver: Arc<dyn TargetResolver>,
    /// Limits refused credentials.
    pub authentication_limit: Arc<AuthenticationLimit>,
    /// Checks what the server needs.
    pub health: Arc<dyn HealthChecks>,
    /// What clients and organizations use of this process.
    pub shares: Arc<Shares>,
}

/// The administration panel.
pub struct Panel {
    pub(crate) settings: Settings,
    pub(crate) services: Services,
    pub(crate) tokens: FormTokens,
}

impl Panel {
    /// A panel; [`Panel::configure`] mounts it.
    pub fn new(settings: Settings, services: Services) -> Arc<Self> {
        let tokens = FormTokens::new(&settings.form_key);
        Arc::new(Self { settings, services, tokens })
    }

    /// The path of the page that creates the first administrator; `None` when there is one.
    pub async fn setup_path(&self) -> Result<Option<String>> {
        let count = self.store().administrators().count().await?;
        Ok((count == 0).then(|| Query::default().with(SETUP_PATH, "token", Some(&self.settings.setup_token))))
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.services.store
    }

    /// Sign-in from this address.
    pub(crate) fn sign_in(&self, client_ip: Option<IpAddr>) -> PanelSignIn<'_> {
        PanelSignIn {
            store: self.store(),
            committer: &self.services.committer,
            passwords: &*self.services.passwords,
            cipher: &*self.services.cipher,
            codes: &*self.services.codes,
            from: client_ip.map(|address| address.to_string()),
            source: self.tokens.source_digest(client_ip),
            read_only: self.settings.read_only,
        }
    }

    /// Whether browsers reach the panel over https.
    pub(crate) fn is_secure(&self) -> bool {
        self.settings.site.scheme == "https"
    }
}
