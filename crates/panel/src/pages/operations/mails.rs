//! Mails that wait to be sent.

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::notice::Notice;
use crate::pages::clients::api_client::{self, organization_name};
use crate::parts::{Badge, Cell, EmptyState, PageAction, Table};
use crate::reply::Reply;
use civitas_accounts::{SendInvitation, SendMail};
use civitas_audit::Action;
use civitas_kernel::{OrganizationId, Result, TaskId, TaskPayload};
use civitas_tasks::{TaskFilter, WaitingTask};
use time::OffsetDateTime;

pub(crate) const LIST: &str = "/system/mails";
/// The kinds of tasks that send a mail.
const KINDS: &[&str] = &[SendMail::KIND, SendInvitation::KIND];
/// The most mails of one action.
const MAX_MAILS: i64 = 1_000;

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let mut list = List::log(req, "mails", LIST);
    let retried = list.choice("state", "column-state", &[("retried", "mails-retried", true)]);
    let filter = TaskFilter { kinds: KINDS, is_retried: retried.unwrap_or_default() };
    let page = req.store().task_log().page(&filter, list.log_request(TaskId)).await?;
    let organizations = api_client::organizations(req, None).await?;
    let columns = req.columns("mail-one column-state organization delivery-attempts:num:low mail-queued");
    let empty = EmptyState::new(req.tr("mails-none"), req.tr("mails-none-text"));
    let rows = page.items.iter().map(|task| row(req, &organizations, task));
    let table = Table::new(req.tr("mails-caption"), columns).rows(rows).empty(empty);
    let links = list.log_page_links(&page, |task| (added_at(task), task.id.0));
    let mut head = req.head("nav-mails");
    if page.items.iter().any(|task| task.attempts > 0 && !task.is_claimed) {
        head = head.action(PageAction::post(format!("{LIST}/retry"), req.tr("mails-retry"), req.token()));
    }
    list.reply(head, &table, &links).await
}

fn added_at(task: &WaitingTask) -> OffsetDateTime {
    task.added_at().unwrap_or(task.due_at)
}

fn row(req: &AdminRequest, organizations: &[(OrganizationId, String)], task: &WaitingTask) -> Vec<Cell> {
    let organization = format!("/system/organizations/{}", task.organization);
    // The subject of a mail is its kind and the number of the account.
    let about = task.subject.as_deref().and_then(|subject| subject.split_once('/'));
    let what = match about {
        Some((kind @ ("confirmation" | "welcome" | "notice"), _)) => req.tr(&format!("mail-{kind}")),
        _ => req.tr("mail-invitation"),
    };
    let user = about.and_then(|(_, user)| user.parse::<i64>().ok()).filter(|_| task.kind == SendMail::KIND);
    let mail = match (about, user) {
        (Some(("notice", _)), _) => Cell::text(&what),
        (_, Some(user)) => {
            let account = req.tr_with("mail-to-account", "number", user);
            Cell::link(&format!("{organization}/users/{user}"), &what, &account)
        }
        (_, None) => Cell::with_subtext(&what, &req.tr("mail-to-invited")),
    };
    let due = req.tr_with("delivery-next", "time", req.log_time(task.due_at));
    let state = match (task.is_claimed, task.attempts) {
        (true, _) => Cell::badge(&Badge::busy(req.tr("mail-sending"))),
        (false, 0) => Cell::badge_with_subtext(&Badge::plain(req.tr("mail-waiting")), &due),
        (false, _) => Cell::badge_with_subtext(&Badge::warn(req.tr("mail-retried")), &due),
    };
    vec![
        mail,
        state,
        Cell::link(&organization, &organization_name(req, organizations, task.organization), ""),
        Cell::text(&req.number(task.attempts)),
        Cell::text(&req.log_time(added_at(task))),
    ]
}

/// Sends the mails that wait for another attempt now.
pub(crate) async fn retry(req: &AdminRequest) -> Result<Reply> {
    let moved = req
        .change_with_audit(
            async |tx| tx.task_log().bring_forward(KINDS, req.now, MAX_MAILS).await,
            |moved| {
                let entry = req.audit_entry(Action::MailsRetried);
                (*moved > 0).then(|| entry.with_change("mails", None, Some(&moved.to_string())))
            },
        )
        .await?;
    let moved = i64::try_from(moved).unwrap_or(i64::MAX);
    req.redirect(LIST, Notice::success(req.tr_count("mails-are-retried", moved))).await
}
