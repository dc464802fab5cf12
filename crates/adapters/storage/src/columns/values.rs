//! The types that members of models may have, and how each is stored.

use super::{DataColumn, EnumColumn, JsonColumn, TextEnum, UuidColumn};
use civitas_accounts::Digest;
use civitas_accounts::administrators::{SecondFactor, SignInSources};
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{
    Abilities, AdministratorId, ClientId, EventName, Locale, Locales, OrganizationId, RegistrationId, Scopes,
    StepId, Translated,
};
use civitas_organizations::Features;
use civitas_webhooks::SealedSecret;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::identity;
use time::OffsetDateTime;
use uuid::Uuid;

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

/// Ids, stored as their numbers. `records!` calls it for the id of a record.
macro_rules! ids {
    (i64) => {};
    ($($id:ident),+) => {$(
        impl $crate::columns::ColumnValue for $id {
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
pub(crate) use ids;

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
impl<T: TextEnum> ColumnValue for T {
    type Read = EnumColumn<T>;
    type Write<'a>
        = EnumColumn<T>
    where
        T: 'a;

    fn from_column(read: EnumColumn<T>) -> Self {
        read.0
    }

    fn to_column(&self) -> EnumColumn<T> {
        EnumColumn(*self)
    }
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

/// Values that are texts.
macro_rules! strings {
    ($($value:ty: $read:path, $write:path;)+) => {$(
        impl ColumnValue for $value {
            type Read = String;
            type Write<'a> = &'a str;

            fn from_column(read: String) -> Self {
                $read(read)
            }

            fn to_column(&self) -> &str {
                $write(self)
            }
        }
    )+};
}

plain!(i32, i64, bool, OffsetDateTime);
ids!(AdministratorId, ClientId, OrganizationId, RegistrationId);
json!(BTreeMap<StepId, Map<String, Value>>, Features, Map<String, Value>, SecondFactor, Translated, Vec<String>);
json!(SignInSources);
texts! {
    Abilities: Abilities::read;
    Locales: locales;
    Scopes: Scopes::read;
}
strings! {
    Digest: Digest::from_stored, Digest::as_str;
    SealedSecret: SealedSecret, secret;
    String: identity, String::as_str;
}

/// `en,fr`
fn locales(read: &str) -> Locales {
    read.split(',').filter_map(Locale::parse).collect()
}

fn secret(sealed: &SealedSecret) -> &str {
    &sealed.0
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

impl ColumnValue for Uuid {
    type Read = UuidColumn;
    type Write<'a> = UuidColumn;

    fn from_column(read: UuidColumn) -> Self {
        read.0
    }

    fn to_column(&self) -> UuidColumn {
        UuidColumn(*self)
    }
}

impl ColumnValue for ExtendedDataValue {
    type Read = DataColumn;
    type Write<'a> = JsonColumn<&'a Self>;

    fn from_column(read: DataColumn) -> Self {
        read.0
    }

    fn to_column(&self) -> JsonColumn<&Self> {
        JsonColumn(self)
    }
}
