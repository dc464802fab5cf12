//! Forms of accounts: a new one, and a change of one.

use super::organization;
use super::people::{self, Person, list_path};
use super::person::{admin, mails};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Choice, Field, Form, Problem, Section, Tick, language_name};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{User, normal_email};
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Error, Locale, Result};
use civitas_organizations::Organization;

const NAME: &str = "user[name]";
const NICKNAME: &str = "user[nickname]";
const EMAIL: &str = "user[email]";
const LOCALE: &str = "user[locale]";
const ADMIN: &str = "user[admin]";
const CONFIRMED: &str = "user[confirmed]";

/// The problems of a refused account, beside their fields.
fn refusal(visit: &Visit, fault: Error) -> Result<Vec<Problem>> {
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

/// Writes what was typed into an account. What was not sent stays as it is.
fn apply(visit: &Visit, user: &mut User) {
    let form = &visit.form;
    if form.get(NAME).is_some() {
        form.text(NAME).clone_into(&mut user.name);
    }
    if form.get(NICKNAME).is_some() {
        form.text(NICKNAME).clone_into(&mut user.nickname);
    }
    if form.get(EMAIL).is_some() {
        user.email = normal_email(form.text(EMAIL));
    }
    if form.get(LOCALE).is_some() {
        user.locale = Locale::parse(form.text(LOCALE));
    }
    if let Some(is_admin) = form.switch(ADMIN) {
        user.admin = is_admin;
    }
}

/// What is wrong with the language that was chosen: it is one of the organization's, that of the account, or none.
fn locale_problem(visit: &Visit, home: &Organization, before: Option<Locale>) -> Option<Problem> {
    let chosen = visit.form.text(LOCALE);
    let is_offered =
        |locale: Locale| home.available_locales.has(locale) || before.is_some_and(|own| own == locale);
    let is_known = chosen.is_empty() || Locale::parse(chosen).is_some_and(is_offered);
    (!is_known).then(|| Problem::new(LOCALE, visit.say("problem-inclusion")))
}

fn sections(visit: &Visit, home: &Organization, user: &User, problems: &[Problem]) -> [Section; 2] {
    let words = &visit.words;
    let mut locales: Vec<Locale> = home.available_locales.iter().collect();
    locales.extend(user.locale.filter(|locale| !home.available_locales.has(*locale)));
    let locales =
        locales.into_iter().map(|locale| Choice::new(locale.as_str(), language_name(words, locale)));
    let locales = std::iter::once(Choice::new("", visit.say("person-no-language"))).chain(locales);
    let chosen = user.locale.map(|locale| locale.to_string()).unwrap_or_default();
    let account = Section::new("account", visit.say("person-account"))
        .field(
            Field::text(NAME, visit.say("column-name"), &user.name)
                .hint(visit.say("person-name-hint"))
                .required()
                .check(problems)
                .html(words),
        )
        .field(
            Field::text(NICKNAME, visit.say("person-nickname"), &user.nickname)
                .hint(visit.say("person-nickname-hint"))
                .class("medium")
                .required()
                .check(problems)
                .html(words),
        )
        .field(
            Field::email(EMAIL, visit.say("email"), &user.email)
                .hint(visit.say("person-email-hint"))
                .required()
                .check(problems)
                .html(words),
        )
        .field(
            Field::select(LOCALE, visit.say("language"), chosen, locales.collect())
                .class("medium")
                .check(problems)
                .html(words),
        );
    let rights = Section::new("rights", visit.say("person-rights")).field(
        Tick::new(ADMIN, visit.say("person-admin-tick"), user.admin)
            .hint(visit.say("person-admin-hint"))
            .html(),
    );
    [account, rights]
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    show_new(visit, Vec::new()).await
}

async fn show_new(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let (id, home) = organization::organization(visit).await?;
    let mut user = User::new(String::new(), String::new(), String::new(), visit.now);
    apply(visit, &mut user);
    if let Some(typed) = visit.form.get(EMAIL) {
        typed.clone_into(&mut user.email);
    }
    let [account, rights] = sections(visit, &home, &user, &problems);
    let confirmed =
        Tick::new(CONFIRMED, visit.say("person-is-confirmed"), visit.form.switch(CONFIRMED) == Some(true))
            .hint(visit.say("person-is-confirmed-hint"));
    let form = Form::new(&visit.words, list_path(id), visit.token(), "person-create")
        .section(account.field(confirmed.html()))
        .section(rights)
        .cancel(list_path(id));
    let head = people::head(visit, id, &home, visit.say("person-new"))
        .crumb(visit.say("nav-people"), list_path(id))
        .lede(visit.say("person-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let (id, home) = organization::organization(visit).await?;
    if let Some(problem) = locale_problem(visit, &home, None) {
        return show_new(visit, vec![problem]).await;
    }
    let mut user = User::new(String::new(), String::new(), String::new(), visit.now);
    apply(visit, &mut user);
    if visit.form.switch(CONFIRMED) == Some(true) {
        user.confirm(visit.now);
    }
    let created = visit
        .change(async |tx| {
            let uid = admin(tx).register(&mails(tx), id, &user, visit.now).await?;
            let record =
                visit.record(Action::UserCreated).of(id).on("user", &uid.to_string(), &user.nickname);
            let record = record.changed("admin", None, user.admin.then_some("true"));
            tx.audit().append(&record, visit.now).await?;
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
        Err(fault) => show_new(visit, refusal(visit, fault)?).await,
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let person = Person::of(visit).await?;
    show_edit(visit, &person, Vec::new()).await
}

async fn show_edit(visit: &Visit, person: &Person, problems: Vec<Problem>) -> Result<Reply> {
    let mut user = person.user.clone();
    apply(visit, &mut user);
    if let Some(typed) = visit.form.get(EMAIL) {
        typed.clone_into(&mut user.email);
    }
    let [account, rights] = sections(visit, &person.home, &user, &problems);
    let form = Form::new(&visit.words, person.path(), visit.token(), "person-save")
        .method("put")
        .hidden("revision", visit.revision(person.user.revision()))
        .section(account)
        .section(rights)
        .cancel(person.path());
    let title = visit.tell("person-edit", &[("name", person.user.name.as_str().into())]);
    visit.form_page(person.head(visit, title).here(visit.say("edit")), form.html(), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let person = Person::of(visit).await?;
    if let Some(problem) = locale_problem(visit, &person.home, person.user.locale) {
        return show_edit(visit, &person, vec![problem]).await;
    }
    let saved = visit
        .change(async |tx| {
            let admin = admin(tx);
            let (records, seen) = (admin.records(), Some(visit.seen()));
            let before = find_revision_for_update(records, person.organization, person.id, seen).await?;
            let change = Change::of(before, visit.now, |user| apply(visit, user));
            admin.change(person.organization, person.id, &change).await?;
            if change.is_empty() {
                return Ok(());
            }
            let Change { before, after } = &change;
            let locale = |user: &User| user.locale.map(|locale| locale.to_string());
            let record = visit
                .record(Action::UserUpdated)
                .of(person.organization)
                .on("user", &person.id.to_string(), &after.nickname)
                .changed("name", Some(&before.name), Some(&after.name))
                .changed("nickname", Some(&before.nickname), Some(&after.nickname))
                .changed("email", Some(&before.email), Some(&after.email))
                .changed("locale", locale(before).as_deref(), locale(after).as_deref())
                .changed("admin", Some(&before.admin.to_string()), Some(&after.admin.to_string()));
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match saved {
        Ok(()) => {
            let title = visit.tell("person-saved", &[("name", visit.form.text(NAME).into())]);
            visit.redirect(person.path(), Notice::good(title)).await
        }
        Err(fault) => show_edit(visit, &person, refusal(visit, fault)?).await,
    }
}
