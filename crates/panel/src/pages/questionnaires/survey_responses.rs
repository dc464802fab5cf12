//! The responses to a questionnaire: list, one response, deletion (contract 08 §7).

use super::opened_survey::{OpenedQuestionnaire, OpenedSurvey, audit_entry};
use super::survey_answers::{Answer, Files, read_answer};
use crate::admin_request::AdminRequest;
use crate::format::saturating_i64;
use crate::list::List;
use crate::pages::people::persons::{self, Accounts, accounts};
use crate::parts::{Card, Cell, EmptyState, Html, KeyValues, PageAction, Table};
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::{AnswerId, Error, ResponseId, Result};
use civitas_surveys::{AnswerRow, Form, Response, ResponseDetail, TextLanguages, remove_response};
use time::format_description::well_known::Rfc3339;

/// The address of the list.
pub(crate) fn path(survey: &OpenedQuestionnaire) -> String {
    format!("{}/responses", survey.path())
}

/// The languages of texts on a page: that of the page first.
pub(crate) fn languages(req: &AdminRequest, survey: &OpenedQuestionnaire) -> TextLanguages {
    TextLanguages { effective: req.translator.locale, default: survey.organization.default_locale }
}

/// Scheme and host of the organization.
pub(crate) fn origin(req: &AdminRequest, survey: &OpenedQuestionnaire) -> String {
    req.panel.settings.site.origin(&survey.organization.host)
}

/// The name of the respondent.
fn respondent(req: &AdminRequest, response: &Response, accounts: &Accounts) -> Option<String> {
    let user = response.user?;
    Some(accounts.get(&user).map_or_else(|| req.tr("deleted"), |account| account.name.clone()))
}

/// Whether a question was answered.
fn is_answered(row: &AnswerRow) -> bool {
    row.value.is_some() || row.body.is_some()
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::from_path(req).await?;
    let path = path(&survey);
    let list = List::new(req, "responses", &path);
    let (store, request) = (req.store().responses(), list.log_request(ResponseId));
    let page = store.log(survey.organization_id, survey.id, &request).await?;
    let users = page.items.iter().filter_map(|(_, detail)| detail.response.user).map(|user| user.0);
    let accounts = accounts(req, survey.organization_id, users.collect()).await?;
    let rows = page.items.iter().map(|(_, detail)| {
        let response = &detail.response;
        let time = req.time(response.created_at);
        let answered = saturating_i64(response.answers.iter().filter(|row| is_answered(row)).count());
        vec![
            Cell::link(&format!("{path}/{}", detail.id), &time, &detail.id.to_string()),
            respondent(req, response, &accounts)
                .map_or_else(|| Cell::muted(&req.tr("response-anonymous")), |name| Cell::text(&name)),
            Cell::text(&req.number(answered)),
            Cell::text(&req.number(saturating_i64(response.answers.len()))),
        ]
    });
    let columns = req.columns("response-time response-by response-answered:num response-displayed:num:low");
    let empty = EmptyState::new(req.tr("responses-none"), req.tr("responses-none-lede"));
    let table = Table::new(req.tr("survey-responses"), columns).rows(rows).empty(empty);
    let links = list.log_page_links(&page, |(id, detail)| (detail.response.created_at, *id));
    let mut head = survey.tab_head(req, "responses");
    if survey.summary.responses > 0 {
        for format in ["csv", "ndjson"] {
            let label = req.tr(&format!("responses-export-{format}"));
            head = head.action(PageAction::post(format!("{path}/export/{format}"), label, req.token()));
        }
    }
    req.page(head, list.results(&table, &links)).await
}

/// The response of the path; it must belong to the questionnaire of the path.
async fn response_from_path(
    req: &AdminRequest,
    survey: &OpenedQuestionnaire,
) -> Result<(ResponseId, ResponseDetail)> {
    let id = AnswerId(req.path_id("rid")?);
    let found = req.store().responses().find_by_answer(survey.organization_id, id).await?;
    found.filter(|(_, detail)| detail.response.questionnaire == survey.id).ok_or(Error::NotFound)
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedQuestionnaire::from_path(req).await?;
    let (_, detail) = response_from_path(req, &survey).await?;
    let store = req.store();
    let form = store.questionnaires().form(survey.organization_id, survey.id).await?;
    let origin = origin(req, &survey);
    let (owner, response) = ((survey.organization_id, origin.as_str()), std::iter::once(&detail.response));
    let files = Files::load(store.answer_files(), owner, &form, response).await?;
    let user = detail.response.user.map(|user| user.0);
    let accounts = accounts(req, survey.organization_id, user.into_iter().collect()).await?;
    let by = match (detail.response.user, respondent(req, &detail.response, &accounts)) {
        (Some(user), Some(name)) if accounts.contains_key(&user) => {
            Html::link(&format!("{}/{user}", persons::list_path(survey.organization_id)), &name)
        }
        (_, Some(name)) => Html::text(&name),
        (_, None) => Html::text(&req.tr("response-anonymous")),
    };
    let iso = detail.response.created_at.format(&Rfc3339).unwrap_or_default();
    let time = Cell::time(&iso, &req.time(detail.response.created_at)).into_html();
    let facts = KeyValues::default()
        .row(req.tr("response-time"), time)
        .row(req.tr("response-by"), by)
        .text(req.tr("column-id"), &detail.id.to_string());
    let answers = answers(req, &survey, &form, &detail.response, &files);
    let body = Html::join([
        Card::new("about", req.tr("response-one"), facts.html()).html(),
        Card::new("answers", req.tr("response-answers"), answers).html(),
    ]);
    let title = req.tr_with("response-title", "id", detail.id.to_string());
    let delete = format!("{}/{}/delete", path(&survey), detail.id);
    let head = survey
        .subpage_head(req, title)
        .crumb(req.tr("survey-responses"), path(&survey))
        .current(detail.id.to_string())
        .action(PageAction::danger(delete, req.tr("response-delete-link")));
    req.page(head, body).await
}

/// All questions with their answers.
fn answers(
    req: &AdminRequest,
    survey: &OpenedQuestionnaire,
    form: &Form,
    response: &Response,
    files: &Files,
) -> Html {
    let languages = languages(req, survey);
    let mut list = KeyValues::default();
    for question in form.questions().iter().filter(|one| !one.question.kind.is_presentation()) {
        let key = title(req, &question.question.body);
        let row = response.answers.iter().find(|row| row.question == question.id);
        let nothing = |key: &str| Html::text(&req.tr(key));
        let value = match row.map(|row| read_answer(question, row, languages, files)) {
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

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedQuestionnaire::from_path(req).await?;
    let (_, detail) = response_from_path(req, &survey).await?;
    let address = format!("{}/{}", path(&survey), detail.id);
    let answered = detail.response.answers.iter().filter(|row| is_answered(row)).count();
    let confirm = req
        .confirmation(address.clone(), req.tr("response-delete"), address.clone())
        .delete()
        .effects([
            req.tr_count("response-delete-answers", answered),
            req.tr("response-delete-files"),
            req.tr("response-delete-again"),
        ])
        .stays(req.tr("response-delete-stays"));
    let name = req.tr_with("response-title", "id", detail.id.to_string());
    let head = survey
        .subpage_head(req, req.tr_with("delete-title", "name", name.as_str()))
        .crumb(req.tr("survey-responses"), path(&survey))
        .crumb(name, address)
        .current(req.tr("delete"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedQuestionnaire::from_path(req).await?;
    let (id, detail) = response_from_path(req, &survey).await?;
    req.change_with_audit(
        async |tx| remove_response(tx.responses(), tx.answer_files(), survey.organization_id, id).await,
        |()| {
            let entry = audit_entry(req, &survey, Action::ResponseDeleted);
            Some(entry.with_change("response", Some(&detail.id.to_string()), None))
        },
    )
    .await?;
    req.redirect_done("response-deleted", &[("id", detail.id.to_string().into())], path(&survey)).await
}
