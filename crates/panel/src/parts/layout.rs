//! The frame of every page: navigation, result of the last action, head, body.

use super::html::render;
use super::{FormErrors, Head, Html};
use crate::notice::Notice;
use crate::translator::Translator;
use askama::Template;

/// The organization in the navigation.
#[derive(Debug, Clone)]
pub(crate) struct OpenedOrganization {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// A page.
#[derive(Template)]
#[template(path = "layout.html")]
pub(crate) struct Layout<'a> {
    pub(crate) translator: &'a Translator,
    /// `light`, `dark`, or empty: as the device.
    pub(crate) theme: &'static str,
    /// The time of rendering, RFC 3339.
    pub(crate) now: String,
    /// The path of the page.
    pub(crate) path: &'a str,
    pub(crate) email: &'a str,
    pub(crate) organization: Option<OpenedOrganization>,
    /// Whether the deployment is read-only: each page says so.
    pub(crate) read_only: bool,
    /// The documentation of the interface.
    pub(crate) docs: String,
    pub(crate) sign_out_token: String,
    pub(crate) notice: Option<Notice>,
    pub(crate) problems: FormErrors,
    pub(crate) head: Head,
    pub(crate) body: Html,
    /// The time zone of the times on the page.
    pub(crate) zone: String,
}

impl Layout<'_> {
    pub(crate) fn html(&self) -> String {
        render(self).into_string()
    }

    /// The heading of the list of problems.
    fn problems_title(&self) -> String {
        self.translator.tr_count("problems-title", self.problems.len())
    }

    /// An entry of the navigation.
    fn navigation_entry(&self, href: &str, icon: &'static str, key: &str) -> NavigationEntry {
        let below = self.path.strip_prefix(href).unwrap_or_default();
        // The pages of an organization have entries of their own.
        let has_entries = href == "/system" || (href == "/system/organizations" && below != "/new");
        let is_current = self.path == href || (!has_entries && below.starts_with('/'));
        NavigationEntry { href: href.to_owned(), icon, label: self.translator.tr(key), is_current }
    }

    /// An entry for the pages at this path below the organization.
    fn organization_entry(
        &self,
        organization: &OpenedOrganization,
        path: &str,
        icon: &'static str,
        key: &str,
    ) -> NavigationEntry {
        self.navigation_entry(&format!("/system/organizations/{}/{path}", organization.id), icon, key)
    }
}

/// An entry of the navigation.
struct NavigationEntry {
    href: String,
    /// The outline of its icon, in a square of 16.
    icon: &'static str,
    label: String,
    is_current: bool,
}

/// A page without navigation: sign-in and errors.
#[derive(Template)]
#[template(path = "alone.html")]
pub(crate) struct StandalonePage<'a> {
    pub(crate) translator: &'a Translator,
    pub(crate) title: String,
    pub(crate) body: Html,
    /// The languages to choose from: code, name, whether it is this one.
    pub(crate) locales: Vec<(String, String, bool)>,
}

impl StandalonePage<'_> {
    pub(crate) fn html(&self) -> String {
        render(self).into_string()
    }
}
