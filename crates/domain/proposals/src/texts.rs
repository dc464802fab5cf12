//! The texts of drafts: removal of markup, rules, and the languages shown (contract 06 §2.4 to §2.6).

use crate::Proposal;
use civitas_kernel::{Error, FieldError, Locale, Locales, Result, Translated, Wording};
use html5gum::{DefaultEmitter, Token, Tokenizer};

/// The longest title, in characters.
const MAX_TITLE: i64 = 150;
/// The shortest title or body, in characters.
const MIN_LENGTH: usize = 15;
/// Elements that are removed with their content.
const HIDDEN: [&[u8]; 3] = [b"script", b"style", b"form"];

/// The current validation errors of a draft, by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DraftErrors {
    /// Of the title.
    pub title: Vec<FieldError>,
    /// Of the body.
    pub body: Vec<FieldError>,
}

impl DraftErrors {
    /// Validates a draft: each field in this language, else in the first that has text.
    pub fn new(proposal: &Proposal, locale: Locale, longest_body: i64) -> Self {
        Self {
            title: faults("title", text_in(&proposal.title, locale), MAX_TITLE),
            body: faults("body", text_in(&proposal.body, locale), longest_body),
        }
    }

    /// Validates the texts of a proposal that differ from those before, in each language. The field of an error has the
    /// language: `title[fr]`. A title and a body have text in some language.
    pub fn for_change(before: &Proposal, after: &Proposal, longest_body: i64) -> Self {
        Self {
            title: changed_faults("title", &before.title, &after.title, MAX_TITLE),
            body: changed_faults("body", &before.body, &after.body, longest_body),
        }
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.title.is_empty() && self.body.is_empty()
    }

    /// # Errors
    /// `Invalid`, title before body.
    pub fn refuse(self) -> Result<()> {
        Error::unless_valid(Wording::InvalidRequest, [self.title, self.body].concat())
    }
}

fn text_in(text: &Translated, locale: Locale) -> &str {
    text.title(locale).unwrap_or_default()
}

fn changed_faults(
    field: &'static str,
    before: &Translated,
    after: &Translated,
    longest: i64,
) -> Vec<FieldError> {
    if after.first_text().is_none() {
        return faults(field, "", longest);
    }
    let changed = after.iter().filter(|(locale, text)| before.get(*locale) != Some(*text));
    changed
        .flat_map(|(locale, text)| {
            let name = format!("{field}[{locale}]");
            faults(field, text, longest)
                .into_iter()
                .map(move |fault| FieldError { field: name.clone().into(), ..fault })
        })
        .collect()
}

/// The rules of contract 06 §2.6, in the order of its table.
fn faults(field: &'static str, text: &str, longest: i64) -> Vec<FieldError> {
    let name = if field == "title" { "Title" } else { "Body" };
    let fault = |code, message: &str| FieldError::new(field, code, format!("{name} {message}"));
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return vec![fault("blank", "cannot be blank")];
    }
    let mut faults = Vec::new();
    let capitals = trimmed.chars().filter(|c| c.is_uppercase()).count();
    if capitals >= 1 && capitals >= trimmed.chars().count() / 2 {
        let message = "is using too many capital letters (half of the text or more)";
        faults.push(fault("too_much_caps", message));
    }
    let is_mark = |c: &char| "!?¡¿".contains(*c);
    if trimmed.chars().zip(trimmed.chars().skip(1)).any(|(a, b)| is_mark(&a) && is_mark(&b)) {
        let message = "is using too many consecutive punctuation marks (e.g. ! and ?)";
        faults.push(fault("too_many_marks", message));
    }
    if trimmed.starts_with(is_small) {
        faults.push(fault("must_start_with_caps", "must start with a capital letter"));
    }
    let length = text.chars().count();
    if length < MIN_LENGTH {
        faults.push(fault("too_short", "is too short (under 15 characters)"));
    }
    if longest > 0 && i64::try_from(length).is_ok_and(|l| l > longest) {
        faults.push(fault("too_long", &format!("is too long (maximum is {longest} characters)")));
    }
    faults
}

/// Whether a letter has a capital that a sentence begins with. Those of Georgian are for whole words.
fn is_small(c: char) -> bool {
    c.is_lowercase() && !c.to_uppercase().eq([c]) && !('\u{10d0}'..='\u{10ff}').contains(&c)
}

/// Text without markup. Tags and comments are removed, and `script`, `style` and `form` elements with their content;
/// the content of other elements stays. `&`, `<` and `>` that are not markup stay unchanged. Takes time linear in the
/// length of any text. The result may look like markup (`<<b>b>` becomes `<b>`): it is text, and is escaped where it is
/// shown in HTML.
///
/// Source: contract 06 §2.5.
pub fn plain_text(text: &str) -> String {
    // An ampersand is text, never the start of a character reference. A private-use character stands for it: the tokenizer
    // reads an escape in some elements and leaves it in others (`<plaintext>`, `<xmp>`).
    let stand_in = ('\u{f8e0}'..='\u{f8ff}').find(|c| !text.contains(*c)).unwrap_or('&');
    let escaped = text.replace('&', stand_in.encode_utf8(&mut [0; 4]));
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut plain = String::with_capacity(text.len());
    let mut hidden_by: Option<Vec<u8>> = None;
    for Ok(token) in Tokenizer::new_with_emitter(&escaped, emitter) {
        match (token, &hidden_by) {
            (Token::String(part), None) => plain.push_str(&String::from_utf8_lossy(&part)),
            (Token::StartTag(tag), None) if HIDDEN.contains(&tag.name.as_slice()) => {
                hidden_by = Some(tag.name.0);
            }
            (Token::EndTag(tag), Some(name)) if tag.name.as_slice() == name => hidden_by = None,
            _ => {}
        }
    }
    plain.replace(stand_in, "&")
}

/// The shown texts of a draft's field: the requested languages, else the working one; if that has no text and the field
/// has one, its first text, so that a valid field is never empty (contract 06 §2.4).
pub fn draft_texts(text: &Translated, asked: Option<&Locales>, working: Locale) -> Translated {
    let part = match asked {
        Some(asked) => text.in_locales(asked),
        None => text.get(working).map(|text| (working, text.to_owned())).into_iter().collect(),
    };
    match text.first_text() {
        Some((locale, first)) if part.first_text().is_none() => [(locale, first.to_owned())].into(),
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(field: &'static str, text: &str) -> Vec<String> {
        faults(field, text, 20).into_iter().map(|f| f.code.into_owned()).collect()
    }

    #[test]
    fn a_blank_field_is_only_blank() {
        assert_eq!(codes("title", " \n"), ["blank"]);
    }

    #[test]
    fn several_rules_may_be_broken_in_the_order_of_the_table() {
        assert_eq!(
            codes("body", "our TREES!!"),
            ["too_much_caps", "too_many_marks", "must_start_with_caps", "too_short"]
        );
        assert_eq!(codes("body", "A body that is far too long for it"), ["too_long"]);
        assert_eq!(codes("body", "A body just right"), [] as [&str; 0]);
    }

    #[test]
    fn capitals_count_from_half_of_the_trimmed_text_in_every_script() {
        let is_shouting = |text: &str| codes("title", text).contains(&"too_much_caps".to_owned());
        for text in
            ["Short", "  ABCDEFGh ijklmnop  ", "ÀÉÎÕÜ àéîõü àéîõü", "Ab cd", "В начале было слово", "寿司"]
        {
            assert!(!is_shouting(text), "{text}");
        }
        for text in ["ABCDEFGH ijklmnop", "SHort", "ÀÉÎÕÜ ÀÉîõü", "ВСЕМ ПРИВЕТ", "A", "Ab"]
        {
            assert!(is_shouting(text), "{text}");
        }
    }

    #[test]
    fn a_text_begins_with_a_capital_where_its_script_has_one() {
        let is_small = |text: &str| codes("title", text).contains(&"must_start_with_caps".to_owned());
        for text in ["élan vital", " e\u{301}lan", "жизнь", "ﬁn", "βορράς"] {
            assert!(is_small(text), "{text}");
        }
        for text in ["Élan vital", "Жизнь", "数字", "مدينة", "თბილისი", "1 street", "¡hola!"]
        {
            assert!(!is_small(text), "{text}");
        }
    }

    #[test]
    fn messages_name_the_field() {
        let fault = &faults("title", "A short title", 150)[0];
        assert_eq!(fault.description, "Title is too short (under 15 characters)");
    }

    #[test]
    fn a_body_of_any_length_is_fine_where_none_is_set() {
        assert!(faults("body", &format!("A{}", "b".repeat(9_999)), 0).is_empty());
    }

    #[test]
    fn markup_goes_and_ordinary_characters_stay() {
        assert_eq!(plain_text("<p>Trees <b>now</b></p><script>x()</script><!-- no -->"), "Trees now");
        assert_eq!(plain_text("<form>Send <i>it</i></form>a < b & c > d"), "a < b & c > d");
        assert_eq!(plain_text("R&amp;D and &lt;b&gt; stay"), "R&amp;D and &lt;b&gt; stay");
        assert_eq!(plain_text("<style>p{}</style>1 <2"), "1 <2");
        assert_eq!(plain_text("<SCRIPT>a</b>c</script >d<br/>e"), "de");
        assert_eq!(plain_text("a<form>b<form>c</form>d</form>e"), "ade", "the first end tag ends a form");
        assert_eq!(plain_text("kept <script>never ended <b>"), "kept ");
        for element in ["plaintext", "xmp", "iframe", "textarea"] {
            assert_eq!(
                plain_text(&format!("<{element}>R & D &lt; \u{fdd0}")),
                "R & D &lt; \u{fdd0}",
                "{element}"
            );
        }
    }

    #[test]
    fn markup_is_removed_in_linear_time_whatever_it_holds() {
        // These inputs take quadratic time in a parser that builds a tree or compares attributes. The limit separates
        // linear (ratio 8) from quadratic (64), also on a busy machine.
        let worst: [fn(usize) -> String; 5] = [
            |n| "<div>".repeat(n) + &"</p>".repeat(n),
            |n| format!("<p {}>", (0..n).map(|i| i.to_string() + "a ").collect::<String>()),
            |n| "<b><i>".repeat(n) + &"</b></i>".repeat(n),
            |n| "<".repeat(n) + &"<!--".repeat(n) + &"<script>".repeat(n),
            |n| "&amp;<form>".repeat(n),
        ];
        for text in worst {
            let took = |n: usize| {
                let text = text(n);
                let measure = || {
                    let started = std::time::Instant::now();
                    plain_text(&text);
                    started.elapsed()
                };
                (0..5).map(|_| measure()).min().unwrap()
            };
            let (short, long) = (took(2_000), took(16_000));
            assert!(long < short * 30, "{short:?} for 2,000, {long:?} for 16,000");
        }
    }

    #[test]
    fn a_field_with_text_is_never_shown_empty() {
        let text: Translated = [(Locale::FR, "Arbres".to_owned())].into();
        assert_eq!(draft_texts(&text, None, Locale::EN), text);
        assert_eq!(draft_texts(&text, Some(&"es".parse().unwrap()), Locale::EN), text);
        assert_eq!(draft_texts(&Translated::default(), None, Locale::EN), Translated::default());
    }
}
