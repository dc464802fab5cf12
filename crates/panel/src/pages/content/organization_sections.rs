//! The sections of the form of an organization (contract 04 §3, 03 §1.3).

use crate::admin_request::AdminRequest;
use crate::parts::{Choice, ChoiceGroup, Field, Html, Section, language_name, render};
use crate::records::{FormView, TextField};
use crate::translator::Translator;
use askama::Template;
use civitas_organizations::{Organization, RegistrationMode, TIME_ZONES};

/// The settings that are on or off, with their members of the organization.
pub(super) type Switch = (&'static str, fn(&mut Organization) -> &mut bool);
pub(super) const PEOPLE_SWITCHES: [Switch; 4] = [
    ("force_users_to_authenticate_before_access_organization", |o| {
        &mut o.force_users_to_authenticate_before_access_organization
    }),
    ("send_welcome_notification", |o| &mut o.send_welcome_notification),
    ("badges_enabled", |o| &mut o.badges_enabled),
    ("user_groups_enabled", |o| &mut o.user_groups_enabled),
];
pub(super) const VIEW_SWITCHES: [Switch; 2] = [
    ("rich_text_editor_in_public_views", |o| &mut o.rich_text_editor_in_public_views),
    ("enable_participatory_space_filters", |o| &mut o.enable_participatory_space_filters),
];
pub(super) const REGISTRATION_MODES: [(RegistrationMode, &str); 3] = [
    (RegistrationMode::Enabled, "enabled"),
    (RegistrationMode::Existing, "existing"),
    (RegistrationMode::Disabled, "disabled"),
];

/// The name of the form.
pub(super) const NAME: &str = "organization";

pub(super) fn identity(view: &FormView<'_>) -> Section {
    let (req, organization) = (view.req, view.organization);
    let texts = view.texts(
        "identity-texts",
        &[
            TextField::line("name", "column-name", &organization.name),
            TextField::html("description", "description", &organization.description, 4),
        ],
    );
    let prefix = view
        .line("reference_prefix", "organization-prefix", &organization.reference_prefix)
        .hint(req.tr("organization-prefix-hint"))
        .class("short")
        .required();
    view.section("identity", "organization-identity")
        .hint(req.tr("organization-identity-hint"))
        .field(texts)
        .field(view.html(prefix))
}

#[derive(Template)]
#[template(path = "pages/dns.html")]
struct Dns<'a> {
    translator: &'a Translator,
    /// The title; empty without a pending host.
    pending: String,
    records: Vec<String>,
}

/// The DNS records a host needs, one line for each address.
fn records(req: &AdminRequest, host: &str) -> Vec<String> {
    let record = |address: &std::net::IpAddr| {
        format!("{host} {} {address}", if address.is_ipv4() { "A" } else { "AAAA" })
    };
    req.panel.settings.loadbalancer_ips.iter().map(record).collect()
}

pub(super) fn hosts(view: &FormView<'_>) -> Section {
    let (req, organization) = (view.req, view.organization);
    let pending = organization.unconfirmed_host.as_deref();
    let typed = req.form.get("organization[host]");
    let hint = if view.is_new {
        req.tr("organization-host-new-hint")
    } else {
        req.tr_with("organization-host-hint", "host", organization.host.as_str())
    };
    let host = view
        .line("host", "organization-host", typed.or(pending).unwrap_or(&organization.host))
        .hint(hint)
        .class("mono")
        .required();
    let dns = Dns {
        translator: &req.translator,
        pending: pending.map_or_else(String::new, |host| {
            req.tr_args(
                "organization-host-waiting",
                &[("new", host.into()), ("now", organization.host.as_str().into())],
            )
        }),
        records: records(
            req,
            pending.unwrap_or(if organization.host.is_empty() { "host" } else { &organization.host }),
        ),
    };
    let mut secondary_hint = req.tr("organization-secondary-hint");
    if !organization.unconfirmed_secondary_hosts.is_empty() {
        let hosts = organization.unconfirmed_secondary_hosts.join(", ");
        let waiting = req.tr_with("organization-secondary-waiting", "hosts", hosts);
        secondary_hint = format!("{secondary_hint} {waiting}");
    }
    let lines = organization.secondary_hosts.as_slice();
    view.section("hosts", "organization-hosts")
        .hint(req.tr("organization-hosts-hint"))
        .field(view.html(host))
        .field(render(&dns))
        .field(hosts_area(view, "secondary_hosts", "organization-secondary", lines, secondary_hint))
}

/// A field for hosts, one in a line.
fn hosts_area(view: &FormView<'_>, field: &str, label: &str, lines: &[String], hint: String) -> Html {
    let area = Field::area(&format!("{NAME}[{field}]"), view.req.tr(label), lines.join("\n"), 3);
    view.html(area.hint(hint).class("mono").optional())
}

pub(super) fn languages(view: &FormView<'_>) -> Section {
    let (req, organization) = (view.req, view.organization);
    let choices: Vec<Choice> = view
        .locales
        .iter()
        .map(|locale| Choice::new(locale.as_str(), language_name(&req.translator, locale)))
        .collect();
    let chosen = organization.available_locales.iter().map(|locale| locale.to_string()).collect();
    let zones = TIME_ZONES.iter().map(|zone| Choice::new(*zone, *zone)).collect();
    let (offered, main) = (req.tr("organization-languages"), organization.default_locale);
    let offered =
        ChoiceGroup::checkboxes("organization[available_locales][]", offered, choices.clone(), chosen);
    let main = view
        .select("default_locale", "organization-main-language", main.as_str(), choices)
        .hint(req.tr("organization-main-language-hint"))
        .class("medium");
    let zone = view.select("time_zone", "organization-time-zone", &organization.time_zone, zones);
    view.section("languages", "organization-languages-and-time")
        .field(offered.check(view.problems).html(&req.translator))
        .field(view.html(main))
        .field(view.html(zone.class("medium")))
}

fn switches(view: &FormView<'_>, list: &[Switch]) -> Html {
    let mut organization = view.organization.clone();
    Html::join(list.iter().map(|(member, value_of)| {
        let label = format!("setting-{}", member.replace('_', "-"));
        view.flag(member, &label, *value_of(&mut organization)).html()
    }))
}

pub(super) fn people(view: &FormView<'_>) -> Section {
    let (req, current) = (view.req, view.organization.users_registration_mode);
    let choices = REGISTRATION_MODES.map(|(_, name)| {
        let key = format!("registration-mode-{name}");
        Choice::new(name, req.tr(&key)).hint(req.tr(&format!("{key}-hint")))
    });
    let chosen = REGISTRATION_MODES.iter().find(|(mode, _)| *mode == current).map_or("", |(_, name)| name);
    let mode = view.choice("users_registration_mode", "organization-registration", chosen, choices.to_vec());
    view.section("people", "column-people")
        .hint(req.tr("organization-people-hint"))
        .field(mode)
        .field(switches(view, &PEOPLE_SWITCHES))
}

pub(super) fn views(view: &FormView<'_>) -> Section {
    let (req, organization) = (view.req, view.organization);
    let label = "setting-enable-machine-translations";
    let mut machine = view
        .flag("enable_machine_translations", label, organization.enable_machine_translations)
        .hint(req.tr("setting-enable-machine-translations-hint"));
    machine.is_disabled = true;
    let length =
        view.number("comments_max_length", "organization-comments", organization.comments_max_length);
    view.section("texts-and-views", "organization-views")
        .field(view.html(length.hint(req.tr("organization-comments-hint"))))
        .field(switches(view, &VIEW_SWITCHES))
        .field(machine.html())
}

pub(super) fn files(view: &FormView<'_>) -> Section {
    let (req, organization) = (view.req, view.organization);
    let bytes = view
        .number("max_attachment_bytes", "organization-largest-file", organization.max_attachment_bytes)
        .hint(req.tr("organization-largest-file-hint"))
        .class("medium");
    let (hosts, hint) =
        (organization.external_domain_allowlist.as_slice(), req.tr("organization-allowlist-hint"));
    view.section("files", "organization-files").field(view.html(bytes)).field(hosts_area(
        view,
        "external_domain_allowlist",
        "organization-allowlist",
        hosts,
        hint,
    ))
}
