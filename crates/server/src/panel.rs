//! Wiring of the administration panel.

use crate::config::Config;
use crate::doctor::Doctor;
use crate::{site, webhooks};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_api::{Api, webhook_example};
use civitas_dns::DnsResolver;
use civitas_kernel::Result;
use civitas_panel::{Panel, Services, Settings};
use civitas_tokens::{Argon2Passwords, PurposeCipher, SecretKeys, TotpCodes, derive};
use std::sync::Arc;

/// The panel over the store of the interface.
pub(crate) fn panel(
    config: &Config,
    api: &Api,
    resolver: Arc<DnsResolver>,
    keys: &SecretKeys,
    passwords: Argon2Passwords,
) -> Result<Arc<Panel>> {
    let (commands, key) = (api.commands(), keys.first());
    let settings = Settings {
        site: site::from_config(config),
        trusted_proxies: config.trusted_proxies.clone(),
        loadbalancer_ips: config.loadbalancer_ips.clone(),
        form_key: derive(key, "forms of the panel"),
        setup_token: URL_SAFE_NO_PAD.encode(&derive(key, "setup of the first administrator")[..18]),
        docs_path: "/api/rest_full/v0.3/docs",
        extended_data_limit: api.extended_data_limit(),
        read_only: config.read_only,
    };
    let services = Services {
        store: commands.store().clone(),
        committer: commands.committer().clone(),
        files: api.files().clone(),
        passwords: Arc::new(passwords),
        cipher: Arc::new(PurposeCipher::for_panel(keys)),
        codes: Arc::new(TotpCodes),
        webhook_cipher: Arc::new(webhooks::webhook_cipher(config)?),
        webhook_policy: webhooks::target_policy(config),
        webhook_example,
        webhook_resolver: resolver,
        authentication_limit: api.authentication_limit().clone(),
        health: Arc::new(Doctor { config: config.clone(), reads_settings: false }),
        shares: api.shares().clone(),
    };
    Ok(Panel::new(settings, services))
}
