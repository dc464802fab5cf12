//! The sections of the form of an organization (contract 04 §3, 03 §1.3).

use crate::parts::{Choice, Field, Group, Html, Problem, Section, Texts, Tick, language_name, render};
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::OrganizationId;
use civitas_organizations::{Organization, RegistrationMode, TIME_ZONES};

/// The settings that are on or off, with their places.
pub(super) type Switch = (&'static str, fn(&mut Organization) -> &mut bool);
pub(super) const PEOPLE: [Switch; 4] = [
    ("force_users_to_authenticate_before_access_organization", |o| {
        &mut o.force_users_to_authenticate_before_access_organization
    }),
    ("send_welcome_notification", |o| &mut o.send_welcome_notification),
    ("badges_enabled", |o| &mut o.badges_enabled),
    ("user_groups_enabled", |o| &mut o.user_groups_enabled),
];
pub(super) const VIEWS: [Switch; 2] = [
    ("rich_text_editor_in_public_views", |o| &mut o.rich_text_editor_in_public_views),
    ("enable_participatory_space_filters", |o| &mut o.enable_participatory_space_filters),
];
pub(super) const MODES: [(RegistrationMode, &str); 3] = [
    (RegistrationMode::Enabled, "enabled"),
    (RegistrationMode::Existing, "existing"),
    (RegistrationMode::Disabled, "disabled"),
];

/// The name of the field of a member of the contract.
pub(super) fn name_of(member: &str) -> String {
    format!("organization[{member}]")
}

pub(super) fn identity(visit: &Visit, organization: &Organization, problems: &[Problem]) -> Section {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let texts = Texts::new("identity-texts", visit.say("texts"), locales, organization.default_locale)
        .text("organization[name]", visit.say("column-name"), "", &organization.name, 1)
        .text(
            "organization[description]",
            visit.say("description"),
            visit.say("html-hint"),
            &organization.description,
            4,
        );
    let prefix = name_of("reference_prefix");
    Section::new("identity", visit.say("organization-identity"))
        .hint(visit.say("organization-identity-hint"))
        .field(texts.html(words, problems))
        .field(
            Field::text(&prefix, visit.say("organization-prefix"), &organization.reference_prefix)
                .hint(visit.say("organization-prefix-hint"))
                .class("short")
                .required()
                .check(problems)
                .html(words),
        )
}

#[derive(Template)]
#[template(path = "pages/dns.html")]
struct Dns<'a> {
    words: &'a Words,
    /// The title; empty without a pending host.
    pending: String,
    records: Vec<String>,
}

/// The DNS records a host needs, one line for each address.
fn records(visit: &Visit, host: &str) -> Vec<String> {
    let record = |address: &std::net::IpAddr| {
        format!("{host} {} {address}", if address.is_ipv4() { "A" } else { "AAAA" })
    };
    visit.panel.settings.loadbalancer_ips.iter().map(record).collect()
}

pub(super) fn hosts(
    visit: &Visit,
    id: Option<OrganizationId>,
    organization: &Organization,
    problems: &[Problem],
) -> Section {
    let words = &visit.words;
    let pending = organization.unconfirmed_host.as_deref();
    let typed = visit.form.get("organization[host]").map(str::to_owned);
    let shown = typed.unwrap_or_else(|| pending.unwrap_or(&organization.host).to_owned());
    let hint = match id {
        Some(_) => visit.tell("organization-host-hint", &[("host", organization.host.as_str().into())]),
        None => visit.say("organization-host-new-hint"),
    };
    let dns = Dns {
        words,
        pending: pending.map_or_else(String::new, |host| {
            visit.tell(
                "organization-host-waiting",
                &[("new", host.into()), ("now", organization.host.as_str().into())],
            )
        }),
        records: records(
            visit,
            pending.unwrap_or(if organization.host.is_empty() { "host" } else { &organization.host }),
        ),
    };
    let mut secondary_hint = visit.say("organization-secondary-hint");
    if !organization.unconfirmed_secondary_hosts.is_empty() {
        let hosts = organization.unconfirmed_secondary_hosts.join(", ");
        let waiting = visit.tell("organization-secondary-waiting", &[("hosts", hosts.into())]);
        secondary_hint = format!("{secondary_hint} {waiting}");
    }
    Section::new("hosts", visit.say("organization-hosts"))
        .hint(visit.say("organization-hosts-hint"))
        .field(
            Field::text("organization[host]", visit.say("organization-host"), shown)
                .hint(hint)
                .class("mono")
                .required()
                .check(problems)
                .html(words),
        )
        .field(render(&dns))
        .field(
            Field::area(
                "organization[secondary_hosts]",
                visit.say("organization-secondary"),
                organization.secondary_hosts.join("\n"),
                3,
            )
            .hint(secondary_hint)
            .class("mono")
            .optional()
            .check(problems)
            .html(words),
        )
}

pub(super) fn languages(visit: &Visit, organization: &Organization, problems: &[Problem]) -> Section {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let choices: Vec<Choice> =
        locales.iter().map(|locale| Choice::new(locale.as_str(), language_name(words, locale))).collect();
    let chosen = organization.available_locales.iter().map(|locale| locale.to_string()).collect();
    let zones = TIME_ZONES.iter().map(|zone| Choice::new(*zone, *zone)).collect();
    Section::new("languages", visit.say("organization-languages-and-time"))
        .field(
            Group::ticks(
                "organization[available_locales][]",
                visit.say("organization-languages"),
                choices.clone(),
                chosen,
            )
            .check(problems)
            .html(words),
        )
        .field(
            Field::select(
                &name_of("default_locale"),
                visit.say("organization-main-language"),
                organization.default_locale.as_str(),
                choices,
            )
            .hint(visit.say("organization-main-language-hint"))
            .class("medium")
            .check(problems)
            .html(words),
        )
        .field(
            Field::select(
                &name_of("time_zone"),
                visit.say("organization-time-zone"),
                &organization.time_zone,
                zones,
            )
            .class("medium")
            .check(problems)
            .html(words),
        )
}

fn switches(visit: &Visit, organization: &Organization, list: &[Switch]) -> Html {
    let mut organization = organization.clone();
    Html::join(list.iter().map(|(member, place)| {
        let label = visit.say(&format!("setting-{}", member.replace('_', "-")));
        Tick::new(&name_of(member), label, *place(&mut organization)).html()
    }))
}

pub(super) fn people(visit: &Visit, organization: &Organization, problems: &[Problem]) -> Section {
    let choice = |(_, name): &(RegistrationMode, &str)| {
        Choice::new(*name, visit.say(&format!("registration-mode-{name}")))
            .hint(visit.say(&format!("registration-mode-{name}-hint")))
    };
    let chosen = MODES
        .iter()
        .find(|(mode, _)| *mode == organization.users_registration_mode)
        .map_or("", |(_, name)| name);
    Section::new("people", visit.say("column-people"))
        .hint(visit.say("organization-people-hint"))
        .field(
            Group::radios(
                &name_of("users_registration_mode"),
                visit.say("organization-registration"),
                MODES.iter().map(choice).collect(),
                chosen,
            )
            .check(problems)
            .html(&visit.words),
        )
        .field(switches(visit, organization, &PEOPLE))
}

pub(super) fn views(visit: &Visit, organization: &Organization, problems: &[Problem]) -> Section {
    let mut machine = Tick::new(
        &name_of("enable_machine_translations"),
        visit.say("setting-enable-machine-translations"),
        organization.enable_machine_translations,
    )
    .hint(visit.say("setting-enable-machine-translations-hint"));
    machine.is_disabled = true;
    let typed = visit.form.get("organization[comments_max_length]").map(str::to_owned);
    let length = typed.unwrap_or_else(|| organization.comments_max_length.to_string());
    Section::new("texts-and-views", visit.say("organization-views"))
        .field(
            Field::number(&name_of("comments_max_length"), visit.say("organization-comments"), length)
                .hint(visit.say("organization-comments-hint"))
                .check(problems)
                .html(&visit.words),
        )
        .field(switches(visit, organization, &VIEWS))
        .field(machine.html())
}

pub(super) fn files(visit: &Visit, organization: &Organization, problems: &[Problem]) -> Section {
    let typed = visit.form.get("organization[max_attachment_bytes]").map(str::to_owned);
    let bytes = typed.unwrap_or_else(|| organization.max_attachment_bytes.to_string());
    Section::new("files", visit.say("organization-files"))
        .field(
            Field::number(&name_of("max_attachment_bytes"), visit.say("organization-largest-file"), bytes)
                .hint(visit.say("organization-largest-file-hint"))
                .class("medium")
                .check(problems)
                .html(&visit.words),
        )
        .field(
            Field::area(
                &name_of("external_domain_allowlist"),
                visit.say("organization-allowlist"),
                organization.external_domain_allowlist.join("\n"),
                3,
            )
            .hint(visit.say("organization-allowlist-hint"))
            .class("mono")
            .optional()
            .check(problems)
            .html(&visit.words),
        )
}
