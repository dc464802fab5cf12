//! System administrators: list, creation, change, deletion.

use crate::error;
use crate::parts::{Act, Badge, Cell, Column, Field, Form, Head, Html, Problem, RowAct, Section, Table};
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use crate::visit::Visit;
use civitas_accounts::administrators::{Administrator, NewPassword, refusals};
use civitas_accounts::{Secret, normal_email};
use civitas_audit::{Action, Record};
use civitas_kernel::records::Entity;
use civitas_kernel::{AdministratorId, Error, PageRequest, Result};

const LIST: &str = "/system/admins";
const EMAIL: &str = "admin[email]";
const PASSWORD: &str = "admin[password]";

/// The field and the words of a refusal. `new`: the field of the new password.
pub(crate) fn refusal_text<'a>(text: &str, new: &'a str) -> Option<(&'a str, &'static str)> {
    Some(match text {
        refusals::EMAIL_INVALID => (EMAIL, "problem-email"),
        refusals::EMAIL_TAKEN => (EMAIL, "problem-email-taken"),
        refusals::PASSWORD_SHORT => (new, "problem-password-short"),
        refusals::PASSWORD_LONG => (new, "problem-password-long"),
        refusals::PASSWORD_BLANK => (new, "problem-password-blank"),
        refusals::PASSWORD_IS_EMAIL => (new, "problem-password-email"),
        refusals::LAST => ("", "problem-last-admin"),
        refusals::CODE_WRONG => ("code", "problem-code"),
        refusals::SECOND_FACTOR_IS_ON => ("", "problem-factor-on"),
        refusals::SECOND_FACTOR_IS_OFF => ("", "problem-factor-off"),
        refusals::SECOND_FACTOR_EXPIRED => ("", "problem-factor-expired"),
        _ => return None,
    })
}

/// The problem of a refused change, beside its field.
pub(crate) fn refusal(visit: &Visit, fault: Error, new: &str) -> Result<Vec<Problem>> {
    let mut problems = error::problems(&visit.words, fault, |_| String::new())?;
    for problem in &mut problems {
        if let Some((field, key)) = refusal_text(&problem.text, new) {
            *problem = Problem::new(field, visit.say(key));
        }
    }
    Ok(problems)
}

/// An entry of the audit trail about an administrator.
pub(crate) fn record(visit: &Visit, action: Action, id: AdministratorId, email: &str) -> Record {
    visit.record(action).on("administrator", &id.to_string(), email)
}

async fn administrator(visit: &Visit) -> Result<(AdministratorId, Administrator)> {
    let id = AdministratorId(visit.id("id")?);
    let found = visit.panel.store().administrators().find(id).await?;
    Ok((id, found.ok_or(Error::NotFound)?))
}

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let request = visit.query.page(PageRequest::MAX_LENGTH);
    let page = visit.panel.store().administrators().list(visit.query.get("q"), request).await?;
    let rows = page.items.iter().map(|(id, administrator)| {
        let path = format!("{LIST}/{id}");
        let email = administrator.email.clone();
        let mut acts = vec![RowAct::link(format!("{path}/edit"), visit.say("edit"), email.clone())];
        if administrator.sources.refused_until(visit.now).is_some() {
            let (action, of) = (format!("{path}/unlock"), email.clone());
            acts.push(RowAct::post(action, visit.say("unlock"), of, visit.token()));
        }
        acts.push(RowAct::link(format!("{path}/delete"), visit.say("delete-link"), email.clone()));
        let own = if *id == visit.signed.id { visit.say("admin-you") } else { String::new() };
        let last = administrator.last_sign_in_at;
        vec![
            Cell::link(&format!("{path}/edit"), &email, &own),
            state(visit, administrator),
            Cell::text(&visit.say(if administrator.second_factor.is_some() { "on" } else { "off" })),
            last.map_or_else(|| Cell::soft(&visit.say("never")), |at| Cell::text(&visit.time(at))),
            Cell::acts(&acts),
        ]
    });
    let columns = vec![
        Column::new(visit.say("email")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("second-factor")).low(),
        Column::new(visit.say("admin-last-sign-in")).low(),
        Column::acts(visit.say("column-acts")),
    ];
    let table = Table::new(visit.say("admins-caption"), columns).rows(rows);
    let head = visit
        .head("nav-admins")
        .lede(visit.say("admins-lede"))
        .act(Act::primary(format!("{LIST}/new"), visit.say("admin-new")));
    visit.page(head, table.html()).await
}

fn state(visit: &Visit, administrator: &Administrator) -> Cell {
    match administrator.sources.refused_until(visit.now) {
        Some(until) => {
            let until = visit.tell("admin-locked-until", &[("time", visit.time(until).into())]);
            Cell::badge_with_sub(&Badge::bad(visit.say("admin-locked")), &until)
        }
        None if administrator.password.is_none() => {
            Cell::badge(&Badge::plain(visit.say("admin-no-password")))
        }
        None => Cell::badge(&Badge::good(visit.say("admin-active"))),
    }
}

fn head(visit: &Visit, title: String) -> Head {
    Head::new(title).crumb(visit.say("nav-start"), "/system").crumb(visit.say("nav-admins"), LIST)
}

fn fields(visit: &Visit, email: &str, password_hint: &str, problems: &[Problem]) -> Section {
    Section::new("account", visit.say("admin-account"))
        .hint(visit.say("admin-account-hint"))
        .field(Field::email(EMAIL, visit.say("email"), email).required().check(problems).html(&visit.words))
        .field(
            Field::password(PASSWORD, visit.say("password"), "new-password")
                .hint(visit.say(password_hint))
                .check(problems)
                .html(&visit.words),
        )
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    show_new(visit, Vec::new()).await
}

async fn show_new(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let email = visit.form.get(EMAIL).unwrap_or_default();
    let form = Form::new(&visit.words, LIST, visit.token(), "admin-create")
        .section(fields(visit, email, "password-hint", &problems))
        .cancel(LIST);
    visit.form_page(head(visit, visit.say("admin-new")), form.html(), problems).await
}

pub(crate) async fn create(visit: &Visit) -> Result<Reply> {
    let email = normal_email(visit.form.text(EMAIL));
    let password = Secret::new(visit.form.get(PASSWORD).unwrap_or_default());
    let created = async {
        let password = NewPassword::of(&*visit.panel.services.passwords, &email, &password).await?;
        visit
            .change_once(async |tx| {
                let id = Visit::administrators(tx).create(password, visit.now).await?;
                visit.append(tx, &record(visit, Action::AdministratorCreated, id, &email)).await
            })
            .await
    };
    match created.await {
        Ok(()) => visit.done("admin-created", &[("email", email.into())], LIST).await,
        Err(fault) => show_new(visit, refusal(visit, fault, PASSWORD)?).await,
    }
}

pub(crate) async fn edit(visit: &Visit) -> Result<Reply> {
    let (id, administrator) = administrator(visit).await?;
    show_edit(visit, id, &administrator, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    id: AdministratorId,
    administrator: &Administrator,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let email = visit.form.get(EMAIL).unwrap_or(&administrator.email);
    let revision = visit.revision(administrator.revision());
    let form = Form::new(&visit.words, format!("{LIST}/{id}"), visit.token(), "admin-save")
        .method("put")
        .hidden("revision", &revision)
        .section(fields(visit, email, "password-new-hint", &problems))
        .cancel(LIST);
    let mut body = vec![form.html()];
    if administrator.second_factor.is_some() {
        let act = Act::Post {
            action: format!("{LIST}/{id}"),
            label: visit.say("second-factor-end"),
            class: "",
            fields: vec![
                ("_method".into(), "put".into()),
                ("revision".into(), revision),
                ("admin[end_second_factor]".into(), "1".into()),
            ],
            token: visit.token(),
        };
        body.push(Html::paragraph("prose", &visit.say("second-factor-of-admin")));
        body.push(Act::row(&[act]));
    }
    visit.form_page(head(visit, administrator.email.clone()), Html::join(body), problems).await
}

pub(crate) async fn update(visit: &Visit) -> Result<Reply> {
    let (id, administrator) = administrator(visit).await?;
    let email = visit.form.get(EMAIL).map_or_else(|| administrator.email.clone(), normal_email);
    let typed = visit.form.get(PASSWORD).filter(|password| !password.is_empty()).map(Secret::new);
    let ends_factor = visit.form.text("admin[end_second_factor]") == "1";
    let saved = async {
        let password = match &typed {
            Some(typed) => Some(NewPassword::of(&*visit.panel.services.passwords, &email, typed).await?),
            None => None,
        };
        visit
            .change_once(async |tx| {
                let admin = Visit::administrators(tx);
                let before = admin.find_for_update(id, visit.form_revision()).await?;
                let entry = |action| record(visit, action, id, &email);
                if email != before.email {
                    admin.change_email(id, &email, visit.now).await?;
                    let entry = entry(Action::AdministratorUpdated);
                    visit.append(tx, &entry.changed("email", Some(&before.email), Some(&email))).await?;
                }
                if let Some(password) = password {
                    admin.set_password(id, password, visit.now).await?;
                    visit.append(tx, &entry(Action::AdministratorPasswordChanged)).await?;
                }
                if ends_factor {
                    admin.disable_second_factor(id, visit.now).await?;
                    visit.append(tx, &entry(Action::AdministratorSecondFactorDisabled)).await?;
                }
                Ok(())
            })
            .await
    };
    match saved.await {
        Ok(()) if typed.is_some() && id == visit.signed.id => Ok(Reply::redirect(SIGN_IN_PATH)),
        Ok(()) => visit.done("admin-saved", &[("email", email.into())], LIST).await,
        Err(fault) => show_edit(visit, id, &administrator, refusal(visit, fault, PASSWORD)?).await,
    }
}

pub(crate) async fn unlock(visit: &Visit) -> Result<Reply> {
    let (id, administrator) = administrator(visit).await?;
    visit
        .change(async |tx| {
            Visit::administrators(tx).unlock(id, visit.now).await?;
            let entry = record(visit, Action::AdministratorUnlocked, id, &administrator.email);
            visit.append(tx, &entry).await
        })
        .await?;
    visit.done("admin-unlocked", &[("email", administrator.email.into())], LIST).await
}

pub(crate) async fn ask(visit: &Visit) -> Result<Reply> {
    let (id, administrator) = administrator(visit).await?;
    delete_page(visit, id, &administrator, Vec::new()).await
}

async fn delete_page(
    visit: &Visit,
    id: AdministratorId,
    administrator: &Administrator,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let confirm = visit
        .confirm(format!("{LIST}/{id}"), visit.say("admin-delete-button"), LIST.to_owned())
        .delete()
        .effects([visit.say("admin-delete-effect"), visit.say("admin-delete-sessions")])
        .stays(visit.say("admin-delete-stays"));
    let title = visit.tell("delete-title", &[("name", administrator.email.as_str().into())]);
    let head = head(visit, title).here(visit.say("delete"));
    let body = confirm.html(&problems);
    visit.form_page(head, body, problems).await
}

pub(crate) async fn delete(visit: &Visit) -> Result<Reply> {
    let (id, administrator) = administrator(visit).await?;
    let deleted = visit.change(async |tx| {
        Visit::administrators(tx).delete(id, visit.signed.id).await?;
        visit.append(tx, &record(visit, Action::AdministratorDeleted, id, &administrator.email)).await
    });
    match deleted.await {
        Ok(()) if id == visit.signed.id => Ok(Reply::redirect(SIGN_IN_PATH)),
        Ok(()) => visit.done("admin-deleted", &[("email", administrator.email.into())], LIST).await,
        Err(fault) => delete_page(visit, id, &administrator, refusal(visit, fault, PASSWORD)?).await,
    }
}
