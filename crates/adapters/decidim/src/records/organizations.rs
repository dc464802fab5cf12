//! `system_admin` and `organization` (sheet 13 §5.1, §5.2).

use super::users::password_hash;
use super::{ExtractionRun, Result, Row, data, each_row, select_data, write_row_record};
use crate::row::integer;
use crate::run::{MappedOrganization, Record, RowOutcome};
use crate::settings::boolean;
use crate::time_zones;
use crate::version::Version;
use civitas_accounts::normal_email;
use civitas_kernel::limits::MAX_LIST_ITEMS;
use civitas_organizations::is_host;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const FEATURES: &str = "enabled proposals_enabled blogs_enabled debates_enabled surveys_enabled forms_enabled \
     meetings_enabled attachments_enabled budgets_enabled accountabilities_enabled";

/// Hosts and names that organizations of this source have.
#[derive(Default)]
struct TakenNames {
    hosts: BTreeSet<String>,
    names: BTreeMap<String, String>,
}

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    // Those of the deployment come only with the whole of it.
    if run.options.organizations.is_empty() {
        let (statement, mut emails) = ("SELECT * FROM decidim_system_admins ORDER BY id", BTreeSet::new());
        each_row(run, "decidim_system_admins", statement, |run, row| system_admin(run, row, &mut emails))
            .await?;
    }
    let statement = format!(
        "SELECT t.*, {} AS data, (SELECT m.config FROM decidim_toggle_organization_module_configs m \
         WHERE m.decidim_organization_id = t.id AND m.module_name = 'decidim_restfull' ORDER BY m.id DESC LIMIT 1) \
         AS features FROM decidim_organizations t ORDER BY t.id",
        select_data("Decidim::Organization")
    );
    let mut taken = TakenNames::default();
    each_row(run, "decidim_organizations", &statement, |run, row| organization(run, row, &mut taken)).await?;
    for host in &run.options.organizations {
        if !run.organizations.values().any(|facts| facts.host == *host) {
            run.codes.add_stop("S-HOST", &format!("no organization has the host {host:?}"));
        }
    }
    Ok(())
}

fn system_admin(run: &mut ExtractionRun<'_>, row: &Row, emails: &mut BTreeSet<String>) -> Result {
    run.counts(None, "system_admin").source += 1;
    let email = normal_email(row.str("email"));
    if !emails.insert(email.clone()) {
        return run.drop_to_residue("system_admin", row, None, "W-EMAIL");
    }
    let members = json!({ "email": email, "password_hash": password_hash(run, row, None)? });
    let (kind, reference, id) = ("system_admin", row.id().to_string(), Some(row.id()));
    run.write_record(Record { kind, reference, id, organization: None, members })
}

fn organization(run: &mut ExtractionRun<'_>, row: &Row, taken: &mut TakenNames) -> Result {
    let (id, host) = (row.id(), row.str("host").trim().to_lowercase());
    if !run.options.organizations.is_empty() && !run.options.organizations.contains(&host) {
        run.set_outcome("organization", id, RowOutcome::NotSelected);
        return Ok(());
    }
    run.counts(Some(id), "organization").source += 1;
    let facts = MappedOrganization {
        host: host.clone(),
        default_locale: default_locale(run, row, &host),
        time_zone: time_zone(run, row, &host),
        comments_max_length: row.int("comments_max_length").filter(|length| *length > 0).unwrap_or(1000),
    };
    run.organizations.insert(id, facts.clone());
    let secondary_hosts = secondary_hosts(run, row, &host, taken)?;
    let mut locales: Vec<String> = Vec::new();
    for locale in row.list("available_locales").chain([row.str("default_locale")]) {
        locales.extend(run.languages(id).locale(locale).filter(|locale| !locales.contains(locale)));
    }
    let name = with_default(run.name(row, "name", id), &facts.default_locale);
    check_name(run, &name, &host, taken);
    let description = with_default(run.content(row, "description", id), &facts.default_locale);
    let mut data = data(run, row, "data");
    let unconfirmed_host = data.as_object_mut().and_then(|data| data.remove("unconfirmed_host"));
    let is_host = |host: &Value| host.as_str().is_some_and(|host| is_host(host, false));
    if row.flag("enable_machine_translations") {
        run.codes.count_loss("W-TRANSLATION", row.table, id);
    }
    let is_older = run.source.version < Version::V32;
    let mode = row.int("users_registration_mode").unwrap_or_default();
    let members = json!({
        "host": host,
        "name": name,
        "description": description,
        "secondary_hosts": secondary_hosts,
        "unconfirmed_host": unconfirmed_host.filter(|other| is_host(other) && *other != host),
        "available_locales": locales,
        "default_locale": facts.default_locale,
        "reference_prefix": row.filled("reference_prefix").unwrap_or("-"),
        "time_zone": facts.time_zone,
        "comments_max_length": facts.comments_max_length,
        "users_registration_mode": match mode { 0 => "enabled", 1 => "existing", _ => "disabled" },
        "enable_participatory_space_filters": is_older && row.flag("enable_participatory_space_filters"),
        "user_groups_enabled": is_older && row.flag("user_groups_enabled"),
        "external_domain_allowlist": allowlist(run, row),
        "max_attachment_bytes": max_attachment_bytes(row),
        "features": features(row.get("features")),
        "extended_data": data,
    });
    write_row_record(run, "organization", row, id, members)
}

/// The hosts that texts may link to; what is no host is left out, and more than an organization can have: W-SETTING.
fn allowlist<'r>(run: &mut ExtractionRun<'_>, row: &'r Row) -> Vec<&'r str> {
    let (mut hosts, mut lost): (Vec<_>, Vec<_>) =
        row.list("external_domain_allowlist").partition(|host| is_host(host, true));
    lost.extend(hosts.drain(hosts.len().min(MAX_LIST_ITEMS)..));
    if !lost.is_empty() {
        let lost = json!({ "external_domain_allowlist": lost });
        run.codes.count_loss_with_example("W-SETTING", row.table, row.id(), &lost, &Value::Null);
    }
    hosts
}

/// S-LOCALE unless the default locale is one of the deployment, after mapping.
fn default_locale(run: &mut ExtractionRun<'_>, row: &Row, host: &str) -> String {
    let locale = row.str("default_locale");
    if let Some(locale) = run.languages(row.id()).locale(locale) {
        return locale;
    }
    let text = format!(
        "organization {host:?}: default locale {locale:?} is not offered (use --locale-map {locale}=...)"
    );
    run.codes.add_stop("S-LOCALE", &text);
    run.options.locales.iter().next().map_or_else(|| "en".to_owned(), |locale| locale.as_str().to_owned())
}

fn time_zone(run: &mut ExtractionRun<'_>, row: &Row, host: &str) -> String {
    let zone = row.filled("time_zone").unwrap_or("UTC");
    let mapped = run.options.time_zone_map.get(zone).map_or(zone, String::as_str);
    if let Some(zone) = time_zones::resolve(mapped) {
        return zone.to_owned();
    }
    let text =
        format!("organization {host:?}: time zone {zone:?} is not offered (use --time-zone-map {zone}=...)");
    run.codes.add_stop("S-TIMEZONE", &text);
    "UTC".to_owned()
}

/// The other hosts. S-HOST if one of all hosts is no name of a host, or of another organization too.
fn secondary_hosts(
    run: &mut ExtractionRun<'_>,
    row: &Row,
    host: &str,
    taken: &mut TakenNames,
) -> Result<Vec<String>> {
    let mut hosts = vec![host.to_owned()];
    for secondary in row.list("secondary_hosts") {
        let secondary = secondary.trim().to_lowercase();
        let is_local = secondary == "localhost" || secondary.parse::<std::net::IpAddr>().is_ok();
        if is_local && secondary != host {
            run.write_loss(row, Some(row.id()), "W-HOST")?;
        } else if !secondary.is_empty() && !hosts.contains(&secondary) {
            hosts.push(secondary);
        }
    }
    for claimed in &hosts {
        if !is_host(claimed, run.options.single_label_hosts) {
            run.codes.add_stop("S-HOST", &format!("organization {host:?}: {claimed:?} is no name of a host"));
        }
        if !taken.hosts.insert(claimed.clone()) {
            run.codes.add_stop("S-HOST", &format!("two organizations have the host {claimed:?}"));
        }
    }
    Ok(hosts.split_off(1))
}

/// An organization must have its name, and its description if it has one, in its default locale: the first text is used.
fn with_default(mut text: Value, default_locale: &str) -> Value {
    if let Some(texts) = text.as_object_mut()
        && let Some(first) = texts.values().next().cloned()
    {
        texts.entry(default_locale).or_insert(first);
    }
    text
}

fn check_name(run: &mut ExtractionRun<'_>, name: &Value, host: &str, taken: &mut TakenNames) {
    for text in name.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_str) {
        let other = taken.names.entry(text.to_owned()).or_insert_with(|| host.to_owned());
        if other != host {
            run.codes.add_stop("S-NAME", &format!("organizations {other:?} and {host:?} have the same name"));
        }
    }
}

fn max_attachment_bytes(row: &Row) -> Option<i64> {
    let size = row.get("file_upload_settings").pointer("/maximum_file_size/default")?;
    let megabytes = integer(size).or_else(|| format!("{:.0}", size.as_f64()?.ceil()).parse().ok());
    megabytes.and_then(|size| size.checked_mul(1_048_576)).filter(|bytes| *bytes > 0)
}

fn features(config: &Value) -> Value {
    let feature = |name: &str| Some((name.to_owned(), boolean(config.get(name)?)?.into()));
    FEATURES.split(' ').filter_map(feature).collect::<Map<_, _>>().into()
}
