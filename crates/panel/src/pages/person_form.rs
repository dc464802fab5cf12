//! Forms of accounts: a new one, and a change of one.

use super::organization;
use super::people::{Person, list_path};
use super::person::{admin, mails};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Choice, Field, Form, Problem, Section, language_name};
use crate::records::{EditableRecord, FormInput, FormView, Saved, Target, save};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{User, normal_email};
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Described, Entity, RecordAdmin};
use civitas_kernel::{Error, Locale, Result};
use civitas_organizations::Organization;

const NAME: &str = "user[name]";
const NICKNAME: &str = "user[nickname]";
const EMAIL: &str = "user[email]";
const LOCALE: &str = "user[locale]";
const CONFIRMED: &str = "user[confirmed]";

impl EditableRecord for User {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(admin(ports))
    }

    fn label(&self, _: &Visit) -> String {
        self.nickname.clone()
    }

    fn problems(visit: &Visit, _: &Organization, fault: Error) -> Result<Vec<Problem>> {
        let mut problems = error::problems(&visit.words, fault, |fault| format!("user[{}]", fault.field))?;
        for problem in &mut problems {
            let is_taken = problem.text.ends_with("has already been taken");
            let (field, key) = match problem.text.split(' ').next() {
                Some("nickname") if is_taken => (NICKNAME, "problem-nickname-taken"),
                Some("nickname") => (NICKNAME, "problem-nickname"),
                Some("email") if is_taken => (EMAIL, "problem-person-email-taken"),
                Some("email") => (EMAIL, "problem-email"),
                Some("name") => (NAME, "problem-name"),
                _ => continue,
            };
            *problem = Problem::new(field, visit.say(key));
        }
        Ok(problems)
    }
}

/// Writes what was typed into an account, and returns what cannot be read: the language is one of the organization, that
/// of the account, or none.
fn read(visit: &Visit, home: &Organization, user: &mut User) -> Vec<Problem> {
    let form = &visit.form;
    let mut input = FormInput::new(visit, User::NAME, &home.available_locales);
    input.line("name", &mut user.name);
    input.line("nickname", &mut user.nickname);
    input.flag("admin", &mut user.admin);
    let mut problems = input.into_problems();
    if form.get(EMAIL).is_some() {
        user.email = normal_email(form.text(EMAIL));
    }
    if form.get(LOCALE).is_some() {
        let (chosen, stored) = (form.text(LOCALE), user.locale);
        user.locale = Locale::parse(chosen);
        let is_known = |own: Locale| home.available_locales.has(own) || stored == Some(own);
        if !chosen.is_empty() && !user.locale.is_some_and(is_known) {
            problems.push(Problem::new(LOCALE, visit.say("problem-inclusion")));
        }
    }
    problems
}

/// The sections of the form. The address is shown as it was typed.
fn sections(view: &FormView<'_>, user: &User) -> [Section; 2] {
    let (visit, home) = (view.visit, view.home);
    let mut locales: Vec<Locale> = home.available_locales.iter().collect();
    locales.extend(user.locale.filter(|locale| !home.available_locales.has(*locale)));
    let locales =
        locales.into_iter().map(|locale| Choice::new(locale.as_str(), language_name(&visit.words, locale)));
    let locales = std::iter::once(Choice::new("", visit.say("person-no-language"))).chain(locales);
    let chosen = user.locale.map(|locale| locale.to_string()).unwrap_or_default();
    let name = view.line("name", "column-name", &user.name).hint(visit.say("person-name-hint")).required();
    let nickname = view
        .line("nickname", "person-nickname", &user.nickname)
        .hint(visit.say("person-nickname-hint"))
        .class("medium")
        .required();
    let email = Field::email(EMAIL, visit.say("email"), visit.form.get(EMAIL).unwrap_or(&user.email))
        .hint(visit.say("person-email-hint"))
        .required();
    let locale = view.select("locale", "language", &chosen, locales.collect()).class("medium");
    let account = [name, nickname, email, locale].into_iter().map(|field| view.html(field));
    let is_admin = view.flag("admin", "person-admin-tick", user.admin).hint(visit.say("person-admin-hint"));
    [
        account.fold(view.section("account", "person-account"), Section::field),
        view.section("rights", "person-rights").field(is_admin.html()),
    ]
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    show_new(visit, Vec::new()).await
}

/// The form of an account.
fn view<'a>(visit: &'a Visit, home: &'a Organization, problems: &'a [Problem], is_new: bool) -> FormView<'a> {
    FormView { visit, home, name: User::NAME, locales: &home.available_locales, problems, is_new }
}

/// A new account with what was typed, and what of it cannot be read.
fn read_new(visit: &Visit, home: &Organization) -> (User, Vec<Problem>) {
    let mut user = User::new(String::new(), String::new(), String::new(), visit.now);
    let problems = read(visit, home, &mut user);
    (user, problems)
}

async fn show_new(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let (id, home) = organization::organization(visit).await?;
    let view = view(visit, &home, &problems, true);
    let [account, rights] = sections(&view, &read_new(visit, &home).0);
    let is_confirmed = visit.form.switch(CONFIRMED) == Some(true);
    let confirmed = view.flag("confirmed", "person-is-confirmed", is_confirmed);
    let confirmed = confirmed.hint(visit.say("person-is-confirmed-hint"));
    let form = Form::new(&visit.words, list_path(id), visit.token(), "person-create")
        .section(account.field(confirmed.html()))
        .section(rights)
        .cancel(list_path(id));
    let head = organization::head(visit, id, &home, visit.say("person-new"))
        .crumb(visit.say("nav-people"), list_path(id))
        .lede(visit.say("person-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &Visit) -> Result<Reply> {
    let (id, home) = organization::organization(visit).await?;
    let (mut user, problems) = read_new(visit, &home);
    if !problems.is_empty() {
        return show_new(visit, problems).await;
    }
    if visit.form.switch(CONFIRMED) == Some(true) {
        user.confirm(visit.now);
    }
    let created = visit
        .change(async |tx| {
            let uid = admin(tx).register(&mails(tx), id, &user, visit.now).await?;
            let record =
                visit.record(Action::UserCreated).of(id).on("user", &uid.to_string(), &user.nickname);
            let record = record.changed("admin", None, user.admin.then_some("true"));
            visit.append(tx, &record).await?;
            Ok(uid)
        })
        .await;
    match created {
        Ok(uid) => {
            let title = visit.tell("person-created", &[("name", user.name.as_str().into())]);
            let text = visit.say(if user.confirmed_at.is_some() {
                "person-created-confirmed"
            } else {
                "person-created-mail"
            });
            visit.redirect(format!("{}/{uid}", list_path(id)), Notice::good(title).text(text)).await
        }
        Err(fault) => show_new(visit, User::problems(visit, &home, fault)?).await,
    }
}

pub(crate) async fn edit(visit: &Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    show_edit(visit, &person, &person.user, Vec::new()).await
}

async fn show_edit(visit: &Visit, person: &Person, user: &User, problems: Vec<Problem>) -> Result<Reply> {
    let [account, rights] = sections(&view(visit, &person.home, &problems, false), user);
    let form = Form::new(&visit.words, person.path(), visit.token(), "person-save")
        .method("put")
        .hidden("revision", visit.revision(person.user.revision()))
        .section(account)
        .section(rights)
        .cancel(person.path());
    let title = visit.tell("person-edit", &[("name", person.user.name.as_str().into())]);
    visit.form_page(person.head(visit, title).here(visit.say("edit")), form.html(), problems).await
}

pub(crate) async fn update(visit: &Visit) -> Result<Reply> {
    let person = Person::of(visit).await?;
    let home = &person.home;
    let target = Target { organization: person.organization, home, id: person.id };
    match save(visit, target, Action::UserUpdated, |user| read(visit, home, user)).await? {
        Saved::Stored(user) => visit.done("person-saved", &[("name", user.name.into())], person.path()).await,
        Saved::Refused(user, problems) => show_edit(visit, &person, &user, problems).await,
    }
}
