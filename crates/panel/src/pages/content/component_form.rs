//! The form of a component: name, settings, settings by step (contract 05 §3.5, §3.6). Its fields follow from the
//! catalogue of settings.

use super::component_settings::{
    SECTIONS, component_kind_name, global_field, has_name, read_settings, setting_hint, setting_label,
    setting_value, settings_of_level, step_field, word_label,
};
use super::components::{self, OpenedComponent, admin, change, components_path, form_errors};
use super::opened_space::{OpenedSpace, parse_space_ref};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{
    Checkbox, Choice, Field, Form, FormError, FormErrors, Html, Matrix, MatrixCell, MatrixColumn, MatrixRow,
    Section, TranslatedFields, deletion_link,
};
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdministration};
use civitas_kernel::{Error, Result, StepId, Translated};
use civitas_spaces::{
    Component, ComponentKind, Setting, SettingDefault, SettingLevel, SettingsSchema, Step, check_title,
};
use serde_json::{Map, Value};

const NAME_FIELD: &str = "component[name]";
const ANNOUNCEMENT_FIELD: &str = "global_announcement";

/// Writes what was typed into a component, and returns what cannot be read. What was not sent stays as it is.
fn read_form(
    req: &AdminRequest,
    comments_max_length: i64,
    steps: &[(StepId, Step)],
    component: &mut Component,
) -> FormErrors {
    let mut problems = Vec::new();
    if req.form.has_prefix("component[name][") {
        component.name = req.form.texts(NAME_FIELD, &req.panel.settings.site.locales);
    }
    let global = settings_of_level(component.kind, SettingLevel::Global);
    read_settings(req, &global, comments_max_length, global_field, &mut component.settings, &mut problems);
    let of_step_level = settings_of_level(component.kind, SettingLevel::Step);
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

    fn texts(&self, id: &str, legend: &str) -> TranslatedFields {
        let locales = &self.req.panel.settings.site.locales;
        TranslatedFields::new(id, self.req.tr(legend), locales, self.space.organization.default_locale)
    }

    /// Adds a translated setting to a group of texts.
    fn add_text(&self, texts: TranslatedFields, setting: &Setting, rows: u8) -> TranslatedFields {
        let value = setting_value(setting, &self.component.settings, self.comments_max_length());
        let text: Translated = serde_json::from_value(value).unwrap_or_default();
        let (label, hint) = (setting_label(self.req, setting), setting_hint(self.req, setting));
        texts.text(&global_field(setting.key), label, hint, &text, rows)
    }

    fn name(&self) -> Section {
        let label = self.req.tr("column-name");
        let mut texts =
            self.texts("name-texts", "texts").text(NAME_FIELD, label, "", &self.component.name, 1);
        if let Some(announcement) = SettingsSchema::for_manifest(self.component.kind).get(ANNOUNCEMENT_FIELD)
        {
            texts = self.add_text(texts, announcement, 3);
        }
        Section::new("name", self.req.tr("component-section-name"))
            .field(texts.html(&self.req.translator, self.problems))
    }

    /// The field of a global setting that is no text in several languages.
    fn field(&self, setting: &Setting) -> Html {
        let req = self.req;
        let (name, label, hint) =
            (global_field(setting.key), setting_label(req, setting), setting_hint(req, setting));
        let stored = self.component.settings.get(setting.key);
        let value = setting_value(setting, &self.component.settings, self.comments_max_length());
        let typed = |value: String| req.form.get(&name).map_or(value, str::to_owned);
        let field = match setting.default {
            SettingDefault::Bool(_) => {
                return Checkbox::new(&name, label, value == Value::Bool(true)).hint(hint).html();
            }
            SettingDefault::Integer(_) => Field::number(&name, label, typed(value.to_string())),
            SettingDefault::OrganizationsCommentLength => {
                let value = stored.map(Value::to_string).unwrap_or_default();
                let default = self.comments_max_length().to_string();
                Field::number(&name, label, typed(value)).placeholder(default).optional()
            }
            SettingDefault::Word(list) => {
                let choices = list.iter().map(|one| Choice::new(*one, word_label(req, setting, one)));
                let chosen = value.as_str().unwrap_or_default();
                Field::select(&name, label, chosen, choices.collect()).class("medium")
            }
            SettingDefault::Words | SettingDefault::Translated => {
                return self.lines(&name, label, hint, &value);
            }
        };
        field.hint(hint).check(self.problems).html(&req.translator)
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
        setting_value(setting, stored, self.comments_max_length())
    }

    /// The settings by step; `None` when components of this kind have none.
    fn step_section(&self) -> Option<Section> {
        let settings = settings_of_level(self.component.kind, SettingLevel::Step);
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
            MatrixRow {
                label: setting_label(req, setting),
                hint: setting_hint(req, setting),
                cells: cells.collect(),
            }
        });
        let rows = rows.collect();
        let mut fields = Vec::new();
        for setting in others {
            fields.extend(columns.iter().map(|(step, column)| {
                let values =
                    [("setting", setting_label(req, setting).into()), ("step", column.label.as_str().into())];
                let label = req.tr_args("setting-in-step", &values);
                let name = step_field(*step, setting.key);
                self.lines(&name, label, setting_hint(req, setting), &self.step_value(*step, setting))
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
        let global = settings_of_level(self.component.kind, SettingLevel::Global);
        let named = |names: &str| -> Vec<&'static Setting> {
            names.split(' ').filter_map(|name| global.iter().find(|s| s.key == name).copied()).collect()
        };
        let mut sections = vec![self.name()];
        sections.extend(self.step_section());
        sections.extend(SECTIONS.iter().filter_map(|(id, names)| self.section(id, &named(names))));
        let is_named = |key: &str| SECTIONS.iter().any(|(_, names)| has_name(names, key));
        let others: Vec<_> =
            global.iter().copied().filter(|s| s.key != ANNOUNCEMENT_FIELD && !is_named(s.key)).collect();
        sections.extend(self.section("other", &others));
        sections
    }
}

fn form<'a>(fields: &Fields<'a>, action: String, submit_key: &str) -> Form<'a> {
    let form = fields.req.build_form(action, submit_key);
    form.cancel(fields.space.path()).sections(fields.sections())
}

/// The space and the kind of a new component, from the address or the form.
async fn new_from_request(req: &AdminRequest) -> Result<(OpenedSpace, Component)> {
    let sent = |req: &AdminRequest, field: &str, name: &str| {
        req.form.get(field).or_else(|| req.query.get(name)).map(str::to_owned)
    };
    let space = sent(req, "component[space]", "space");
    let space_ref = space.and_then(|text| parse_space_ref(&text)).ok_or(Error::NotFound)?;
    let kind = sent(req, "component[manifest]", "manifest");
    let kind = kind.and_then(|name| ComponentKind::parse(&name)).ok_or(Error::NotFound)?;
    let opened = OpenedSpace::find(req, space_ref).await?;
    Ok((opened, Component::new(space_ref, kind, Translated::default(), req.now)))
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let (opened, component) = new_from_request(req).await?;
    let steps = components::steps_of_space(req, &opened).await?;
    new_page(req, &opened, &steps, &component, Vec::new()).await
}

async fn new_page(
    req: &AdminRequest,
    opened: &OpenedSpace,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: FormErrors,
) -> Result<Reply> {
    let fields = Fields { req, space: opened, steps, component, problems: &problems };
    let form = form(&fields, components_path(opened.organization_id), "component-create")
        .hidden("component[space]", opened.space_ref.to_string())
        .hidden("component[manifest]", component.kind.as_str());
    let kind = component_kind_name(req, component.kind);
    let head = opened
        .subpage_head(req, req.tr_with("component-new", "kind", kind))
        .lede(req.tr("component-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (opened, mut component) = new_from_request(req).await?;
    let steps = components::steps_of_space(req, &opened).await?;
    let mut problems = read_form(req, opened.organization.comments_max_length, &steps, &mut component);
    if problems.is_empty() {
        let name = title(req, &component.name);
        let created = req.change_with_audit(
            async |tx| {
                check_title("name", &component.name, opened.organization.default_locale)?;
                admin(req, tx).create(opened.organization_id, &component).await
            },
            |id| {
                let entry = req.audit_entry(Action::ComponentCreated).in_organization(opened.organization_id);
                Some(entry.with_object("component", &id.to_string(), &name))
            },
        );
        problems = match created.await {
            Ok(_) => {
                let notice = Notice::success(req.tr_with("component-created", "name", name));
                return req.redirect(opened.path(), notice.text(req.tr("component-created-next"))).await;
            }
            Err(error) => form_errors(req, &opened, error)?,
        };
    }
    new_page(req, &opened, &steps, &component, problems).await
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    let steps = components::steps_of_space(req, &opened.space).await?;
    edit_page(req, &opened, &steps, &opened.component, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    opened: &OpenedComponent,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: FormErrors,
) -> Result<Reply> {
    let fields = Fields { req, space: &opened.space, steps, component, problems: &problems };
    let form = form(&fields, opened.path(), "settings-save").put(req.revision(opened.component.revision()));
    let lede = req.tr("component-delete-lede");
    let end = deletion_link(&req.translator, lede, format!("{}/delete", opened.path()), opened.name(req));
    let head = opened.tab_head(req, "edit");
    let body = Html::join([form.html(), end]);
    req.form_page(head, body, problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    let steps = components::steps_of_space(req, &opened.space).await?;
    let comments_max_length = opened.space.organization.comments_max_length;
    let mut typed = opened.component.clone();
    let mut problems = read_form(req, comments_max_length, &steps, &mut typed);
    if problems.is_empty() {
        let edit = |component: &mut Component| drop(read_form(req, comments_max_length, &steps, component));
        problems = match change(req, &opened, Some(req.form_revision()), edit).await {
            Ok(()) => {
                return req.redirect_done("settings-saved", &[], format!("{}/edit", opened.path())).await;
            }
            Err(error) => form_errors(req, &opened.space, error)?,
        };
    }
    edit_page(req, &opened, &steps, &typed, problems).await
}
