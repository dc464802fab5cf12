//! Mails that wait to be sent.

use super::client;
use super::log::{Log, log_pages, organization_name};
use crate::notice::Notice;
use crate::parts::{Act, Badge, Cell, Empty, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{SendInvitation, SendMail};
use civitas_audit::Action;
use civitas_kernel::{OrganizationId, Result, TaskId, TaskPayload};
use civitas_tasks::{TaskFilter, WaitingTask};
use time::OffsetDateTime;

pub(crate) const LIST: &str = "/system/mails";
/// The kinds of tasks that send a mail.
const KINDS: &[&str] = &[SendMail::KIND, SendInvitation::KIND];
/// The most mails of one act.
const MOST: i64 = 1_000;

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let mut log = Log::new(visit, LIST, "mails");
    let retried = log.filters.choice("state", "column-state", &[("retried", "mails-retried", true)]);
    let filter = TaskFilter { kinds: KINDS, is_retried: retried.unwrap_or_default() };
    let page = visit.panel.store().task_log().page(&filter, log.request(TaskId)).await?;
    let organizations = client::organizations(visit).await?;
    let columns = ["mail-one", "column-state", "organization", "delivery-attempts", "mail-queued"];
    let empty = Empty { title: visit.say("mails-none"), text: visit.say("mails-none-text"), act: None };
    let rows = page.items.iter().map(|task| row(visit, &organizations, task));
    let table = Table::new(visit.say("mails-caption"), log.columns(columns)).rows(rows).empty(empty);
    let pages = log_pages(visit, LIST, &page, |task| (added(task), task.id.0));
    if page.items.iter().any(|task| task.attempts > 0 && !task.is_claimed) {
        log.act = Some(Act::post(format!("{LIST}/retry"), visit.say("mails-retry"), visit.token()));
    }
    log.show(&table, pages).await
}

fn added(task: &WaitingTask) -> OffsetDateTime {
    task.added_at().unwrap_or(task.due_at)
}

fn row(visit: &Visit, organizations: &[(OrganizationId, String)], task: &WaitingTask) -> Vec<Cell> {
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
    let due = visit.tell("delivery-next", &[("time", visit.log_time(task.due_at).into())]);
    let state = match (task.is_claimed, task.attempts) {
        (true, _) => Cell::badge(&Badge::busy(visit.say("mail-sending"))),
        (false, 0) => Cell::badge_with_sub(&Badge::plain(visit.say("mail-waiting")), &due),
        (false, _) => Cell::badge_with_sub(&Badge::warn(visit.say("mail-retried")), &due),
    };
    vec![
        mail,
        state,
        Cell::link(&organization, organization_name(organizations, task.organization), ""),
        Cell::num(&visit.number(task.attempts)),
        Cell::text(&visit.log_time(added(task))),
    ]
}

/// Sends the mails that wait for another attempt now.
pub(crate) async fn retry(visit: &Visit) -> Result<Reply> {
    let moved = visit
        .change(async |tx| {
            let moved = tx.task_log().bring_forward(KINDS, visit.now, MOST).await?;
            if moved > 0 {
                let record = visit.record(Action::MailsRetried);
                let record = record.changed("mails", None, Some(&moved.to_string()));
                visit.append(tx, &record).await?;
            }
            Ok(moved)
        })
        .await?;
    let moved = i64::try_from(moved).unwrap_or(i64::MAX);
    visit.redirect(LIST, Notice::good(visit.words.count("mails-are-retried", moved))).await
}
