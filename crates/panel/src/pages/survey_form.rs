//! The form of the texts and dates of a survey, and the page that changes them.

use super::content::{line, title, with_changes};
use super::survey_home::{OpenedSurvey, admin, record};
use crate::parts::{Form, Html, Problem};
use crate::records::{FormInput, FormView, TextField};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, FieldError, Result};
use civitas_organizations::Organization;
use civitas_surveys::{SurveyChange, SurveySettings};
use time::OffsetDateTime;

const NAME: &str = "survey";

/// Writes what was typed into the settings, and returns what cannot be read.
pub(crate) fn read(visit: &Visit, home: &Organization, settings: &mut SurveySettings) -> Vec<Problem> {
    let mut input = FormInput::new(visit, NAME, &home.available_locales);
    input.texts("title", &mut settings.title);
    input.texts("description", &mut settings.description);
    input.texts("tos", &mut settings.tos);
    input.optional_time("starts_at", &mut settings.starts_at);
    input.optional_time("ends_at", &mut settings.ends_at);
    input.into_problems()
}

/// The sentence of an error of the use cases of surveys.
pub(crate) fn sentence(visit: &Visit, fault: &FieldError) -> String {
    let key = match fault.code.as_ref() {
        "too_long" => "problem-survey-long",
        "too_many" => "problem-survey-many",
        "locked" => "problem-survey-locked",
        "before_start" => "problem-survey-dates",
        "before_condition" => "problem-survey-order",
        _ => return crate::error::sentence(&visit.words, fault),
    };
    visit.say(key)
}

/// The problems of a refused form, or the error itself when no value is to blame.
pub(crate) fn problems(visit: &Visit, fault: Error, field: impl Fn(&str) -> String) -> Result<Vec<Problem>> {
    match fault {
        Error::Invalid { fields, .. } => {
            Ok(fields.iter().map(|fault| Problem::new(field(&fault.field), sentence(visit, fault))).collect())
        }
        other => Err(other),
    }
}

/// The problems of refused texts or dates.
pub(crate) fn refusal(visit: &Visit, home: &Organization, fault: Error) -> Result<Vec<Problem>> {
    problems(visit, fault, |field| match field {
        "revision" => String::new(),
        "title" | "description" | "tos" => format!("survey[{field}][{}]", home.default_locale),
        other => format!("survey[{other}]"),
    })
}

/// The form. `component`: the field of a new survey before the texts; `is_dated`: whether there are dates.
pub(crate) fn form<'a>(
    visit: &'a Visit,
    home: &Organization,
    settings: &SurveySettings,
    (action, save): (String, &str),
    problems: &[Problem],
    component: Option<Html>,
    is_dated: bool,
) -> Form<'a> {
    let (name, locales, is_new) = (NAME, &home.available_locales, component.is_some());
    let view = FormView { visit, home, name, locales, problems, is_new };
    let texts = view.texts(
        "survey-texts",
        &[
            TextField::line("title", "column-title", &settings.title),
            TextField::html("description", "description", &settings.description, 5),
            TextField::html("tos", "survey-tos", &settings.tos, 8),
        ],
    );
    let mut about = view.section("about", "survey-texts");
    about.fields.extend(component);
    let form = Form::new(&visit.words, action, visit.token(), save).section(about.field(texts));
    if !is_dated {
        return form;
    }
    let zone = visit.zone.label(visit.now);
    let when = view
        .section("when", "survey-when")
        .hint(visit.tell("survey-when-hint", &[("zone", zone.into())]))
        .field(view.html(view.time("starts_at", "survey-starts", settings.starts_at).optional()))
        .field(view.html(view.time("ends_at", "survey-ends", settings.ends_at).optional()));
    form.section(when)
}

/// The stored settings.
fn stored(shown: &OpenedSurvey) -> SurveySettings {
    let (questionnaire, survey) = (&shown.summary.questionnaire, shown.summary.survey.as_ref());
    SurveySettings {
        title: questionnaire.title.clone(),
        description: questionnaire.description.clone(),
        tos: questionnaire.tos.clone(),
        starts_at: survey.and_then(|survey| survey.starts_at),
        ends_at: survey.and_then(|survey| survey.ends_at),
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let settings = stored(&shown);
    show(visit, &shown, &settings, Vec::new()).await
}

async fn show(
    visit: &Visit,
    shown: &OpenedSurvey,
    settings: &SurveySettings,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let is_dated = shown.summary.survey.is_some();
    let address = (shown.path(), "survey-save");
    let who = if is_dated { "survey-who-survey" } else { "survey-who-meeting" };
    let form = form(visit, &shown.home, settings, address, &problems, None, is_dated)
        .method("put")
        .hidden("revision", visit.revision(shown.questionnaire.revision()))
        .cancel(shown.path())
        .note(visit.say(who));
    visit.form_page(shown.own_head(visit, "edit"), form.html(), problems).await
}

/// What differs, for the audit trail.
fn changes(change: &SurveyChange) -> Vec<(&'static str, String, String)> {
    let moment = |at: Option<OffsetDateTime>| at.map(|at| at.to_string()).unwrap_or_default();
    let (before, after) = (&change.questionnaire.before, &change.questionnaire.after);
    let mut list = vec![
        ("title", line(&before.title), line(&after.title)),
        ("description", line(&before.description), line(&after.description)),
        ("tos", line(&before.tos), line(&after.tos)),
    ];
    if let Some(survey) = &change.survey {
        list.push(("starts_at", moment(survey.before.starts_at), moment(survey.after.starts_at)));
        list.push(("ends_at", moment(survey.before.ends_at), moment(survey.after.ends_at)));
    }
    list
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let visit = &*visit;
    let mut settings = stored(&shown);
    let mut problems = read(visit, &shown.home, &mut settings);
    if problems.is_empty() {
        let saved = visit.change(async |tx| {
            let (id, at) = ((shown.id, visit.form_revision()), (shown.home.default_locale, visit.now));
            let change = admin(tx).update(shown.organization, id, &settings, at).await?;
            if change.is_empty() {
                return Ok(());
            }
            let entry = with_changes(record(visit, &shown, Action::SurveyUpdated), changes(&change));
            visit.append(tx, &entry).await
        });
        problems = match saved.await {
            Ok(()) => {
                let (name, to) = (title(visit, &settings.title), format!("{}/edit", shown.path()));
                return visit.done("survey-saved", &[("name", name.into())], to).await;
            }
            Err(fault) => refusal(visit, &shown.home, fault)?,
        };
    }
    show(visit, &shown, &settings, problems).await
}
