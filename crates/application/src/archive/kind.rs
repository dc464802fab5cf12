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
    /// Whether a record has the member `organization`.
    const IN_RECORD: bool = true;

    /// The owner of an imported record; an error if the record must, or must not, have an organization.
    fn of_record(record: &Record) -> Imported<Self>;

    /// The owner of the rows to export for an organization, or for none; `None` if there are no such rows.
    fn of_export(organization: Option<OrganizationId>) -> Option<Self>;
}

/// Each row belongs to an organization.
impl Owner for OrganizationId {
    fn of_record(record: &Record) -> Imported<Self> {
        record.require_organization()
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        organization
    }
}

/// A row may belong to an organization or to the deployment.
impl Owner for Option<OrganizationId> {
    fn of_record(record: &Record) -> Imported<Self> {
        Ok(record.organization)
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        Some(organization)
    }
}

/// A record has no organization. In an export: the organization that is exported, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoOrganization(pub(super) Option<OrganizationId>);

impl Owner for NoOrganization {
    const IN_RECORD: bool = false;

    fn of_record(record: &Record) -> Imported<Self> {
        record.forbid_organization().map(|()| Self(None))
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        Some(Self(organization))
    }
}

/// The table of members of a record type; written with the macro [`members`].
#[async_trait]
pub(super) trait Members: Sized + Send + Sync {
    type Owner: Owner;
    type Entity: Clone + PartialEq + Send + Sync;
    type Fields: DeserializeOwned + Send + Sync;

    /// The value of `type`.
    fn type_name(&self) -> &'static str;

    /// Sets the members of an entity, in the order of the table. `is_new` skips the members that `create` has set.
    async fn apply(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: Self::Fields,
        entity: &mut Self::Entity,
        is_new: bool,
    ) -> Imported;

    /// Adds the members of an entity to an exported record, in the order of the table.
    fn write(&self, entity: &Self::Entity, row: Row) -> Row;

    /// Sets the member of the kind `updated`. Called for changed entities unless the record has `updated_at`.
    fn set_updated_at(entity: &mut Self::Entity, now: OffsetDateTime);
}

/// The import of one record.
pub(super) struct Import<'a, 'b, K: Members> {
    pub(super) context: &'a mut ImportContext<'b>,
    pub(super) owner: K::Owner,
}

/// The result of a step of an import.
pub(super) type Imported<T = ()> = Result<T, RecordError>;

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
        import: &mut Import<'_, '_, Self>,
        fields: &Self::Fields,
    ) -> Imported<Self::Entity>;

    /// Stores a new entity.
    async fn add(&mut self, import: &Import<'_, '_, Self>, entity: &Self::Entity) -> Imported<Self::Id>;

    /// Stores a changed entity.
    async fn save(&self, import: &Import<'_, '_, Self>, old: &Found<Self>, entity: Self::Entity) -> Imported;

    /// The existing row of a record. By default the row of the id that is stored for the ref; a type with a natural
    /// key also searches by that key.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<Self::Id>,
        _fields: &Self::Fields,
    ) -> Imported<Option<Found<Self>>> {
        self.find_by_id(import, id).await
    }

    /// The row of this id, with the id.
    async fn find_by_id(
        &self,
        import: &Import<'_, '_, Self>,
        id: Option<Self::Id>,
    ) -> Imported<Option<Found<Self>>> {
        let Some(id) = id else { return Ok(None) };
        Ok(self.find(import.context.ports, import.owner, id).await?.map(|entity| (id, entity)))
    }

    /// Normalizes and checks an entity after its members are set.
    fn check(&self, _: &ImportContext<'_>, _entity: &mut Self::Entity) -> Imported {
        Ok(())
    }

    /// See [`RecordType::invalidate`].
    fn invalidate_cache(&mut self, _name: &str) {}
}

/// Imports a record whose fields are already parsed.
pub(super) async fn import_fields<K: RecordKind>(
    kind: &mut K,
    import: &mut Import<'_, '_, K>,
    record: &Record,
    fields: K::Fields,
) -> Imported<ImportedRecord> {
    let id = record.existing_id.as_deref().and_then(K::Id::parse);
    let old = kind.find_existing(import, id, &fields).await?;
    let mut entity = match &old {
        Some((_, entity)) => entity.clone(),
        None => kind.create(import, &fields).await?,
    };
    kind.apply(import, fields, &mut entity, old.is_none()).await?;
    kind.check(import.context, &mut entity)?;
    let (id, outcome) = match old {
        None => (kind.add(import, &entity).await?, Outcome::Created),
        Some((id, old)) if old == entity => (id, Outcome::Unchanged),
        Some(old) => {
            if !record.members.contains_key("updated_at") {
                K::set_updated_at(&mut entity, import.context.options.now);
            }
            kind.save(import, &old, entity).await?;
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

    async fn import(&mut self, context: &mut ImportContext<'_>, record: Record) -> Imported<ImportedRecord> {
        let owner = K::Owner::of_record(&record)?;
        let fields = record.fields(context.options.locales)?;
        import_fields(self, &mut Import { context, owner }, &record, fields).await
    }

    async fn export(
        &mut self,
        ports: &dyn Ports,
        organization: Option<OrganizationId>,
        output: &mut Output<'_>,
    ) -> Result<(), ExportError> {
        let Some(owner) = K::Owner::of_export(organization) else { return Ok(()) };
        let in_record = organization.filter(|_| K::Owner::IN_RECORD);
        let mut after = None;
        loop {
            let rows = self.page(ports, owner, after).await?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            after = Some(*last);
            for (id, entity) in rows {
                let row = output.row(self.type_name(), &id.to_text(), in_record);
                output.write(&self.write(&entity, row))?;
            }
        }
    }

    fn invalidate(&mut self, name: &str) {
        self.invalidate_cache(name);
    }
}
