//! Login with a password (contract 02 §2.3).

use super::LoginGrant;
use crate::login_failures::{FAILURES_THAT_LOCK, LOGIN_LOCK_DURATION, LoginFailureStore, LoginKey};
use crate::{Passwords, UserStore, is_replaceable};
use civitas_kernel::{ClientId, Error, OrganizationId, Result, UserId};
use time::OffsetDateTime;

/// The text of an error: the login is closed, or the account is locked.
pub const LOGIN_LOCKED: &str = "User locked";

/// Checks passwords and counts failures.
pub struct Logins<'a> {
    /// The store of accounts.
    pub users: &'a dyn UserStore,
    /// The store of failed logins.
    pub failures: &'a dyn LoginFailureStore,
    /// Checks passwords.
    pub passwords: &'a dyn Passwords,
}

impl Logins<'_> {
    /// The user with this nickname and password. A failure is counted at once, independent of the rest of the request,
    /// for the name and the client. Unknown and known names cost the same statements and one hash. With the user comes
    /// the stored hash if it is one of bcrypt, to be replaced.
    ///
    /// # Errors
    /// `User locked` while the login is closed for this name and client, whatever the password. `User not found` for an
    /// unknown user, a user without password and a wrong password alike; `User blocked`, `User locked` for the state of
    /// the account only after a right one.
    pub async fn check(
        &self,
        organization: OrganizationId,
        client: ClientId,
        login: &LoginGrant,
        now: OffsetDateTime,
    ) -> Result<(UserId, Option<String>)> {
        let key = LoginKey::new(organization, client, &login.username);
        let found = self.users.find_by_nickname(organization, &login.username).await?;
        self.check_open(&key, now).await?;
        let hash = found.as_ref().and_then(|(_, user)| user.password_hash.clone());
        let right = self.passwords.verify(login.password.clone(), hash).await?;
        let Some((id, user)) = found.filter(|_| right) else { return Err(self.fail(&key, now).await?) };
        // Other attempts may have closed it meanwhile; then a right guess has the same answer.
        let has_failed = self.check_open(&key, now).await?;
        user.state().check()?;
        if has_failed {
            self.failures.reset(&key, now).await?;
        }
        Ok((id, user.password_hash.filter(|hash| is_replaceable(hash, &login.password))))
    }

    /// Checks that the login is open. Returns whether there are failures.
    async fn check_open(&self, key: &LoginKey, now: OffsetDateTime) -> Result<bool> {
        match self.failures.find(key).await? {
            Some(failed) if failed.is_locked(now) => Err(locked()),
            failed => Ok(failed.is_some()),
        }
    }

    /// Counts a failure. Returns the answer.
    async fn fail(&self, key: &LoginKey, now: OffsetDateTime) -> Result<Error> {
        let failed = self.failures.count(key, now + LOGIN_LOCK_DURATION, now).await?;
        let was_locked = failed.is_locked(now) && failed.failures > FAILURES_THAT_LOCK;
        Ok(if was_locked { locked() } else { Error::rejected("User not found") })
    }
}

fn locked() -> Error {
    Error::rejected(LOGIN_LOCKED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login_failures::{FailedLogins, MockLoginFailureStore};
    use crate::{MockPasswords, MockUserStore, Secret, User};
    use mockall::Sequence;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const APP: ClientId = ClientId(4);

    fn ada(change: fn(&mut User)) -> MockUserStore {
        let mut user = User::new("ada".into(), "ada@example.org".into(), "Ada".into(), NOW);
        user.password_hash = Some("hash".to_owned());
        change(&mut user);
        let mut users = MockUserStore::new();
        users.expect_find_by_nickname().once().returning(move |_, _| Ok(Some((UserId(3), user.clone()))));
        users
    }

    fn nobody() -> MockUserStore {
        let mut users = MockUserStore::new();
        users.expect_find_by_nickname().once().returning(|_, _| Ok(None));
        users
    }

    fn failed(failures: i64, locked_until: Option<OffsetDateTime>) -> FailedLogins {
        FailedLogins { failures, locked_until }
    }

    /// A store of failures whose reads return these, in order.
    fn reads(states: &'static [Option<FailedLogins>]) -> MockLoginFailureStore {
        let (mut failures, mut order) = (MockLoginFailureStore::new(), Sequence::new());
        for state in states {
            failures
                .expect_find()
                .once()
                .in_sequence(&mut order)
                .withf(|key| *key == LoginKey::new(CITY, APP, "aDA"))
                .returning(|_| Ok(*state));
        }
        failures
    }

    /// The answer to `Ada` with a right or wrong password; `None` when the password must not be compared.
    async fn answer(users: &MockUserStore, failures: &MockLoginFailureStore, right: Option<bool>) -> String {
        let mut passwords = MockPasswords::new();
        if let Some(right) = right {
            passwords.expect_verify().once().returning(move |_, _| Ok(right));
        }
        let login = LoginGrant { username: "Ada".to_owned(), password: Secret::new("x") };
        let logins = Logins { users, failures, passwords: &passwords };
        match logins.check(CITY, APP, &login, NOW).await {
            Ok((id, None)) => format!("user {id}"),
            Ok((id, Some(hash))) => format!("user {id}, replace {hash}"),
            Err(error) => error.description().into_owned(),
        }
    }

    fn counts(failures: &mut MockLoginFailureStore, state: FailedLogins) {
        failures
            .expect_count()
            .once()
            .withf(|key, until, at| {
                *key == LoginKey::new(CITY, APP, "ada") && (*until, *at) == (NOW + Duration::HOUR, NOW)
            })
            .returning(move |_, _, _| Ok(state));
    }

    #[tokio::test]
    async fn an_unknown_name_and_a_wrong_password_cost_the_same_and_are_counted_alike() {
        for users in
            [nobody(), ada(|_| ()), ada(|u| u.password_hash = None), ada(|u| u.blocked_at = Some(NOW))]
        {
            let mut failures = reads(&[None]);
            counts(&mut failures, failed(1, None));
            assert_eq!(answer(&users, &failures, Some(false)).await, "User not found");
        }
    }

    #[tokio::test]
    async fn the_failure_that_locks_is_answered_as_others_and_the_next_ones_as_locked() {
        for (state, expected) in [
            (failed(20, Some(NOW + Duration::HOUR)), "User not found"),
            (failed(21, Some(NOW + Duration::HOUR)), "User locked"),
            (failed(21, Some(NOW)), "User not found"),
        ] {
            for users in [nobody(), ada(|_| ())] {
                let mut failures = reads(&[None]);
                counts(&mut failures, state);
                assert_eq!(answer(&users, &failures, Some(false)).await, expected, "{state:?}");
            }
        }
    }

    #[tokio::test]
    async fn while_it_is_locked_no_password_is_compared_and_nothing_is_counted() {
        static LOCKED: [Option<FailedLogins>; 1] =
            [Some(FailedLogins { failures: 20, locked_until: Some(datetime!(2026-01-01 0:00:01 UTC)) })];
        for users in [nobody(), ada(|_| ())] {
            assert_eq!(answer(&users, &reads(&LOCKED), None).await, "User locked");
        }
    }

    #[tokio::test]
    async fn a_right_password_resets_the_count_and_tells_the_state_of_the_account() {
        static SOME: [Option<FailedLogins>; 2] = [Some(FailedLogins { failures: 19, locked_until: None }); 2];
        assert_eq!(answer(&ada(|_| ()), &reads(&[None, None]), Some(true)).await, "user 3");
        let mut failures = reads(&SOME);
        failures.expect_reset().once().returning(|_, _| Ok(()));
        assert_eq!(answer(&ada(|_| ()), &failures, Some(true)).await, "user 3");
        let imported = ada(|u| u.password_hash = Some("$2b$12$x".to_owned()));
        assert_eq!(answer(&imported, &reads(&[None, None]), Some(true)).await, "user 3, replace $2b$12$x");
        let locked = ada(|u| u.locked_at = Some(NOW));
        assert_eq!(answer(&locked, &reads(&SOME), Some(true)).await, "User locked");
        let blocked = ada(|u| u.blocked_at = Some(NOW));
        assert_eq!(answer(&blocked, &reads(&SOME), Some(true)).await, "User blocked");
    }

    #[tokio::test]
    async fn a_lock_that_others_caused_meanwhile_hides_a_right_guess() {
        static STATES: [Option<FailedLogins>; 2] = [
            Some(FailedLogins { failures: 19, locked_until: None }),
            Some(FailedLogins { failures: 20, locked_until: Some(datetime!(2026-01-01 1:00 UTC)) }),
        ];
        assert_eq!(answer(&ada(|_| ()), &reads(&STATES), Some(true)).await, "User locked");
    }
}
