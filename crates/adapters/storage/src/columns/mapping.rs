//! `columns!`: lists the columns of a table once. Generates the row to read, the changeset to write, and the
//! conversions of both.
//!
//! ```text
//! columns! {
//!     /// An entry as its row stores it.
//!     entries as Entry;
//!     id PostId;                                       // `From<Row>` for `(PostId, Entry)`
//!     fields {
//!         component as component_id: ComponentId,      // member `component`, column `component_id`
//!         title: Translated,                           // member and column of one name
//!         hidden_at: Option<OffsetDateTime>,
//!     }
//!     write_only { title_text: String = |entry| .. }   // computed from the model, never read back
//! }
//! ```
//!
//! gives `Row` (selectable; `row.into_model()`, and `From<Row>` for `Entry`) and `Changeset` (`Changeset::new(&entry)`,
//! for inserts and updates). Further clauses: `read_only { .. }` for columns that are no members; `nested { space:
//! kind as space_manifest: SpaceKind, id as space_id: i64 } }` for a member of several columns;
//! `read_with { authors: Vec<UserId> }` for members that are stored elsewhere (arguments of `into_model`, without
//! `From<Row>`); `write_with { .. }` for columns that are computed elsewhere (arguments of `Changeset::of`).

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

        $crate::columns::columns! { @from $Model [$($given)*] }

        /// The columns to write of a model.
        #[derive(::diesel::Insertable, ::diesel::AsChangeset)]
        #[diesel(table_name = $table, treat_none_as_null = true, treat_none_as_default_value = false)]
        pub(super) struct Changeset<'a> {
            $($($inner_column: <$Inner as $crate::columns::ColumnValue>::Write<'a>,)+)*
            $($column: <$Value as $crate::columns::ColumnValue>::Write<'a>,)*
            $($extra: $Extra,)*
            $($with: $With,)*
        }

        $crate::columns::columns! {
            @insert $table [$($($inner_column)+)* $($column)* $($extra)* $($with)*]
        }

        impl<'a> Changeset<'a> {
            /// Builds it from a model, with columns that are computed elsewhere.
            pub(super) fn new(from: &'a $Model $(, $with: $With)*) -> Self {
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
    (@from $Model:ident []) => {
        impl From<Row> for $Model {
            fn from(row: Row) -> Self {
                row.into_model()
            }
        }
    };
    (@from $Model:ident [$($given:ident)+]) => {};
    (@insert $table:ident [$($column:ident)*]) => {
        impl $crate::insert::Columns for Changeset<'_> {
            const NAMES: &'static [&'static str] = &[$(<$table::$column as ::diesel::Column>::NAME),*];

            fn bind<'b>(
                &'b self,
                pass: &mut ::diesel::query_builder::AstPass<'_, 'b, $crate::engine::Db>,
            ) -> ::diesel::result::QueryResult<()> {
                $(
                    pass.push_sql(", ");
                    pass.push_bind_param::<::diesel::dsl::SqlTypeOf<$table::$column>, _>(&self.$column)?;
                )*
                Ok(())
            }
        }
    };
}
pub(crate) use columns;
