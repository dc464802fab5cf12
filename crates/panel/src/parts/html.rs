//! Text that is HTML already.

use askama::Template;
use askama::filters::HtmlSafe;
use std::fmt;

/// HTML; it is not escaped again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl HtmlSafe for Html {}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Template)]
#[template(source = "{{ text }}", ext = "html")]
struct Plain<'a> {
    text: &'a str,
}

#[derive(Template)]
#[template(
    source = r#"<{{ tag }}{% for (name, value) in attributes %} {{ name }}="{{ value }}"{% endfor %}>{{ text }}</{{ tag }}>"#,
    ext = "html"
)]
struct Element<'a> {
    tag: &'a str,
    attributes: &'a [(&'a str, &'a str)],
    text: &'a str,
}

impl Html {
    /// An element with a text, which is escaped, as the values of its attributes are.
    pub(super) fn element(tag: &str, attributes: &[(&str, &str)], text: &str) -> Self {
        render(&Element { tag, attributes, text })
    }

    /// Text that is in English whatever the language of the page.
    pub(crate) fn in_english(text: &str) -> Self {
        Self::element("span", &[("lang", "en")], text)
    }

    /// Text, escaped.
    pub(crate) fn text(text: &str) -> Self {
        render(&Plain { text })
    }

    /// A paragraph.
    pub(crate) fn paragraph(class: &str, text: &str) -> Self {
        Self::element("p", &[("class", class)], text)
    }

    /// An identifier as it is on the wire.
    pub(crate) fn code(text: &str) -> Self {
        Self::element("code", &[], text)
    }

    /// A link.
    pub(crate) fn link(href: &str, text: &str) -> Self {
        Self::element("a", &[("href", href)], text)
    }

    /// These one after the other.
    pub(crate) fn join(parts: impl IntoIterator<Item = Html>) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Renders a template.
pub(crate) fn render(template: &impl Template) -> Html {
    Html(template.render().unwrap_or_else(|error| {
        tracing::error!(%error, "a part of a page could not be rendered");
        String::new()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_once() {
        let text = Html::text("<b> & \"quoted\"");
        assert!(!text.to_string().contains("<b>"));
        assert_eq!(Html::join([text.clone()]), text);
        assert!(Html::link("/a\"b", "x").to_string().starts_with("<a href=\"/a&#34;b\""));
    }
}
