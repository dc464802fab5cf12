//! Applies a partial update to an organization and collects all errors (contract 03 §1.3). The store checks whether
//! names and hosts are taken by others.

use crate::model::is_local;
use crate::rules::{is_taken, normalize_host, normalize_hosts, with_hosts_without_www};
use crate::{Organization, TIME_ZONES, is_host};
use civitas_kernel::limits::MAX_LIST_ITEMS;
use civitas_kernel::text::sentence_case;
use civitas_kernel::{Error, FieldError, Locale, Locales, Result, Translated, Wording, integer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The settings that can be written, in the order of the contract and of the errors.
const SETTINGS: [&str; 17] = [
    "name",
    "description",
    "reference_prefix",
    "host",
    "secondary_hosts",
    "available_locales",
    "default_locale",
    "users_registration_mode",
    "force_users_to_authenticate_before_access_organization",
    "enable_machine_translations",
    "send_welcome_notification",
    "badges_enabled",
    "enable_participatory_space_filters",
    "user_groups_enabled",
    "rich_text_editor_in_public_views",
    "time_zone",
    "comments_max_length",
];

/// An organization with the settings that were sent, and their errors.
#[derive(Debug)]
pub(crate) struct OrganizationEdit<'a> {
    /// The organization with every valid setting.
    pub(crate) organization: Organization,
    sent: &'a Map<String, Value>,
    /// The languages of the deployment.
    locales: &'a Locales,
    faults: Vec<FieldError>,
}

impl<'a> OrganizationEdit<'a> {
    /// Applies the settings that were sent to the stored state. Unknown keys are ignored. `single_label_hosts` as in
    /// [`is_host`].
    pub(crate) fn read(
        kept: Organization,
        sent: &'a Map<String, Value>,
        locales: &'a Locales,
        single_label_hosts: bool,
    ) -> Self {
        let mut update = Self { organization: kept, sent, locales, faults: Vec::new() };
        update.languages();
        update.texts();
        update.hosts(single_label_hosts);
        update.switches();
        update.others();
        update.organization.normalize();
        update.faults.extend(update.organization.length_errors());
        update
    }

    /// The translations of the name that were sent, without the blank ones.
    pub(crate) fn sent_names(&self) -> Vec<(Locale, &str)> {
        let sent = self.sent.get("name").and_then(Value::as_object);
        let sent = |locale: Locale| sent.is_some_and(|members| members.contains_key(locale.as_str()));
        self.organization.name.iter().filter(|(locale, text)| sent(*locale) && !text.is_empty()).collect()
    }

    /// The hosts that were sent and are not confirmed, with those that must be free as well
    /// ([`with_hosts_without_www`]).
    pub(crate) fn sent_hosts(&self) -> Vec<String> {
        let pending = self.organization.unconfirmed_host.iter().filter(|_| self.sent.contains_key("host"));
        let secondary = self.organization.unconfirmed_secondary_hosts.iter();
        with_hosts_without_www(pending.chain(secondary.filter(|_| self.sent.contains_key("secondary_hosts"))))
    }

    /// Adds an error for each name and host that is taken.
    pub(crate) fn refuse_taken(&mut self, locales: &[Locale], hosts: &[String]) {
        for locale in locales {
            self.refuse("name", "taken", format!("Name {locale} has already been taken"));
        }
        let is_taken = |host: &String| is_taken(host, hosts);
        if self.sent.contains_key("host") && self.organization.unconfirmed_host.as_ref().is_some_and(is_taken)
        {
            self.refuse("host", "taken", "Unconfirmed host has already been taken");
        }
        let secondary = &self.organization.unconfirmed_secondary_hosts;
        if self.sent.contains_key("secondary_hosts") && secondary.iter().any(is_taken) {
            self.refuse("secondary_hosts", "taken", "Secondary hosts has already been taken");
        }
    }

    /// The organization to store.
    ///
    /// # Errors
    /// `Invalid` with all errors, in the order of the settings.
    pub(crate) fn finish(mut self) -> Result<Organization> {
        let position = |fault: &FieldError| SETTINGS.iter().position(|setting| *setting == fault.field);
        self.faults.sort_by_key(position);
        Error::unless_valid(Wording::BadRequest, self.faults)?;
        Ok(self.organization)
    }

    fn refuse(&mut self, field: &'static str, code: &'static str, description: impl Into<String>) {
        self.faults.push(FieldError::new(field, code, description));
    }

    fn languages(&mut self) {
        if let Some(sent) = self.sent.get("available_locales") {
            match read::<Vec<String>>(sent).unwrap_or_default() {
                names if names.is_empty() => {
                    self.refuse("available_locales", "blank", "Available locales cannot be blank");
                }
                names => match self.locales.choose(names.iter().map(String::as_str)) {
                    Ok(Some(locales)) => self.organization.available_locales = locales,
                    Ok(None) | Err(_) => self.refuse(
                        "available_locales",
                        "inclusion",
                        "Available locales is not included in the list",
                    ),
                },
            }
        }
        let locales = self.organization.available_locales.clone();
        match self.sent.get("default_locale") {
            None if !self.faults.is_empty() || locales.has(self.organization.default_locale) => {}
            None => {
                self.refuse("available_locales", "inclusion", "Available locales lacks the default locale");
            }
            Some(sent) => match sent.as_str().and_then(|text| self.locales.find(text)) {
                Some(locale) if locales.has(locale) || !self.faults.is_empty() => {
                    self.organization.default_locale = locale;
                }
                Some(_) => {
                    let text = "Default locale is not one of the available locales";
                    self.refuse("default_locale", "inclusion", text);
                }
                None => self.refuse_default_locale(sent),
            },
        }
    }

    fn refuse_default_locale(&mut self, sent: &Value) {
        let blank = sent.is_null() || sent.as_str().is_some_and(|text| text.trim().is_empty());
        if blank {
            self.refuse("default_locale", "blank", "Default locale cannot be blank");
        } else {
            self.refuse("default_locale", "inclusion", "Default locale is not included in the list");
        }
    }

    fn texts(&mut self) {
        let locale = self.organization.default_locale;
        let is_new = self.sent.get("default_locale").and_then(Value::as_str) == Some(locale.as_str());
        let mut name = std::mem::take(&mut self.organization.name);
        let mut description = std::mem::take(&mut self.organization.description);
        for (field, label, text) in
            [("name", "Name", &mut name), ("description", "Description", &mut description)]
        {
            let sent = self.sent.get(field);
            let readable = sent.is_none_or(|sent| overlay(text, sent, self.locales));
            let lacks = text.is_blank_in(locale);
            if !readable {
                self.refuse(field, "invalid", format!("{label} must be an object of texts by language"));
            } else if sent.is_some_and(Value::is_null) || (sent.is_some() && lacks) {
                self.refuse(field, "blank", format!("{label} {locale} cannot be blank"));
            } else if lacks && is_new {
                self.refuse("default_locale", "blank", format!("{label} {locale} cannot be blank"));
            }
        }
        self.organization.name = name;
        self.organization.description = description;
        if let Some(sent) = self.sent.get("reference_prefix") {
            match sent.as_str().map(str::trim).filter(|text| !text.is_empty()) {
                Some(prefix) => self.organization.reference_prefix = prefix.to_owned(),
                None => self.refuse("reference_prefix", "blank", "Reference prefix cannot be blank"),
            }
        }
    }

    fn hosts(&mut self, single_label: bool) {
        if let Some(sent) = self.sent.get("host") {
            let host = sent.as_str().map(normalize_host);
            match host {
                Some(host) if host == self.organization.host => self.organization.unconfirmed_host = None,
                Some(host) if is_host(&host, single_label) => self.organization.unconfirmed_host = Some(host),
                Some(host) if host.is_empty() => self.refuse("host", "blank", "Host cannot be blank"),
                None if sent.is_null() => self.refuse("host", "blank", "Host cannot be blank"),
                _ => self.refuse("host", "invalid", "Host is invalid"),
            }
        }
        let Some(sent) = self.sent.get("secondary_hosts") else { return };
        let listed = match sent {
            Value::String(lines) => Some(lines.lines().map(str::to_owned).collect()),
            Value::Null => Some(Vec::new()),
            sent => read::<Vec<String>>(sent),
        };
        match listed.as_deref().map(normalize_hosts) {
            Some(hosts) if hosts.len() > MAX_LIST_ITEMS => {
                let text = format!("Secondary hosts is too long (maximum is {MAX_LIST_ITEMS} hosts)");
                self.refuse("secondary_hosts", "too_many", text);
            }
            Some(hosts) if hosts.iter().all(|host| is_host(host, single_label)) => {
                let to = &mut self.organization;
                let is_own = hosts.contains(&to.host);
                let known = std::mem::replace(&mut to.secondary_hosts, hosts);
                let unconfirmed = &to.unconfirmed_secondary_hosts;
                let is_new = |host: &&String| !known.contains(host) || unconfirmed.contains(host);
                to.unconfirmed_secondary_hosts = to.secondary_hosts.iter().filter(is_new).cloned().collect();
                let has_local =
                    !single_label && to.unconfirmed_secondary_hosts.iter().any(|host| is_local(host));
                if is_own {
                    self.refuse("secondary_hosts", "taken", "Secondary hosts has already been taken");
                }
                if has_local {
                    self.refuse("secondary_hosts", "invalid", "Secondary hosts is invalid");
                }
            }
            _ => self.refuse("secondary_hosts", "invalid", "Secondary hosts is invalid"),
        }
    }

    fn switches(&mut self) {
        let to = &mut self.organization;
        let switches = [
            (
                "force_users_to_authenticate_before_access_organization",
                &mut to.force_users_to_authenticate_before_access_organization,
            ),
            ("enable_machine_translations", &mut to.enable_machine_translations),
            ("send_welcome_notification", &mut to.send_welcome_notification),
            ("badges_enabled", &mut to.badges_enabled),
            ("enable_participatory_space_filters", &mut to.enable_participatory_space_filters),
            ("user_groups_enabled", &mut to.user_groups_enabled),
            ("rich_text_editor_in_public_views", &mut to.rich_text_editor_in_public_views),
        ];
        for (field, switch) in switches {
            match self.sent.get(field) {
                None => {}
                Some(Value::Bool(on)) => *switch = *on,
                Some(_) => {
                    let label = sentence_case(field);
                    self.faults.push(FieldError::new(
                        field,
                        "invalid",
                        format!("{label} must be true or false"),
                    ));
                }
            }
        }
        if self.organization.enable_machine_translations {
            let text = "Enable machine translations needs machine translation to be configured";
            self.refuse("enable_machine_translations", "invalid", text);
        }
    }

    fn others(&mut self) {
        if let Some(sent) = self.sent.get("users_registration_mode") {
            match read(sent) {
                Some(mode) => self.organization.users_registration_mode = mode,
                None => self.refuse(
                    "users_registration_mode",
                    "inclusion",
                    "Users registration mode is not included in the list",
                ),
            }
        }
        if let Some(sent) = self.sent.get("time_zone") {
            match sent.as_str().filter(|zone| TIME_ZONES.contains(zone)) {
                Some(zone) => self.organization.time_zone = zone.to_owned(),
                None => self.refuse("time_zone", "inclusion", "Time zone is not included in the list"),
            }
        }
        if let Some(sent) = self.sent.get("comments_max_length") {
            match integer(sent) {
                Some(length) if length > 0 => self.organization.comments_max_length = length,
                Some(_) => {
                    let text = "Comments max length must be greater than 0";
                    self.refuse("comments_max_length", "greater_than", text);
                }
                None => {
                    self.refuse("comments_max_length", "invalid", "Comments max length must be an integer");
                }
            }
        }
    }
}

fn read<T: DeserializeOwned>(sent: &Value) -> Option<T> {
    T::deserialize(sent).ok()
}

/// Merges texts by language; blank ones remove. `false`, without a change, when the value is not an object of texts in
/// languages of the deployment. Null changes nothing.
fn overlay(text: &mut Translated, sent: &Value, locales: &Locales) -> bool {
    if sent.is_null() {
        return true;
    }
    let Some(members) = sent.as_object() else { return false };
    let mut changed = text.clone();
    for (name, value) in members {
        let Some(locale) = locales.find(name) else { return false };
        match value {
            Value::Null => drop(changed.remove(locale)),
            Value::String(blank) if blank.trim().is_empty() => drop(changed.remove(locale)),
            Value::String(new) => changed.set(locale, new.clone()),
            _ => return false,
        }
    }
    *text = changed;
    true
}

#[cfg(test)]
mod tests;
