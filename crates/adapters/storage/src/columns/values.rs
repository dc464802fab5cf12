//! The types that members of models may have, and how each is stored.

use super::{DataColumn, EnumColumn, JsonColumn};
use civitas_accounts::administrators::{SecondFactor, SignInSources};
use civitas_accounts::{Digest, RoleKind, Theme};
use civitas_attachments::{ContentFault, FileState, FileType, ParentKind};
use civitas_kernel::extended_data::FreeData;
use civitas_kernel::{
    Abilities, AnswerOptionId, AttachmentId, ClientId, CollectionId, ComponentId, DisplayConditionId,
    EventName, FileId, Locale, Locales, MeetingId, OrganizationId, PostId, ProposalId, QuestionId,
    QuestionnaireId, RegistrationId, ResponseId, Scopes, SpaceManifest, StateId, StepId, SurveyId,
    Translated, UploadId, UserId, VoteId,
};
use civitas_organizations::{Features, RegistrationMode};
use civitas_spaces::{ComponentManifest, Visibility};
use civitas_surveys::{ConditionType, QuestionType};
use civitas_webhooks::SealedSecret;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// How a value of a model is read from a column and written to one.
pub(crate) trait ColumnValue: Sized {
    /// The type that Diesel reads.
    type Read;
    /// The type that Diesel writes.
    type Write<'a>
    where
        Self: 'a;

    /// Converts the value of a column.
    fn from_column(read: Self::Read) -> Self;
    /// Converts a value to that of the column.
    fn to_column(&self) -> Self::Write<'_>;
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    type Read = Option<T::Read>;
    type Write<'a>
        = Option<T::Write<'a>>
    where
        T: 'a;

    fn from_column(read: Self::Read) -> Self {
        read.map(T::from_column)
    }

    fn to_column(&self) -> Self::Write<'_> {
        self.as_ref().map(T::to_column)
    }
}

impl ColumnValue for String {
    type Read = Self;
    type Write<'a> = &'a str;

    fn from_column(read: Self) -> Self {
        read
    }

    fn to_column(&self) -> &str {
        self
    }
}

/// Values that are stored unchanged.
macro_rules! plain {
    ($($value:ty),+) => {$(
        impl ColumnValue for $value {
            type Read = Self;
            type Write<'a> = Self;

            fn from_column(read: Self) -> Self {
                read
            }

            fn to_column(&self) -> Self {
                *self
            }
        }
    )+};
}

/// Ids, stored as their numbers.
macro_rules! ids {
    ($($id:ident),+ $(,)?) => {$(
        impl ColumnValue for $id {
            type Read = i64;
            type Write<'a> = i64;

            fn from_column(read: i64) -> Self {
                Self(read)
            }

            fn to_column(&self) -> i64 {
                self.0
            }
        }
    )+};
}

/// Values stored as JSON.
macro_rules! json {
    ($($value:ty),+) => {$(
        impl ColumnValue for $value {
            type Read = JsonColumn<Self>;
            type Write<'a> = JsonColumn<&'a Self>;

            fn from_column(read: JsonColumn<Self>) -> Self {
                read.0
            }

            fn to_column(&self) -> JsonColumn<&Self> {
                JsonColumn(self)
            }
        }
    )+};
}

/// Values of a closed list, stored by their names.
macro_rules! enums {
    ($($value:ty),+) => {$(
        impl ColumnValue for $value {
            type Read = EnumColumn<Self>;
            type Write<'a> = EnumColumn<Self>;

            fn from_column(read: EnumColumn<Self>) -> Self {
                read.0
            }

            fn to_column(&self) -> EnumColumn<Self> {
                EnumColumn(*self)
            }
        }
    )+};
}

/// Values stored as the text they are parsed from.
macro_rules! texts {
    ($($value:ty: $read:expr;)+) => {$(
        impl ColumnValue for $value {
            type Read = String;
            type Write<'a> = String;

            fn from_column(read: String) -> Self {
                $read(&read)
            }

            fn to_column(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

plain!(i32, i64, bool, OffsetDateTime);
ids! {
    AnswerOptionId,
    AttachmentId,
    ClientId,
    CollectionId,
    ComponentId,
    DisplayConditionId,
    FileId,
    MeetingId,
    OrganizationId,
    PostId,
    ProposalId,
    QuestionId,
    QuestionnaireId,
    RegistrationId,
    ResponseId,
    StateId,
    StepId,
    SurveyId,
    UploadId,
    UserId,
    VoteId,
}
json!(BTreeMap<StepId, Map<String, Value>>, Features, Map<String, Value>, SecondFactor, Translated, Vec<String>);
json!(SignInSources);
enums!(
    ComponentManifest,
    ConditionType,
    ContentFault,
    FileState,
    FileType,
    Locale,
    ParentKind,
    QuestionType,
    RegistrationMode,
    RoleKind,
    SpaceManifest,
    Theme,
    Visibility
);
texts! {
    Abilities: Abilities::read;
    Scopes: Scopes::read;
}

/// `en,fr`
impl ColumnValue for Locales {
    type Read = String;
    type Write<'a> = String;

    fn from_column(read: String) -> Self {
        read.split(',').filter_map(Locale::parse).collect()
    }

    fn to_column(&self) -> String {
        self.to_string()
    }
}

/// The names as JSON; names of a newer version are left out.
impl ColumnValue for Vec<EventName> {
    type Read = JsonColumn<Vec<String>>;
    type Write<'a> = JsonColumn<Vec<&'static str>>;

    fn from_column(read: Self::Read) -> Self {
        read.0.iter().filter_map(|name| EventName::parse(name)).collect()
    }

    fn to_column(&self) -> Self::Write<'_> {
        JsonColumn(self.iter().map(|name| name.as_str()).collect())
    }
}

impl ColumnValue for FreeData {
    type Read = DataColumn;
    type Write<'a> = JsonColumn<&'a Self>;

    fn from_column(read: DataColumn) -> Self {
        read.0
    }

    fn to_column(&self) -> JsonColumn<&Self> {
        JsonColumn(self)
    }
}

impl ColumnValue for SealedSecret {
    type Read = String;
    type Write<'a> = &'a str;

    fn from_column(read: String) -> Self {
        Self(read)
    }

    fn to_column(&self) -> &str {
        &self.0
    }
}

impl ColumnValue for Digest {
    type Read = String;
    type Write<'a> = &'a str;

    fn from_column(read: String) -> Self {
        Self::kept(read)
    }

    fn to_column(&self) -> &str {
        self.as_str()
    }
}
