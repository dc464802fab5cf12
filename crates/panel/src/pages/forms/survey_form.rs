//! The form of the texts and dates of a survey, and the page that changes them.

use super::opened_survey::{OpenedSurvey, admin, audit_entry};
use crate::admin_request::AdminRequest;
use crate::pages::content::shared::{one_line, title, with_changes};
use crate::parts::{Form, FormError, FormErrors, Html};
use crate::records::{FormInput, FormView, TextField};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, FieldError, Result};
use civitas_organizations::Organization;
use civitas_surveys::{SurveyChange, SurveySettings};
use time::OffsetDateTime;

const NAME: &str = "survey";

/// Writes what was typed into the settings, and returns what cannot be read.
pub(crate) fn read(
    req: &AdminRequest,
    organization: &Organization,
    settings: &mut SurveySettings,
) -> FormErrors {
    let mut input = FormInput::new(req, NAME, &organization.available_locales);
    input.texts("title", &mut settings.title);
    input.texts("description", &mut settings.description);
    input.texts("tos", &mut settings.tos);
    input.optional_time("starts_at", &mut settings.starts_at);
    input.optional_time("ends_at", &mut settings.ends_at);
    input.into_problems()
}

/// The sentence of an error of the use cases of surveys.
pub(crate) fn sentence(req: &AdminRequest, field_error: &FieldError) -> String {
    let key = match field_error.code.as_ref() {
        "too_long" => "problem-survey-long",
        "too_many" => "problem-survey-many",
        "locked" => "problem-survey-locked",
        "before_start" => "problem-survey-dates",
        "before_condition" => "problem-survey-order",
        _ => return crate::error::sentence(&req.translator, field_error),
    };
    req.tr(key)
}

/// The problems of a refused form, or the error itself when no value is to blame. `field` gives the name in the form of a
/// member.
pub(crate) fn form_errors_with(
    req: &AdminRequest,
    error: Error,
    field: impl Fn(&str) -> String,
) -> Result<FormErrors> {
    match error {
        Error::Invalid { fields, .. } => Ok(fields
            .iter()
            .map(|field_error| FormError::new(field(&field_error.field), sentence(req, field_error)))
            .collect()),
        other => Err(other),
    }
}

/// The problems of refused texts or dates.
pub(crate) fn form_errors(
    req: &AdminRequest,
    organization: &Organization,
    error: Error,
) -> Result<FormErrors> {
    form_errors_with(req, error, |field| match field {
        "revision" => String::new(),
        "title" | "description" | "tos" => format!("survey[{field}][{}]", organization.default_locale),
        other => format!("survey[{other}]"),
    })
}

/// The form. `component`: the field of a new survey before the texts; `is_dated`: whether there are dates.
pub(crate) fn form<'a>(
    req: &'a AdminRequest,
    organization: &Organization,
    settings: &SurveySettings,
    (action, save): (String, &str),
    problems: &[FormError],
    component: Option<Html>,
    is_dated: bool,
) -> Form<'a> {
    let (name, locales, is_new) = (NAME, &organization.available_locales, component.is_some());
    let view = FormView { req, organization, name, locales, problems, is_new };
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
    let form = Form::new(&req.translator, action, req.token(), save).section(about.field(texts));
    if !is_dated {
        return form;
    }
    let zone = req.zone().label(req.now);
    let when = view
        .section("when", "survey-when")
        .hint(req.tr_with("survey-when-hint", "zone", zone))
        .field(view.html(view.time("starts_at", "survey-starts", settings.starts_at).optional()))
        .field(view.html(view.time("ends_at", "survey-ends", settings.ends_at).optional()));
    form.section(when)
}

/// The stored settings.
fn stored(survey: &OpenedSurvey) -> SurveySettings {
    let (questionnaire, survey) = (&survey.summary.questionnaire, survey.summary.survey.as_ref());
    SurveySettings {
        title: questionnaire.title.clone(),
        description: questionnaire.description.clone(),
        tos: questionnaire.tos.clone(),
        starts_at: survey.and_then(|survey| survey.starts_at),
        ends_at: survey.and_then(|survey| survey.ends_at),
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::of_path(req).await?;
    let settings = stored(&survey);
    show(req, &survey, &settings, Vec::new()).await
}

async fn show(
    req: &AdminRequest,
    survey: &OpenedSurvey,
    settings: &SurveySettings,
    problems: FormErrors,
) -> Result<Reply> {
    let is_dated = survey.summary.survey.is_some();
    let address = (survey.path(), "survey-save");
    let who = if is_dated { "survey-who-survey" } else { "survey-who-meeting" };
    let form = form(req, &survey.organization, settings, address, &problems, None, is_dated)
        .method("put")
        .hidden("revision", req.revision(survey.questionnaire.revision()))
        .cancel(survey.path())
        .note(req.tr(who));
    req.form_page(survey.own_head(req, "edit"), form.html(), problems).await
}

/// What differs, for the audit trail.
fn changes(change: &SurveyChange) -> Vec<(&'static str, String, String)> {
    let moment = |at: Option<OffsetDateTime>| at.map(|at| at.to_string()).unwrap_or_default();
    let (before, after) = (&change.questionnaire.before, &change.questionnaire.after);
    let mut list = vec![
        ("title", one_line(&before.title), one_line(&after.title)),
        ("description", one_line(&before.description), one_line(&after.description)),
        ("tos", one_line(&before.tos), one_line(&after.tos)),
    ];
    if let Some(survey) = &change.survey {
        list.push(("starts_at", moment(survey.before.starts_at), moment(survey.after.starts_at)));
        list.push(("ends_at", moment(survey.before.ends_at), moment(survey.after.ends_at)));
    }
    list
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::of_path(req).await?;
    let mut settings = stored(&survey);
    let mut problems = read(req, &survey.organization, &mut settings);
    if problems.is_empty() {
        let saved = req.change(async |tx| {
            let (id, at) = ((survey.id, req.form_revision()), (survey.organization.default_locale, req.now));
            let change = admin(tx).update(survey.organization_id, id, &settings, at).await?;
            if change.is_empty() {
                return Ok(());
            }
            let entry = with_changes(audit_entry(req, &survey, Action::SurveyUpdated), changes(&change));
            req.append_audit_entry(tx, &entry).await
        });
        problems = match saved.await {
            Ok(()) => {
                let (name, to) = (title(req, &settings.title), format!("{}/edit", survey.path()));
                return req.done("survey-saved", &[("name", name.into())], to).await;
            }
            Err(error) => form_errors(req, &survey.organization, error)?,
        };
    }
    show(req, &survey, &settings, problems).await
}
