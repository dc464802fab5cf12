//! Accounts of users.

use crate::columns::{self, Condition, Expr, columns};
use crate::engine::{Db, dialect};
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::records::records;
use crate::schema::users;
use crate::session::{LoadModelsExt, LoadRowsExt, Session};
use crate::tables::texts::{self, TextPart};
use async_trait::async_trait;
use civitas_accounts::{MAX_COUNTED, User, UserField, UserFilter, UserSearch, UserSort, UserStore};
use civitas_kernel::extended_data::{ExtendedDataValue, canonical_object};
use civitas_kernel::filter::FilterCondition;
use civitas_kernel::{Locale, OrganizationId, Page, PageRequest, Result, UserId};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::Text;
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
        extended_data: ExtendedDataValue,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    write_only {
        nickname_folded: String = |user| folded_nickname(&user.nickname),
        extended_data_text: String = |user| canonical_object(&user.extended_data),
    }
}

/// The nickname in the order of its bytes.
pub(super) fn nickname() -> Expr<users::table, Text> {
    dialect::in_bytes(Box::new(users::nickname_folded.nullable()))
}

/// The form in which nicknames are unique.
pub(super) fn folded_nickname(nickname: &str) -> String {
    nickname.to_lowercase()
}

fn condition(filter: &UserFilter, organization: OrganizationId) -> Result<Condition<users::table>> {
    let column = match filter.field {
        UserField::Nickname => FilterColumn::Ascii(Box::new(users::nickname.nullable())),
        UserField::Id => FilterColumn::Integer(Box::new(users::id.nullable())),
        UserField::Name if matches!(filter.condition, FilterCondition::Words(_)) => {
            return texts::matches_by_index("users", organization, TextPart::Title, &filter.condition);
        }
        UserField::Name => FilterColumn::Text(Box::new(users::name.nullable())),
        UserField::Email => FilterColumn::Text(Box::new(users::email.nullable())),
        UserField::CreatedAt => FilterColumn::Time(Box::new(users::created_at.nullable())),
        UserField::UpdatedAt => FilterColumn::Time(Box::new(users::updated_at.nullable())),
        UserField::ExtendedData => FilterColumn::Text(Box::new(users::extended_data_text.nullable())),
    };
    column_condition(column, &filter.condition)
}

records! { scoped users: UserId => User; many plain; }

#[async_trait]
impl UserStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        filters: &[UserFilter],
        page: PageRequest,
    ) -> Result<Page<(UserId, User)>> {
        let connection = &mut *self.read_page(page, !filters.is_empty()).await?;
        let living = || {
            rows_of(organization).filter(users::deleted_at.is_null()).select(columns::all_columns::<Row>())
        };
        let page: Page<Row> = list_page!(connection, page, self.bounds; living().into_boxed::<Db>();
            filters, |filter| condition(filter, organization); users, users::id);
        Ok(page.map(Into::into))
    }

    async fn search(
        &self,
        organization: OrganizationId,
        search: &UserSearch,
        page: PageRequest,
    ) -> Result<Page<(UserId, User)>> {
        // At most three statements.
        let Some(found) = self.found_users_query(organization, search).await? else {
            return Ok(Page::new(Vec::new(), false));
        };
        let found = match search.sort {
            UserSort::Newest => found.order((users::created_at.desc(), users::id.desc())),
            UserSort::Nickname => found.order((nickname(), users::id)),
        };
        found.page_from::<Row, _>(page, self.read_long()).await
    }

    async fn count_found(&self, organization: OrganizationId, search: &UserSearch) -> Result<i64> {
        let Some(found) = self.found_users_query(organization, search).await? else { return Ok(0) };
        self.count_bounded(found.limit(MAX_COUNTED).select(users::organization_id)).await
    }

    async fn find_by_nickname(
        &self,
        organization: OrganizationId,
        nickname: &str,
    ) -> Result<Option<(UserId, User)>> {
        rows_of(organization)
            .filter(users::nickname_folded.eq(folded_nickname(nickname)))
            .filter(users::deleted_at.is_null())
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn has_email(&self, organization: OrganizationId, email: &str) -> Result<bool> {
        let living = rows_of(organization).filter(users::email.eq(email)).filter(users::deleted_at.is_null());
        diesel::select(exists(living)).value_from(self.read()).await
    }
}
