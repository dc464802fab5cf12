//! The form of the texts and dates of a survey, and the page that changes them.

use super::content::{line, typed, with_changes};
use super::publications::{moment, read_time, time_field};
use super::survey_home::{Shown, admin, record};
use crate::notice::Notice;
use crate::parts::{Form, Html, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, FieldError, Locale, Result};
use civitas_organizations::Organization;
use civitas_surveys::{SurveyChange, SurveySettings};
use time::OffsetDateTime;

const TITLE: &str = "survey[title]";
const STARTS: &str = "survey[starts_at]";
const ENDS: &str = "survey[ends_at]";

/// What was typed, and what cannot be read. What was not sent stays as it is.
pub(crate) fn read(
    visit: &Visit,
    home: &Organization,
    mut settings: SurveySettings,
) -> (SurveySettings, Vec<Problem>) {
    let (locales, mut problems) = (&home.available_locales, Vec::new());
    settings.title = typed(visit, TITLE, locales, &settings.title);
    settings.description = typed(visit, "survey[description]", locales, &settings.description);
    settings.tos = typed(visit, "survey[tos]", locales, &settings.tos);
    for (name, time) in [(STARTS, &mut settings.starts_at), (ENDS, &mut settings.ends_at)] {
        read_time(visit, name, time, &mut problems);
    }
    (settings, problems)
}

/// The sentence of an error of the use-cases of surveys.
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

/// The form. `first` is a field before the texts; `is_dated`: whether there are dates.
pub(crate) fn form<'a>(
    visit: &'a Visit,
    home: &Organization,
    settings: &SurveySettings,
    (action, save): (String, &str),
    problems: &[Problem],
    first: Option<Html>,
    is_dated: bool,
) -> Form<'a> {
    let (words, locales) = (&visit.words, &home.available_locales);
    let html = || visit.say("html-hint");
    let texts = Texts::new("survey-texts", visit.say("texts"), locales, home.default_locale)
        .text(TITLE, visit.say("column-title"), "", &settings.title, 1)
        .text("survey[description]", visit.say("description"), html(), &settings.description, 5)
        .text("survey[tos]", visit.say("survey-tos"), html(), &settings.tos, 8);
    let mut about = Section::new("about", visit.say("survey-texts"));
    if let Some(first) = first {
        about = about.field(first);
    }
    about = about.field(texts.html(words, problems));
    let mut form = Form::new(words, action, visit.token(), save).section(about);
    if is_dated {
        let time = |name: &str, label: &str, at: Option<OffsetDateTime>| {
            time_field(visit, name, label, at).optional().check(problems).html(words)
        };
        let zone = visit.zone.label(visit.now);
        let when = Section::new("when", visit.say("survey-when"))
            .hint(visit.tell("survey-when-hint", &[("zone", zone.into())]))
            .field(time(STARTS, "survey-starts", settings.starts_at))
            .field(time(ENDS, "survey-ends", settings.ends_at));
        form = form.section(when);
    }
    form
}

/// The stored settings.
fn stored(shown: &Shown) -> SurveySettings {
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
    let shown = Shown::of(visit).await?;
    let settings = stored(&shown);
    show(visit, &shown, &settings, Vec::new()).await
}

async fn show(
    visit: &Visit,
    shown: &Shown,
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
    let shown = Shown::of(visit).await?;
    let visit = &*visit;
    let (settings, problems) = read(visit, &shown.home, stored(&shown));
    if !problems.is_empty() {
        return show(visit, &shown, &settings, problems).await;
    }
    let locale: Locale = shown.home.default_locale;
    let saved = visit
        .change(async |tx| {
            let id = (shown.id, visit.seen());
            let change = admin(tx).update(shown.organization, id, &settings, (locale, visit.now)).await?;
            if change.is_empty() {
                return Ok(());
            }
            let record = with_changes(record(visit, &shown, Action::SurveyUpdated), changes(&change));
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match saved {
        Ok(()) => {
            let title = super::content::title(visit, &settings.title);
            let text = visit.tell("survey-saved", &[("name", title.into())]);
            visit.redirect(format!("{}/edit", shown.path()), Notice::good(text)).await
        }
        Err(fault) => {
            let problems = refusal(visit, &shown.home, fault)?;
            show(visit, &shown, &settings, problems).await
        }
    }
}
