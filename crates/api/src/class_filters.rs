//! Patterns of class names in filters (contract 01 §2). They are compared with class names as they are written on the
//! wire, and with the other prefix that the pattern has.

use civitas_attachments::PARENT_NAMES;
use civitas_kernel::filter::RawValue;
use civitas_kernel::{ClassNames, SpaceKind};
use std::iter::once;

/// The longest pattern that is compared, in bytes. Longer values of filters are refused (contract 01 §6).
const MAX_LENGTH: usize = 1024;
/// A class name that no record has.
const NO_CLASS: &str = "-";

/// A filter of a field with class names by a part or a pattern (`_start`, `_cont`, `_i_cont`, `_matches`), as a filter of
/// the class names that it matches: the key and the values. `None` for other filters, and for patterns that the stored
/// names can be compared with.
pub(crate) fn class_filter(key: &str, pattern: &str, names: &ClassNames) -> Option<(String, RawValue)> {
    let (field, predicate) = ["_start", "_matches", "_i_cont", "_cont"]
        .into_iter()
        .find_map(|predicate| Some((key.strip_suffix(predicate)?, predicate)))?;
    let classes = classes_of(field)?;
    let prefixes = names.prefixes_in(pattern);
    if prefixes.is_empty() || pattern.is_empty() || pattern.len() > MAX_LENGTH {
        return None;
    }
    let pattern = pattern.to_ascii_lowercase();
    let is_match = |class: &&&str| {
        prefixes.iter().any(|prefix| {
            let name = class.replacen("Platform::", &format!("{prefix}::"), 1).to_ascii_lowercase();
            match predicate {
                "_start" => name.starts_with(&pattern),
                "_matches" => is_like(&name, &pattern),
                _ => name.contains(&pattern),
            }
        })
    };
    let found: Vec<String> = classes.iter().filter(is_match).map(|class| (*class).to_owned()).collect();
    if found.is_empty() {
        return Some((key.to_owned(), RawValue::One(NO_CLASS.to_owned())));
    }
    Some((format!("{field}_in"), RawValue::Many(found)))
}

/// The class names that a field can have.
fn classes_of(field: &str) -> Option<Vec<&'static str>> {
    let spaces = || SpaceKind::ALL.into_iter().map(SpaceKind::class);
    match field {
        "participatory_space_type" => Some(spaces().collect()),
        "resource_type" => Some(once("Platform::Organization").chain(spaces()).collect()),
        "attached_to_type" => Some(PARENT_NAMES.iter().copied().filter(|name| name.contains("::")).collect()),
        _ => None,
    }
}

/// Whether a text is like a pattern: `%` and `_` are wildcards, `\` escapes. The time is the product of the lengths.
fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // For each length, whether the pattern so far matches that many characters.
    let mut is_matched = vec![false; text.len() + 1];
    is_matched[0] = true;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '%' {
            let shortest = is_matched.iter().position(|is_matched| *is_matched).unwrap_or(is_matched.len());
            is_matched[shortest..].fill(true);
            continue;
        }
        let only = match letter {
            '_' => None,
            '\\' => Some(letters.next().unwrap_or(letter)),
            letter => Some(letter),
        };
        for at in (1..is_matched.len()).rev() {
            is_matched[at] = is_matched[at - 1] && only.is_none_or(|only| only == text[at - 1]);
        }
        is_matched[0] = false;
    }
    is_matched[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &str, pattern: &str, prefix: &str) -> Option<(String, String)> {
        let names = prefix.parse().unwrap();
        class_filter(key, pattern, &names).map(|(key, value)| match value {
            RawValue::One(one) => (key, one),
            RawValue::Many(classes) => (key, classes.join(" ")),
        })
    }

    fn of_space(classes: &str) -> (String, String) {
        ("participatory_space_type_in".to_owned(), classes.to_owned())
    }

    #[test]
    fn patterns_with_a_prefix_are_the_class_names_they_match() {
        let (start, like) = ("participatory_space_type_start", "participatory_space_type_matches");
        let assembly = Some(of_space("Platform::Assembly"));
        assert_eq!(found(start, "decidim::a", "Platform"), assembly);
        assert_eq!(found(like, "%Decidim::Assembly", "Platform"), assembly);
        assert_eq!(found(like, "decidim::_ssembl%", "Platform"), assembly);
        for part in ["participatory_space_type_cont", "participatory_space_type_i_cont"] {
            assert_eq!(found(part, "dim::Assem", "Platform"), None, "a part without the whole prefix");
            assert_eq!(found(part, "Decidim::assem", "Platform"), assembly);
        }
        assert_eq!(found(start, "Platform::A", "Platform"), None, "stored names have this prefix");
        assert_eq!(found(start, "A", "Platform"), None);
        assert_eq!(found("file_type_start", "decidim::a", "Platform"), None);
        let none = Some((like.to_owned(), "-".to_owned()));
        assert_eq!(found(like, "Decidim::X%", "Platform"), none);
    }

    #[test]
    fn with_another_prefix_on_output_patterns_are_compared_with_the_output() {
        let (start, like) = ("participatory_space_type_start", "participatory_space_type_matches");
        assert_eq!(found(like, "Deci%Conf%", "Decidim"), Some(of_space("Platform::Conference")));
        assert_eq!(found(start, "agora::i", "Agora"), Some(of_space("Platform::Initiative")));
        assert_eq!(found(start, "Platform::I", "Agora"), Some(of_space("Platform::Initiative")));
        assert_eq!(found(like, "%form%", "Agora"), Some((like.to_owned(), "-".to_owned())));
        let posts = Some(("attached_to_type_in".to_owned(), "Platform::Blogs::Post".to_owned()));
        assert_eq!(found("attached_to_type_matches", "Decidim::Blogs::%", "Agora"), posts);
    }

    #[test]
    fn likeness_is_that_of_sql() {
        for (text, pattern, expected) in [
            ("a::b", "a%b", true),
            ("a::b", "%", true),
            ("", "", true),
            ("a", "", false),
            ("aab", "%ab", true),
            ("aXb", "a_b", true),
            ("a_b", "a\\_b", true),
            ("aXb", "a\\_b", false),
            ("abab", "%ab_", false),
            ("a", "a%%", true),
        ] {
            assert_eq!(is_like(text, pattern), expected, "{text} {pattern}");
        }
    }
}
