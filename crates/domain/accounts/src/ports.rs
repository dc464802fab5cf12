//! Ports: what this crate needs from outside.

use crate::{
    AccessToken, ApiClient, Claims, Role, RoleDetail, RoleKind, Secret, SpaceRoleId, TokenError, User,
};
use async_trait::async_trait;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::records::Records;
use civitas_kernel::{
    ClientId, Locale, OrganizationId, Page, PageRequest, Result, SpaceRef, TokenId, UserId, UserState,
    filter_fields, store,
};
use std::sync::Arc;
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of accounts (contract 03 §2.1, 01 §6.2).
    pub enum UserField = USER_FIELDS, UserFilter {
        /// The nickname, as written.
        Nickname: "nickname", FieldKind::Text;
        Id: "id", FieldKind::Integer;
        Name: "name", FieldKind::Text;
        Email: "email", FieldKind::Text;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        ExtendedData: "extended_data", FieldKind::ExtendedData;
    }
}

/// The largest number that [`UserStore::count_found`] returns: counting stops there, which means "or more".
pub const MAX_COUNTED: i64 = 10_000;
/// The most accounts that a text finds by its nickname, and the most by its e-mail address.
pub const MAX_FOUND_BY_TEXT: i64 = 1_000;

/// A state by which administrators list accounts. Blocked, locked and unconfirmed overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserStateFilter {
    /// Confirmed, not blocked and not locked.
    Active,
    /// Blocked by an administrator.
    Blocked,
    /// Locked by an administrator.
    Locked,
    /// With an e-mail address that is not confirmed.
    Unconfirmed,
    /// General administrator of the organization.
    Admin,
}

/// The order of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserSort {
    /// By creation, the newest first.
    #[default]
    Newest,
    /// By nickname in lower case, in the order of its bytes.
    Nickname,
}

/// Which accounts administrators list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserSearch {
    /// The beginning of a nickname in any case or of an e-mail address in lower case, or an id. Display names are not
    /// searched. Of a text that more than [`MAX_FOUND_BY_TEXT`] nicknames or addresses begin with, the first ones in
    /// their order are found.
    pub text: Option<String>,
    /// In this state.
    pub state: Option<UserStateFilter>,
    /// The order.
    pub sort: UserSort,
}

store! {
    /// Stores accounts. Deleted accounts are found like others; services decide.
    pub trait UserStore: Records<User> {
        /// The accounts that are not deleted, by id.
        async fn list(&self, organization: OrganizationId, filters: &[UserFilter], page: PageRequest)
        -> Result<Page<(UserId, User)>>;
        /// The accounts of a search. Not deleted ones.
        async fn search(&self, organization: OrganizationId, search: &UserSearch, page: PageRequest)
        -> Result<Page<(UserId, User)>>;
        /// The number of accounts of a search, at most [`MAX_COUNTED`].
        async fn count_found(&self, organization: OrganizationId, search: &UserSearch) -> Result<i64>;
        /// The account with this nickname, in any case. Not a deleted one.
        async fn find_by_nickname(&self, organization: OrganizationId, nickname: &str)
        -> Result<Option<(UserId, User)>>;
        /// Whether an account that is not deleted has this e-mail address (lower case).
        async fn has_email(&self, organization: OrganizationId, email: &str) -> Result<bool>;
    }
}

/// Which API clients are listed. The default: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientFilter {
    /// Those of this organization; `None`: of all, and of the deployment.
    pub organization: Option<OrganizationId>,
    /// Those whose public name begins with this text, or whose name contains it; in any case.
    pub search: Option<String>,
}

/// What an API client has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientUsage {
    /// Its tokens that are neither expired nor revoked; counted up to [`Self::MAX`].
    pub valid_tokens: i64,
    /// Its registrations for webhooks; counted up to [`Self::MAX`].
    pub registrations: i64,
    /// When its newest token was issued.
    pub last_token_at: Option<OffsetDateTime>,
}

impl ClientUsage {
    /// Counting stops at this number, which means: more than 10,000.
    pub const MAX_COUNT: i64 = 10_001;
}

/// The store of API clients. Not scoped to an organization: a client id is unique in the deployment, and the
/// command line works for all organizations.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// The client.
    async fn find(&self, id: ClientId) -> Result<Option<ApiClient>>;
    /// The client of this public name.
    async fn find_by_uid(&self, uid: &str) -> Result<Option<(ClientId, ApiClient)>>;
    /// The client of this public name, locked against other writers until the transaction ends. `Internal` outside a
    /// transaction.
    async fn find_by_uid_for_update(&self, uid: &str) -> Result<Option<(ClientId, ApiClient)>>;
    /// The newest first. Names are searched without an index: the store has some thousands of clients at most.
    async fn list(&self, filter: &ClientFilter, page: PageRequest) -> Result<Page<(ClientId, ApiClient)>>;
    /// What these clients have, in any order; one statement. Unknown ids are left out.
    async fn usage(&self, ids: &[ClientId], now: OffsetDateTime) -> Result<Vec<(ClientId, ClientUsage)>>;
    /// Stores a new one. `Conflict` when the public name is taken meanwhile.
    async fn add(&self, client: &ApiClient) -> Result<ClientId>;
    /// Stores a new state.
    async fn save(&self, id: ClientId, client: &ApiClient) -> Result<()>;
    /// Removes it with its tokens; its unfinished jobs will fail.
    async fn remove(&self, id: ClientId) -> Result<()>;
    /// Clients after `after` in ascending order of id, at most `limit`; of one organization, or of all.
    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        after: Option<ClientId>,
        limit: i64,
    ) -> Result<Vec<(ClientId, ApiClient)>>;
}

/// A token with the current state of its client and user, read in one query.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenIdentity {
    /// The token.
    pub token: AccessToken,
    /// Its client.
    pub client: ApiClient,
    /// The user of a user token.
    pub user: Option<IdentityUser>,
    /// The confirmed, non-blocked general administrator of lowest id in the token's organization.
    pub first_admin: Option<UserId>,
}

/// The user of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentityUser {
    /// The account.
    pub id: UserId,
    /// Whether the user is a general administrator.
    pub admin: bool,
    /// The language the user chose.
    pub locale: Option<Locale>,
    /// Whether the account may act.
    pub state: UserState,
    /// Whether the account was deleted.
    pub deleted: bool,
}

/// The store of access tokens.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Stores a new token.
    async fn add(&self, token: &AccessToken) -> Result<TokenId>;
    /// The token with its client and user, if it was issued on this organization's host.
    async fn identify(&self, organization: OrganizationId, id: TokenId) -> Result<Option<TokenIdentity>>;
    /// Revokes a token; nothing happens when it was revoked before.
    async fn revoke(&self, organization: OrganizationId, id: TokenId, at: OffsetDateTime) -> Result<()>;
    /// Revokes every token of a user.
    async fn revoke_of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        at: OffsetDateTime,
    ) -> Result<()>;
}

filter_fields! {
    /// The fields for filters of roles (contract 03 §4.2, 01 §6.2). Their ids are texts, and no field.
    pub enum RoleField = ROLE_FIELDS, RoleFilter {
        /// The user; null for a pending invitation without account.
        User: "user_id", FieldKind::Integer;
        /// The number of its organization or space.
        ResourceId: "resource_id", FieldKind::Integer;
        /// The class name of its organization or space.
        ResourceType: "resource_type", FieldKind::Text;
        /// The name of its type.
        Type: "type", FieldKind::Text;
        /// The time of creation; of a general administrator, that of the account.
        CreatedAt: "created_at", FieldKind::Time;
        /// The time of the last change; of a general administrator, that of the account.
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

store! {
    /// Stores roles in spaces; they are listed together with general administrators. A role whose account is
    /// deleted is found by its row alone.
    pub trait RoleStore: Records<Role> {
        /// General administrators, then roles in processes, assemblies (private members last) and conferences; inside
        /// each by creation, then by number of account or row.
        async fn list(&self, organization: OrganizationId, filters: &[RoleFilter], page: PageRequest)
        -> Result<Page<RoleDetail>>;
        /// The role of this name. Of invitations without account that share one, the first.
        async fn find_by_id(&self, organization: OrganizationId, id: &SpaceRoleId) -> Result<Option<Role>>;
        /// The role of this name and the number of its row, locked against other writers until the transaction ends.
        /// `Internal` outside a transaction.
        async fn find_by_id_for_update(&self, organization: OrganizationId, id: &SpaceRoleId)
        -> Result<Option<(i64, Role)>>;
        /// Whether the user has this kind on this space, or an invitation to it.
        async fn has(&self, organization: OrganizationId, space: SpaceRef, user: UserId, kind: RoleKind)
        -> Result<bool>;
        /// Whether the organization has this space, published or not.
        async fn has_space(&self, organization: OrganizationId, space: SpaceRef) -> Result<bool>;
        /// Removes it.
        async fn remove(&self, organization: OrganizationId, id: i64) -> Result<()>;
    }
}

/// Removes what gave access and no longer does.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait EndedCredentials: Send + Sync {
    /// Removes access tokens, confirmations, magic links, and sessions of participants and of the panel that expired
    /// before this time, the oldest first, at most `limit` of each. A token that was revoked is removed at the time of
    /// its expiry. Returns their number.
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
    /// Removes the confirmations, the magic link and the sessions of a user. Returns their number.
    async fn remove_of_user(&self, organization: OrganizationId, user: UserId) -> Result<u64>;
}

/// Signs and verifies tokens. The algorithm is fixed; that in a token's header is not used.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait TokenSigner: Send + Sync {
    /// The JWT of these claims.
    fn sign(&self, claims: &Claims) -> Result<String>;
    /// The claims of a JWT with a valid signature. Its time is not checked.
    fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError>;
}

/// Whether a stored hash is one of bcrypt, from another product.
pub fn is_bcrypt(hash: &str) -> bool {
    ["$2a$", "$2b$", "$2y$"].iter().any(|begin| hash.starts_with(begin))
}

/// Whether a stored hash is replaced at a sign-in with this password. bcrypt reads 72 bytes: the rest of a longer password may
/// be mistyped.
pub fn is_replaceable(hash: &str, password: &Secret) -> bool {
    is_bcrypt(hash) && password.expose().len() <= 72
}

/// Hashes passwords with Argon2id, on dedicated threads, few at a time: each takes 20 ms and 19 MiB. `Unavailable` when
/// too many calls wait.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Passwords: Send + Sync {
    /// A hash with a new salt.
    async fn hash(&self, password: Secret) -> Result<String>;
    /// Whether the password has this hash. Without a hash it takes as long, and returns false; so it does with one that
    /// [`Self::check_hash`] refuses.
    async fn verify(&self, password: Secret, hash: Option<String>) -> Result<bool>;
    /// Checks a hash from elsewhere before it is stored. Cheap: nothing is hashed.
    ///
    /// # Errors
    /// `Rejected` with the end of a sentence that begins with the name of the hash: it is not one of Argon2id or bcrypt,
    /// or costs more than 256 MiB of memory in all passes together, 16 passes or 16 lanes, or 15 of bcrypt.
    fn check_hash(&self, hash: &str) -> Result<()>;
}
