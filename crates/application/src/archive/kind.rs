//! The part of import and export that is the same for all record types.

use super::context::{ImportContext, ImportedRecord, RecordType};
use super::error::{ExportError, RecordError};
use super::output::{Output, Row};
use super::record::Record;
use super::refs::RecordId;
use super::report::Outcome;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result};
use serde::de::DeserializeOwned;
use time::OffsetDateTime;

/// What rows of a record type belong to.
pub(super) trait Owner: Copy + Send + Sync {
    /// The owner of an imported record; an error if the record must, or must not, have an organization.
    fn of_record(record: &Record) -> Result<Self, RecordError>;

    /// The owner of the rows to export for an organization, or for none; `None` if there are no such rows.
    fn of_export(organization: Option<OrganizationId>) -> Option<Self>;

    /// The member `organization` of an exported record.
    fn organization(self) -> Option<OrganizationId>;
}

/// Each row belongs to an organization.
impl Owner for OrganizationId {
    fn of_record(record: &Record) -> Result<Self, RecordError> {
        record.require_organization()
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        organization
    }

    fn organization(self) -> Option<OrganizationId> {
        Some(self)
    }
}

/// A row may belong to an organization or to the deployment.
impl Owner for Option<OrganizationId> {
    fn of_record(record: &Record) -> Result<Self, RecordError> {
        Ok(record.organization)
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        Some(organization)
    }

    fn organization(self) -> Option<OrganizationId> {
        self
    }
}

/// The table of members of a record type; written with the macro [`members`].
#[async_trait]
pub(super) trait Members: Send + Sync {
    type Owner: Owner;
    type Entity: Clone + PartialEq + Send + Sync;
    type Fields: DeserializeOwned + Send + Sync;

    /// The value of `type`.
    fn type_name(&self) -> &'static str;

    /// Sets the members of an entity, in the order of the table. `is_new` skips the members that `create` has set.
    async fn apply(
        &self,
        context: &mut ImportContext<'_>,
        owner: Self::Owner,
        fields: Self::Fields,
        entity: &mut Self::Entity,
        is_new: bool,
    ) -> Result<(), RecordError>;

    /// Adds the members of an entity to an exported record, in the order of the table.
    fn write(&self, entity: &Self::Entity, row: Row) -> Row;

    /// Sets the member of the kind `updated`. Called for changed entities unless the record has `updated_at`.
    fn set_updated_at(entity: &mut Self::Entity, now: OffsetDateTime);
}

/// An id and the entity of its row.
pub(super) type Found<K> = (<K as RecordKind>::Id, <K as Members>::Entity);

/// A page of rows.
pub(super) type Rows<K> = Result<Vec<Found<K>>>;

/// A record type that follows the common sequence: find or create, apply, check, add or save.
#[async_trait]
pub(super) trait RecordKind: Members {
    type Id: RecordId;

    /// The row of this id.
    async fn find(&self, ports: &dyn Ports, owner: Self::Owner, id: Self::Id)
    -> Result<Option<Self::Entity>>;

    /// The rows after an id, in the order of ids.
    async fn page(&mut self, ports: &dyn Ports, owner: Self::Owner, after: Option<Self::Id>) -> Rows<Self>;

    /// A new entity with its required and fixed members; the other members have their defaults.
    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        owner: Self::Owner,
        fields: &Self::Fields,
    ) -> Result<Self::Entity, RecordError>;

    /// Stores a new entity.
    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        owner: Self::Owner,
        entity: &Self::Entity,
    ) -> Result<Self::Id, RecordError>;

    /// Stores a changed entity.
    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        owner: Self::Owner,
        old: &Found<Self>,
        entity: Self::Entity,
    ) -> Result<(), RecordError>;

    /// The existing row of a record. By default the row of the id that is stored for the ref; a type with a natural
    /// key also searches by that key.
    async fn find_existing(
        &self,
        context: &mut ImportContext<'_>,
        owner: Self::Owner,
        id: Option<Self::Id>,
        _fields: &Self::Fields,
    ) -> Result<Option<Found<Self>>, RecordError> {
        self.find_by_id(context.ports, owner, id).await
    }

    /// The row of this id, with the id.
    async fn find_by_id(
        &self,
        ports: &dyn Ports,
        owner: Self::Owner,
        id: Option<Self::Id>,
    ) -> Result<Option<Found<Self>>, RecordError> {
        let Some(id) = id else { return Ok(None) };
        Ok(self.find(ports, owner, id).await?.map(|entity| (id, entity)))
    }

    /// Normalizes and checks an entity after its members are set.
    fn check(&self, _: &ImportContext<'_>, _entity: &mut Self::Entity) -> Result<(), RecordError> {
        Ok(())
    }

    /// See [`RecordType::invalidate`].
    fn invalidate_cache(&mut self, _name: &str) {}
}

/// Imports a record whose fields are already parsed.
pub(super) async fn import_fields<K: RecordKind>(
    kind: &mut K,
    context: &mut ImportContext<'_>,
    record: &Record,
    owner: K::Owner,
    fields: K::Fields,
) -> Result<ImportedRecord, RecordError> {
    let id = record.existing_id.as_deref().and_then(K::Id::parse);
    let old = kind.find_existing(context, owner, id, &fields).await?;
    let mut entity = match &old {
        Some((_, entity)) => entity.clone(),
        None => kind.create(context, owner, &fields).await?,
    };
    kind.apply(context, owner, fields, &mut entity, old.is_none()).await?;
    kind.check(context, &mut entity)?;
    let (id, outcome) = match old {
        None => (kind.add(context, owner, &entity).await?, Outcome::Created),
        Some((id, old)) if old == entity => (id, Outcome::Unchanged),
        Some(old) => {
            if !record.members.contains_key("updated_at") {
                K::set_updated_at(&mut entity, context.options.now);
            }
            kind.save(context, owner, &old, entity).await?;
            (old.0, Outcome::Updated)
        }
    };
    Ok(ImportedRecord { id: id.to_text(), outcome })
}

#[async_trait]
impl<K: RecordKind> RecordType for K {
    fn name(&self) -> &'static str {
        self.type_name()
    }

    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: Record,
    ) -> Result<ImportedRecord, RecordError> {
        let owner = K::Owner::of_record(&record)?;
        let fields = record.fields()?;
        import_fields(self, context, &record, owner, fields).await
    }

    async fn export(
        &mut self,
        ports: &dyn Ports,
        organization: Option<OrganizationId>,
        output: &mut Output<'_>,
    ) -> Result<(), ExportError> {
        let Some(owner) = K::Owner::of_export(organization) else { return Ok(()) };
        let mut after = None;
        loop {
            let rows = self.page(ports, owner, after).await?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            after = Some(*last);
            for (id, entity) in rows {
                let row = output.row(self.type_name(), &id.to_text(), owner.organization());
                output.write(&self.write(&entity, row))?;
            }
        }
    }

    fn invalidate(&mut self, name: &str) {
        self.invalidate_cache(name);
    }
}

/// Declares the members of a record type: its fields in a line of JSON, and how they are set and exported. The order
/// of the table is the order of the checks and the order in an exported record.
///
/// | kind of member | null | exported |
/// |---|---|---|
/// | `fixed(T)` set by `create`, cannot change | error | always |
/// | `parent(Id)` the same, a ref of another record | ignored | always |
/// | `required(T)` | error | always |
/// | `updated(Moment)` the same; without it, an update sets the time of the import | error | always |
/// | `flag(bool)` | error | if true |
/// | `optional(T)` | clears | if set |
/// | `filled(T)` a text, list or object | empties | unless empty |
/// | `custom(T, set, write)` set by `set(&mut fields, &mut entity)` | | by `write`, a method of `Row` |
/// | `resolved(T, set, write)` set by `set(context, owner, &mut fields, &mut entity).await` | | the same |
/// | `output(T, write)` set with another member | | the same |
/// | `input(T)` set with another member | | never |
macro_rules! members {
    ($kind:ty, $type_name:expr, $owner:ty, $fields:ident, |$self:ident, $entity:ident: $type:ty| {
        $($name:ident: $how:ident $args:tt),+ $(,)?
    }) => {
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct $fields {
            $($name: civitas_kernel::Field<members!(@json $how $args)>),+
        }

        #[async_trait::async_trait]
        impl $crate::archive::kind::Members for $kind {
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
                context: &mut $crate::archive::context::ImportContext<'_>,
                owner: $owner,
                mut fields: $fields,
                entity: &mut $type,
                is_new: bool,
            ) -> Result<(), $crate::archive::error::RecordError> {
                // Most tables do not use all of these.
                let _ = (&context, owner, is_new);
                $(members!(@set $how $args, $name, fields, entity, context, owner, is_new);)+
                Ok(())
            }

            fn write(&self, $entity: &$type, row: $crate::archive::output::Row) -> $crate::archive::output::Row {
                let $self = self;
                let _ = $self;
                $(let row = members!(@write $how $args, $name, row, $entity);)+
                row
            }

            fn set_updated_at(entity: &mut $type, now: time::OffsetDateTime) {
                let _ = (&entity, now);
                $(members!(@touch $how, $name, entity, now);)+
            }
        }
    };
    (@json parent $args:tt) => { String };
    (@json $how:ident ($json:ty $(, $($rest:tt)*)?)) => { $json };

    (@set fixed $args:tt, $name:ident, $fields:ident, $entity:ident, $context:ident, $owner:ident, $is_new:ident) => {
        if !$is_new {
            $crate::archive::members::check_fixed(stringify!($name), &$fields.$name, &$entity.$name)?;
        }
    };
    (@set parent ($id:ty), $name:ident, $fields:ident, $entity:ident, $context:ident, $owner:ident, $is_new:ident) => {
        if !$is_new && let Some(reference) = $fields.$name.as_value() {
            let id = $context.refs.resolve::<$id>($owner, reference).await?;
            $crate::archive::members::check_fixed(stringify!($name), &civitas_kernel::Field::Value(id), &$entity.$name)?;
        }
    };
    (@set optional $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::archive::members::set_optional(std::mem::take(&mut $fields.$name), &mut $entity.$name)
    };
    (@set filled $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::archive::members::set_or_default(std::mem::take(&mut $fields.$name), &mut $entity.$name)
    };
    (@set custom ($json:ty, $set:path, $($write:tt)*), $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $set(&mut $fields, $entity)?
    };
    (@set resolved ($json:ty, $set:path, $($write:tt)*), $name:ident, $fields:ident, $entity:ident, $context:ident,
        $owner:ident, $is_new:ident) => {
        $set($context, $owner, &mut $fields, $entity).await?
    };
    (@set output $($rest:tt)*) => {};
    (@set input $($rest:tt)*) => {};
    (@set $required_updated_or_flag:ident $args:tt, $name:ident, $fields:ident, $entity:ident, $($rest:ident),*) => {
        $crate::archive::members::set(stringify!($name), std::mem::take(&mut $fields.$name), &mut $entity.$name)?
    };

    (@touch updated, $name:ident, $entity:ident, $now:ident) => {
        $entity.$name = $now
    };
    (@touch $how:ident, $($rest:ident),*) => {};

    (@write parent $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.with(stringify!($name), $crate::archive::refs::RecordId::to_text($entity.$name))
    };
    (@write flag $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.unless_empty(stringify!($name), $entity.$name)
    };
    (@write optional ($json:ty), $name:ident, $row:ident, $entity:ident) => {
        $row.optional(stringify!($name), $entity.$name.clone().map(<$json>::from))
    };
    (@write filled $args:tt, $name:ident, $row:ident, $entity:ident) => {
        $row.unless_empty(stringify!($name), &$entity.$name)
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
    (@write $fixed_required_or_updated:ident ($json:ty), $name:ident, $row:ident, $entity:ident) => {
        $row.with(stringify!($name), <$json>::from($entity.$name.clone()))
    };
}
pub(super) use members;
