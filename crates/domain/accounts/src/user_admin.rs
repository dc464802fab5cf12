//! Administration of accounts. The caller checks permission.

use crate::login_failures::{LoginFailureStore, name_digest};
use crate::users::is_imported_name;
use crate::{
    EraseAccount, NICKNAME_LENGTH, RegistrationMails, TokenStore, User, UserStore, is_email, is_name,
    is_nickname,
};
use async_trait::async_trait;
use civitas_kernel::records::{Entity, RecordAdministration, Records, edit};
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskQueue, UserId};
use time::OffsetDateTime;

/// Administers the accounts of organizations. Checks that nickname, e-mail address and name are valid, and that the
/// first two are free; revokes the tokens of a deleted account, and queues the removal of its data from other records
/// ([`EraseAccount`]).
pub struct UserAdministration<'a> {
    /// The store, in a transaction.
    pub store: &'a dyn UserStore,
    /// The tokens of the accounts.
    pub tokens: &'a dyn TokenStore,
    /// The queue for the erasure of deleted accounts.
    pub queue: &'a dyn TaskQueue,
}

impl UserAdministration<'_> {
    /// Creates an account, and queues the confirmation mail, or the welcome mail if the address is confirmed already
    /// (contract 02 §2.4).
    ///
    /// # Errors
    /// `Rejected` for a nickname, e-mail address or name that is not valid or not free.
    pub async fn register(
        &self,
        registration_mails: &RegistrationMails<'_>,
        organization: OrganizationId,
        user: &User,
        now: OffsetDateTime,
    ) -> Result<UserId> {
        if !is_name(&user.name) {
            return Err(refusal("name", &user.name, INVALID));
        }
        let id = self.create(organization, user).await?;
        registration_mails.queue_registration_mails(organization, id, user, now).await?;
        Ok(id)
    }

    /// Confirms the e-mail address. If it was not confirmed before, queues the welcome mail if the organization sends
    /// one (contract 02 §2.4).
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
        let user = edit(self, organization, id, now, |user| user.confirm(now)).await?;
        if user.confirmed_at == Some(now) {
            registration_mails.confirmed(organization, id, &user, now).await?;
        }
        Ok(user)
    }

    /// Removes a lock of the account, and the locks of its login through all clients (contract 02 §2.3). Returns the
    /// account, and whether its login was closed.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn unlock(
        &self,
        failures: &dyn LoginFailureStore,
        organization: OrganizationId,
        id: UserId,
        now: OffsetDateTime,
    ) -> Result<(User, bool)> {
        let user = edit(self, organization, id, now, User::unlock).await?;
        let was_closed = failures.clear_lock(organization, &name_digest(&user.nickname), now).await?;
        Ok((user, was_closed))
    }
}

/// The code of a reason, and its text.
type Reason<'a> = (&'static str, &'a str);
const INVALID: Reason<'_> = ("invalid", "is not valid");
const TAKEN: Reason<'_> = ("taken", "has already been taken");

fn refusal(field: &'static str, value: &str, (code, why): Reason<'_>) -> Error {
    Error::rejected_field(field, code, format!("{field} {value:?} {why}"))
}

/// Checks nickname, e-mail address and name, if they are new: rules become stricter, and an account that broke them before
/// can still be blocked. A new account may be an imported one.
fn check_texts(before: Option<&User>, user: &User) -> Result<()> {
    type Text = (&'static str, fn(&User) -> &String, fn(&str) -> bool);
    let texts: [Text; 3] = [
        ("nickname", |user| &user.nickname, is_nickname),
        ("email", |user| &user.email, is_email),
        ("name", |user| &user.name, if before.is_none() { is_imported_name } else { is_name }),
    ];
    for (what, of, is_valid) in texts {
        if before.is_some_and(|before| of(before) == of(user)) {
            continue;
        }
        if !is_valid(of(user)) {
            return Err(refusal(what, of(user), INVALID));
        }
        if what == "nickname" && of(user).len() > NICKNAME_LENGTH {
            let why = format!("is too long (maximum is {NICKNAME_LENGTH} characters)");
            return Err(refusal(what, of(user), ("invalid", &why)));
        }
    }
    Ok(())
}

#[async_trait]
impl RecordAdministration<User> for UserAdministration<'_> {
    fn records(&self) -> &dyn Records<User> {
        self.store
    }

    /// Nickname and e-mail address are compared with those of accounts that are not deleted.
    async fn before_store(
        &self,
        organization: OrganizationId,
        before: Option<(UserId, &User)>,
        user: &User,
    ) -> Result<()> {
        check_texts(before.map(|(_, user)| user), user)?;
        let User { nickname, email, .. } = user;
        let refuse = |what, value, why| Err(refusal(what, value, why));
        if user.deleted_at.is_some() {
            return Ok(());
        }
        let own = before.filter(|(_, old)| old.deleted_at.is_none());
        if own.is_none_or(|(_, old)| old.nickname != *nickname) {
            let other = self.store.find_by_nickname(organization, nickname).await?;
            if other.is_some_and(|(id, _)| own.is_none_or(|(own, _)| own != id)) {
                return refuse("nickname", nickname, TAKEN);
            }
        }
        let same_email = own.is_some_and(|(_, old)| old.email == *email);
        if !same_email && self.store.has_email(organization, email).await? {
            return refuse("email", email, TAKEN);
        }
        Ok(())
    }

    /// The store refuses a nickname or an e-mail address that another account has.
    async fn create_many(&self, organization: OrganizationId, users: &[User]) -> Result<Option<Vec<UserId>>> {
        if users.iter().any(|user| check_texts(None, user).is_err()) {
            return Ok(None);
        }
        self.store.add_many(organization, users).await
    }

    async fn follow_up(
        &self,
        organization: OrganizationId,
        id: UserId,
        before: Option<&User>,
        user: &User,
    ) -> Result<()> {
        let (Some(before), Some(at)) = (before, user.deleted_at) else { return Ok(()) };
        self.tokens.revoke_of_user(organization, id, at).await?;
        if before.is_deleted() {
            return Ok(());
        }
        let task = NewTask::new(organization, &EraseAccount { user: id }, user.updated_at)?;
        self.queue.add(&task.with_subject(id)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login_failures::MockLoginFailureStore;
    use crate::registration_mails::tests::{few, organization};
    use crate::{MockTokenStore, MockUserStore};
    use civitas_kernel::records::{Change, Entity};
    use civitas_kernel::{Ability, EventName, MockTaskQueue};
    use std::sync::LazyLock;
    use time::Duration;
    use time::macros::datetime;

    const THEN: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const NORA: UserId = UserId(7);

    /// The administration for tests that delete no account.
    fn admin(store: &MockUserStore) -> UserAdministration<'_> {
        static TOKENS: LazyLock<MockTokenStore> = LazyLock::new(MockTokenStore::new);
        static QUEUE: LazyLock<MockTaskQueue> = LazyLock::new(MockTaskQueue::new);
        UserAdministration { store, tokens: &*TOKENS, queue: &*QUEUE }
    }

    fn nora() -> User {
        User::new("norablum".into(), "nora@example.org".into(), "Nora".into(), THEN)
    }

    #[test]
    fn what_people_see_is_news_and_bookkeeping_is_not() {
        let event_name = |events: Vec<civitas_kernel::Event>| -> Option<EventName> {
            assert!(events.len() <= 1);
            events.first().map(|event| event.name)
        };
        let news = |edit: fn(&mut User)| {
            let mut user = nora();
            edit(&mut user);
            event_name(Change::new(nora(), user).events(NORA))
        };
        assert_eq!(event_name(nora().events(NORA, None)), Some(Ability::UserCreated));
        assert_eq!(news(|_| {}), None);
        for edit in [
            (|user: &mut User| user.name = "Nora B.".into()) as fn(&mut User),
            |user| user.email = "n@example.org".into(),
            |user| user.locale = Some(civitas_kernel::Locale::FR),
            |user| user.blocked_at = Some(NOW),
            |user| user.locked_at = Some(NOW),
            |user| user.admin = true,
            |user| user.extended_data = [("k", 1.into())].into(),
        ] {
            assert_eq!(news(edit), Some(Ability::UserUpdated));
        }
        for edit in [
            (|user: &mut User| user.confirmed_at = Some(NOW)) as fn(&mut User),
            |user| user.updated_at += Duration::SECOND,
            |user| user.password_hash = Some("$argon2id$".into()),
            |user| user.deleted_at = Some(NOW),
        ] {
            assert_eq!(news(edit), None);
        }
    }

    #[tokio::test]
    async fn a_block_is_kept_and_dated_with_one_event() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(|_, _| Ok(Some(nora())));
        store.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.after.blocked_at, change.after.updated_at), (NORA, Some(NOW), NOW));
            assert_eq!(change.events(id).len(), 1);
            Ok(())
        });
        let blocked = edit(&admin(&store), CITY, NORA, NOW, |user| user.block(NOW)).await.unwrap();
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(blocked.clone())));
        let later = NOW + Duration::DAY;
        let again = edit(&admin(&store), CITY, NORA, later, |user| user.block(later)).await.unwrap();
        assert_eq!(again.blocked_at, Some(NOW), "the first block counts");
    }

    #[tokio::test]
    async fn an_edit_keeps_the_rules_of_accounts() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(nora())));
        store.expect_has_email().returning(|_, email| Ok(email == "taken@example.org"));
        store.expect_find_by_nickname().returning(|_, _| Ok(Some((UserId(8), nora()))));
        for (change, sentence) in [
            ((|u: &mut User| u.name = "<b>".into()) as fn(&mut User), r#"name "<b>" is not valid"#),
            (|u| u.email = "nora".into(), r#"email "nora" is not valid"#),
            (|u| u.email = "taken@example.org".into(), r#"email "taken@example.org" has already been taken"#),
            (|u| u.nickname = "luisortega".into(), r#"nickname "luisortega" has already been taken"#),
            (
                |u| u.nickname = "x".repeat(21),
                r#"nickname "xxxxxxxxxxxxxxxxxxxxx" is too long (maximum is 20 characters)"#,
            ),
        ] {
            let refused = edit(&admin(&store), CITY, NORA, NOW, change).await.unwrap_err();
            assert_eq!(refused.description(), sentence);
        }
    }

    #[tokio::test]
    async fn an_imported_account_keeps_its_name() {
        let mut store = MockUserStore::new();
        store.expect_has_email().returning(|_, _| Ok(false));
        store.expect_find_by_nickname().returning(|_, _| Ok(None));
        store.expect_add().once().returning(|_, _| Ok(NORA));
        let create =
            async |name: &str| admin(&store).create(CITY, &User { name: name.into(), ..nora() }).await;
        assert_eq!(create("O'Neil (odd)").await.unwrap(), NORA);
        assert_eq!(
            create("two\nlines").await.unwrap_err().description(),
            "name \"two\\nlines\" is not valid"
        );
    }

    #[tokio::test]
    async fn an_account_with_a_long_nickname_of_an_older_version_can_be_edited() {
        let mut store = MockUserStore::new();
        store
            .expect_find_for_update()
            .returning(|_, _| Ok(Some(User { nickname: "x".repeat(21), ..nora() })));
        store.expect_save().once().returning(|_, _, _| Ok(()));
        edit(&admin(&store), CITY, NORA, NOW, |user| user.block(NOW)).await.unwrap();
    }

    #[tokio::test]
    async fn a_name_of_before_a_rule_is_no_obstacle_to_a_block() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(User { name: "\u{200b}".into(), ..nora() })));
        store.expect_save().once().returning(|_, _, _| Ok(()));
        edit(&admin(&store), CITY, NORA, NOW, |user| user.block(NOW)).await.unwrap();
        let refused = edit(&admin(&store), CITY, NORA, NOW, |user| user.name = "\u{feff}".into()).await;
        assert_eq!(refused.unwrap_err().description(), r#"name "\u{feff}" is not valid"#);
    }

    #[tokio::test]
    async fn who_is_confirmed_is_welcomed_once() {
        let nora = User { email: "nora@city.example".into(), ..nora() };
        let before = nora.clone();
        let mut store = MockUserStore::new();
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(before.clone())));
        store.expect_has_email().returning(|_, _| Ok(false));
        store.expect_save().once().returning(|_, _, change| {
            assert!(change.events(NORA).is_empty(), "a confirmation is nobody's news");
            Ok(())
        });
        let mut queue = MockTaskQueue::new();
        queue.expect_add().once().returning(|_| Ok(()));
        let organizations = organization(true);
        let counts = few();
        let registration_mails =
            RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client: None };
        admin(&store).confirm(&registration_mails, CITY, NORA, NOW).await.unwrap();
        let mut store = MockUserStore::new();
        store
            .expect_find_for_update()
            .returning(move |_, _| Ok(Some(User { confirmed_at: Some(THEN), ..nora.clone() })));
        admin(&store).confirm(&registration_mails, CITY, NORA, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_new_account_gets_the_mail_that_confirms_it() {
        let mut store = MockUserStore::new();
        store.expect_find_by_nickname().returning(|_, _| Ok(None));
        store.expect_has_email().returning(|_, email| Ok(email == "taken@city.example"));
        store.expect_add().once().returning(|_, _| Ok(UserId(5)));
        let (queue, organizations) =
            (crate::registration_mails::tests::mails(&["confirmation"]), organization(true));
        let counts = few();
        let mails =
            RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client: None };
        let nora = User { email: "nora@city.example".into(), ..nora() };
        assert_eq!(admin(&store).register(&mails, CITY, &nora, NOW).await.unwrap(), UserId(5));
        let taken = User { email: "taken@city.example".into(), ..nora };
        let refused = admin(&store).register(&mails, CITY, &taken, NOW).await.unwrap_err();
        assert_eq!(refused.description(), r#"email "taken@city.example" has already been taken"#);
    }

    #[tokio::test]
    async fn an_account_that_was_deleted_can_not_be_edited() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(User { deleted_at: Some(NOW), ..nora() })));
        let refused = edit(&admin(&store), CITY, NORA, NOW, User::unlock).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn a_deleted_account_loses_its_tokens_and_its_data_is_erased() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(nora())));
        store.expect_save().once().returning(|_, _, _| Ok(()));
        let mut tokens = MockTokenStore::new();
        tokens
            .expect_revoke_of_user()
            .once()
            .withf(|_, id, at| (*id, *at) == (NORA, NOW))
            .returning(|_, _, _| Ok(()));
        let mut queue = MockTaskQueue::new();
        queue
            .expect_add()
            .once()
            .withf(|task| (task.kind, task.due_at) == ("erase_account", NOW) && task.payload["user"] == 7)
            .returning(|_| Ok(()));
        let admin = UserAdministration { store: &store, tokens: &tokens, queue: &queue };
        edit(&admin, CITY, NORA, NOW, |user| user.delete(NOW)).await.unwrap();
    }

    #[tokio::test]
    async fn unlocking_lifts_the_locks_of_the_login_too() {
        let mut store = MockUserStore::new();
        store.expect_find_for_update().returning(|_, _| {
            Ok(Some(User { nickname: "NoraBlum".into(), locked_at: Some(THEN), ..nora() }))
        });
        store.expect_save().once().returning(|_, _, _| Ok(()));
        let mut failures = MockLoginFailureStore::new();
        failures
            .expect_clear_lock()
            .once()
            .withf(|organization, name, at| {
                (*organization, *at) == (CITY, NOW) && *name == name_digest("norablum")
            })
            .returning(|_, _, _| Ok(true));
        let (user, was_closed) = admin(&store).unlock(&failures, CITY, NORA, NOW).await.unwrap();
        assert_eq!((user.locked_at, was_closed), (None, true));
    }

    #[tokio::test]
    async fn blocks_and_locks_are_taken_away() {
        let mut user = nora();
        user.block(NOW);
        user.lock(NOW);
        user.lock(THEN);
        assert_eq!((user.blocked_at, user.locked_at), (Some(NOW), Some(NOW)), "the first lock counts");
        user.unblock();
        user.unlock();
        assert_eq!(user, nora());
    }
}
