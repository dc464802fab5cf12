//! The macro for the table of members of a record type.

/// Declares the members of a record type: its fields in a line of JSON, and how they are set and exported. The order
/// of the table is the order of the checks and the order in an exported record.
///
/// | kind of member | null | exported |
/// |---|---|---|
/// | `fixed(T)` set by `create`, cannot change | error | always |
/// | `fixed(T, field)` the same; the value is in `field` | error | always |
/// | `parent(Id)` the same, a ref of another record | ignored | always |
/// | `required(T)` | error | always |
/// | `flag(bool)` | error | if true |
/// | `optional(T)` | clears | if set |
/// | `filled(T)` a text, list or object | empties | unless empty |
/// | `reference(field)` a ref of another record, whose id is in `field` | clears | if set |
/// | `users(write)` a list of refs of users | empties | by `write`, a method of `ExportRow` |
/// | `custom(T, set, write)` set by `set(&mut fields, entity)` | | the same |
/// | `resolved(T, set, write)` set by `set(import, &mut fields, entity).await` | | the same |
/// | `output(T, write)` set with another member | | the same |
/// | `input(T)` set with another member | | never |
///
/// With `ports.<store>()` instead of the owner, the rows are those records of an organization, written by the rules
/// of the administration after the table, if there is one ([`OrganizationRecordKind`](super::kind::OrganizationRecordKind)).
macro_rules! members {
    (
        $kind:ty, $type_name:expr, $ports:ident.$store:ident(), $fields:ident,
        |$self:ident, $entity:ident: $type:ty| $table:tt $(, |$context:ident| $admin:expr)?
    ) => {
        members! { $kind, $type_name, civitas_kernel::OrganizationId, $fields, |$self, $entity: $type| $table }

        impl $crate::kind::OrganizationRecordKind for $kind {
            fn records<'a>(
                &self,
                $ports: &'a dyn civitas_application::Ports,
            ) -> &'a dyn civitas_kernel::records::Records<$type> {
                $ports.$store()
            }

            $(fn admin<'a>(
                &self,
                $context: &$crate::context::ImportContext<'a>,
            ) -> Box<dyn civitas_kernel::records::RecordAdministration<$type> + 'a> {
                Box::new($admin)
            })?
        }
    };
    ($kind:ty, $type_name:expr, $owner:ty, $fields:ident, |$self:ident, $entity:ident: $type:ty| {
        $($name:ident: $how:ident $args:tt),+ $(,)?
    }) => {
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct $fields {
            $($name: civitas_kernel::PatchField<members!(@json $how $args)>),+
        }

        #[async_trait::async_trait]
        impl $crate::kind::MemberTable for $kind {
            type Owner = $owner;
            type Entity = $type;
            type Fields = $fields;

            fn type_name(&self) -> &'static str {
                let $self = self;
                let _ = $self;
                $type_name
            }

            async fn apply(
                &self,
                import: &mut $crate::kind::Import<'_, '_, Self>,
                mut fields: $fields,
                entity: &mut $type,
                is_new: bool,
            ) -> Result<(), $crate::error::RecordError> {
                // Most tables do not use all of these.
                let _ = (&import, is_new);
                $(members!(@set $how $args, $name, fields, entity, import, is_new);)+
                Ok(())
            }

            fn write(&self, $entity: &$type, row: $crate::output::ExportRow) -> $crate::output::ExportRow {
                let $self = self;
                let _ = $self;
                $(let row = members!(@write $how $args, $name, row, $entity);)+
                row
            }
        }
    };
    (@json parent $args:tt) => { String };
    (@json reference $args:tt) => { String };
    (@json users $args:tt) => { Vec<String> };
    (@json $how:ident ($json:ty $(, $($rest:tt)*)?)) => { $json };

    (@set fixed ($json:ty, $field:ident), $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        if !$is_new {
            $crate::members::check_fixed(stringify!($name), &$fields.$name, &$entity.$field)?;
        }
    };
    (@set fixed $args:tt, $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        if !$is_new {
            $crate::members::check_fixed(stringify!($name), &$fields.$name, &$entity.$name)?;
        }
    };
    (@set parent ($id:ty), $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        if !$is_new && let Some(reference) = $fields.$name.as_value() {
            let id = $import.context.refs.resolve::<$id>($import.owner, reference).await?;
            $crate::members::check_fixed(stringify!($name), &civitas_kernel::PatchField::Value(id), &$entity.$name)?;
        }
    };
    (@set optional $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::members::set_optional(std::mem::take(&mut $fields.$name), &mut $entity.$name)
    };
    (@set filled $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::members::set_or_default(std::mem::take(&mut $fields.$name), &mut $entity.$name)
    };
    (@set reference ($field:ident), $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        $import.context.refs.set_optional($import.owner, &$fields.$name, &mut $entity.$field).await?
    };
    (@set users $args:tt, $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        $import
            .context
            .refs
            .set_users($import.owner, stringify!($name), &$fields.$name, &mut $entity.$name)
            .await?
    };
    (@set custom ($json:ty, $set:path, $($write:tt)*), $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $set(&mut $fields, $entity)?
    };
    (@set resolved ($json:ty, $set:path, $($write:tt)*), $name:ident, $fields:ident, $entity:ident, $import:ident, $is_new:ident) => {
        $set($import, &mut $fields, $entity).await?
    };
    (@set output $($rest:tt)*) => {};
    (@set input $($rest:tt)*) => {};
    (@set $required_or_flag:ident $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::members::set(stringify!($name), std::mem::take(&mut $fields.$name), &mut $entity.$name)?
    };

    (@write parent $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.with(stringify!($name), $crate::refs::RecordId::to_text($entity.$name))
    };
    (@write flag $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.with_non_empty(stringify!($name), $entity.$name)
    };
    (@write optional ($json:ty), $name:ident, $row:ident, $entity:ident) => {
        $row.with_optional(stringify!($name), $entity.$name.clone().map(<$json>::from))
    };
    (@write filled $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.with_non_empty(stringify!($name), &$entity.$name)
    };
    (@write reference ($field:ident), $name:ident, $row:ident, $entity:ident) => {
        $row.with_optional(stringify!($name), $entity.$field.map($crate::refs::RecordId::to_text))
    };
    (@write users ($write:ident), $name:ident, $row:ident, $entity:ident) => {
        $row.$write(
            stringify!($name),
            $entity.$name.iter().map(civitas_kernel::UserId::to_string).collect::<Vec<_>>(),
        )
    };
    (@write input $args:tt, $name:ident, $row:ident, $entity:ident) => { $row };
    (@write output ($json:ty, $write:ident($value:expr)), $name:ident, $row:ident, $entity:ident) => {
        $row.$write(stringify!($name), $value)
    };
    (@write custom ($json:ty, $set:path, $write:ident($value:expr)), $name:ident, $row:ident, $entity:ident) => {
        $row.$write(stringify!($name), $value)
    };
    (@write resolved ($json:ty, $set:path, $write:ident($value:expr)), $name:ident, $row:ident, $entity:ident) => {
        $row.$write(stringify!($name), $value)
    };
    (@write fixed ($json:ty, $field:ident), $name:ident, $row:ident, $entity:ident) => {
        $row.with(stringify!($name), <$json>::from($entity.$field.clone()))
    };
    (@write $fixed_or_required:ident ($json:ty), $name:ident, $row:ident, $entity:ident) => {
        $row.with(stringify!($name), <$json>::from($entity.$name.clone()))
    };
}
pub(super) use members;
