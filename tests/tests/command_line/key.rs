//! `civitas key`.

use crate::command_line::city::{City, KEY};
use civitas_accounts::TextCipher;
use civitas_accounts::administrators::{Administrator, SecondFactor};
use civitas_application::Store;
use civitas_kernel::clock;
use civitas_tokens::{PurposeCipher, SecretKeys, WebhookCipher};
use civitas_webhooks::{SealedSecret, SecretCipher, SigningSecret};
use serde_json::json;
use std::fs;
use std::sync::Arc;

/// The keys of the data directory.
fn keys(city: &City) -> SecretKeys {
    civitas_server::secret_key::read(&city.path().join("data/secret_key")).unwrap()
}

/// Stores a second factor that is sealed with these keys.
async fn second_factor(store: &Arc<dyn Store>, keys: &SecretKeys) {
    let mut ines = Administrator::new("ines@riverton.example".to_owned(), clock::now());
    let secret = PurposeCipher::for_panel(keys).seal("GEZDGNBVGY3TQOJQ").unwrap();
    ines.second_factor = Some(SecondFactor { secret, recovery_codes: Vec::new(), last_step: 0 });
    store.administrators().add(&ines).await.unwrap();
}

async fn stored_second_factor(store: &Arc<dyn Store>) -> String {
    let (_, ines) = store.administrators().find_by_email("ines@riverton.example").await.unwrap().unwrap();
    ines.second_factor.unwrap().secret
}

#[tokio::test]
async fn a_key_is_rotated_and_stored_secrets_are_encrypted_again() {
    let city = City::with_organizations().await;
    let directory = city.path().join("data");
    fs::write(directory.join("secret_key"), format!("{KEY}\n")).unwrap();
    let store = city.store().await;
    let old = keys(&city);
    second_factor(&store, &old).await;

    let rotated = city.run(&["key", "rotate"]).await.done();
    assert!(rotated.out.contains("has 2 keys") && !rotated.out.contains(KEY), "{}", rotated.out);
    let both = keys(&city);
    assert_eq!((both.count(), both.iter().nth(1)), (2, Some(old.first())));
    let sealed = stored_second_factor(&store).await;
    assert_eq!(
        PurposeCipher::for_panel(&both).open(&sealed).unwrap(),
        "GEZDGNBVGY3TQOJQ",
        "before it is encrypted again"
    );

    let first = SecretKeys::single(*both.first());
    assert!(PurposeCipher::for_panel(&first).open(&sealed).is_err());
    let done = city.run(&["key", "reencrypt"]).await.done();
    assert_eq!(done.json(), json!({"encrypted": 1, "current": 0, "unreadable": 0}));
    let sealed = stored_second_factor(&store).await;
    assert_eq!(PurposeCipher::for_panel(&first).open(&sealed).unwrap(), "GEZDGNBVGY3TQOJQ");
    let done = city.run(&["key", "reencrypt"]).await.done();
    assert_eq!(done.json(), json!({"encrypted": 0, "current": 1, "unreadable": 0}));

    let listed = city.run(&["audit", "list", "--deployment"]).await.done().out;
    assert!(listed.contains("key.rotated") && listed.contains("key.reencrypted"), "{listed}");
    let doctor = city.run(&["doctor"]).await;
    assert!(format!("{}{}", doctor.out, doctor.err).contains("2 keys are in use"), "{}", doctor.out);
}

#[tokio::test]
async fn what_no_key_opens_stays_as_it_is_and_is_counted() {
    let city = City::with_organizations().await;
    fs::write(city.path().join("data/secret_key"), format!("{KEY}\n")).unwrap();
    let store = city.store().await;
    second_factor(&store, &SecretKeys::single([9; 32])).await;
    let before = stored_second_factor(&store).await;
    let said = city.run(&["key", "reencrypt"]).await;
    assert_eq!((said.code, said.json()), (1, json!({"encrypted": 0, "current": 0, "unreadable": 1})));
    assert_eq!(stored_second_factor(&store).await, before);
}

#[tokio::test]
async fn a_configured_key_is_not_changed_but_a_new_one_is_proposed() {
    let city = City::with_organizations().await;
    let said = city.run(&["key", "rotate", "--secret-key", KEY]).await.done();
    let proposed = said.out.lines().last().unwrap();
    assert!(proposed.len() == KEY.len() && proposed != KEY, "{}", said.out);
    let both = format!("{proposed},{KEY}");
    let done = city.run(&["key", "reencrypt", "--secret-key", &both]).await.done();
    assert_eq!(done.json(), json!({"encrypted": 0, "current": 0, "unreadable": 0}));
}

#[test]
fn a_webhook_secret_is_sealed_again_with_the_first_key() {
    let (old, both) = (SecretKeys::single([1; 32]), SecretKeys::new([[2; 32], [1; 32]]).unwrap());
    let sealed = WebhookCipher::new(&old).seal(&SigningSecret::new("0123456789abcdef")).unwrap();
    let resealed = WebhookCipher::new(&both).reseal(&sealed.0).unwrap().unwrap();
    let opened = WebhookCipher::new(&SecretKeys::single([2; 32])).open(&SealedSecret(resealed)).unwrap();
    assert_eq!(opened.expose(), "0123456789abcdef");
}
