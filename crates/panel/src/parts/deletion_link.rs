//! The link to the confirmation page of a deletion.

use super::Html;
use super::html::render;
use crate::translator::Translator;
use askama::Template;

#[derive(Template)]
#[template(path = "parts/deletion_link.html")]
struct DeletionLink<'a> {
    translator: &'a Translator,
    lede: String,
    href: String,
    name: String,
}

/// The link below a form to the confirmation page of the deletion of a record. `name`: that of the record.
pub(crate) fn deletion_link(translator: &Translator, lede: String, href: String, name: String) -> Html {
    render(&DeletionLink { translator, lede, href, name })
}
