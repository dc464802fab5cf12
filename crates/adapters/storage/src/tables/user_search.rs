//! The search for accounts by administrators.

use super::users::{Row, folded};
use crate::bounded::Bounded;
use crate::columns::{self, Expr};
use crate::engine::{Db, dialect};
use crate::schema::users;
use crate::session::{Models, Rows, Session};
use civitas_accounts::{
    ListedState, MOST_COUNTED, MOST_FOUND_BY_TEXT, User, UserSearch, UserSort, normal_email,
};
use civitas_kernel::{OrganizationId, Page, PageRequest, Result, UserId};
use diesel::dsl::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::Text;

/// A character after every text, in the order of bytes.
const LAST: char = '\u{10FFFF}';

type Boxed<'a> = IntoBoxed<'a, users::table, Db>;

/// The accounts of the organization in this state. The conditions are those of the partial indexes.
fn in_state<'a>(organization: OrganizationId, state: Option<ListedState>) -> Boxed<'a> {
    let living = users::table
        .filter(users::organization_id.eq(organization.0))
        .filter(users::deleted_at.is_null())
        .into_boxed::<Db>();
    match state {
        None => living,
        Some(ListedState::Active) => living
            .filter(users::confirmed_at.is_not_null())
            .filter(users::blocked_at.is_null())
            .filter(users::locked_at.is_null()),
        Some(ListedState::Blocked) => living.filter(users::blocked_at.is_not_null()),
        Some(ListedState::Locked) => living.filter(users::locked_at.is_not_null()),
        Some(ListedState::Unconfirmed) => living.filter(users::confirmed_at.is_null()),
        Some(ListedState::Admin) => living.filter(users::admin),
    }
}

fn nickname() -> Expr<users::table, Text> {
    dialect::in_bytes(Box::new(users::nickname_folded.nullable()))
}

fn email() -> Expr<users::table, Text> {
    dialect::in_bytes(Box::new(users::email.nullable()))
}

impl Session {
    /// The ids that a text finds.
    async fn found_by_text(
        &self,
        organization: OrganizationId,
        state: Option<ListedState>,
        text: &str,
    ) -> Result<Vec<i64>> {
        let (prefix, address) = (folded(text), normal_email(text));
        let nicknames = in_state(organization, state)
            .filter(nickname().ge(prefix.clone()))
            .filter(nickname().lt(format!("{prefix}{LAST}")))
            .order(nickname())
            .limit(MOST_FOUND_BY_TEXT)
            .select(users::id);
        let mut ids: Vec<i64> = nicknames.rows_from(self.read_long()).await?;
        let emails = in_state(organization, state)
            .filter(email().ge(address.clone()))
            .filter(email().lt(format!("{address}{LAST}")))
            .order(email())
            .limit(MOST_FOUND_BY_TEXT)
            .select(users::id);
        let by_email: Vec<i64> = emails.rows_from(self.read_long()).await?;
        ids.extend(by_email);
        ids.extend(text.parse::<i64>().ok());
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The accounts of the search without order; `None` when the text finds none.
    async fn found(&self, organization: OrganizationId, search: &UserSearch) -> Result<Option<Boxed<'_>>> {
        let found = in_state(organization, search.state);
        match search.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => Ok(Some(found)),
            Some(text) => {
                let ids = self.found_by_text(organization, search.state, text).await?;
                Ok((!ids.is_empty()).then(|| found.filter(columns::any_of(users::id.nullable(), &ids))))
            }
        }
    }

    /// A page of the search, with at most three statements.
    pub(super) async fn search_users(
        &self,
        organization: OrganizationId,
        search: &UserSearch,
        page: PageRequest,
    ) -> Result<Page<(UserId, User)>> {
        let Some(found) = self.found(organization, search).await? else {
            return Ok(Page::of(Vec::new(), false));
        };
        let found = match search.sort {
            UserSort::Newest => found.order((users::created_at.desc(), users::id.desc())),
            UserSort::Nickname => found.order((nickname(), users::id)),
        };
        found.page_from::<Row, _>(page, self.read_long()).await
    }

    /// The number of accounts of the search, at most [`MOST_COUNTED`].
    pub(super) async fn count_users(&self, organization: OrganizationId, search: &UserSearch) -> Result<i64> {
        let Some(found) = self.found(organization, search).await? else { return Ok(0) };
        let some = found.limit(MOST_COUNTED).select(users::organization_id);
        let (number, ..): (i64, i64, Option<i64>, Option<i64>) =
            Bounded(some).value_from(self.read_long()).await?;
        Ok(number)
    }
}
