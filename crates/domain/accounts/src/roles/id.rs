//! The composite id of a role: base64url, without padding, of a JSON text of five members (contract 03 §4.1).
//!
//! ```
//! use civitas_accounts::RoleId;
//! use civitas_kernel::{ClassNames, OrganizationId, UserId};
//!
//! let id = RoleId::GeneralAdmin { organization: OrganizationId(1), user: UserId(42) };
//! assert!(id.encode().starts_with("eyJyZXNvdXJjZV90eXBlIjoiUGxhdGZvcm06Ok9yZ2FuaXphdGlvbiIs"));
//! assert_eq!(RoleId::decode(&id.encode()), Some(id));
//! ```

use super::{RoleKind, RoleType};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_kernel::{ClassNames, OrganizationId, SpaceKind, SpaceRef, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};

const SECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");

/// The members of the text, each of which must be there.
#[derive(Deserialize)]
struct Members {
    resource_type: String,
    resource_id: i64,
    #[serde(deserialize_with = "Option::deserialize")]
    user_id: Option<i64>,
    #[serde(deserialize_with = "Option::deserialize")]
    invited_at: Option<String>,
    #[serde(rename = "type")]
    role_type: String,
}

/// The name of a role. It changes with the type of the role, and with the time of its invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum RoleId {
    /// The name of a general administrator.
    GeneralAdmin {
        /// The organization.
        organization: OrganizationId,
        /// The user.
        user: UserId,
    },
    /// The name of a role in a space.
    InSpace(SpaceRoleId),
}

/// The name of a role in a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceRoleId {
    /// The space: never an initiative, which has no roles.
    pub space: SpaceRef,
    /// The user; `None` for a pending invitation without account.
    pub user: Option<UserId>,
    /// When they were invited, in whole seconds; `None` for a role given directly.
    pub invited_at: Option<OffsetDateTime>,
    /// The kind.
    pub kind: RoleKind,
}

impl RoleId {
    /// The class name of an organization on the wire.
    pub const ORGANIZATION: &'static str = "Platform::Organization";

    /// The `type` of the role.
    pub fn role_type(&self) -> RoleType {
        match self {
            Self::GeneralAdmin { .. } => RoleType::GeneralAdmin,
            Self::InSpace(role) => RoleType::InSpace(role.kind),
        }
    }

    /// The class name of the organization or space of the role.
    pub fn resource_type(&self) -> &'static str {
        match self {
            Self::GeneralAdmin { .. } => Self::ORGANIZATION,
            Self::InSpace(role) => role.space.kind.class(),
        }
    }

    /// The number of the organization or space of the role.
    pub fn resource_id(&self) -> i64 {
        match self {
            Self::GeneralAdmin { organization, .. } => organization.0,
            Self::InSpace(role) => role.space.id,
        }
    }

    /// Its user; `None` for a pending invitation without account.
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::GeneralAdmin { user, .. } => Some(*user),
            Self::InSpace(role) => role.user,
        }
    }

    /// When they were invited, in whole seconds; `None` for a role given directly.
    pub fn invited_at(&self) -> Option<OffsetDateTime> {
        match self {
            Self::GeneralAdmin { .. } => None,
            Self::InSpace(role) => role.invited_at,
        }
    }

    /// The text on the wire. Existing clients compare it, so keys, order and spacing are fixed.
    pub fn encode(&self) -> String {
        self.encoded(self.resource_type())
    }

    /// The text on the wire, with the prefix of these class names.
    pub fn encode_as(&self, names: &ClassNames) -> String {
        self.encoded(&names.to_wire(self.resource_type()))
    }

    fn encoded(&self, resource_type: &str) -> String {
        let user = self.user().map_or("null".to_owned(), |user| user.to_string());
        let invited_at = self.invited_at().map_or("null".to_owned(), |at| format!("\"{}\"", iso(at)));
        let json = format!(
            r#"{{"resource_type":"{}","resource_id":{},"user_id":{user},"invited_at":{invited_at},"type":"{}"}}"#,
            resource_type,
            self.resource_id(),
            self.role_type().as_str(),
        );
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Parses a name; the role need not exist. Padding, the order of keys and other keys do not
    /// matter; each of the five members must be there and of its type.
    pub fn decode(text: &str) -> Option<Self> {
        Self::decode_as(text, &ClassNames::default())
    }

    /// As [`Self::decode`]; the class name may have each prefix of these class names.
    pub fn decode_as(text: &str, names: &ClassNames) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
        // An object first: a struct would also be read from a list.
        let members: Map<String, Value> = serde_json::from_slice(&json).ok()?;
        let members: Members = serde_json::from_value(Value::Object(members)).ok()?;
        let Members { resource_type, resource_id, .. } = members;
        let resource_type = names.from_wire(&resource_type);
        let user = members.user_id.map(UserId);
        let invited_at = match members.invited_at {
            Some(text) => Some(read_iso(&text)?),
            None => None,
        };
        match RoleType::parse(&members.role_type)? {
            RoleType::GeneralAdmin if resource_type == Self::ORGANIZATION && invited_at.is_none() => {
                Some(Self::GeneralAdmin { organization: OrganizationId(resource_id), user: user? })
            }
            RoleType::GeneralAdmin => None,
            RoleType::InSpace(kind) => {
                let space = SpaceRef { kind: space_class(&resource_type)?, id: resource_id };
                Some(Self::InSpace(SpaceRoleId { space, user, invited_at, kind }))
            }
        }
    }
}

impl From<RoleId> for String {
    fn from(id: RoleId) -> Self {
        id.encode()
    }
}

impl TryFrom<String> for RoleId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::decode(&text).ok_or("no id of a role")
    }
}

/// The kind of spaces of this class, if it can have roles.
pub(super) fn space_class(class: &str) -> Option<SpaceKind> {
    SpaceKind::from_class(class).filter(|kind| *kind != SpaceKind::Initiatives)
}

/// A time in the format of ids.
pub(super) fn whole_seconds(at: OffsetDateTime) -> OffsetDateTime {
    let at = at.to_offset(UtcOffset::UTC);
    at.replace_nanosecond(0).unwrap_or(at)
}

fn iso(at: OffsetDateTime) -> String {
    at.format(SECONDS).unwrap_or_default()
}

/// Reads exactly what [`iso`] writes.
fn read_iso(text: &str) -> Option<OffsetDateTime> {
    let at = PrimitiveDateTime::parse(text, SECONDS).ok()?.assume_utc();
    (iso(at) == text).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const MODERATOR: RoleId = RoleId::InSpace(SpaceRoleId {
        space: SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 7 },
        user: Some(UserId(42)),
        invited_at: Some(datetime!(2026-02-01 08:00 UTC)),
        kind: RoleKind::SpaceModerator,
    });
    const ADMIN: RoleId = RoleId::GeneralAdmin { organization: OrganizationId(1), user: UserId(42) };

    fn decode(json: &str) -> Option<RoleId> {
        RoleId::decode(&URL_SAFE_NO_PAD.encode(json))
    }

    #[test]
    fn the_examples_of_the_contract_are_met_to_the_letter() {
        let admin = "eyJyZXNvdXJjZV90eXBlIjoiUGxhdGZvcm06Ok9yZ2FuaXphdGlvbiIsInJlc291cmNlX2lkIjoxLCJ1c2VyX2lkIjo0Miwi\
                     aW52aXRlZF9hdCI6bnVsbCwidHlwZSI6ImdlbmVyYWxfYWRtaW4ifQ";
        let moderator = "eyJyZXNvdXJjZV90eXBlIjoiUGxhdGZvcm06OlBhcnRpY2lwYXRvcnlQcm9jZXNzIiwicmVzb3VyY2VfaWQiOjcs\
                         InVzZXJfaWQiOjQyLCJpbnZpdGVkX2F0IjoiMjAyNi0wMi0wMVQwODowMDowMFoiLCJ0eXBlIjoic3BhY2VfbW9k\
                         ZXJhdG9yIn0";
        assert_eq!((ADMIN.encode().as_str(), MODERATOR.encode().as_str()), (admin, moderator));
    }

    #[test]
    fn every_id_reads_back() {
        let pending = SpaceRoleId {
            space: SpaceRef { kind: SpaceKind::Conferences, id: i64::MAX },
            user: None,
            invited_at: None,
            kind: RoleKind::SpaceValuator,
        };
        for id in [ADMIN, MODERATOR, RoleId::InSpace(pending)] {
            assert_eq!(RoleId::decode(&id.encode()), Some(id));
            let kept = serde_json::to_value(id).unwrap();
            assert_eq!(serde_json::from_value::<RoleId>(kept).unwrap(), id, "in a job too");
        }
    }

    #[test]
    fn padding_order_and_other_keys_do_not_matter() {
        for padding in ["=", "=="] {
            assert_eq!(RoleId::decode(&format!("{}{padding}", ADMIN.encode())), Some(ADMIN));
        }
        let shuffled = r#"{ "type": "general_admin", "x": [1], "invited_at": null, "user_id": 42,
            "resource_id": 1, "resource_type": "Platform::Organization" }"#;
        assert_eq!(decode(shuffled), Some(ADMIN));
    }

    #[test]
    fn what_names_no_role_is_none() {
        let json = r#"{"resource_type":"Platform::Assembly","resource_id":7,"user_id":42,"invited_at":null,"type":"space_moderator"}"#;
        assert!(decode(json).is_some());
        for (part, other) in [
            ("Platform::Assembly", "Platform::Initiative"),
            ("Platform::Assembly", "Platform::Organization"),
            ("Platform::Assembly", "assemblies"),
            ("\"Platform::Assembly\"", "null"),
            ("7", "\"7\""),
            ("7", "7.0"),
            ("7", "99999999999999999999"),
            ("42", "\"42\""),
            ("\"user_id\":42,", ""),
            ("\"invited_at\":null,", ""),
            ("null", "\"2026-02-01\""),
            ("null", "\"2026-02-01T09:00:00+01:00\""),
            ("null", "\"2026-02-01T08:00:00.5Z\""),
            ("null", "0"),
            ("space_moderator", "general_admin"),
            ("space_moderator", "moderator"),
            ("\"space_moderator\"", "1"),
            ("}", ""),
        ] {
            assert_eq!(decode(&json.replace(part, other)), None, "{part} as {other}");
        }
        let invited = r#"{"resource_type":"Platform::Organization","resource_id":1,"user_id":42,
            "invited_at":"2026-02-01T08:00:00Z","type":"general_admin"}"#;
        assert_eq!(decode(invited), None, "nobody is invited to be a general administrator");
        let list = r#"["Platform::Organization",1,42,null,"general_admin"]"#;
        assert_eq!(decode(list), None, "no object");
        for text in ["", "=", "a", "99999999", "not base64!", "W10", "bnVsbA", "eyJ9", "_____"] {
            assert_eq!(RoleId::decode(text), None, "{text}");
        }
    }
}
