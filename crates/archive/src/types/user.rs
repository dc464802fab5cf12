//! `user`: an account of a person.

use super::password::set_hash;
use super::{ExtendedDataValue, Field, async_trait};
use super::{Import, ImportContext, Imported, Moment, Person, RecordKind, StoredRecord, members, required};
use civitas_accounts::{User, UserAdmin, normal_email};
use civitas_kernel::{Locale, UserId};

pub(super) struct Users;

members! { Users, "user", ports.users(), UserFields, |kind, user: User| {
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
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}, |context| UserAdmin {
    store: context.ports.users(),
    tokens: context.ports.tokens(),
    queue: context.ports.queue(),
}}

async fn set_password(
    import: &mut Import<'_, '_, Users>,
    fields: &mut UserFields,
    user: &mut User,
) -> Imported {
    set_hash(import.context, &fields.password, &fields.password_hash, &mut user.password_hash).await
}

#[async_trait]
impl RecordKind for Users {
    const TOGETHER: bool = true;

    /// The nickname, among accounts that are not deleted, unless the record has `deleted_at`.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &UserFields,
    ) -> Imported<Option<UserId>> {
        match (&fields.nickname, &fields.deleted_at) {
            (_, Field::Value(_)) => Ok(None),
            (Field::Value(nickname), _) => {
                let found = import.context.ports.users().find_by_nickname(import.owner, nickname).await?;
                Ok(found.map(|(id, _)| id))
            }
            _ => Ok(None),
        }
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &UserFields) -> Imported<User> {
        let (nickname, email) = (required("nickname", &fields.nickname)?, required("email", &fields.email)?);
        Ok(User::new(nickname, email, required("name", &fields.name)?, import.context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, user: &mut User) -> Imported {
        user.email = normal_email(&user.email);
        Ok(())
    }

    fn is_of_person(&self, person: &mut Person, (id, _): &mut StoredRecord<Self>) -> bool {
        *id == person.id
    }
}
