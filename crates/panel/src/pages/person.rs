//! One account: its data and roles, and the acts on it (contract 02 §1.4).

use super::people::{Person, list_path};
use super::roles;
use crate::notice::Notice;
use crate::parts::{Act, Card, Html, KeyValues, Split, language_name, render};
use crate::reply::Reply;
use crate::visit::Visit;
use askama::Template;
use civitas_accounts::login_failures::{LoginLock, name_digest};
use civitas_accounts::{RegistrationMails, User, UserAdmin};
use civitas_application::{Ports, Transaction, UserStateChange, UserStates};
use civitas_audit::Action;
use civitas_kernel::records::edit;
use civitas_kernel::{Error, Result, UserState};

/// What an act does, and its button.
#[derive(Template)]
#[template(
    source = r#"<p>{{ lede }}</p>{% if !items.is_empty() %}<ul>{% for item in items %}<li>{{ item }}</li>{% endfor %}</ul>{% endif %}{% if !stays.is_empty() %}<p>{{ stays }}</p>{% endif %}{{ act }}"#,
    ext = "html"
)]
struct Effect {
    lede: String,
    items: Vec<String>,
    stays: String,
    act: Html,
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    visit.open_organization(person.organization).await?;
    let visit = &*visit;
    let roles = roles::card(visit, &person).await?;
    let left =
        [Card::new("account", visit.say("person-account"), account(visit, &person.user)).html(), roles];
    let failures = visit.panel.store().login_failures();
    let locks = failures.locks(person.organization, &name_digest(&person.user.nickname), visit.now).await?;
    let body = Split { left: Html::join(left), right: acts(visit, &person, &locks) };
    let edit = Act::link(format!("{}/edit", person.path()), visit.say("edit"));
    let head = person.tabbed_head(visit, "").act(edit);
    visit.page(head, body.html()).await
}

fn account(visit: &Visit, user: &User) -> Html {
    let none = || visit.say("none");
    let or_none = |text: Option<&str>| text.map_or_else(none, str::to_owned);
    let time = |at: Option<time::OffsetDateTime>| at.map_or_else(|| visit.say("never"), |at| visit.time(at));
    let locale = user.locale.map(|locale| language_name(&visit.words, locale));
    KeyValues::default()
        .text(visit.say("column-name"), &user.name)
        .text(visit.say("person-nickname"), &format!("@{}", user.nickname))
        .text(visit.say("email"), &user.email)
        .text(visit.say("person-confirmed-at"), &time(user.confirmed_at))
        .text(visit.say("language"), &or_none(locale.as_deref()))
        .text(visit.say("person-about"), &or_none(user.about.as_deref()))
        .text(visit.say("person-website"), &or_none(user.personal_url.as_deref()))
        .text(visit.say("person-terms"), &time(user.tos_accepted_at))
        .text(visit.say("person-managed"), &visit.say(if user.managed { "on" } else { "off" }))
        .text(visit.say("column-created"), &visit.time(user.created_at))
        .text(visit.say("column-changed"), &visit.time(user.updated_at))
        .html()
}

fn button(visit: &Visit, person: &Person, act: &str, class: &'static str) -> Html {
    let label = visit.tell(&format!("person-{act}-button"), &[("name", person.user.name.as_str().into())]);
    let (action, token) = (format!("{}/{act}", person.path()), visit.token());
    Act::Post { action, label, class, fields: Vec::new(), token }.html()
}

fn effect(lede: String, items: Vec<String>, stays: String, act: Html) -> Html {
    render(&Effect { lede, items, stays, act })
}

fn maybe(visit: &Visit, key: &str) -> String {
    if key.is_empty() { String::new() } else { visit.say(key) }
}

/// The card of the lock by administrators and of the locks by failed logins. A blocked account cannot be locked.
fn sign_in(visit: &Visit, person: &Person, locks: &[LoginLock]) -> Option<Html> {
    let mut items: Vec<String> = locks
        .iter()
        .map(|lock| {
            let client = if lock.client_name.is_empty() { &lock.client_uid } else { &lock.client_name };
            let values = [
                ("client", client.as_str().into()),
                ("id", lock.client_uid.as_str().into()),
                ("time", visit.time(lock.until).into()),
            ];
            visit.tell("person-login-locked", &values)
        })
        .collect();
    let unlock = || button(visit, person, "unlock", "primary");
    if let Some(at) = person.user.locked_at {
        items.push(visit.say("person-lock-lede"));
        let lede = visit.tell("person-locked-since", &[("time", visit.time(at).into())]);
        return Some(effect(lede, items, String::new(), unlock()));
    }
    if !locks.is_empty() {
        let stays = visit.say("person-login-lock-stays");
        return Some(effect(visit.say("person-login-lock-lede"), items, stays, unlock()));
    }
    let lock =
        || effect(visit.say("person-lock-lede"), items, String::new(), button(visit, person, "lock", ""));
    (person.user.state() == UserState::Active).then(lock)
}

/// The cards at the right: each says what an act does.
fn acts(visit: &Visit, person: &Person, locks: &[LoginLock]) -> Html {
    let name = || [("name", person.user.name.as_str().into())];
    let effect = |lede: String, items: &[&str], stays: &str, act: Html| {
        effect(lede, items.iter().map(|key| visit.say(key)).collect(), maybe(visit, stays), act)
    };
    let stops = ["person-stops-requests", "person-stops-sign-in", "person-stops-jobs"];
    let block = if let Some(at) = person.user.blocked_at {
        let lede = visit.tell("person-blocked-since", &[("time", visit.time(at).into())]);
        effect(lede, &stops, "person-block-stays", button(visit, person, "unblock", "primary"))
    } else {
        let lede = visit.tell("person-block-lede", &name());
        effect(lede, &stops, "person-block-stays", button(visit, person, "block", "danger"))
    };
    let mut cards = vec![Card::new("block", visit.say("person-block"), block).html()];
    cards.extend(
        sign_in(visit, person, locks).map(|body| Card::new("sign-in", visit.say("person-lock"), body).html()),
    );
    if person.user.confirmed_at.is_none() {
        let body =
            effect(visit.say("person-confirm-lede"), &[], "", button(visit, person, "confirm", "primary"));
        cards.push(Card::new("confirm", visit.say("person-confirm"), body).html());
    }
    let delete = Act::danger(format!("{}/delete", person.path()), visit.say("person-delete-link")).html();
    let delete = effect(visit.say("person-delete-lede"), &[], "", delete);
    cards.push(Card::new("delete", visit.say("person-delete"), delete).html());
    Html::join(cards)
}

/// The administration of accounts in a transaction.
pub(crate) fn admin(ports: &dyn Ports) -> UserAdmin<'_> {
    UserAdmin { store: ports.users(), tokens: ports.tokens(), queue: ports.queue() }
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

/// `POST .../{act}`: changes the state of the account.
pub(crate) async fn act(visit: &Visit) -> Result<Reply> {
    let act = match visit.act {
        "block" => UserStateChange::Block,
        "unblock" => UserStateChange::Unblock,
        "lock" => UserStateChange::Lock,
        "unlock" => UserStateChange::Unlock,
        _ => return Err(Error::NotFound),
    };
    let person = Person::of(visit).await?;
    visit
        .change(async |tx| {
            let from = visit.from.map(|address| address.to_string());
            let states = UserStates { tx, actor: visit.actor(), from, now: visit.now };
            states.change(person.organization, person.id, act).await.map(drop)
        })
        .await?;
    done(visit, &person, &format!("person-{}-done", visit.act)).await
}

/// Back to the page of the account, with what was done.
async fn done(visit: &Visit, person: &Person, result: &str) -> Result<Reply> {
    let title = visit.tell(result, &[("name", person.user.name.as_str().into())]);
    let undo = visit.say(&format!("{result}-undo"));
    visit.redirect(person.path(), Notice::good(title).text(undo)).await
}

pub(crate) async fn confirm(visit: &Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    visit
        .change(async |tx| {
            let after = admin(tx).confirm(&mails(tx), person.organization, person.id, visit.now).await?;
            if after == person.user {
                return Ok(());
            }
            let record = visit.record(Action::UserConfirmed).of(person.organization);
            let record = record.on("user", &person.id.to_string(), &person.user.nickname);
            visit.append(tx, &record).await
        })
        .await?;
    done(visit, &person, "person-confirm-done").await
}

pub(crate) async fn ask(visit: &Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    let confirm = visit
        .confirm(person.path(), visit.say("person-delete-button"), person.path())
        .delete()
        .effects([
            visit.say("person-delete-sign-in"),
            visit.say("person-delete-tokens"),
            visit.say("person-delete-lists"),
        ])
        .stays(visit.say("person-delete-stays"));
    let title = visit.tell("delete-title", &[("name", person.user.name.as_str().into())]);
    let head = person.head(visit, title).here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    visit
        .change(async |tx| {
            let delete = |user: &mut User| user.delete(visit.now);
            edit(&admin(tx), person.organization, person.id, visit.now, delete).await?;
            let record = visit.record(Action::UserDeleted).of(person.organization).on(
                "user",
                &person.id.to_string(),
                &person.user.nickname,
            );
            visit.append(tx, &record).await
        })
        .await?;
    let name = person.user.name.as_str().into();
    visit.done("person-deleted", &[("name", name)], list_path(person.organization)).await
}
