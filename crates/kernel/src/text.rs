//! How texts are compared: whether composed or decomposed, and in any case. The same on both engines.
//!
//! ```
//! use civitas_kernel::text::{fold_case, nfc, searchable};
//!
//! assert_eq!(nfc("e\u{301}lan"), "élan");
//! assert_eq!(fold_case("ΒΟΡΡΆΣ"), fold_case("βορράς"));
//! assert_eq!(fold_case("İZMİR"), "izmir");
//! assert_eq!(searchable("Vélo STRASSE"), searchable("velo Straße"));
//! ```

use html5gum::{DefaultEmitter, Token, Tokenizer};
use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use std::borrow::Cow;

/// The dot that is left of an `İ` in lower case. In composed text it stands alone behind few others.
pub const DOT_ABOVE: char = '\u{307}';

/// The composed form of a text (Unicode NFC), in which texts are compared.
pub fn nfc(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// A text in one case: each character for itself, so that the rest of a word does not matter (`ς` and `σ` are the
/// same), and all forms of the letter `i` are one.
pub fn fold_case(text: &str) -> String {
    text.chars().filter(|c| *c != DOT_ABOVE).map(fold_char).collect()
}

/// The character in lower case, by way of its upper case. One whose other case has several characters stays: `ß`.
pub fn fold_char(c: char) -> char {
    match c {
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        'İ' => 'i',
        _ => {
            let upper = single(c.to_uppercase()).unwrap_or(c);
            single(upper.to_lowercase()).unwrap_or(upper)
        }
    }
}

/// Bytes as hexadecimal digits in lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The name of a field as the start of a sentence: `Start time` of `start_time`.
pub fn sentence_case(field: &str) -> String {
    let mut words = field.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

/// Begins, separates and ends the translations of a stored searchable text. No searchable text has this character.
pub const TRANSLATION_END: char = '\u{1f}';

/// The form in which words are searched: without accents and other marks, in one case. Unicode compatibility
/// decomposition, marks removed, full case folding.
///
/// Source: contract 01 §6.2.
pub fn searchable(text: &str) -> String {
    let text = without_marks(text);
    // Folding can make characters that decompose again.
    let mut text = without_marks(&CaseMapper::new().fold_string(&text)).into_owned();
    text.retain(|c| c != TRANSLATION_END && c != '\0');
    text
}

fn without_marks(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let categories = CodePointMapData::<GeneralCategory>::new();
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    decomposed.chars().filter(|c| !GeneralCategoryGroup::Mark.contains(categories.get(*c))).collect()
}

/// The elements that begin or end within a word.
const INLINE: [&[u8]; 17] = [
    b"a", b"abbr", b"b", b"cite", b"code", b"del", b"em", b"font", b"i", b"ins", b"mark", b"s", b"small",
    b"span", b"strong", b"sub", b"sup",
];

/// The searchable form of HTML: without tags and comments. A tag of another element than those of [`INLINE`] separates
/// words.
pub fn searchable_html(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return searchable(html);
    }
    let mut text = String::with_capacity(html.len());
    for Ok(token) in Tokenizer::new_with_emitter(html, DefaultEmitter::default()) {
        match token {
            Token::String(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Token::StartTag(tag) if !INLINE.contains(&tag.name.as_slice()) => text.push(' '),
            Token::EndTag(tag) if !INLINE.contains(&tag.name.as_slice()) => text.push(' '),
            _ => {}
        }
    }
    searchable(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_a_word_is_folded_to_the_same() {
        for words in [
            ["ΒΟΡΡΆΣ", "βορράς", "Βορράσ"],
            ["ΘΆΛΑΣΣΑ", "θάλασσα", "Θάλαςςα"],
            ["İZMİR", "izmir", "i̇zmi̇r"],
            ["ISPARTA", "ısparta", "isparta"],
            ["ÉLAN", "élan", "Élan"],
            ["STRAẞE", "straße", "Straße"],
        ] {
            let folded = words.map(|word| fold_case(&nfc(word)));
            assert!(folded.iter().all(|word| *word == folded[0]), "{folded:?}");
        }
        assert_ne!(fold_case("cafe"), fold_case("café"));
    }

    #[test]
    fn words_are_searched_without_marks_and_in_one_case() {
        for (one, other) in [
            ("VÉLO", "velo"),
            ("Straße", "STRASSE"),
            ("ΒΟΡΡΆΣ", "βορρας"),
            ("İzmir", "izmir"),
            ("Йод", "ЙОД"),
            ("ﬁn", "FIN"),
            ("が", "か"),
            ("Ⅷ", "viii"),
            ("a\u{1f}b\0", "ab"),
        ] {
            assert_eq!(searchable(one), searchable(other), "{one}");
        }
        assert_eq!(searchable("\u{301}\u{302}"), "");
        assert_eq!(searchable("図書館"), "図書館");
    }

    #[test]
    fn a_searchable_form_is_its_own() {
        for text in ["ᾷ", "ΐ", "ß", "ŉ", "ẞ", "ﬃ", "\u{345}Α", "한국", "ｶﾞ", "\u{1e9b}\u{323}"]
        {
            assert_eq!(searchable(&searchable(text)), searchable(text), "{text}");
        }
    }

    #[test]
    fn tags_are_not_searched_and_separate_words_where_they_are_shown_apart() {
        assert_eq!(searchable_html("<p>Tr<b>ee</b>s</p><p>now<br>R&amp;D</p>"), " trees  now r&d ");
        assert_eq!(searchable_html("a < b<!-- no -->"), "a < b");
    }

    #[test]
    fn the_beginning_of_a_word_is_the_beginning_of_the_folded_word() {
        for word in ["ΘΆΛΑΣΣΑ", "ΒΟΡΡΆΣ", "İZMİR"] {
            for (end, _) in word.char_indices() {
                assert!(fold_case(word).starts_with(&fold_case(&word[..end])), "{}", &word[..end]);
            }
        }
    }
}
