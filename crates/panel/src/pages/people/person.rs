//! One account: its data and roles, and the actions on it (contract 02 §1.4).

use super::persons::{OpenedPerson, list_path};
use super::roles;
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{Card, Html, KeyValues, PageAction, TwoColumns, language_name, render};
use crate::reply::Reply;
use askama::Template;
use civitas_accounts::login_failures::{LoginLock, name_digest};
use civitas_accounts::{RegistrationMails, User, UserAdministration};
use civitas_application::{Ports, Transaction, UserStateChange, UserStates};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::edit;
use civitas_kernel::{Error, Result, UserState};

/// What an action does, and its button.
#[derive(Template)]
#[template(
    source = r#"<p>{{ lede }}</p>{% if !items.is_empty() %}<ul>{% for item in items %}<li>{{ item }}</li>{% endfor %}</ul>{% endif %}{% if !stays.is_empty() %}<p>{{ stays }}</p>{% endif %}{{ action }}"#,
    ext = "html"
)]
struct Effect {
    lede: String,
    items: Vec<String>,
    stays: String,
    action: Html,
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    req.set_navigation_organization(person.organization_id).await?;
    let roles = roles::card(req, &person).await?;
    let left =
        [Card::new("account", req.tr("person-account"), account_facts(req, &person.user)).html(), roles];
    let failures = req.store().login_failures();
    let locks = failures.locks(person.organization_id, &name_digest(&person.user.nickname), req.now).await?;
    let body = TwoColumns { left: Html::join(left), right: action_cards(req, &person, &locks) };
    let edit = PageAction::link(format!("{}/edit", person.path()), req.tr("edit"));
    let head = person.tab_head(req, "").action(edit);
    req.page(head, body.html()).await
}

fn account_facts(req: &AdminRequest, user: &User) -> Html {
    let none = || req.tr("none");
    let or_none = |text: Option<&str>| text.map_or_else(none, str::to_owned);
    let time = |at: Option<time::OffsetDateTime>| at.map_or_else(|| req.tr("never"), |at| req.time(at));
    let locale = user.locale.map(|locale| language_name(&req.translator, locale));
    KeyValues::default()
        .text(req.tr("column-name"), &user.name)
        .text(req.tr("person-nickname"), &format!("@{}", user.nickname))
        .text(req.tr("email"), &user.email)
        .text(req.tr("person-confirmed-at"), &time(user.confirmed_at))
        .text(req.tr("language"), &or_none(locale.as_deref()))
        .text(req.tr("person-about"), &or_none(user.about.as_deref()))
        .text(req.tr("person-website"), &or_none(user.personal_url.as_deref()))
        .text(req.tr("person-terms"), &time(user.tos_accepted_at))
        .text(req.tr("person-managed"), &req.tr(if user.managed { "on" } else { "off" }))
        .text(req.tr("column-created"), &req.time(user.created_at))
        .text(req.tr("column-changed"), &req.time(user.updated_at))
        .html()
}

fn action_button(req: &AdminRequest, person: &OpenedPerson, name: &str, class: &'static str) -> Html {
    let label = req.tr_with(&format!("person-{name}-button"), "name", person.user.name.as_str());
    let (action, token) = (format!("{}/{name}", person.path()), req.token());
    PageAction::Post { action, label, class, fields: Vec::new(), token }.html()
}

fn effect_html(lede: String, items: Vec<String>, stays: String, action: Html) -> Html {
    render(&Effect { lede, items, stays, action })
}

fn optional_text(req: &AdminRequest, key: &str) -> String {
    if key.is_empty() { String::new() } else { req.tr(key) }
}

/// The card of the lock by administrators and of the locks by failed logins. A blocked account cannot be locked.
fn lock_card_body(req: &AdminRequest, person: &OpenedPerson, locks: &[LoginLock]) -> Option<Html> {
    let mut items: Vec<String> = locks
        .iter()
        .map(|lock| {
            let client = if lock.client_name.is_empty() { &lock.client_uid } else { &lock.client_name };
            let values = [
                ("client", client.as_str().into()),
                ("id", lock.client_uid.as_str().into()),
                ("time", req.time(lock.until).into()),
            ];
            req.tr_args("person-login-locked", &values)
        })
        .collect();
    let unlock = || action_button(req, person, "unlock", "primary");
    if let Some(at) = person.user.locked_at {
        items.push(req.tr("person-lock-lede"));
        let lede = req.tr_with("person-locked-since", "time", req.time(at));
        return Some(effect_html(lede, items, String::new(), unlock()));
    }
    if !locks.is_empty() {
        let stays = req.tr("person-login-lock-stays");
        return Some(effect_html(req.tr("person-login-lock-lede"), items, stays, unlock()));
    }
    let lock = || {
        effect_html(req.tr("person-lock-lede"), items, String::new(), action_button(req, person, "lock", ""))
    };
    (person.user.state() == UserState::Active).then(lock)
}

/// The cards at the right: each says what an action does.
fn action_cards(req: &AdminRequest, person: &OpenedPerson, locks: &[LoginLock]) -> Html {
    let effect_html = |lede: String, items: &[&str], stays: &str, action: Html| {
        effect_html(lede, items.iter().map(|key| req.tr(key)).collect(), optional_text(req, stays), action)
    };
    let stops = ["person-stops-requests", "person-stops-sign-in", "person-stops-jobs"];
    let block = if let Some(at) = person.user.blocked_at {
        let lede = req.tr_with("person-blocked-since", "time", req.time(at));
        effect_html(lede, &stops, "person-block-stays", action_button(req, person, "unblock", "primary"))
    } else {
        let lede = req.tr_with("person-block-lede", "name", person.user.name.as_str());
        effect_html(lede, &stops, "person-block-stays", action_button(req, person, "block", "danger"))
    };
    let mut cards = vec![Card::new("block", req.tr("person-block"), block).html()];
    cards.extend(
        lock_card_body(req, person, locks)
            .map(|body| Card::new("sign-in", req.tr("person-lock"), body).html()),
    );
    if person.user.confirmed_at.is_none() {
        let body = effect_html(
            req.tr("person-confirm-lede"),
            &[],
            "",
            action_button(req, person, "confirm", "primary"),
        );
        cards.push(Card::new("confirm", req.tr("person-confirm"), body).html());
    }
    let delete = PageAction::danger(format!("{}/delete", person.path()), req.tr("person-delete-link")).html();
    let delete = effect_html(req.tr("person-delete-lede"), &[], "", delete);
    cards.push(Card::new("delete", req.tr("person-delete"), delete).html());
    Html::join(cards)
}

/// The administration of accounts in a transaction.
pub(crate) fn admin(ports: &dyn Ports) -> UserAdministration<'_> {
    UserAdministration { store: ports.users(), tokens: ports.tokens(), queue: ports.queue() }
}

/// The mails to new users, queued in a transaction.
pub(crate) fn mails(tx: &dyn Transaction) -> RegistrationMails<'_> {
    RegistrationMails {
        queue: tx.queue(),
        organizations: tx.organization_lookup(),
        counts: tx.mail_counts(),
        client: None,
    }
}

/// An entry of the audit trail about an account.
fn audit_entry(req: &AdminRequest, person: &OpenedPerson, action: Action) -> NewAuditEntry {
    let (id, nickname) = (person.id.to_string(), &person.user.nickname);
    req.audit_entry(action).in_organization(person.organization_id).with_object("user", &id, nickname)
}

/// `POST .../{action}`: changes the state of the account.
pub(crate) async fn perform(req: &AdminRequest) -> Result<Reply> {
    let action = match req.action {
        "block" => UserStateChange::Block,
        "unblock" => UserStateChange::Unblock,
        "lock" => UserStateChange::Lock,
        "unlock" => UserStateChange::Unlock,
        _ => return Err(Error::NotFound),
    };
    let person = OpenedPerson::from_path(req).await?;
    req.in_transaction(async |tx| {
        let from = req.client_ip.map(|address| address.to_string());
        let states = UserStates { tx, actor: req.actor(), from, now: req.now };
        states.change(person.organization_id, person.id, action).await.map(drop)
    })
    .await?;
    back_to_person(req, &person, &format!("person-{}-done", req.action)).await
}

/// Back to the page of the account, with what was done.
async fn back_to_person(req: &AdminRequest, person: &OpenedPerson, result: &str) -> Result<Reply> {
    let title = req.tr_with(result, "name", person.user.name.as_str());
    let undo = req.tr(&format!("{result}-undo"));
    req.redirect(person.path(), Notice::success(title).text(undo)).await
}

pub(crate) async fn confirm(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    req.change_with_audit(
        async |tx| admin(tx).confirm(&mails(tx), person.organization_id, person.id, req.now).await,
        |after| (*after != person.user).then(|| audit_entry(req, &person, Action::UserConfirmed)),
    )
    .await?;
    back_to_person(req, &person, "person-confirm-done").await
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    let confirm = req
        .confirmation(person.path(), req.tr("person-delete-button"), person.path())
        .delete()
        .effects([
            req.tr("person-delete-sign-in"),
            req.tr("person-delete-tokens"),
            req.tr("person-delete-lists"),
        ])
        .stays(req.tr("person-delete-stays"));
    let title = req.tr_with("delete-title", "name", person.user.name.as_str());
    let head = person.subpage_head(req, title).current(req.tr("delete"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    // A closure with the request cannot be sent to another thread.
    let now = req.now;
    req.change_with_audit(
        async |tx| {
            let delete = |user: &mut User| user.delete(now);
            edit(&admin(tx), person.organization_id, person.id, now, delete).await
        },
        |_| Some(audit_entry(req, &person, Action::UserDeleted)),
    )
    .await?;
    let name = person.user.name.as_str().into();
    req.redirect_done("person-deleted", &[("name", name)], list_path(person.organization_id)).await
}
