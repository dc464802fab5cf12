//! Accounts of users (contract 02 §2.4, 03 §2).

use crate::{USER_FIELDS, UserStore};
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::limits::{MAX_LINE_CHARS, is_longer};
use civitas_kernel::records::{Entity, RecordField, RecordFields, SearchTexts};
use civitas_kernel::{
    Ability, Access, Ctx, Error, Event, EventName, Locale, Page, PageRequest, Result, Scope, Subject, UserId,
    UserState,
};
use email_address::EmailAddress;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use time::OffsetDateTime;
use validator::ValidateEmail;

/// An account in one organization.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// Unique in the organization, case-insensitively; the `username` of grants.
    pub nickname: String,
    /// Unique in the organization; as [`normal_email`] writes it.
    pub email: String,
    /// The display name.
    pub name: String,
    /// A hash of Argon2id, or of bcrypt until the first login; `None` signs in by impersonation or magic link only.
    pub password_hash: Option<String>,
    /// Whether the user is a general administrator.
    pub admin: bool,
    /// The language the user chose.
    pub locale: Option<Locale>,
    /// A description by the user; raw text.
    pub about: Option<String>,
    /// A web address; raw text.
    pub personal_url: Option<String>,
    /// When the e-mail address was confirmed.
    pub confirmed_at: Option<OffsetDateTime>,
    /// When an administrator blocked the account.
    pub blocked_at: Option<OffsetDateTime>,
    /// When an administrator locked the account.
    pub locked_at: Option<OffsetDateTime>,
    /// When the account was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// Whether another person manages the account.
    pub managed: bool,
    /// When the terms of service were accepted.
    pub tos_accepted_at: Option<OffsetDateTime>,
    /// Free data of clients.
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl User {
    /// The nickname of every deleted account.
    pub const DELETED_NICKNAME: &'static str = "deleted";
    /// The e-mail address of every deleted account: no mail can reach it (RFC 2606, 2).
    pub const DELETED_EMAIL: &'static str = "deleted@deleted.invalid";
    /// The name of every deleted account.
    pub const DELETED_NAME: &'static str = "Deleted account";

    /// A new account with the defaults of contract 02 §2.4: no administrator, unconfirmed, no password.
    pub fn new(nickname: String, email: String, name: String, now: OffsetDateTime) -> Self {
        Self {
            nickname,
            email,
            name,
            password_hash: None,
            admin: false,
            locale: None,
            about: None,
            personal_url: None,
            confirmed_at: None,
            blocked_at: None,
            locked_at: None,
            deleted_at: None,
            managed: false,
            tos_accepted_at: None,
            extended_data: ExtendedDataValue::default(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether the account may act.
    pub fn state(&self) -> UserState {
        match (self.blocked_at, self.locked_at) {
            (Some(_), _) => UserState::Blocked,
            (None, Some(_)) => UserState::Locked,
            (None, None) => UserState::Active,
        }
    }
}

impl User {
    /// Blocks the account: its tokens stay valid, but all operations fail. A second call keeps the time.
    pub fn block(&mut self, now: OffsetDateTime) {
        self.blocked_at.get_or_insert(now);
    }

    /// Removes a block.
    pub fn unblock(&mut self) {
        self.blocked_at = None;
    }

    /// Locks the account: all operations with its tokens fail, and it gets no new ones. A second call keeps the time.
    pub fn lock(&mut self, now: OffsetDateTime) {
        self.locked_at.get_or_insert(now);
    }

    /// Removes a lock.
    pub fn unlock(&mut self) {
        self.locked_at = None;
    }

    /// Confirms the e-mail address. A second call keeps the time.
    pub fn confirm(&mut self, now: OffsetDateTime) {
        self.confirmed_at.get_or_insert(now);
    }

    /// Deletes the account and the data of the person. Its row stays, because other records refer to its id. A second
    /// call changes nothing.
    pub fn delete(&mut self, now: OffsetDateTime) {
        if self.deleted_at.is_some() {
            return;
        }
        *self = Self {
            deleted_at: Some(now),
            ..Self::new(
                Self::DELETED_NICKNAME.to_owned(),
                Self::DELETED_EMAIL.to_owned(),
                Self::DELETED_NAME.to_owned(),
                self.created_at,
            )
        };
    }

    /// The event of this state after that one, or of a new account (contract 09 C.1). A change of a deleted account has
    /// none, nor have confirmations, terms, passwords and logins.
    fn event_name(&self, before: Option<&Self>) -> Option<EventName> {
        if self.deleted_at.is_some() {
            return None;
        }
        let Some(before) = before else { return Some(Ability::UserCreated) };
        let silent = Self {
            password_hash: before.password_hash.clone(),
            confirmed_at: before.confirmed_at,
            tos_accepted_at: before.tos_accepted_at,
            managed: before.managed,
            created_at: before.created_at,
            updated_at: before.updated_at,
            ..self.clone()
        };
        (silent != *before).then_some(Ability::UserUpdated)
    }

    fn admin_rights(&self) -> AdminRights {
        let admin = self.admin && self.deleted_at.is_none();
        AdminRights {
            sees_all: admin,
            acts_for_services: admin && self.confirmed_at.is_some() && self.blocked_at.is_none(),
        }
    }
}

/// What an account may do as an administrator.
#[derive(PartialEq, Eq, Default)]
struct AdminRights {
    /// Whether it sees spaces as an administrator does.
    sees_all: bool,
    /// Whether it can be the acting user of service tokens.
    acts_for_services: bool,
}

type Field = RecordField<User>;

impl RecordFields for User {
    const NAME: &'static str = "user";
    const FIELDS: &'static [Field] = &[
        Field::text("name", |u| u.name.clone()),
        Field::text("nickname", |u| u.nickname.clone()),
        Field::text("email", |u| u.email.clone()),
        Field::text("locale", |u| u.locale.map(|locale| locale.to_string()).unwrap_or_default()),
        Field::text("admin", |u| u.admin.to_string()),
    ];
}

impl Entity for User {
    type Id = UserId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::from_name(&self.name))
    }

    fn events(&self, id: UserId, before: Option<&Self>) -> Vec<Event> {
        let event = |name| Event { name, subject: Subject::User(id) };
        self.event_name(before).map(event).into_iter().collect()
    }

    /// A deleted account leaves the lists of users and of roles; an administrator who is none any more leaves the list
    /// of roles, and what the viewers of spaces see changes with administrators.
    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let leaves = before.is_some_and(|before| !before.is_deleted()) && self.is_deleted();
        let had = before.map(Self::admin_rights).unwrap_or_default();
        let has = self.admin_rights();
        let lists =
            [("roles", leaves || (had.sees_all && !has.sees_all)), ("spaces", had != has), ("users", leaves)];
        lists.into_iter().filter(|(_, is_changed)| *is_changed).map(|(list, _)| list).collect()
    }

    /// Nicknames, in any case, and e-mail addresses are unique. `Conflict`: another writer has just taken it; the
    /// repeated use case finds this and returns its own error.
    fn key_taken_error() -> Error {
        Error::Conflict("nickname or e-mail are taken".into())
    }
}

/// The rights to read accounts.
pub const READ_USERS: Access = Access::either(Scope::Oauth, &[Ability::OauthRead]);

/// Reads accounts.
pub struct Users<'a> {
    /// The store of accounts.
    pub store: &'a dyn UserStore,
}

impl Users<'_> {
    /// The accounts of the organization that are not deleted, by id.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<(UserId, User)>> {
        ctx.require(&READ_USERS)?;
        ctx.check_filter(filter, Ability::OauthExtendedDataRead)?;
        self.store.list(ctx.organization, &read_filters(USER_FIELDS, filter)?, page).await
    }
}

/// Whether a text is an e-mail address that mail can be sent to.
pub fn is_email(text: &str) -> bool {
    text.validate_email() && EmailAddress::is_valid(text) && !is_longer(text, MAX_LINE_CHARS)
}

/// The form in which e-mail addresses are stored and compared: trimmed, in lower case, the domain in ASCII (RFC 5891).
pub fn normal_email(text: &str) -> String {
    let text = text.trim().to_lowercase();
    let parts = text.rsplit_once('@').filter(|_| !is_longer(&text, MAX_LINE_CHARS));
    let in_ascii = parts.and_then(|(local, domain)| {
        let domain = idna::domain_to_ascii(domain).ok()?;
        Some(format!("{local}@{domain}"))
    });
    in_ascii.unwrap_or(text)
}

/// The most characters of a new nickname. Older accounts may have longer ones.
pub const NICKNAME_LENGTH: usize = 20;

/// Whether a text can be a nickname: `A-Z a-z 0-9 _ -` only, at most [`MAX_LINE_CHARS`] of them. A new one has at most
/// [`NICKNAME_LENGTH`].
pub fn is_nickname(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_LINE_CHARS
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Whether a text can be a name: an imported one with none of `< > ? % & ^ * # @ ( ) [ ] = + : ; " { }
/// \ |`.
pub fn is_name(text: &str) -> bool {
    is_imported_name(text) && !text.contains(|c| r#"<>?%&^*#@()[]=+:;"{}\|"#.contains(c))
}

/// Whether a text can be the name of an imported account: visible, at most [`MAX_LINE_CHARS`] characters in one line,
/// and no character that turns the direction of what follows. Other services have other rules (contract 13 §5.3).
pub(crate) fn is_imported_name(text: &str) -> bool {
    let has_no_place =
        |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(is_visible) && !is_longer(text, MAX_LINE_CHARS) && !text.contains(has_no_place)
}

/// Whether a character is seen: no space, no character without a shape, no empty pattern of Braille.
fn is_visible(c: char) -> bool {
    !c.is_whitespace() && c != '\u{2800}' && !CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockUserStore;
    use civitas_kernel::filter::RawValue;
    use time::macros::datetime;

    #[test]
    fn a_deleted_account_has_no_data_of_the_person() {
        let (then, now) = (datetime!(2026-01-01 0:00 UTC), datetime!(2026-02-01 0:00 UTC));
        let mut user = User {
            password_hash: Some("$argon2id$".into()),
            admin: true,
            about: Some("Gardener".into()),
            personal_url: Some("https://nora.example".into()),
            confirmed_at: Some(then),
            locale: Some(Locale::FR),
            ..User::new("nora_blum".into(), "nora@city.example".into(), "Nora Blum".into(), then)
        };
        user.extended_data = [("phone", "+33".into())].into();
        user.delete(now);
        let (nickname, email, name) = ("deleted", "deleted@deleted.invalid", "Deleted account");
        let erased =
            User { deleted_at: Some(now), ..User::new(nickname.into(), email.into(), name.into(), then) };
        assert_eq!(user, erased);
        assert!(is_nickname(nickname) && is_email(email) && is_name(name));
        user.delete(now + time::Duration::DAY);
        assert_eq!(user.deleted_at, Some(now));
    }

    #[test]
    fn an_address_has_one_form() {
        for text in [" Nora@MÜNCHEN.example", "nora@mu\u{308}nchen.example ", "nora@xn--mnchen-3ya.example"]
        {
            assert_eq!(normal_email(text), "nora@xn--mnchen-3ya.example", "{text}");
            assert!(is_email(&normal_email(text)));
        }
        for same in ["nora", "nora@", "nora@[127.0.0.1]", "@", ""] {
            assert_eq!(normal_email(same), same);
        }
    }

    #[test]
    fn an_address_that_no_mail_can_be_sent_to_is_none() {
        for text in ["a..b@city.example", ".a@city.example", "a.@city.example", "a@city[127.0.0.1]"] {
            assert!(!is_email(text), "{text}");
        }
        for text in ["a.b+c@city.example", "o'hara@city.example", "a@[127.0.0.1]", "a@localhost"] {
            assert!(is_email(text), "{text}");
        }
    }

    #[test]
    fn a_name_is_seen_in_one_line_and_in_one_direction() {
        let invisible =
            ["\u{200b}", "\u{feff}", "\u{2800}", "\u{3164}", "\u{ad}\u{2060} \u{a0}", "\u{e0041}"];
        let broken = ["Nora\nBlum", "Nora\rBlum", "Nora\u{85}Blum", "Nora\u{2028}Blum", "Nora\tBlum\0"];
        let turned = ["Nora\u{202e}mulB", "Nora\u{2066}Blum", "\u{202d}Nora"];
        for text in invisible.into_iter().chain(broken).chain(turned) {
            assert!(!is_name(text), "{text:?}");
        }
        for text in [
            "Nora Blum",
            "O’Hara",
            "نورا",
            "علی\u{200c}رضا",
            "לאה\u{200f}",
            "👩\u{200d}🌾",
            "\u{feff}Nora",
            "ノラ",
        ] {
            assert!(is_name(text), "{text:?}");
        }
    }

    async fn search(ctx: &Ctx, key: &str) -> Result<()> {
        let mut store = MockUserStore::new();
        store.expect_list().returning(|_, _, _| Ok(Page::new(vec![], false)));
        let filter = RawFilter::new(vec![(key.to_owned(), RawValue::One(String::new()))]);
        Users { store: &store }.list(ctx, &filter, PageRequest::default()).await.map(drop)
    }

    #[tokio::test]
    async fn searching_the_extended_data_needs_an_ability_of_its_own() {
        assert!(matches!(search(&Ctx::for_test(), "id").await, Err(Error::Forbidden)));
        let mut ctx = Ctx::for_test().with_access(&READ_USERS);
        search(&ctx, "nickname_start").await.unwrap();
        assert!(matches!(search(&ctx, "extended_data_cont").await, Err(Error::Forbidden)));
        ctx.caller.abilities.insert(Ability::OauthExtendedDataRead);
        search(&ctx, "extended_data_cont").await.unwrap();
    }
}
