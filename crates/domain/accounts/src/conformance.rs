//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod administrators;
mod clients;
mod links;
mod logins;
mod people;
mod roles;

pub use administrators::{
    PanelWorld, a_used_form_is_known_by_its_session, finds_sessions_until_their_end, gives_a_notice_once,
    keeps_administrators, keeps_the_last_administrator, lists_administrators, removes_ended_sessions,
    removes_sessions,
};
pub use clients::{counts_what_clients_have, lists_clients};
pub use links::{
    LinkWorld, keeps_confirmations, keeps_one_magic_link_of_a_user, keeps_sessions_until_their_end,
    knows_the_home_of_an_account, removes_ended_credentials, removes_the_links_of_a_user,
};
pub use logins::{
    LoginWorld, a_success_resets_failed_logins, counts_mails_of_an_hour, lists_and_lifts_login_locks,
    removes_failed_logins_that_nobody_needs, the_twentieth_failed_login_in_a_row_locks,
};
pub use people::{lists_living_accounts, searches_accounts};
use roles::role;
pub use roles::{
    filters_roles, finds_roles_by_their_names, keeps_roles, lists_roles_in_order, removes_roles, roles,
};

use crate::{
    AccessToken, ApiClient, ClientStore, RoleKind, RoleStore, Secret, TokenStore, User, UserAdministration,
    UserStore,
};
use civitas_kernel::records::conformance::{Samples, replace};
use civitas_kernel::records::{Change, RecordAdministration};
use civitas_kernel::{
    Ability, ClientId, Error, Locale, OrganizationId, PageRequest, Result, Scope, SpaceRef, TaskQueue,
    TokenId, UserId, UserState, conformance_world,
};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two existing organizations, and spaces of the first.
    pub struct World {
        ports(users: UserStore, clients: ClientStore, tokens: TokenStore, roles: RoleStore, queue: TaskQueue)
        /// A process of the first.
        space: SpaceRef,
        /// An assembly of the first.
        assembly: SpaceRef,
        /// A conference of the first.
        conference: SpaceRef,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);
const NOBODY: UserId = UserId(i64::MAX);

fn user(nickname: &str) -> User {
    User::new(nickname.to_owned(), format!("{}@example.org", nickname.to_lowercase()), "Nora".to_owned(), NOW)
}

fn admin(nickname: &str) -> User {
    User { admin: true, confirmed_at: Some(NOW), ..user(nickname) }
}

/// A user without default values.
fn unusual() -> User {
    let data = json!({"key": {"is": "awesome"}, "list": [1, null], "é": "ß"});
    let at = |seconds| Some(NOW + Duration::seconds(seconds));
    User {
        name: "Zoë D'Arc".to_owned(),
        password_hash: Some("$argon2id$v=19$..".to_owned()),
        admin: true,
        locale: Some(Locale::FR),
        about: Some("<b>raw</b>".to_owned()),
        personal_url: Some("https://zoe.example".to_owned()),
        confirmed_at: at(1),
        blocked_at: at(2),
        locked_at: at(3),
        managed: true,
        tos_accepted_at: at(4),
        extended_data: data.as_object().cloned().unwrap_or_default().into(),
        created_at: datetime!(2020-02-29 23:59:59.999999 UTC),
        ..user("Zoe-1")
    }
}

fn client(uid: &str, organization: Option<OrganizationId>) -> ApiClient {
    let scopes = [Scope::Public, Scope::Proposals].into_iter().collect();
    let secret = Secret::new("secret").digest();
    let new = ApiClient::new(uid.to_owned(), secret, "A client".to_owned(), organization, scopes, NOW);
    ApiClient { permissions: [Ability::ProposalsRead, Ability::UserUpdated].into_iter().collect(), ..new }
}

fn token(organization: OrganizationId, client: ClientId, user: Option<UserId>) -> AccessToken {
    AccessToken {
        organization,
        client,
        user,
        digest: Secret::new("jti").digest(),
        scope: "proposals public".to_owned(),
        issued_at: NOW,
        expires_at: NOW + Duration::hours(2),
        revoked_at: None,
    }
}

impl World<'_> {
    async fn add_user(&self, user: &User) -> Result<UserId> {
        self.users.add(self.mine, user).await
    }

    async fn add_token(&self, user: Option<UserId>) -> Result<TokenId> {
        let client = match self.clients.find_by_uid("id_of_tokens").await? {
            Some((id, _)) => id,
            None => self.clients.add(&client("id_of_tokens", Some(self.mine))).await?,
        };
        self.tokens.add(&token(self.mine, client, user)).await
    }

    async fn revoked_at(&self, id: TokenId) -> Result<Option<OffsetDateTime>> {
        let identity = self.tokens.identify(self.mine, id).await?.ok_or(Error::NotFound)?;
        Ok(identity.token.revoked_at)
    }

    async fn first_admin(&self, token: TokenId) -> Result<Option<UserId>> {
        Ok(self.tokens.identify(self.mine, token).await?.and_then(|identity| identity.first_admin))
    }
}

/// Accounts for the conformance tests of [`Records`](civitas_kernel::records::Records).
#[expect(clippy::unused_async, reason = "the samples of other stores are added first")]
pub async fn users(world: World<'_>) -> Result<Samples<'_, User>> {
    let samples = [unusual(), user("plain"), User { tos_accepted_at: None, ..admin("third") }];
    Ok(Samples::new(world.users, [world.mine, world.other], samples, NOBODY))
}

/// No organization sees, changes or names another's accounts, tokens and roles.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let (mine, other) = (world.mine, world.other);
    let id = world.add_user(&user("Nora")).await?;
    assert_eq!(world.users.find_by_nickname(other, "nora").await?, None);
    assert!(!world.users.has_email(other, "nora@example.org").await?);
    assert_eq!(world.users.find(mine, id).await?, Some(user("Nora")), "nothing of it happened");
    world.users.add(other, &user("Nora")).await?;

    let token = world.add_token(Some(id)).await?;
    assert_eq!(world.tokens.identify(other, token).await?, None);
    world.tokens.revoke(other, token, NOW).await?;
    world.tokens.revoke_of_user(other, id, NOW).await?;
    assert_eq!(world.revoked_at(token).await?, None);

    let role = role(world.space, Some(id), RoleKind::SpaceModerator);
    let row = world.roles.add(mine, &role).await?;
    assert_eq!(world.roles.find_by_id(other, &role.id()).await?, None);
    assert_eq!(world.roles.find_by_id_for_update(other, &role.id()).await?, None);
    assert!(!world.roles.has(other, world.space, id, role.kind).await?);
    assert!(!world.roles.has_space(other, world.space).await?);
    let page = PageRequest::default();
    assert_eq!(world.roles.list(other, &[], page).await?.items, []);
    assert_eq!(world.users.list(other, &[], page).await?.items.len(), 1, "the other Nora");
    world.roles.remove(other, row).await?;
    assert_eq!(world.roles.find(mine, row).await?, Some(role));
    Ok(())
}

/// Nicknames and e-mail addresses are found and unique case-insensitively.
pub async fn nicknames_are_unique_in_any_case(world: World<'_>) -> Result<()> {
    let id = world.add_user(&user("Nora_Blum")).await?;
    for nickname in ["Nora_Blum", "nora_blum", "NORA_BLUM"] {
        let found = world.users.find_by_nickname(world.mine, nickname).await?;
        assert_eq!(found, Some((id, user("Nora_Blum"))), "{nickname}");
        let taken = world.add_user(&User { email: "x@example.org".to_owned(), ..user(nickname) }).await;
        assert!(matches!(taken, Err(Error::Conflict(_))), "{nickname}");
    }
    assert_eq!(world.users.find_by_nickname(world.mine, "nora%blum").await?, None);
    assert!(world.users.has_email(world.mine, "nora_blum@example.org").await?);
    let taken = world.add_user(&User { email: "nora_blum@example.org".to_owned(), ..user("Another") }).await;
    assert!(matches!(taken, Err(Error::Conflict(_))));
    let second = world.add_user(&user("Second")).await?;
    let renamed = replace(world.users, world.mine, second, &user("NORA_blum")).await;
    assert!(matches!(renamed, Err(Error::Conflict(_))));
    Ok(())
}

/// A deleted account is found by its id only, its nickname and address are free, and its tokens are revoked.
pub async fn a_deleted_user_leaves_name_and_tokens(world: World<'_>) -> Result<()> {
    let id = world.add_user(&user("Nora")).await?;
    let [token, revoked] = [world.add_token(Some(id)).await?, world.add_token(Some(id)).await?];
    let foreign = world.add_token(None).await?;
    world.tokens.revoke(world.mine, revoked, NOW - Duration::hours(1)).await?;
    let gone = User { deleted_at: Some(NOW), ..user("Nora") };
    let admin = UserAdministration { store: world.users, tokens: world.tokens, queue: world.queue };
    admin.change(world.mine, id, &Change::new(user("Nora"), gone.clone())).await?;
    assert_eq!(world.users.find(world.mine, id).await?, Some(gone));
    assert_eq!(world.users.find_by_nickname(world.mine, "Nora").await?, None);
    assert!(!world.users.has_email(world.mine, "nora@example.org").await?);
    assert_eq!(world.revoked_at(token).await?, Some(NOW));
    assert_eq!(world.revoked_at(revoked).await?, Some(NOW - Duration::hours(1)), "it was revoked before");
    assert_eq!(world.revoked_at(foreign).await?, None);
    world.add_user(&user("NORA")).await?;
    Ok(())
}

/// Pages have all clients once, in ascending order of id.
pub async fn pages_do_not_overlap(world: World<'_>) -> Result<()> {
    for n in 0..5 {
        world.clients.add(&client(&format!("id_client_{n}"), Some(world.mine))).await?;
    }
    world.clients.add(&client("id_everywhere", None)).await?;
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients
            .extend(world.clients.page_after(Some(world.mine), clients.last().map(|(id, _)| *id), 2).await?);
    }
    let clients: Vec<_> = clients.iter().map(|c| c.0).collect();
    assert!(clients.len() == 5 && clients.is_sorted_by(|a, b| a < b));
    assert_eq!(
        world.clients.page_after(None, clients.last().copied(), 9).await?.len(),
        1,
        "of all organizations"
    );
    Ok(())
}

/// A stored client is read back with all members; a public name is unique in the deployment.
pub async fn keeps_every_member_of_clients(world: World<'_>) -> Result<()> {
    let everything = ApiClient {
        scopes: Scope::ALL.iter().copied().collect(),
        permissions: Ability::ALL.iter().copied().collect(),
        ..client("id_0123456789", Some(world.mine))
    };
    let id = world.clients.add(&everything).await?;
    assert_eq!(world.clients.find(id).await?.as_ref(), Some(&everything));
    assert_eq!(world.clients.find_by_uid("id_0123456789").await?, Some((id, everything)));
    assert_eq!(world.clients.find_by_uid("ID_0123456789").await?, None);
    let taken = world.clients.add(&client("id_0123456789", Some(world.other))).await;
    assert!(matches!(taken, Err(Error::Conflict(_))));
    let wide = ApiClient { name: "Other".to_owned(), ..client("id_9876543210", None) };
    world.clients.save(id, &wide).await?;
    assert_eq!(world.clients.find(id).await?, Some(wide));
    Ok(())
}

/// A client is removed with its tokens.
pub async fn a_removed_client_takes_its_tokens_along(world: World<'_>) -> Result<()> {
    let token = world.add_token(None).await?;
    let identity = world.tokens.identify(world.mine, token).await?.ok_or(Error::NotFound)?;
    world.clients.remove(identity.token.client).await?;
    assert_eq!(world.clients.find(identity.token.client).await?, None);
    assert_eq!(world.tokens.identify(world.mine, token).await?, None);
    Ok(())
}

/// One query returns a token, its client, its user, and the first administrator.
pub async fn identifies_a_bearer(world: World<'_>) -> Result<()> {
    let service = world.add_token(None).await?;
    let identity = world.tokens.identify(world.mine, service).await?.ok_or(Error::NotFound)?;
    assert_eq!(identity.token, token(world.mine, identity.token.client, None));
    assert_eq!(identity.client, client("id_of_tokens", Some(world.mine)));
    assert_eq!((identity.user, identity.first_admin), (None, None));

    let zoe = world.add_user(&unusual()).await?;
    let personal = world.add_token(Some(zoe)).await?;
    let seen =
        world.tokens.identify(world.mine, personal).await?.and_then(|i| i.user).ok_or(Error::NotFound)?;
    assert_eq!((seen.id, seen.admin, seen.locale), (zoe, true, Some(Locale::FR)));
    assert_eq!((seen.state, seen.deleted), (UserState::Blocked, false));
    let locked = User { blocked_at: None, deleted_at: Some(NOW), ..unusual() };
    replace(world.users, world.mine, zoe, &locked).await?;
    let seen =
        world.tokens.identify(world.mine, personal).await?.and_then(|i| i.user).ok_or(Error::NotFound)?;
    assert_eq!((seen.state, seen.deleted), (UserState::Locked, true));

    world.tokens.revoke(world.mine, service, NOW).await?;
    world.tokens.revoke(world.mine, service, NOW + Duration::hours(1)).await?;
    assert_eq!(world.revoked_at(service).await?, Some(NOW), "the first revocation counts");
    assert_eq!(world.tokens.identify(world.mine, TokenId(i64::MAX)).await?, None);
    Ok(())
}

/// The first administrator is the one of lowest id who is confirmed and neither blocked nor deleted.
pub async fn knows_the_first_eligible_administrator(world: World<'_>) -> Result<()> {
    let token = world.add_token(None).await?;
    world.users.add(world.other, &admin("elsewhere")).await?;
    world.add_user(&User { confirmed_at: Some(NOW), ..user("participant") }).await?;
    world.add_user(&User { confirmed_at: None, ..admin("unconfirmed") }).await?;
    world.add_user(&User { blocked_at: Some(NOW), ..admin("blocked") }).await?;
    world.add_user(&User { deleted_at: Some(NOW), ..admin("deleted") }).await?;
    assert_eq!(world.first_admin(token).await?, None);
    let first = world.add_user(&admin("first")).await?;
    let second = world.add_user(&admin("second")).await?;
    assert_eq!(world.first_admin(token).await?, Some(first));
    let blocked = User { blocked_at: Some(NOW), ..admin("first") };
    replace(world.users, world.mine, first, &blocked).await?;
    assert_eq!(world.first_admin(token).await?, Some(second));
    Ok(())
}

/// All tokens of a user can be revoked at once, and no others.
pub async fn revokes_all_tokens_of_a_user(world: World<'_>) -> Result<()> {
    let id = world.add_user(&user("Nora")).await?;
    let own = [world.add_token(Some(id)).await?, world.add_token(Some(id)).await?];
    let service = world.add_token(None).await?;
    world.tokens.revoke_of_user(world.mine, id, NOW).await?;
    for token in own {
        assert_eq!(world.revoked_at(token).await?, Some(NOW));
    }
    assert_eq!(world.revoked_at(service).await?, None);
    Ok(())
}
