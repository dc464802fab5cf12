//! The settings of an organization (contract 04 §3, 03 §1.3).

use super::organization::{self, LIST};
use super::organization_api;
use super::organization_sections::{
    MODES, NAME, PEOPLE, VIEWS, files, hosts, identity, languages, people, views,
};
use super::shared::{one_line, with_changes};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{Form, FormError, FormErrors, Head, Html, render};
use crate::records::{FormInput, FormView, Saved};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, check_revision};
use civitas_kernel::{Error, FieldError, Locale, Locales, OrganizationId, Result};
use civitas_organizations::{Organization, OrganizationAdmin};

/// The name of the field that an error of the use case is about.
pub(crate) fn field_of(field_error: &FieldError) -> String {
    match field_error.field.as_ref() {
        // `Name fr has already been taken` is about one language.
        member @ ("name" | "description") => {
            let locale = field_error.description.split(' ').nth(1).and_then(Locale::parse);
            let locale = locale.map(|locale| format!("[{locale}]")).unwrap_or_default();
            format!("{NAME}[{member}]{locale}")
        }
        member => format!("{NAME}[{member}]"),
    }
}

/// The organization with what was typed, and what cannot be read. What was not sent stays as it is.
pub(crate) fn read(req: &AdminRequest, mut organization: Organization) -> (Organization, FormErrors) {
    let (form, locales) = (&req.form, &req.panel.settings.site.locales);
    let mut input = FormInput::new(req, NAME, locales);
    input.texts("name", &mut organization.name);
    input.texts("description", &mut organization.description);
    input.line("reference_prefix", &mut organization.reference_prefix);
    input.line("time_zone", &mut organization.time_zone);
    if form.has_prefix("organization[secondary_hosts]") {
        organization.secondary_hosts = form.lines("organization[secondary_hosts]");
    }
    if form.has_prefix("organization[external_domain_allowlist]") {
        organization.external_domain_allowlist = form.lines("organization[external_domain_allowlist]");
    }
    if form.has_prefix("organization[available_locales]") {
        let offered = form.values("organization[available_locales][]");
        let is_offered = |locale: &Locale| offered.iter().any(|name| name == locale.as_str());
        organization.available_locales = locales.iter().filter(is_offered).collect::<Locales>();
    }
    let mut problems = Vec::new();
    if form.has_prefix("organization[default_locale]") {
        match locales.find(form.text("organization[default_locale]")) {
            Some(locale) => organization.default_locale = locale,
            None => {
                problems.push(FormError::new("organization[default_locale]", req.tr("problem-inclusion")));
            }
        }
    }
    if let Some((mode, _)) = input.choice("users_registration_mode", &MODES, |(_, name)| name) {
        organization.users_registration_mode = mode;
    }
    for (member, place) in PEOPLE.into_iter().chain(VIEWS) {
        input.flag(member, place(&mut organization));
    }
    input.number("comments_max_length", &mut organization.comments_max_length);
    input.number("max_attachment_bytes", &mut organization.max_attachment_bytes);
    organization_api::apply(req, &mut organization.features);
    problems.extend(input.into_problems());
    (organization, problems)
}

/// The form: `id` is `None` for a new organization.
pub(crate) async fn show(
    req: &AdminRequest,
    id: Option<OrganizationId>,
    organization: &Organization,
    problems: FormErrors,
) -> Result<Reply> {
    let translator = &req.translator;
    let (action, method, save) = match id {
        Some(id) => (format!("{LIST}/{id}"), "put", "settings-save"),
        None => (LIST.to_owned(), "", "organization-create"),
    };
    let cancel = id.map_or_else(|| LIST.to_owned(), |id| format!("{LIST}/{id}"));
    let mut form = Form::new(translator, action, req.token(), save).method(method).cancel(cancel);
    if id.is_some() {
        form = form.hidden("revision", req.revision(organization.revision()));
    }
    let locales = &req.panel.settings.site.locales;
    let (name, is_new) = (NAME, id.is_none());
    let view = FormView { req, organization, name, locales, problems: &problems, is_new };
    let form = form
        .section(identity(&view))
        .section(hosts(&view))
        .section(languages(&view))
        .section(people(&view))
        .section(views(&view))
        .section(files(&view))
        .note(req.tr("settings-together"));
    let Some(id) = id else {
        let head = Head::new(req.tr("organization-new"))
            .crumb(req.tr("nav-start"), "/system")
            .crumb(req.tr("nav-organizations"), LIST)
            .lede(req.tr("organization-new-lede"));
        return req.form_page(head, form.html(), problems).await;
    };
    let title = organization::name(req, organization);
    let end = End { translator, href: format!("{LIST}/{id}/delete"), name: title.clone() };
    let head = organization::settings_head(req, id, &title, "settings");
    req.form_page(head, Html::join([form.html(), render(&end)]), problems).await
}

#[derive(Template)]
#[template(path = "pages/organization_end.html")]
struct End<'a> {
    translator: &'a Translator,
    href: String,
    name: String,
}

/// The use case, in a transaction.
pub(crate) fn admin<'a>(req: &AdminRequest, tx: &'a dyn Transaction) -> OrganizationAdmin<'a> {
    let single_label_hosts = req.panel.settings.site.scheme == "http";
    OrganizationAdmin { store: tx.organizations(), queue: tx.queue(), single_label_hosts }
}

/// Saves the settings by the use case of organizations, or shows the form again. Fields are checked before the revision.
pub(crate) async fn save(req: &AdminRequest, id: OrganizationId, now: &Organization) -> Result<Reply> {
    let is_of_interface = req.form.has_prefix("organization[features]");
    let host = req.form.get("organization[host]").map(|host| host.trim().to_lowercase());
    let saved = req
        .change(async |tx| {
            let before = tx.organizations().find_for_update(id).await?.ok_or(Error::NotFound)?;
            let (mut after, mut problems) = read(req, before.clone());
            if host.as_ref().is_some_and(String::is_empty) {
                problems.push(FormError::new("organization[host]", req.tr("problem-blank")));
            }
            if !problems.is_empty() {
                return Ok(Saved::Refused(after, problems));
            }
            check_revision(Some(req.form_revision()), &before.revision())?;
            if let Some(host) = &host {
                after.unconfirmed_host = Some(host.clone()).filter(|host| *host != before.host);
            }
            let admin = admin(req, tx);
            admin.check_entered(Some(id), &before.secondary_hosts, &after.secondary_hosts).await?;
            if admin.change(id, &before, after.clone(), req.now).await? {
                let entry = req.audit_entry(Action::OrganizationUpdated).of(id);
                let entry = entry.on(NAME, &id.to_string(), &organization::name(req, &after));
                req.append_audit_entry(tx, &with_changes(entry, changes(&before, &after))).await?;
            }
            Ok(Saved::Stored(after))
        })
        .await;
    let (typed, problems) = match saved {
        Ok(Saved::Stored(_)) => {
            let tab = if is_of_interface { "?tab=api" } else { "" };
            return req.done("settings-saved", &[], format!("{LIST}/{id}/edit{tab}")).await;
        }
        Ok(Saved::Refused(typed, problems)) => (typed, problems),
        Err(error) => (read(req, now.clone()).0, error::form_errors(&req.translator, error, field_of)?),
    };
    if is_of_interface {
        organization_api::show(req, id, &typed, problems).await
    } else {
        show(req, Some(id), &typed, problems).await
    }
}

/// A setting, as text.
type Setting = (&'static str, fn(&Organization) -> String);

/// The settings for the audit trail, without those that are on or off.
const SETTINGS: [Setting; 12] = [
    ("name", |o| one_line(&o.name)),
    ("description", |o| one_line(&o.description)),
    ("reference_prefix", |o| o.reference_prefix.clone()),
    ("pending host", |o| o.unconfirmed_host.clone().unwrap_or_default()),
    ("secondary_hosts", |o| o.secondary_hosts.join(", ")),
    ("available_locales", |o| {
        o.available_locales.iter().map(|locale| locale.to_string()).collect::<Vec<_>>().join(", ")
    }),
    ("default_locale", |o| o.default_locale.to_string()),
    ("time_zone", |o| o.time_zone.clone()),
    ("users_registration_mode", |o| format!("{:?}", o.users_registration_mode)),
    ("comments_max_length", |o| o.comments_max_length.to_string()),
    ("max_attachment_bytes", |o| o.max_attachment_bytes.to_string()),
    ("external_domain_allowlist", |o| o.external_domain_allowlist.join(", ")),
];

/// The settings with both values, for the audit trail.
fn changes(before: &Organization, after: &Organization) -> Vec<(&'static str, String, String)> {
    let mut list: Vec<_> =
        SETTINGS.iter().map(|(member, text)| (*member, text(before), text(after))).collect();
    let (mut old, mut new) = (before.clone(), after.clone());
    for (member, place) in PEOPLE.into_iter().chain(VIEWS) {
        list.push((member, place(&mut old).to_string(), place(&mut new).to_string()));
    }
    for (member, place) in organization_api::SWITCHES {
        list.push((member, place(&mut old.features).to_string(), place(&mut new.features).to_string()));
    }
    list
}
