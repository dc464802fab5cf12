//! Conformance tests of administrators and their sessions.

use crate::administrators::{
    Administrator, AdministratorStore, PanelSession, PanelSessionStore, PanelTheme, SecondFactor,
    SignInSources,
};
use crate::{Digest, EndedCredentials, Secret};
use civitas_kernel::{AdministratorId, Error, Locale, OrganizationId, PageRequest, Result};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

/// The stores without administrators, and an organization.
pub struct PanelWorld<'a> {
    /// Under test.
    pub administrators: &'a dyn AdministratorStore,
    /// Under test.
    pub sessions: &'a dyn PanelSessionStore,
    /// Under test.
    pub ended: &'a dyn EndedCredentials,
    /// An organization.
    pub mine: OrganizationId,
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);
const NOBODY: AdministratorId = AdministratorId(i64::MAX);

fn administrator(name: &str) -> Administrator {
    Administrator::new(format!("{name}@city.example"), NOW)
}

/// An administrator without default values.
fn unusual(world: &PanelWorld<'_>) -> Administrator {
    let mut sources = SignInSources::default();
    sources.remember("home", NOW);
    sources.count_failure("another", NOW);
    Administrator {
        password: Some("$argon2id$v=19$..".to_owned()),
        sources,
        locale: Some(Locale::FR),
        theme: PanelTheme::Dark,
        second_factor: Some(SecondFactor {
            secret: "v1.sealed".to_owned(),
            recovery_codes: vec![Secret::new("a").digest(), Secret::new("b").digest()],
            last_step: 58_999_999,
        }),
        organization: Some(world.mine),
        created_at: datetime!(2020-02-29 23:59:59.999999 UTC),
        updated_at: NOW + Duration::HOUR,
        last_sign_in_at: Some(NOW + Duration::SECOND),
        ..administrator("unusual")
    }
}

/// An account is read back with all members, and its address belongs to it alone.
pub async fn keeps_administrators(world: PanelWorld<'_>) -> Result<()> {
    let (store, unusual) = (world.administrators, unusual(&world));
    let id = store.add(&unusual).await?;
    let plain = store.add(&administrator("plain")).await?;
    assert_eq!(store.find(id).await?.as_ref(), Some(&unusual));
    assert_eq!(store.find_by_email("unusual@city.example").await?, Some((id, unusual.clone())));
    assert_eq!(store.find_for_update(id).await?, Some(unusual.clone()));
    assert_eq!(store.find_by_email("Unusual@city.example").await?, None, "callers lower the case");
    assert_eq!((store.find(NOBODY).await?, store.count().await?), (None, 2));
    let rejected = store.add(&administrator("plain")).await;
    assert!(matches!(rejected, Err(Error::Rejected(_))), "{rejected:?}");
    let missing = store.save(NOBODY, &administrator("nobody")).await;
    assert!(matches!(missing, Err(Error::NotFound)));
    let changed = Administrator { second_factor: None, organization: None, ..unusual };
    store.save(id, &changed).await?;
    assert_eq!(store.find(id).await?, Some(changed));
    assert_eq!(store.find(plain).await?, Some(administrator("plain")));
    let all = store.page_after(None, 1).await?;
    assert_eq!(all.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id]);
    assert_eq!(store.page_after(Some(id), 9).await?, [(plain, administrator("plain"))]);
    Ok(())
}

/// The list is by address, and is searched by a part of it in any case.
pub async fn lists_administrators(world: PanelWorld<'_>) -> Result<()> {
    let store = world.administrators;
    for name in ["cleo", "ada", "bo_b", "boxb"] {
        store.add(&administrator(name)).await?;
    }
    let list = async |search, number| {
        let page = store.list(search, PageRequest::new(number, 3)).await?;
        let names = page.items.iter().map(|(_, found)| found.email.replace("@city.example", ""));
        Result::<_>::Ok((names.collect::<Vec<_>>().join(" "), page.has_more))
    };
    assert_eq!(list(None, 1).await?, ("ada bo_b boxb".to_owned(), true));
    assert_eq!(list(None, 2).await?, ("cleo".to_owned(), false));
    assert_eq!(list(Some("O_B@City"), 1).await?, ("bo_b".to_owned(), false), "no wildcard");
    assert_eq!(list(Some("nobody"), 1).await?, (String::new(), false));
    Ok(())
}

/// The last account cannot be removed.
pub async fn keeps_the_last_administrator(world: PanelWorld<'_>) -> Result<()> {
    let store = world.administrators;
    let (ada, bo) = (store.add(&administrator("ada")).await?, store.add(&administrator("bo")).await?);
    assert!(matches!(store.remove(NOBODY).await, Err(Error::NotFound)));
    store.remove(ada).await?;
    assert_eq!(store.find(ada).await?, None);
    assert!(matches!(store.remove(bo).await, Err(Error::Rejected(_))));
    assert_eq!(store.count().await?, 1);
    Ok(())
}

async fn begin(
    world: &PanelWorld<'_>,
    id: AdministratorId,
    text: &str,
    at: OffsetDateTime,
) -> Result<Digest> {
    let digest = Secret::new(text).digest();
    let session = PanelSession { digest: digest.clone(), ..PanelSession::begin(id, at).0 };
    world.sessions.add(&session).await?;
    Ok(digest)
}

/// A session is found with its administrator until its end, which use extends; a new one removes those that expired.
pub async fn finds_sessions_until_their_end(world: PanelWorld<'_>) -> Result<()> {
    let (store, unusual) = (world.sessions, unusual(&world));
    let id = world.administrators.add(&unusual).await?;
    let digest = begin(&world, id, "a", NOW).await?;
    let end = NOW + Duration::hours(2);
    let found = store.find(&digest, end - Duration::microseconds(1)).await?;
    let Some((found_id, found, session)) = found else { panic!("the session is valid") };
    assert_eq!((found_id, found, session.administrator), (id, unusual, id));
    assert_eq!((session.created_at, session.last_seen_at, session.expires_at), (NOW, NOW, end));
    assert_eq!(store.find(&digest, end).await?, None);
    assert_eq!(store.find(&Secret::new("b").digest(), NOW).await?, None);
    store.confirm(&digest, NOW + Duration::MINUTE).await?;
    store.confirm(&Secret::new("b").digest(), NOW).await?;
    let confirmed = store.find(&digest, NOW).await?.and_then(|(_, _, session)| session.confirmed_at);
    assert_eq!((session.confirmed_at, confirmed), (None, Some(NOW + Duration::MINUTE)));
    store.touch(&digest, end, end + Duration::HOUR).await?;
    assert_eq!(store.find(&digest, end).await?, None, "an expired session is not extended");
    store.touch(&digest, NOW + Duration::HOUR, end + Duration::HOUR).await?;
    let extended = store.find(&digest, end).await?.map(|(_, _, session)| session);
    let seen = extended.map(|session| (session.created_at, session.last_seen_at, session.expires_at));
    assert_eq!(seen, Some((NOW, NOW + Duration::HOUR, end + Duration::HOUR)));
    begin(&world, id, "c", end + Duration::HOUR).await?;
    assert_eq!(store.find(&digest, NOW).await?, None, "it was removed");
    Ok(())
}

/// A notice is taken once.
pub async fn gives_a_notice_once(world: PanelWorld<'_>) -> Result<()> {
    let (store, id) = (world.sessions, world.administrators.add(&administrator("ada")).await?);
    let digest = begin(&world, id, "a", NOW).await?;
    assert_eq!(store.take_notice(&digest).await?, None);
    store.set_notice(&digest, Some("v1.first")).await?;
    store.set_notice(&digest, Some("v1.sealed")).await?;
    let notice = store.find(&digest, NOW).await?.and_then(|(_, _, session)| session.notice);
    assert_eq!(notice.as_deref(), Some("v1.sealed"));
    assert_eq!(store.take_notice(&digest).await?.as_deref(), Some("v1.sealed"));
    assert_eq!(store.take_notice(&digest).await?, None);
    store.set_notice(&digest, Some("v1.third")).await?;
    store.set_notice(&digest, None).await?;
    assert_eq!(store.take_notice(&digest).await?, None);
    let unknown = Secret::new("unknown").digest();
    store.set_notice(&unknown, Some("v1.sealed")).await?;
    assert_eq!(store.take_notice(&unknown).await?, None);
    Ok(())
}

/// A form is used once in its session, unless it is forgotten; it is known no longer than the session.
pub async fn a_used_form_is_known_by_its_session(world: PanelWorld<'_>) -> Result<()> {
    let (store, id) = (world.sessions, world.administrators.add(&administrator("ada")).await?);
    let (a, b) = (begin(&world, id, "a", NOW).await?, begin(&world, id, "b", NOW).await?);
    assert!(store.use_form(&a, "one", NOW).await?);
    assert!(!store.use_form(&a, "one", NOW).await?);
    assert!(store.use_form(&a, "two", NOW).await? && store.use_form(&b, "one", NOW).await?);
    store.forget_form(&a, "one").await?;
    assert!(!store.use_form(&b, "one", NOW).await?, "that of the other session is kept");
    assert!(store.use_form(&a, "one", NOW).await?);
    assert!(!store.use_form(&Secret::new("unknown").digest(), "one", NOW).await?);
    store.remove(&a).await?;
    assert!(!store.use_form(&a, "three", NOW).await?);
    assert_eq!(begin(&world, id, "a", NOW).await?, a);
    assert!(store.use_form(&a, "one", NOW).await?, "it went with the session");
    Ok(())
}

/// Sessions are removed one by one, all of an administrator, or all but one; and with their administrator.
pub async fn removes_sessions(world: PanelWorld<'_>) -> Result<()> {
    let store = world.sessions;
    let ada = world.administrators.add(&administrator("ada")).await?;
    let bo = world.administrators.add(&administrator("bo")).await?;
    let [a, b, c, other] = [
        begin(&world, ada, "a", NOW).await?,
        begin(&world, ada, "b", NOW).await?,
        begin(&world, ada, "c", NOW).await?,
        begin(&world, bo, "d", NOW).await?,
    ];
    let valid = async |digest: &Digest| Result::<_>::Ok(store.find(digest, NOW).await?.is_some());
    store.remove(&a).await?;
    assert!(!valid(&a).await? && valid(&b).await?);
    store.remove_all_of(ada, Some(&b)).await?;
    assert!(valid(&b).await? && !valid(&c).await? && valid(&other).await?);
    store.remove_all_of(ada, None).await?;
    assert!(!valid(&b).await? && valid(&other).await?);
    world.administrators.remove(bo).await?;
    assert!(!valid(&other).await?);
    Ok(())
}

/// Sessions that expired before a time are removed, at most a number of them; others stay. So they are when nobody signs
/// in.
pub async fn removes_ended_sessions(world: PanelWorld<'_>) -> Result<()> {
    let id = world.administrators.add(&administrator("ada")).await?;
    let a = begin(&world, id, "a", NOW).await?;
    begin(&world, id, "b", NOW).await?;
    let late = begin(&world, id, "c", NOW + Duration::HOUR).await?;
    let end = NOW + Duration::hours(2);
    assert_eq!(world.ended.remove_before(end, 9).await?, 0, "the time is not included");
    let after = end + Duration::SECOND;
    assert_eq!(world.ended.remove_before(after, 1).await?, 1);
    assert_eq!(world.ended.remove_before(after, 9).await?, 1);
    assert_eq!(world.ended.remove_before(after, 9).await?, 0);
    assert_eq!(world.sessions.find(&a, NOW).await?, None);
    assert!(world.sessions.find(&late, NOW).await?.is_some());
    Ok(())
}
