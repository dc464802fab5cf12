//! `user`: an account of a person.

use super::password::set_hash;
use super::{
    ExportedPerson, ExtendedDataValue, Import, ImportContext, ImportResult, PatchField, RecordKind,
    StoredRecord, Timestamp, async_trait, members, required,
};
use civitas_accounts::{User, UserAdministration, normal_email};
use civitas_kernel::{Locale, UserId};

pub(super) struct UserRecordType;

members! { UserRecordType, "user", ports.users(), UserFields, |kind, user: User| {
    nickname: required(String),
    email: required(String),
    name: required(String),
    password: input(String),
    password_hash: resolved(String, set_password, secret(user.password_hash.as_deref())),
    admin: flag(bool),
    locale: optional(Locale),
    about: optional(String),
    personal_url: optional(String),
    confirmed_at: optional(Timestamp),
    blocked_at: optional(Timestamp),
    locked_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    managed: flag(bool),
    tos_accepted_at: optional(Timestamp),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}, |context| UserAdministration {
    store: context.ports.users(),
    tokens: context.ports.tokens(),
    queue: context.ports.queue(),
}}

async fn set_password(
    import: &mut Import<'_, '_, UserRecordType>,
    fields: &mut UserFields,
    user: &mut User,
) -> ImportResult {
    set_hash(import.context, &fields.password, &fields.password_hash, &mut user.password_hash).await
}

#[async_trait]
impl RecordKind for UserRecordType {
    const IN_BATCHES: bool = true;

    /// The nickname, among accounts that are not deleted, unless the record has `deleted_at`.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &UserFields,
    ) -> ImportResult<Option<UserId>> {
        match (&fields.nickname, &fields.deleted_at) {
            (_, PatchField::Value(_)) => Ok(None),
            (PatchField::Value(nickname), _) => {
                let found = import.context.ports.users().find_by_nickname(import.owner, nickname).await?;
                Ok(found.map(|(id, _)| id))
            }
            _ => Ok(None),
        }
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &UserFields) -> ImportResult<User> {
        let (nickname, email) = (required("nickname", &fields.nickname)?, required("email", &fields.email)?);
        Ok(User::new(nickname, email, required("name", &fields.name)?, import.context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, user: &mut User) -> ImportResult {
        user.email = normal_email(&user.email);
        Ok(())
    }

    fn belongs_to_person(&self, person: &mut ExportedPerson, (id, _): &mut StoredRecord<Self>) -> bool {
        *id == person.id
    }
}
