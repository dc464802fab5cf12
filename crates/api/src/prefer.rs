//! The header `Prefer` (RFC 7240).

use actix_web::http::header::HeaderMap;

/// Whether the caller requests the total of a list: the first preference `count` is `exact` (contract 01 §7). Other
/// preferences have no effect.
pub(crate) fn is_count_exact(headers: &HeaderMap) -> bool {
    let sent = headers.get_all("prefer").filter_map(|value| value.to_str().ok());
    let mut preferences = sent.flat_map(|value| split(value, ','));
    let count = preferences.find_map(|preference| {
        let preference = split(preference, ';').next()?;
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        name.trim().eq_ignore_ascii_case("count").then(|| value.trim().trim_matches('"'))
    });
    count == Some("exact")
}

/// The parts between separators outside of quoted strings.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |letter: char| {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        letter == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn is_counted(headers: &[&str]) -> bool {
        let mut map = HeaderMap::new();
        for value in headers {
            map.append(HeaderName::from_static("prefer"), HeaderValue::from_str(value).unwrap());
        }
        is_count_exact(&map)
    }

    #[test]
    fn the_total_is_counted_if_the_first_preference_of_this_name_is_exact() {
        for headers in [
            &["count=exact"][..],
            &["respond-async, Count = \"exact\" ; x=y"],
            &["return=minimal; a=\"b, count=none; \\\" c\"", "wait=10,count=exact"],
            &["count=exact, count=none"],
        ] {
            assert!(is_counted(headers), "{headers:?}");
        }
        assert!(!is_counted(&[]));
        for headers in [
            &[""][..],
            &["count"],
            &["count;count=exact"],
            &["count=planned", "count=exact"],
            &["x=\"count=exact, count=exact\""],
            &["counts=exact"],
        ] {
            assert!(!is_counted(headers), "{headers:?}");
        }
    }
}
