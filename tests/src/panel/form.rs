//! Forms of a page, and what a browser would send of them.

use super::html::{Part, attribute};
use url::form_urlencoded::Serializer;

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
    /// The forms of a page with these parts, in their order. `path`: that of the page.
    pub(super) fn all(path: &str, parts: &[Part]) -> Vec<Self> {
        let mut forms: Vec<Self> = Vec::new();
        let mut is_open = false;
        // The control whose content is read.
        let mut reads: Option<Control> = None;
        for part in parts {
            match part {
                Part::Start(name, attributes) if name == "form" => {
                    let own = |name: &str| attribute(attributes, name).map(str::to_owned);
                    let action = own("action").unwrap_or_else(|| path.to_owned());
                    let method = own("method").unwrap_or_else(|| "get".to_owned());
                    forms.push(Self { action, method, controls: Vec::new() });
                    is_open = true;
                }
                Part::End(name) if name == "form" => is_open = false,
                Part::Start(name, attributes) if name == "option" => {
                    if let Some(select) = &mut reads {
                        let value = attribute(attributes, "value").unwrap_or_default().to_owned();
                        if select.choices.is_empty() || attribute(attributes, "selected").is_some() {
                            select.value.clone_from(&value);
                        }
                        select.choices.push(value);
                    }
                }
                Part::Start(kind, attributes) if is_open => {
                    let Some(control) = Control::read(kind, attributes) else { continue };
                    if kind == "input" {
                        forms.last_mut().expect("an open form").controls.push(control);
                    } else {
                        reads = Some(control);
                    }
                }
                Part::Text(text) => {
                    if let Some(area) = reads.as_mut().filter(|control| control.kind == "textarea") {
                        area.value.push_str(text);
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
