//! How texts are compared: whether composed or decomposed, and in any case. The same on both engines.
//!
//! ```
//! use civitas_kernel::text::{fold, nfc};
//!
//! assert_eq!(nfc("e\u{301}lan"), "élan");
//! assert_eq!(fold("ΒΟΡΡΆΣ"), fold("βορράς"));
//! assert_eq!(fold("İZMİR"), "izmir");
//! ```

use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

/// The dot that is left of an `İ` in lower case. In composed text it stands alone behind few others.
pub const DOT_ABOVE: char = '\u{307}';

/// The composed form of a text (Unicode NFC), in which texts are compared.
pub fn nfc(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// A text in one case: each character for itself, so that the rest of a word does not matter (`ς` and `σ` are the
/// same), and all forms of the letter `i` are one.
pub fn fold(text: &str) -> String {
    text.chars().filter(|c| *c != DOT_ABOVE).map(folded).collect()
}

/// The character in lower case, by way of its upper case. One whose other case has several characters stays: `ß`.
pub fn folded(c: char) -> char {
    match c {
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        'İ' => 'i',
        _ => {
            let upper = single(c.to_uppercase()).unwrap_or(c);
            single(upper.to_lowercase()).unwrap_or(upper)
        }
    }
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
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
            let folded = words.map(|word| fold(&nfc(word)));
            assert!(folded.iter().all(|word| *word == folded[0]), "{folded:?}");
        }
        assert_ne!(fold("cafe"), fold("café"));
    }

    #[test]
    fn the_beginning_of_a_word_is_the_beginning_of_the_folded_word() {
        for word in ["ΘΆΛΑΣΣΑ", "ΒΟΡΡΆΣ", "İZMİR"] {
            for (end, _) in word.char_indices() {
                assert!(fold(word).starts_with(&fold(&word[..end])), "{}", &word[..end]);
            }
        }
    }
}
