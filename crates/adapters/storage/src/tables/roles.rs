//! Roles of users in spaces, and invitations to them.

mod listing;

use crate::columns::{self, Condition, EnumColumn, columns};
use crate::engine::dialect;
use crate::records::records;
use crate::schema::{roles, spaces};
use crate::session::{LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{Role, RoleDetail, RoleFilter, RoleKind, RoleStore, SpaceRoleId};
use civitas_kernel::{OrganizationId, Page, PageRequest, Result, SpaceKind, SpaceRef, UserId};
use diesel::dsl::exists;
use diesel::prelude::*;
use time::{Duration, OffsetDateTime};

columns! {
    /// A role as its row stores it.
    roles as Role;
    read_only { id: i64 }
    fields {
        user as user_id: Option<UserId>,
        email: Option<String>,
        kind: RoleKind,
        invited_at: Option<OffsetDateTime>,
        accepted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    nested {
        space: SpaceRef { kind as space_manifest: SpaceKind, id as space_id: i64 },
    }
}

impl From<Row> for (i64, Role) {
    fn from(row: Row) -> Self {
        (row.id, row.into_model())
    }
}

/// The role of this name. The time of an invitation is more precise in rows than in names.
fn named(id: &SpaceRoleId) -> Condition<roles::table> {
    let in_space = roles::space_manifest.eq(EnumColumn(id.space.kind)).and(roles::space_id.eq(id.space.id));
    let user: Condition<roles::table> = match id.user {
        Some(user) => Box::new(roles::user_id.eq(user.0)),
        None => Box::new(roles::user_id.is_null().nullable()),
    };
    let invited: Condition<roles::table> = match id.invited_at {
        Some(at) => {
            Box::new(roles::invited_at.ge(at).and(roles::invited_at.lt(at.saturating_add(Duration::SECOND))))
        }
        None => Box::new(roles::invited_at.is_null().nullable()),
    };
    Box::new(
        in_space
            .and(roles::kind.eq(EnumColumn(id.kind)))
            .and(user)
            .and(invited)
            .and(listing::is_of_existing_user()),
    )
}

records! { scoped roles: i64 => Role; many plain; }

#[async_trait]
impl RoleStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        filters: &[RoleFilter],
        page: PageRequest,
    ) -> Result<Page<RoleDetail>> {
        listing::list(&mut *self.read_page(page, !filters.is_empty()).await?, organization, filters, page)
            .await
    }

    async fn find_by_id(&self, organization: OrganizationId, id: &SpaceRoleId) -> Result<Option<Role>> {
        let role = rows_of(organization).filter(named(id)).order(roles::id);
        Ok(role.model_from::<Row, (i64, Role)>(self.read()).await?.map(|(_, role)| role))
    }

    async fn find_by_id_for_update(
        &self,
        organization: OrganizationId,
        id: &SpaceRoleId,
    ) -> Result<Option<(i64, Role)>> {
        let first = rows_of(organization).filter(named(id)).order(roles::id);
        dialect::for_update!(first).model_from::<Row, _>(self.for_update()).await
    }

    async fn has(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        user: UserId,
        kind: RoleKind,
    ) -> Result<bool> {
        let given = rows_of(organization)
            .filter(roles::space_manifest.eq(EnumColumn(space.kind)))
            .filter(roles::space_id.eq(space.id))
            .filter(roles::user_id.eq(user.0))
            .filter(roles::kind.eq(EnumColumn(kind)));
        diesel::select(exists(given)).value_from(self.read()).await
    }

    async fn has_space(&self, organization: OrganizationId, space: SpaceRef) -> Result<bool> {
        let here = spaces::table
            .filter(spaces::organization_id.eq(organization.0))
            .filter(spaces::manifest.eq(EnumColumn(space.kind)))
            .filter(spaces::id.eq(space.id));
        diesel::select(exists(here)).value_from(self.read()).await
    }

    async fn remove(&self, organization: OrganizationId, id: i64) -> Result<()> {
        let atomic = self.transaction().await?;
        let removed: Option<Row> = diesel::delete(rows_of(organization).filter(roles::id.eq(id)))
            .returning(columns::all_columns::<Row>())
            .row_from(atomic.connection())
            .await?;
        let lists = removed.map(|row| row.into_model().lists_of_removal()).unwrap_or_default();
        self.finish_write(atomic, organization, lists, Vec::new()).await
    }
}
