//! Roles of people in spaces, and invitations to them.

#![expect(clippy::ref_option_ref, reason = "what Diesel derives borrows each field")]

use crate::columns::{self, Name};
use crate::engine::Db;
use crate::failure::{Stored, changed};
use crate::schema::roles;
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::{Role, RoleKind, RoleStore};
use civitas_kernel::{Error, OrganizationId, Result, SpaceManifest, SpaceRef, UserId};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[derive(Queryable, Selectable)]
#[diesel(table_name = roles, check_for_backend(Db))]
struct Row {
    id: i64,
    space_manifest: Name<SpaceManifest>,
    space_id: i64,
    user_id: Option<i64>,
    email: Option<String>,
    kind: Name<RoleKind>,
    invited_at: Option<OffsetDateTime>,
    accepted_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl From<Row> for (i64, Role) {
    fn from(row: Row) -> Self {
        let role = Role {
            space: SpaceRef { manifest: row.space_manifest.0, id: row.space_id },
            user: row.user_id.map(UserId),
            email: row.email,
            kind: row.kind.0,
            invited_at: row.invited_at,
            accepted_at: row.accepted_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        (row.id, role)
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = roles, treat_none_as_null = true, treat_none_as_default_value = false)]
struct Written<'a> {
    space_manifest: Name<SpaceManifest>,
    space_id: i64,
    user_id: Option<i64>,
    email: Option<&'a str>,
    kind: Name<RoleKind>,
    invited_at: Option<OffsetDateTime>,
    accepted_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl<'a> From<&'a Role> for Written<'a> {
    fn from(role: &'a Role) -> Self {
        Self {
            space_manifest: Name(role.space.manifest),
            space_id: role.space.id,
            user_id: role.user.map(|user| user.0),
            email: role.email.as_deref(),
            kind: Name(role.kind),
            invited_at: role.invited_at,
            accepted_at: role.accepted_at,
            created_at: role.created_at,
            updated_at: role.updated_at,
        }
    }
}

const TAKEN: &str = "Role has already been given to this user";

type Scoped = diesel::dsl::Filter<roles::table, diesel::dsl::Eq<roles::organization_id, i64>>;

/// The roles of one organization; the only door to the table.
fn of(organization: OrganizationId) -> Scoped {
    roles::table.filter(roles::organization_id.eq(organization.0))
}

#[async_trait]
impl RoleStore for Session {
    async fn find(&self, organization: OrganizationId, id: i64) -> Result<Option<Role>> {
        let row: Option<Row> = of(organization)
            .filter(roles::id.eq(id))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(i64, Role)>::from(row).1))
    }

    async fn add(&self, organization: OrganizationId, role: &Role) -> Result<i64> {
        let id: Option<i64> = diesel::insert_into(roles::table)
            .values((roles::organization_id.eq(organization.0), Written::from(role)))
            .on_conflict_do_nothing()
            .returning(roles::id)
            .get_result(&mut *self.write().await?)
            .await
            .optional()
            .stored()?;
        id.ok_or_else(|| Error::rejected(TAKEN))
    }

    async fn save(&self, organization: OrganizationId, id: i64, role: &Role) -> Result<()> {
        diesel::update(of(organization).filter(roles::id.eq(id)))
            .set(Written::from(role))
            .execute(&mut *self.write().await?)
            .await
            .stored_unless_taken(TAKEN)
            .and_then(changed)
    }

    async fn of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        space: SpaceRef,
    ) -> Result<Vec<Role>> {
        let rows: Vec<Row> = of(organization)
            .filter(roles::user_id.eq(user.0))
            .filter(roles::space_manifest.eq(Name(space.manifest)))
            .filter(roles::space_id.eq(space.id))
            .filter(roles::invited_at.is_null().or(roles::accepted_at.is_not_null()))
            .order(roles::id)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(|row| <(i64, Role)>::from(row).1).collect())
    }

    async fn after(
        &self,
        organization: OrganizationId,
        after: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Role)>> {
        let rows: Vec<Row> = of(organization)
            .filter(roles::id.gt(after.unwrap_or(i64::MIN)))
            .order(roles::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
