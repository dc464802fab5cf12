//! People's accounts.

use crate::columns::{self, Condition, columns};
use crate::engine::{Db, dialect};
use crate::failure::{Stored, changed};
use crate::filter::{Column, holds};
use crate::schema::{access_tokens, users};
use crate::session::{Atomic, Session};
use async_trait::async_trait;
use civitas_accounts::{User, UserField, UserFilter, UserStore};
use civitas_kernel::extended_data::canonical_object;
use civitas_kernel::{
    Change, Error, Event, EventName, Locale, OrganizationId, Page, PageRequest, Result, Subject, UserId,
};
use diesel::dsl::{case_when, exists};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use time::OffsetDateTime;

columns! {
    /// An account as its row stores it.
    users as User;
    id UserId;
    fields {
        nickname: String,
        email: String,
        name: String,
        password_hash: Option<String>,
        admin: bool,
        locale: Option<Locale>,
        about: Option<String>,
        personal_url: Option<String>,
        confirmed_at: Option<OffsetDateTime>,
        blocked_at: Option<OffsetDateTime>,
        locked_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        managed: bool,
        tos_accepted_at: Option<OffsetDateTime>,
        failed_logins: i64,
        extended_data: Map<String, Value>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    write_only {
        nickname_folded: String = |user| folded(&user.nickname),
        extended_data_text: String = |user| canonical_object(&user.extended_data),
    }
}

/// The form in which nicknames are unique.
fn folded(nickname: &str) -> String {
    nickname.to_lowercase()
}

type Scoped = diesel::dsl::Filter<users::table, diesel::dsl::Eq<users::organization_id, i64>>;

/// The accounts of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    users::table.filter(users::organization_id.eq(organization.0))
}

fn condition(filter: &UserFilter) -> Result<Condition<users::table>> {
    let column = match filter.field {
        UserField::Nickname => Column::Text(Box::new(users::nickname.nullable())),
        UserField::Id => Column::Integer(Box::new(users::id.nullable())),
        UserField::ExtendedData => Column::Text(Box::new(users::extended_data_text.nullable())),
    };
    holds(column, &filter.condition)
}

/// Whether an account sees as an administrator does, and whether service tokens may see through it.
fn sights(user: &User) -> [bool; 2] {
    let admin = user.admin && user.deleted_at.is_none();
    [admin, admin && user.confirmed_at.is_some() && user.blocked_at.is_none()]
}

/// Notes what a change of an account takes from lists, and whom it shows them otherwise.
async fn note_change(
    atomic: &Atomic<'_>,
    organization: OrganizationId,
    before: Option<&User>,
    after: &User,
) -> Result<()> {
    let leaves = before.is_some_and(|user| user.deleted_at.is_none()) && after.deleted_at.is_some();
    let (had, has) = (before.map(sights).unwrap_or_default(), sights(after));
    for (list, noted) in [("roles", leaves || (had[0] && !has[0])), ("spaces", had != has), ("users", leaves)]
    {
        if noted {
            atomic.touch_list(organization, list).await?;
        }
    }
    Ok(())
}

#[async_trait]
impl UserStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        filters: &[UserFilter],
        page: PageRequest,
    ) -> Result<Page<(UserId, User)>> {
        let mut rows = of(organization)
            .filter(users::deleted_at.is_null())
            .select(columns::of::<Row>())
            .into_boxed::<Db>();
        for filter in filters {
            rows = rows.filter(condition(filter)?);
        }
        let rows: Vec<Row> = rows
            .order(users::id)
            .limit(page.fetch())
            .offset(page.offset())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(Page::cut(rows.into_iter().map(Into::into).collect(), page))
    }

    async fn find(&self, organization: OrganizationId, id: UserId) -> Result<Option<User>> {
        let row: Option<Row> = of(organization)
            .filter(users::id.eq(id.0))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(UserId, User)>::from(row).1))
    }

    async fn find_for_update(&self, organization: OrganizationId, id: UserId) -> Result<Option<User>> {
        let account = of(organization).filter(users::id.eq(id.0)).select(columns::of::<Row>());
        let row: Option<Row> = dialect::for_update!(account)
            .get_result(&mut *self.for_update().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(UserId, User)>::from(row).1))
    }

    async fn find_by_nickname(
        &self,
        organization: OrganizationId,
        nickname: &str,
    ) -> Result<Option<(UserId, User)>> {
        let row: Option<Row> = of(organization)
            .filter(users::nickname_folded.eq(folded(nickname)))
            .filter(users::deleted_at.is_null())
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(Into::into))
    }

    async fn has_email(&self, organization: OrganizationId, email: &str) -> Result<bool> {
        let living = of(organization).filter(users::email.eq(email)).filter(users::deleted_at.is_null());
        diesel::select(exists(living)).get_result(&mut *self.read().await?).await.stored()
    }

    async fn add(&self, organization: OrganizationId, user: &User, announce: &[EventName]) -> Result<UserId> {
        self.check_recordable(announce)?;
        let atomic = self.atomic().await?;
        let id: Option<i64> = diesel::insert_into(users::table)
            .values((users::organization_id.eq(organization.0), Changeset::of(user)))
            .on_conflict_do_nothing()
            .returning(users::id)
            .get_result(&mut *atomic.connection().await?)
            .await
            .optional()
            .stored()?;
        let id = id.map(UserId).ok_or_else(|| Error::Conflict("nickname or e-mail are taken".into()))?;
        note_change(&atomic, organization, None, user).await?;
        atomic.commit().await?;
        let events = announce.iter().map(|name| Event { name: *name, subject: Subject::User(id) });
        self.record_events(organization, events)?;
        Ok(id)
    }

    async fn save(&self, organization: OrganizationId, id: UserId, change: Change<User>) -> Result<()> {
        let Change { state, events } = change;
        self.check_recordable(&events)?;
        let atomic = self.atomic().await?;
        let before: Option<Row> = of(organization)
            .filter(users::id.eq(id.0))
            .select(columns::of::<Row>())
            .first(&mut *atomic.connection().await?)
            .await
            .optional()
            .stored()?;
        let (_, before): (UserId, User) = before.ok_or(Error::NotFound)?.into();
        diesel::update(of(organization).filter(users::id.eq(id.0)))
            .set(Changeset::of(&state))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()
            .and_then(changed)?;
        if let Some(at) = state.deleted_at {
            diesel::update(access_tokens::table)
                .filter(access_tokens::user_id.eq(id.0))
                .filter(access_tokens::revoked_at.is_null())
                .set(access_tokens::revoked_at.eq(at))
                .execute(&mut *atomic.connection().await?)
                .await
                .stored()?;
        }
        note_change(&atomic, organization, Some(&before), &state).await?;
        atomic.commit().await?;
        self.record_events(organization, events)
    }

    async fn count_failed_login(
        &self,
        organization: OrganizationId,
        id: UserId,
        limit: i64,
        now: OffsetDateTime,
    ) -> Result<()> {
        let is_last = users::locked_at.is_null().and((users::failed_logins + 1).ge(limit));
        diesel::update(of(organization).filter(users::id.eq(id.0)))
            .set((
                users::failed_logins.eq(users::failed_logins + 1),
                users::locked_at
                    .eq(case_when(is_last, Some(now).into_sql::<MaybeMoment>()).otherwise(users::locked_at)),
            ))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .map(drop)
    }

    async fn forget_failed_logins(&self, organization: OrganizationId, id: UserId) -> Result<()> {
        diesel::update(of(organization).filter(users::id.eq(id.0)))
            .filter(users::failed_logins.ne(0))
            .set(users::failed_logins.eq(0))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .map(drop)
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<UserId>,
        limit: i64,
    ) -> Result<Vec<(UserId, User)>> {
        let rows: Vec<Row> = of(organization)
            .filter(users::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(users::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}

type MaybeMoment = diesel::sql_types::Nullable<crate::engine::sql::Moment>;
