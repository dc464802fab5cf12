//! The frame of every page: navigation, result of the last act, head, body.

use super::html::render;
use super::{Head, Html, Problem};
use crate::notice::Notice;
use crate::words::Words;
use askama::Template;

/// The organization in the navigation.
#[derive(Debug, Clone)]
pub(crate) struct Organization {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// A page.
#[derive(Template)]
#[template(path = "layout.html")]
pub(crate) struct Layout<'a> {
    pub(crate) words: &'a Words,
    /// `light`, `dark`, or empty: as the device.
    pub(crate) theme: &'static str,
    /// The time of rendering, RFC 3339.
    pub(crate) now: String,
    /// The path of the page.
    pub(crate) path: &'a str,
    pub(crate) email: &'a str,
    pub(crate) organization: Option<Organization>,
    /// The documentation of the interface.
    pub(crate) docs: String,
    pub(crate) sign_out_token: String,
    pub(crate) notice: Option<Notice>,
    pub(crate) problems: Vec<Problem>,
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
        self.words.count("problems-title", i64::try_from(self.problems.len()).unwrap_or_default())
    }

    /// An entry of the navigation.
    fn entry(&self, href: &str, icon: &'static str, key: &str) -> Entry {
        let below = self.path.strip_prefix(href).unwrap_or_default();
        // The pages of an organization have entries of their own.
        let has_entries = href == "/system" || (href == "/system/organizations" && below != "/new");
        let is_current = self.path == href || (!has_entries && below.starts_with('/'));
        Entry { href: href.to_owned(), icon, label: self.words.say(key), is_current }
    }

    fn start(&self) -> Vec<Entry> {
        vec![self.entry("/system", "M2 7.5 8 2.5l6 5M3.5 6.5V13.5h9V6.5M6.5 13.5v-4h3v4", "nav-start")]
    }

    /// The pages of the organization that was opened last.
    fn of_organization(&self, organization: &Organization) -> Vec<Entry> {
        let base = format!("/system/organizations/{}", organization.id);
        let entry = |path: &str, icon, key| self.entry(&format!("{base}/{path}"), icon, key);
        vec![
            entry("spaces", "M8 2 14 5 8 8 2 5l6-3ZM2 8l6 3 6-3M2 11l6 3 6-3", "spaces"),
            entry(
                "proposals",
                "M6 12.5h4M6.5 14.5h3M5.8 10.5C4.5 9.7 3.7 8.3 3.7 6.6a4.3 4.3 0 0 1 8.6 0c0 1.7-.8 3.1-2.1 3.9H5.8Z",
                "nav-proposals",
            ),
            entry("meetings", "M2.5 3.5h11v10h-11v-10ZM2.5 6.5h11M5.5 2v3M10.5 2v3", "nav-meetings"),
            entry(
                "posts",
                "M3 13l.7-3L10.5 3.2a1.4 1.4 0 0 1 2 0l.3.3a1.4 1.4 0 0 1 0 2L6 12.3 3 13Z",
                "nav-posts",
            ),
            entry(
                "surveys",
                "M3 2.5h10v11H3v-11ZM5.5 6l1 1 1.5-2M9.5 6.2h1.5M5.5 10l1 1 1.5-2M9.5 10.2h1.5",
                "nav-surveys",
            ),
            entry(
                "users",
                "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c0-2.5 2-4.2 4.5-4.2s4.5 1.7 4.5 4.2M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12 9.7c1.5.6 2.5 2 2.5 3.8",
                "nav-people",
            ),
            entry(
                "attachments",
                "M13 7.5 8 12.5a3 3 0 0 1-4.3-4.3L9 3a2 2 0 0 1 2.9 2.9L6.7 11a1 1 0 0 1-1.4-1.4L10 5",
                "attachments",
            ),
            entry(
                "edit",
                "M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7M11 6.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM5 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z",
                "nav-settings",
            ),
        ]
    }

    fn deployment(&self) -> Vec<Entry> {
        vec![
            self.entry(
                "/system/organizations",
                "M3 13.5V3.5L9 2v11.5M9 6l4 1.2v6.3M1.5 13.5h13M5 6h2M5 8.5h2M5 11h2",
                "nav-organizations",
            ),
            self.entry(
                "/system/api_clients",
                "M9.5 6.5 14 2M12 4l1.8 1.8M6.2 6.8a3.3 3.3 0 1 1-2 6 3.3 3.3 0 0 1 2-6Z",
                "nav-api-clients",
            ),
            self.entry(
                "/system/admins",
                "M8 1.8 13 3.5v4c0 3-2 5.4-5 6.7-3-1.3-5-3.7-5-6.7v-4L8 1.8Z",
                "nav-admins",
            ),
        ]
    }

    fn operations(&self) -> Vec<Entry> {
        vec![
            self.entry("/system/jobs", "M2.5 4h11M2.5 8h11M2.5 12h6", "nav-jobs"),
            self.entry(
                "/system/webhook_deliveries",
                "M14 2 7 9M14 2l-4.5 12-2.5-5-5-2.5L14 2Z",
                "nav-deliveries",
            ),
            self.entry(
                "/system/webhook_registrations",
                "M8 2a6 6 0 0 1 6 6M8 5.5A2.5 2.5 0 0 1 10.5 8M2.5 13.5 8 8",
                "nav-registrations",
            ),
            self.entry("/system/mails", "M2 4h12v8.5H2V4Zm0 .5 6 4.5 6-4.5", "nav-mails"),
            self.entry(
                "/system/audit_log",
                "M3 2.5h8.5a1 1 0 0 1 1 1v10H4a1 1 0 0 1-1-1v-10ZM5.5 5.5h4.5M5.5 8h4.5",
                "nav-audit",
            ),
            self.entry(
                "/system/storage",
                "M2.5 3h11v4h-11V3Zm0 6h11v4h-11V9ZM5 5h.01M5 11h.01",
                "nav-storage",
            ),
            self.entry(
                "/system/shares",
                "M8 2a6 6 0 1 0 6 6H8V2ZM10.5 2.5a5 5 0 0 1 3 3h-3v-3Z",
                "nav-shares",
            ),
        ]
    }
}

/// An entry of the navigation.
struct Entry {
    href: String,
    /// The outline of its icon, in a square of 16.
    icon: &'static str,
    label: String,
    is_current: bool,
}

/// A page without navigation: sign-in and errors.
#[derive(Template)]
#[template(path = "alone.html")]
pub(crate) struct Alone<'a> {
    pub(crate) words: &'a Words,
    pub(crate) title: String,
    pub(crate) body: Html,
    /// The languages to choose from: code, name, whether it is this one.
    pub(crate) locales: Vec<(String, String, bool)>,
}

impl Alone<'_> {
    pub(crate) fn html(&self) -> String {
        render(self).into_string()
    }
}
