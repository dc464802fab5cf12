//! `user`: a person's account.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, maybe, need, set};
use super::super::record::Record;
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_accounts::{User, UserAdmin};
use civitas_kernel::{Field, Locale, OrganizationId, UserId};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) struct Users;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UserRecord {
    nickname: Field<String>,
    email: Field<String>,
    name: Field<String>,
    password: Field<String>,
    password_hash: Field<String>,
    admin: Field<bool>,
    locale: Field<Locale>,
    about: Field<String>,
    personal_url: Field<String>,
    confirmed_at: Field<Moment>,
    blocked_at: Field<Moment>,
    locked_at: Field<Moment>,
    deleted_at: Field<Moment>,
    managed: Field<bool>,
    tos_accepted_at: Field<Moment>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl UserRecord {
    /// A new account with what it must have; the rest is applied as to any other.
    fn begin(&self, import: &Import<'_>) -> Result<User, Fault> {
        let nickname = need("nickname", &self.nickname)?;
        let email = need("email", &self.email)?;
        Ok(User::new(nickname, email, need("name", &self.name)?, import.options.now))
    }

    async fn apply(self, import: &Import<'_>, user: &mut User) -> Result<(), Fault> {
        set("nickname", self.nickname, &mut user.nickname)?;
        set("email", self.email, &mut user.email)?;
        user.email = user.email.trim().to_lowercase();
        set("name", self.name, &mut user.name)?;
        import.password(self.password, self.password_hash, &mut user.password_hash).await?;
        set("admin", self.admin, &mut user.admin)?;
        maybe(self.locale, &mut user.locale);
        maybe(self.about, &mut user.about);
        maybe(self.personal_url, &mut user.personal_url);
        maybe(self.confirmed_at, &mut user.confirmed_at);
        maybe(self.blocked_at, &mut user.blocked_at);
        maybe(self.locked_at, &mut user.locked_at);
        maybe(self.deleted_at, &mut user.deleted_at);
        set("managed", self.managed, &mut user.managed)?;
        maybe(self.tos_accepted_at, &mut user.tos_accepted_at);
        fill(self.extended_data, &mut user.extended_data);
        set("created_at", self.created_at, &mut user.created_at)?;
        set("updated_at", self.updated_at, &mut user.updated_at)
    }
}

/// The account a record stands for: the one its ref was remembered for, else the living one of its nickname. A
/// record of a deleted account never stands for a living one.
async fn find(
    import: &Import<'_>,
    organization: OrganizationId,
    record: &Record,
    said: &UserRecord,
) -> Result<Option<(UserId, User)>, Fault> {
    let store = import.ports.users();
    if let Some(id) = record.seen_as(UserId)
        && let Some(user) = store.find(organization, id).await?
    {
        return Ok(Some((id, user)));
    }
    match (&said.nickname, &said.deleted_at) {
        (_, Field::Value(_)) => Ok(None),
        (Field::Value(nickname), _) => Ok(store.find_by_nickname(organization, nickname).await?),
        _ => Ok(None),
    }
}

#[async_trait]
impl RecordType for Users {
    fn name(&self) -> &'static str {
        "user"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: UserRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let before = find(import, organization, &record, &said).await?;
        let mut user = match &before {
            Some((_, user)) => user.clone(),
            None => said.begin(import)?,
        };
        said.apply(import, &mut user).await?;
        let admin = UserAdmin { store: import.ports.users() };
        match before {
            None => Ok(Put::created(admin.create(organization, &user).await?)),
            Some((id, old)) if old == user => Ok(Put::unchanged(id)),
            Some((id, old)) => {
                if !restamped {
                    user.updated_at = import.options.now;
                }
                admin.change(organization, id, &old, user).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let with_secrets = sink.with_secrets;
        let page = |after| ports.users().after(organization, after, PAGE);
        every(page, |id, user| {
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("nickname", user.nickname)
                    .with("email", user.email)
                    .with("name", user.name)
                    .unless_empty("password_hash", user.password_hash.filter(|_| with_secrets))
                    .unless_empty("admin", user.admin)
                    .unless_empty("locale", user.locale)
                    .some("about", user.about)
                    .some("personal_url", user.personal_url)
                    .time("confirmed_at", user.confirmed_at)
                    .time("blocked_at", user.blocked_at)
                    .time("locked_at", user.locked_at)
                    .time("deleted_at", user.deleted_at)
                    .unless_empty("managed", user.managed)
                    .time("tos_accepted_at", user.tos_accepted_at)
                    .unless_empty("extended_data", user.extended_data)
                    .stamps(user.created_at, user.updated_at),
            )
        })
        .await
    }
}
