//! Impersonation: finds or registers a user (contract 02 §2.4).

use super::{ImpersonationGrant, MissingUserRegistration};
use crate::{
    NICKNAME_LENGTH, RegistrationMails, User, UserStore, is_email, is_name, is_nickname, normal_email,
};
use civitas_kernel::extended_data::{check_size, compact};
use civitas_kernel::limits::too_long;
use civitas_kernel::records::{AdminWithoutRules, Change, RecordAdministration, find_for_update};
use civitas_kernel::{Error, FieldError, OrganizationId, Result, UserId, Wording, integer};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// Finds or registers the user. Runs inside one transaction; of two concurrent registrations of one name, one gets
/// `Conflict`, is repeated and finds the user of the other.
pub struct Impersonation<'a> {
    /// The store of accounts.
    pub users: &'a dyn UserStore,
    /// Queues mails to registered users.
    pub registration_mails: RegistrationMails<'a>,
    /// The most bytes of extended data, as compact JSON (contract 01 §11.3).
    pub extra_limit: usize,
}

impl Impersonation<'_> {
    /// The user the client acts for, with `extra` merged, and whether it was registered just now.
    ///
    /// # Errors
    /// `User not found. ..`; `Invalid` for a registration that breaks a rule; `User blocked`, `User locked`.
    pub async fn resolve(
        &self,
        organization: OrganizationId,
        asked: &ImpersonationGrant,
        now: OffsetDateTime,
    ) -> Result<(UserId, User, bool)> {
        let found = match (&asked.id, &asked.username) {
            (Some(id), _) => self.by_id(organization, id).await?,
            (None, Some(name)) => self.users.find_by_nickname(organization, name).await?,
            (None, None) => None,
        };
        match (found, &asked.username) {
            (Some((id, user)), _) => {
                user.state().check()?;
                self.merge_extra(organization, id, &asked.extra, now).await?;
                Ok((id, user, false))
            }
            (None, Some(username)) if asked.registration.on_missing && asked.id.is_none() => {
                let registered =
                    self.register_account(organization, username, &asked.registration, now).await;
                let mut user = match registered {
                    // Of two concurrent registrations of one address, one finds it taken.
                    Err(_) if self.users.find_by_nickname(organization, username).await?.is_some() => {
                        return Err(Error::Conflict("the user was registered meanwhile".into()));
                    }
                    registered => registered?,
                };
                self.merged(&mut user, &asked.extra)?;
                let id = self.users.add(organization, &user).await?;
                self.registration_mails.queue_registration_mails(organization, id, &user, now).await?;
                Ok((id, user, true))
            }
            _ => Err(Error::rejected("User not found. To create one, user meta.register_on_missing")),
        }
    }

    async fn by_id(&self, organization: OrganizationId, id: &Value) -> Result<Option<(UserId, User)>> {
        let Some(id) = integer(id).map(UserId) else { return Ok(None) };
        let user = self.users.find(organization, id).await?.filter(|user| user.deleted_at.is_none());
        Ok(user.map(|user| (id, user)))
    }

    /// A new account by the rules of the registration table.
    async fn register_account(
        &self,
        organization: OrganizationId,
        username: &str,
        registration: &MissingUserRegistration,
        now: OffsetDateTime,
    ) -> Result<User> {
        let email = registration.email.clone().unwrap_or_else(|| format!("{username}@example.org"));
        let email = normal_email(&email);
        let name = registration.name.clone().unwrap_or_else(|| username.to_owned());
        let mut faults = username_faults(username);
        if !is_email(&email) {
            faults.push(FieldError::new("email", "invalid", "Email is invalid"));
        } else if self.users.has_email(organization, &email).await? {
            faults.push(FieldError::new("email", "taken", "Email has already been taken"));
        }
        if name.trim().is_empty() {
            faults.push(FieldError::blank("name", "Name"));
        } else if !is_name(&name) {
            faults.push(FieldError::new("name", "invalid", "Name is invalid"));
        }
        Error::unless_valid(Wording::BadRequest, faults)?;
        Ok(User {
            tos_accepted_at: registration.accept_tos.then_some(now),
            confirmed_at: registration.skip_confirmation.then_some(now),
            ..User::new(username.to_owned(), email, name, now)
        })
    }

    async fn merge_extra(
        &self,
        organization: OrganizationId,
        id: UserId,
        extra: &Map<String, Value>,
        now: OffsetDateTime,
    ) -> Result<()> {
        if extra.is_empty() {
            return Ok(());
        }
        let user = find_for_update(self.users, organization, id).await?;
        let mut merged = user.clone();
        self.merged(&mut merged, extra)?;
        let change = Change::from_edit(user, now, |user| user.extended_data = merged.extended_data);
        AdminWithoutRules(self.users).change(organization, id, &change).await
    }

    /// Each top-level key given replaces the stored one; then blank values are removed (contract 02 §2.4).
    fn merged(&self, user: &mut User, extra: &Map<String, Value>) -> Result<()> {
        if extra.is_empty() {
            return Ok(());
        }
        let mut data = Map::from(std::mem::take(&mut user.extended_data));
        data.extend(extra.clone());
        compact(&mut data);
        check_size(&data, self.extra_limit)?;
        user.extended_data = data.into();
        Ok(())
    }
}

fn username_faults(username: &str) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if !is_nickname(username) {
        faults.push(FieldError::new("username", "invalid", "Username is invalid"));
    }
    if username.bytes().filter(u8::is_ascii_alphanumeric).count() < 6 {
        let message = "Username must contain at least 6 alphanumeric characters";
        faults.push(FieldError::new("username", "too_short", message));
    }
    faults.extend(too_long("username", "Username", username, NICKNAME_LENGTH));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockUserStore;
    use crate::registration_mails::tests::{few, mails, organization};
    use civitas_kernel::Ability;
    use civitas_kernel::records::Entity;
    use serde_json::json;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    fn asked(username: &str, registration: MissingUserRegistration, extra: Value) -> ImpersonationGrant {
        let Value::Object(extra) = extra else { panic!("extra is an object") };
        ImpersonationGrant { id: None, username: Some(username.to_owned()), registration, extra }
    }

    fn nobody() -> MockUserStore {
        let mut users = MockUserStore::new();
        users.expect_find_by_nickname().returning(|_, _| Ok(None));
        users.expect_has_email().returning(|_, email| Ok(email == "taken@example.org"));
        users
    }

    async fn resolve(users: &MockUserStore, asked: &ImpersonationGrant) -> Result<UserId> {
        resolve_with_mails(users, asked, &[]).await
    }

    /// In an organization that welcomes new users.
    async fn resolve_with_mails(
        users: &MockUserStore,
        asked: &ImpersonationGrant,
        expected: &'static [&'static str],
    ) -> Result<UserId> {
        let (queue, organizations) = (mails(expected), organization(true));
        let counts = few();
        let registration_mails =
            RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client: None };
        let impersonation = Impersonation { users, registration_mails, extra_limit: 40 };
        impersonation.resolve(OrganizationId(1), asked, NOW).await.map(|(id, ..)| id)
    }

    fn on_missing() -> MissingUserRegistration {
        MissingUserRegistration { on_missing: true, ..MissingUserRegistration::default() }
    }

    #[tokio::test]
    async fn a_missing_user_is_registered_only_when_asked() {
        let refused = resolve(&nobody(), &asked("norablum", MissingUserRegistration::default(), json!({})))
            .await
            .unwrap_err();
        assert_eq!(refused.description(), "User not found. To create one, user meta.register_on_missing");
        let mut users = nobody();
        users.expect_add().once().returning(|_, user| {
            assert_eq!((user.name.as_str(), user.email.as_str()), ("norablum", "norablum@example.org"));
            let events: Vec<_> = user.events(UserId(5), None).into_iter().map(|event| event.name).collect();
            assert_eq!((user.confirmed_at, events), (None, vec![Ability::UserCreated]));
            Ok(UserId(5))
        });
        assert_eq!(resolve(&users, &asked("norablum", on_missing(), json!({}))).await.unwrap(), UserId(5));
    }

    #[tokio::test]
    async fn a_registered_user_with_an_address_is_written_to() {
        for (skip_confirmation, expected) in [(false, &["confirmation"] as &[_]), (true, &["welcome"])] {
            let mut users = nobody();
            users.expect_add().once().returning(|_, _| Ok(UserId(5)));
            let email = Some("nora@city.example".to_owned());
            let registration = MissingUserRegistration { skip_confirmation, email, ..on_missing() };
            let asked = asked("norablum", registration, json!({}));
            resolve_with_mails(&users, &asked, expected).await.unwrap();
        }
    }

    #[tokio::test]
    async fn all_broken_rules_of_a_registration_are_returned_at_once() {
        let registration = MissingUserRegistration {
            email: Some("Taken@example.org".to_owned()),
            name: Some("<b>".to_owned()),
            ..on_missing()
        };
        let refused = resolve(&nobody(), &asked("a b", registration, json!({}))).await.unwrap_err();
        let codes: Vec<_> = refused.details().iter().map(|f| (f.field.as_ref(), f.code.as_ref())).collect();
        let expected =
            [("username", "invalid"), ("username", "too_short"), ("email", "taken"), ("name", "invalid")];
        assert_eq!(codes, expected);
    }

    #[tokio::test]
    async fn extra_replaces_top_level_keys_of_a_found_user_and_nothing_else_changes() {
        let found = || {
            let mut user = User::new("norablum".into(), "n@example.org".into(), "Nora".into(), NOW);
            user.extended_data = json!({"a": {"x": 1}, "b": 1}).as_object().unwrap().clone().into();
            let (listed, held) = (user.clone(), user);
            let mut users = MockUserStore::new();
            users.expect_find_by_nickname().returning(move |_, _| Ok(Some((UserId(5), listed.clone()))));
            users.expect_find_for_update().returning(move |_, _| Ok(Some(held.clone())));
            users
        };
        let renamed = MissingUserRegistration { name: Some("Else".to_owned()), ..on_missing() };
        let mut users = found();
        users.expect_save().once().returning(|_, id, change| {
            assert_eq!(Value::Object(change.after.extended_data.clone().into()), json!({"a": {"y": 2}}));
            assert_eq!((change.after.name.as_str(), change.events(id).len()), ("Nora", 1));
            Ok(())
        });
        resolve(&users, &asked("norablum", renamed.clone(), json!({"a": {"y": 2}, "b": null})))
            .await
            .unwrap();
        resolve(&found(), &asked("norablum", renamed.clone(), json!({"b": 1}))).await.unwrap();
        let long = json!({"long": "x".repeat(50)});
        let refused = resolve(&found(), &asked("norablum", renamed, long)).await.unwrap_err();
        assert_eq!(refused.description(), "extended_data exceeds maximum size of 40 bytes");
    }

    #[tokio::test]
    async fn a_blocked_user_is_not_spoken_for() {
        let mut users = MockUserStore::new();
        users.expect_find().returning(|_, _| {
            let user = User::new("norablum".into(), "n@example.org".into(), "Nora".into(), NOW);
            Ok(Some(User { blocked_at: Some(NOW), ..user }))
        });
        let asked = ImpersonationGrant {
            id: Some(json!("7")),
            ..asked("x", MissingUserRegistration::default(), json!({"a": 1}))
        };
        assert_eq!(resolve(&users, &asked).await.unwrap_err().description(), "User blocked");
    }
}
