//! `records!`: implements [`Records`](civitas_kernel::records::Records) on [`Session`] for a table, and says how its ids are
//! stored.
//!
//! ```text
//! records! { scoped posts: PostId => Post; }
//! ```
//!
//! uses `Row` and `Changeset` of the module (see `columns!`), `of(organization)`, which `scoped` defines (see `scoped!`), and
//! its import of `diesel::prelude::*`. Further clauses name functions, for tables whose records are stored in several:
//! - `read with_authors;`: adds members that are stored elsewhere: `async fn(&mut Conn, Vec<Row>) -> Result<Vec<(Id,
//!   Model)>>`;
//! - `changeset changeset;`: computes columns: `async fn(&mut Conn, OrganizationId, &Model) -> Result<Changeset>`;
//! - `write write_authors;`: writes members that are stored elsewhere, after the row: `async fn(&mut Conn,
//!   OrganizationId, Id, before: Option<&Model>, after: &Model) -> Result<()>`;
//! - `many plain;`: stores several records with one statement; `many changesets;` where columns are computed: `async
//!   fn(&mut Conn, OrganizationId, &[Model]) -> Result<Vec<Changeset>>`; `many .. then write_many;` where members are
//!   stored elsewhere: `async fn(&mut Conn, OrganizationId, &[Id], &[Model]) -> Result<()>`.

use crate::session::{Session, TransactionScope};
use civitas_kernel::records::Entity;
use civitas_kernel::{Event, OrganizationId, Result};

impl Session {
    /// Ends the write of a record: touches the lists it changes, commits, and records its events.
    ///
    /// # Errors
    /// `Internal` when there are events and no transaction; then nothing is stored.
    pub(crate) async fn finish_write(
        &self,
        atomic: TransactionScope<'_>,
        organization: OrganizationId,
        lists: Vec<&'static str>,
        events: Vec<Event>,
    ) -> Result<()> {
        self.check_recordable(&events)?;
        for list in lists {
            atomic.touch_list(organization, list).await?;
        }
        atomic.commit().await?;
        self.record_events(organization, events)
    }
}

/// The lists that new records change, each once, and the events of the records.
pub(crate) fn changes_of_new<E: Entity>(ids: &[E::Id], records: &[E]) -> (Vec<&'static str>, Vec<Event>) {
    let mut lists: Vec<&'static str> = records.iter().flat_map(|record| record.lists_changed(None)).collect();
    lists.sort_unstable();
    lists.dedup();
    let events = ids.iter().zip(records).flat_map(|(id, record)| record.events(*id, None)).collect();
    (lists, events)
}

/// See the documentation of this module.
macro_rules! records {
    (scoped $table:ident: $($clauses:tt)+) => {
        $crate::scoped::scoped! { $table }
        $crate::records::records! { $table: $($clauses)+ }
    };
    (
        $table:ident: $Id:ident => $Model:ident;
        $(read $read:path;)?
        $(changeset $changeset:path;)?
        $(write $write:path;)?
        $(many $many:tt $(then $write_many:path)?;)?
    ) => {
        $crate::columns::ids!($Id);

        const _: () = {
            use ::civitas_kernel::records::{Change, Entity, Records};
            use ::civitas_kernel::{OrganizationId, Result};
            use $crate::columns::{self, ColumnValue};
            use $crate::engine::dialect;
            use $crate::prepared::PrepareOnce;
            use $crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
            use $crate::tables::texts;

            #[::async_trait::async_trait]
            impl Records<$Model> for Session {
                async fn find(&self, organization: OrganizationId, id: $Id) -> Result<Option<$Model>> {
                    let connection = &mut *self.read().await?;
                    let row = rows_of(organization).filter($table::id.eq(id.to_column()));
                    let rows = row.select(columns::all_columns::<Row>()).rows_from(borrowed_connection(connection)).await?;
                    let found: Vec<($Id, $Model)> = $crate::records::records!(@read connection rows $($read)?);
                    Ok(found.into_iter().next().map(|(_, record)| record))
                }

                async fn find_for_update(&self, organization: OrganizationId, id: $Id) -> Result<Option<$Model>> {
                    let connection = &mut *self.for_update().await?;
                    let row = rows_of(organization).filter($table::id.eq(id.to_column())).select(columns::all_columns::<Row>());
                    let rows = dialect::for_update!(row).rows_from(borrowed_connection(connection)).await?;
                    let found: Vec<($Id, $Model)> = $crate::records::records!(@read connection rows $($read)?);
                    Ok(found.into_iter().next().map(|(_, record)| record))
                }

                async fn add(&self, organization: OrganizationId, record: &$Model) -> Result<$Id> {
                    let atomic = self.transaction().await?;
                    let mut guard = atomic.connection().await?;
                    let connection = &mut *guard;
                    let written = $crate::records::records!(@changeset connection organization record $($changeset)?);
                    let assigned = self.take_assigned(stringify!($table));
                    let id: Option<i64> = if assigned.is_empty() {
                        ::diesel::insert_into($table::table)
                            .values(($table::organization_id.eq(organization.0), written))
                            .on_conflict_do_nothing()
                            .returning($table::id)
                            .row_from(borrowed_connection(connection))
                            .await?
                    } else {
                        let (table, rows) = (stringify!($table), [written]);
                        let ids = $crate::insert::insert_records(connection, table, organization, assigned, &rows);
                        ids.await?.and_then(|ids| ids.into_iter().next())
                    };
                    let id = id.map(<$Id>::from_column).ok_or_else(<$Model as Entity>::key_taken_error)?;
                    $($write(connection, organization, id, None, record).await?;)?
                    let texts = texts::search_texts(id.to_column(), record);
                    texts::save(connection, organization, stringify!($table), texts).await?;
                    drop(guard);
                    let (lists, events) = (record.lists_changed(None), record.events(id, None));
                    self.finish_write(atomic, organization, lists, events).await?;
                    Ok(id)
                }

                $(
                    async fn add_many(
                        &self,
                        organization: OrganizationId,
                        records: &[$Model],
                    ) -> Result<Option<Vec<$Id>>> {
                        let atomic = self.transaction().await?;
                        let mut guard = atomic.connection().await?;
                        let connection = &mut *guard;
                        let rows = $crate::records::records!(@many connection organization records $many);
                        let table = stringify!($table);
                        let assigned = self.take_assigned(table);
                        let ids = $crate::insert::insert_records(connection, table, organization, assigned, &rows);
                        let Some(ids) = ids.await? else { return Ok(None) };
                        let ids: Vec<$Id> = ids.into_iter().map(<$Id>::from_column).collect();
                        $($write_many(connection, organization, &ids, records).await?;)?
                        let texts = ids.iter().zip(records).filter_map(|(id, record)| texts::search_texts(id.to_column(), record));
                        let texts: Vec<_> = texts.collect();
                        texts::save(connection, organization, table, texts).await?;
                        drop(guard);
                        let (lists, events) = $crate::records::changes_of_new(&ids, records);
                        self.finish_write(atomic, organization, lists, events).await?;
                        Ok(Some(ids))
                    }
                )?

                async fn save(&self, organization: OrganizationId, id: $Id, change: &Change<$Model>) -> Result<()> {
                    let atomic = self.transaction().await?;
                    let mut guard = atomic.connection().await?;
                    let connection = &mut *guard;
                    let record = &change.after;
                    let written = $crate::records::records!(@changeset connection organization record $($changeset)?);
                    ::diesel::update(rows_of(organization).filter($table::id.eq(id.to_column())))
                        .set(written)
                        .prepare_once()
                        .save_on(borrowed_connection(connection), <$Model as Entity>::key_taken_error)
                        .await?;
                    $($write(connection, organization, id, Some(&change.before), record).await?;)?
                    let texts = texts::changed_search_texts(id.to_column(), change);
                    texts::save(connection, organization, stringify!($table), texts).await?;
                    drop(guard);
                    self.finish_write(atomic, organization, change.lists_changed(), change.events(id)).await
                }

                async fn page_after(
                    &self,
                    organization: OrganizationId,
                    after: Option<$Id>,
                    limit: i64,
                ) -> Result<Vec<($Id, $Model)>> {
                    let connection = &mut *self.read().await?;
                    let rows = rows_of(organization)
                        .filter($table::id.gt(after.map_or(i64::MIN, |id| id.to_column())))
                        .order($table::id)
                        .limit(limit)
                        .select(columns::all_columns::<Row>())
                        .rows_from(borrowed_connection(connection))
                        .await?;
                    Ok($crate::records::records!(@read connection rows $($read)?))
                }
            }
        };
    };
    (@read $connection:ident $rows:ident) => {{
        let rows: Vec<Row> = $rows;
        rows.into_iter().map(Into::into).collect()
    }};
    (@read $connection:ident $rows:ident $read:path) => { $read($connection, $rows).await? };
    (@many $connection:ident $organization:ident $records:ident plain) => {
        $records.iter().map(Changeset::new).collect::<Vec<_>>()
    };
    (@many $connection:ident $organization:ident $records:ident $many:ident) => {
        $many($connection, $organization, $records).await?
    };
    (@changeset $connection:ident $organization:ident $record:ident) => { Changeset::new($record) };
    (@changeset $connection:ident $organization:ident $record:ident $changeset:path) => {
        $changeset($connection, $organization, $record).await?
    };
}

/// The same for a table whose key is a kind and a number, and whose numbers are taken per kind:
/// `numbered_records! { scoped spaces: SpaceRef by kind as manifest: SpaceKind => Space; unique (manifest, slug); }`.
/// The kind is a member of the reference and of the model; its column follows `as`. `unique` is the key whose collision is
/// [`Entity::key_taken_error`].
///
/// [`Entity::key_taken_error`]: civitas_kernel::records::Entity::key_taken_error
macro_rules! numbered_records {
    (scoped $table:ident: $($clauses:tt)+) => {
        $crate::scoped::scoped! { $table }
        $crate::records::numbered_records! { $table: $($clauses)+ }
    };
    (
        $table:ident: $Ref:ident by $kind:ident as $column:ident: $Kind:ident => $Model:ident;
        $(unique ($($unique:ident),+);)?
    ) => {
        const _: () = {
            use ::civitas_kernel::records::{Change, Entity, Records};
            use ::civitas_kernel::{OrganizationId, Result};
            use ::diesel::dsl::{Eq, Filter, max};
            use $crate::columns::{self, EnumColumn};
            use $crate::engine::{Db, dialect};
            use $crate::prepared::PrepareOnce;
            use $crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session};
            use $crate::tables::id_spaces;
            use $crate::tables::texts;

            type OfKind = Filter<Scoped, Eq<$table::$column, EnumColumn<$Kind>>>;

            fn row(organization: OrganizationId, id: $Ref) -> Filter<OfKind, Eq<$table::id, i64>> {
                rows_of(organization).filter($table::$column.eq(EnumColumn(id.$kind))).filter($table::id.eq(id.id))
            }

            #[::async_trait::async_trait]
            impl Records<$Model> for Session {
                async fn find(&self, organization: OrganizationId, id: $Ref) -> Result<Option<$Model>> {
                    let found = row(organization, id).model_from::<Row, ($Ref, $Model)>(self.read()).await?;
                    Ok(found.map(|(_, record)| record))
                }

                async fn find_for_update(&self, organization: OrganizationId, id: $Ref) -> Result<Option<$Model>> {
                    let locked = dialect::for_update!(row(organization, id).select(columns::all_columns::<Row>()));
                    let row: Option<Row> = locked.row_from(self.for_update()).await?;
                    Ok(row.map(|row| <($Ref, $Model)>::from(row).1))
                }

                async fn add(&self, organization: OrganizationId, record: &$Model) -> Result<$Ref> {
                    let atomic = self.transaction().await?;
                    let kind = record.$kind.as_str();
                    let number = match self.take_assigned_id(kind) {
                        Some(assigned) => assigned,
                        // Of two that take the same number at once on PostgreSQL one meets the primary key: `Conflict`,
                        // tried again.
                        None => {
                            let last: Option<i64> = $table::table
                                .filter($table::$column.eq(EnumColumn(record.$kind)))
                                .select(max($table::id))
                                .value_from(atomic.connection())
                                .await?;
                            let floor = id_spaces::highest_reserved_id(&mut *atomic.connection().await?, kind).await?;
                            last.unwrap_or(0).max(floor) + 1
                        }
                    };
                    let id = $Ref { $kind: record.$kind, id: number };
                    let added = ::diesel::insert_into($table::table)
                        .values((
                            $table::$column.eq(EnumColumn(id.$kind)),
                            $table::id.eq(id.id),
                            $table::organization_id.eq(organization.0),
                            Changeset::new(record),
                        ))
                        $(.on_conflict(($($table::$unique),+)).do_nothing())?
                        .run_on(atomic.connection())
                        .await?;
                    if added == 0 {
                        return Err(<$Model as Entity>::key_taken_error());
                    }
                    let mut guard = atomic.connection().await?;
                    texts::save(&mut guard, organization, id.$kind.as_str(), texts::search_texts(id.id, record)).await?;
                    drop(guard);
                    let (lists, events) = (record.lists_changed(None), record.events(id, None));
                    self.finish_write(atomic, organization, lists, events).await?;
                    Ok(id)
                }

                async fn save(&self, organization: OrganizationId, id: $Ref, change: &Change<$Model>) -> Result<()> {
                    let atomic = self.transaction().await?;
                    ::diesel::update(row(organization, id))
                        .set(Changeset::new(&change.after))
                        .prepare_once()
                        .save_on(atomic.connection(), <$Model as Entity>::key_taken_error)
                        .await?;
                    let mut guard = atomic.connection().await?;
                    texts::save(&mut guard, organization, id.$kind.as_str(), texts::changed_search_texts(id.id, change)).await?;
                    drop(guard);
                    self.finish_write(atomic, organization, change.lists_changed(), change.events(id)).await
                }

                async fn page_after(
                    &self,
                    organization: OrganizationId,
                    after: Option<$Ref>,
                    limit: i64,
                ) -> Result<Vec<($Ref, $Model)>> {
                    let mut rows = rows_of(organization).into_boxed::<Db>();
                    if let Some($Ref { $kind: kind, id }) = after {
                        let same = $table::$column.eq(EnumColumn(kind)).and($table::id.gt(id));
                        rows = rows.filter($table::$column.gt(EnumColumn(kind)).or(same));
                    }
                    let some = rows.order(($table::$column, $table::id)).limit(limit);
                    some.models_from::<Row, _>(self.read()).await
                }
            }
        };
    };
}

pub(crate) use {numbered_records, records};
