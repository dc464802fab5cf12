//! Jobs of all clients.

use super::client;
use crate::format::{self, Zone};
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Card, Cell, Choice, Column, Empty, Event, Field, Head, Html, Json, KeyValues, Pages, Split,
    Table, Timeline,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::JobAdmin;
use civitas_audit::Action;
use civitas_jobs::{JobDetail, JobLogFilter, JobStatus, LoggedJob, MOST_ATTEMPTS};
use civitas_kernel::{Error, JobId, LogPage, LogRequest, LogStart, OrganizationId, Result};
use std::collections::HashMap;
use time::OffsetDateTime;
use uuid::Uuid;

const LIST: &str = "/system/jobs";
const PER_PAGE: i64 = 25;

fn status(visit: &Visit, status: JobStatus) -> Badge {
    let text = visit.say(&format!("job-{}", status.as_str()));
    match status {
        JobStatus::Pending => Badge::plain(text),
        JobStatus::Processing => Badge::busy(text),
        JobStatus::Completed => Badge::good(text),
        JobStatus::Failed => Badge::bad(text),
    }
}

/// Where a page of a log begins: `older` or `newer` with the time and the id of a row.
pub(crate) fn log_start<I>(visit: &Visit, read: impl Fn(&str) -> Option<I>) -> LogStart<I> {
    let row = |name: &str| {
        let (time, id) = visit.query.get(name)?.split_once('.')?;
        let time =
            OffsetDateTime::from_unix_timestamp_nanos(time.parse::<i128>().ok()?.checked_mul(1_000)?).ok()?;
        Some((time, read(id)?)).filter(|_| (0..=9999).contains(&time.year()))
    };
    match (row("older"), row("newer")) {
        (Some((time, id)), _) => LogStart::OlderThan(time, id),
        (None, Some((time, id))) => LogStart::NewerThan(time, id),
        (None, None) => LogStart::Newest,
    }
}

/// The value of `older` and `newer` for a row: microseconds and id.
pub(crate) fn log_place(time: OffsetDateTime, id: &str) -> String {
    format!("{}.{id}", time.unix_timestamp_nanos() / 1_000)
}

/// The links to newer and older rows.
pub(crate) fn log_pages<T>(
    visit: &Visit,
    path: &str,
    page: &LogPage<T>,
    place: impl Fn(&T) -> String,
) -> Html {
    let (first, last) = (page.items.first(), page.items.last());
    let link = |name: &str, row: Option<&T>| row.map(|row| visit.query.with(path, name, Some(&place(row))));
    let pages = Pages {
        words: &visit.words,
        label: visit.say("log-pages"),
        previous: if page.has_newer { link("newer", first) } else { None },
        next: if page.has_older { link("older", last) } else { None },
        is_log: true,
        place: String::new(),
    };
    pages.html()
}

fn filter(visit: &Visit) -> JobLogFilter {
    let query = &visit.query;
    let moment = |name: &str| query.get(name).and_then(|text| format::read_field(Zone::utc(), text));
    JobLogFilter {
        organization: query.number("organization").map(OrganizationId),
        status: query.get("status").and_then(JobStatus::parse),
        command: query.get("command").map(str::to_owned),
        client: query.get("client").map(str::to_owned),
        from: moment("from"),
        to: moment("to"),
    }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let start = log_start(visit, |id| Uuid::parse_str(id).ok().map(JobId));
    let request = LogRequest { start, limit: PER_PAGE };
    let page = JobAdmin { store: visit.panel.store() }.jobs(&filter(visit), request).await?;
    let organizations = client::organizations(visit).await?;
    let names: HashMap<i64, &str> = organizations.iter().map(|(id, name)| (id.0, name.as_str())).collect();
    let rows = page.items.iter().map(|job| {
        let path = format!("{LIST}/{}", job.summary.id.0);
        let client = client_name(visit, job);
        let error = job.error_class.as_deref().unwrap_or_default();
        vec![
            Cell::link(&path, &job.summary.command_key, &job.summary.id.0.to_string()),
            Cell::badge_with_sub(&status(visit, job.summary.status), error),
            Cell::with_sub(&client, names.get(&job.organization.0).unwrap_or(&"")),
            Cell::num(&visit.number(job.summary.attempts)),
            Cell::text(&format::date_time_seconds(visit.words.locale, Zone::utc(), job.summary.created_at)),
        ]
    });
    let columns = vec![
        Column::new(visit.say("job-command")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("client-one")),
        Column::new(visit.say("job-starts")).num().low(),
        Column::new(visit.say("job-accepted")),
    ];
    let empty = Empty { title: visit.say("jobs-none"), text: visit.say("jobs-lede"), act: None };
    let table = Table::new(visit.say("jobs-caption"), columns).rows(rows).empty(empty);
    let chips = visit.chips(LIST, &["status", "command", "client", "organization", "from", "to"]);
    let place = |job: &LoggedJob| log_place(job.summary.created_at, &job.summary.id.0.to_string());
    let pages = log_pages(visit, LIST, &page, place);
    let results = visit.results(LIST, (visit.say("newest-first"), chips), &table, pages);
    let head = Head::new(visit.say("nav-jobs"))
        .crumb(visit.say("nav-start"), "/system")
        .lede(visit.say("jobs-lede"));
    visit.page(head, Html::join([filters(visit, &organizations), results])).await
}

fn client_name(visit: &Visit, job: &LoggedJob) -> String {
    job.client.uid_and_name.as_ref().map_or_else(|| visit.say("deleted"), |(_, name)| name.clone())
}

fn filters(visit: &Visit, organizations: &[(OrganizationId, String)]) -> Html {
    let states = JobStatus::NAMES.iter().map(|name| Choice::new(*name, visit.say(&format!("job-{name}"))));
    let organizations = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    visit
        .filters(visit.say("jobs-filter"))
        .select("status", visit.say("column-state"), states)
        .field(&Field::text("command", visit.say("job-command"), visit.query.shown("command")))
        .field(&Field::text("client", visit.say("client-id"), visit.query.shown("client")))
        .select("organization", visit.say("organization"), organizations)
        .times()
        .html()
}

async fn job(visit: &Visit) -> Result<JobDetail> {
    let id = Uuid::parse_str(visit.param("uuid")).map_err(|_| Error::NotFound)?;
    JobAdmin { store: visit.panel.store() }.job(JobId(id)).await
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let detail = job(visit).await?;
    let summary = &detail.job.summary;
    let path = format!("{LIST}/{}", summary.id.0);
    let body = Split { left: course(visit, &detail), right: facts(visit, &detail).await? };
    let head = Head::new(&summary.command_key)
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-jobs"), LIST)
        .badge(status(visit, summary.status))
        .lede(visit.say(&format!("job-{}-lede", summary.status.as_str())))
        .act(Act::danger(format!("{path}/delete"), visit.say("job-delete-link")));
    visit.page(head, body.html()).await
}

/// What was wrong, the result, the request, the times.
fn course(visit: &Visit, detail: &JobDetail) -> Html {
    let summary = &detail.job.summary;
    let mut cards = Vec::new();
    if let Some(failure) = &detail.report.failure {
        let columns = ["job-field", "job-code", "job-text"].map(|key| Column::new(visit.say(key)));
        let rows = failure.details.iter().map(|fault| {
            vec![Cell::mono("", &fault.field), Cell::mono("", &fault.code), Cell::text(&fault.description)]
        });
        let message = Html::paragraph("", &failure.message);
        let details = if failure.details.is_empty() {
            Html::default()
        } else {
            Table::new(visit.say("job-wrong"), columns.to_vec()).rows(rows).html()
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
    let time = |at| format::date_time_seconds(visit.words.locale, Zone::utc(), at);
    let event = |kind, key: &str, at, note: String| Event {
        kind,
        what: visit.say(key),
        time: time(at),
        note,
        more: Html::default(),
    };
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

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let detail = job(visit).await?;
    let path = format!("{LIST}/{}", detail.job.summary.id.0);
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

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let detail = job(visit).await?;
    let (id, key) = (detail.job.summary.id, &detail.job.summary.command_key);
    visit
        .change(async |tx| {
            if !tx.job_log().remove(id).await? {
                return Err(Error::NotFound);
            }
            let record = visit.record(Action::JobDeleted).of(detail.job.organization).on(
                "job",
                &id.0.to_string(),
                key,
            );
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await?;
    visit.redirect(LIST, Notice::good(visit.say("job-deleted")).text(key.clone())).await
}
