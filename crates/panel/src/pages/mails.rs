//! Mails that wait to be sent.

use super::client;
use super::jobs::{log_pages, log_place, log_start};
use crate::format::{self, Zone};
use crate::notice::Notice;
use crate::parts::{Act, Badge, Cell, Choice, Column, Empty, Head, Html, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{SendInvitation, SendMail};
use civitas_audit::Action;
use civitas_kernel::{LogRequest, Result, TaskId, TaskPayload};
use civitas_tasks::{TaskFilter, WaitingTask};
use std::collections::HashMap;
use time::OffsetDateTime;
use uuid::Uuid;

pub(crate) const LIST: &str = "/system/mails";
const PER_PAGE: i64 = 25;
/// The kinds of tasks that send a mail.
const KINDS: &[&str] = &[SendMail::KIND, SendInvitation::KIND];
/// The most mails of one act.
const MOST: i64 = 1_000;

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let start = log_start(visit, |id| Uuid::parse_str(id).ok().map(TaskId));
    let filter = TaskFilter { kinds: KINDS, is_retried: visit.query.get("state") == Some("retried") };
    let request = LogRequest { start, limit: PER_PAGE };
    let page = visit.panel.store().task_log().page(&filter, request).await?;
    let organizations = client::organizations(visit).await?;
    let names: HashMap<i64, &str> = organizations.iter().map(|(id, name)| (id.0, name.as_str())).collect();
    let columns = vec![
        Column::new(visit.say("mail-one")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("organization")),
        Column::new(visit.say("delivery-attempts")).num().low(),
        Column::new(visit.say("mail-queued")),
    ];
    let empty = Empty { title: visit.say("mails-none"), text: visit.say("mails-none-text"), act: None };
    let rows = page.items.iter().map(|task| row(visit, &names, task));
    let table = Table::new(visit.say("mails-caption"), columns).rows(rows).empty(empty);
    let chips = filter.is_retried.then(|| visit.chip(LIST, "state", visit.say("mails-retried")));
    let place = |task: &WaitingTask| log_place(added(task), &task.id.0.to_string());
    let pages = log_pages(visit, LIST, &page, place);
    let found = (visit.say("newest-first"), chips.into_iter().collect());
    let results = visit.results(LIST, found, &table, pages);
    let mut head = Head::new(visit.say("nav-mails"))
        .crumb(visit.say("nav-start"), "/system")
        .lede(visit.say("mails-lede"));
    if page.items.iter().any(|task| task.attempts > 0 && !task.is_claimed) {
        head = head.act(Act::post(format!("{LIST}/retry"), visit.say("mails-retry"), visit.token()));
    }
    visit.page(head, Html::join([filters(visit), results])).await
}

fn added(task: &WaitingTask) -> OffsetDateTime {
    task.added_at().unwrap_or(task.due_at)
}

fn filters(visit: &Visit) -> Html {
    let retried = Choice::new("retried", visit.say("mails-retried"));
    visit.filters(visit.say("mails-filter")).select("state", visit.say("column-state"), [retried]).html()
}

fn row(visit: &Visit, names: &HashMap<i64, &str>, task: &WaitingTask) -> Vec<Cell> {
    let time = |at| format::date_time_seconds(visit.words.locale, Zone::utc(), at);
    let organization = format!("/system/organizations/{}", task.organization);
    // The subject of a mail is its kind and the number of the account.
    let about = task.subject.as_deref().and_then(|subject| subject.split_once('/'));
    let what = match about {
        Some((kind @ ("confirmation" | "welcome" | "notice"), _)) => visit.say(&format!("mail-{kind}")),
        _ => visit.say("mail-invitation"),
    };
    let user = about.and_then(|(_, user)| user.parse::<i64>().ok()).filter(|_| task.kind == SendMail::KIND);
    let mail = match (about, user) {
        (Some(("notice", _)), _) => Cell::text(&what),
        (_, Some(user)) => {
            let account = visit.tell("mail-to-account", &[("number", user.into())]);
            Cell::link(&format!("{organization}/users/{user}"), &what, &account)
        }
        (_, None) => Cell::with_sub(&what, &visit.say("mail-to-invited")),
    };
    let due = visit.tell("delivery-next", &[("time", time(task.due_at).into())]);
    let state = match (task.is_claimed, task.attempts) {
        (true, _) => Cell::badge(&Badge::busy(visit.say("mail-sending"))),
        (false, 0) => Cell::badge_with_sub(&Badge::plain(visit.say("mail-waiting")), &due),
        (false, _) => Cell::badge_with_sub(&Badge::warn(visit.say("mail-retried")), &due),
    };
    vec![
        mail,
        state,
        Cell::link(&organization, names.get(&task.organization.0).unwrap_or(&""), ""),
        Cell::num(&visit.number(task.attempts)),
        Cell::text(&time(added(task))),
    ]
}

/// Sends the mails that wait for another attempt now.
pub(crate) async fn retry(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let moved = visit
        .change(async |tx| {
            let moved = tx.task_log().bring_forward(KINDS, visit.now, MOST).await?;
            if moved > 0 {
                let record = visit.record(Action::MailsRetried);
                let record = record.changed("mails", None, Some(&moved.to_string()));
                tx.audit().append(&record, visit.now).await?;
            }
            Ok(moved)
        })
        .await?;
    let moved = i64::try_from(moved).unwrap_or(i64::MAX);
    visit.redirect(LIST, Notice::good(visit.words.count("mails-are-retried", moved))).await
}
