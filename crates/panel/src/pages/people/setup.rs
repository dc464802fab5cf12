//! The page that creates the first administrator and the first organization. It exists while there is no administrator; its
//! link is in the log.

use super::admins::error_key;
use crate::error;
use crate::panel::SETUP_PATH;
use crate::parts::{Choice, Field, FormErrors, Html, StandalonePage, language_name, render};
use crate::reply::Reply;
use crate::request::PanelRequest;
use crate::translator::Translator;
use actix_web::http::{Method, StatusCode};
use askama::Template;
use civitas_accounts::administrators::{Administrators, NewPassword};
use civitas_accounts::{Secret, normal_email};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{Error, FieldError, Locale, Result, Translated};
use civitas_organizations::{Organization, OrganizationAdministration, host_of};

const EMAIL_FIELD: &str = "admin[email]";
const PASSWORD_FIELD: &str = "admin[password]";
const NAME_FIELD: &str = "organization[name]";
const HOST_FIELD: &str = "organization[host]";
const LANGUAGE_FIELD: &str = "organization[default_locale]";

#[derive(Template)]
#[template(path = "pages/setup.html")]
struct Setup<'a> {
    translator: &'a Translator,
    action: String,
    problems: FormErrors,
    fields: Vec<Html>,
}

/// GET shows the form, POST creates both.
///
/// # Errors
/// `NotFound` with a wrong token, or when there is an administrator.
pub(crate) async fn serve(request: PanelRequest) -> Result<Reply> {
    let token = request.query.get("token").unwrap_or_default();
    let expected = Secret::new(request.panel.settings.setup_token.as_str());
    let is_open = expected.digest().matches(&Secret::new(token))
        && request.panel.store().administrators().count().await? == 0;
    if !is_open {
        return Err(Error::NotFound);
    }
    match *request.http.method() {
        Method::GET | Method::HEAD => Ok(form_page(&request, Vec::new())),
        Method::POST => submit(&request).await,
        _ => Err(Error::NotFound),
    }
}

/// The host of the request without its port.
fn sent_host(request: &PanelRequest) -> String {
    match request.http.uri().authority() {
        Some(authority) => host_of(authority.as_str()),
        None => host_of(request.http.connection_info().host()),
    }
}

fn form_page(request: &PanelRequest, problems: FormErrors) -> Reply {
    let (translator, typed) = (&request.translator, |name: &str| request.form.get(name).map(str::to_owned));
    let locales = &request.panel.settings.site.locales;
    let choices =
        locales.iter().map(|locale| Choice::new(locale.as_str(), language_name(translator, locale)));
    let language = typed(LANGUAGE_FIELD).unwrap_or_else(|| translator.locale.to_string());
    let fields = [
        Field::email(EMAIL_FIELD, translator.tr("email"), typed(EMAIL_FIELD).unwrap_or_default())
            .autocomplete("username")
            .required(),
        Field::password(PASSWORD_FIELD, translator.tr("password"), "new-password")
            .hint(translator.tr("password-hint"))
            .required(),
        Field::text(NAME_FIELD, translator.tr("setup-name"), typed(NAME_FIELD).unwrap_or_default())
            .required(),
        Field::text(
            HOST_FIELD,
            translator.tr("organization-host"),
            typed(HOST_FIELD).unwrap_or_else(|| sent_host(request)),
        )
        .hint(translator.tr("setup-host-hint"))
        .required(),
        Field::select(
            LANGUAGE_FIELD,
            translator.tr("organization-main-language"),
            language,
            choices.collect(),
        ),
    ];
    let fields = fields.into_iter().map(|field| field.check(&problems).html(translator)).collect();
    let token = request.query.get("token");
    let action = crate::query::Query::default().with(SETUP_PATH, "token", token);
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let problems = problems.into_iter().filter(|problem| problem.field.is_empty()).collect();
    let setup = Setup { translator, action, problems, fields };
    let page = StandalonePage {
        translator,
        title: translator.tr("setup-title"),
        body: render(&setup),
        locales: Vec::new(),
    };
    Reply::page(status, page.html())
}

async fn submit(request: &PanelRequest) -> Result<Reply> {
    let form = &request.form;
    if form.has_nul() {
        return Err(Error::rejected(request.translator.tr("problem-nul")));
    }
    let locales = &request.panel.settings.site.locales;
    let language = locales.find(form.text(LANGUAGE_FIELD)).unwrap_or(Locale::EN);
    let name = Translated::from([(language, form.text(NAME_FIELD).to_owned())]);
    let mut organization = Organization::new(form.text(HOST_FIELD).to_owned(), name, language, request.now);
    organization.available_locales = locales.clone();
    match create(request, organization).await {
        Ok(()) => Ok(Reply::redirect(crate::request::SIGN_IN_PATH)),
        Err(error) => {
            let field = |field_error: &FieldError| match field_error.field.as_ref() {
                "email" => EMAIL_FIELD.to_owned(),
                "password" => PASSWORD_FIELD.to_owned(),
                member => format!("organization[{member}]"),
            };
            let text =
                |field_error: &FieldError| error_key(field_error).map(|key| request.translator.tr(key));
            let problems = error::form_errors_with_texts(&request.translator, error, field, text)?;
            Ok(form_page(request, problems))
        }
    }
}

/// Creates the administrator and the organization, both or none.
async fn create(request: &PanelRequest, mut organization: Organization) -> Result<()> {
    let (services, now) = (&request.panel.services, request.now);
    let password = Secret::new(request.form.get(PASSWORD_FIELD).unwrap_or_default());
    let password = NewPassword::new(&*services.passwords, request.form.text(EMAIL_FIELD), &password).await?;
    let email = normal_email(request.form.text(EMAIL_FIELD));
    let tx = services.store.begin().await?;
    let created = async {
        if tx.administrators().count().await? > 0 {
            return Err(Error::NotFound);
        }
        let admin = Administrators { administrators: tx.administrators(), sessions: tx.panel_sessions() };
        let id = admin.create(password, now).await?;
        let admin = OrganizationAdministration {
            store: tx.organizations(),
            queue: tx.queue(),
            single_label_hosts: true,
        };
        let city = admin.create(&mut organization, now).await?;
        let mut administrator = tx.administrators().find_for_update(id).await?.ok_or(Error::NotFound)?;
        administrator.organization = Some(city);
        tx.administrators().save(id, &administrator).await?;
        let actor = || Actor::Administrator { id: id.0, email: email.clone() };
        let entry = NewAuditEntry::new(actor(), Action::AdministratorCreated).with_object(
            "administrator",
            &id.to_string(),
            &email,
        );
        tx.audit().append(&entry, now).await?;
        let entry = NewAuditEntry::new(actor(), Action::OrganizationCreated).in_organization(city);
        let entry = entry.with_object("organization", &city.to_string(), &organization.host);
        tx.audit().append(&entry, now).await.map(drop)
    };
    let created = created.await;
    services.committer.commit_with_events(tx, now, created).await
}
