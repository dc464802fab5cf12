//! Finds the organization of a request by its host (contract 01 §1).

use crate::backend::Backend;
use crate::error::ApiError;
use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use civitas_application::{Store, forwarded_parameter};
use civitas_kernel::{Error, Result};
use civitas_organizations::{HostMatch, Tenant, host_in_address, host_of, split_authority};

/// Scheme and authority as the client sent them: the start of links to other pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestOrigin {
    /// `https` or `http`.
    pub(crate) scheme: String,
    /// Host and port as the client wrote them.
    pub(crate) authority: String,
}

/// The result of looking up the host of a request.
pub(crate) enum HostLookupResult {
    Tenant(Tenant),
    Unknown,
    /// A redirect to the same address at a primary host.
    Moved(ApiError),
}

/// Looks the host up.
///
/// # Errors
/// `Rejected` when the host has an invalid port: it would become part of a redirect.
pub(crate) async fn resolve(
    store: &dyn Store,
    request: &HttpRequest,
    origin: &RequestOrigin,
) -> Result<HostLookupResult> {
    if !has_sound_port(&origin.authority) {
        return Err(Error::rejected("Invalid Host header"));
    }
    let host = host_of(&origin.authority);
    if host.is_empty() || host.contains('\0') {
        return Ok(HostLookupResult::Unknown);
    }
    Ok(match store.organizations().locate(&host).await? {
        Some(HostMatch::Primary(tenant)) => HostLookupResult::Tenant(tenant),
        Some(HostMatch::Secondary { primary }) => HostLookupResult::Moved(origin.moved_to(&primary, request)),
        None => HostLookupResult::Unknown,
    })
}

/// The organization of a request.
///
/// # Errors
/// As [`resolve`]; `NotFound` for an unknown host, `Moved` for a secondary one.
pub(crate) async fn tenant(backend: &Backend, request: &HttpRequest) -> Result<Tenant, ApiError> {
    resolve(&**backend.store(), request, &RequestOrigin::from_request(backend, request)).await?.tenant()
}

impl HostLookupResult {
    pub(crate) fn tenant(self) -> Result<Tenant, ApiError> {
        match self {
            Self::Tenant(tenant) => Ok(tenant.served()?),
            Self::Unknown => Err(ApiError::Error(Error::NotFound)),
            Self::Moved(redirect) => Err(redirect),
        }
    }
}

impl RequestOrigin {
    /// Reads the request target if it has an authority (RFC 9112, 3.2.2), else the Host header. Forwarded headers are used
    /// only when the peer is a trusted proxy.
    pub(crate) fn from_request(backend: &Backend, request: &HttpRequest) -> Self {
        let headers = request.headers();
        let host = || headers.get(header::HOST).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let written = request.uri().authority().map(ToString::to_string).or_else(host);
        let scheme = if backend.settings.is_encrypted { "https" } else { "http" };
        let direct = Self { scheme: scheme.to_owned(), authority: written.unwrap_or_default() };
        let peer = request.peer_addr().map(|peer| peer.ip().to_canonical());
        let trusted =
            peer.is_some_and(|ip| backend.settings.trusted_proxies.iter().any(|net| net.contains(&ip)));
        if trusted { direct.forwarded(headers) } else { direct }
    }

    fn forwarded(self, headers: &HeaderMap) -> Self {
        let filled = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let first = |name: &str| filled(headers.get(name)?.to_str().ok()?.split(',').next()?.trim());
        let elements = headers.get("forwarded").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let pair = |name: &str| filled(forwarded_parameter(elements, name));
        let mut authority = first("x-forwarded-host").or_else(|| pair("host")).unwrap_or(self.authority);
        if let Some(port) = first("x-forwarded-port").filter(|p| p.parse::<u16>().is_ok()) {
            authority = with_port(&authority, &port);
        }
        let scheme = first("x-forwarded-proto").or_else(|| pair("proto"));
        let scheme = scheme.map(|s| s.to_ascii_lowercase()).filter(|s| s == "https" || s == "http");
        Self { scheme: scheme.unwrap_or(self.scheme), authority }
    }

    /// The same address with the host name replaced: scheme, port, path and query stay. After a 301 most clients repeat a
    /// write as `GET`.
    fn moved_to(&self, primary: &str, request: &HttpRequest) -> ApiError {
        let port = split_authority(&self.authority).1.map_or(String::new(), |port| format!(":{port}"));
        let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
        let to = format!("{}://{}{port}{path}", self.scheme, host_in_address(primary));
        match *request.method() {
            Method::GET | Method::HEAD => ApiError::Moved(StatusCode::MOVED_PERMANENTLY, to),
            _ => ApiError::Moved(StatusCode::PERMANENT_REDIRECT, to),
        }
    }
}

/// Whether an authority has no port, or one of at most 5 digits. An empty port is valid (RFC 3986, 3.2.3).
fn has_sound_port(authority: &str) -> bool {
    let (_, port) = split_authority(authority);
    port.is_none_or(|port| port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()))
}

fn with_port(authority: &str, port: &str) -> String {
    let host = host_in_address(split_authority(authority).0);
    let is_standard = port == "443" || port == "80";
    if is_standard { host.into_owned() } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_digits_or_there_is_none() {
        for good in ["city.example", "city.example:80", "city.example:", "[::1]", "[::1]:3000", "::1", ""] {
            assert!(has_sound_port(good), "{good}");
        }
        for bad in ["city:80@evil", "city:x", "city:-1", "city:123456", "[::1]:x", "a:٣"] {
            assert!(!has_sound_port(bad), "{bad}");
        }
    }
}
