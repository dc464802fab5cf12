//! Pages of the panel.

use super::form::Form;
use super::html::{self, Part};
use crate::service::Answer;
use reqwest::header::HeaderMap;
use std::sync::OnceLock;

/// An answer of the panel.
#[derive(Debug, Clone)]
pub struct Page {
    /// The path that was asked for.
    pub path: String,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it was sent.
    pub text: String,
    /// Its parts, read once.
    parts: OnceLock<Vec<Part>>,
}

impl Page {
    pub(super) fn read(path: &str, answer: Answer) -> Self {
        let status = answer.status.as_u16();
        let (headers, text, parts) = (answer.headers, answer.text, OnceLock::new());
        Self { path: path.to_owned(), status, headers, text, parts }
    }

    fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| html::parts(&self.text))
    }

    /// Asserts the status.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.path, self.content());
        self
    }

    /// Asserts a redirect to this address.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn leads_to(self, path: &str) -> Self {
        let page = self.is(302);
        assert_eq!(page.header("location"), path);
        page
    }

    /// Asserts that a text is shown.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn shows(self, text: &str) -> Self {
        assert!(self.content().contains(text), "{}: no {text:?} in {}", self.path, self.content());
        self
    }

    /// Asserts that a text is nowhere in the answer.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn lacks(self, text: &str) -> Self {
        assert!(!self.text.contains(text), "{}: {text:?} in {}", self.path, self.content());
        self
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The texts that are shown, without tags, blanks joined.
    pub fn content(&self) -> String {
        let texts = self.parts().iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            // Words of two elements are two words.
            Part::Start(name, _) if name != "wbr" => Some(" "),
            _ => None,
        });
        texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The values of an attribute of all elements of one name, in their order.
    pub fn attributes(&self, element: &str, attribute: &str) -> Vec<String> {
        let values = self.parts().iter().filter_map(|part| match part {
            Part::Start(name, attributes) if name == element => {
                html::attribute(attributes, attribute).map(str::to_owned)
            }
            _ => None,
        });
        values.collect()
    }

    /// The values that are shown this one time, in their order.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        let mut is_secret = false;
        for part in self.parts() {
            match part {
                Part::Start(name, attributes) if name == "textarea" => {
                    is_secret = html::attribute(attributes, "id").is_some_and(|id| id.starts_with("once-"));
                }
                Part::Text(text) if is_secret => secrets.push(text.clone()),
                Part::End(_) => is_secret = false,
                _ => (),
            }
        }
        secrets
    }

    /// All forms, in their order.
    pub fn forms(&self) -> Vec<Form> {
        Form::all(&self.path, self.parts())
    }

    /// The form that is sent to this address.
    ///
    /// # Panics
    /// When the page has none.
    #[track_caller]
    pub fn form(&self, action: &str) -> Form {
        let forms = self.forms();
        let found = forms.iter().find(|form| form.action == action);
        let actions: Vec<&str> = forms.iter().map(|form| form.action.as_str()).collect();
        found.cloned().unwrap_or_else(|| panic!("{}: no form to {action} among {actions:?}", self.path))
    }

    /// What every answer keeps.
    #[track_caller]
    pub(super) fn check(&self) {
        let path = &self.path;
        let is_read_only = self.status == 503 && self.text.contains("Nothing was stored.");
        assert!(self.status < 500 || is_read_only, "{path}: {} {}", self.status, self.content());
        assert_eq!(self.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(self.header("referrer-policy"), "same-origin", "{path}");
        let policy = self.header("content-security-policy");
        for rule in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]
        {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let is_asset = path.starts_with("/system/assets/") && self.status == 200;
        if is_asset {
            return;
        }
        assert_eq!(self.header("cache-control"), "no-store", "{path}");
        self.check_content();
    }

    fn check_content(&self) {
        let path = &self.path;
        let mut is_script = false;
        for part in self.parts() {
            match part {
                Part::Start(name, attributes) => {
                    is_script = name == "script";
                    assert!(
                        !is_script || html::attribute(attributes, "src").is_some(),
                        "{path}: inline script"
                    );
                    assert_ne!(name, "style", "{path}: inline style");
                    for (key, value) in attributes {
                        assert!(key != "style" && !key.starts_with("on"), "{path}: <{name} {key}>");
                        let loads = key == "src" || key == "action" || (name == "link" && key == "href");
                        let is_own = value.starts_with('/') && !value.starts_with("//");
                        assert!(!loads || is_own, "{path}: <{name} {key}={value}>");
                        assert!(!value.starts_with("javascript:"), "{path}: <{name} {key}={value}>");
                        assert!(!has_gap(value), "{path}: <{name} {key}={value}>");
                    }
                }
                Part::Text(text) => {
                    assert!(!is_script || text.trim().is_empty(), "{path}: inline script");
                    assert!(!has_gap(text), "{path}: {text}");
                }
                Part::End(_) => is_script = false,
            }
        }
        for form in self.forms().iter().filter(|form| form.method == "post") {
            assert!(form.token().is_some(), "{path}: the form to {} has no token", form.action);
        }
    }
}

/// Whether the catalogues have no such text, which is shown as `{key}`, or a text lacks a value: `{$name}`.
fn has_gap(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-$_".contains(c);
    let mut inner = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inner.any(|(name, _)| !name.is_empty() && name.chars().all(is_name))
}
