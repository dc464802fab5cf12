//! `civitas healthcheck`: asks the server of this configuration whether it answers, for service managers of containers.

use super::{CommandError, CommandResult, Console};
use crate::config::{Config, SettingSources};
use civitas_api::BASE_PATH;
use reqwest::Client;
use reqwest::redirect::Policy;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// How long the server may take for its answer.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn run(sources: &SettingSources, console: &mut Console<'_>) -> CommandResult {
    let config = Config::load(sources)?;
    let url = url(&config);
    // reqwest uses the provider of the process. It may be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(Policy::none()).no_proxy().timeout(TIMEOUT);
    // The certificate has the public name, not this address; nothing secret is sent.
    let client = client.tls_danger_accept_invalid_certs(true).build()?;
    match client.get(&url).send().await {
        Ok(answer) if answer.status().as_u16() < 400 => {
            console.print(format_args!("{url} answers {}", answer.status()))
        }
        Ok(answer) => Err(CommandError::Because(format!("{url} answers {}", answer.status()))),
        Err(_) => Err(CommandError::Because(format!("{url} does not answer"))),
    }
}

/// The health page at the address of the listener, or at the loopback address if it listens on all.
fn url(config: &Config) -> String {
    let scheme = if config.is_https() { "https" } else { "http" };
    let mut address = config.listen;
    if address.ip().is_unspecified() {
        let loopback: IpAddr =
            if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        address.set_ip(loopback);
    }
    format!("{scheme}://{address}{BASE_PATH}/health")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_on_all_addresses_is_asked_at_the_loopback_address() {
        for (listen, host) in [
            ("127.0.0.1:3000", "127.0.0.1:3000"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("0.0.0.0:3000", "127.0.0.1:3000"),
            ("[::]:3000", "[::1]:3000"),
        ] {
            let flags = vec![("listen".to_owned(), listen.to_owned())];
            let config = Config::load(&SettingSources { flags, ..SettingSources::default() }).unwrap();
            assert_eq!(url(&config), format!("http://{host}/api/rest_full/v0.3/health"));
        }
    }
}
