use super::*;
use crate::mail_limits::MockMailCountStore;
use crate::{AccountSettings, MockOrganizationLookup};
use civitas_kernel::MockTaskQueue;
use serde_json::json;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

/// An organization with welcome mails, or without.
pub(crate) fn organization(welcomes: bool) -> MockOrganizationLookup {
    let mut organizations = MockOrganizationLookup::new();
    organizations
        .expect_find()
        .returning(move |_| Ok(Some(AccountSettings { welcomes, ..AccountSettings::default() })));
    organizations
}

/// Counts of mails that are far from the limits.
pub(crate) fn few() -> MockMailCountStore {
    let mut counts = MockMailCountStore::new();
    counts.expect_count().returning(|_, _, _| Ok(1));
    counts
}

/// A queue that expects exactly these mails to user 5.
pub(crate) fn mails(expected: &'static [&'static str]) -> MockTaskQueue {
    let mut queue = MockTaskQueue::new();
    for mail in expected {
        let queued = move |task: &NewTask| {
            task.kind == "mail"
                && task.payload == json!({"mail": mail, "user": 5})
                && task.subject == Some(format!("{mail}/5"))
        };
        queue.expect_add().once().withf(queued).returning(|_| Ok(()));
    }
    queue
}

async fn registered(email: &str, confirmed: bool, welcomes: bool, expected: &'static [&'static str]) {
    let (queue, organizations, counts) = (mails(expected), organization(welcomes), few());
    let mut user = User::new("norablum".into(), email.into(), "Nora".into(), NOW);
    user.confirmed_at = confirmed.then_some(NOW);
    let registration_mails =
        RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client: None };
    registration_mails.queue_registration_mails(OrganizationId(1), UserId(5), &user, NOW).await.unwrap();
}

#[tokio::test]
async fn an_unconfirmed_user_gets_the_confirmation_mail_and_no_welcome_mail_yet() {
    registered("n@city.example", false, true, &["confirmation"]).await;
    registered("n@city.example", false, false, &["confirmation"]).await;
}

#[tokio::test]
async fn a_user_confirmed_at_once_gets_a_welcome_mail_if_enabled_and_no_confirmation_mail() {
    registered("n@city.example", true, true, &["welcome"]).await;
    registered("n@city.example", true, false, &[]).await;
}

#[tokio::test]
async fn a_mail_beyond_the_limits_is_left_out_and_the_account_is_registered() {
    let (queue, organizations) = (mails(&[]), organization(false));
    let mut counts = MockMailCountStore::new();
    counts.expect_count().once().returning(|_, _, _| Ok(crate::mail_limits::MAX_MAILS_TO_ADDRESS + 1));
    let client = Some(ClientId(4));
    let mails = RegistrationMails { queue: &queue, organizations: &organizations, counts: &counts, client };
    let user = User::new("norablum".into(), "n@city.example".into(), "Nora".into(), NOW);
    mails.queue_registration_mails(OrganizationId(1), UserId(5), &user, NOW).await.unwrap();
}

#[tokio::test]
async fn who_has_no_address_is_written_nothing() {
    registered("norablum@example.org", false, true, &[]).await;
    registered("norablum@example.org", true, true, &[]).await;
}
