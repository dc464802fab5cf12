use super::*;
use crate::{AccountSettings, MockOrganizationLookup, MockSessionStore, MockUserStore};
use serde_json::json;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
const HERE: OrganizationId = OrganizationId(1);

fn organizations(destinations: &'static [&'static str]) -> MockOrganizationLookup {
    let mut organizations = MockOrganizationLookup::new();
    organizations.expect_find().returning(move |_| {
        let destinations = destinations.iter().map(|host| (*host).to_owned()).collect();
        Ok(Some(AccountSettings { welcomes: false, destinations }))
    });
    organizations
}

fn nora(change: fn(&mut User)) -> MockUserStore {
    let mut user = User::new("norablum".into(), "n@city.example".into(), "Nora".into(), NOW);
    change(&mut user);
    let (found, held) = (user.clone(), user);
    let mut users = MockUserStore::new();
    users.expect_find().returning(move |_, _| Ok(Some(found.clone())));
    users.expect_find_for_update().returning(move |_, _| Ok(Some(held.clone())));
    users
}

/// A link of user 5 that leads to this address, and is there to be removed or not.
fn link(token: &Secret, redirect_url: Option<&'static str>, is_there: bool) -> MockMagicLinkStore {
    let digest = token.digest();
    let mut links = MockMagicLinkStore::new();
    links.expect_find().returning(move |_, asked| {
        let kept = MagicLink {
            user: UserId(5),
            digest: digest.clone(),
            redirect_url: redirect_url.map(str::to_owned),
            created_at: NOW,
            expires_at: NOW + MAGIC_LINK_LIFETIME,
        };
        Ok((*asked == digest).then_some((MagicLinkId(3), kept)))
    });
    links.expect_remove().returning(move |_, id| Ok(is_there && id == MagicLinkId(3)));
    links
}

/// What both ways of looking at a link answer: the session's user, or the sentence of the refusal.
async fn follow(
    links: &MockMagicLinkStore,
    users: &MockUserStore,
    token: &Secret,
    now: OffsetDateTime,
) -> (Result<String, String>, Result<String, String>) {
    let mut sessions = MockSessionStore::new();
    sessions.expect_add().returning(|_, session| {
        assert_eq!((session.user, session.expires_at - session.created_at), (UserId(5), Duration::hours(2)));
        Ok(())
    });
    let organizations = organizations(&["city.example"]);
    let sign_ins = MagicLinks { links, users, organizations: &organizations, sessions: &sessions };
    let looked = sign_ins.find_redirect(HERE, token, now).await;
    let signed_in = sign_ins.sign_in(HERE, token, now).await.map(|signed_in| signed_in.location);
    let sentence = |error: Error| error.description().into_owned();
    (looked.map_err(sentence), signed_in.map_err(sentence))
}

#[tokio::test]
async fn a_link_redirects_to_the_given_address_or_to_the_front_page() {
    let token = Secret::alphanumeric();
    for (kept, location) in [
        (None, "/"),
        (Some("HTTPS://www.City.example:8443/a?b#c"), "HTTPS://www.City.example:8443/a?b#c"),
        (Some("https://no.longer.example/"), "/"),
    ] {
        let followed = follow(&link(&token, kept, true), &nora(|_| {}), &token, NOW).await;
        assert_eq!(followed, (Ok(location.to_owned()), Ok(location.to_owned())));
    }
}

#[tokio::test]
async fn each_reason_not_to_sign_in_has_its_sentence_whoever_asks() {
    let token = Secret::alphanumeric();
    let other = Secret::alphanumeric();
    let late = NOW + MAGIC_LINK_LIFETIME;
    for (asked, change, now, sentence) in [
        (&other, (|_| {}) as fn(&mut User), NOW, "Token not found"),
        (&token, |_| {}, late, "Invalid Token"),
        (&token, |user| user.blocked_at = Some(NOW), late, "Invalid Token"),
        (&token, |user| user.blocked_at = Some(NOW), NOW, "User blocked"),
        (&token, |user| user.locked_at = Some(NOW), NOW, "User locked"),
        (&token, |user| user.deleted_at = Some(NOW), NOW, "Token not found"),
    ] {
        let followed = follow(&link(&token, None, true), &nora(change), asked, now).await;
        assert_eq!(followed, (Err(sentence.to_owned()), Err(sentence.to_owned())));
    }
}

#[tokio::test]
async fn a_link_that_was_removed_meanwhile_does_not_sign_in() {
    let token = Secret::alphanumeric();
    let (_, signed_in) = follow(&link(&token, None, false), &nora(|_| {}), &token, NOW).await;
    assert_eq!(signed_in, Err("Token not found".to_owned()));
}

async fn create(ctx: &Ctx, redirect_url: Option<Value>, kept: Option<&'static str>) -> Result<NewMagicLink> {
    let mut links = MockMagicLinkStore::new();
    links.expect_replace().returning(move |_, link| {
        assert_eq!((link.user, link.redirect_url.as_deref()), (UserId(5), kept));
        assert_eq!(link.expires_at - link.created_at, Duration::minutes(5));
        Ok(MagicLinkId(14))
    });
    let (users, organizations) = (nora(|_| {}), organizations(&["city.example"]));
    let sessions = MockSessionStore::new();
    let links =
        MagicLinks { links: &links, users: &users, organizations: &organizations, sessions: &sessions };
    links.handle(ctx, CreateMagicLink { redirect_url }).await
}

#[tokio::test]
async fn a_link_is_made_for_the_user_of_the_token() {
    let ctx = Ctx::for_test().with_access(&CreateMagicLink::ACCESS).with_user(5);
    let made = create(&ctx, None, None).await.unwrap();
    assert_eq!((made.id, made.redirect_url), (MagicLinkId(14), None));
    let there = "https://city.example/there";
    let made = create(&ctx, Some(json!(format!(" {there}\n"))), Some(there)).await.unwrap();
    assert_eq!(made.redirect_url.as_deref(), Some(there));
    let refused = create(&ctx, Some(json!("https://evil.example")), None).await.unwrap_err();
    assert_eq!(refused.details()[0].code, "host_not_allowed");
}

#[tokio::test]
async fn a_right_and_a_user_are_needed() {
    let unable = Ctx::for_test().with_user(5);
    assert!(matches!(create(&unable, None, None).await, Err(Error::Forbidden)));
    let service = Ctx::for_test().with_access(&CreateMagicLink::ACCESS);
    let refused = create(&service, Some(json!("http://x")), None).await.unwrap_err();
    assert_eq!(refused.description(), "User required");
}
