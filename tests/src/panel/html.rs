//! The tags and texts of a page.

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};

/// A part of a page.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Start(String, Vec<(String, String)>),
    End(String),
    Text(String),
}

fn utf8(text: &HtmlString) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The parts of a page, in their order.
pub(super) fn parts(html: &str) -> Vec<Part> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let read = |token| match token {
        Token::StartTag(StartTag { name, attributes, .. }) => {
            let attributes = attributes.iter().map(|(name, value)| (utf8(name), utf8(value))).collect();
            Some(Part::Start(utf8(&name), attributes))
        }
        Token::EndTag(tag) => Some(Part::End(utf8(&tag.name))),
        Token::String(text) => Some(Part::Text(utf8(&text))),
        _ => None,
    };
    Tokenizer::new_with_emitter(html, emitter).filter_map(Result::ok).filter_map(read).collect()
}

/// The value of an attribute.
pub(super) fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
