//! The rules of the settings of an organization (contract 03 §1.3), except uniqueness, which the store checks.

use crate::{Organization, RegistrationMode, TIME_ZONES, is_host};
use civitas_kernel::limits::{
    MAX_LINE_CHARS, MAX_LIST_ITEMS, MAX_PROSE_CHARS, too_long, translations_too_long,
};
use civitas_kernel::{Error, FieldError, Result, Wording};
use std::collections::HashSet;

impl Organization {
    /// Normalizes settings: hosts are trimmed, in lower case and without duplicates; signing in is not required if
    /// registration is disabled.
    pub fn normalize(&mut self) {
        self.host = normalize_host(&self.host);
        self.unconfirmed_host = self.unconfirmed_host.take().map(|host| normalize_host(&host));
        self.secondary_hosts = normalize_hosts(&self.secondary_hosts);
        let unconfirmed = normalize_hosts(&self.unconfirmed_secondary_hosts);
        self.unconfirmed_secondary_hosts =
            self.secondary_hosts.iter().filter(|host| unconfirmed.contains(host)).cloned().collect();
        self.external_domain_allowlist = normalize_hosts(&self.external_domain_allowlist);
        if self.users_registration_mode == RegistrationMode::Disabled {
            self.force_users_to_authenticate_before_access_organization = false;
        }
    }

    /// Checks the settings. `single_label_hosts` as in [`is_host`].
    ///
    /// # Errors
    /// `Invalid` with each invalid setting, in the order of the contract.
    pub fn check(&self, single_label_hosts: bool) -> Result<()> {
        let mut faults = self.faults_of_texts();
        faults.extend(self.faults_of_hosts(single_label_hosts));
        let mut demand = |holds: bool, field, code, description: &str| {
            if !holds {
                faults.push(FieldError::new(field, code, description));
            }
        };
        let locales = &self.available_locales;
        demand(!locales.is_empty(), "available_locales", "blank", "Available locales cannot be blank");
        demand(
            locales.is_empty() || locales.has(self.default_locale),
            "default_locale",
            "inclusion",
            "Default locale is not one of the available locales",
        );
        demand(
            !self.enable_machine_translations,
            "enable_machine_translations",
            "invalid",
            "Enable machine translations needs machine translation to be configured",
        );
        demand(
            TIME_ZONES.contains(&self.time_zone.as_str()),
            "time_zone",
            "inclusion",
            "Time zone is not included in the list",
        );
        let length = "Comments max length must be greater than 0";
        demand(self.comments_max_length > 0, "comments_max_length", "greater_than", length);
        let bytes = "Max attachment bytes must be greater than 0";
        demand(self.max_attachment_bytes > 0, "max_attachment_bytes", "greater_than", bytes);
        let reserved = "Extended data cannot hold unconfirmed_host";
        let free = !self.extended_data.contains_key("unconfirmed_host");
        demand(free, "extended_data", "invalid", reserved);
        Error::unless_valid(Wording::BadRequest, faults)
    }

    /// Name and description have a text in the default language; a description may also be empty.
    fn faults_of_texts(&self) -> Vec<FieldError> {
        let locale = self.default_locale;
        let mut faults = Vec::new();
        if self.name.is_blank_in(locale) {
            faults.push(FieldError::new("name", "blank", format!("Name {locale} cannot be blank")));
        }
        if !self.description.is_empty() && self.description.is_blank_in(locale) {
            faults.push(FieldError::new(
                "description",
                "blank",
                format!("Description {locale} cannot be blank"),
            ));
        }
        if self.reference_prefix.trim().is_empty() {
            faults.push(FieldError::blank("reference_prefix", "Reference prefix"));
        }
        faults.extend(self.length_errors());
        faults
    }

    /// The settings that are too long to be stored.
    pub(crate) fn length_errors(&self) -> impl Iterator<Item = FieldError> {
        let hosts = self.secondary_hosts.len() > MAX_LIST_ITEMS;
        let text = format!("Secondary hosts is too long (maximum is {MAX_LIST_ITEMS} hosts)");
        let domains = self.external_domain_allowlist.len() > MAX_LIST_ITEMS;
        let many = format!("External domain allowlist is too long (maximum is {MAX_LIST_ITEMS} hosts)");
        [
            translations_too_long("name", "Name", &self.name, MAX_LINE_CHARS),
            translations_too_long("description", "Description", &self.description, MAX_PROSE_CHARS),
            too_long("reference_prefix", "Reference prefix", &self.reference_prefix, MAX_LINE_CHARS),
            hosts.then(|| FieldError::new("secondary_hosts", "too_many", text)),
            domains.then(|| FieldError::new("external_domain_allowlist", "too_many", many)),
        ]
        .into_iter()
        .flatten()
    }

    fn faults_of_hosts(&self, single_label: bool) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if !is_host(&self.host, single_label) {
            faults.push(FieldError::new("host", "invalid", "Host is invalid"));
        }
        if self.unconfirmed_host.as_ref().is_some_and(|host| !is_host(host, single_label)) {
            faults.push(FieldError::new("host", "invalid", "Unconfirmed host is invalid"));
        }
        if self.unconfirmed_host.as_ref() == Some(&self.host) {
            faults.push(FieldError::new("host", "taken", "Unconfirmed host has already been taken"));
        }
        if self.secondary_hosts.iter().any(|host| !is_host(host, single_label)) {
            faults.push(FieldError::new("secondary_hosts", "invalid", "Secondary hosts is invalid"));
        }
        if self.external_domain_allowlist.iter().any(|host| !is_host(host, true)) {
            faults.push(FieldError::new(
                "external_domain_allowlist",
                "invalid",
                "External domain allowlist is invalid",
            ));
        }
        if self.secondary_hosts.contains(&self.host) {
            faults.push(FieldError::new(
                "secondary_hosts",
                "taken",
                "Secondary hosts has already been taken",
            ));
        }
        faults
    }
}

/// These hosts, and each that begins with `www.` without it: an organization may have none that another one has.
pub(crate) fn with_hosts_without_www<'a>(hosts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let bare = |host: &'a String| [Some(host.as_str()), host.strip_prefix("www.")].into_iter().flatten();
    hosts.flat_map(bare).map(str::to_owned).collect()
}

/// Whether [`with_hosts_without_www`] of a host has one of these.
pub(crate) fn is_taken(host: &str, taken: &[String]) -> bool {
    taken.iter().any(|taken| taken == host || Some(taken.as_str()) == host.strip_prefix("www."))
}

/// The stored form of hosts.
pub(crate) fn normalize_host(host: &str) -> String {
    host.trim().to_lowercase()
}

/// The stored form of a list of hosts: without duplicates and empty ones, in the order of first occurrence.
pub(crate) fn normalize_hosts(hosts: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let hosts = hosts.iter().map(|host| normalize_host(host)).filter(|host| !host.is_empty());
    hosts.filter(|host| seen.insert(host.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{Locale, Translated};
    use serde_json::json;
    use time::macros::datetime;

    fn city() -> Organization {
        let name: Translated = [(Locale::EN, "Riverbend".to_owned())].into();
        Organization::new("city.example".into(), name, Locale::EN, datetime!(2026-01-01 0:00 UTC))
    }

    fn faults(change: impl FnOnce(&mut Organization)) -> Vec<String> {
        let mut organization = city();
        change(&mut organization);
        match organization.check(false) {
            Ok(()) => Vec::new(),
            Err(error) => error.details().iter().map(|f| format!("{} {}", f.field, f.code)).collect(),
        }
    }

    #[test]
    fn a_new_organization_is_fine() {
        assert_eq!(faults(|_| {}), [] as [&str; 0]);
    }

    #[test]
    fn each_rule_names_its_setting() {
        assert_eq!(faults(|o| o.name = Translated::default()), ["name blank"]);
        assert_eq!(
            faults(|o| o.description.set(Locale::FR, "Une ville".into())),
            ["description blank"],
            "where there is a description, the default language has one"
        );
        assert_eq!(faults(|o| o.reference_prefix = " ".into()), ["reference_prefix blank"]);
        assert_eq!(faults(|o| o.host = "city".into()), ["host invalid"]);
        assert_eq!(faults(|o| o.unconfirmed_host = Some("city.example".into())), ["host taken"]);
        assert_eq!(faults(|o| o.secondary_hosts = vec!["a b".into()]), ["secondary_hosts invalid"]);
        assert_eq!(faults(|o| o.secondary_hosts = vec!["city.example".into()]), ["secondary_hosts taken"]);
        assert_eq!(faults(|o| o.available_locales = Vec::new().into()), ["available_locales blank"]);
        assert_eq!(faults(|o| o.default_locale = Locale::FR), ["name blank", "default_locale inclusion"]);
        assert_eq!(faults(|o| o.enable_machine_translations = true), ["enable_machine_translations invalid"]);
        assert_eq!(faults(|o| o.time_zone = "europe/paris".into()), ["time_zone inclusion"]);
        assert_eq!(faults(|o| o.comments_max_length = 0), ["comments_max_length greater_than"]);
        assert_eq!(faults(|o| o.max_attachment_bytes = 0), ["max_attachment_bytes greater_than"]);
        let reserved = |o: &mut Organization| o.extended_data = [("unconfirmed_host", json!("x"))].into();
        assert_eq!(faults(reserved), ["extended_data invalid"]);
    }

    #[test]
    fn hosts_are_kept_in_one_form_and_once() {
        let mut organization = city();
        organization.host = " City.Example ".into();
        organization.secondary_hosts = vec!["WWW.city.example".into(), "www.city.example".into()];
        organization.users_registration_mode = RegistrationMode::Disabled;
        organization.force_users_to_authenticate_before_access_organization = true;
        organization.normalize();
        assert_eq!(organization.host, "city.example");
        assert_eq!(organization.secondary_hosts, ["www.city.example"]);
        assert!(!organization.force_users_to_authenticate_before_access_organization);
    }
}
