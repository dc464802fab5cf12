//! DNS lookups, with the resolver of the system or a configured server.

use async_trait::async_trait;
use civitas_kernel::{Error, Result};
use civitas_organizations::HostResolver;
use civitas_webhooks::TargetResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;
use hickory_resolver::{Resolver, TokioResolver};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The time limit of a query; there are two attempts.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit of all attempts to resolve the host of a callback address: a client waits for its registration.
const TARGET_TIMEOUT: Duration = Duration::from_secs(4);

/// Resolves names and addresses, without a cache.
pub struct DnsResolver(TokioResolver);

impl DnsResolver {
    /// Uses this server, or the resolver of the system.
    ///
    /// # Errors
    /// `Internal` when the system has no resolver configured.
    pub fn with_server(server: Option<SocketAddr>) -> Result<Self> {
        let mut builder = match server {
            Some(server) => Resolver::builder_with_config(config_of(server), TokioRuntimeProvider::default()),
            None => TokioResolver::builder_tokio()
                .map_err(|error| Error::internal(format!("/etc/resolv.conf: {error}")))?,
        };
        let options = builder.options_mut();
        options.timeout = TIMEOUT;
        options.attempts = 2;
        options.cache_size = 0;
        if server.is_some() {
            options.use_hosts_file = ResolveHosts::Never;
        }
        Ok(Self(builder.build().map_err(Error::internal)?))
    }

    /// The addresses (A and AAAA) of a name; none where there is no such name.
    async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>> {
        match self.0.lookup_ip(rooted(name)).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) => none_unless_unavailable(error),
        }
    }
}

fn config_of(server: SocketAddr) -> ResolverConfig {
    let at_port = |mut connection: ConnectionConfig| {
        connection.port = server.port();
        connection
    };
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(at_port).to_vec();
    ResolverConfig::from_name_servers(vec![NameServerConfig::new(server.ip(), true, connections)])
}

#[async_trait]
impl HostResolver for DnsResolver {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>> {
        self.lookup(name).await
    }

    async fn names(&self, address: IpAddr) -> Result<Vec<String>> {
        let found = match self.0.reverse_lookup(address).await {
            Ok(found) => found,
            Err(error) => return none_unless_unavailable(error),
        };
        let names = found.answers().iter().filter_map(|record| match &record.data {
            RData::PTR(name) => Some(name.0.to_ascii().trim_end_matches('.').to_lowercase()),
            _ => None,
        });
        Ok(names.collect())
    }
}

#[async_trait]
impl TargetResolver for DnsResolver {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>> {
        let found = tokio::time::timeout(TARGET_TIMEOUT, self.lookup(name)).await;
        found.unwrap_or_else(|too_long| Err(Error::Unavailable(too_long.into())))
    }
}

/// A fully qualified name, without search domains.
fn rooted(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.'))
}

/// "No such name" is an empty result, not an error.
fn none_unless_unavailable<T>(error: NetError) -> Result<Vec<T>> {
    if error.is_no_records_found() || error.is_nx_domain() {
        Ok(Vec::new())
    } else {
        Err(Error::Unavailable(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tokio::net::UdpSocket;

    #[tokio::test]
    async fn a_name_server_that_does_not_answer_delays_a_registration_by_a_few_seconds() {
        let silent = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let names = DnsResolver::with_server(silent.local_addr().ok()).expect("a resolver");
        let begun = Instant::now();
        let found = TargetResolver::addresses(&names, "hooks.client.example").await;
        assert!(matches!(found, Err(Error::Unavailable(_))), "{found:?}");
        assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    }
}
