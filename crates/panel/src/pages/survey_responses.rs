//! The responses to a questionnaire: list, one response, deletion (contract 08 §7).

use super::content::title;
use super::log::{log_pages, log_start};
use super::opened_question::length;
use super::people;
use super::proposals::authors;
use super::survey_answers::{Answer, Files, read};
use super::survey_home::{OpenedQuestionnaire, OpenedSurvey, record};
use crate::parts::{Act, Card, Cell, Column, Empty, Html, KeyValues, Table};
use crate::records::PER_PAGE;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::User;
use civitas_audit::Action;
use civitas_kernel::{AnswerId, Error, LogRequest, ResponseId, Result, UserId};
use civitas_surveys::{AnswerRow, Form, Response, ResponseAdmin, ResponseDetail, TextLanguages};
use std::collections::HashMap;
use time::format_description::well_known::Rfc3339;

/// The address of the list.
pub(crate) fn path(shown: &OpenedQuestionnaire) -> String {
    format!("{}/responses", shown.path())
}

/// The languages of texts on a page: that of the page first.
pub(crate) fn languages(visit: &Visit, shown: &OpenedQuestionnaire) -> TextLanguages {
    TextLanguages { effective: visit.words.locale, default: shown.home.default_locale }
}

/// Scheme and host of the organization.
pub(crate) fn origin(visit: &Visit, shown: &OpenedQuestionnaire) -> String {
    visit.panel.settings.site.origin(&shown.home.host)
}

/// The name of the respondent.
fn respondent(visit: &Visit, response: &Response, accounts: &HashMap<UserId, User>) -> Option<String> {
    let user = response.user?;
    Some(accounts.get(&user).map_or_else(|| visit.say("deleted"), |account| account.name.clone()))
}

/// Whether a question was answered.
fn is_answered(row: &AnswerRow) -> bool {
    row.value.is_some() || row.body.is_some()
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let visit = &*visit;
    let request =
        LogRequest { start: log_start(visit, |id| id.parse().ok().map(ResponseId)), limit: PER_PAGE };
    let store = visit.panel.store().responses();
    let page = store.log(shown.organization, shown.id, &request).await?;
    let users = page.items.iter().filter_map(|(_, detail)| detail.response.user).map(|user| user.0);
    let accounts = authors(visit, shown.organization, users.collect()).await?;
    let path = path(&shown);
    let rows = page.items.iter().map(|(_, detail)| {
        let response = &detail.response;
        let time = visit.time(response.created_at);
        let answered = length(response.answers.iter().filter(|row| is_answered(row)).count());
        vec![
            Cell::link(&format!("{path}/{}", detail.id), &time, &detail.id.to_string()),
            respondent(visit, response, &accounts)
                .map_or_else(|| Cell::soft(&visit.say("response-anonymous")), |name| Cell::text(&name)),
            Cell::num(&visit.number(answered)),
            Cell::num(&visit.number(length(response.answers.len()))),
        ]
    });
    let columns = vec![
        Column::new(visit.say("response-time")),
        Column::new(visit.say("response-by")),
        Column::new(visit.say("response-answered")).num(),
        Column::new(visit.say("response-displayed")).num().low(),
    ];
    let empty =
        Empty { title: visit.say("responses-none"), text: visit.say("responses-none-lede"), act: None };
    let table = Table::new(visit.say("survey-responses"), columns).rows(rows).empty(empty);
    let pages = log_pages(visit, &path, &page, |(id, detail)| (detail.response.created_at, *id));
    let found = (visit.shown(page.items.len()), Vec::new());
    let results = visit.results(&path, found, &table, pages);
    let mut head = shown.own_head(visit, "responses");
    if shown.summary.responses > 0 {
        for format in ["csv", "ndjson"] {
            let label = visit.say(&format!("responses-export-{format}"));
            head = head.act(Act::post(format!("{path}/export/{format}"), label, visit.token()));
        }
    }
    visit.page(head, results).await
}

/// The response of the path, which is one to the questionnaire of the path.
async fn found(visit: &Visit, shown: &OpenedQuestionnaire) -> Result<(ResponseId, ResponseDetail)> {
    let id = AnswerId(visit.id("rid")?);
    let found = visit.panel.store().responses().find_by_answer(shown.organization, id).await?;
    found.filter(|(_, detail)| detail.response.questionnaire == shown.id).ok_or(Error::NotFound)
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedQuestionnaire::of(visit).await?;
    let visit = &*visit;
    let (_, detail) = found(visit, &shown).await?;
    let store = visit.panel.store();
    let form = store.questionnaires().form(shown.organization, shown.id).await?;
    let origin = origin(visit, &shown);
    let (owner, response) = ((shown.organization, origin.as_str()), std::iter::once(&detail.response));
    let files = Files::of(store.answer_files(), owner, &form, response).await?;
    let user = detail.response.user.map(|user| user.0);
    let accounts = authors(visit, shown.organization, user.into_iter().collect()).await?;
    let by = match (detail.response.user, respondent(visit, &detail.response, &accounts)) {
        (Some(user), Some(name)) if accounts.contains_key(&user) => {
            Html::link(&format!("{}/{user}", people::list_path(shown.organization)), &name)
        }
        (_, Some(name)) => Html::text(&name),
        (_, None) => Html::text(&visit.say("response-anonymous")),
    };
    let iso = detail.response.created_at.format(&Rfc3339).unwrap_or_default();
    let time = Cell::time(&iso, &visit.time(detail.response.created_at)).into_html();
    let facts = KeyValues::default()
        .row(visit.say("response-time"), time)
        .row(visit.say("response-by"), by)
        .text(visit.say("column-id"), &detail.id.to_string());
    let answers = answers(visit, &shown, &form, &detail.response, &files);
    let body = Html::join([
        Card::new("about", visit.say("response-one"), facts.html()).html(),
        Card::new("answers", visit.say("response-answers"), answers).html(),
    ]);
    let title = visit.tell("response-title", &[("id", detail.id.to_string().into())]);
    let delete = format!("{}/{}/delete", path(&shown), detail.id);
    let head = shown
        .below(visit, title)
        .crumb(visit.say("survey-responses"), path(&shown))
        .here(detail.id.to_string())
        .act(Act::danger(delete, visit.say("response-delete-link")));
    visit.page(head, body).await
}

/// All questions with their answers.
fn answers(
    visit: &Visit,
    shown: &OpenedQuestionnaire,
    form: &Form,
    response: &Response,
    files: &Files,
) -> Html {
    let languages = languages(visit, shown);
    let mut list = KeyValues::default();
    for question in form.questions().iter().filter(|one| !one.question.kind.is_presentation()) {
        let key = title(visit, &question.question.body);
        let row = response.answers.iter().find(|row| row.question == question.id);
        let nothing = |key: &str| Html::text(&visit.say(key));
        let value = match row.map(|row| read(question, row, languages, files)) {
            None => nothing("response-not-displayed"),
            Some(Answer::Nothing) => nothing("response-nothing"),
            Some(Answer::Text(text)) => Html::join(text.lines().map(|line| Html::paragraph("", line))),
            Some(Answer::Chosen(chosen)) => Html::join(chosen.iter().map(|text| Html::paragraph("", text))),
            Some(Answer::Rows(rows)) => {
                let line = |(row, chosen): &(String, Vec<String>)| format!("{row}: {}", chosen.join("; "));
                Html::join(rows.iter().map(|row| Html::paragraph("", &line(row))))
            }
            Some(Answer::Files(names)) => Html::join(names.iter().flat_map(|(name, href)| {
                let file = if href.is_empty() { Html::text(name) } else { Html::link(href, name) };
                [file, Html::text(" ")]
            })),
        };
        list = list.row(key, value);
    }
    list.html()
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedQuestionnaire::of(visit).await?;
    let visit = &*visit;
    let (_, detail) = found(visit, &shown).await?;
    let own = format!("{}/{}", path(&shown), detail.id);
    let answered = detail.response.answers.iter().filter(|row| is_answered(row)).count();
    let confirm = visit
        .confirm(own.clone(), visit.say("response-delete"), own.clone())
        .delete()
        .effects([
            visit.words.count("response-delete-answers", length(answered)),
            visit.say("response-delete-files"),
            visit.say("response-delete-again"),
        ])
        .stays(visit.say("response-delete-stays"));
    let name = visit.tell("response-title", &[("id", detail.id.to_string().into())]);
    let head = shown
        .below(visit, visit.tell("delete-title", &[("name", name.as_str().into())]))
        .crumb(visit.say("survey-responses"), path(&shown))
        .crumb(name, own)
        .here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedQuestionnaire::of(visit).await?;
    let visit = &*visit;
    let (id, detail) = found(visit, &shown).await?;
    visit
        .change(async |tx| {
            let admin = ResponseAdmin { responses: tx.responses(), files: tx.answer_files() };
            admin.remove(shown.organization, id).await?;
            let entry = record(visit, &shown, Action::ResponseDeleted);
            visit.append(tx, &entry.changed("response", Some(&detail.id.to_string()), None)).await
        })
        .await?;
    visit.done("response-deleted", &[("id", detail.id.to_string().into())], path(&shown)).await
}
