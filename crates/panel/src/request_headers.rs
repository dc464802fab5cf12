//! Reads the headers of a request: the address of the client, whether another site sent it, its cookies.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use civitas_application::source_address;
use ipnet::IpNet;
use std::net::IpAddr;

/// The address of the client: that of the peer; behind a trusted proxy the last address in `X-Forwarded-For` or
/// `Forwarded` that is not a trusted proxy itself.
pub(crate) fn client_ip(request: &HttpRequest, trusted: &[IpNet]) -> Option<IpAddr> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned().into();
    let values = |name| request.headers().get_all(name).map(text).collect();
    Some(source_address(request.peer_addr()?.ip(), values, trusted))
}

/// Whether the browser says that the request comes from another site. Browsers without the header pass; their requests
/// are checked by the token of the form.
pub(crate) fn is_cross_site(request: &HttpRequest) -> bool {
    let site = request.headers().get("sec-fetch-site").and_then(|value| value.to_str().ok());
    matches!(site, Some("cross-site" | "same-site"))
}

/// The value of a cookie. Cookies of other programs may be of any bytes.
pub(crate) fn cookie(request: &HttpRequest, name: &str) -> Option<String> {
    let headers = request.headers().get_all(header::COOKIE);
    let pairs = headers.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let mut pairs = pairs.filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn request(peer: &str, forwarded: &str) -> HttpRequest {
        let request = TestRequest::default().peer_addr(format!("{peer}:1").parse().unwrap());
        request.insert_header(("x-forwarded-for", forwarded)).to_http_request()
    }

    #[test]
    fn forwarded_addresses_count_behind_a_trusted_proxy_only() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let told = "203.0.113.9, 198.51.100.7, 10.0.0.2";
        assert_eq!(client_ip(&request("192.0.2.1", told), &trusted), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(client_ip(&request("10.0.0.1", told), &trusted), Some("198.51.100.7".parse().unwrap()));
        assert_eq!(client_ip(&request("10.0.0.1", "nonsense"), &trusted), Some("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn one_cookie_of_several_is_read() {
        let request = TestRequest::default().insert_header(("cookie", "a=1; civitas_panel=x=y; b=2"));
        let request = request.to_http_request();
        assert_eq!(cookie(&request, "civitas_panel").as_deref(), Some("x=y"));
        assert_eq!(cookie(&request, "civitas"), None);
    }

    #[test]
    fn a_cookie_of_another_program_may_be_of_any_bytes() {
        for other in ["campaign=Unders\u{f8}gelse".as_bytes(), b"campaign=Unders\xf8gelse"] {
            for cookies in [[other, b"civitas_panel=x"], [b"civitas_panel=x", other]] {
                let value = header::HeaderValue::from_bytes(&cookies.join(&b"; "[..])).unwrap();
                let request = TestRequest::default().insert_header((header::COOKIE, value)).to_http_request();
                assert_eq!(cookie(&request, "civitas_panel").as_deref(), Some("x"), "{cookies:?}");
            }
        }
    }
}
