//! Resolves the names of receivers, and refuses those with an address that is not permitted (contract 09 C.5).

use civitas_webhooks::{SendErrorKind, TargetPolicy, TargetResolver};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The most addresses of a name to which a connection is tried.
const MAX_ADDRESSES: usize = 8;

/// Which addresses a name may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRule {
    /// Public ones, and those in the allowed networks: for host names and ports that are public.
    PublicOrAllowed,
    /// Those in the allowed networks: for all other host names and ports.
    Allowed,
}

/// The resolver of an HTTP client. The client connects to the addresses that were checked here, and resolves a name
/// once for each connection, so that a name whose addresses change cannot pass the check.
pub(crate) struct CheckedResolver {
    /// Resolves names.
    pub resolver: Arc<dyn TargetResolver>,
    /// The rules.
    pub policy: TargetPolicy,
    /// Which addresses are permitted.
    pub permitted: AddressRule,
}

impl CheckedResolver {
    fn permits(&self, address: IpAddr) -> bool {
        match self.permitted {
            AddressRule::PublicOrAllowed => self.policy.admits(address),
            AddressRule::Allowed => self.policy.is_allowed(address),
        }
    }

    /// Checks the addresses of a name. One that is not permitted refuses all.
    fn check(&self, addresses: &[IpAddr]) -> Result<Vec<SocketAddr>, NameError> {
        if !addresses.iter().all(|address| self.permits(*address)) {
            return Err(NameError::Refused);
        }
        if addresses.is_empty() {
            return Err(NameError::NoAddress);
        }
        // Port 0: the client takes that of the address it requests.
        Ok(addresses.iter().take(MAX_ADDRESSES).map(|address| SocketAddr::new(*address, 0)).collect())
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard =
            Self { resolver: self.resolver.clone(), policy: self.policy.clone(), permitted: self.permitted };
        Box::pin(async move {
            let found = guard.resolver.addresses(name.as_str()).await;
            let addresses = found.map_err(|error| NameError::Unavailable(error.to_string()))?;
            let checked: Addrs = Box::new(guard.check(&addresses)?.into_iter());
            Ok(checked)
        })
    }
}

/// Why a name cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameError {
    /// It has an address that is not permitted.
    Refused,
    /// It has no address.
    NoAddress,
    /// The name servers gave no answer.
    Unavailable(String),
}

impl NameError {
    pub(crate) fn kind(&self) -> SendErrorKind {
        match self {
            Self::Refused => SendErrorKind::Refused,
            Self::NoAddress | Self::Unavailable(_) => SendErrorKind::Dns,
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("an address of the host is not allowed"),
            Self::NoAddress => f.write_str("the host has no address"),
            Self::Unavailable(cause) => write!(f, "the host cannot be resolved: {cause}"),
        }
    }
}

impl std::error::Error for NameError {}
