//! An organization, and the part of it that every request needs.

use crate::Features;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::records::Entity;
use civitas_kernel::{
    Ability, Error, Event, Locale, Locales, OrganizationId, Result, Subject, TimeZone, Translated,
};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use time::OffsetDateTime;

/// The part of an organization that every request needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tenant {
    /// The organization.
    pub id: OrganizationId,
    /// Its primary host: lower case, no port.
    pub host: String,
    /// Its name.
    pub name: Translated,
    /// The language of titles and of users without their own.
    pub default_locale: Locale,
    /// The languages it offers.
    pub available_locales: Locales,
    /// The feature switches.
    pub features: Features,
    /// The longest comment, in characters, where a component sets none.
    pub comments_max_length: i64,
    /// The prefix of references to its records, and of the names of its files.
    pub reference_prefix: String,
    /// The most bytes of an attached file.
    pub max_attachment_bytes: i64,
    /// The zone in which its days begin.
    pub time_zone: TimeZone,
    /// Its state while it is moved to another deployment, and afterwards.
    pub move_state: Option<MoveState>,
}

impl Tenant {
    /// The organization, if requests are answered here.
    ///
    /// # Errors
    /// `NotServed`.
    pub fn served(self) -> Result<Self> {
        let is_served = matches!(self.move_state, None | Some(MoveState::Leaving));
        if is_served { Ok(self) } else { Err(Error::NotServed) }
    }

    /// Checks that its records may be changed here.
    ///
    /// # Errors
    /// `NotServed`; `ReadOnly` during a move.
    pub fn check_writable(&self) -> Result<()> {
        match self.move_state {
            None => Ok(()),
            Some(MoveState::Leaving) => Err(Error::ReadOnly),
            Some(MoveState::Left | MoveState::Arriving) => Err(Error::NotServed),
        }
    }
}

civitas_kernel::named_enum! {
    /// The state of an organization that is moved to another deployment. One that is served as usual has none.
    pub enum MoveState {
        /// At the source, during the move: writes are refused.
        Leaving = "leaving",
        /// At the source, after the move: all requests are refused.
        Left = "left",
        /// At the target, until the source has left: all requests are refused.
        Arriving = "arriving",
    }
}

civitas_kernel::named_enum! {
    /// Who may register (contract 03 §1.1).
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RegistrationMode {
        /// Everybody.
        #[default]
        Enabled = "enabled",
        /// No new users; existing users may log in.
        Existing = "existing",
        /// Nobody.
        Disabled = "disabled",
    }
}

/// An organization: settings, hosts, switches (contract 03 §1).
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, named as in the contract")]
pub struct Organization {
    /// The primary domain; unique in the deployment among hosts of every kind.
    pub host: String,
    /// Names that redirect to the primary one; unique like it.
    pub secondary_hosts: Vec<String>,
    /// Those of the secondary hosts that no check has found yet: until then they are unknown (contract 03 §1.3).
    pub unconfirmed_secondary_hosts: Vec<String>,
    /// A pending primary domain; unique like it.
    pub unconfirmed_host: Option<String>,
    /// The name.
    pub name: Translated,
    /// The description; may contain HTML.
    pub description: Translated,
    /// The languages offered; never empty.
    pub available_locales: Locales,
    /// One of the languages offered.
    pub default_locale: Locale,
    /// The prefix of uploaded files and references.
    pub reference_prefix: String,
    /// One of [`crate::TIME_ZONES`].
    pub time_zone: String,
    /// In characters, at least 1.
    pub comments_max_length: i64,
    /// Who may register.
    pub users_registration_mode: RegistrationMode,
    /// Visitors must sign in first.
    pub force_users_to_authenticate_before_access_organization: bool,
    /// Badges are shown.
    pub badges_enabled: bool,
    /// Spaces can be filtered by area and scope.
    pub enable_participatory_space_filters: bool,
    /// Texts are translated by machine.
    pub enable_machine_translations: bool,
    /// Users can form groups.
    pub user_groups_enabled: bool,
    /// The public views have a rich text editor.
    pub rich_text_editor_in_public_views: bool,
    /// New users get a welcome mail.
    pub send_welcome_notification: bool,
    /// Hosts a magic link may redirect to.
    pub external_domain_allowlist: Vec<String>,
    /// In bytes, at least 1.
    pub max_attachment_bytes: i64,
    /// The feature switches.
    pub features: Features,
    /// Free data of clients.
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Organization {
    /// A new organization with the defaults of contract 03 §1.1.
    pub fn new(host: String, name: Translated, default_locale: Locale, now: OffsetDateTime) -> Self {
        Self {
            host,
            secondary_hosts: Vec::new(),
            unconfirmed_secondary_hosts: Vec::new(),
            unconfirmed_host: None,
            name,
            description: Translated::default(),
            available_locales: [default_locale].into_iter().collect(),
            default_locale,
            reference_prefix: "ORG".to_owned(),
            time_zone: "UTC".to_owned(),
            comments_max_length: 1000,
            users_registration_mode: RegistrationMode::default(),
            force_users_to_authenticate_before_access_organization: false,
            badges_enabled: false,
            enable_participatory_space_filters: false,
            enable_machine_translations: false,
            user_groups_enabled: false,
            rich_text_editor_in_public_views: false,
            send_welcome_notification: false,
            external_domain_allowlist: Vec::new(),
            max_attachment_bytes: 10_485_760,
            features: Features::default(),
            extended_data: ExtendedDataValue::default(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// Whether a text can be the host of an organization: a domain name with at least one dot (or a single label,
/// where `single_label` allows it; `localhost` always), or a literal address. No port, no scheme. Expects lower
/// case (contract 03 §1.3).
pub fn is_host(text: &str, single_label: bool) -> bool {
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && !l.starts_with('-')
            && !l.ends_with('-')
            && l.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    if text.parse::<IpAddr>().is_ok() {
        return true;
    }
    text.len() <= 253
        && text.split('.').all(label)
        && (text == "localhost" || single_label || text.contains('.'))
}

/// Whether a host is a literal address or `localhost`. Health checks use them: with `https` no organization can take them
/// as secondary hosts.
pub(crate) fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok()
}

impl Organization {
    /// Whether this state differs from that one for receivers of events: extended data, switches and members that are
    /// never shown are ignored (contract 09 C.1).
    fn is_news_after(&self, before: &Self) -> bool {
        let public_part = |organization: &Self| Self {
            unconfirmed_secondary_hosts: Vec::new(),
            external_domain_allowlist: Vec::new(),
            max_attachment_bytes: 0,
            features: Features::default(),
            extended_data: ExtendedDataValue::default(),
            updated_at: OffsetDateTime::UNIX_EPOCH,
            ..organization.clone()
        };
        public_part(self) != public_part(before)
    }

    /// The error when another organization has its name in some language.
    pub fn name_taken_error() -> Error {
        Error::rejected("Name has already been taken")
    }
}

impl Entity for Organization {
    type Id = OrganizationId;

    civitas_kernel::time_fields!(updated_at);

    fn events(&self, id: OrganizationId, before: Option<&Self>) -> Vec<Event> {
        let name = match before {
            None => Ability::OrganizationCreated,
            Some(before) if self.is_news_after(before) => Ability::OrganizationUpdated,
            Some(_) => return Vec::new(),
        };
        vec![Event { name, subject: Subject::Organization(id) }]
    }

    /// A host belongs to one organization.
    fn key_taken_error() -> Error {
        Error::rejected("Host has already been taken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_with_a_dot_or_addresses() {
        for good in ["a.example", "localhost", "10.0.0.1", "::1", "xn--bcher-kva.example"] {
            assert!(is_host(good, false), "{good}");
        }
        for bad in
            ["", "city", "a..b", "-a.example", "a-.example", "a.example:80", "https://a.b", "A.example"]
        {
            assert!(!is_host(bad, false), "{bad}");
        }
        assert!(is_host("city", true));
    }
}
