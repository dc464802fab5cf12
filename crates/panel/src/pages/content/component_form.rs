//! The form of a component: name, settings, settings by step (contract 05 §3.5, §3.6). Its fields follow from the
//! catalogue of settings.

use super::component_settings::{
    SECTIONS, global_field, has_name, hint, kind, label, of_level, read as read_settings, step_field, value,
    word,
};
use super::components::{self, OpenedComponent, admin, components_path, form_errors, save};
use super::shared::{OpenedSpace, deletion_link, space_key, title};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{
    Checkbox, Choice, Field, Form, FormError, FormErrors, Html, Matrix, MatrixCell, MatrixColumn, MatrixRow,
    Section, Texts,
};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdmin};
use civitas_kernel::{Error, Result, SpaceManifest, SpaceRef, StepId, Translated};
use civitas_spaces::{
    Component, ComponentManifest, Level, Setting, SettingDefault, SettingsSchema, Step, check_title,
};
use serde_json::{Map, Value};

const NAME: &str = "component[name]";
const ANNOUNCEMENT: &str = "global_announcement";

/// Writes what was typed into a component, and returns what cannot be read. What was not sent stays as it is.
fn read(
    req: &AdminRequest,
    comments_max_length: i64,
    steps: &[(StepId, Step)],
    component: &mut Component,
) -> FormErrors {
    let mut problems = Vec::new();
    if req.form.has_prefix("component[name][") {
        component.name = req.form.texts(NAME, &req.panel.settings.site.locales);
    }
    let global = of_level(component.manifest, Level::Global);
    read_settings(req, &global, comments_max_length, global_field, &mut component.settings, &mut problems);
    let of_step_level = of_level(component.manifest, Level::Step);
    let without = &mut component.default_step_settings;
    read_settings(
        req,
        &of_step_level,
        comments_max_length,
        |key| step_field(None, key),
        without,
        &mut problems,
    );
    for (id, _) in steps {
        let mut of_step = component.step_settings.get(id).cloned().unwrap_or_default();
        let name = |key: &str| step_field(Some(*id), key);
        read_settings(req, &of_step_level, comments_max_length, name, &mut of_step, &mut problems);
        // A step without settings of its own has the defaults.
        if !of_step.is_empty() || component.step_settings.contains_key(id) {
            component.step_settings.insert(*id, of_step);
        }
    }
    problems
}

/// What the fields of a form need.
struct Fields<'a> {
    req: &'a AdminRequest,
    space: &'a OpenedSpace,
    steps: &'a [(StepId, Step)],
    component: &'a Component,
    problems: &'a [FormError],
}

impl Fields<'_> {
    fn comments_max_length(&self) -> i64 {
        self.space.organization.comments_max_length
    }

    fn texts(&self, id: &str, legend: &str) -> Texts {
        let locales = &self.req.panel.settings.site.locales;
        Texts::new(id, self.req.tr(legend), locales, self.space.organization.default_locale)
    }

    /// Adds a translated setting to a group of texts.
    fn add_text(&self, texts: Texts, setting: &Setting, rows: u8) -> Texts {
        let value = value(setting, &self.component.settings, self.comments_max_length());
        let text: Translated = serde_json::from_value(value).unwrap_or_default();
        let (label, hint) = (label(self.req, setting), hint(self.req, setting));
        texts.text(&global_field(setting.key), label, hint, &text, rows)
    }

    fn name(&self) -> Section {
        let label = self.req.tr("column-name");
        let mut texts = self.texts("name-texts", "texts").text(NAME, label, "", &self.component.name, 1);
        if let Some(announcement) = SettingsSchema::of(self.component.manifest).get(ANNOUNCEMENT) {
            texts = self.add_text(texts, announcement, 3);
        }
        Section::new("name", self.req.tr("component-section-name"))
            .field(texts.html(&self.req.translator, self.problems))
    }

    /// The field of a global setting that is no text in several languages.
    fn field(&self, setting: &Setting) -> Html {
        let (req, translator) = (self.req, &self.req.translator);
        let (name, label, hint) = (global_field(setting.key), label(req, setting), hint(req, setting));
        let stored = self.component.settings.get(setting.key);
        let value = value(setting, &self.component.settings, self.comments_max_length());
        let typed = |value: String| req.form.get(&name).map_or(value, str::to_owned);
        match setting.default {
            SettingDefault::Bool(_) => {
                Checkbox::new(&name, label, value == Value::Bool(true)).hint(hint).html()
            }
            SettingDefault::Integer(_) => Field::number(&name, label, typed(value.to_string()))
                .hint(hint)
                .check(self.problems)
                .html(translator),
            SettingDefault::OrganizationsCommentLength => {
                let value = stored.map(Value::to_string).unwrap_or_default();
                Field::number(&name, label, typed(value))
                    .hint(hint)
                    .placeholder(self.comments_max_length().to_string())
                    .optional()
                    .check(self.problems)
                    .html(translator)
            }
            SettingDefault::Word(list) => {
                let choices = list.iter().map(|one| Choice::new(*one, word(req, setting, one)));
                let chosen = value.as_str().unwrap_or_default();
                Field::select(&name, label, chosen, choices.collect())
                    .hint(hint)
                    .class("medium")
                    .check(self.problems)
                    .html(translator)
            }
            SettingDefault::Words | SettingDefault::Translated => self.lines(&name, label, hint, &value),
        }
    }

    /// A list of texts, one a line.
    fn lines(&self, name: &str, label: String, hint: String, value: &Value) -> Html {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let lines = list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        Field::area(name, label, lines, 3)
            .hint(hint)
            .class("mono")
            .optional()
            .check(self.problems)
            .html(&self.req.translator)
    }

    /// A section of global settings; `None` when components of this kind have none of them.
    fn section(&self, id: &str, settings: &[&'static Setting]) -> Option<Section> {
        if settings.is_empty() {
            return None;
        }
        let mut section = Section::new(id, self.req.tr(&format!("component-section-{id}")));
        let is_text = |setting: &&&'static Setting| setting.default == SettingDefault::Translated;
        let plain: Vec<Html> =
            settings.iter().filter(|setting| !is_text(setting)).map(|setting| self.field(setting)).collect();
        section.fields.extend(plain);
        let mut texts = settings.iter().filter(is_text).peekable();
        if texts.peek().is_some() {
            let group = self.texts(&format!("{id}-texts"), "texts");
            let group = texts.fold(group, |group, setting| self.add_text(group, setting, 3));
            section = section.field(group.html(&self.req.translator, self.problems));
        }
        Some(section)
    }

    /// The columns of the settings by step: without an active step, then each step.
    fn columns(&self) -> Vec<(Option<StepId>, MatrixColumn)> {
        let label = self.req.tr("component-without-steps");
        let without = (None, MatrixColumn { label, active: String::new() });
        let steps = self.steps.iter().map(|(id, step)| {
            let active = if step.active { self.req.tr("step-active-now") } else { String::new() };
            (Some(*id), MatrixColumn { label: title(self.req, &step.title), active })
        });
        std::iter::once(without).chain(steps).collect()
    }

    /// The value of a setting by step.
    fn step_value(&self, step: Option<StepId>, setting: &Setting) -> Value {
        let none = Map::new();
        let stored = match step {
            Some(step) => self.component.step_settings.get(&step).unwrap_or(&none),
            None => &self.component.default_step_settings,
        };
        value(setting, stored, self.comments_max_length())
    }

    /// The settings by step; `None` when components of this kind have none.
    fn step_section(&self) -> Option<Section> {
        let settings = of_level(self.component.manifest, Level::Step);
        if settings.is_empty() {
            return None;
        }
        let req = self.req;
        let columns = self.columns();
        let (ticks, others): (Vec<&'static Setting>, Vec<&'static Setting>) =
            settings.into_iter().partition(|setting| matches!(setting.default, SettingDefault::Bool(_)));
        let rows = ticks.iter().map(|setting| {
            let cells = columns.iter().map(|(step, _)| MatrixCell {
                name: step_field(*step, setting.key),
                is_on: self.step_value(*step, setting) == Value::Bool(true),
            });
            MatrixRow { label: label(req, setting), hint: hint(req, setting), cells: cells.collect() }
        });
        let rows = rows.collect();
        let mut fields = Vec::new();
        for setting in others {
            fields.extend(columns.iter().map(|(step, column)| {
                let values =
                    [("setting", label(req, setting).into()), ("step", column.label.as_str().into())];
                let label = req.tr_args("setting-in-step", &values);
                let name = step_field(*step, setting.key);
                self.lines(&name, label, hint(req, setting), &self.step_value(*step, setting))
            }));
        }
        let matrix = Matrix {
            caption: req.tr("component-section-phases"),
            corner: req.tr("component-setting"),
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            rows,
        };
        let mut section = Section::new("phases", req.tr("component-section-phases"))
            .hint(req.tr("component-section-phases-hint"))
            .field(matrix.html());
        section.fields.extend(fields);
        Some(section)
    }

    fn sections(&self) -> Vec<Section> {
        let global = of_level(self.component.manifest, Level::Global);
        let named = |names: &str| -> Vec<&'static Setting> {
            names.split(' ').filter_map(|name| global.iter().find(|s| s.key == name).copied()).collect()
        };
        let mut sections = vec![self.name()];
        sections.extend(self.step_section());
        sections.extend(SECTIONS.iter().filter_map(|(id, names)| self.section(id, &named(names))));
        let is_named = |key: &str| SECTIONS.iter().any(|(_, names)| has_name(names, key));
        let others: Vec<_> =
            global.iter().copied().filter(|s| s.key != ANNOUNCEMENT && !is_named(s.key)).collect();
        sections.extend(self.section("other", &others));
        sections
    }
}

fn form<'a>(fields: &Fields<'a>, action: String, save: &str) -> Form<'a> {
    let form =
        Form::new(&fields.req.translator, action, fields.req.token(), save).cancel(fields.space.path());
    fields.sections().into_iter().fold(form, Form::section)
}

/// The space and the kind of a new component, from the address or the form.
async fn new_of_request(req: &AdminRequest) -> Result<(OpenedSpace, Component)> {
    let sent = |req: &AdminRequest, field: &str, name: &str| {
        req.form.get(field).or_else(|| req.query.get(name)).map(str::to_owned)
    };
    let space = sent(req, "component[space]", "space").ok_or(Error::NotFound)?;
    let (manifest, id) = space.split_once('/').ok_or(Error::NotFound)?;
    let manifest = SpaceManifest::parse(manifest).ok_or(Error::NotFound)?;
    let space_ref = SpaceRef { manifest, id: id.parse().map_err(|_| Error::NotFound)? };
    let kind = sent(req, "component[manifest]", "manifest");
    let kind = kind.and_then(|name| ComponentManifest::parse(&name)).ok_or(Error::NotFound)?;
    let opened = OpenedSpace::find(req, space_ref).await?;
    Ok((opened, Component::new(space_ref, kind, Translated::default(), req.now)))
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let (opened, component) = new_of_request(req).await?;
    let steps = components::steps(req, &opened).await?;
    show_new(req, &opened, &steps, &component, Vec::new()).await
}

async fn show_new(
    req: &AdminRequest,
    opened: &OpenedSpace,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: FormErrors,
) -> Result<Reply> {
    let fields = Fields { req, space: opened, steps, component, problems: &problems };
    let form = form(&fields, components_path(opened.organization_id), "component-create")
        .hidden("component[space]", space_key(opened.space_ref))
        .hidden("component[manifest]", component.manifest.as_str());
    let kind = kind(req, component.manifest);
    let head = opened
        .head_below_space(req, req.tr_with("component-new", "kind", kind))
        .lede(req.tr("component-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (opened, mut component) = new_of_request(req).await?;
    let steps = components::steps(req, &opened).await?;
    let mut problems = read(req, opened.organization.comments_max_length, &steps, &mut component);
    if problems.is_empty() {
        let name = title(req, &component.name);
        let created = req.change(async |tx| {
            check_title("name", &component.name, opened.organization.default_locale)?;
            let id = admin(req, tx).create(opened.organization_id, &component).await?;
            let entry = req.audit_entry(Action::ComponentCreated).of(opened.organization_id);
            req.append_audit_entry(tx, &entry.on("component", &id.to_string(), &name)).await
        });
        problems = match created.await {
            Ok(()) => {
                let notice = Notice::good(req.tr_with("component-created", "name", name));
                return req.redirect(opened.path(), notice.text(req.tr("component-created-next"))).await;
            }
            Err(error) => form_errors(req, &opened, error)?,
        };
    }
    show_new(req, &opened, &steps, &component, problems).await
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    let steps = components::steps(req, &opened.space).await?;
    show_edit(req, &opened, &steps, &opened.component, Vec::new()).await
}

async fn show_edit(
    req: &AdminRequest,
    opened: &OpenedComponent,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: FormErrors,
) -> Result<Reply> {
    let fields = Fields { req, space: &opened.space, steps, component, problems: &problems };
    let form = form(&fields, opened.path(), "settings-save")
        .method("put")
        .hidden("revision", req.revision(opened.component.revision()));
    let lede = req.tr("component-delete-lede");
    let end = deletion_link(req, lede, format!("{}/delete", opened.path()), opened.name(req));
    let head = opened.head(req, "edit");
    let body = Html::join([form.html(), end]);
    req.form_page(head, body, problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    let steps = components::steps(req, &opened.space).await?;
    let comments_max_length = opened.space.organization.comments_max_length;
    let mut typed = opened.component.clone();
    let mut problems = read(req, comments_max_length, &steps, &mut typed);
    if problems.is_empty() {
        let edit = |component: &mut Component| drop(read(req, comments_max_length, &steps, component));
        problems = match save(req, &opened, Some(req.form_revision()), edit).await {
            Ok(_) => return req.done("settings-saved", &[], format!("{}/edit", opened.path())).await,
            Err(error) => form_errors(req, &opened.space, error)?,
        };
    }
    show_edit(req, &opened, &steps, &typed, problems).await
}
