//! `user`: an account of a person.

use super::password::set_hash;
use super::{Field, Map, OrganizationId, Ports, Result, Value, async_trait};
use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_accounts::{User, UserAdmin};
use civitas_kernel::{Locale, UserId};

pub(super) struct Users;

members! { Users, "user", OrganizationId, UserFields, |kind, user: User| {
    nickname: required(String),
    email: required(String),
    name: required(String),
    password: input(String),
    password_hash: resolved(String, set_password, secret(user.password_hash.as_deref())),
    admin: flag(bool),
    locale: optional(Locale),
    about: optional(String),
    personal_url: optional(String),
    confirmed_at: optional(Moment),
    blocked_at: optional(Moment),
    locked_at: optional(Moment),
    deleted_at: optional(Moment),
    managed: flag(bool),
    tos_accepted_at: optional(Moment),
    extended_data: filled(Map<String, Value>),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

async fn set_password(
    context: &ImportContext<'_>,
    _: OrganizationId,
    fields: &mut UserFields,
    user: &mut User,
) -> Result<(), RecordError> {
    set_hash(context, &fields.password, &fields.password_hash, &mut user.password_hash).await
}

#[async_trait]
impl RecordKind for Users {
    type Id = UserId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: UserId) -> Result<Option<User>> {
        ports.users().find(of, id).await
    }

    /// By id, else by nickname among accounts that are not deleted, unless the record has `deleted_at`.
    async fn find_existing(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        id: Option<UserId>,
        fields: &UserFields,
    ) -> Result<Option<Found<Self>>, RecordError> {
        if let Some(found) = self.find_by_id(context.ports, of, id).await? {
            return Ok(Some(found));
        }
        match (&fields.nickname, &fields.deleted_at) {
            (_, Field::Value(_)) => Ok(None),
            (Field::Value(nickname), _) => Ok(context.ports.users().find_by_nickname(of, nickname).await?),
            _ => Ok(None),
        }
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<UserId>) -> Rows<Self> {
        ports.users().after(of, after, PAGE).await
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        _: OrganizationId,
        fields: &UserFields,
    ) -> Result<User, RecordError> {
        let (nickname, email) = (required("nickname", &fields.nickname)?, required("email", &fields.email)?);
        Ok(User::new(nickname, email, required("name", &fields.name)?, context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, user: &mut User) -> Result<(), RecordError> {
        user.email = user.email.trim().to_lowercase();
        Ok(())
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        user: &User,
    ) -> Result<UserId, RecordError> {
        Ok(UserAdmin { store: context.ports.users() }.create(of, user).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (id, old): &Found<Self>,
        user: User,
    ) -> Result<(), RecordError> {
        Ok(UserAdmin { store: context.ports.users() }.change(of, *id, old, user).await?)
    }
}
