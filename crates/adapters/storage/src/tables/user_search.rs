//! The search for accounts by administrators.

use super::users::{folded_nickname, nickname};
use crate::columns::{self, Expr};
use crate::engine::{Db, dialect};
use crate::schema::users;
use crate::session::{LoadRowsExt, Session};
use civitas_accounts::{MAX_FOUND_BY_TEXT, UserSearch, UserStateFilter, normal_email};
use civitas_kernel::{OrganizationId, Result};
use diesel::dsl::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::Text;

/// A character after every text, in the order of bytes.
const LAST: char = '\u{10FFFF}';

type Boxed<'a> = IntoBoxed<'a, users::table, Db>;

/// The accounts of the organization in this state. The conditions are those of the partial indexes.
fn in_state<'a>(organization: OrganizationId, state: Option<UserStateFilter>) -> Boxed<'a> {
    let living = users::table
        .filter(users::organization_id.eq(organization.0))
        .filter(users::deleted_at.is_null())
        .into_boxed::<Db>();
    match state {
        None => living,
        Some(UserStateFilter::Active) => living
            .filter(users::confirmed_at.is_not_null())
            .filter(users::blocked_at.is_null())
            .filter(users::locked_at.is_null()),
        Some(UserStateFilter::Blocked) => living.filter(users::blocked_at.is_not_null()),
        Some(UserStateFilter::Locked) => living.filter(users::locked_at.is_not_null()),
        Some(UserStateFilter::Unconfirmed) => living.filter(users::confirmed_at.is_null()),
        Some(UserStateFilter::Admin) => living.filter(users::admin),
    }
}

fn email() -> Expr<users::table, Text> {
    dialect::in_bytes(Box::new(users::email.nullable()))
}

impl Session {
    /// The ids that a text finds.
    async fn found_by_text(
        &self,
        organization: OrganizationId,
        state: Option<UserStateFilter>,
        text: &str,
    ) -> Result<Vec<i64>> {
        let found = |column: fn() -> Expr<users::table, Text>, prefix: String| {
            in_state(organization, state)
                .filter(column().ge(prefix.clone()))
                .filter(column().lt(format!("{prefix}{LAST}")))
                .order(column())
                .limit(MAX_FOUND_BY_TEXT)
                .select(users::id)
        };
        let by_nickname: Vec<i64> =
            found(nickname, folded_nickname(text)).rows_from(self.read_long()).await?;
        let by_email: Vec<i64> = found(email, normal_email(text)).rows_from(self.read_long()).await?;
        Ok(columns::distinct_ids(by_nickname.into_iter().chain(by_email).chain(text.parse::<i64>().ok())))
    }

    /// The accounts of the search without order; `None` when the text finds none.
    pub(super) async fn found_users_query(
        &self,
        organization: OrganizationId,
        search: &UserSearch,
    ) -> Result<Option<Boxed<'_>>> {
        let found = in_state(organization, search.state);
        match search.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => Ok(Some(found)),
            Some(text) => {
                let ids = self.found_by_text(organization, search.state, text).await?;
                Ok((!ids.is_empty()).then(|| found.filter(columns::any_of(users::id.nullable(), &ids))))
            }
        }
    }
}
