//! Links that confirm an e-mail address (contract 02 §2.4).

use crate::{Digest, RegistrationMails, Secret, TokenStore, UserAdministration, UserStore};
use async_trait::async_trait;
use civitas_kernel::{Error, Locale, OrganizationId, Result, UserId};
use time::{Duration, OffsetDateTime};

/// The lifetime of a link.
pub const CONFIRMATION_LIFETIME: Duration = Duration::days(3);

/// A stored link, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The user whose address it confirms.
    pub user: UserId,
    /// The digest of its token.
    pub digest: Digest,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

impl Confirmation {
    /// A new link for this user, and its token.
    pub fn begin(user: UserId, now: OffsetDateTime) -> (Self, Secret) {
        let token = Secret::alphanumeric();
        (Self { user, digest: token.digest(), expires_at: now + CONFIRMATION_LIFETIME }, token)
    }
}

/// Stores links. A user may have several: a mail that was sent twice has two.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ConfirmationStore: Send + Sync {
    /// Stores a link, and removes those of its user that expired before `now`.
    async fn add(
        &self,
        organization: OrganizationId,
        confirmation: &Confirmation,
        now: OffsetDateTime,
    ) -> Result<()>;
    /// The link with this digest, expired or not.
    async fn find(&self, organization: OrganizationId, digest: &Digest) -> Result<Option<Confirmation>>;
    /// Removes all links of a user. Whether there was one.
    async fn remove_of_user(&self, organization: OrganizationId, user: UserId) -> Result<bool>;
}

/// Confirms accounts.
pub struct Confirmations<'a> {
    /// The store of links.
    pub links: &'a dyn ConfirmationStore,
    /// The store of accounts.
    pub users: &'a dyn UserStore,
    /// The tokens of the accounts.
    pub tokens: &'a dyn TokenStore,
    /// Queues mails to confirmed users.
    pub registration_mails: RegistrationMails<'a>,
}

impl Confirmations<'_> {
    /// Confirms the account of the token, and removes all its links: each can be used once. Runs inside one
    /// transaction. Returns the language the user chose.
    ///
    /// # Errors
    /// `NotFound` for a token that is not valid, used and ended ones included, and for a deleted user.
    pub async fn confirm(
        &self,
        organization: OrganizationId,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<Option<Locale>> {
        let user = self.find(organization, token, now).await?;
        // Of several concurrent requests with the link, one removes it.
        if !self.links.remove_of_user(organization, user).await? {
            return Err(Error::NotFound);
        }
        let admin = UserAdministration {
            store: self.users,
            tokens: self.tokens,
            queue: self.registration_mails.queue,
        };
        Ok(admin.confirm(&self.registration_mails, organization, user, now).await?.locale)
    }

    /// The user of this link. Changes nothing.
    ///
    /// # Errors
    /// As [`Self::confirm`], but for what happens to the account.
    pub async fn find(
        &self,
        organization: OrganizationId,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<UserId> {
        let link = self.links.find(organization, &token.digest()).await?;
        link.filter(|link| now < link.expires_at).map(|link| link.user).ok_or(Error::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration_mails::tests::{few, mails, organization};
    use crate::{MockTokenStore, MockUserStore, User};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const HERE: OrganizationId = OrganizationId(1);

    fn nora(change: fn(&mut User)) -> MockUserStore {
        let mut user = User::new("norablum".into(), "n@city.example".into(), "Nora".into(), NOW);
        user.locale = Some(Locale::FR);
        change(&mut user);
        let mut users = MockUserStore::new();
        users.expect_find_for_update().returning(move |_, _| Ok(Some(user.clone())));
        users
    }

    /// A store with one link of user 5, which can be removed or not.
    fn link(token: &Secret, is_there: bool) -> MockConfirmationStore {
        let digest = token.digest();
        let mut links = MockConfirmationStore::new();
        links.expect_find().returning(move |_, asked| {
            let kept = Confirmation {
                user: UserId(5),
                digest: digest.clone(),
                expires_at: NOW + CONFIRMATION_LIFETIME,
            };
            Ok((*asked == digest).then_some(kept))
        });
        links.expect_remove_of_user().returning(move |_, user| Ok(is_there && user == UserId(5)));
        links
    }

    async fn confirm(
        links: &MockConfirmationStore,
        users: &MockUserStore,
        expected: &'static [&'static str],
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<Option<Locale>> {
        let (queue, organizations, counts) = (mails(expected), organization(true), few());
        let registration_mails =
            RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client: None };
        let tokens = MockTokenStore::new();
        Confirmations { links, users, tokens: &tokens, registration_mails }.confirm(HERE, token, now).await
    }

    #[tokio::test]
    async fn the_owner_of_the_token_is_confirmed_and_welcomed() {
        let (kept, token) = Confirmation::begin(UserId(5), NOW);
        assert_eq!(kept.expires_at, NOW + Duration::days(3));
        let mut users = nora(|_| {});
        users.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.after.confirmed_at, change.after.updated_at), (UserId(5), Some(NOW), NOW));
            assert!(change.events(id).is_empty(), "nobody is told (contract 09 C.1)");
            Ok(())
        });
        let locale = confirm(&link(&token, true), &users, &["welcome"], &token, NOW).await.unwrap();
        assert_eq!(locale, Some(Locale::FR));
    }

    #[tokio::test]
    async fn a_token_that_is_wrong_used_or_too_old_confirms_nothing() {
        let (token, users) = (Secret::alphanumeric(), nora(|_| {}));
        let end = NOW + CONFIRMATION_LIFETIME;
        for (kept, is_there, now) in
            [(Secret::alphanumeric(), true, NOW), (token.clone(), false, NOW), (token.clone(), true, end)]
        {
            let refused = confirm(&link(&kept, is_there), &users, &[], &token, now).await;
            assert!(matches!(refused, Err(Error::NotFound)), "{is_there} {now}");
        }
    }

    #[tokio::test]
    async fn who_is_confirmed_already_is_told_so_and_nothing_else_happens() {
        let token = Secret::alphanumeric();
        let users = nora(|user| user.confirmed_at = Some(NOW - Duration::DAY));
        confirm(&link(&token, true), &users, &[], &token, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_deleted_account_is_not_confirmed() {
        let token = Secret::alphanumeric();
        let users = nora(|user| user.deleted_at = Some(NOW));
        let refused = confirm(&link(&token, true), &users, &[], &token, NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }
}
