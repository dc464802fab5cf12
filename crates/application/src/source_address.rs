//! The address of the client of a request, which proxies in between name.

use ipnet::IpNet;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// The address of the client of a request: that of the peer; behind a trusted proxy the last address that is not of a
/// trusted proxy, in `X-Forwarded-For`, or without it in `Forwarded` (RFC 7239). An address may have a port and brackets.
/// If a proxy names no address, what stands before it is not used: the client may have written it. `values`: all those of a
/// header, also what is no text.
pub fn source_address<'a>(
    peer: IpAddr,
    values: impl Fn(&'static str) -> Vec<Cow<'a, str>>,
    trusted: &[IpNet],
) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    if !is_trusted(peer) {
        return peer;
    }
    let (listed, forwarded) = (values("x-forwarded-for"), values("forwarded"));
    let mut named: Vec<&str> = listed.iter().flat_map(|value| value.split(',')).collect();
    if listed.is_empty() {
        let elements = forwarded.iter().flat_map(|value| unquoted(value, ','));
        named = elements.map(|element| forwarded_parameter(element, "for")).collect();
    }
    for text in named.into_iter().rev() {
        match address(text) {
            Some(address) if is_trusted(address) => {}
            Some(address) => return address,
            None => return peer,
        }
    }
    peer
}

/// The parts of a text between separators that are not in quotes.
fn unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |character| {
        is_quoted ^= character == '"';
        character == separator && !is_quoted
    })
}

/// The value of a parameter of the first element of `Forwarded`; empty without it.
pub fn forwarded_parameter<'a>(elements: &'a str, name: &str) -> &'a str {
    let element = unquoted(elements, ',').next().unwrap_or_default();
    let mut pairs = unquoted(element, ';').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    found.map_or("", |(_, value)| value.trim().trim_matches('"'))
}

/// `203.0.113.7`, `203.0.113.7:50001`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:50001`.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse::<IpAddr>().ok().or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The address of a client of a peer, with values of `X-Forwarded-For` and `Forwarded`.
    fn address_of(peer: &str, x_forwarded_for: &[&'static str], forwarded: &[&'static str]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let values = |name| {
            let values = if name == "forwarded" { forwarded } else { x_forwarded_for };
            values.iter().map(|value| Cow::from(*value)).collect()
        };
        source_address(peer.parse().unwrap(), values, &trusted).to_string()
    }

    #[test]
    fn forwarded_addresses_count_behind_a_trusted_proxy_only() {
        let told = "203.0.113.9, 198.51.100.7, 10.0.0.2";
        assert_eq!(address_of("192.0.2.1", &[told], &[]), "192.0.2.1");
        assert_eq!(address_of("10.0.0.1", &[told], &[]), "198.51.100.7");
        assert_eq!(
            address_of("::ffff:10.0.0.1", &["203.0.113.9", "198.51.100.7, 10.0.0.2"], &[]),
            "198.51.100.7"
        );
        assert_eq!(address_of("10.0.0.1", &["10.0.0.3, 10.0.0.2"], &[]), "10.0.0.1");
        assert_eq!(address_of("10.0.0.1", &[], &["for=198.51.100.7, for=10.0.0.2"]), "198.51.100.7");
        assert_eq!(address_of("192.0.2.1", &[], &["for=198.51.100.7"]), "192.0.2.1");
        assert_eq!(address_of("10.0.0.1", &["198.51.100.7"], &["for=203.0.113.9"]), "198.51.100.7");
    }

    #[test]
    fn an_address_may_have_a_port_and_brackets() {
        for (text, address) in [
            ("203.0.113.7:50001", "203.0.113.7"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:50001", "2001:db8::1"),
            ("[::ffff:203.0.113.7]:1", "203.0.113.7"),
        ] {
            assert_eq!(address_of("10.0.0.1", &[text], &[]), address);
        }
        for (element, address) in [
            ("for=192.0.2.43", "192.0.2.43"),
            ("proto=https;For=\"192.0.2.43:47011\";by=203.0.113.43", "192.0.2.43"),
            ("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=192.0.2.43, for=\"[2001:db8:cafe::17]\"", "2001:db8:cafe::17"),
        ] {
            assert_eq!(address_of("10.0.0.1", &[], &[element]), address);
        }
    }

    /// A client could write any address before the one that its proxy does not name.
    #[test]
    fn what_stands_before_a_proxy_that_names_no_address_is_not_used() {
        for text in ["nonsense", "203.0.113.9, unknown", "203.0.113.9, _hidden", "203.0.113.9:99999"] {
            assert_eq!(address_of("10.0.0.1", &[text], &[]), "10.0.0.1", "{text}");
        }
        for element in
            ["proto=https", "for=unknown", "for=203.0.113.9, for=_hidden", "for=203.0.113.9, by=10.0.0.1"]
        {
            assert_eq!(address_of("10.0.0.1", &[], &[element]), "10.0.0.1", "{element}");
        }
        let forged = "\u{fffd}, 198.51.100.7";
        assert_eq!(
            address_of("10.0.0.1", &[forged], &["for=203.0.113.9"]),
            "198.51.100.7",
            "no text is no absence"
        );
        for host in ["city.test,for=203.0.113.9", "city.test;for=203.0.113.9"] {
            let element = format!("host=\"{host}\";for=198.51.100.7").leak();
            assert_eq!(address_of("10.0.0.1", &[], &[element]), "198.51.100.7", "{host}");
            assert_eq!(forwarded_parameter(element, "host"), host);
        }
    }
}
