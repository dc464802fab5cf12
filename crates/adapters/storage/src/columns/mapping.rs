//! `columns!`: lists the columns of a table once. Generates the row to read, the changeset to write, and the
//! conversions of both.
//!
//! ```text
//! columns! {
//!     /// An entry as its row stores it.
//!     entries as Entry;
//!     id PostId;                                       // `From<Row> for (PostId, Entry)`
//!     fields {
//!         component as component_id: ComponentId,      // member `component`, column `component_id`
//!         title: Translated,                           // member and column of one name
//!         hidden_at: Option<OffsetDateTime>,
//!     }
//!     write_only { title_text: String = |entry| .. }   // computed from the model, never read back
//! }
//! ```
//!
//! gives `Row` (selectable; `row.into_model()`) and `Changeset` (`Changeset::of(&entry)`, for inserts and updates).
//! Further clauses: `read_only { .. }` for columns that are no members; `nested { space: SpaceRef { manifest as
//! space_manifest: SpaceManifest, id as space_id: i64 } }` for a member of several columns; `read_with { authors:
//! Vec<UserId> }` for members that are stored elsewhere (arguments of `into_model`); `write_with { .. }` for columns that
//! are computed elsewhere (arguments of `Changeset::of`).

use super::{EnumColumn, JsonColumn};
use civitas_accounts::administrators::SecondFactor;
use civitas_accounts::{Digest, RoleKind, Theme};
use civitas_attachments::{ContentFault, FileState, FileType, ParentKind};
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

/// See the documentation of this module.
macro_rules! columns {
    (
        $(#[$doc:meta])*
        $table:ident as $Model:ident;
        $(id $Id:ident;)?
        $(read_only { $($only:ident: $Only:ty),+ $(,)? })?
        fields { $($fields:tt)* }
        $(nested {
            $($outer:ident: $Outer:ident { $($inner:ident as $inner_column:ident: $Inner:ty),+ $(,)? }),+ $(,)?
        })?
        $(read_with { $($given:ident: $Given:ty),+ $(,)? })?
        $(write_only { $($extra:ident: $Extra:ty = |$model:ident| $value:expr),+ $(,)? })?
        $(write_with { $($with:ident: $With:ty),+ $(,)? })?
    ) => {
        $crate::columns::columns! {
            @fields [$($fields)*] []
            [$(#[$doc])*] $table $Model
            [$(id $Id)?]
            [$($($only: $Only),+)?]
            [$($($outer: $Outer { $($inner $inner_column $Inner),+ }),+)?]
            [$($($given: $Given),+)?]
            [$($($extra: $Extra = |$model| $value),+)?]
            [$($($with: $With),+)?]
        }
    };
    (@fields [$member:ident as $column:ident: $Value:ty, $($rest:tt)*] [$($done:tt)*] $($all:tt)*) => {
        $crate::columns::columns! { @fields [$($rest)*] [$($done)* ($member $column $Value)] $($all)* }
    };
    (@fields [$member:ident: $Value:ty, $($rest:tt)*] [$($done:tt)*] $($all:tt)*) => {
        $crate::columns::columns! { @fields [$($rest)*] [$($done)* ($member $member $Value)] $($all)* }
    };
    (
        @fields [] [$(($member:ident $column:ident $Value:ty))*]
        [$(#[$doc:meta])*] $table:ident $Model:ident
        [$($id:ident $Id:ident)?]
        [$($only:ident: $Only:ty),*]
        [$($outer:ident: $Outer:ident { $($inner:ident $inner_column:ident $Inner:ty),+ }),*]
        [$($given:ident: $Given:ty),*]
        [$($extra:ident: $Extra:ty = |$model:ident| $value:expr),*]
        [$($with:ident: $With:ty),*]
    ) => {
        $(#[$doc])*
        #[derive(::diesel::Queryable, ::diesel::Selectable)]
        #[diesel(table_name = $table, check_for_backend($crate::engine::Db))]
        pub(super) struct Row {
            $(pub(super) $id: i64,)?
            $(pub(super) $only: $Only,)*
            $($($inner_column: <$Inner as $crate::columns::ColumnValue>::Read,)+)*
            $(pub(super) $column: <$Value as $crate::columns::ColumnValue>::Read,)*
        }

        impl Row {
            /// Builds the model, with members that are stored elsewhere.
            pub(super) fn into_model(self $(, $given: $Given)*) -> $Model {
                use $crate::columns::ColumnValue;
                $Model {
                    $($outer: $Outer { $($inner: <$Inner>::from_column(self.$inner_column)),+ },)*
                    $($member: <$Value>::from_column(self.$column),)*
                    $($given,)*
                }
            }
        }

        $(
            impl From<Row> for ($Id, $Model) {
                fn from(row: Row) -> Self {
                    ($Id(row.$id), row.into_model())
                }
            }
        )?

        /// The columns to write of a model.
        #[derive(::diesel::Insertable, ::diesel::AsChangeset)]
        #[diesel(table_name = $table, treat_none_as_null = true, treat_none_as_default_value = false)]
        pub(super) struct Changeset<'a> {
            $($($inner_column: <$Inner as $crate::columns::ColumnValue>::Write<'a>,)+)*
            $($column: <$Value as $crate::columns::ColumnValue>::Write<'a>,)*
            $($extra: $Extra,)*
            $($with: $With,)*
        }

        impl $crate::insert::Columns for Changeset<'_> {
            const NAMES: &'static [&'static str] = &[
                $($(<$table::$inner_column as ::diesel::Column>::NAME,)+)*
                $(<$table::$column as ::diesel::Column>::NAME,)*
                $(<$table::$extra as ::diesel::Column>::NAME,)*
                $(<$table::$with as ::diesel::Column>::NAME,)*
            ];

            fn bind<'b>(
                &'b self,
                pass: &mut ::diesel::query_builder::AstPass<'_, 'b, $crate::engine::Db>,
            ) -> ::diesel::result::QueryResult<()> {
                $($(
                    pass.push_sql(", ");
                    pass.push_bind_param::<::diesel::dsl::SqlTypeOf<$table::$inner_column>, _>(&self.$inner_column)?;
                )+)*
                $(
                    pass.push_sql(", ");
                    pass.push_bind_param::<::diesel::dsl::SqlTypeOf<$table::$column>, _>(&self.$column)?;
                )*
                $(
                    pass.push_sql(", ");
                    pass.push_bind_param::<::diesel::dsl::SqlTypeOf<$table::$extra>, _>(&self.$extra)?;
                )*
                $(
                    pass.push_sql(", ");
                    pass.push_bind_param::<::diesel::dsl::SqlTypeOf<$table::$with>, _>(&self.$with)?;
                )*
                Ok(())
            }
        }

        impl<'a> Changeset<'a> {
            /// Builds it from a model, with columns that are computed elsewhere.
            pub(super) fn of(from: &'a $Model $(, $with: $With)*) -> Self {
                use $crate::columns::ColumnValue;
                Self {
                    $($($inner_column: from.$outer.$inner.to_column(),)+)*
                    $($column: from.$member.to_column(),)*
                    $($extra: { let $model = from; $value },)*
                    $($with,)*
                }
            }
        }
    };
}
pub(crate) use columns;
