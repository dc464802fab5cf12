//! Login with a password (contract 02 §2.3).

use super::Login;
use crate::{Passwords, User, UserStore};
use civitas_kernel::{Error, OrganizationId, Result, UserId};
use time::OffsetDateTime;

/// Checks passwords and counts failures.
pub struct Logins<'a> {
    /// The store of accounts.
    pub users: &'a dyn UserStore,
    /// Checks passwords.
    pub passwords: &'a dyn Passwords,
}

impl Logins<'_> {
    /// The user with this nickname and password. A failure is counted at once, independent of the rest of the request.
    ///
    /// # Errors
    /// `User not found` for an unknown user, a user without password and a wrong password alike, in the same time;
    /// `User blocked`, `User locked` only after a right one.
    pub async fn check(
        &self,
        organization: OrganizationId,
        login: &Login,
        now: OffsetDateTime,
    ) -> Result<UserId> {
        let found = self.users.find_by_nickname(organization, &login.username).await?;
        let hash = found.as_ref().and_then(|(_, user)| user.password_hash.clone());
        let right = self.passwords.verify(login.password.clone(), hash).await?;
        let (id, user) = found.ok_or_else(not_found)?;
        if !right {
            self.users.count_failed_login(organization, id, User::FAILURES_THAT_LOCK, now).await?;
            return Err(not_found());
        }
        user.state().check()?;
        if user.failed_logins > 0 {
            self.users.forget_failed_logins(organization, id).await?;
        }
        Ok(id)
    }
}

fn not_found() -> Error {
    Error::rejected("User not found")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockPasswords, MockUserStore, Secret};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    fn login() -> Login {
        Login { username: "Ada".to_owned(), password: Secret::new("x") }
    }

    fn ada(change: fn(&mut User)) -> MockUserStore {
        let mut user = User::new("ada".into(), "ada@example.org".into(), "Ada".into(), NOW);
        user.password_hash = Some("hash".to_owned());
        change(&mut user);
        let mut users = MockUserStore::new();
        users.expect_find_by_nickname().returning(move |_, _| Ok(Some((UserId(3), user.clone()))));
        users
    }

    fn says(right: bool) -> MockPasswords {
        let mut passwords = MockPasswords::new();
        passwords.expect_verify().once().returning(move |_, _| Ok(right));
        passwords
    }

    async fn check(users: &MockUserStore, right: bool) -> Result<UserId> {
        let passwords = says(right);
        Logins { users, passwords: &passwords }.check(OrganizationId(1), &login(), NOW).await
    }

    #[tokio::test]
    async fn an_unknown_user_costs_the_same_hash_as_a_wrong_password() {
        let mut users = MockUserStore::new();
        users.expect_find_by_nickname().returning(|_, _| Ok(None));
        assert_eq!(check(&users, false).await.unwrap_err().description(), "User not found");
    }

    #[tokio::test]
    async fn a_wrong_password_is_counted_and_tells_nothing_of_the_state() {
        let mut users = ada(|u| u.blocked_at = Some(NOW));
        users.expect_count_failed_login().once().returning(|_, _, limit, _| {
            assert_eq!(limit, 20);
            Ok(())
        });
        assert_eq!(check(&users, false).await.unwrap_err().description(), "User not found");
    }

    #[tokio::test]
    async fn a_right_password_tells_the_state_and_forgets_failures() {
        let locked = ada(|u| u.locked_at = Some(NOW));
        assert_eq!(check(&locked, true).await.unwrap_err().description(), "User locked");
        let mut users = ada(|u| u.failed_logins = 19);
        users.expect_forget_failed_logins().once().returning(|_, _| Ok(()));
        assert_eq!(check(&users, true).await.unwrap(), UserId(3));
    }
}
