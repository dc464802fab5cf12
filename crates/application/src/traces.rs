//! Traces of requests: the trace of the caller (decision 0040).

use ipnet::IpNet;
use std::net::IpAddr;

/// The length of a header `traceparent` of version 00, in bytes (W3C Trace Context 3.2).
const LENGTH: usize = 55;

/// The header `traceparent` of a request; `None` if the peer is not a trusted proxy, or the header has another form. A
/// request always begins a trace of its own, which has a link to this one.
pub fn caller_trace<'a>(peer: Option<IpAddr>, header: Option<&'a str>, trusted: &[IpNet]) -> Option<&'a str> {
    let peer = peer?.to_canonical();
    let is_trusted = trusted.iter().any(|network| network.contains(&peer));
    let is_hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    header.filter(|header| is_trusted && header.len() == LENGTH && header.bytes().all(is_hexadecimal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_names_a_trace() {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let of = |peer: &str, header| caller_trace(Some(peer.parse().unwrap()), Some(header), &trusted);
        assert_eq!(of("10.0.0.1", header), Some(header));
        assert_eq!(of("::ffff:10.0.0.1", header), Some(header));
        assert_eq!(of("192.0.2.1", header), None);
        assert_eq!(of("10.0.0.1", &header[1..]), None);
        assert_eq!(of("10.0.0.1", &header.replace("4bf9", "ada@")), None);
        assert_eq!(caller_trace(None, Some(header), &trusted), None);
    }
}
