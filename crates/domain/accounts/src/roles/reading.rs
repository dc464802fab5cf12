//! Reading roles (contract 03 §4.2, §4.3).

use crate::{ROLE_FIELDS, RoleDetail, RoleId, RoleStore, UserStore};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{Ability, Access, Ctx, Error, Page, PageRequest, Result, Scope};

/// The rights to read roles.
pub const READ_ROLES: Access = Access::either(Scope::Roles, &[Ability::RolesRead]);

/// Reads and writes roles. [`Roles::give`] and [`Roles::take`] check no permission: administrators call them. Writes need
/// the stores of a transaction.
pub struct Roles<'a> {
    /// The store of roles in spaces.
    pub store: &'a dyn RoleStore,
    /// The store of accounts, with general administrators.
    pub users: &'a dyn UserStore,
}

impl Roles<'_> {
    /// The roles of the organization, except those of deleted accounts, in the order of contract 03 §4.2.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(&self, ctx: &Ctx, filter: &RawFilter, page: PageRequest) -> Result<Page<RoleDetail>> {
        ctx.require(&READ_ROLES)?;
        self.store.list(ctx.organization, &read_filters(ROLE_FIELDS, filter)?, page).await
    }

    /// One role.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound` when there is no role of this name, or its account is deleted.
    pub async fn find(&self, ctx: &Ctx, id: &RoleId) -> Result<RoleDetail> {
        ctx.require(&READ_ROLES)?;
        self.find_unchecked(ctx, id).await
    }

    /// The role of this name, without checking permission.
    pub(super) async fn find_unchecked(&self, ctx: &Ctx, id: &RoleId) -> Result<RoleDetail> {
        let found = match id {
            RoleId::GeneralAdmin { organization, user } if *organization == ctx.organization => {
                let account = self.users.find(ctx.organization, *user).await?;
                account.and_then(|account| RoleDetail::from_admin(ctx.organization, *user, &account))
            }
            RoleId::GeneralAdmin { .. } => None,
            RoleId::InSpace(id) => {
                self.store.find_by_id(ctx.organization, id).await?.map(|role| role.detail())
            }
        };
        found.ok_or(Error::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockRoleStore, MockUserStore, User};
    use civitas_kernel::testing::raw_filter;
    use civitas_kernel::{OrganizationId, UserId};

    fn admin(organization: i64) -> RoleId {
        RoleId::GeneralAdmin { organization: OrganizationId(organization), user: UserId(7) }
    }

    async fn find(users: &MockUserStore, ctx: &Ctx, id: RoleId) -> Result<RoleDetail> {
        Roles { store: &MockRoleStore::new(), users }.find(ctx, &id).await
    }

    #[tokio::test]
    async fn rights_are_asked_before_anything_is_read() {
        let (store, users) = (MockRoleStore::new(), MockUserStore::new());
        let roles = Roles { store: &store, users: &users };
        let nobody = Ctx::for_test();
        assert!(matches!(roles.find(&nobody, &admin(1)).await, Err(Error::Forbidden)));
        let listed = roles.list(&nobody, &RawFilter::default(), PageRequest::default()).await;
        assert!(matches!(listed, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn a_general_administrator_is_a_living_account_with_the_flag_in_this_organization() {
        let ctx = Ctx::for_test().with_access(&READ_ROLES);
        let of = |admin, deleted: bool| {
            let mut users = MockUserStore::new();
            users.expect_find().returning(move |_, _| {
                let user = User::new(String::new(), String::new(), String::new(), Ctx::for_test().now);
                Ok(Some(User { admin, deleted_at: deleted.then_some(user.created_at), ..user }))
            });
            users
        };
        let found = find(&of(true, false), &ctx, admin(1)).await.unwrap();
        assert_eq!((found.id, found.accepted_invite), (admin(1), true));
        for (users, id) in
            [(of(false, false), admin(1)), (of(true, true), admin(1)), (MockUserStore::new(), admin(2))]
        {
            assert!(matches!(find(&users, &ctx, id).await, Err(Error::NotFound)));
        }
    }

    #[tokio::test]
    async fn any_text_may_be_asked_of_a_type_and_no_text_of_a_number() {
        let users = MockUserStore::new();
        let mut store = MockRoleStore::new();
        store.expect_list().once().returning(|_, _, _| Ok(Page::new(vec![], false)));
        let roles = Roles { store: &store, users: &users };
        let ctx = Ctx::for_test().with_access(&READ_ROLES);
        let ask = async |key: &str, value: &str| {
            roles.list(&ctx, &raw_filter(key, value), PageRequest::default()).await.map(drop)
        };
        ask("type_start", "space").await.unwrap();
        let refused = ask("user_id", "x").await.unwrap_err();
        assert_eq!(refused.description(), "Invalid value for filter user_id");
    }
}
