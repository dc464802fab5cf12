//! Jobs of all clients.

use super::client;
use super::log::{Log, log_pages, organization_name};
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Card, Cell, Choice, Empty, Head, Html, Json, KeyValues, Split, Table, Timeline, TimelineEvent,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::JobAdmin;
use civitas_audit::Action;
use civitas_jobs::{JobDetail, JobLogFilter, JobStatus, LoggedJob, MOST_ATTEMPTS};
use civitas_kernel::{Error, JobId, OrganizationId, Result};
use uuid::Uuid;

const LIST: &str = "/system/jobs";

fn status(visit: &Visit, status: JobStatus) -> Badge {
    let text = visit.say(&format!("job-{}", status.as_str()));
    match status {
        JobStatus::Pending => Badge::plain(text),
        JobStatus::Processing => Badge::busy(text),
        JobStatus::Completed => Badge::good(text),
        JobStatus::Failed => Badge::bad(text),
    }
}

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let organizations = client::organizations(visit).await?;
    let mut log = Log::new(visit, LIST, "jobs");
    let states = JobStatus::NAMES.iter().map(|name| Choice::new(*name, visit.say(&format!("job-{name}"))));
    let of = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    let filter = JobLogFilter {
        status: log.select("status", "column-state", states).and_then(JobStatus::parse),
        command: log.text("command", "job-command"),
        client: log.text("client", "client-id"),
        organization: log
            .select("organization", "organization", of)
            .and_then(|id| id.parse().ok())
            .map(OrganizationId),
        from: log.time("from"),
        to: log.time("to"),
    };
    let page = JobAdmin { store: visit.panel.store() }.jobs(&filter, log.request(JobId)).await?;
    let rows = page.items.iter().map(|job| {
        let summary = &job.summary;
        vec![
            Cell::link(&path(job), &summary.command_key, &summary.id.0.to_string()),
            Cell::badge_with_sub(
                &status(visit, summary.status),
                job.error_class.as_deref().unwrap_or_default(),
            ),
            Cell::with_sub(&client_name(visit, job), organization_name(&organizations, job.organization)),
            Cell::num(&visit.number(summary.attempts)),
            Cell::text(&visit.log_time(summary.created_at)),
        ]
    });
    let columns = ["job-command", "column-state", "client-one", "job-starts", "job-accepted"];
    let empty = Empty { title: visit.say("jobs-none"), text: visit.say("jobs-lede"), act: None };
    let table = Table::new(visit.say("jobs-caption"), log.columns(columns)).rows(rows).empty(empty);
    let pages = log_pages(visit, LIST, &page, |job| (job.summary.created_at, job.summary.id.0));
    log.show(&table, pages).await
}

fn path(job: &LoggedJob) -> String {
    format!("{LIST}/{}", job.summary.id.0)
}

fn client_name(visit: &Visit, job: &LoggedJob) -> String {
    job.client.uid_and_name.as_ref().map_or_else(|| visit.say("deleted"), |(_, name)| name.clone())
}

async fn job(visit: &Visit) -> Result<JobDetail> {
    let id = Uuid::parse_str(visit.param("uuid")).map_err(|_| Error::NotFound)?;
    JobAdmin { store: visit.panel.store() }.job(JobId(id)).await
}

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let detail = job(visit).await?;
    let summary = &detail.job.summary;
    let body = Split { left: course(visit, &detail), right: facts(visit, &detail).await? };
    let head = Head::new(&summary.command_key)
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-jobs"), LIST)
        .badge(status(visit, summary.status))
        .lede(visit.say(&format!("job-{}-lede", summary.status.as_str())))
        .act(Act::danger(format!("{}/delete", path(&detail.job)), visit.say("job-delete-link")));
    visit.page(head, body.html()).await
}

/// What was wrong, the result, the request, the times.
fn course(visit: &Visit, detail: &JobDetail) -> Html {
    let summary = &detail.job.summary;
    let mut cards = Vec::new();
    if let Some(failure) = &detail.report.failure {
        let rows = failure.details.iter().map(|fault| {
            vec![Cell::mono("", &fault.field), Cell::mono("", &fault.code), Cell::text(&fault.description)]
        });
        let message = Html::paragraph("", &failure.message);
        let details = if failure.details.is_empty() {
            Html::default()
        } else {
            let columns = visit.columns(&["job-field", "job-code", "job-text"]);
            Table::new(visit.say("job-wrong"), columns).rows(rows).html()
        };
        let card = Card::new("what-was-wrong", visit.say("job-wrong"), Html::join([message, details]));
        cards.push(card.badge(Badge::bad(failure.class.clone())).html());
    }
    if let Some(result) = &detail.report.result {
        let json = Json::new(&visit.words, "result-json", visit.say("job-result"), result);
        cards.push(Card::new("result", visit.say("job-result"), json.html()).html());
    }
    if let Some(request) = &detail.request {
        let json = Json::new(&visit.words, "request-json", visit.say("job-request"), &request.to_string());
        let hint = Html::paragraph("hint", &visit.say("job-no-token"));
        cards.push(Card::new("request", visit.say("job-request"), Html::join([json.html(), hint])).html());
    }
    let event =
        |kind, key: &str, at, note| TimelineEvent::new(kind, visit.say(key), visit.log_time(at), note);
    let mut events = vec![event("good", "job-accepted", summary.created_at, visit.say("job-accepted-note"))];
    let starts = [("starts", summary.attempts.into()), ("most", MOST_ATTEMPTS.into())];
    let note = visit.tell("job-starts-note", &starts);
    events.push(match summary.status {
        JobStatus::Completed => event("good", "job-completed", summary.updated_at, note),
        JobStatus::Failed => event("bad", "job-failed", summary.updated_at, note),
        JobStatus::Processing => event("", "job-processing", summary.updated_at, note),
        JobStatus::Pending => event("", "job-pending", detail.due_at, note),
    });
    cards.push(Card::new("history", visit.say("history"), Timeline { events }.html()).html());
    Html::join(cards)
}

async fn facts(visit: &Visit, detail: &JobDetail) -> Result<Html> {
    let job = &detail.job;
    let id = job.summary.id.0.to_string();
    let tenant = visit.panel.store().organizations().tenant(job.organization).await?;
    let organization = tenant.map_or_else(
        || Html::text(&visit.say("deleted")),
        |tenant| {
            let name = tenant.name.title(visit.words.locale).unwrap_or(&tenant.host).to_owned();
            Html::link(&format!("/system/organizations/{}", tenant.id), &name)
        },
    );
    let client = match &job.client.uid_and_name {
        Some((_, name)) => Html::link(&format!("{}/{}", client::LIST, job.client.id), name),
        None => Html::text(&visit.say("deleted")),
    };
    let user = job.user.as_ref().map_or_else(
        || visit.say("job-for-client"),
        |user| user.nickname.clone().unwrap_or_else(|| visit.say("deleted")),
    );
    let facts = KeyValues::default()
        .row(visit.say("job-id"), Html::code(&id))
        .row(visit.say("organization"), organization)
        .row(visit.say("client-one"), client)
        .text(visit.say("job-for"), &user);
    let seen = Html::join([
        Html::paragraph("small", &visit.say("job-seen-lede")),
        Html::code(&format!("/api/rest_full/v0.3/jobs/{id}")),
    ]);
    let cards = [
        Card::new("job", visit.say("job-one"), facts.html()),
        Card::new("seen", visit.say("job-seen"), seen),
    ];
    Ok(Html::join(cards.iter().map(Card::html)))
}

pub(crate) async fn ask(visit: &Visit) -> Result<Reply> {
    let detail = job(visit).await?;
    let path = path(&detail.job);
    let effect = match detail.job.summary.status {
        JobStatus::Pending => "job-delete-pending",
        JobStatus::Processing => "job-delete-processing",
        JobStatus::Completed | JobStatus::Failed => "job-delete-ended",
    };
    let confirm = visit
        .confirm(path.clone(), visit.say("job-delete-button"), path.clone())
        .delete()
        .effects([visit.say(effect), visit.say("job-delete-client")]);
    let head = Head::new(visit.say("job-delete-title"))
        .crumb(visit.say("nav-jobs"), LIST)
        .crumb(&detail.job.summary.command_key, path)
        .here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &Visit) -> Result<Reply> {
    let detail = job(visit).await?;
    let (id, key) = (detail.job.summary.id, &detail.job.summary.command_key);
    visit
        .change(async |tx| {
            if !tx.job_log().remove(id).await? {
                return Err(Error::NotFound);
            }
            let record = visit.record(Action::JobDeleted).of(detail.job.organization);
            visit.append(tx, &record.on("job", &id.0.to_string(), key)).await
        })
        .await?;
    visit.redirect(LIST, Notice::good(visit.say("job-deleted")).text(key.clone())).await
}
