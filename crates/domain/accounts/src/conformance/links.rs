//! Conformance tests of confirmation links, magic links and sessions.

use crate::magic_links::{MagicLink, MagicLinkStore};
use crate::{
    AccessToken, Confirmation, ConfirmationStore, Digest, EndedCredentials, OrganizationLookup,
    ParticipantSession, Secret, SessionStore, TokenStore, User, UserStore,
};
use civitas_kernel::{ClientId, OrganizationId, Result, UserId, conformance_world};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, and two existing organizations, `mine.example` and `other.example`.
    pub struct LinkWorld {
        ports(
            users: UserStore, organizations: OrganizationLookup, confirmations: ConfirmationStore,
            magic_links: MagicLinkStore, sessions: SessionStore, tokens: TokenStore,
            ended: EndedCredentials,
        )
        /// A client that exists.
        client: ClientId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

fn digest(text: &str) -> Digest {
    Secret::new(text).digest()
}

impl LinkWorld<'_> {
    async fn person(&self, nickname: &str) -> Result<UserId> {
        let email = format!("{nickname}@city.example");
        self.users.add(self.mine, &User::new(nickname.to_owned(), email, "Nora".to_owned(), NOW)).await
    }
}

/// The lookup returns the settings of the organization.
pub async fn knows_the_home_of_an_account(world: LinkWorld<'_>) -> Result<()> {
    for (organization, host) in [(world.mine, "mine.example"), (world.other, "other.example")] {
        let found = world.organizations.find(organization).await?.unwrap_or_default();
        assert_eq!((found.welcomes, found.destinations), (false, vec![host.to_owned()]));
    }
    assert_eq!(world.organizations.find(OrganizationId(i64::MAX)).await?, None);
    Ok(())
}

/// A user may have several confirmations, each found by its digest in its organization, until all are removed at
/// once; a new one removes those that have expired.
pub async fn keeps_confirmations(world: LinkWorld<'_>) -> Result<()> {
    let (nora, ada) = (world.person("nora").await?, world.person("ada").await?);
    let until = |user, text, hours| Confirmation {
        user,
        digest: digest(text),
        expires_at: NOW + Duration::hours(hours),
    };
    let (first, second, foreign) = (until(nora, "a", 1), until(nora, "b", 2), until(ada, "c", 1));
    let store = world.confirmations;
    for link in [&first, &second, &foreign] {
        store.add(world.mine, link, NOW).await?;
    }
    assert_eq!(store.find(world.mine, &first.digest).await?, Some(first.clone()));
    assert_eq!(store.find(world.other, &first.digest).await?, None);
    assert_eq!(store.find(world.mine, &digest("A")).await?, None);
    let third = until(nora, "d", 9);
    store.add(world.mine, &third, second.expires_at).await?;
    assert_eq!(store.find(world.mine, &first.digest).await?, None);
    assert_eq!(store.find(world.mine, &second.digest).await?, None, "it has ended just now");
    assert!(!store.remove_of_user(world.other, nora).await?);
    assert!(store.remove_of_user(world.mine, nora).await?);
    assert!(!store.remove_of_user(world.mine, nora).await?);
    assert_eq!(store.find(world.mine, &third.digest).await?, None);
    assert_eq!(store.find(world.mine, &foreign.digest).await?, Some(foreign));
    Ok(())
}

/// A user has one magic link, with a new number each time; it is found and removed in its organization only.
pub async fn keeps_one_magic_link_of_a_user(world: LinkWorld<'_>) -> Result<()> {
    let (nora, ada) = (world.person("nora").await?, world.person("ada").await?);
    let link = |user, text, redirect_url: Option<&str>| MagicLink {
        user,
        digest: digest(text),
        redirect_url: redirect_url.map(str::to_owned),
        created_at: NOW,
        expires_at: NOW + Duration::minutes(5),
    };
    let (first, second, foreign) =
        (link(nora, "a", None), link(nora, "b", Some("https://mine.example/É")), link(ada, "c", None));
    let store = world.magic_links;
    let replaced = store.replace(world.mine, &first).await?;
    let of_ada = store.replace(world.mine, &foreign).await?;
    let id = store.replace(world.mine, &second).await?;
    assert!(id != replaced && id != of_ada);
    assert_eq!(store.find(world.mine, &first.digest).await?, None, "another one replaced it");
    assert_eq!(store.find(world.mine, &second.digest).await?, Some((id, second.clone())));
    assert_eq!(store.find(world.mine, &foreign.digest).await?, Some((of_ada, foreign)));
    assert_eq!(store.find(world.other, &second.digest).await?, None);
    assert!(!store.remove(world.other, id).await?);
    assert!(!store.remove(world.mine, replaced).await?);
    assert!(store.remove(world.mine, id).await?);
    assert!(!store.remove(world.mine, id).await?);
    assert_eq!(store.find(world.mine, &second.digest).await?, None);
    Ok(())
}

/// A session is valid in its organization until it expires; a new one removes the expired ones of its user.
pub async fn keeps_sessions_until_their_end(world: LinkWorld<'_>) -> Result<()> {
    let nora = world.person("nora").await?;
    let session = |text, at| ParticipantSession {
        user: nora,
        digest: digest(text),
        created_at: at,
        expires_at: at + Duration::hours(2),
    };
    let (first, second) = (session("a", NOW), session("b", NOW + Duration::hours(1)));
    let store = world.sessions;
    store.add(world.mine, &first).await?;
    store.add(world.mine, &second).await?;
    let last_moment = first.expires_at - Duration::microseconds(1);
    assert_eq!(store.find(world.mine, &first.digest, last_moment).await?, Some(nora));
    assert_eq!(store.find(world.mine, &first.digest, first.expires_at).await?, None);
    assert_eq!(store.find(world.other, &first.digest, NOW).await?, None);
    assert_eq!(store.find(world.mine, &digest("c"), NOW).await?, None);
    store.add(world.mine, &session("c", NOW + Duration::hours(2))).await?;
    assert_eq!(store.find(world.mine, &first.digest, NOW).await?, None, "it is forgotten");
    assert_eq!(store.find(world.mine, &second.digest, NOW).await?, Some(nora), "it is not");
    Ok(())
}

/// Tokens, links and sessions that expired before a time are removed, at most a number of each; others stay.
pub async fn removes_ended_credentials(world: LinkWorld<'_>) -> Result<()> {
    let (nora, ada) = (world.person("nora").await?, world.person("ada").await?);
    let (early, late) = (NOW - Duration::hours(3), NOW);
    let token = |at| AccessToken {
        organization: world.mine,
        client: world.client,
        user: Some(nora),
        digest: digest("jti"),
        scope: "public".to_owned(),
        issued_at: at,
        expires_at: at + Duration::hours(2),
        revoked_at: None,
    };
    let old = [world.tokens.add(&token(early)).await?, world.tokens.add(&token(early)).await?];
    let valid = world.tokens.add(&token(late)).await?;
    let confirmation = |text, at| Confirmation { user: nora, digest: digest(text), expires_at: at };
    let link = |user, text, at: OffsetDateTime| MagicLink {
        user,
        digest: digest(text),
        redirect_url: None,
        created_at: at,
        expires_at: at + Duration::hours(2),
    };
    let session = |user, text, at: OffsetDateTime| ParticipantSession {
        user,
        digest: digest(text),
        created_at: at,
        expires_at: at + Duration::hours(2),
    };
    for (text, user, at) in [("old", nora, early), ("valid", ada, late)] {
        world.confirmations.add(world.mine, &confirmation(text, at + Duration::hours(2)), early).await?;
        world.magic_links.replace(world.mine, &link(user, text, at)).await?;
        world.sessions.add(world.mine, &session(user, text, at)).await?;
    }
    let end = early + Duration::hours(2);
    assert_eq!(world.ended.remove_before(end, 9).await?, 0, "the time is not included");
    assert_eq!(world.ended.remove_before(NOW, 1).await?, 4, "one of each");
    assert_eq!(world.ended.remove_before(NOW, 9).await?, 1, "the second token");
    for id in old {
        assert!(world.tokens.identify(world.mine, id).await?.is_none());
    }
    assert!(world.tokens.identify(world.mine, valid).await?.is_some());
    for (text, is_there) in [("old", false), ("valid", true)] {
        let digest = digest(text);
        assert_eq!(world.confirmations.find(world.mine, &digest).await?.is_some(), is_there);
        assert_eq!(world.magic_links.find(world.mine, &digest).await?.is_some(), is_there);
        assert_eq!(world.sessions.find(world.mine, &digest, early).await?.is_some(), is_there);
    }
    Ok(())
}

/// The links and sessions of a user are removed, in their organization only; those of others stay.
pub async fn removes_the_links_of_a_user(world: LinkWorld<'_>) -> Result<()> {
    let people = [world.person("nora").await?, world.person("ada").await?];
    for (user, text) in people.into_iter().zip(["nora", "ada"]) {
        let expires_at = NOW + Duration::hours(2);
        let confirmation = Confirmation { user, digest: digest(text), expires_at };
        world.confirmations.add(world.mine, &confirmation, NOW).await?;
        let link = MagicLink { user, digest: digest(text), redirect_url: None, created_at: NOW, expires_at };
        world.magic_links.replace(world.mine, &link).await?;
        let session = ParticipantSession { user, digest: digest(text), created_at: NOW, expires_at };
        world.sessions.add(world.mine, &session).await?;
    }
    assert_eq!(world.ended.remove_of_user(world.other, people[0]).await?, 0);
    assert_eq!(world.ended.remove_of_user(world.mine, people[0]).await?, 3);
    for (text, is_there) in [("nora", false), ("ada", true)] {
        let digest = digest(text);
        assert_eq!(world.confirmations.find(world.mine, &digest).await?.is_some(), is_there);
        assert_eq!(world.magic_links.find(world.mine, &digest).await?.is_some(), is_there);
        assert_eq!(world.sessions.find(world.mine, &digest, NOW).await?.is_some(), is_there);
    }
    Ok(())
}
