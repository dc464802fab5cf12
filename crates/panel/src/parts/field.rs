//! Fields of forms, each with its label, its hint and what is wrong with it.

use super::html::render;
use super::{FormError, Html};
use crate::translator::Translator;
use askama::Template;

/// A value that can be chosen.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    /// Below the label.
    pub(crate) hint: String,
}

impl Choice {
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), hint: String::new() }
    }
}

text_setters!(Choice: hint);

/// What a person types or chooses.
#[derive(Debug, Clone)]
enum Control {
    /// One line: the type of the input, and the keyboard of a phone.
    Line { kind: &'static str, keyboard: &'static str, autocomplete: &'static str },
    /// Several lines.
    Area { rows: u8 },
    /// One of a list.
    Select(Vec<Choice>),
    /// A file; a browser never fills it in again.
    File,
}

/// A field with one value.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    id: String,
    name: String,
    label: String,
    hint: String,
    value: String,
    control: Control,
    class: &'static str,
    placeholder: String,
    is_required: bool,
    is_optional: bool,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/field.html")]
struct FieldView<'a> {
    translator: &'a Translator,
    field: &'a Field,
    described_by: String,
}

impl Field {
    fn new(name: &str, label: impl Into<String>, value: impl Into<String>, control: Control) -> Self {
        Self {
            id: field_id(name),
            name: name.to_owned(),
            label: label.into(),
            hint: String::new(),
            value: value.into(),
            control,
            class: "",
            placeholder: String::new(),
            is_required: false,
            is_optional: false,
            problem: None,
        }
    }

    fn line(kind: &'static str, name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(name, label, value, Control::Line { kind, keyboard: "", autocomplete: "off" })
    }

    /// A line of text.
    pub(crate) fn text(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::line("text", name, label, value)
    }

    /// What to search for.
    pub(crate) fn search(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::line("search", name, label, value).class("wide")
    }

    /// An e-mail address.
    pub(crate) fn email(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::line("email", name, label, value)
    }

    /// A web address.
    pub(crate) fn url(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::line("url", name, label, value)
    }

    /// A date with a time.
    pub(crate) fn datetime(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        Self::line("datetime-local", name, label, value)
    }

    /// A password; it is never filled in. `autocomplete`: `current-password` or `new-password`.
    pub(crate) fn password(name: &str, label: impl Into<String>, autocomplete: &'static str) -> Self {
        Self::new(name, label, "", Control::Line { kind: "password", keyboard: "", autocomplete })
    }

    /// A whole number.
    pub(crate) fn number(name: &str, label: impl Into<String>, value: impl Into<String>) -> Self {
        let control = Control::Line { kind: "text", keyboard: "numeric", autocomplete: "off" };
        Self::new(name, label, value, control).class("short")
    }

    /// A file. Its form is [`Form::with_file`](super::Form::with_file).
    pub(crate) fn file(name: &str, label: impl Into<String>) -> Self {
        Self::new(name, label, "", Control::File)
    }

    /// Several lines of text.
    pub(crate) fn area(name: &str, label: impl Into<String>, value: impl Into<String>, rows: u8) -> Self {
        Self::new(name, label, value, Control::Area { rows })
    }

    /// One of these values.
    pub(crate) fn select(
        name: &str,
        label: impl Into<String>,
        value: impl Into<String>,
        choices: Vec<Choice>,
    ) -> Self {
        Self::new(name, label, value, Control::Select(choices))
    }

    /// `short`, `medium`, `mono`, ...
    pub(crate) fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    /// What a browser may fill in.
    pub(crate) fn autocomplete(mut self, value: &'static str) -> Self {
        if let Control::Line { autocomplete, .. } = &mut self.control {
            *autocomplete = value;
        }
        self
    }

    pub(crate) fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Says so beside the label.
    pub(crate) fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Shows the problem of this field, if there is one.
    pub(crate) fn check(mut self, problems: &[FormError]) -> Self {
        self.problem = FormError::text_for(problems, &self.name);
        self
    }

    pub(crate) fn html(&self, translator: &Translator) -> Html {
        let hint = (!self.hint.is_empty()).then(|| format!("{}-hint", self.id));
        let problem = self.problem.is_some().then(|| format!("{}-problem", self.id));
        let described_by = hint.into_iter().chain(problem).collect::<Vec<_>>().join(" ");
        render(&FieldView { translator, field: self, described_by })
    }

    fn is_chosen(&self, choice: &Choice) -> bool {
        self.value == choice.value
    }
}

text_setters!(Field: placeholder, hint);

/// The id of the field with this name: `organization[name][en]` as `organization-name-en`.
pub(crate) fn field_id(name: &str) -> String {
    let id: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    id.replace("--", "-").trim_matches('-').to_owned()
}

/// A box that can be ticked, alone.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/tick.html")]
pub(crate) struct Checkbox {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) is_on: bool,
    pub(crate) is_disabled: bool,
    /// The id of the group of fields that it switches.
    pub(crate) governs: String,
}

impl Checkbox {
    pub(crate) fn new(name: &str, label: impl Into<String>, is_on: bool) -> Self {
        Self {
            name: name.to_owned(),
            label: label.into(),
            hint: String::new(),
            is_on,
            is_disabled: false,
            governs: String::new(),
        }
    }

    fn id(&self) -> String {
        field_id(&self.name)
    }
}

text_setters!(Checkbox: hint);

/// Boxes of one name, of which several can be ticked; or radio buttons, of which one can be chosen.
#[derive(Debug, Clone)]
pub(crate) struct ChoiceGroup {
    pub(crate) name: String,
    pub(crate) legend: String,
    pub(crate) hint: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) chosen: Vec<String>,
    pub(crate) is_radio: bool,
    pub(crate) id: String,
    /// `governed` where a master box switches the group.
    pub(crate) class: &'static str,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/group.html")]
struct ChoiceGroupView<'a> {
    translator: &'a Translator,
    group: &'a ChoiceGroup,
}

impl ChoiceGroup {
    pub(crate) fn checkboxes(
        name: &str,
        legend: impl Into<String>,
        choices: Vec<Choice>,
        chosen: Vec<String>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            legend: legend.into(),
            hint: String::new(),
            choices,
            chosen,
            is_radio: false,
            id: field_id(name),
            class: "",
            problem: None,
        }
    }

    pub(crate) fn radios(
        name: &str,
        legend: impl Into<String>,
        choices: Vec<Choice>,
        chosen: impl Into<String>,
    ) -> Self {
        Self { is_radio: true, ..Self::checkboxes(name, legend, choices, vec![chosen.into()]) }
    }

    /// Another id than that of the name: a name can have several groups.
    pub(crate) fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }

    pub(crate) fn check(mut self, problems: &[FormError]) -> Self {
        self.problem = FormError::text_for(problems, self.name.trim_end_matches("[]"));
        self
    }

    pub(crate) fn html(&self, translator: &Translator) -> Html {
        render(&ChoiceGroupView { translator, group: self })
    }

    fn is_on(&self, choice: &Choice) -> bool {
        self.chosen.contains(&choice.value)
    }
}

text_setters!(ChoiceGroup: hint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_field_is_its_name_without_brackets() {
        assert_eq!(field_id("organization[name][en]"), "organization-name-en");
        assert_eq!(field_id("system_api_client[scopes][]"), "system_api_client-scopes");
        assert_eq!(field_id("q"), "q");
    }

    #[test]
    fn a_field_keeps_what_was_typed_and_says_what_is_wrong() {
        let problems = [FormError::new("admin[email]", "Enter an address.")];
        let translator = Translator::for_locale(civitas_kernel::Locale::EN);
        let html =
            Field::email("admin[email]", "E-mail", "a\"b").check(&problems).html(&translator).to_string();
        assert!(html.contains(r#"value="a&#34;b""#), "{html}");
        assert!(html.contains(r#"aria-describedby="admin-email-problem" aria-invalid="true""#), "{html}");
        assert!(html.contains("Enter an address."), "{html}");
        let password = Field::password("admin[password]", "Password", "current-password").html(&translator);
        assert!(password.to_string().contains(r#"value="""#));
    }
}
