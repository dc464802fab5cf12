//! The fields of the form of a record: [`FormInput`] reads what was typed, [`FormView`] shows it. Both name a field as the
//! record does: `start_time` is `meeting[start_time]`.

use crate::admin_request::AdminRequest;
use crate::format;
use crate::parts::{
    Checkbox, Choice, ChoiceGroup, Field, FormError, FormErrors, Html, Section, TranslatedFields,
};
use crate::translated::typed_texts;
use civitas_kernel::{Locales, Translated};
use civitas_organizations::Organization;
use time::OffsetDateTime;

/// Reads a form into a record, and collects what cannot be read. A field that was not sent does not change its value.
pub(crate) struct FormInput<'a> {
    req: &'a AdminRequest,
    /// The name of the form: `meeting`.
    name: &'static str,
    /// The languages of its texts.
    locales: &'a Locales,
    /// Whether the record is new: its required times must be sent.
    pub(super) is_new: bool,
    problems: FormErrors,
}

impl<'a> FormInput<'a> {
    pub(crate) fn new(req: &'a AdminRequest, name: &'static str, locales: &'a Locales) -> Self {
        Self { req, name, locales, is_new: false, problems: Vec::new() }
    }

    /// What cannot be read.
    pub(crate) fn into_problems(self) -> FormErrors {
        self.problems
    }

    fn field_name(&self, field: &str) -> String {
        format!("{}[{field}]", self.name)
    }

    fn problem(&mut self, field: &str, key: &str) {
        self.problems.push(FormError::new(self.field_name(field), self.req.tr(key)));
    }

    fn sent(&self, field: &str) -> Option<&'a str> {
        self.req.form.get(&self.field_name(field)).map(str::trim)
    }

    /// A text in several languages.
    pub(crate) fn read_texts(&mut self, field: &str, text: &mut Translated) {
        *text = typed_texts(self.req, &self.field_name(field), self.locales, text);
    }

    /// A line.
    pub(crate) fn read_line(&mut self, field: &str, line: &mut String) {
        if let Some(sent) = self.sent(field) {
            sent.clone_into(line);
        }
    }

    /// A line that may be absent.
    pub(crate) fn read_optional_line(&mut self, field: &str, line: &mut Option<String>) {
        if let Some(sent) = self.sent(field) {
            *line = Some(sent.to_owned()).filter(|sent| !sent.is_empty());
        }
    }

    /// A whole number.
    pub(crate) fn read_number(&mut self, field: &str, number: &mut i64) {
        match self.sent(field).map(str::parse::<i64>) {
            None => {}
            Some(Ok(sent)) => *number = sent,
            Some(Err(_)) => self.problem(field, "problem-number"),
        }
    }

    /// A box that is ticked or not.
    pub(crate) fn read_flag(&mut self, field: &str, flag: &mut bool) {
        if let Some(is_on) = self.req.form.checkbox(&self.field_name(field)) {
            *flag = is_on;
        }
    }

    /// A time that may be absent.
    pub(crate) fn read_optional_time(&mut self, field: &str, time: &mut Option<OffsetDateTime>) {
        let zone = self.req.zone();
        match self.sent(field) {
            None => {}
            Some("") => *time = None,
            // A field has minutes: the same minute keeps the seconds.
            Some(sent) if time.is_some_and(|at| format::datetime_field_value(zone, at) == sent) => {}
            Some(sent) => match format::parse_datetime_field(zone, sent) {
                Some(at) => *time = Some(at),
                None => self.problem(field, "problem-time"),
            },
        }
    }

    /// A time.
    pub(crate) fn read_time(&mut self, field: &str, time: &mut OffsetDateTime) {
        if self.sent(field).map_or(self.is_new, str::is_empty) {
            return self.problem(field, "problem-time");
        }
        let mut read = Some(*time);
        self.read_optional_time(field, &mut read);
        *time = read.unwrap_or(*time);
    }

    /// One of these values, by its name.
    pub(crate) fn read_choice<T: Copy>(
        &mut self,
        field: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let sent = self.sent(field)?;
        let chosen = all.iter().copied().find(|one| name(*one) == sent);
        if chosen.is_none() {
            self.problem(field, "problem-inclusion");
        }
        chosen
    }
}

/// A text of a form in several languages.
pub(crate) struct TextField<'a> {
    field: &'static str,
    label: &'static str,
    text: &'a Translated,
    /// The lines of a field for HTML; `None`: one line of plain text.
    rows: Option<u8>,
}

impl<'a> TextField<'a> {
    /// One line of plain text.
    pub(crate) fn line(field: &'static str, label: &'static str, text: &'a Translated) -> Self {
        Self { field, label, text, rows: None }
    }

    /// Several lines of HTML.
    pub(crate) fn html(field: &'static str, label: &'static str, text: &'a Translated, rows: u8) -> Self {
        Self { field, label, text, rows: Some(rows) }
    }
}

/// Makes the fields of a form with the values of its record. Labels are keys of texts.
pub(crate) struct FormView<'a> {
    pub(crate) req: &'a AdminRequest,
    pub(crate) organization: &'a Organization,
    /// The name of the form: `meeting`.
    pub(crate) name: &'static str,
    /// The languages of its texts.
    pub(crate) locales: &'a Locales,
    pub(crate) problems: &'a [FormError],
    /// Whether the record is new.
    pub(crate) is_new: bool,
}

impl FormView<'_> {
    fn field_name(&self, field: &str) -> String {
        format!("{}[{field}]", self.name)
    }

    /// A section, with the text of its heading.
    pub(crate) fn section(&self, id: &str, title: &str) -> Section {
        Section::new(id, self.req.tr(title))
    }

    /// The HTML of a field, with its problem.
    pub(crate) fn html(&self, field: Field) -> Html {
        field.check(self.problems).html(&self.req.translator)
    }

    /// Texts in several languages, in one group with this id.
    pub(crate) fn texts(&self, id: &str, texts: &[TextField<'_>]) -> Html {
        let req = self.req;
        let group =
            TranslatedFields::new(id, req.tr("texts"), self.locales, self.organization.default_locale);
        let group = texts.iter().fold(group, |group, text| {
            let hint = if text.rows.is_some() { req.tr("html-hint") } else { String::new() };
            let name = self.field_name(text.field);
            group.text(&name, req.tr(text.label), hint, text.text, text.rows.unwrap_or(1))
        });
        group.html(&req.translator, self.problems)
    }

    /// A line, as it was read.
    pub(crate) fn line(&self, field: &str, label: &str, line: &str) -> Field {
        Field::text(&self.field_name(field), self.req.tr(label), line)
    }

    /// A whole number: what was typed, else this one.
    pub(crate) fn number(&self, field: &str, label: &str, number: i64) -> Field {
        let name = self.field_name(field);
        let value = self.req.form.get(&name).map_or_else(|| number.to_string(), str::to_owned);
        Field::number(&name, self.req.tr(label), value)
    }

    /// A time: what was typed, else this one.
    pub(crate) fn time(&self, field: &str, label: &str, at: Option<OffsetDateTime>) -> Field {
        let (req, name) = (self.req, self.field_name(field));
        let stored = at.map(|at| format::datetime_field_value(req.zone(), at)).unwrap_or_default();
        let value = req.form.get(&name).map_or(stored, str::to_owned);
        Field::datetime(&name, req.tr(label), value)
    }

    /// One of a list.
    pub(crate) fn select(&self, field: &str, label: &str, chosen: &str, choices: Vec<Choice>) -> Field {
        Field::select(&self.field_name(field), self.req.tr(label), chosen, choices)
    }

    /// One of these, all shown: what was typed, else `chosen`.
    pub(crate) fn choice(&self, field: &str, label: &str, chosen: &str, choices: Vec<Choice>) -> Html {
        let (req, name) = (self.req, self.field_name(field));
        let typed = req.form.get(&name).filter(|typed| choices.iter().any(|choice| choice.value == *typed));
        let chosen = typed.unwrap_or(chosen);
        let group = ChoiceGroup::radios(&name, req.tr(label), choices, chosen);
        group.check(self.problems).html(&req.translator)
    }

    /// A box that can be ticked.
    pub(crate) fn flag(&self, field: &str, label: &str, is_on: bool) -> Checkbox {
        Checkbox::new(&self.field_name(field), self.req.tr(label), is_on)
    }
}
