//! The form of a component: name, settings, settings by step (contract 05 §3.5, §3.6). Its fields follow from the
//! catalogue of settings.

use super::component_settings::{
    SECTIONS, global_field, hint, kind, label, of_level, phase_field, read as read_settings, value, word,
};
use super::components::{self, OpenedComponent, admin, base, refusal, save};
use super::content::{OpenedSpace, end, number, title};
use crate::notice::Notice;
use crate::parts::{
    Checkbox, Choice, Field, Form, Html, Matrix, MatrixCell, MatrixColumn, MatrixRow, Problem, Section, Texts,
};
use crate::reply::Reply;
use crate::visit::Visit;
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
fn read(visit: &Visit, length: i64, steps: &[(StepId, Step)], component: &mut Component) -> Vec<Problem> {
    let mut problems = Vec::new();
    if visit.form.has("component[name][") {
        component.name = visit.form.texts(NAME, &visit.panel.settings.site.locales);
    }
    let global = of_level(component.manifest, Level::Global);
    read_settings(visit, &global, length, global_field, &mut component.settings, &mut problems);
    let phase = of_level(component.manifest, Level::Phase);
    let without = &mut component.default_step_settings;
    read_settings(visit, &phase, length, |key| phase_field(None, key), without, &mut problems);
    for (id, _) in steps {
        let mut of_step = component.step_settings.get(id).cloned().unwrap_or_default();
        let name = |key: &str| phase_field(Some(*id), key);
        read_settings(visit, &phase, length, name, &mut of_step, &mut problems);
        // A step without settings of its own has the defaults.
        if !of_step.is_empty() || component.step_settings.contains_key(id) {
            component.step_settings.insert(*id, of_step);
        }
    }
    problems
}

/// What the fields of a form need.
struct Fields<'a> {
    visit: &'a Visit,
    here: &'a OpenedSpace,
    steps: &'a [(StepId, Step)],
    component: &'a Component,
    problems: &'a [Problem],
}

impl Fields<'_> {
    fn length(&self) -> i64 {
        self.here.organization.comments_max_length
    }

    fn texts(&self, id: &str, legend: &str) -> Texts {
        let locales = &self.visit.panel.settings.site.locales;
        Texts::new(id, self.visit.say(legend), locales, self.here.organization.default_locale)
    }

    /// Adds a translated setting to a group of texts.
    fn add_text(&self, texts: Texts, setting: &Setting, rows: u8) -> Texts {
        let value = value(setting, &self.component.settings, self.length());
        let text: Translated = serde_json::from_value(value).unwrap_or_default();
        let (label, hint) = (label(self.visit, setting), hint(self.visit, setting));
        texts.text(&global_field(setting.key), label, hint, &text, rows)
    }

    fn name(&self) -> Section {
        let label = self.visit.say("column-name");
        let mut texts = self.texts("name-texts", "texts").text(NAME, label, "", &self.component.name, 1);
        if let Some(announcement) = SettingsSchema::of(self.component.manifest).get(ANNOUNCEMENT) {
            texts = self.add_text(texts, announcement, 3);
        }
        Section::new("name", self.visit.say("component-section-name"))
            .field(texts.html(&self.visit.words, self.problems))
    }

    /// The field of a global setting that is no text in several languages.
    fn field(&self, setting: &Setting) -> Html {
        let (visit, words) = (self.visit, &self.visit.words);
        let (name, label, hint) = (global_field(setting.key), label(visit, setting), hint(visit, setting));
        let stored = self.component.settings.get(setting.key);
        let value = value(setting, &self.component.settings, self.length());
        let typed = |value: String| visit.form.get(&name).map_or(value, str::to_owned);
        match setting.default {
            SettingDefault::Bool(_) => {
                Checkbox::new(&name, label, value == Value::Bool(true)).hint(hint).html()
            }
            SettingDefault::Integer(_) => Field::number(&name, label, typed(value.to_string()))
                .hint(hint)
                .check(self.problems)
                .html(words),
            SettingDefault::OrganizationsCommentLength => {
                let own = stored.map(Value::to_string).unwrap_or_default();
                Field::number(&name, label, typed(own))
                    .hint(hint)
                    .placeholder(self.length().to_string())
                    .optional()
                    .check(self.problems)
                    .html(words)
            }
            SettingDefault::Word(list) => {
                let choices = list.iter().map(|one| Choice::new(*one, word(visit, setting, one)));
                let chosen = value.as_str().unwrap_or_default();
                Field::select(&name, label, chosen, choices.collect())
                    .hint(hint)
                    .class("medium")
                    .check(self.problems)
                    .html(words)
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
            .html(&self.visit.words)
    }

    /// A section of global settings; `None` when components of this kind have none of them.
    fn section(&self, id: &str, settings: &[&'static Setting]) -> Option<Section> {
        if settings.is_empty() {
            return None;
        }
        let mut section = Section::new(id, self.visit.say(&format!("component-section-{id}")));
        let is_text = |setting: &&&'static Setting| setting.default == SettingDefault::Translated;
        let plain: Vec<Html> =
            settings.iter().filter(|setting| !is_text(setting)).map(|setting| self.field(setting)).collect();
        section.fields.extend(plain);
        let mut texts = settings.iter().filter(is_text).peekable();
        if texts.peek().is_some() {
            let group = self.texts(&format!("{id}-texts"), "texts");
            let group = texts.fold(group, |group, setting| self.add_text(group, setting, 3));
            section = section.field(group.html(&self.visit.words, self.problems));
        }
        Some(section)
    }

    /// The columns of the settings by step: without an active step, then each step.
    fn columns(&self) -> Vec<(Option<StepId>, MatrixColumn)> {
        let label = self.visit.say("component-without-steps");
        let without = (None, MatrixColumn { label, active: String::new() });
        let steps = self.steps.iter().map(|(id, step)| {
            let active = if step.active { self.visit.say("step-active-now") } else { String::new() };
            (Some(*id), MatrixColumn { label: title(self.visit, &step.title), active })
        });
        std::iter::once(without).chain(steps).collect()
    }

    /// The value of a setting by step.
    fn phase_value(&self, step: Option<StepId>, setting: &Setting) -> Value {
        let none = Map::new();
        let stored = match step {
            Some(step) => self.component.step_settings.get(&step).unwrap_or(&none),
            None => &self.component.default_step_settings,
        };
        value(setting, stored, self.length())
    }

    /// The settings by step; `None` when components of this kind have none.
    fn phases(&self) -> Option<Section> {
        let settings = of_level(self.component.manifest, Level::Phase);
        if settings.is_empty() {
            return None;
        }
        let visit = self.visit;
        let columns = self.columns();
        let (ticks, others): (Vec<&'static Setting>, Vec<&'static Setting>) =
            settings.into_iter().partition(|setting| matches!(setting.default, SettingDefault::Bool(_)));
        let rows = ticks.iter().map(|setting| {
            let cells = columns.iter().map(|(step, _)| MatrixCell {
                name: phase_field(*step, setting.key),
                is_on: self.phase_value(*step, setting) == Value::Bool(true),
            });
            MatrixRow { label: label(visit, setting), hint: hint(visit, setting), cells: cells.collect() }
        });
        let rows = rows.collect();
        let mut fields = Vec::new();
        for setting in others {
            fields.extend(columns.iter().map(|(step, column)| {
                let values =
                    [("setting", label(visit, setting).into()), ("step", column.label.as_str().into())];
                let label = visit.tell("setting-in-step", &values);
                let name = phase_field(*step, setting.key);
                self.lines(&name, label, hint(visit, setting), &self.phase_value(*step, setting))
            }));
        }
        let matrix = Matrix {
            caption: visit.say("component-section-phases"),
            corner: visit.say("component-setting"),
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            rows,
        };
        let mut section = Section::new("phases", visit.say("component-section-phases"))
            .hint(visit.say("component-section-phases-hint"))
            .field(matrix.html());
        section.fields.extend(fields);
        Some(section)
    }

    fn sections(&self) -> Vec<Section> {
        let global = of_level(self.component.manifest, Level::Global);
        let named = |names: &[&str]| -> Vec<&'static Setting> {
            names.iter().filter_map(|name| global.iter().find(|s| s.key == *name).copied()).collect()
        };
        let mut sections = vec![self.name()];
        sections.extend(self.phases());
        sections.extend(SECTIONS.iter().filter_map(|(id, names)| self.section(id, &named(names))));
        let is_named = |key: &str| SECTIONS.iter().any(|(_, names)| names.contains(&key));
        let others: Vec<_> =
            global.iter().copied().filter(|s| s.key != ANNOUNCEMENT && !is_named(s.key)).collect();
        sections.extend(self.section("other", &others));
        sections
    }
}

fn form<'a>(fields: &Fields<'a>, action: String, save: &str) -> Form<'a> {
    let form = Form::new(&fields.visit.words, action, fields.visit.token(), save).cancel(fields.here.path());
    fields.sections().into_iter().fold(form, Form::section)
}

/// The space and the kind of a new component, from the address or the form.
async fn new_of_request(visit: &mut Visit) -> Result<(OpenedSpace, Component)> {
    let sent = |visit: &Visit, field: &str, name: &str| {
        visit.form.get(field).or_else(|| visit.query.get(name)).map(str::to_owned)
    };
    let space = sent(visit, "component[space]", "space").ok_or(Error::NotFound)?;
    let (manifest, id) = space.split_once('/').ok_or(Error::NotFound)?;
    let manifest = SpaceManifest::parse(manifest).ok_or(Error::NotFound)?;
    let own = SpaceRef { manifest, id: id.parse().map_err(|_| Error::NotFound)? };
    let kind = sent(visit, "component[manifest]", "manifest");
    let kind = kind.and_then(|name| ComponentManifest::parse(&name)).ok_or(Error::NotFound)?;
    let here = OpenedSpace::find(visit, own).await?;
    Ok((here, Component::new(own, kind, Translated::default(), visit.now)))
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let (here, component) = new_of_request(visit).await?;
    let steps = components::steps(visit, &here).await?;
    show_new(visit, &here, &steps, &component, Vec::new()).await
}

async fn show_new(
    visit: &Visit,
    here: &OpenedSpace,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let fields = Fields { visit, here, steps, component, problems: &problems };
    let form = form(&fields, base(here.id), "component-create")
        .hidden("component[space]", number(here.own))
        .hidden("component[manifest]", component.manifest.as_str());
    let kind = kind(visit, component.manifest);
    let head = here
        .below(visit, visit.tell("component-new", &[("kind", kind.into())]))
        .lede(visit.say("component-new-lede"));
    let body = form.html();
    visit.form_page(head, body, problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (here, mut component) = new_of_request(visit).await?;
    let visit = &*visit;
    let steps = components::steps(visit, &here).await?;
    let mut problems = read(visit, here.organization.comments_max_length, &steps, &mut component);
    if problems.is_empty() {
        let name = title(visit, &component.name);
        let created = visit.change(async |tx| {
            check_title("name", &component.name, here.organization.default_locale)?;
            let id = admin(visit, tx).create(here.id, &component).await?;
            let entry = visit.record(Action::ComponentCreated).of(here.id);
            visit.append(tx, &entry.on("component", &id.to_string(), &name)).await
        });
        problems = match created.await {
            Ok(()) => {
                let notice = Notice::good(visit.tell("component-created", &[("name", name.into())]));
                return visit.redirect(here.path(), notice.text(visit.say("component-created-next"))).await;
            }
            Err(fault) => refusal(visit, &here, fault)?,
        };
    }
    show_new(visit, &here, &steps, &component, problems).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    let steps = components::steps(visit, &own.here).await?;
    show_edit(visit, &own, &steps, &own.component, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    own: &OpenedComponent,
    steps: &[(StepId, Step)],
    component: &Component,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let fields = Fields { visit, here: &own.here, steps, component, problems: &problems };
    let form = form(&fields, own.path(), "settings-save")
        .method("put")
        .hidden("revision", visit.revision(own.component.revision()));
    let lede = visit.say("component-delete-lede");
    let end = end(visit, lede, format!("{}/delete", own.path()), own.name(visit));
    let head = own.head(visit, "edit");
    let body = Html::join([form.html(), end]);
    visit.form_page(head, body, problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    let visit = &*visit;
    let steps = components::steps(visit, &own.here).await?;
    let length = own.here.organization.comments_max_length;
    let mut typed = own.component.clone();
    let mut problems = read(visit, length, &steps, &mut typed);
    if problems.is_empty() {
        let edit = |component: &mut Component| drop(read(visit, length, &steps, component));
        problems = match save(visit, &own, Some(visit.form_revision()), edit).await {
            Ok(_) => return visit.done("settings-saved", &[], format!("{}/edit", own.path())).await,
            Err(fault) => refusal(visit, &own.here, fault)?,
        };
    }
    show_edit(visit, &own, &steps, &typed, problems).await
}
