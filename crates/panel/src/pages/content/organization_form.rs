//! The settings of an organization (contract 04 §3, 03 §1.3). They are not saved by [`crate::records::save()`]: an
//! organization belongs to no organization, and its store is no [`Records`](civitas_kernel::records::Records).

use super::organization::{self, LIST};
use super::organization_api;
use super::organization_sections::{
    NAME, PEOPLE_SWITCHES, REGISTRATION_MODES, VIEW_SWITCHES, files, hosts, identity, languages, people,
    views,
};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{FormError, FormErrors, Head, Html, Section, deletion_link};
use crate::records::{FormInput, FormView, with_changes};
use crate::reply::Reply;
use crate::translated::audit_text;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, check_revision};
use civitas_kernel::{Error, FieldError, Locale, Locales, OrganizationId, Result};
use civitas_organizations::{Organization, OrganizationAdministration};

/// The name of the field that an error of the use case is about.
pub(crate) fn field_name(field_error: &FieldError) -> String {
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
pub(crate) fn read_form(req: &AdminRequest, mut organization: Organization) -> (Organization, FormErrors) {
    let (form, locales) = (&req.form, &req.panel.settings.site.locales);
    let mut input = FormInput::new(req, NAME, locales);
    input.read_texts("name", &mut organization.name);
    input.read_texts("description", &mut organization.description);
    input.read_line("reference_prefix", &mut organization.reference_prefix);
    input.read_line("time_zone", &mut organization.time_zone);
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
    if let Some((mode, _)) =
        input.read_choice("users_registration_mode", &REGISTRATION_MODES, |(_, name)| name)
    {
        organization.users_registration_mode = mode;
    }
    for (member, value_of) in PEOPLE_SWITCHES.into_iter().chain(VIEW_SWITCHES) {
        input.read_flag(member, value_of(&mut organization));
    }
    input.read_number("comments_max_length", &mut organization.comments_max_length);
    input.read_number("max_attachment_bytes", &mut organization.max_attachment_bytes);
    organization_api::read_features(req, &mut organization.features);
    problems.extend(input.into_problems());
    (organization, problems)
}

/// The sections of the form.
fn sections(
    req: &AdminRequest,
    organization: &Organization,
    problems: &[FormError],
    is_new: bool,
) -> [Section; 6] {
    let locales = &req.panel.settings.site.locales;
    let view = FormView { req, organization, name: NAME, locales, problems, is_new };
    [identity(&view), hosts(&view), languages(&view), people(&view), views(&view), files(&view)]
}

pub(crate) async fn new_page(
    req: &AdminRequest,
    organization: &Organization,
    problems: FormErrors,
) -> Result<Reply> {
    let form = req
        .build_form(LIST, "organization-create")
        .sections(sections(req, organization, &problems, true))
        .cancel(LIST)
        .note(req.tr("settings-together"));
    let head = Head::new(req.tr("organization-new"))
        .crumb(req.tr("nav-start"), "/system")
        .crumb(req.tr("nav-organizations"), LIST)
        .lede(req.tr("organization-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn edit_page(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    problems: FormErrors,
) -> Result<Reply> {
    let path = format!("{LIST}/{id}");
    let form = req
        .build_form(&path, "settings-save")
        .put(req.revision(organization.revision()))
        .sections(sections(req, organization, &problems, false))
        .cancel(&path)
        .note(req.tr("settings-together"));
    let title = organization::name(req, organization);
    let head = organization::settings_tab_head(req, id, &title, "settings");
    let link =
        deletion_link(&req.translator, req.tr("organization-delete-lede"), format!("{path}/delete"), title);
    req.form_page(head, Html::join([form.html(), link]), problems).await
}

/// The use case, in a transaction.
pub(crate) fn admin<'a>(req: &AdminRequest, tx: &'a dyn Transaction) -> OrganizationAdministration<'a> {
    let single_label_hosts = req.panel.settings.site.scheme == "http";
    OrganizationAdministration { store: tx.organizations(), queue: tx.queue(), single_label_hosts }
}

/// Changes the settings, or the switches of the tab REST API. The revision is compared after the fields that cannot be read.
pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let (id, current) = organization::find_from_path(req).await?;
    let is_api_tab = req.form.has_prefix("organization[features]");
    let host = req.form.get("organization[host]").map(|host| host.trim().to_lowercase());
    let saved = req.change_with_audit(
        async |tx| {
            let before = tx.organizations().find_for_update(id).await?.ok_or(Error::NotFound)?;
            let (mut after, mut problems) = read_form(req, before.clone());
            if host.as_ref().is_some_and(String::is_empty) {
                problems.push(FormError::new("organization[host]", req.tr("problem-blank")));
            }
            if !problems.is_empty() {
                return Ok(Err((after, problems)));
            }
            check_revision(Some(req.form_revision()), &before.revision())?;
            if let Some(host) = &host {
                after.unconfirmed_host = Some(host.clone()).filter(|host| *host != before.host);
            }
            let admin = admin(req, tx);
            admin.check_entered(Some(id), &before.secondary_hosts, &after.secondary_hosts).await?;
            let has_changed = admin.change(id, &before, after.clone(), req.now).await?;
            Ok(Ok(has_changed.then_some((before, after))))
        },
        |outcome| {
            let (before, after) = outcome.as_ref().ok()?.as_ref()?;
            let entry = req.audit_entry(Action::OrganizationUpdated).in_organization(id);
            let entry = entry.with_object(NAME, &id.to_string(), &organization::name(req, after));
            Some(with_changes(entry, changes(before, after)))
        },
    );
    let (typed, problems) = match saved.await {
        Ok(Ok(_)) => {
            let tab = if is_api_tab { "?tab=api" } else { "" };
            return req.redirect_done("settings-saved", &[], format!("{LIST}/{id}/edit{tab}")).await;
        }
        Ok(Err(refused)) => refused,
        Err(error) => (read_form(req, current).0, error::form_errors(&req.translator, error, field_name)?),
    };
    if is_api_tab {
        organization_api::edit_page(req, id, &typed, problems).await
    } else {
        edit_page(req, id, &typed, problems).await
    }
}

/// A setting, as text.
type Setting = (&'static str, fn(&Organization) -> String);

/// The settings for the audit trail, without those that are on or off.
const SETTINGS: [Setting; 12] = [
    ("name", |o| audit_text(&o.name)),
    ("description", |o| audit_text(&o.description)),
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
    for (member, value_of) in PEOPLE_SWITCHES.into_iter().chain(VIEW_SWITCHES) {
        list.push((member, value_of(&mut old).to_string(), value_of(&mut new).to_string()));
    }
    for (member, value_of) in organization_api::SWITCHES {
        list.push((member, value_of(&mut old.features).to_string(), value_of(&mut new.features).to_string()));
    }
    list
}
