//! Jobs of all clients.

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::notice::Notice;
use crate::pages::clients::api_client::{self, organization_name};
use crate::parts::{
    Badge, Card, Cell, Choice, EmptyState, Head, Html, Json, KeyValues, PageAction, Table, Timeline,
    TimelineEvent, TwoColumns,
};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_jobs::{JobDetail, JobLogFilter, JobStatus, LoggedJob, MAX_ATTEMPTS};
use civitas_kernel::{Error, JobId, OrganizationId, Result};
use uuid::Uuid;

const LIST: &str = "/system/jobs";

fn status(req: &AdminRequest, status: JobStatus) -> Badge {
    let text = req.tr(&format!("job-{}", status.as_str()));
    match status {
        JobStatus::Pending => Badge::plain(text),
        JobStatus::Processing => Badge::busy(text),
        JobStatus::Completed => Badge::good(text),
        JobStatus::Failed => Badge::bad(text),
    }
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let organizations =
        api_client::organizations(req, req.query.number("organization").map(OrganizationId)).await?;
    let mut list = List::log(req, "jobs", LIST);
    let states = JobStatus::NAMES.iter().map(|name| Choice::new(*name, req.tr(&format!("job-{name}"))));
    let choices = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    let filter = JobLogFilter {
        status: list.select("status", "column-state", states).and_then(JobStatus::parse),
        command: list.line("command", "job-command"),
        client: list.line("client", "client-id"),
        organization: list
            .select("organization", "organization", choices)
            .and_then(|id| id.parse().ok())
            .map(OrganizationId),
        from: list.time("from"),
        to: list.time("to"),
    };
    let page = req.store().job_log().list(&filter, list.log_request(JobId)).await?;
    let rows = page.items.iter().map(|job| {
        let summary = &job.summary;
        vec![
            Cell::link(&path(job), &summary.command_key, &summary.id.0.to_string()),
            Cell::badge_with_subtext(
                &status(req, summary.status),
                job.error_class.as_deref().unwrap_or_default(),
            ),
            Cell::with_subtext(
                &client_name(req, job),
                &organization_name(req, &organizations, job.organization),
            ),
            Cell::text(&req.number(summary.attempts)),
            Cell::text(&req.log_time(summary.created_at)),
        ]
    });
    let columns = req.columns("job-command column-state client-one job-starts:num:low job-accepted");
    let empty = EmptyState::new(req.tr("jobs-none"), req.tr("jobs-lede"));
    let table = Table::new(req.tr("jobs-caption"), columns).rows(rows).empty(empty);
    let links = list.log_page_links(&page, |job| (job.summary.created_at, job.summary.id.0));
    list.reply(req.head("nav-jobs"), &table, &links).await
}

fn path(job: &LoggedJob) -> String {
    format!("{LIST}/{}", job.summary.id.0)
}

fn client_name(req: &AdminRequest, job: &LoggedJob) -> String {
    job.client.uid_and_name.as_ref().map_or_else(|| req.tr("deleted"), |(_, name)| name.clone())
}

async fn job_from_path(req: &AdminRequest) -> Result<JobDetail> {
    let id = Uuid::parse_str(req.path_param("uuid")).map_err(|_| Error::NotFound)?;
    req.store().job_log().find(JobId(id)).await?.ok_or(Error::NotFound)
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let detail = job_from_path(req).await?;
    let summary = &detail.job.summary;
    let body = TwoColumns { left: course_cards(req, &detail), right: facts(req, &detail).await? };
    let head = Head::new(&summary.command_key)
        .crumb(req.tr("nav-start"), "/system")
        .crumb(req.tr("nav-jobs"), LIST)
        .badge(status(req, summary.status))
        .lede(req.tr(&format!("job-{}-lede", summary.status.as_str())))
        .action(PageAction::danger(format!("{}/delete", path(&detail.job)), req.tr("job-delete-link")));
    req.page(head, body.html()).await
}

/// What was wrong, the result, the request, the times.
fn course_cards(req: &AdminRequest, detail: &JobDetail) -> Html {
    let summary = &detail.job.summary;
    let mut cards = Vec::new();
    if let Some(failure) = &detail.answer.failure {
        let rows = failure.details.iter().map(|field_error| {
            vec![
                Cell::mono("", &field_error.field),
                Cell::mono("", &field_error.code),
                Cell::text(&field_error.description),
            ]
        });
        let message = Html::paragraph("", &failure.message);
        let details = if failure.details.is_empty() {
            Html::default()
        } else {
            let columns = req.columns("job-field job-code job-text");
            Table::new(req.tr("job-wrong"), columns).rows(rows).html()
        };
        let card = Card::new("what-was-wrong", req.tr("job-wrong"), Html::join([message, details]));
        cards.push(card.badge(Badge::bad(failure.class.clone())).html());
    }
    if let Some(result) = &detail.answer.result {
        let json = Json::new(&req.translator, "result-json", req.tr("job-result"), result);
        cards.push(Card::new("result", req.tr("job-result"), json.html()).html());
    }
    if let Some(request) = &detail.request {
        let json = Json::new(&req.translator, "request-json", req.tr("job-request"), &request.to_string());
        let hint = Html::paragraph("hint", &req.tr("job-no-token"));
        cards.push(Card::new("request", req.tr("job-request"), Html::join([json.html(), hint])).html());
    }
    let event = |kind, key: &str, at, note| TimelineEvent::new(kind, req.tr(key), req.log_time(at), note);
    let mut events = vec![event("good", "job-accepted", summary.created_at, req.tr("job-accepted-note"))];
    let starts = [("starts", summary.attempts.into()), ("most", MAX_ATTEMPTS.into())];
    let note = req.tr_args("job-starts-note", &starts);
    events.push(match summary.status {
        JobStatus::Completed => event("good", "job-completed", summary.updated_at, note),
        JobStatus::Failed => event("bad", "job-failed", summary.updated_at, note),
        JobStatus::Processing => event("", "job-processing", summary.updated_at, note),
        JobStatus::Pending => event("", "job-pending", detail.due_at, note),
    });
    cards.push(Card::new("history", req.tr("history"), Timeline { events }.html()).html());
    Html::join(cards)
}

async fn facts(req: &AdminRequest, detail: &JobDetail) -> Result<Html> {
    let job = &detail.job;
    let id = job.summary.id.0.to_string();
    let tenant = req.store().organizations().tenant(job.organization).await?;
    let organization = tenant.map_or_else(
        || Html::text(&req.tr("deleted")),
        |tenant| {
            let name = tenant.name.title(req.translator.locale).unwrap_or(&tenant.host).to_owned();
            Html::link(&format!("/system/organizations/{}", tenant.id), &name)
        },
    );
    let client = match &job.client.uid_and_name {
        Some((_, name)) => Html::link(&format!("{}/{}", api_client::LIST, job.client.id), name),
        None => Html::text(&req.tr("deleted")),
    };
    let user = job.user.as_ref().map_or_else(
        || req.tr("job-for-client"),
        |user| user.nickname.clone().unwrap_or_else(|| req.tr("deleted")),
    );
    let facts = KeyValues::default()
        .row(req.tr("job-id"), Html::code(&id))
        .row(req.tr("organization"), organization)
        .row(req.tr("client-one"), client)
        .text(req.tr("job-for"), &user);
    let seen = Html::join([
        Html::paragraph("small", &req.tr("job-seen-lede")),
        Html::code(&format!("/api/rest_full/v0.3/jobs/{id}")),
    ]);
    let cards =
        [Card::new("job", req.tr("job-one"), facts.html()), Card::new("seen", req.tr("job-seen"), seen)];
    Ok(Html::join(cards.iter().map(Card::html)))
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let detail = job_from_path(req).await?;
    let path = path(&detail.job);
    let effect = match detail.job.summary.status {
        JobStatus::Pending => "job-delete-pending",
        JobStatus::Processing => "job-delete-processing",
        JobStatus::Completed | JobStatus::Failed => "job-delete-ended",
    };
    let confirm = req
        .confirmation(path.clone(), req.tr("job-delete-button"), path.clone())
        .delete()
        .effects([req.tr(effect), req.tr("job-delete-client")]);
    let head = Head::new(req.tr("job-delete-title"))
        .crumb(req.tr("nav-jobs"), LIST)
        .crumb(&detail.job.summary.command_key, path)
        .current(req.tr("delete"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let detail = job_from_path(req).await?;
    let (id, key) = (detail.job.summary.id, &detail.job.summary.command_key);
    req.change_with_audit(
        async |tx| if tx.job_log().remove(id).await? { Ok(()) } else { Err(Error::NotFound) },
        |()| {
            let entry = req.audit_entry(Action::JobDeleted).in_organization(detail.job.organization);
            Some(entry.with_object("job", &id.0.to_string(), key))
        },
    )
    .await?;
    req.redirect(LIST, Notice::success(req.tr("job-deleted")).text(key.clone())).await
}
