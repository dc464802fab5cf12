//! What administrators do with accounts. The caller checks permission.

use crate::{RegistrationMails, User, UserStore, is_email, is_name, is_nickname};
use civitas_kernel::{Ability, Change, Error, EventName, OrganizationId, Result, Subject, UserId};
use time::OffsetDateTime;

impl User {
    /// What this state announces after that one, or of a new account (contract 09 C.1): that a deleted one changes
    /// is nobody's news, nor are confirmations, terms, passwords and logins.
    pub fn announcement(&self, before: Option<&Self>) -> Option<EventName> {
        if self.deleted_at.is_some() {
            return None;
        }
        let Some(before) = before else { return Some(Ability::UserCreated) };
        let silent = Self {
            password_hash: before.password_hash.clone(),
            confirmed_at: before.confirmed_at,
            tos_accepted_at: before.tos_accepted_at,
            managed: before.managed,
            failed_logins: before.failed_logins,
            created_at: before.created_at,
            updated_at: before.updated_at,
            ..self.clone()
        };
        (silent != *before).then_some(Ability::UserUpdated)
    }

    /// This state in place of that one, with what it announces.
    pub fn after(self, id: UserId, before: &Self) -> Change<Self> {
        let event = self.announcement(Some(before));
        let change = Change::quiet(self);
        match event {
            Some(name) => change.announcing(name, Subject::User(id)),
            None => change,
        }
    }
}

/// Administers the accounts of organizations.
pub struct UserAdmin<'a> {
    /// Where they are kept.
    pub store: &'a dyn UserStore,
}

impl UserAdmin<'_> {
    /// Makes an account.
    ///
    /// # Errors
    /// `Rejected` for a nickname, e-mail address or name that is not valid or not free.
    pub async fn create(&self, organization: OrganizationId, user: &User) -> Result<UserId> {
        self.check(organization, None, user).await?;
        let event: Vec<EventName> = user.announcement(None).into_iter().collect();
        self.store.add(organization, user, &event).await
    }

    /// Stores a new state of an account whose state was `before`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn change(
        &self,
        organization: OrganizationId,
        id: UserId,
        before: &User,
        user: User,
    ) -> Result<()> {
        self.check(organization, Some((id, before)), &user).await?;
        self.store.save(organization, id, user.after(id, before)).await
    }

    /// Changes an account under its lock. An edit that changes nothing leaves its time alone.
    ///
    /// # Errors
    /// `NotFound` for one that is not there or deleted; as [`Self::create`].
    pub async fn edit(
        &self,
        organization: OrganizationId,
        id: UserId,
        now: OffsetDateTime,
        edit: impl FnOnce(&mut User) + Send,
    ) -> Result<User> {
        let before =
            self.store.find_for_update(organization, id).await?.filter(|user| user.deleted_at.is_none());
        let before = before.ok_or(Error::NotFound)?;
        let mut user = before.clone();
        edit(&mut user);
        if user != before {
            user.updated_at = now;
            self.change(organization, id, &before, user.clone()).await?;
        }
        Ok(user)
    }

    /// Blocks an account: its tokens count, and can do nothing.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn block(&self, organization: OrganizationId, id: UserId, now: OffsetDateTime) -> Result<User> {
        self.edit(organization, id, now, |user| user.blocked_at = user.blocked_at.or(Some(now))).await
    }

    /// Takes a block away.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn unblock(
        &self,
        organization: OrganizationId,
        id: UserId,
        now: OffsetDateTime,
    ) -> Result<User> {
        self.edit(organization, id, now, |user| user.blocked_at = None).await
    }

    /// Locks an account, as too many failed logins do.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn lock(&self, organization: OrganizationId, id: UserId, now: OffsetDateTime) -> Result<User> {
        self.edit(organization, id, now, |user| user.locked_at = user.locked_at.or(Some(now))).await
    }

    /// Takes a lock away, and forgets the failed logins.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn unlock(
        &self,
        organization: OrganizationId,
        id: UserId,
        now: OffsetDateTime,
    ) -> Result<User> {
        let edit = |user: &mut User| {
            user.locked_at = None;
            user.failed_logins = 0;
        };
        self.edit(organization, id, now, edit).await
    }

    /// Says that the e-mail address is the person's. Who was not confirmed before is welcomed now, where the
    /// organization does that (contract 02 §2.4).
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn confirm(
        &self,
        registration_mails: &RegistrationMails<'_>,
        organization: OrganizationId,
        id: UserId,
        now: OffsetDateTime,
    ) -> Result<User> {
        let edit = |user: &mut User| user.confirmed_at = user.confirmed_at.or(Some(now));
        let user = self.edit(organization, id, now, edit).await?;
        if user.confirmed_at == Some(now) {
            registration_mails.confirmed(organization, id, &user, now).await?;
        }
        Ok(user)
    }

    /// Whether an account can be kept: its members are valid, its nickname and e-mail address free among the living.
    async fn check(
        &self,
        organization: OrganizationId,
        before: Option<(UserId, &User)>,
        user: &User,
    ) -> Result<()> {
        let User { nickname, email, name, .. } = user;
        let refuse =
            |what: &str, value: &str, why: &str| Err(Error::rejected(format!("{what} {value:?} {why}")));
        if !is_nickname(nickname) {
            return refuse("nickname", nickname, "is not valid");
        }
        if !is_email(email) {
            return refuse("email", email, "is not valid");
        }
        if !is_name(name) {
            return refuse("name", name, "is not valid");
        }
        if user.deleted_at.is_some() {
            return Ok(());
        }
        let own = before.filter(|(_, old)| old.deleted_at.is_none());
        if own.is_none_or(|(_, old)| old.nickname != *nickname) {
            let other = self.store.find_by_nickname(organization, nickname).await?;
            if other.is_some_and(|(id, _)| own.is_none_or(|(own, _)| own != id)) {
                return refuse("nickname", nickname, "has already been taken");
            }
        }
        let same_email = own.is_some_and(|(_, old)| old.email == *email);
        if !same_email && self.store.has_email(organization, email).await? {
            return refuse("email", email, "has already been taken");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockUserStore;
    use crate::registration_mails::tests::organization;
    use civitas_kernel::MockTaskQueue;
    use time::Duration;
    use time::macros::datetime;

    const THEN: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const NORA: UserId = UserId(7);

    fn nora() -> User {
        User::new("norablum".into(), "nora@example.org".into(), "Nora".into(), THEN)
    }

    #[test]
    fn what_people_see_is_news_and_bookkeeping_is_not() {
        let news = |edit: fn(&mut User)| {
            let mut user = nora();
            edit(&mut user);
            user.announcement(Some(&nora()))
        };
        assert_eq!(nora().announcement(None), Some(Ability::UserCreated));
        assert_eq!(news(|_| {}), None);
        for edit in [
            (|user: &mut User| user.name = "Nora B.".into()) as fn(&mut User),
            |user| user.email = "n@example.org".into(),
            |user| user.locale = Some(civitas_kernel::Locale::FR),
            |user| user.blocked_at = Some(NOW),
            |user| user.locked_at = Some(NOW),
            |user| user.admin = true,
            |user| drop(user.extended_data.insert("k".into(), 1.into())),
        ] {
            assert_eq!(news(edit), Some(Ability::UserUpdated));
        }
        for edit in [
            (|user: &mut User| user.confirmed_at = Some(NOW)) as fn(&mut User),
            |user| user.failed_logins = 3,
            |user| user.updated_at += Duration::SECOND,
            |user| user.password_hash = Some("$argon2id$".into()),
            |user| user.deleted_at = Some(NOW),
        ] {
            assert_eq!(news(edit), None);
        }
    }

    #[tokio::test]
    async fn a_block_is_kept_dated_and_announced_once() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(|_, _| Ok(Some(nora())));
        store.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.state.blocked_at, change.state.updated_at), (NORA, Some(NOW), NOW));
            assert_eq!(change.events.len(), 1);
            Ok(())
        });
        let blocked = UserAdmin { store: &store }.block(CITY, NORA, NOW).await.unwrap();
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(blocked.clone())));
        let again = UserAdmin { store: &store }.block(CITY, NORA, NOW + Duration::DAY).await.unwrap();
        assert_eq!(again.blocked_at, Some(NOW), "the first block counts");
    }

    #[tokio::test]
    async fn an_edit_keeps_the_rules_of_accounts() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(nora())));
        store.expect_has_email().returning(|_, email| Ok(email == "taken@example.org"));
        store.expect_find_by_nickname().returning(|_, _| Ok(Some((UserId(8), nora()))));
        let admin = UserAdmin { store: &store };
        for (edit, sentence) in [
            ((|u: &mut User| u.name = "<b>".into()) as fn(&mut User), r#"name "<b>" is not valid"#),
            (|u| u.email = "nora".into(), r#"email "nora" is not valid"#),
            (|u| u.email = "taken@example.org".into(), r#"email "taken@example.org" has already been taken"#),
            (|u| u.nickname = "luisortega".into(), r#"nickname "luisortega" has already been taken"#),
        ] {
            let refused = admin.edit(CITY, NORA, NOW, edit).await.unwrap_err();
            assert_eq!(refused.description(), sentence);
        }
    }

    #[tokio::test]
    async fn who_is_confirmed_is_welcomed_once() {
        let nora = User { email: "nora@city.example".into(), ..nora() };
        let before = nora.clone();
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(before.clone())));
        store.expect_has_email().returning(|_, _| Ok(false));
        store.expect_save().once().returning(|_, _, change| {
            assert!(change.events.is_empty(), "a confirmation is nobody's news");
            Ok(())
        });
        let mut queue = MockTaskQueue::new();
        queue.expect_add().once().returning(|_| Ok(()));
        let organizations = organization(true);
        let registration_mails = RegistrationMails { queue: &queue, organizations: &organizations };
        UserAdmin { store: &store }.confirm(&registration_mails, CITY, NORA, NOW).await.unwrap();
        let mut store = MockUserStore::new();
        store
            .expect_find_for_update()
            .returning(move |_, _| Ok(Some(User { confirmed_at: Some(THEN), ..nora.clone() })));
        UserAdmin { store: &store }.confirm(&registration_mails, CITY, NORA, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn an_account_that_was_deleted_can_not_be_edited() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(User { deleted_at: Some(NOW), ..nora() })));
        let refused = UserAdmin { store: &store }.unlock(CITY, NORA, NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }
}
