//! Reads of records of components in two steps (docs/decisions/0021). Step one reads the set of visible components:
//! [`VisibleComponents::load`]. Step two reads only the table of the records, restricted to the set, in the order of a
//! partial index on `(organization_id, time, id, component_id)` or `(component_id, time, id)`. [`super::listing`] reads the
//! rows of a page.

use super::components::{ComponentInSpace, is_in_space};
use super::planner::CheckedRows;
use super::select::{RecordSelect, TableColumn};
use crate::columns::{Condition, EnumColumn, Expr, unindexed};
use crate::engine::dialect::BoundIds;
use crate::engine::{Conn, Db, dialect};
use crate::lookups::VisibleSetKey;
use crate::optional::filter_some;
use crate::schema::{components, spaces};
use crate::session::{LoadRowsExt, Session, borrowed_connection};
use crate::visibility::VisibilityRule;
use civitas_kernel::{LocationFilter, OrganizationId, ReadContext, Result};
use civitas_spaces::ComponentKind;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::sync::Arc;

/// The components of one organization that a reader sees, inside a part of it.
#[derive(Debug)]
pub(super) struct VisibleComponents {
    pub(super) organization: i64,
    ids: Arc<ComponentIds>,
}

/// A set of components.
#[derive(Debug)]
pub(crate) struct ComponentIds {
    ids: Vec<i64>,
    bound: BoundIds,
    /// Whether the organization has no other component of the kind, so that all its records are in one of these.
    all: bool,
}

impl ComponentIds {
    /// Their number.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl Default for ComponentIds {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<i64>> for ComponentIds {
    fn from(ids: Vec<i64>) -> Self {
        Self { bound: BoundIds::new(&ids), ids, all: false }
    }
}

impl VisibleComponents {
    fn new(organization: OrganizationId, ids: ComponentIds) -> Self {
        Self { organization: organization.0, ids: Arc::new(ids) }
    }

    /// Reads the set, of one kind or of all: one statement, over components and spaces only. It is cached, unless a part
    /// by space is read. With the kind of the records the set is as small as possible: one component is cheaper than two.
    pub(super) async fn load(
        session: &Session,
        read_context: ReadContext,
        within: LocationFilter,
        kind: Option<ComponentKind>,
    ) -> Result<Self> {
        let organization = read_context.organization.0;
        let read = async || {
            let connection = &mut *session.read().await?;
            match kind {
                Some(kind) if within == LocationFilter::default() => {
                    Self::load_kind(connection, read_context, kind).await
                }
                _ => {
                    let conditions = kind.map(is_of_kind).into_iter().collect();
                    Self::load_where(connection, read_context, within, conditions).await
                }
            }
        };
        if within.space_kind.is_some() || within.space_id.is_some() {
            return read().await;
        }
        let key =
            VisibleSetKey { organization, viewer: read_context.viewer, component: within.component, kind };
        let ids = session.look_up(|lookups| &lookups.components, key, async {
            Ok(Some(read().await?.ids).filter(|found| found.len() > 0))
        });
        Ok(Self { organization, ids: ids.await?.unwrap_or_default() })
    }

    /// Reads the part of the set of one kind that satisfies these filters.
    pub(super) async fn load_filtered(
        session: &Session,
        read_context: ReadContext,
        within: LocationFilter,
        kind: ComponentKind,
        filters: Vec<Condition<ComponentInSpace>>,
    ) -> Result<Self> {
        if filters.is_empty() {
            return Self::load(session, read_context, within, Some(kind)).await;
        }
        let conditions = filters.into_iter().chain([is_of_kind(kind)]).collect();
        Self::load_where(&mut *session.read().await?, read_context, within, conditions).await
    }

    /// Reads the part of one kind, and whether there are others of the kind.
    async fn load_kind(
        connection: &mut Conn,
        read_context: ReadContext,
        kind: ComponentKind,
    ) -> Result<Self> {
        let of_kind: Vec<(i64, Option<bool>)> = components::table
            .inner_join(spaces::table.on(is_in_space()))
            .filter(components::organization_id.eq(read_context.organization.0))
            .filter(is_of_kind(kind))
            .select((components::id, VisibilityRule::ComponentIsVisible(read_context.viewer)))
            .rows_from(borrowed_connection(connection))
            .await?;
        let count = of_kind.len();
        let visible = of_kind.into_iter().filter(|(_, visible)| *visible == Some(true));
        let ids: Vec<i64> = visible.map(|(id, _)| id).collect();
        let all = !ids.is_empty() && ids.len() == count;
        Ok(Self::new(read_context.organization, ComponentIds { all, ..ids.into() }))
    }

    /// Reads the part of the set that satisfies these conditions.
    pub(super) async fn load_where(
        connection: &mut Conn,
        read_context: ReadContext,
        within: LocationFilter,
        conditions: Vec<Condition<ComponentInSpace>>,
    ) -> Result<Self> {
        let mut visible = components::table
            .inner_join(spaces::table.on(is_in_space()))
            .filter(components::organization_id.eq(read_context.organization.0))
            .filter(VisibilityRule::ComponentIsVisible(read_context.viewer))
            .filter(VisibilityRule::IsWithin(within))
            .select(components::id)
            .into_boxed::<Db>();
        filter_some!(visible; within.component => |component| components::id.eq(component.0));
        for condition in conditions {
            visible = visible.filter(condition);
        }
        let ids: Vec<i64> = visible.rows_from(borrowed_connection(connection)).await?;
        Ok(Self::new(read_context.organization, ids.into()))
    }

    /// Reads the components of this kind that are not deleted, visible or not.
    pub(super) async fn load_of_kind(
        connection: &mut Conn,
        organization: OrganizationId,
        within: LocationFilter,
        kind: ComponentKind,
    ) -> Result<Self> {
        let mut found = RecordSelect::from_table("components")
            .filter(components::organization_id.eq(organization.0))
            .filter(is_of_kind(kind))
            .filter(components::deleted_at.is_null())
            .filter(VisibilityRule::IsWithin(within));
        filter_some!(found; within.component => |component| components::id.eq(component.0));
        Ok(Self::new(organization, found.load_ids(connection).await?.into()))
    }

    /// Their ids.
    pub(super) fn ids(&self) -> &[i64] {
        &self.ids.ids
    }

    /// Whether no component is visible; then no record is visible.
    pub(super) fn is_empty(&self) -> bool {
        self.ids.ids.is_empty()
    }

    /// Whether a record of a table belongs to one of them, for a statement that reads in the order of an index: with one
    /// component the index by component gives the order, else the index by organization. If they are all components of the
    /// kind, the component of a record is not compared: a skipped record costs a step in the index.
    pub(super) fn contain<QS: 'static>(&self, table: &'static str, checked: CheckedRows) -> Condition<QS> {
        let [organization, component] = ["organization_id", "component_id"]
            .map(|name| -> Expr<QS, BigInt> { Box::new(TableColumn::new(table, name)) });
        match self.ids.ids[..] {
            [id] => Box::new(component.eq(id)),
            _ if self.ids.all => Box::new(organization.eq(self.organization)),
            _ => Box::new(organization.eq(self.organization).and(self.contain_by_id(table, checked))),
        }
    }

    /// The same for a statement that finds its rows by id. If they are few, no index of components is used.
    pub(super) fn contain_by_id<QS: 'static>(
        &self,
        table: &'static str,
        checked: CheckedRows,
    ) -> Condition<QS> {
        let component: Expr<QS, BigInt> = Box::new(TableColumn::new(table, "component_id"));
        let component = match checked {
            CheckedRows::Few => unindexed(component),
            CheckedRows::Many => dialect::unindexed(component),
        };
        match (&self.ids.ids[..], checked) {
            ([id], _) => Box::new(component.eq(*id)),
            (_, CheckedRows::Few) => dialect::is_one_of_few(component, &self.ids.bound),
            (_, CheckedRows::Many) => dialect::is_one_of(component, &self.ids.bound),
        }
    }
}

/// Whether a component is of this kind.
pub(super) fn is_of_kind(kind: ComponentKind) -> Condition<ComponentInSpace> {
    Box::new(components::manifest.eq(EnumColumn(kind)).nullable())
}
