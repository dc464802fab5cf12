//! System administrators: list, creation, change, deletion.

use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{
    Badge, Cell, Field, FormError, FormErrors, Head, Html, PageAction, RowAction, Section, Table,
};
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use civitas_accounts::administrators::{Administrator, NewPassword};
use civitas_accounts::{Secret, normal_email};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::Entity;
use civitas_kernel::{AdministratorId, Error, FieldError, PageRequest, Result};

const LIST: &str = "/system/admins";
const EMAIL_FIELD: &str = "admin[email]";
const PASSWORD_FIELD: &str = "admin[password]";

/// An administrator with the id.
type FoundAdministrator = (AdministratorId, Administrator);

/// The key of the text for an error about an administrator.
pub(crate) fn error_key(field_error: &FieldError) -> Option<&'static str> {
    Some(match (field_error.field.as_ref(), field_error.code.as_ref()) {
        ("email", "invalid") => "problem-email",
        ("email", "taken") => "problem-email-taken",
        ("password", "too_short") => "problem-password-short",
        ("password", "too_long") => "problem-password-long",
        ("password", "blank") => "problem-password-blank",
        ("password", "is_email") => "problem-password-email",
        ("administrator", "is_last") => "problem-last-admin",
        ("code", "wrong") => "problem-code",
        ("second_factor", "is_on") => "problem-factor-on",
        ("second_factor", "is_off") => "problem-factor-off",
        ("second_factor", "expired") => "problem-factor-expired",
        _ => return None,
    })
}

/// The problem of a refused change, beside its field. `new`: the field of the new password.
pub(crate) fn form_errors(req: &AdminRequest, error: Error, new: &str) -> Result<FormErrors> {
    let field = |field_error: &FieldError| match field_error.field.as_ref() {
        "email" => EMAIL_FIELD.to_owned(),
        "password" => new.to_owned(),
        "code" => "code".to_owned(),
        _ => String::new(),
    };
    let text = |field_error: &FieldError| error_key(field_error).map(|key| req.tr(key));
    error::form_errors_with_texts(&req.translator, error, field, text)
}

/// An entry of the audit trail about an administrator.
pub(crate) fn audit_entry(
    req: &AdminRequest,
    action: Action,
    id: AdministratorId,
    email: &str,
) -> NewAuditEntry {
    req.audit_entry(action).with_object("administrator", &id.to_string(), email)
}

async fn administrator_from_path(req: &AdminRequest) -> Result<FoundAdministrator> {
    let id = AdministratorId(req.path_id("id")?);
    let found = req.store().administrators().find(id).await?;
    Ok((id, found.ok_or(Error::NotFound)?))
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let request = req.query.page(PageRequest::MAX_LENGTH);
    let page = req.store().administrators().list(req.query.get("q"), request).await?;
    let rows = page.items.iter().map(|(id, administrator)| {
        let path = format!("{LIST}/{id}");
        let email = administrator.email.clone();
        let mut actions = vec![RowAction::link(format!("{path}/edit"), req.tr("edit"), email.clone())];
        if administrator.sources.refused_until(req.now).is_some() {
            let action = format!("{path}/unlock");
            actions.push(RowAction::post(action, req.tr("unlock"), email.clone(), req.token()));
        }
        actions.push(RowAction::link(format!("{path}/delete"), req.tr("delete-link"), email.clone()));
        let note = if *id == req.signed_in.id { req.tr("admin-you") } else { String::new() };
        let last = administrator.last_sign_in_at;
        vec![
            Cell::link(&format!("{path}/edit"), &email, &note),
            state(req, administrator),
            Cell::text(&req.tr(if administrator.second_factor.is_some() { "on" } else { "off" })),
            last.map_or_else(|| Cell::muted(&req.tr("never")), |at| Cell::text(&req.time(at))),
            Cell::actions(&actions),
        ]
    });
    let columns = req.columns("email column-state second-factor:low admin-last-sign-in:low column-acts");
    let table = Table::new(req.tr("admins-caption"), columns).rows(rows);
    let head = req
        .head("nav-admins")
        .lede(req.tr("admins-lede"))
        .action(PageAction::primary(format!("{LIST}/new"), req.tr("admin-new")));
    req.page(head, table.html()).await
}

fn state(req: &AdminRequest, administrator: &Administrator) -> Cell {
    match administrator.sources.refused_until(req.now) {
        Some(until) => {
            let until = req.tr_with("admin-locked-until", "time", req.time(until));
            Cell::badge_with_subtext(&Badge::bad(req.tr("admin-locked")), &until)
        }
        None if administrator.password.is_none() => Cell::badge(&Badge::plain(req.tr("admin-no-password"))),
        None => Cell::badge(&Badge::good(req.tr("admin-active"))),
    }
}

fn head(req: &AdminRequest, title: String) -> Head {
    Head::new(title).crumb(req.tr("nav-start"), "/system").crumb(req.tr("nav-admins"), LIST)
}

fn fields(req: &AdminRequest, email: &str, password_hint: &str, problems: &[FormError]) -> Section {
    Section::new("account", req.tr("admin-account"))
        .hint(req.tr("admin-account-hint"))
        .field(
            Field::email(EMAIL_FIELD, req.tr("email"), email)
                .required()
                .check(problems)
                .html(&req.translator),
        )
        .field(
            Field::password(PASSWORD_FIELD, req.tr("password"), "new-password")
                .hint(req.tr(password_hint))
                .check(problems)
                .html(&req.translator),
        )
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    new_page(req, Vec::new()).await
}

async fn new_page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let email = req.form.get(EMAIL_FIELD).unwrap_or_default();
    let form = req
        .build_form(LIST, "admin-create")
        .section(fields(req, email, "password-hint", &problems))
        .cancel(LIST);
    req.form_page(head(req, req.tr("admin-new")), form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let email = normal_email(req.form.text(EMAIL_FIELD));
    let password = Secret::new(req.form.get(PASSWORD_FIELD).unwrap_or_default());
    let created = async {
        let password = NewPassword::new(&*req.panel.services.passwords, &email, &password).await?;
        req.in_transaction_once(async |tx| {
            let id = AdminRequest::administrators(tx).create(password, req.now).await?;
            req.append_audit_entry(tx, &audit_entry(req, Action::AdministratorCreated, id, &email)).await
        })
        .await
    };
    match created.await {
        Ok(()) => req.redirect_done("admin-created", &[("email", email.into())], LIST).await,
        Err(error) => new_page(req, form_errors(req, error, PASSWORD_FIELD)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    edit_page(req, &administrator_from_path(req).await?, Vec::new()).await
}

async fn edit_page(req: &AdminRequest, found: &FoundAdministrator, problems: FormErrors) -> Result<Reply> {
    let (id, administrator) = found;
    let email = req.form.get(EMAIL_FIELD).unwrap_or(&administrator.email);
    let revision = req.revision(administrator.revision());
    let form = req
        .build_form(format!("{LIST}/{id}"), "admin-save")
        .put(&revision)
        .section(fields(req, email, "password-new-hint", &problems))
        .cancel(LIST);
    let mut body = vec![form.html()];
    if administrator.second_factor.is_some() {
        let action = PageAction::Post {
            action: format!("{LIST}/{id}"),
            label: req.tr("second-factor-end"),
            class: "",
            fields: vec![
                ("_method".into(), "put".into()),
                ("revision".into(), revision),
                ("admin[end_second_factor]".into(), "1".into()),
            ],
            token: req.token(),
        };
        body.push(Html::paragraph("prose", &req.tr("second-factor-of-admin")));
        body.push(PageAction::row(&[action]));
    }
    req.form_page(head(req, administrator.email.clone()), Html::join(body), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let found = administrator_from_path(req).await?;
    let (id, administrator) = (found.0, &found.1);
    let email = req.form.get(EMAIL_FIELD).map_or_else(|| administrator.email.clone(), normal_email);
    let typed = req.form.get(PASSWORD_FIELD).filter(|password| !password.is_empty()).map(Secret::new);
    let ends_factor = req.form.text("admin[end_second_factor]") == "1";
    let saved = async {
        let password = match &typed {
            Some(typed) => Some(NewPassword::new(&*req.panel.services.passwords, &email, typed).await?),
            None => None,
        };
        req.in_transaction_once(async |tx| {
            let admin = AdminRequest::administrators(tx);
            let before = admin.find_revision_for_update(id, req.form_revision()).await?;
            let entry = |action| audit_entry(req, action, id, &email);
            if email != before.email {
                admin.change_email(id, &email, req.now).await?;
                let entry = entry(Action::AdministratorUpdated);
                req.append_audit_entry(tx, &entry.with_change("email", Some(&before.email), Some(&email)))
                    .await?;
            }
            if let Some(password) = password {
                admin.set_password(id, password, req.now).await?;
                req.append_audit_entry(tx, &entry(Action::AdministratorPasswordChanged)).await?;
            }
            if ends_factor {
                admin.disable_second_factor(id, req.now).await?;
                req.append_audit_entry(tx, &entry(Action::AdministratorSecondFactorDisabled)).await?;
            }
            Ok(())
        })
        .await
    };
    match saved.await {
        Ok(()) if typed.is_some() && id == req.signed_in.id => Ok(Reply::redirect(SIGN_IN_PATH)),
        Ok(()) => req.redirect_done("admin-saved", &[("email", email.into())], LIST).await,
        Err(error) => edit_page(req, &found, form_errors(req, error, PASSWORD_FIELD)?).await,
    }
}

pub(crate) async fn unlock(req: &AdminRequest) -> Result<Reply> {
    let (id, administrator) = administrator_from_path(req).await?;
    req.change_with_audit(
        async |tx| AdminRequest::administrators(tx).unlock(id, req.now).await,
        |()| Some(audit_entry(req, Action::AdministratorUnlocked, id, &administrator.email)),
    )
    .await?;
    req.redirect_done("admin-unlocked", &[("email", administrator.email.into())], LIST).await
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    delete_page(req, &administrator_from_path(req).await?, Vec::new()).await
}

async fn delete_page(req: &AdminRequest, found: &FoundAdministrator, problems: FormErrors) -> Result<Reply> {
    let (id, administrator) = found;
    let confirm = req
        .confirmation(format!("{LIST}/{id}"), req.tr("admin-delete-button"), LIST.to_owned())
        .delete()
        .effects([req.tr("admin-delete-effect"), req.tr("admin-delete-sessions")])
        .stays(req.tr("admin-delete-stays"));
    let title = req.tr_with("delete-title", "name", administrator.email.as_str());
    let head = head(req, title).current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let found = administrator_from_path(req).await?;
    let (id, email) = (found.0, found.1.email.as_str());
    let deleted = req.change_with_audit(
        async |tx| AdminRequest::administrators(tx).delete(id, req.signed_in.id).await,
        |()| Some(audit_entry(req, Action::AdministratorDeleted, id, email)),
    );
    match deleted.await {
        Ok(()) if id == req.signed_in.id => Ok(Reply::redirect(SIGN_IN_PATH)),
        Ok(()) => req.redirect_done("admin-deleted", &[("email", email.into())], LIST).await,
        Err(error) => delete_page(req, &found, form_errors(req, error, PASSWORD_FIELD)?).await,
    }
}
