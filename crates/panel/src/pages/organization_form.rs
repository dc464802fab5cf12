//! The settings of an organization (contract 04 §3, 03 §1.3).

use super::content::{line, with_changes};
use super::organization::{self, LIST};
use super::organization_api;
use super::organization_sections::{
    MODES, PEOPLE, VIEWS, files, hosts, identity, languages, name_of, people, views,
};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Form, Head, Html, Problem, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, check_revision};
use civitas_kernel::{Error, FieldError, Locale, Locales, OrganizationId, Result};
use civitas_organizations::{Organization, OrganizationAdmin};

/// The name of the field that an error of the use-case is about.
pub(crate) fn field_of(fault: &FieldError) -> String {
    match fault.field.as_ref() {
        // `Name fr has already been taken` is about one language.
        member @ ("name" | "description") => {
            let locale = fault.description.split(' ').nth(1).and_then(Locale::parse);
            locale.map_or_else(|| name_of(member), |locale| format!("organization[{member}][{locale}]"))
        }
        member => name_of(member),
    }
}

/// The organization with what was typed, and what cannot be read. What was not sent stays as it is.
pub(crate) fn read(visit: &Visit, mut organization: Organization) -> (Organization, Vec<Problem>) {
    let form = &visit.form;
    let locales = &visit.panel.settings.site.locales;
    let mut problems = Vec::new();
    for (member, place) in [("name", &mut organization.name), ("description", &mut organization.description)]
    {
        if form.has(&format!("organization[{member}][")) {
            *place = form.texts(&name_of(member), locales);
        }
    }
    for (member, place) in
        [("reference_prefix", &mut organization.reference_prefix), ("time_zone", &mut organization.time_zone)]
    {
        if form.has(&name_of(member)) {
            form.text(&name_of(member)).clone_into(place);
        }
    }
    if form.has("organization[secondary_hosts]") {
        organization.secondary_hosts = form.lines("organization[secondary_hosts]");
    }
    if form.has("organization[external_domain_allowlist]") {
        organization.external_domain_allowlist = form.lines("organization[external_domain_allowlist]");
    }
    if form.has("organization[available_locales]") {
        let offered = form.all("organization[available_locales][]");
        let is_offered = |locale: &Locale| offered.iter().any(|name| name == locale.as_str());
        organization.available_locales = locales.iter().filter(is_offered).collect::<Locales>();
    }
    if form.has("organization[default_locale]") {
        match locales.find(form.text("organization[default_locale]")) {
            Some(locale) => organization.default_locale = locale,
            None => {
                problems.push(Problem::new("organization[default_locale]", visit.say("problem-inclusion")));
            }
        }
    }
    if form.has("organization[users_registration_mode]") {
        let mode = form.text("organization[users_registration_mode]");
        if let Some((mode, _)) = MODES.iter().find(|(_, name)| *name == mode) {
            organization.users_registration_mode = *mode;
        } else {
            let problem = visit.say("problem-inclusion");
            problems.push(Problem::new("organization[users_registration_mode]", problem));
        }
    }
    for (member, place) in PEOPLE.into_iter().chain(VIEWS) {
        if let Some(is_on) = form.switch(&name_of(member)) {
            *place(&mut organization) = is_on;
        }
    }
    read_numbers(visit, &mut organization, &mut problems);
    organization_api::apply(visit, &mut organization.features);
    (organization, problems)
}

fn read_numbers(visit: &Visit, organization: &mut Organization, problems: &mut Vec<Problem>) {
    let numbers: [(&str, &mut i64); 2] = [
        ("comments_max_length", &mut organization.comments_max_length),
        ("max_attachment_bytes", &mut organization.max_attachment_bytes),
    ];
    for (member, place) in numbers {
        if !visit.form.has(&name_of(member)) {
            continue;
        }
        match visit.form.text(&name_of(member)).parse() {
            Ok(number) => *place = number,
            Err(_) => problems.push(Problem::new(name_of(member), visit.say("problem-number"))),
        }
    }
}

/// The form: `id` is `None` for a new organization.
pub(crate) async fn show(
    visit: &Visit,
    id: Option<OrganizationId>,
    organization: &Organization,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let words = &visit.words;
    let (action, method, save) = match id {
        Some(id) => (format!("{LIST}/{id}"), "put", "settings-save"),
        None => (LIST.to_owned(), "", "organization-create"),
    };
    let cancel = id.map_or_else(|| LIST.to_owned(), |id| format!("{LIST}/{id}"));
    let mut form = Form::new(words, action, visit.token(), save).method(method).cancel(cancel);
    if id.is_some() {
        form = form.hidden("revision", visit.revision(organization.revision()));
    }
    let form = form
        .section(identity(visit, organization, &problems))
        .section(hosts(visit, id, organization, &problems))
        .section(languages(visit, organization, &problems))
        .section(people(visit, organization, &problems))
        .section(views(visit, organization, &problems))
        .section(files(visit, organization, &problems))
        .note(visit.say("settings-together"));
    let Some(id) = id else {
        let head = Head::new(visit.say("organization-new"))
            .crumb(visit.say("nav-start"), "/system")
            .crumb(visit.say("nav-organizations"), LIST)
            .lede(visit.say("organization-new-lede"));
        return visit.form_page(head, form.html(), problems).await;
    };
    let title = organization::name(visit, organization);
    let end = End { words, href: format!("{LIST}/{id}/delete"), name: title.clone() };
    let head = organization::settings_head(visit, id, &title, "settings");
    visit.form_page(head, Html::join([form.html(), render(&end)]), problems).await
}

#[derive(Template)]
#[template(path = "pages/organization_end.html")]
struct End<'a> {
    words: &'a Words,
    href: String,
    name: String,
}

/// The use-case, in a transaction.
pub(crate) fn admin<'a>(visit: &Visit, tx: &'a dyn Transaction) -> OrganizationAdmin<'a> {
    let single_label_hosts = visit.panel.settings.site.scheme == "http";
    OrganizationAdmin { store: tx.organizations(), queue: tx.queue(), single_label_hosts }
}

/// Saves the settings, or shows the form again.
pub(crate) async fn save(visit: &Visit, id: OrganizationId, now: &Organization) -> Result<Reply> {
    let (typed, mut problems) = read(visit, now.clone());
    let is_of_interface = visit.form.has("organization[features]");
    let host = visit.form.get("organization[host]").map(|host| host.trim().to_lowercase());
    if host.as_ref().is_some_and(String::is_empty) {
        problems.push(Problem::new("organization[host]", visit.say("problem-blank")));
    }
    if !problems.is_empty() {
        return show(visit, Some(id), &typed, problems).await;
    }
    let saved = visit
        .change(async |tx| {
            let before = tx.organizations().find_for_update(id).await?.ok_or(Error::NotFound)?;
            check_revision(Some(visit.seen()), &before.revision())?;
            let (mut after, _) = read(visit, before.clone());
            if let Some(host) = &host {
                after.unconfirmed_host = Some(host.clone()).filter(|host| *host != before.host);
            }
            let admin = admin(visit, tx);
            admin.check_entered(Some(id), &before.secondary_hosts, &after.secondary_hosts).await?;
            if admin.change(id, &before, after.clone(), visit.now).await? {
                let label = organization::name(visit, &after);
                let record = visit.record(Action::OrganizationUpdated).of(Some(id)).on(
                    "organization",
                    &id.to_string(),
                    &label,
                );
                let record = with_changes(record, changes(&before, &after));
                tx.audit().append(&record, visit.now).await?;
            }
            Ok(())
        })
        .await;
    match saved {
        Ok(()) => {
            let tab = if is_of_interface { "?tab=api" } else { "" };
            visit.redirect(format!("{LIST}/{id}/edit{tab}"), Notice::good(visit.say("settings-saved"))).await
        }
        Err(fault) => {
            let problems = error::problems(&visit.words, fault, field_of)?;
            if is_of_interface {
                return organization_api::show(visit, id, &typed, problems).await;
            }
            show(visit, Some(id), &typed, problems).await
        }
    }
}

/// The settings that differ, for the audit trail.
fn changes(before: &Organization, after: &Organization) -> Vec<(&'static str, String, String)> {
    let locales =
        |o: &Organization| o.available_locales.iter().map(|l| l.to_string()).collect::<Vec<_>>().join(", ");
    let mut list = vec![
        ("name", line(&before.name), line(&after.name)),
        ("description", line(&before.description), line(&after.description)),
        ("reference_prefix", before.reference_prefix.clone(), after.reference_prefix.clone()),
        (
            "pending host",
            before.unconfirmed_host.clone().unwrap_or_default(),
            after.unconfirmed_host.clone().unwrap_or_default(),
        ),
        ("secondary_hosts", before.secondary_hosts.join(", "), after.secondary_hosts.join(", ")),
        ("available_locales", locales(before), locales(after)),
        ("default_locale", before.default_locale.to_string(), after.default_locale.to_string()),
        ("time_zone", before.time_zone.clone(), after.time_zone.clone()),
        (
            "users_registration_mode",
            format!("{:?}", before.users_registration_mode),
            format!("{:?}", after.users_registration_mode),
        ),
        (
            "comments_max_length",
            before.comments_max_length.to_string(),
            after.comments_max_length.to_string(),
        ),
        (
            "max_attachment_bytes",
            before.max_attachment_bytes.to_string(),
            after.max_attachment_bytes.to_string(),
        ),
        (
            "external_domain_allowlist",
            before.external_domain_allowlist.join(", "),
            after.external_domain_allowlist.join(", "),
        ),
    ];
    let (mut old, mut new) = (before.clone(), after.clone());
    for (member, place) in PEOPLE.into_iter().chain(VIEWS) {
        list.push((member, place(&mut old).to_string(), place(&mut new).to_string()));
    }
    for (member, place) in organization_api::SWITCHES {
        list.push((member, place(&mut old.features).to_string(), place(&mut new.features).to_string()));
    }
    list
}
