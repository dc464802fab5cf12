//! Hosts in addresses and in the `Host` header (RFC 3986, 3.2): an IPv6 address has brackets there, and none where it is
//! stored.

use std::borrow::Cow;

/// The host in the form of an address: an IPv6 address in brackets.
pub fn host_in_address(host: &str) -> Cow<'_, str> {
    if host.contains(':') { format!("[{host}]").into() } else { host.into() }
}

/// Host and port of an authority; the host of a literal IPv6 address without its brackets.
pub fn split_authority(authority: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = authority.strip_prefix('[').and_then(|a| a.split_once(']')) {
        return (host, rest.strip_prefix(':'));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// The host of an authority in the form that is stored: lower case, no port, without one trailing dot.
pub fn host_of(authority: &str) -> String {
    let host = split_authority(authority).0;
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_case_port_and_one_trailing_dot() {
        for (authority, host) in [
            ("City.Example:8443", "city.example"),
            ("city.example.", "city.example"),
            ("[2001:DB8::1]:3000", "2001:db8::1"),
            ("[::1]", "::1"),
            ("a..", "a."),
        ] {
            assert_eq!(host_of(authority), host);
        }
    }

    #[test]
    fn an_ipv6_address_has_brackets_in_addresses_and_other_hosts_have_none() {
        for (host, written) in [("::1", "[::1]"), ("10.0.0.1", "10.0.0.1"), ("city.example", "city.example")]
        {
            assert_eq!(host_in_address(host), written);
            assert_eq!(host_of(&format!("{written}:3000")), host);
        }
    }
}
