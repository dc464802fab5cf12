use super::*;
use crate::{AccountSettings, Digest, MockClientStore, MockOrganizationLookup};
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-01 12:00 UTC);
const TAKEN: &str = "id_that_is_taken";

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

fn held(permissions: &str) -> ApiClient {
    let (scopes, mine) = (Scopes::read("public blogs"), Some(OrganizationId(2)));
    let new = ApiClient::new(TAKEN.to_owned(), Digest::from_stored(""), "App".to_owned(), mine, scopes, NOW);
    ApiClient { permissions: Abilities::read(permissions), ..new }
}

/// A store with one client and one organization.
fn store() -> MockClientStore {
    let mut store = MockClientStore::new();
    store.expect_find_by_uid().returning(|uid| Ok((uid == TAKEN).then(|| (ClientId(3), held("blogs.read")))));
    store
        .expect_find_by_uid_for_update()
        .returning(|uid| Ok((uid == TAKEN).then(|| (ClientId(3), held("blogs.read")))));
    store
}

fn organizations() -> MockOrganizationLookup {
    let mut organizations = MockOrganizationLookup::new();
    organizations.expect_find().returning(|id| Ok((id == OrganizationId(2)).then(AccountSettings::default)));
    organizations
}

fn asked(scopes: &str, permissions: &str) -> NewClient {
    NewClient {
        organization: Some(OrganizationId(2)),
        scopes: words(scopes),
        permissions: words(permissions),
        ..NewClient::default()
    }
}

async fn refusal(new: NewClient) -> String {
    let (store, organizations) = (store(), organizations());
    let admin = ClientAdministration { clients: &store, organizations: &organizations };
    admin.create(new, NOW).await.unwrap_err().to_string()
}

async fn created(new: NewClient) -> (ApiClient, Secret) {
    let (mut store, organizations) = (store(), organizations());
    store.expect_add().once().returning(|_| Ok(ClientId(4)));
    ClientAdministration { clients: &store, organizations: &organizations }.create(new, NOW).await.unwrap()
}

#[tokio::test]
async fn a_new_client_gets_what_was_asked_and_nothing_more() {
    let (client, secret) = created(asked("public blogs public", "blogs.read oauth.login")).await;
    assert_eq!(client.scopes, Scopes::read("public blogs"));
    assert_eq!(client.permissions, Abilities::read("blogs.read oauth.login"));
    assert!(client.secret.matches(&secret));
    assert_eq!((client.uid.len(), secret.expose().len()), (19, 36));
    assert_eq!(client.name, format!("API Client ***{}", &client.uid[15..]));
    assert_eq!(created(asked("public", "")).await.0.permissions, Abilities::default());
}

#[tokio::test]
async fn only_a_pure_system_client_belongs_nowhere() {
    let nowhere = |scopes| NewClient { organization: None, ..asked(scopes, "") };
    assert_eq!(created(nowhere("system system")).await.0.organization, None);
    for scopes in ["public", "system public", "ecosystem"] {
        assert_eq!(refusal(nowhere(scopes)).await, "organization is required for non-system clients");
    }
}

#[tokio::test]
async fn a_new_client_is_refused_for_its_first_fault() {
    let named = |uid: &str| NewClient { uid: Some(uid.to_owned()), ..asked("public ghost", "") };
    assert_eq!(refusal(asked("", "blogs.read")).await, "at least one scope is required");
    assert_eq!(refusal(named("id_7chr")).await, "client ID must have at least 8 characters");
    assert_eq!(refusal(named(TAKEN)).await, "client with ID id_that_is_taken already exists");
    assert_eq!(refusal(named("id_that_is_free")).await, "unknown scope ghost");
    let elsewhere = NewClient { organization: Some(OrganizationId(9)), ..asked("public", "") };
    assert_eq!(refusal(elsewhere).await, "organization with ID 9 does not exist");
    let nameless = NewClient { name: Some(" ".to_owned()), ..asked("public", "") };
    assert_eq!(refusal(nameless).await, "name must not be blank");
    let open = NewClient { secret: Some(Secret::new("")), ..asked("public", "") };
    assert_eq!(refusal(open).await, "secret must not be blank");
    for permission in ["blogs.read", "ghost", "user.created"] {
        let text = refusal(asked("public", permission)).await;
        assert!(text.starts_with(&format!("can not grant permission {permission} to client id_")), "{text}");
    }
}

#[tokio::test]
async fn of_two_who_take_a_name_at_once_one_is_reported() {
    let (mut store, organizations) = (store(), organizations());
    store.expect_add().returning(|_| Err(Error::Conflict("unique".into())));
    let new = NewClient { uid: Some("id_that_is_free".to_owned()), ..asked("public", "") };
    let fault = ClientAdministration { clients: &store, organizations: &organizations }
        .create(new, NOW)
        .await
        .unwrap_err();
    assert!(matches!(fault, ClientAdministrationError::UidTaken(uid) if uid == "id_that_is_free"));
}

#[tokio::test]
async fn granting_adds_and_revoking_takes_away() {
    let (mut store, organizations) = (store(), organizations());
    store.expect_save().times(2).returning(|_, _| Ok(()));
    let admin = ClientAdministration { clients: &store, organizations: &organizations };
    let later = NOW + time::Duration::HOUR;
    let richer = admin.grant(TAKEN, &words("blogs.write oauth.impersonate"), later).await.unwrap();
    assert_eq!(richer.permissions, Abilities::read("blogs.read blogs.write oauth.impersonate"));
    assert_eq!(richer.updated_at, later);
    let poorer = admin.revoke(TAKEN, &words("blogs.read proposals.vote ghost"), later).await.unwrap();
    assert_eq!(poorer.permissions, Abilities::default());
}

#[tokio::test]
async fn what_changes_nothing_is_not_kept_again() {
    let (store, organizations) = (store(), organizations());
    let admin = ClientAdministration { clients: &store, organizations: &organizations };
    let later = NOW + time::Duration::HOUR;
    assert_eq!(admin.grant(TAKEN, &words("blogs.read"), later).await.unwrap(), held("blogs.read"));
    assert_eq!(admin.revoke(TAKEN, &words("blogs.write"), later).await.unwrap(), held("blogs.read"));
    let fault = admin.grant(TAKEN, &words("blogs.write proposals.vote"), later).await.unwrap_err();
    assert!(matches!(fault, ClientAdministrationError::WrongScope { .. }), "and then nothing is granted");
    let stranger = admin.delete("id_of_nobody").await.unwrap_err();
    assert_eq!(stranger.to_string(), "client with ID id_of_nobody does not exist");
}

#[tokio::test]
async fn permissions_are_replaced_as_a_whole_or_not_at_all() {
    let (mut store, organizations) = (store(), organizations());
    store.expect_save().times(2).returning(|_, _| Ok(()));
    let admin = ClientAdministration { clients: &store, organizations: &organizations };
    let (later, seen) = (NOW + time::Duration::HOUR, held("blogs.read").revision());
    for wrong in ["blogs.write proposals.vote", "blogs.write ghost", "user.created"] {
        let fault = admin.replace_permissions((TAKEN, &seen), &words(wrong), later).await.unwrap_err();
        assert!(matches!(fault, ClientAdministrationError::WrongScope { .. }), "{wrong}");
    }
    let other =
        admin.replace_permissions((TAKEN, &seen), &words("blogs.write oauth.login"), later).await.unwrap();
    assert_eq!(other.permissions, Abilities::read("blogs.write oauth.login"));
    assert_eq!(other.updated_at, later);
    let none = admin.replace_permissions((TAKEN, &seen), &[], later).await.unwrap();
    assert_eq!(none.permissions, Abilities::default());
    let same = admin.replace_permissions((TAKEN, &seen), &words("blogs.read"), later).await.unwrap();
    assert_eq!(same, held("blogs.read"), "what changes nothing is not stored");
    let unknown = admin.replace_permissions(("id_of_nobody", &seen), &[], later).await.unwrap_err();
    assert!(matches!(unknown, ClientAdministrationError::UnknownClient(_)));
    for other in ["", &held("blogs.read oauth.impersonate").revision()] {
        let late = admin.replace_permissions((TAKEN, other), &[], later).await.unwrap_err();
        assert!(
            matches!(late, ClientAdministrationError::Store(Error::Invalid { .. })),
            "another set was shown"
        );
    }
}

#[tokio::test]
async fn a_rotated_secret_replaces_the_old_one() {
    let (mut store, organizations) = (store(), organizations());
    let kept = std::sync::Arc::new(std::sync::Mutex::new(None));
    let saved = kept.clone();
    store.expect_save().once().returning(move |_, client| {
        *saved.lock().unwrap() = Some(client.clone());
        Ok(())
    });
    let admin = ClientAdministration { clients: &store, organizations: &organizations };
    let later = NOW + time::Duration::HOUR;
    let secret = admin.rotate_secret(TAKEN, later).await.unwrap();
    let client = kept.lock().unwrap().clone().unwrap();
    assert!(client.secret.matches(&secret) && secret.expose().starts_with("key_"));
    assert_eq!(client, ApiClient { secret: secret.digest(), updated_at: later, ..held("blogs.read") });
    assert!(admin.rotate_secret("id_of_nobody", later).await.is_err());
}
