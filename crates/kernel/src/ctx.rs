//! The context of a request: organization, caller, rights, time.

use crate::filter::RawFilter;
use crate::{
    Abilities, Ability, Access, ClientId, Error, Locale, Locales, OrganizationId, RequiredAbilities, Result,
    Scopes, TokenId, UserId,
};
use time::OffsetDateTime;

/// The context of one request or one job: all input of a use case besides its arguments and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ctx {
    /// The organization the host selected.
    pub organization: OrganizationId,
    /// The organization's default language.
    pub default_locale: Locale,
    /// The languages of the deployment.
    pub locales: Locales,
    /// The current time, in whole microseconds.
    pub now: OffsetDateTime,
    /// The token's client and user.
    pub caller: Caller,
    /// The viewer, who determines visible records (contract 05 §1.1).
    pub viewer: Viewer,
}

/// The client, and the user if there is one, behind a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token.
    pub token: TokenId,
    /// When it expires.
    pub token_expires_at: OffsetDateTime,
    /// The client's internal number.
    pub client: ClientId,
    /// The client's public name.
    pub client_uid: String,
    /// Whether the client belongs to no organization and may access all of them.
    pub deployment_wide: bool,
    /// The scopes of the token.
    pub token_scopes: Scopes,
    /// The scopes the client owns now.
    pub client_scopes: Scopes,
    /// The abilities and event permissions the client holds now.
    pub abilities: Abilities,
    /// The user of a user token; `None` for a service token.
    pub user: Option<TokenUser>,
}

/// The user of a user token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUser {
    /// The account.
    pub id: UserId,
    /// The user's own language, if they chose one.
    pub locale: Option<Locale>,
    /// Whether the account is active, blocked or locked.
    pub state: UserState,
}

/// The state of an account (contract 02 §1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserState {
    /// It may act.
    Active,
    /// Blocked by an administrator.
    Blocked,
    /// Locked after too many failed logins.
    Locked,
}

impl UserState {
    /// # Errors
    /// `User blocked` or `User locked`.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Active => Ok(()),
            Self::Blocked => Err(Error::rejected("User blocked")),
            Self::Locked => Err(Error::rejected("User locked")),
        }
    }
}

/// The viewer of records: the acting user of contract 01 §1 and the actors of 05 §1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// A service token in an organization without an eligible administrator; also an anonymous viewer, for events.
    Public,
    /// A user who is no administrator.
    Participant(UserId),
    /// An administrator's own token, or a service token that sees what this administrator sees.
    Admin(UserId),
}

impl Viewer {
    /// The acting user.
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::Public => None,
            Self::Participant(user) | Self::Admin(user) => Some(user),
        }
    }

    /// Whether the viewer is an administrator.
    pub fn is_admin(self) -> bool {
        matches!(self, Self::Admin(_))
    }
}

/// The organization and viewer of a read. The first argument of every read that depends on the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadContext {
    /// The organization.
    pub organization: OrganizationId,
    /// The viewer.
    pub viewer: Viewer,
    /// The token's own user, whose drafts and votes are shown. `None` for a service token.
    pub participant: Option<UserId>,
}

impl Ctx {
    /// The context of reads for the caller.
    pub fn read_context(&self) -> ReadContext {
        ReadContext { organization: self.organization, viewer: self.viewer, participant: self.participant() }
    }

    /// Checks that the caller has these rights. The first line of every use case.
    ///
    /// # Errors
    /// In this order: [`Error::Forbidden`] for a missing scope or ability, `User blocked` / `User locked`,
    /// `User required` (contract 01, order of checks 6 to 8).
    pub fn require(&self, access: &Access) -> Result<()> {
        let caller = &self.caller;
        let in_scope = access.scope.is_none_or(|s| caller.token_scopes.has(s));
        let able = match access.abilities {
            RequiredAbilities::Nothing => true,
            RequiredAbilities::All(abilities) => {
                caller.token_scopes_still_owned() && abilities.iter().all(|a| self.may(*a))
            }
            RequiredAbilities::Any(abilities) => {
                caller.token_scopes_still_owned() && abilities.iter().any(|a| self.may(*a))
            }
        };
        if !in_scope || !able {
            return Err(Error::Forbidden);
        }
        match &caller.user {
            Some(user) => user.state.check(),
            None if access.user => Err(Error::rejected("User required")),
            None => Ok(()),
        }
    }

    /// Whether the client has the ability and owns its scope. Used for secondary visibility (extended data in lists),
    /// which does not depend on the token's own scopes (contract 02 §1).
    pub fn may(&self, ability: Ability) -> bool {
        self.caller.may(ability)
    }

    /// Checks that the caller may use these filters: a key that begins with `extended_data` needs this ability, with
    /// any value (contract 01 §6.1).
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn check_filter(&self, filter: &RawFilter, ability: Ability) -> Result<()> {
        if filter.mentions("extended_data") && !self.may(ability) { Err(Error::Forbidden) } else { Ok(()) }
    }

    /// The token's user.
    ///
    /// # Errors
    /// `User required` with a service token.
    pub fn user(&self) -> Result<&TokenUser> {
        self.caller.user.as_ref().ok_or_else(|| Error::rejected("User required"))
    }

    /// The working language of the caller: the user's own, else the organization's default.
    pub fn working_locale(&self) -> Locale {
        self.caller.user.as_ref().and_then(|u| u.locale).unwrap_or(self.default_locale)
    }

    /// The token's user, if it has one. Never the administrator a service token sees with.
    pub fn participant(&self) -> Option<UserId> {
        self.caller.user.as_ref().map(|u| u.id)
    }
}

impl Caller {
    /// Whether the client has the ability and owns its scope.
    pub fn may(&self, ability: Ability) -> bool {
        self.abilities.has(ability) && ability.scope().is_none_or(|s| self.client_scopes.has(s))
    }

    /// A token with a scope that its client no longer owns has no abilities.
    fn token_scopes_still_owned(&self) -> bool {
        self.token_scopes.is_subset_of(self.client_scopes)
    }
}

/// A `Ctx` without HTTP: for programs that call use cases directly, and for tests.
impl Ctx {
    /// The context of a user and a client that may do these operations and nothing else.
    ///
    /// The user is active and no administrator. The languages are the standard ones, the default is English; the fields
    /// are public, set others there. There is no token: its id is 0. `caller.client_uid` is empty.
    ///
    /// ```
    /// # use civitas_kernel::{Ability, Access, ClientId, Ctx, OrganizationId, Scope, UserId, clock};
    /// # const DRAFT: Access = Access::user(Scope::Proposals, &[Ability::ProposalsDraft]);
    /// # let (organization, client, user) = (OrganizationId(1), ClientId(1), UserId(7));
    /// let ctx = Ctx::for_user(organization, client, user, &[DRAFT], clock::now());
    /// assert!(ctx.require(&DRAFT).is_ok());
    /// ```
    pub fn for_user(
        organization: OrganizationId,
        client: ClientId,
        user: UserId,
        operations: &[Access],
        now: OffsetDateTime,
    ) -> Self {
        let ctx = Self::for_client(organization, client, now).with_user(user.0);
        operations.iter().fold(ctx, Self::with_access)
    }

    /// A service token that may do nothing yet, and sees what the public sees.
    pub fn for_client(organization: OrganizationId, client: ClientId, now: OffsetDateTime) -> Self {
        Self {
            organization,
            default_locale: Locale::EN,
            locales: Locales::standard(),
            now,
            caller: Caller {
                token: TokenId(0),
                token_expires_at: now + time::Duration::DAY,
                client,
                client_uid: String::new(),
                deployment_wide: false,
                token_scopes: Scopes::default(),
                client_scopes: Scopes::default(),
                abilities: Abilities::default(),
                user: None,
            },
            viewer: Viewer::Public,
        }
    }

    /// Grants the scope and the abilities of an operation.
    #[must_use]
    pub fn with_access(mut self, access: &Access) -> Self {
        let scopes = self.caller.token_scopes.iter().chain(access.scope);
        self.caller.token_scopes = scopes.collect();
        self.caller.client_scopes = self.caller.token_scopes;
        if let RequiredAbilities::All(abilities) | RequiredAbilities::Any(abilities) = access.abilities {
            for ability in abilities {
                self.caller.abilities.insert(*ability);
            }
        }
        self
    }

    /// Makes it a user token of this user, no administrator.
    #[must_use]
    pub fn with_user(mut self, id: i64) -> Self {
        self.caller.user = Some(TokenUser { id: UserId(id), locale: None, state: UserState::Active });
        self.viewer = Viewer::Participant(UserId(id));
        self
    }
}

#[cfg(any(test, feature = "mocks"))]
impl Ctx {
    /// A service token of organization 1 that may do nothing yet, seen as the public, at the start of 2026.
    pub fn for_test() -> Self {
        let mut ctx =
            Self::for_client(OrganizationId(1), ClientId(1), time::macros::datetime!(2026-01-01 00:00 UTC));
        ctx.caller.token = TokenId(1);
        ctx.caller.client_uid.push_str("id_test_client");
        ctx
    }

    /// Sets the viewer to an administrator.
    #[must_use]
    pub fn with_admin_viewer(mut self, id: i64) -> Self {
        self.viewer = Viewer::Admin(UserId(id));
        self
    }

    /// Sets the time.
    #[must_use]
    pub fn at_time(mut self, now: OffsetDateTime) -> Self {
        self.now = now;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    const READ: Access = Access::either(Scope::Proposals, &[Ability::ProposalsRead]);
    const DRAFT: Access = Access::user(Scope::Proposals, &[Ability::ProposalsDraft]);

    #[test]
    fn scope_and_ability_are_both_needed() {
        let full = Ctx::for_test().with_access(&READ);
        full.require(&READ).unwrap();
        let mut scopeless = full.clone();
        scopeless.caller.token_scopes = Scopes::default();
        assert!(matches!(scopeless.require(&READ), Err(Error::Forbidden)));
        let mut unable = full;
        unable.caller.abilities = Abilities::default();
        assert!(matches!(unable.require(&READ), Err(Error::Forbidden)));
    }

    #[test]
    fn a_token_with_a_scope_its_client_lost_can_do_nothing() {
        let mut ctx = Ctx::for_test().with_access(&READ);
        ctx.caller.token_scopes = [Scope::Proposals, Scope::Blogs].into_iter().collect();
        assert!(matches!(ctx.require(&READ), Err(Error::Forbidden)));
    }

    #[test]
    fn an_ability_without_its_scope_group_does_not_count() {
        let mut ctx = Ctx::for_test().with_access(&READ);
        ctx.caller.client_scopes = [Scope::Public].into_iter().collect();
        assert!(!ctx.may(Ability::ProposalsRead));
        ctx.caller.abilities.insert(Ability::OauthLogin);
        assert!(ctx.may(Ability::OauthLogin), "but the two grants work with any scopes");
    }

    #[test]
    fn a_user_may_do_the_named_operations_alone() {
        let (organization, client, user) = (OrganizationId(3), ClientId(5), UserId(7));
        let now = time::macros::datetime!(2026-03-01 09:30 UTC);
        let ctx = Ctx::for_user(organization, client, user, &[DRAFT, Access::ANY_TOKEN], now);
        ctx.require(&DRAFT).unwrap();
        ctx.require(&Access::ANY_TOKEN).unwrap();
        assert!(matches!(ctx.require(&READ), Err(Error::Forbidden)));
        assert_eq!(
            (ctx.organization, ctx.caller.client, ctx.participant()),
            (organization, client, Some(user))
        );
        assert_eq!((ctx.viewer, ctx.now), (Viewer::Participant(user), now));
    }

    #[test]
    fn rights_are_asked_before_the_state_of_the_user() {
        let service = Ctx::for_test().with_access(&DRAFT);
        assert_eq!(service.require(&DRAFT).unwrap_err().description(), "User required");
        let mut blocked = service.with_user(7);
        blocked.require(&DRAFT).unwrap();
        blocked.caller.user.as_mut().unwrap().state = UserState::Blocked;
        assert_eq!(blocked.require(&DRAFT).unwrap_err().description(), "User blocked");
        blocked.caller.abilities = Abilities::default();
        assert!(matches!(blocked.require(&DRAFT), Err(Error::Forbidden)));
    }
}
