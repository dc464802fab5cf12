//! The form of the texts and dates of a survey, and the page that changes them. They are not saved by
//! [`crate::records::save()`]: the use case changes two records, the questionnaire with the texts and the survey with the dates.

use super::opened_survey::{OpenedSurvey, admin, audit_entry};
use crate::admin_request::AdminRequest;
use crate::error::form_errors_with_texts;
use crate::parts::{FormError, FormErrors, Section};
use crate::records::{FormInput, FormView, TextField, with_changes};
use crate::reply::Reply;
use crate::translated::{audit_text, title};
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, FieldError, Result};
use civitas_organizations::Organization;
use civitas_surveys::{SurveyChange, SurveySettings};
use time::OffsetDateTime;

const FORM_NAME: &str = "survey";

/// Writes what was typed into the settings, and returns what cannot be read.
pub(crate) fn read_form(
    req: &AdminRequest,
    organization: &Organization,
    settings: &mut SurveySettings,
) -> FormErrors {
    let mut input = FormInput::new(req, FORM_NAME, &organization.available_locales);
    input.read_texts("title", &mut settings.title);
    input.read_texts("description", &mut settings.description);
    input.read_texts("tos", &mut settings.tos);
    input.read_optional_time("starts_at", &mut settings.starts_at);
    input.read_optional_time("ends_at", &mut settings.ends_at);
    input.into_problems()
}

/// The problems of a refused survey or question, with the sentences of surveys. `field` returns the name of the field for
/// a member.
pub(crate) fn questionnaire_form_errors(
    req: &AdminRequest,
    error: Error,
    field: impl Fn(&str) -> String,
) -> Result<FormErrors> {
    let text = |field_error: &FieldError| {
        let key = match field_error.code.as_ref() {
            "too_long" => "problem-survey-long",
            "too_many" => "problem-survey-many",
            "locked" => "problem-survey-locked",
            "before_start" => "problem-survey-dates",
            "before_condition" => "problem-survey-order",
            _ => return None,
        };
        Some(req.tr(key))
    };
    form_errors_with_texts(&req.translator, error, |field_error| field(&field_error.field), text)
}

/// The problems of refused texts or dates.
pub(crate) fn form_errors(
    req: &AdminRequest,
    organization: &Organization,
    error: Error,
) -> Result<FormErrors> {
    questionnaire_form_errors(req, error, |field| match field {
        "title" | "description" | "tos" => format!("survey[{field}][{}]", organization.default_locale),
        other => format!("survey[{other}]"),
    })
}

/// The sections of the form: texts and dates.
pub(crate) fn sections(
    req: &AdminRequest,
    organization: &Organization,
    settings: &SurveySettings,
    problems: &[FormError],
    is_new: bool,
) -> [Section; 2] {
    let (name, locales) = (FORM_NAME, &organization.available_locales);
    let view = FormView { req, organization, name, locales, problems, is_new };
    let texts = view.texts(
        "survey-texts",
        &[
            TextField::line("title", "column-title", &settings.title),
            TextField::html("description", "description", &settings.description, 5),
            TextField::html("tos", "survey-tos", &settings.tos, 8),
        ],
    );
    let zone = req.zone().label(req.now);
    let when = view
        .section("when", "survey-when")
        .hint(req.tr_with("survey-when-hint", "zone", zone))
        .field(view.html(view.time("starts_at", "survey-starts", settings.starts_at).optional()))
        .field(view.html(view.time("ends_at", "survey-ends", settings.ends_at).optional()));
    [view.section("about", "survey-texts").field(texts), when]
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
    let survey = OpenedSurvey::from_path(req).await?;
    let settings = stored(&survey);
    edit_page(req, &survey, &settings, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    survey: &OpenedSurvey,
    settings: &SurveySettings,
    problems: FormErrors,
) -> Result<Reply> {
    let is_dated = survey.summary.survey.is_some();
    let who = if is_dated { "survey-who-survey" } else { "survey-who-meeting" };
    let [about, when] = sections(req, &survey.organization, settings, &problems, false);
    let form = req
        .build_form(survey.path(), "survey-save")
        .put(req.revision(survey.questionnaire.revision()))
        .section(about)
        .sections(is_dated.then_some(when))
        .cancel(survey.path())
        .note(req.tr(who));
    req.form_page(survey.tab_head(req, "edit"), form.html(), problems).await
}

/// What differs, for the audit trail.
fn changes(change: &SurveyChange) -> Vec<(&'static str, String, String)> {
    let moment = |at: Option<OffsetDateTime>| at.map(|at| at.to_string()).unwrap_or_default();
    let (before, after) = (&change.questionnaire.before, &change.questionnaire.after);
    let mut list = vec![
        ("title", audit_text(&before.title), audit_text(&after.title)),
        ("description", audit_text(&before.description), audit_text(&after.description)),
        ("tos", audit_text(&before.tos), audit_text(&after.tos)),
    ];
    if let Some(survey) = &change.survey {
        list.push(("starts_at", moment(survey.before.starts_at), moment(survey.after.starts_at)));
        list.push(("ends_at", moment(survey.before.ends_at), moment(survey.after.ends_at)));
    }
    list
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::from_path(req).await?;
    let mut settings = stored(&survey);
    let mut problems = read_form(req, &survey.organization, &mut settings);
    if problems.is_empty() {
        let saved = req.change_with_audit(
            async |tx| {
                let id = (survey.id, req.form_revision());
                let at = (survey.organization.default_locale, req.now);
                admin(tx).update(survey.organization_id, id, &settings, at).await
            },
            |change| {
                let entry = audit_entry(req, &survey, Action::SurveyUpdated);
                (!change.is_empty()).then(|| with_changes(entry, changes(change)))
            },
        );
        problems = match saved.await {
            Ok(_) => {
                let (name, to) = (title(req, &settings.title), format!("{}/edit", survey.path()));
                return req.redirect_done("survey-saved", &[("name", name.into())], to).await;
            }
            Err(error) => form_errors(req, &survey.organization, error)?,
        };
    }
    edit_page(req, &survey, &settings, problems).await
}
