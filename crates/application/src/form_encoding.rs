//! Decodes `application/x-www-form-urlencoded`: forms, queries, and credentials of HTTP Basic.

use percent_encoding::percent_decode_str;

/// The names and values of a form or query, in the order given; `None` instead of a pair that is not UTF-8.
pub fn form_pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((form_decoded(name)?, form_decoded(value)?))
    })
}

/// A name or a value, decoded; `None` if it is not UTF-8.
pub fn form_decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_is_not_utf8_is_none_and_the_others_are_decoded() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        let read: Vec<_> = form_pairs("a+b=%C3%A9%2B=&&c&=d&caf%E9=1&e=caf%E9&f=%&g=%EF%BF%BD").collect();
        let expected = [
            pair("a b", "é+="),
            pair("c", ""),
            pair("", "d"),
            None,
            None,
            pair("f", "%"),
            pair("g", "\u{fffd}"),
        ];
        assert_eq!(read, expected);
    }
}
