//! Pages of the panel and their forms.

use crate::service::Answer;
use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use reqwest::header::HeaderMap;
use url::form_urlencoded::Serializer;

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
}

/// A control of a form.
#[derive(Debug, Clone)]
struct Control {
    name: String,
    value: String,
    /// The type of an input; `textarea`, `select`.
    kind: String,
    /// Whether it is sent: a box that is not ticked is not.
    is_on: bool,
    /// The values of a select.
    choices: Vec<String>,
}

/// A form, with what is typed into it.
#[derive(Debug, Clone)]
pub struct Form {
    /// Where it is sent.
    pub action: String,
    /// `get` or `post`.
    pub method: String,
    controls: Vec<Control>,
}

/// A part of a page.
enum Part {
    Start(String, Vec<(String, String)>),
    End(String),
    Text(String),
}

fn utf8(text: &HtmlString) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn parts(html: &str) -> Vec<Part> {
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

fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

impl Page {
    pub(super) fn read(path: &str, answer: Answer) -> Self {
        let status = answer.status.as_u16();
        Self { path: path.to_owned(), status, headers: answer.headers, text: answer.text }
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
        let texts = parts(&self.text).into_iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            // Words of two elements are two words.
            Part::Start(name, _) if name != "wbr" => Some(" ".to_owned()),
            _ => None,
        });
        texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The values of an attribute of all elements of one name, in their order.
    pub fn attributes(&self, element: &str, attribute: &str) -> Vec<String> {
        let values = parts(&self.text).into_iter().filter_map(|part| match part {
            Part::Start(name, attributes) if name == element => {
                self::attribute(&attributes, attribute).map(str::to_owned)
            }
            _ => None,
        });
        values.collect()
    }

    /// The values that are shown this one time, in their order.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        let mut is_secret = false;
        for part in parts(&self.text) {
            match part {
                Part::Start(name, attributes) if name == "textarea" => {
                    is_secret = attribute(&attributes, "id").is_some_and(|id| id.starts_with("once-"));
                }
                Part::Text(text) if is_secret => secrets.push(text),
                Part::End(_) => is_secret = false,
                _ => (),
            }
        }
        secrets
    }

    /// All forms, in their order.
    pub fn forms(&self) -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        let mut is_open = false;
        // The control whose content is read.
        let mut reads: Option<Control> = None;
        for part in parts(&self.text) {
            match part {
                Part::Start(name, attributes) if name == "form" => {
                    let own = |name: &str| attribute(&attributes, name).map(str::to_owned);
                    let action = own("action").unwrap_or_else(|| self.path.clone());
                    let method = own("method").unwrap_or_else(|| "get".to_owned());
                    forms.push(Form { action, method, controls: Vec::new() });
                    is_open = true;
                }
                Part::End(name) if name == "form" => is_open = false,
                Part::Start(name, attributes) if name == "option" => {
                    if let Some(select) = &mut reads {
                        let value = attribute(&attributes, "value").unwrap_or_default().to_owned();
                        if select.choices.is_empty() || attribute(&attributes, "selected").is_some() {
                            select.value.clone_from(&value);
                        }
                        select.choices.push(value);
                    }
                }
                Part::Start(kind, attributes) if is_open => {
                    let Some(control) = Control::read(&kind, &attributes) else { continue };
                    if kind == "input" {
                        forms.last_mut().expect("an open form").controls.push(control);
                    } else {
                        reads = Some(control);
                    }
                }
                Part::Text(text) => {
                    if let Some(area) = reads.as_mut().filter(|control| control.kind == "textarea") {
                        area.value.push_str(&text);
                    }
                }
                Part::End(name) if name == "textarea" || name == "select" => {
                    if let (Some(mut control), Some(form)) = (reads.take(), forms.last_mut()) {
                        if control.value.starts_with('\n') {
                            control.value.remove(0);
                        }
                        form.controls.push(control);
                    }
                }
                _ => (),
            }
        }
        forms
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
        assert!(self.status < 500, "{path}: {} {}", self.status, self.content());
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
        for part in parts(&self.text) {
            match part {
                Part::Start(name, attributes) => {
                    is_script = name == "script";
                    assert!(!is_script || attribute(&attributes, "src").is_some(), "{path}: inline script");
                    assert_ne!(name, "style", "{path}: inline style");
                    for (key, value) in &attributes {
                        assert!(key != "style" && !key.starts_with("on"), "{path}: <{name} {key}>");
                        let loads = key == "src" || key == "action" || (name == "link" && key == "href");
                        let is_own = value.starts_with('/') && !value.starts_with("//");
                        assert!(!loads || is_own, "{path}: <{name} {key}={value}>");
                        assert!(!value.starts_with("javascript:"), "{path}: <{name} {key}={value}>");
                    }
                }
                Part::Text(text) => assert!(!is_script || text.trim().is_empty(), "{path}: inline script"),
                Part::End(_) => is_script = false,
            }
        }
        for form in self.forms().iter().filter(|form| form.method == "post") {
            assert!(form.token().is_some(), "{path}: the form to {} has no token", form.action);
        }
    }
}

impl Control {
    fn read(element: &str, attributes: &[(String, String)]) -> Option<Self> {
        let own = |name: &str| attribute(attributes, name).map(str::to_owned);
        let kind = match element {
            "input" => own("type").unwrap_or_else(|| "text".to_owned()),
            "textarea" | "select" => element.to_owned(),
            _ => return None,
        };
        if own("disabled").is_some() {
            return None;
        }
        let is_box = kind == "checkbox" || kind == "radio";
        let value = own("value").unwrap_or_else(|| if is_box { "on".to_owned() } else { String::new() });
        let is_on = !is_box || own("checked").is_some();
        Some(Self { name: own("name")?, value, kind, is_on, choices: Vec::new() })
    }

    fn is_typed(&self) -> bool {
        !["hidden", "checkbox", "radio", "select"].contains(&self.kind.as_str())
    }
}

impl Form {
    /// A form that no page has.
    pub fn to(action: &str) -> Self {
        Self { action: action.to_owned(), method: "post".to_owned(), controls: Vec::new() }
    }

    /// Types a text, or chooses a value.
    ///
    /// # Panics
    /// When there is no such field, or it does not offer the value.
    #[must_use]
    #[track_caller]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        let mut is_set = false;
        for control in self.controls.iter_mut().filter(|control| control.name == name) {
            match control.kind.as_str() {
                "radio" => {
                    control.is_on = control.value == value;
                    is_set |= control.is_on;
                }
                "select" => {
                    assert!(control.choices.iter().any(|choice| choice == value), "{name} offers no {value}");
                    value.clone_into(&mut control.value);
                    is_set = true;
                }
                "hidden" | "checkbox" => (),
                _ => {
                    value.clone_into(&mut control.value);
                    is_set = true;
                }
            }
        }
        assert!(is_set, "the form to {} has no field {name}", self.action);
        self
    }

    /// Ticks or clears a box.
    ///
    /// # Panics
    /// When there is no such box.
    #[must_use]
    #[track_caller]
    pub fn tick(mut self, name: &str, value: &str, is_on: bool) -> Self {
        let control = self
            .controls
            .iter_mut()
            .find(|control| control.kind == "checkbox" && control.name == name && control.value == value);
        control.unwrap_or_else(|| panic!("no box {name} = {value}")).is_on = is_on;
        self
    }

    /// Sends one value more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let (name, value, kind) = (name.to_owned(), value.to_owned(), "hidden".to_owned());
        self.controls.push(Control { name, value, kind, is_on: true, choices: Vec::new() });
        self
    }

    /// Does not send a field.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.controls.retain(|control| control.name != name);
        self
    }

    /// Sends another value in place of that of the page, whatever the field offers.
    #[must_use]
    pub fn replace(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    /// Whether it has a box with this value.
    pub fn has_box(&self, name: &str, value: &str) -> bool {
        self.boxes(name).iter().any(|known| known == value)
    }

    /// The values of the boxes of a name.
    pub fn boxes(&self, name: &str) -> Vec<String> {
        let own = self.controls.iter().filter(|control| control.name == name && control.kind == "checkbox");
        own.map(|control| control.value.clone()).collect()
    }

    /// The values that are sent for a name.
    pub fn values(&self, name: &str) -> Vec<String> {
        let sent = self.controls.iter().filter(|control| control.is_on && control.name == name);
        sent.map(|control| control.value.clone()).collect()
    }

    /// The names of the fields to type into.
    pub fn typed_fields(&self) -> Vec<String> {
        let own = self.controls.iter().filter(|control| control.is_typed());
        own.map(|control| control.name.clone()).collect()
    }

    /// The value of `authenticity_token`.
    pub fn token(&self) -> Option<&str> {
        let own = self.controls.iter().find(|control| control.name == "authenticity_token");
        own.map(|control| control.value.as_str())
    }

    /// The body that a browser sends as `multipart/form-data`, with this file in the field for files.
    pub fn parts(&self, boundary: &str, file: Option<(&str, &[u8])>) -> Vec<u8> {
        let mut body = Vec::new();
        for control in self.controls.iter().filter(|control| control.is_on) {
            let is_file = control.kind == "file";
            let (filename, content) = file.filter(|_| is_file).unwrap_or_default();
            let named = if is_file { format!("; filename=\"{filename}\"") } else { String::new() };
            let name = &control.name;
            let head =
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{named}\r\n\r\n");
            body.extend(head.into_bytes());
            let text = control.value.replace('\n', "\r\n").into_bytes();
            body.extend(if is_file { content } else { text.as_slice() });
            body.extend(b"\r\n");
        }
        body.extend(format!("--{boundary}--\r\n").into_bytes());
        body
    }

    /// The body that a browser sends.
    pub fn body(&self) -> String {
        let mut body = Serializer::new(String::new());
        for control in self.controls.iter().filter(|control| control.is_on) {
            body.append_pair(&control.name, &control.value.replace('\n', "\r\n"));
        }
        body.finish()
    }
}
