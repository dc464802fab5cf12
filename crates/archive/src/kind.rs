//! The part of import and export that is the same for all record types.

use super::chunk::ImportLine;
use super::context::{ExportSource, ImportContext, ImportOptions, ImportedRecord, RecordType};
use super::error::{ExportError, RecordError};
use super::ids::number_in;
use super::lines::LongTexts;
use super::members::required;
use super::output::{ArchiveWriter, ExportRow, PAGE};
use super::owner::RecordOwner;
use super::person::ExportedPerson;
use super::record::ArchiveRecord;
use super::refs::{RecordId, ReferencedId};
use super::report::RecordOutcome;
use async_trait::async_trait;
use civitas_application::Ports;
use civitas_attachments::StoredFile;
use civitas_kernel::records::{AdminWithoutRules, Change, Entity, RecordAdministration, Records};
use civitas_kernel::{ComponentId, OrganizationId, PatchField, Result};
use civitas_spaces::ComponentKind;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// The table of members of a record type; written with the macro [`members`].
#[async_trait]
pub(super) trait MemberTable: Sized + Send + Sync {
    type Owner: RecordOwner;
    type Entity: Entity<Id: RecordId>;
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
    ) -> ImportResult;

    /// Adds the members of an entity to an exported record, in the order of the table.
    fn write(&self, entity: &Self::Entity, row: ExportRow) -> ExportRow;
}

/// The import of one record.
pub(super) struct Import<'a, 'b, K: MemberTable> {
    pub(super) context: &'a mut ImportContext<'b>,
    pub(super) owner: K::Owner,
}

impl<K: MemberTable<Owner = OrganizationId>> Import<'_, '_, K> {
    /// The record of a required ref.
    pub(super) async fn required_ref<I: ReferencedId>(
        &mut self,
        name: &str,
        field: &PatchField<String>,
    ) -> ImportResult<I> {
        self.context.refs.resolve(self.owner, &required(name, field)?).await
    }

    /// The component of the required ref `component`; see
    /// [`RefResolver::component_for`](super::refs::RefResolver::component_for).
    pub(super) async fn component(
        &mut self,
        field: &PatchField<String>,
        kind: ComponentKind,
        content: &str,
    ) -> ImportResult<ComponentId> {
        self.context.refs.component_for(self.owner, field, kind, content).await
    }
}

/// The result of a step of an import.
pub(super) type ImportResult<T = ()> = Result<T, RecordError>;

/// The id of a row.
pub(super) type Id<K> = <<K as MemberTable>::Entity as Entity>::Id;

/// An id and the entity of its row.
pub(super) type StoredRecord<K> = (Id<K>, <K as MemberTable>::Entity);

/// A page of rows.
pub(super) type Rows<K> = Result<Vec<StoredRecord<K>>>;

/// Finds and stores the rows of a record type.
#[async_trait]
pub(super) trait RecordStore: MemberTable {
    /// The row of this id, locked against other writers until the transaction ends: what they write meanwhile would be
    /// lost.
    async fn find_for_update(
        &self,
        ports: &dyn Ports,
        owner: Self::Owner,
        id: Id<Self>,
    ) -> Result<Option<Self::Entity>>;

    /// The rows after an id, in the order of ids.
    async fn page(&mut self, ports: &dyn Ports, owner: Self::Owner, after: Option<Id<Self>>) -> Rows<Self>;

    /// Whether a row of a page is exported.
    fn is_exported(&self, _owner: Self::Owner, _: &StoredRecord<Self>) -> bool {
        true
    }

    /// Stores a new entity.
    async fn add(&self, import: &Import<'_, '_, Self>, entity: &Self::Entity) -> ImportResult<Id<Self>>;

    /// Stores new entities with few statements; see [`Records::add_many`].
    async fn add_batch(
        &self,
        _: &Import<'_, '_, Self>,
        _entities: &[Self::Entity],
    ) -> ImportResult<Option<Vec<Id<Self>>>> {
        Ok(None)
    }

    /// Stores a changed entity.
    async fn save(
        &self,
        import: &Import<'_, '_, Self>,
        id: Id<Self>,
        change: &Change<Self::Entity>,
    ) -> ImportResult;
}

/// A record type whose rows are the [`Records`](civitas_kernel::records::Records) of an organization.
#[async_trait]
pub(super) trait OrganizationRecordKind: MemberTable<Owner = OrganizationId> {
    /// The store.
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Self::Entity>;

    /// The rules by which records are written. By default there are none.
    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdministration<Self::Entity> + 'a> {
        Box::new(AdminWithoutRules(self.records(context.ports)))
    }

    /// The rows after an id, in the order of ids.
    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<Id<Self>>) -> Rows<Self> {
        self.records(ports).page_after(of, after, PAGE).await
    }
}

#[async_trait]
impl<K: OrganizationRecordKind> RecordStore for K {
    async fn find_for_update(
        &self,
        ports: &dyn Ports,
        of: OrganizationId,
        id: Id<K>,
    ) -> Result<Option<K::Entity>> {
        self.records(ports).find_for_update(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<Id<K>>) -> Rows<K> {
        OrganizationRecordKind::page(self, ports, of, after).await
    }

    async fn add(&self, import: &Import<'_, '_, K>, entity: &K::Entity) -> ImportResult<Id<K>> {
        Ok(self.admin(import.context).create(import.owner, entity).await?)
    }

    async fn add_batch(
        &self,
        import: &Import<'_, '_, K>,
        entities: &[K::Entity],
    ) -> ImportResult<Option<Vec<Id<K>>>> {
        Ok(self.admin(import.context).create_many(import.owner, entities).await?)
    }

    async fn save(&self, import: &Import<'_, '_, K>, id: Id<K>, change: &Change<K::Entity>) -> ImportResult {
        Ok(self.admin(import.context).change(import.owner, id, change).await?)
    }
}

/// A record type that follows the common sequence: find or create, apply, check, add or save, follow up.
#[async_trait]
pub(super) trait RecordKind: RecordStore {
    /// Whether new records are added together: then `create`, `apply` and `check` write nothing, records with the key
    /// of another are refused by [`RecordStore::add_batch`], and there is no [`Self::number`].
    const IN_BATCHES: bool = false;

    /// A new entity with its required and fixed members; the other members have their defaults.
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &Self::Fields,
    ) -> ImportResult<Self::Entity>;

    /// Whether a record of this owner has rights over the whole deployment.
    fn has_deployment_rights(&self, _owner: Self::Owner) -> bool {
        false
    }

    /// The id of the existing row with the natural key of a record, in types that have one.
    async fn find_by_key(
        &self,
        _: &Import<'_, '_, Self>,
        _fields: &Self::Fields,
    ) -> ImportResult<Option<Id<Self>>> {
        Ok(None)
    }

    /// The existing row of a record: that of the id that is stored for the ref, or else of the natural key.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<Id<Self>>,
        fields: &Self::Fields,
    ) -> ImportResult<Option<StoredRecord<Self>>> {
        if let Some(found) = self.find_by_id(import, id).await? {
            return Ok(Some(found));
        }
        let id = self.find_by_key(import, fields).await?;
        self.find_by_id(import, id).await
    }

    /// The row of this id, locked, with the id.
    async fn find_by_id(
        &self,
        import: &Import<'_, '_, Self>,
        id: Option<Id<Self>>,
    ) -> ImportResult<Option<StoredRecord<Self>>> {
        let Some(id) = id else { return Ok(None) };
        let found = self.find_for_update(import.context.ports, import.owner, id).await?;
        Ok(found.map(|entity| (id, entity)))
    }

    /// Imports a record that has no row of its own. `None`: it has one.
    async fn import_without_row(
        &self,
        _: &mut Import<'_, '_, Self>,
        _record: &ArchiveRecord,
        _fields: &Self::Fields,
    ) -> ImportResult<Option<ImportedRecord>> {
        Ok(None)
    }

    /// The id space of new rows ([`IdSpaces`](civitas_application::IdSpaces)); `None`: the id of a record is not that of
    /// its row.
    fn id_space(&self, _entity: &Self::Entity) -> Option<&'static str> {
        Some(self.type_name())
    }

    /// Prepares the ids of a new row, in an import that keeps ids.
    async fn assign_ids(&self, import: &mut Import<'_, '_, Self>, entity: &Self::Entity) -> ImportResult {
        let Some(space) = self.id_space(entity) else { return Ok(()) };
        let ImportContext { ids, ports, .. } = &mut *import.context;
        let own = ids.own.into_iter().collect();
        ids.assign(*ports, space, own).await
    }

    /// Normalizes and checks an entity after its members are set.
    fn check(&self, _: &ImportContext<'_>, _entity: &mut Self::Entity) -> ImportResult {
        Ok(())
    }

    /// Writes what follows from a stored entity. `before`: the state it replaces, none if it is new.
    async fn follow_up(
        &mut self,
        _: &mut Import<'_, '_, Self>,
        _id: Id<Self>,
        _before: Option<&Self::Entity>,
        _entity: &Self::Entity,
    ) -> ImportResult {
        Ok(())
    }

    /// Writes what follows from new entities that were stored together.
    async fn follow_up_batch(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        ids: &[Id<Self>],
        entities: &[Self::Entity],
    ) -> ImportResult {
        for (id, entity) in ids.iter().zip(entities) {
            self.follow_up(import, *id, None, entity).await?;
        }
        Ok(())
    }

    /// See [`RecordType::finish`].
    async fn finish(&mut self, _: &mut ImportContext<'_>) -> ImportResult {
        Ok(())
    }

    /// The number of a stored entity that clients see, if it is not its id.
    async fn number(&self, _: &Import<'_, '_, Self>, _id: Id<Self>) -> ImportResult<Option<i64>> {
        Ok(None)
    }

    /// The object whose bytes are the member `data` of an exported record.
    fn data_object(&self, _entity: &Self::Entity) -> Option<StoredFile> {
        None
    }

    /// Whether a row is kept of a person, for an export of the person alone. Removes what it has of other people; adds it to
    /// the records written by the person.
    fn belongs_to_person(&self, _: &mut ExportedPerson, _: &mut StoredRecord<Self>) -> bool {
        false
    }

    /// Adds members of an exported record that are read for it alone.
    async fn complete(
        &self,
        _: ExportSource<'_>,
        _: Self::Owner,
        _: &StoredRecord<Self>,
        row: ExportRow,
    ) -> Result<ExportRow> {
        Ok(row)
    }

    /// See [`RecordType::invalidate`].
    fn invalidate_cache(&mut self, _name: &str) {}
}

/// Imports a record whose fields are already parsed.
async fn import_fields<K: RecordKind>(
    kind: &mut K,
    import: &mut Import<'_, '_, K>,
    record: &ArchiveRecord,
    fields: K::Fields,
) -> ImportResult<ImportedRecord> {
    let id = record.existing_id.as_deref().and_then(Id::<K>::parse);
    let old = kind.find_existing(import, id, &fields).await?;
    let mut entity = match &old {
        Some((id, entity)) => {
            if kind.id_space(entity).is_some() {
                import.context.ids.check_same(number_in(&id.to_text()))?;
            }
            entity.clone()
        }
        None => kind.create(import, &fields).await?,
    };
    kind.apply(import, fields, &mut entity, old.is_none()).await?;
    kind.check(import.context, &mut entity)?;
    let (id, outcome) = match old {
        None => {
            if import.context.options.keep_ids {
                kind.assign_ids(import, &entity).await?;
            }
            let id = kind.add(import, &entity).await?;
            kind.follow_up(import, id, None, &entity).await?;
            (id, RecordOutcome::Created)
        }
        Some((id, old)) if old == entity => (id, RecordOutcome::Unchanged),
        Some((id, old)) => {
            if !record.members.contains_key("updated_at")
                && let Some(at) = entity.updated_at()
            {
                *at = import.context.options.now;
            }
            let change = Change::new(old, entity);
            kind.save(import, id, &change).await?;
            kind.follow_up(import, id, Some(&change.before), &change.after).await?;
            (id, RecordOutcome::Updated)
        }
    };
    let number = kind.number(import, id).await?;
    Ok(ImportedRecord { id: id.to_text(), number, outcome })
}

/// The entities of new records.
async fn new_entities<K: RecordKind>(
    kind: &K,
    import: &mut Import<'_, '_, K>,
    lines: &[ImportLine],
) -> ImportResult<Vec<K::Entity>> {
    let options = import.context.options;
    check_deployment_rights(kind, import.owner, options)?;
    let mut entities = Vec::with_capacity(lines.len());
    for ImportLine { record, password, .. } in lines {
        import.context.password.clone_from(password);
        let fields = record.fields(options.locales, &LongTexts::default())?;
        let mut entity = kind.create(import, &fields).await?;
        kind.apply(import, fields, &mut entity, true).await?;
        kind.check(import.context, &mut entity)?;
        entities.push(entity);
    }
    Ok(entities)
}

/// Gives new rows the ids of their lines, in an import that keeps ids. False: only some lines have one, or one is taken.
async fn assign_batch_ids<K: RecordKind>(
    kind: &K,
    import: &mut Import<'_, '_, K>,
    lines: &[ImportLine],
    entities: &[K::Entity],
) -> ImportResult<bool> {
    let ids: Vec<i64> = lines.iter().filter_map(|line| line.head.id).collect();
    let Some(space) = entities.first().and_then(|entity| kind.id_space(entity)) else { return Ok(true) };
    if !import.context.options.keep_ids {
        return Ok(true);
    }
    if !ids.is_empty() && ids.len() != lines.len() {
        return Ok(false);
    }
    match import.context.ids.assign(import.context.ports, space, ids).await {
        Ok(()) => Ok(true),
        Err(RecordError::Invalid(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Fewer rows are read one by one.
const ROWS_OF_A_PAGE: usize = 20;

/// Whether the rows of these records are as the records say. They are read as a page: `false` if they are few, or not on one.
async fn are_stored<K: RecordKind>(
    kind: &mut K,
    import: &mut Import<'_, '_, K>,
    lines: &[ImportLine],
) -> ImportResult<bool> {
    if lines.len() < ROWS_OF_A_PAGE {
        return Ok(false);
    }
    let ids = lines.iter().filter_map(|line| line.record.existing_id.as_deref().and_then(number_in));
    let after = ids.min().and_then(|lowest| Id::<K>::parse(&(lowest - 1).to_string()));
    let page = kind.page(import.context.ports, import.owner, after).await?;
    let rows: HashMap<_, _> = page.into_iter().map(|(id, entity)| (id.to_text(), entity)).collect();
    let options = import.context.options;
    for ImportLine { record, password, .. } in lines {
        let Some(stored) = record.existing_id.as_ref().and_then(|id| rows.get(id)) else { return Ok(false) };
        import.context.password.clone_from(password);
        let fields = record.fields(options.locales, &LongTexts::default())?;
        let mut entity = stored.clone();
        kind.apply(import, fields, &mut entity, false).await?;
        kind.check(import.context, &mut entity)?;
        if entity != *stored {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An error for a record with rights over the whole deployment that the import does not accept.
fn check_deployment_rights<K: RecordKind>(
    kind: &K,
    owner: K::Owner,
    options: ImportOptions<'_>,
) -> ImportResult {
    if kind.has_deployment_rights(owner) && !options.allow_operators {
        return Err("needs --allow-operators".into());
    }
    Ok(())
}

#[async_trait]
impl<K: RecordKind> RecordType for K {
    fn name(&self) -> &'static str {
        self.type_name()
    }

    fn check_fields(
        &self,
        record: &ArchiveRecord,
        options: ImportOptions<'_>,
        long_texts: &LongTexts,
    ) -> ImportResult {
        let owner = K::Owner::from_record(record)?;
        // A record that is not of the organization has the error of the second pass.
        if options.into.is_none() {
            check_deployment_rights(self, owner, options)?;
        }
        record.fields::<K::Fields>(options.locales, long_texts).map(drop)
    }

    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: ArchiveRecord,
    ) -> ImportResult<ImportedRecord> {
        let owner = K::Owner::from_record(&record)?;
        check_deployment_rights(self, owner, context.options)?;
        let fields: K::Fields = record.fields(context.options.locales, &context.files.long_texts)?;
        let import = &mut Import { context, owner };
        match self.import_without_row(import, &record, &fields).await? {
            Some(imported) => Ok(imported),
            None => import_fields(self, import, &record, fields).await,
        }
    }

    async fn import_batch(
        &mut self,
        context: &mut ImportContext<'_>,
        lines: &[ImportLine],
    ) -> ImportResult<Option<Vec<ImportedRecord>>> {
        let Some(first) = lines.first().filter(|_| K::IN_BATCHES) else { return Ok(None) };
        let owner = K::Owner::from_record(&first.record)?;
        let import = &mut Import { context, owner };
        let entities = match new_entities(self, import, lines).await {
            Ok(entities) => entities,
            Err(RecordError::Invalid(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !assign_batch_ids(self, import, lines, &entities).await? {
            return Ok(None);
        }
        let Some(ids) = self.add_batch(import, &entities).await? else { return Ok(None) };
        self.follow_up_batch(import, &ids, &entities).await?;
        let added =
            |id: Id<K>| ImportedRecord { id: id.to_text(), number: None, outcome: RecordOutcome::Created };
        Ok(Some(ids.into_iter().map(added).collect()))
    }

    async fn are_stored(
        &mut self,
        context: &mut ImportContext<'_>,
        lines: &[ImportLine],
    ) -> ImportResult<bool> {
        let Some(first) = lines.first().filter(|_| K::IN_BATCHES) else { return Ok(false) };
        let owner = K::Owner::from_record(&first.record)?;
        are_stored(self, &mut Import { context, owner }, lines).await
    }

    async fn finish(&mut self, context: &mut ImportContext<'_>) -> ImportResult {
        RecordKind::finish(self, context).await
    }

    async fn export(
        &mut self,
        source: ExportSource<'_>,
        organization: Option<OrganizationId>,
        output: &mut ArchiveWriter<'_>,
    ) -> Result<(), ExportError> {
        let ports = source.ports;
        let Some(owner) = K::Owner::for_export(organization) else { return Ok(()) };
        let in_record = organization.filter(|_| K::Owner::IS_IN_RECORD);
        let mut after = None;
        loop {
            let rows = self.page(ports, owner, after).await?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            after = Some(*last);
            for mut found in rows {
                let person = output.person.as_mut();
                let is_asked_for = person.is_none_or(|person| self.belongs_to_person(person, &mut found));
                if !is_asked_for || !self.is_exported(owner, &found) {
                    continue;
                }
                let (id, entity) = &found;
                let text = id.to_text();
                let row = output.row(self.type_name(), &text, in_record);
                let has_id = source.with_ids && self.id_space(entity).is_some();
                let row = row.with_optional("id", number_in(&text).filter(|_| has_id));
                let row = self.complete(source, owner, &found, self.write(entity, row)).await?;
                match self.data_object(entity) {
                    None => output.write(&row)?,
                    Some(file) => output.write_with_data(&row, source.read(&file).await?).await?,
                }
            }
        }
    }

    fn invalidate(&mut self, name: &str) {
        self.invalidate_cache(name);
    }
}
