//! Conformance tests of failed logins and counts of mails.

use crate::login_failures::{
    FAILURES_THAT_LOCK, FailedLogins, LOGIN_FAILURE_WINDOW, LoginFailureStore, LoginKey, LoginLock,
};
use crate::mail_limits::{MAIL_COUNT_WINDOW, MailCountStore};
use crate::{Digest, Secret};
use civitas_kernel::{ClientId, Result, conformance_world};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two clients and two organizations that exist.
    pub struct LoginWorld {
        ports(failures: LoginFailureStore, counts: MailCountStore)
        /// A client with the public name `id_of_other`.
        client: ClientId,
        /// A client with the public name `id_of_all`.
        second_client: ClientId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);
const UNTIL: OffsetDateTime = datetime!(2026-03-01 10:30:00.123456 UTC);

impl LoginWorld<'_> {
    fn key(&self, nickname: &str) -> LoginKey {
        LoginKey::new(self.mine, self.client, nickname)
    }

    async fn fail(&self, key: &LoginKey, times: i64, now: OffsetDateTime) -> Result<Option<FailedLogins>> {
        let mut last = None;
        for _ in 0..times {
            last = Some(self.failures.count(key, now + Duration::HOUR, now).await?);
        }
        Ok(last)
    }
}

/// Failures are counted for each name, client and organization; the twentieth closes the login, later ones do not
/// prolong it, and after its end they count from one.
pub async fn the_twentieth_failed_login_in_a_row_locks(world: LoginWorld<'_>) -> Result<()> {
    let key = world.key("Nora");
    assert_eq!(world.failures.find(&key).await?, None);
    for failures in 1..FAILURES_THAT_LOCK {
        let expected = FailedLogins { failures, locked_until: None };
        assert_eq!(world.failures.count(&key, UNTIL, NOW).await?, expected);
        assert_eq!(world.failures.find(&key).await?, Some(expected));
    }
    let locked = FailedLogins { failures: FAILURES_THAT_LOCK, locked_until: Some(UNTIL) };
    assert_eq!(world.failures.count(&key, UNTIL, NOW).await?, locked);
    let later = NOW + Duration::minutes(30);
    let again = world.failures.count(&key, UNTIL + Duration::HOUR, later).await?;
    assert_eq!(again, FailedLogins { failures: FAILURES_THAT_LOCK + 1, locked_until: Some(UNTIL) });

    assert_eq!(world.failures.find(&world.key("nORA")).await?, Some(again), "names have no case");
    for other in [
        world.key("Nora2"),
        LoginKey { client: world.second_client, ..key.clone() },
        LoginKey { organization: world.other, ..key.clone() },
    ] {
        assert_eq!(world.failures.find(&other).await?, None);
    }
    let after = world.failures.count(&key, UNTIL + Duration::HOUR, UNTIL).await?;
    assert_eq!(after, FailedLogins { failures: 1, locked_until: None }, "the lock has ended");
    Ok(())
}

/// A success resets the failures through its client, but does not open a closed login.
pub async fn a_success_resets_failed_logins(world: LoginWorld<'_>) -> Result<()> {
    let (key, second) = (world.key("Nora"), LoginKey { client: world.second_client, ..world.key("Nora") });
    world.fail(&key, 19, NOW).await?;
    world.fail(&second, 2, NOW).await?;
    world.failures.reset(&key, NOW).await?;
    assert_eq!(world.failures.find(&key).await?, None);
    assert_eq!(world.failures.find(&second).await?.map(|failed| failed.failures), Some(2));
    world.fail(&key, 20, NOW).await?;
    world.failures.reset(&key, NOW).await?;
    assert!(world.failures.find(&key).await?.is_some_and(|failed| failed.is_locked(NOW)));
    world.failures.reset(&key, UNTIL).await?;
    assert_eq!(world.failures.find(&key).await?, None);
    Ok(())
}

/// The locks of a name are listed with their clients, and lifted through all at once, in one organization.
pub async fn lists_and_lifts_login_locks(world: LoginWorld<'_>) -> Result<()> {
    let (key, second) = (world.key("Nora"), LoginKey { client: world.second_client, ..world.key("Nora") });
    let foreign = LoginKey { organization: world.other, ..key.clone() };
    assert!(!world.failures.clear_lock(world.mine, &key.name, NOW).await?);
    world.fail(&key, 20, NOW).await?;
    world.fail(&second, 20, NOW + Duration::MINUTE).await?;
    world.fail(&foreign, 20, NOW).await?;
    let lock = |uid: &str, until| LoginLock {
        client_uid: uid.to_owned(),
        client_name: "A client".to_owned(),
        until,
    };
    let both = [lock("id_of_all", UNTIL + Duration::MINUTE), lock("id_of_other", UNTIL)];
    assert_eq!(world.failures.locks(world.mine, &key.name, NOW).await?, both);
    assert_eq!(world.failures.locks(world.mine, &key.name, UNTIL).await?, both[..1]);
    assert!(world.failures.clear_lock(world.mine, &key.name, NOW).await?);
    assert_eq!(world.failures.locks(world.mine, &key.name, NOW).await?, []);
    assert_eq!(world.failures.find(&second).await?, None);
    assert!(world.failures.find(&foreign).await?.is_some(), "the other organization's stays");
    world.fail(&key, 1, NOW).await?;
    assert!(!world.failures.clear_lock(world.mine, &key.name, NOW).await?, "it was not closed");
    Ok(())
}

/// Failures are removed a day after the last one unless the login is closed; beyond a number of names, those with the
/// fewest failures are removed.
pub async fn removes_failed_logins_that_nobody_needs(world: LoginWorld<'_>) -> Result<()> {
    let old = NOW - LOGIN_FAILURE_WINDOW - Duration::MINUTE;
    world.fail(&world.key("old"), 3, old).await?;
    let closed = world.key("closed");
    for _ in 0..20 {
        world.failures.count(&closed, UNTIL, old).await?;
    }
    for (nickname, times) in [("few", 1), ("some", 2), ("many", 3)] {
        world.fail(&world.key(nickname), times, NOW).await?;
    }
    assert_eq!(world.failures.remove_unneeded(NOW, 100, 10).await?, 1);
    assert_eq!(world.failures.find(&world.key("old")).await?, None);
    assert_eq!(world.failures.remove_unneeded(NOW, 2, 1).await?, 1, "one batch");
    assert_eq!(world.failures.remove_unneeded(NOW, 2, 10).await?, 1);
    assert_eq!(world.failures.remove_unneeded(NOW, 2, 10).await?, 0);
    for (nickname, stays) in [("few", false), ("some", false), ("many", true), ("closed", true)] {
        assert_eq!(world.failures.find(&world.key(nickname)).await?.is_some(), stays, "{nickname}");
    }
    assert_eq!(world.failures.remove_unneeded(UNTIL, 100, 10).await?, 1, "the lock has ended");
    Ok(())
}

/// Mails are counted for each subject and organization, within an hour from the first.
pub async fn counts_mails_of_an_hour(world: LoginWorld<'_>) -> Result<()> {
    let (first, second): (Digest, Digest) = (Secret::new("1").digest(), Secret::new("2").digest());
    for expected in 1..=3 {
        assert_eq!(world.counts.count(world.mine, &first, NOW).await?, expected);
    }
    assert_eq!(world.counts.count(world.mine, &second, NOW + Duration::MINUTE).await?, 1);
    assert_eq!(world.counts.count(world.other, &first, NOW + Duration::MINUTE).await?, 1);
    let almost = NOW + MAIL_COUNT_WINDOW - Duration::SECOND;
    assert_eq!(world.counts.count(world.mine, &first, almost).await?, 4);
    assert_eq!(world.counts.count(world.mine, &first, NOW + MAIL_COUNT_WINDOW).await?, 1);
    let next = NOW + MAIL_COUNT_WINDOW + Duration::SECOND;
    assert_eq!(world.counts.count(world.mine, &first, next).await?, 2);
    assert_eq!(world.counts.remove_before(NOW + Duration::HOUR, 1).await?, 1);
    assert_eq!(world.counts.remove_before(NOW + Duration::HOUR, 10).await?, 1);
    assert_eq!(world.counts.remove_before(NOW + Duration::HOUR, 10).await?, 0);
    assert_eq!(world.counts.count(world.mine, &first, next).await?, 3, "its hour is not over");
    Ok(())
}
