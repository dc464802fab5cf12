//! Forms of accounts: a new one, and a change of one.

use super::person::{admin, mails};
use super::persons::{OpenedPerson, list_path};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::pages::content::organization;
use crate::parts::{Choice, Field, FormError, FormErrors, Section, language_name};
use crate::records::{EditableRecord, FormInput, FormView, Saved, Target, save};
use crate::reply::Reply;
use civitas_accounts::{User, normal_email};
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdministration, RecordFields};
use civitas_kernel::{FieldError, Locale, Result};
use civitas_organizations::Organization;

const EMAIL_FIELD: &str = "user[email]";
const LOCALE_FIELD: &str = "user[locale]";
const CONFIRMED_FIELD: &str = "user[confirmed]";

impl EditableRecord for User {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(admin(ports))
    }

    fn label(&self, _: &AdminRequest) -> String {
        self.nickname.clone()
    }

    fn form_field(_: &Organization, field_error: &FieldError) -> String {
        format!("user[{}]", field_error.field)
    }

    fn error_key(field_error: &FieldError) -> Option<&'static str> {
        match (field_error.field.as_ref(), field_error.code.as_ref()) {
            ("nickname", "taken") => Some("problem-nickname-taken"),
            ("nickname", "invalid") => Some("problem-nickname"),
            ("email", "taken") => Some("problem-person-email-taken"),
            ("email", "invalid") => Some("problem-email"),
            ("name", "invalid") => Some("problem-name"),
            _ => None,
        }
    }
}

/// Writes what was typed into an account, and returns what cannot be read: the language is one of the organization, that
/// of the account, or none.
fn read_form(req: &AdminRequest, organization: &Organization, user: &mut User) -> FormErrors {
    let form = &req.form;
    let mut input = FormInput::new(req, User::NAME, &organization.available_locales);
    input.read_line("name", &mut user.name);
    input.read_line("nickname", &mut user.nickname);
    input.read_flag("admin", &mut user.admin);
    let mut problems = input.into_problems();
    if form.get(EMAIL_FIELD).is_some() {
        user.email = normal_email(form.text(EMAIL_FIELD));
    }
    if form.get(LOCALE_FIELD).is_some() {
        let (chosen, stored) = (form.text(LOCALE_FIELD), user.locale);
        user.locale = Locale::parse(chosen);
        let is_known = |locale: Locale| organization.available_locales.has(locale) || stored == Some(locale);
        if !chosen.is_empty() && !user.locale.is_some_and(is_known) {
            problems.push(FormError::new(LOCALE_FIELD, req.tr("problem-inclusion")));
        }
    }
    problems
}

/// The sections of the form. The address is shown as it was typed.
fn sections(view: &FormView<'_>, user: &User) -> [Section; 2] {
    let (req, organization) = (view.req, view.organization);
    let mut locales: Vec<Locale> = organization.available_locales.iter().collect();
    locales.extend(user.locale.filter(|locale| !organization.available_locales.has(*locale)));
    let locales = locales
        .into_iter()
        .map(|locale| Choice::new(locale.as_str(), language_name(&req.translator, locale)));
    let locales = std::iter::once(Choice::new("", req.tr("person-no-language"))).chain(locales);
    let chosen = user.locale.map(|locale| locale.to_string()).unwrap_or_default();
    let name = view.line("name", "column-name", &user.name).hint(req.tr("person-name-hint")).required();
    let nickname = view
        .line("nickname", "person-nickname", &user.nickname)
        .hint(req.tr("person-nickname-hint"))
        .class("medium")
        .required();
    let email = Field::email(EMAIL_FIELD, req.tr("email"), req.form.get(EMAIL_FIELD).unwrap_or(&user.email))
        .hint(req.tr("person-email-hint"))
        .required();
    let locale = view.select("locale", "language", &chosen, locales.collect()).class("medium");
    let account = [name, nickname, email, locale].into_iter().map(|field| view.html(field));
    let is_admin = view.flag("admin", "person-admin-tick", user.admin).hint(req.tr("person-admin-hint"));
    [
        account.fold(view.section("account", "person-account"), Section::field),
        view.section("rights", "person-rights").field(is_admin.html()),
    ]
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    new_page(req, Vec::new()).await
}

/// The form of an account.
fn view<'a>(
    req: &'a AdminRequest,
    organization: &'a Organization,
    problems: &'a [FormError],
    is_new: bool,
) -> FormView<'a> {
    FormView {
        req,
        organization,
        name: User::NAME,
        locales: &organization.available_locales,
        problems,
        is_new,
    }
}

/// A new account with what was typed, and what of it cannot be read.
fn read_new(req: &AdminRequest, organization: &Organization) -> (User, FormErrors) {
    let mut user = User::new(String::new(), String::new(), String::new(), req.now);
    let problems = read_form(req, organization, &mut user);
    (user, problems)
}

async fn new_page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let (id, organization) = organization::find_from_path(req).await?;
    let view = view(req, &organization, &problems, true);
    let [account, rights] = sections(&view, &read_new(req, &organization).0);
    let is_confirmed = req.form.checkbox(CONFIRMED_FIELD) == Some(true);
    let confirmed = view.flag("confirmed", "person-is-confirmed", is_confirmed);
    let confirmed = confirmed.hint(req.tr("person-is-confirmed-hint"));
    let form = req
        .build_form(list_path(id), "person-create")
        .section(account.field(confirmed.html()))
        .section(rights)
        .cancel(list_path(id));
    let head = organization::head(req, id, &organization, req.tr("person-new"))
        .crumb(req.tr("nav-people"), list_path(id))
        .lede(req.tr("person-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = organization::find_from_path(req).await?;
    let (mut user, problems) = read_new(req, &organization);
    if !problems.is_empty() {
        return new_page(req, problems).await;
    }
    if req.form.checkbox(CONFIRMED_FIELD) == Some(true) {
        user.confirm(req.now);
    }
    let created = req
        .change_with_audit(
            async |tx| admin(tx).register(&mails(tx), id, &user, req.now).await,
            |uid| {
                let entry = req.audit_entry(Action::UserCreated).in_organization(id);
                let entry = entry.with_object("user", &uid.to_string(), &user.nickname);
                Some(entry.with_change("admin", None, user.admin.then_some("true")))
            },
        )
        .await;
    match created {
        Ok(uid) => {
            let title = req.tr_with("person-created", "name", user.name.as_str());
            let text = req.tr(if user.confirmed_at.is_some() {
                "person-created-confirmed"
            } else {
                "person-created-mail"
            });
            req.redirect(format!("{}/{uid}", list_path(id)), Notice::success(title).text(text)).await
        }
        Err(error) => new_page(req, User::form_errors(req, &organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    edit_page(req, &person, &person.user, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    person: &OpenedPerson,
    user: &User,
    problems: FormErrors,
) -> Result<Reply> {
    let [account, rights] = sections(&view(req, &person.organization, &problems, false), user);
    let form = req
        .build_form(person.path(), "person-save")
        .put(req.revision(person.user.revision()))
        .section(account)
        .section(rights)
        .cancel(person.path());
    let title = req.tr_with("person-edit", "name", person.user.name.as_str());
    req.form_page(person.subpage_head(req, title).current(req.tr("edit")), form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let person = OpenedPerson::from_path(req).await?;
    let organization = &person.organization;
    let target = Target { organization_id: person.organization_id, organization, id: person.id };
    match save(req, target, Action::UserUpdated, |user| read_form(req, organization, user)).await? {
        Saved::Stored(user) => {
            req.redirect_done("person-saved", &[("name", user.name.into())], person.path()).await
        }
        Saved::Refused(user, problems) => edit_page(req, &person, &user, problems).await,
    }
}
