//! Mails to users: kinds, texts, and the port that sends them.

mod texts;

use crate::{Secret, User};
use async_trait::async_trait;
use civitas_kernel::{AdministratorId, Locale, Result, TaskId, TaskPayload, UserId};
use serde::{Deserialize, Serialize};

civitas_kernel::named_enum! {
    /// The kind of a mail.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum MailKind {
        /// Asks the user to confirm the address.
        Confirmation = "confirmation",
        /// Greets a user whose account is confirmed.
        Welcome = "welcome",
        /// Invites to a role in a space.
        Invitation = "invitation",
    }
}

/// The task of sending a mail. It has the user and not the address, which is read when the mail is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendMail {
    /// The kind of mail.
    #[serde(alias = "mail")]
    pub mail: MailKind,
    /// The user.
    pub user: UserId,
}

impl TaskPayload for SendMail {
    const KIND: &'static str = "mail";
}

impl SendMail {
    /// One task at a time for each kind of mail and user.
    pub fn subject(&self) -> String {
        format!("{}/{}", self.mail, self.user)
    }
}

/// The task of sending [`Mail::sign_in_notice`] to an administrator of the panel, who belongs to no organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendSignInNotice {
    /// The administrator.
    pub administrator: AdministratorId,
}

impl TaskPayload for SendSignInNotice {
    const KIND: &'static str = SendMail::KIND;
}

/// The task of sending an invitation to a role. It has the row of the role, because the invited person may have no
/// account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendInvitation {
    /// The row.
    pub role: i64,
}

impl TaskPayload for SendInvitation {
    const KIND: &'static str = "invitation";
}

/// The receiver of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailRecipient<'a> {
    /// Their address.
    pub email: &'a str,
    /// The name, or a replacement.
    pub name: &'a str,
}

impl<'a> From<&'a User> for MailRecipient<'a> {
    fn from(user: &'a User) -> Self {
        Self { email: &user.email, name: &user.name }
    }
}

/// The sender of a mail, and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSender<'a> {
    /// The name of the organization, in that language where there is one.
    pub organization: &'a str,
    /// The user's language, else the organization's.
    pub locale: Locale,
}

/// A part of a mail.
#[derive(Debug, Clone)]
pub enum MailPart {
    /// Plain text.
    Text(String),
    /// A link. It contains a secret for the receiver only.
    Link(Secret),
}

/// A rendered mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Identifies the mail. A repeat has the same, so that it is recognised.
    pub id: TaskId,
    /// The address it goes to.
    pub to: String,
    /// The name of the receiver; one line.
    pub to_name: String,
    /// The name of the sender; one line.
    pub from_name: String,
    /// The subject; one line.
    pub subject: String,
    /// The body.
    pub parts: Vec<MailPart>,
}

/// Sends mails.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends a mail.
    ///
    /// # Errors
    /// `Rejected` when it is refused permanently; `Unavailable` when it may be accepted later.
    async fn send(&self, mail: &Mail) -> Result<()>;
}

impl MailKind {
    /// Whether the mail is still to be sent to this user: it may have become unnecessary since it was queued.
    pub fn is_for(self, user: &User) -> bool {
        let wanted = match self {
            Self::Confirmation => user.confirmed_at.is_none(),
            Self::Welcome | Self::Invitation => true,
        };
        wanted && user.deleted_at.is_none() && is_deliverable(&user.email)
    }

    /// The mail of this task to this reader, with this link in it.
    pub fn write(self, task: TaskId, head: MailSender<'_>, to: MailRecipient<'_>, link: Secret) -> Mail {
        let words = texts::mail_texts(self, head.locale);
        let fill = |text: &str| filled(text, &one_line(to.name), &one_line(head.organization));
        Mail {
            id: task,
            to: to.email.to_owned(),
            to_name: one_line(to.name),
            from_name: one_line(head.organization),
            subject: fill(words.subject),
            parts: vec![
                MailPart::Text(fill(words.opening)),
                MailPart::Link(link),
                MailPart::Text(fill(words.closing)),
            ],
        }
    }
}

impl Mail {
    /// The mail that tells an administrator that failed sign-ins refuse sources. It has no link and no name of an
    /// organization: clients of that organization choose its host and its name.
    pub fn sign_in_notice(task: TaskId, email: &str, locale: Locale) -> Self {
        let words = texts::sign_in_notice(locale);
        Self {
            id: task,
            to: email.to_owned(),
            to_name: one_line(email),
            from_name: "Civitas".to_owned(),
            subject: words.subject.to_owned(),
            parts: [words.opening, words.closing]
                .map(|text| MailPart::Text(filled(text, email, "")))
                .to_vec(),
        }
    }

    /// The text for the receiver.
    pub fn text(&self) -> String {
        self.text_with(Secret::expose)
    }

    /// The text without its links, for the log.
    pub fn text_without_links(&self) -> String {
        self.text_with(|_| "[..]")
    }

    fn text_with<'a>(&'a self, link: impl Fn(&'a Secret) -> &'a str) -> String {
        let part = |part: &'a MailPart| match part {
            MailPart::Text(text) => text.as_str(),
            MailPart::Link(address) => link(address),
        };
        self.parts.iter().map(part).collect()
    }
}

/// Whether mail to this address is sent. `example.org` is used for users without a known address
/// (contract 02 §2.4).
pub fn is_deliverable(email: &str) -> bool {
    !email.to_ascii_lowercase().ends_with("example.org")
}

/// Replaces the two names in one pass: names that contain a placeholder are not expanded again.
fn filled(text: &str, name: &str, organization: &str) -> String {
    let mut whole = String::with_capacity(text.len() + name.len() + organization.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (placeholder, behind) = after.split_once('}').unwrap_or((after, ""));
        whole.push_str(before);
        whole.push_str(if placeholder == "name" { name } else { organization });
        rest = behind;
    }
    whole + rest
}

/// The text in one line: a line break in a header of a mail would begin another header.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::sortable_id;
    use time::macros::datetime;

    fn nora() -> User {
        let now = datetime!(2026-03-01 09:30 UTC);
        User::new("norablum".into(), "nora@city.example".into(), "Nora Blum".into(), now)
    }

    fn mail(mail: MailKind, organization: &str, locale: Locale) -> Mail {
        let link = Secret::new("https://city.example/confirmation/abc");
        mail.write(TaskId(sortable_id()), MailSender { organization, locale }, (&nora()).into(), link)
    }

    #[test]
    fn each_mail_is_written_in_each_language_with_both_names_and_the_link() {
        let mut subjects = Vec::new();
        for kind in [MailKind::Confirmation, MailKind::Welcome, MailKind::Invitation] {
            for locale in Locale::TRANSLATED_LOCALES {
                let mail = mail(kind, "Riverton", locale);
                assert_eq!((mail.to.as_str(), mail.to_name.as_str()), ("nora@city.example", "Nora Blum"));
                assert!(mail.subject.contains("Riverton"), "{}", mail.subject);
                let text = mail.text();
                for part in ["Nora Blum", "Riverton", "\n\nhttps://city.example/confirmation/abc\n\n"] {
                    assert!(text.contains(part), "{text}");
                }
                assert!(!text.contains(['{', '}']), "{text}");
                assert!(text.lines().all(|line| line.len() < 900), "SMTP takes 998 octets a line");
                subjects.push(mail.subject);
            }
        }
        subjects.sort();
        subjects.dedup();
        assert_eq!(subjects.len(), 9, "each has words of its own");
    }

    #[test]
    fn the_notice_of_refused_sign_ins_has_no_link() {
        for locale in Locale::TRANSLATED_LOCALES {
            let mail = Mail::sign_in_notice(TaskId(sortable_id()), "ada@city.example", locale);
            assert_eq!((mail.from_name.as_str(), mail.to.as_str()), ("Civitas", "ada@city.example"));
            let text = format!("{}\n{}", mail.subject, mail.text());
            assert!(text.contains("ada@city.example") && !text.contains(['{', '}']), "{text}");
            assert!(!text.contains("://") && mail.parts.iter().all(|part| matches!(part, MailPart::Text(_))));
        }
    }

    #[test]
    fn what_is_logged_has_no_link() {
        let mail = mail(MailKind::Confirmation, "Riverton", Locale::EN);
        assert!(!mail.text_without_links().contains("abc"));
        assert!(!format!("{mail:?}").contains("abc"));
        assert!(mail.text_without_links().contains("Nora Blum"));
    }

    #[test]
    fn a_name_breaks_no_line_and_is_no_place_for_another() {
        let mail = mail(MailKind::Welcome, "City\r\nBcc: all@city.example {name}", Locale::EN);
        assert_eq!(mail.from_name, "City Bcc: all@city.example {name}");
        assert!(!mail.subject.contains(['\r', '\n']));
        assert!(mail.subject.ends_with("{name}"), "{}", mail.subject);
    }

    #[test]
    fn nothing_goes_to_example_org() {
        for email in ["nora@example.org", "nora@EXAMPLE.ORG", "nora@mail.example.org"] {
            assert!(!is_deliverable(email), "{email}");
        }
        for email in ["nora@example.com", "example.org@city.example"] {
            assert!(is_deliverable(email), "{email}");
        }
    }

    #[test]
    fn a_mail_that_is_not_needed_any_more_is_not_sent() {
        let now = Some(datetime!(2026-03-01 09:30 UTC));
        let confirmed = User { confirmed_at: now, ..nora() };
        let deleted = User { deleted_at: now, ..nora() };
        let unknown = User { email: "nora@example.org".to_owned(), ..nora() };
        assert!(MailKind::Confirmation.is_for(&nora()) && MailKind::Welcome.is_for(&confirmed));
        assert!(!MailKind::Confirmation.is_for(&confirmed));
        for nobody in [deleted, unknown] {
            assert!(!MailKind::Confirmation.is_for(&nobody) && !MailKind::Welcome.is_for(&nobody));
        }
    }
}
