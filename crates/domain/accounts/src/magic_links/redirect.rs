//! Checks the `redirect_url` of a magic link (contract 03 §3.1); returns the first broken rule.

use civitas_kernel::{Error, Result};
use serde_json::Value;
use url::{ParseError, Url};

/// The longest address, in characters.
const MAX_LENGTH: usize = 2048;

/// Rule 0: the address without surrounding white space; `None` when there is none.
///
/// # Errors
/// `invalid_url` for a value that is not a text.
pub fn read(sent: Option<&Value>) -> Result<Option<String>> {
    match sent {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(invalid()),
    }
}

/// Rules 1 to 7, for an address without white space around it. `destinations` are hosts in the stored form. An address
/// is parsed as browsers parse it, and refused if other parsers differ: otherwise a client could find another host in
/// it than the one checked.
///
/// # Errors
/// `too_long`, `ascii_only`, `invalid_url`, `https_only`, `host_blank`, `userinfo`, `host_not_allowed`.
pub fn check(url: &str, destinations: &[String]) -> Result<()> {
    if url.chars().count() > MAX_LENGTH {
        return Err(refused("too_long", "Is too long (maximum is 2048 characters)"));
    }
    let rest = rest_of_https(url);
    if rest.is_some_and(|rest| !rest.bytes().all(|b| (0x20..=0x7E).contains(&b))) {
        return Err(refused("ascii_only", "Must contain only printable ASCII characters"));
    }
    // Browsers drop tabs and line breaks, and read `\` as `/`; other parsers do not.
    if url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(invalid());
    }
    let parsed = match Url::parse(url) {
        Ok(parsed) => Some(parsed),
        Err(ParseError::EmptyHost) => None,
        // An address without scheme takes that of the page: valid, but not https by itself.
        Err(ParseError::RelativeUrlWithoutBase)
            if url.starts_with("//") && Url::parse(&format!("https:{url}")).is_ok() =>
        {
            None
        }
        Err(_) => return Err(invalid()),
    };
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if !scheme.eq_ignore_ascii_case("https") {
        return Err(refused("https_only", "Must use the https scheme"));
    }
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = parsed.filter(|_| !host.is_empty()).and_then(|url| url.host_str().map(normalized));
    let Some(host) = host else { return Err(refused("host_blank", "Must include a valid host")) };
    if authority.contains('@') {
        return Err(refused("userinfo", "Must not include user information"));
    }
    if !destinations.iter().any(|allowed| normalized(allowed) == host) {
        return Err(refused("host_not_allowed", "Host is not allowed for this organization"));
    }
    Ok(())
}

/// The part after `https://`, case-insensitively.
fn rest_of_https(url: &str) -> Option<&str> {
    const START: &str = "https://";
    let start = url.get(..START.len())?;
    start.eq_ignore_ascii_case(START).then(|| &url[START.len()..])
}

/// In lower case, without one leading `www.`, port and brackets.
fn normalized(host: &str) -> String {
    let host = host.trim().to_ascii_lowercase();
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => match host.rsplit_once(':') {
            Some((name, _)) if !name.contains(':') => name,
            _ => &host,
        },
    };
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

fn invalid() -> Error {
    refused("invalid_url", "Is not a valid URL")
}

fn refused(code: &'static str, description: &'static str) -> Error {
    Error::unprocessable("redirect_url", code, description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn code(url: &str) -> String {
        let destinations = ["city.example", "www.Town.example", "Partner.example:8443", "::1", "10.0.0.1"]
            .map(str::to_owned);
        match check(url, &destinations) {
            Ok(()) => "ok".to_owned(),
            Err(error) => {
                let [field] = error.details() else { panic!("{error}") };
                assert_eq!(
                    (field.field.as_ref(), field.description.as_str()),
                    ("redirect_url", &*error.description())
                );
                field.code.to_string()
            }
        }
    }

    #[test]
    fn white_space_around_is_no_part_and_nothing_is_none() {
        for none in [None, Some(json!(null)), Some(json!("")), Some(json!(" \t\n"))] {
            assert_eq!(read(none.as_ref()).unwrap(), None, "{none:?}");
        }
        assert_eq!(read(Some(&json!(" https://a\n"))).unwrap().as_deref(), Some("https://a"));
        for other in [json!(7), json!(true), json!(["https://a"]), json!({"a": 1})] {
            assert_eq!(read(Some(&other)).unwrap_err().details()[0].code, "invalid_url", "{other}");
        }
    }

    #[test]
    fn the_first_rule_that_is_broken_is_reported() {
        // `https://city.example/` has 21 characters.
        let of_length = |length: usize| format!("https://city.example/{}", "x".repeat(length - 21));
        for (url, expected) in [
            (of_length(2048), "ok"),
            (of_length(2049), "too_long"),
            ("é".repeat(2049), "too_long"),
            ("é".repeat(2048), "invalid_url"),
            ("https://cité.example".to_owned(), "ascii_only"),
            ("HTTPS://city.example/\u{7f}".to_owned(), "ascii_only"),
            ("https://city.example/a\tb".to_owned(), "ascii_only"),
            ("http://cité.example".to_owned(), "https_only"),
        ] {
            assert_eq!(code(&url), expected, "{url}");
        }
    }

    #[test]
    fn what_can_not_be_read_in_one_way_only_is_no_address() {
        for url in [
            "nowhere",
            "/path",
            "//city.example:port/",
            "https://city.example/a b",
            "https://city.example:port/",
            "https://city.example:99999/",
            "https://[::1",
            "https:\\\\city.example",
            "https://evil.example\\@city.example/",
            "\u{1}https://city.example",
            "ht\ntps://city.example",
        ] {
            assert_eq!(code(url), "invalid_url", "{url}");
        }
    }

    #[test]
    fn scheme_host_and_user_are_looked_at_in_this_order() {
        for (url, expected) in [
            ("http://city.example", "https_only"),
            ("javascript:alert(1)", "https_only"),
            ("http://", "https_only"),
            ("//city.example/", "https_only"),
            ("ftp://user@evil.example", "https_only"),
            ("https://", "host_blank"),
            ("https:///city.example", "host_blank"),
            ("https:city.example", "host_blank"),
            ("https:/city.example", "host_blank"),
            ("https://?a=city.example", "host_blank"),
            ("https://user@", "host_blank"),
            ("https://user@/", "host_blank"),
            ("https://user@city.example", "userinfo"),
            ("https://@city.example", "userinfo"),
            ("https://city.example:x@evil.example", "userinfo"),
            ("https://city.example@evil.example", "userinfo"),
        ] {
            assert_eq!(code(url), expected, "{url}");
        }
    }

    #[test]
    fn hosts_are_compared_whole_without_case_port_and_www() {
        for url in [
            "https://city.example",
            "HTTPS://City.Example:444/a@b?c=d@e#f",
            "https://www.city.example",
            "https://town.example",
            "https://WWW.town.example",
            "https://partner.example",
            "https://partner.example:8443",
            "https://[::1]:3000/",
            "https://10.0.0.1/",
        ] {
            assert_eq!(code(url), "ok", "{url}");
        }
        for url in [
            "https://evil.example",
            "https://sub.city.example",
            "https://www.www.city.example",
            "https://city.example.evil.example",
            "https://evilcity.example",
            "https://city.example.",
            "https://%65vil.example",
        ] {
            assert_eq!(code(url), "host_not_allowed", "{url}");
        }
    }
}
