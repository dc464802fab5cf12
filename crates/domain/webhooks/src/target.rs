//! Which addresses webhooks may reach (contract 09 C.5).

use civitas_kernel::limits::MAX_URL_CHARS;
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// Why a callback address is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// Not an absolute `http` or `https` address with a host; has user information or a fragment; or too long.
    Invalid,
    /// The host, its port or one of its addresses is not public.
    Forbidden,
}

/// Which addresses are reachable: public ones, and those in the allowed networks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetPolicy {
    /// Networks that may be reached although they are not public (`webhook_allowed_networks`).
    pub allowed: Vec<IpNet>,
}

impl TargetPolicy {
    /// Reads a callback address. Host and addresses are not checked. Segments of dots are refused: clients leave them out,
    /// and would call another path than the one that is registered.
    ///
    /// # Errors
    /// [`TargetError::Invalid`].
    pub fn parse(text: &str) -> Result<Url, TargetError> {
        let has_space = text.contains(|c: char| c.is_whitespace() || c.is_control());
        if text.chars().count() > MAX_URL_CHARS || has_space {
            return Err(TargetError::Invalid);
        }
        let url = Url::parse(text).map_err(|_| TargetError::Invalid)?;
        // The parser accepts `http:host`, `http:/host` and backslashes.
        let is_absolute = text.split_once("://").is_some_and(|(scheme, rest)| {
            scheme.eq_ignore_ascii_case(url.scheme()) && !rest.starts_with(['/', '\\', '?', '#'])
        });
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let is_valid = is_absolute
            && matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.domain().is_none_or(is_host_name)
            && !authority.contains('@')
            && !text.contains('\\')
            && !path.split('/').any(is_dots)
            && url.fragment().is_none();
        if is_valid { Ok(url) } else { Err(TargetError::Invalid) }
    }

    /// The address in the host, if it is one: `127.1` and `0x7f.1` are read as browsers read them.
    pub fn ip_literal(url: &Url) -> Option<IpAddr> {
        match url.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Checks host, port and addresses. `addresses`: those of the name, or the literal one; none when the name has none.
    ///
    /// # Errors
    /// [`TargetError::Forbidden`].
    pub fn check(&self, url: &Url, addresses: &[IpAddr]) -> Result<(), TargetError> {
        let is_exempt = !addresses.is_empty() && addresses.iter().all(|address| self.is_allowed(*address));
        let is_public = has_public_name(url) && addresses.iter().all(|address| self.admits(*address));
        if is_exempt || is_public { Ok(()) } else { Err(TargetError::Forbidden) }
    }

    /// Checks what is known without resolving a host name: literal address, name and port. A name that is not public is
    /// accepted if there are allowed networks: its addresses decide at each attempt.
    ///
    /// # Errors
    /// [`TargetError::Forbidden`].
    pub fn check_unresolved(&self, url: &Url) -> Result<(), TargetError> {
        match Self::ip_literal(url) {
            Some(address) => self.check(url, &[address]),
            None if self.allowed.is_empty() => self.check(url, &[]),
            None => Ok(()),
        }
    }

    /// Whether a connection to this address is permitted, for a host and port that are public.
    pub fn admits(&self, address: IpAddr) -> bool {
        is_public(address) || self.is_allowed(address)
    }

    /// Whether the address is in an allowed network. An IPv4 address in IPv6 form is in those of its IPv4 form too.
    pub fn is_allowed(&self, address: IpAddr) -> bool {
        self.allowed
            .iter()
            .any(|network| network.contains(&address) || network.contains(&address.to_canonical()))
    }
}

/// Whether a segment of a path is `.` or `..`, in any of their spellings.
fn is_dots(segment: &str) -> bool {
    matches!(&*segment.to_ascii_lowercase().replace("%2e", "."), "." | "..")
}

/// Whether a name can be a host in the domain name system: labels of 1 to 63 ASCII characters (a-z, 0-9, `-`, `_`), 253
/// characters at most. One full stop may follow. The parser of addresses accepts more: `"`, empty labels.
fn is_host_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Whether host name and port are those of public servers.
pub fn has_public_name(url: &Url) -> bool {
    const LOCAL: [&str; 3] = ["localhost", "local", "internal"];
    let name_is_public = url.domain().is_none_or(|name| {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        !name.is_empty() && !LOCAL.iter().any(|local| name.rsplit('.').next() == Some(local))
    });
    let port = url.port_or_known_default().unwrap_or_default();
    name_is_public && (matches!(port, 80 | 443) || port >= 1024)
}

/// Whether an address is reachable in the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = a == 0
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b)) // carrier-grade NAT
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 192 && b == 88 && c == 99) // 6to4 relays
        || (a == 198 && (18..20).contains(&b)) // benchmarks
        || a >= 240; // reserved
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let in_v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    if let Some(v4) = address.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    match segments {
        // NAT64 (RFC 6052), and 6to4 (RFC 3056): the IPv4 address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => is_public_v4(in_v4(high, low)),
        // Only 2000::/3 is assigned to the public; of it not Teredo, benchmarks, ORCHID and documentation.
        [first, second, ..] => {
            (0x2000..0x4000).contains(&first)
                && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
                && !(first == 0x3fff && second < 0x1000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, addresses: &[&str]) -> Result<(), TargetError> {
        let url = TargetPolicy::parse(text)?;
        let addresses: Vec<IpAddr> = match TargetPolicy::ip_literal(&url) {
            Some(address) => vec![address],
            None => addresses.iter().map(|address| address.parse().unwrap()).collect(),
        };
        TargetPolicy::default().check(&url, &addresses)
    }

    #[test]
    fn addresses_that_are_no_absolute_web_addresses_are_invalid() {
        let long = format!("https://hooks.example/{}", "a".repeat(MAX_URL_CHARS));
        let long_label = format!("https://{}.example/", "a".repeat(64));
        let long_name = format!("https://{}example/", "a.".repeat(124));
        for text in [
            "",
            "hooks.example",
            "ftp://hooks.example/",
            "https://",
            "https:///x",
            "http:hooks.example",
            "https:/hooks.example",
            "https://user@hooks.example/",
            "https://user:pw@hooks.example/",
            "https://@hooks.example/",
            "https://hooks.example/#x",
            "https://hooks.example/#",
            "https://hooks.example\\@127.0.0.1/",
            "https://hooks.example/ x",
            " https://hooks.example/",
            "https://hooks.example/\n",
            "javascript:alert(1)",
            "//hooks.example/",
            "https://hooks.example:99999/",
            "https://hooks..example/",
            "https://.hooks.example/",
            "https://hooks.example../",
            "https://./",
            "https://hooks\".example/",
            "https://hooks{}.example/",
            "https://*.example/",
            "https://hooks.example/a/%2e%2E/b",
            "https://hooks.example/a/.%2e",
            "https://hooks.example/%2e/b?c",
            "https://hooks.example/a/../b",
            "https://hooks.example/.",
            long.as_str(),
            long_label.as_str(),
            long_name.as_str(),
        ] {
            assert_eq!(checked(text, &[]), Err(TargetError::Invalid), "{text}");
        }
    }

    #[test]
    fn ip_literal_addresses_in_every_notation_are_checked() {
        for text in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://0x7f.1/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/",
            "http://[fe80::1]/",
            "http://[fc00::1]/",
            "http://[fec0::1]/",
            "http://100.64.0.1/",
            "http://224.0.0.1/",
            "http://[ff02::1]/",
            "http://255.255.255.255/",
            "http://192.0.2.1/",
            "http://198.51.100.1/",
            "http://203.0.113.1/",
            "http://198.18.0.1/",
            "http://192.0.0.1/",
            "http://240.0.0.1/",
            "http://[2001:db8::1]/",
            "http://[2001::1]/",
            "http://[64:ff9b:1::1]/",
            "http://[100::1]/",
            "http://１２７.0.0.1/",
        ] {
            assert_eq!(checked(text, &[]), Err(TargetError::Forbidden), "{text}");
        }
        for text in ["http://8.8.8.8/", "https://[2606:4700::1111]/", "http://8.8.8.8:8080/"] {
            assert_eq!(checked(text, &[]), Ok(()), "{text}");
        }
    }

    #[test]
    fn local_names_low_ports_and_names_with_one_private_address_are_forbidden() {
        let public = ["8.8.8.8"];
        for text in [
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://db.internal/",
            "http://db.internal./",
            "http://hooks.example:22/",
            "http://hooks.example:0/",
            "http://hooks.example:1023/",
        ] {
            assert_eq!(checked(text, &public), Err(TargetError::Forbidden), "{text}");
        }
        assert_eq!(checked("http://hooks.example/", &["8.8.8.8", "10.0.0.1"]), Err(TargetError::Forbidden));
        assert_eq!(checked("http://hooks.example/", &[]), Ok(()), "it does not resolve yet");
        for text in [
            "http://hooks.example/?a=b",
            "http://hooks.example/a..b/...?c=/../",
            "https://hooks.example:8443/x",
            "http://mylocalhost/",
            "https://b\u{fc}cher.example/",
            "https://my_hooks-2.example./",
        ] {
            assert_eq!(checked(text, &public), Ok(()), "{text}");
        }
    }

    #[test]
    fn an_allowed_network_lifts_the_rules_of_address_name_and_port() {
        let policy = TargetPolicy { allowed: vec!["127.0.0.0/8".parse().unwrap()] };
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        for text in ["http://localhost:22/", "http://hooks.example/", "http://127.0.0.1:9/"] {
            assert_eq!(policy.check(&TargetPolicy::parse(text).unwrap(), &[here]), Ok(()), "{text}");
        }
        let url = TargetPolicy::parse("http://localhost/").unwrap();
        assert!(policy.check(&url, &[here, "10.0.0.1".parse().unwrap()]).is_err());
        assert!(policy.check(&url, &[]).is_err(), "a local name that does not resolve");
        let mapped = TargetPolicy::parse("http://[::ffff:127.0.0.1]/").unwrap();
        assert_eq!(policy.check(&mapped, &["::ffff:127.0.0.1".parse().unwrap()]), Ok(()));
    }
}
