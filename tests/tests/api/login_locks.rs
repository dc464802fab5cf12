//! Failed logins close the login of a name through one client (contract 02 §2.3).

use civitas_accounts::User;
use civitas_accounts::login_failures::{LoginKey, name_digest};
use civitas_kernel::clock;
use civitas_kernel::records::Change;
use civitas_tests::service::{Answer, Client, Service};
use futures_util::future::join_all;
use serde_json::json;
use std::time::Instant;
use time::Duration;

const RIGHT: &str = "correct horse";

async fn login(client: &Client, through: &str, username: &str, password: &str) -> Answer {
    let asked = json!({"grant_type": "password", "auth_type": "login", "username": username, "password": password,
        "scope": "public", "client_id": format!("id_city_{through}"), "client_secret": format!("key_city_{through}")});
    client.post("/oauth/token", &asked).await
}

/// Wrong passwords, all at once: each refusal takes half a second.
async fn fail(client: &Client, username: &str, times: usize) {
    let logins = (0..times).map(|_| login(client, "full", username, "wrong"));
    for answer in join_all(logins).await {
        answer.refuses(400, "User not found");
    }
}

#[tokio::test]
async fn twenty_failures_lock_the_login_through_their_client_alone_and_unknown_names_alike() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        let live = client
            .with_token(&json!({"grant_type": "password", "auth_type": "login", "username": "withpassword",
                "password": RIGHT, "scope": "public oauth", "client_id": "id_city_full", "client_secret": "key_city_full"}))
            .await;
        for username in ["WithPassword", "Nobody-Of-This-Name"] {
            fail(&client, username, 20).await;
            for password in [RIGHT, "wrong", ""] {
                let asked = login(&client, "full", &username.to_lowercase(), password).await;
                if password.is_empty() {
                    asked.is(400)
                } else {
                    asked.refuses(400, "User locked")
                };
            }
        }
        login(&client, "second", "withpassword", RIGHT).await.is(200);
        login(&client, "second", "nobody-of-this-name", RIGHT).await.refuses(400, "User not found");
        live.get("/users").await.is(200);
        service.user("withpassword").await.get("/users").await.is(200);
        let organization = service.id("organization", "city");
        let described = service.machine().await.get("/users?filter[nickname_eq]=withpassword").await.is(200);
        assert_eq!(described.data()[0]["meta"], json!({"blocked": false, "locked": false}));

        let (organization, name) =
            (civitas_kernel::OrganizationId(organization), name_digest("withpassword"));
        let failures = service.store.login_failures();
        let locks = failures.locks(organization, &name, clock::now()).await.unwrap();
        assert_eq!(locks.iter().map(|lock| lock.client_uid.as_str()).collect::<Vec<_>>(), ["id_city_full"]);
        let left = locks[0].until - clock::now();
        assert!(left > Duration::minutes(50) && left <= Duration::minutes(60), "{left}");
    }
}

/// Of `correct horse`.
const BCRYPT: &str = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";

#[tokio::test]
async fn a_hash_of_bcrypt_is_replaced_by_the_first_login() {
    for service in Service::on_both_engines().await {
        let organization = civitas_kernel::OrganizationId(service.id("organization", "city"));
        let id = civitas_kernel::UserId(service.id("user", "withpass"));
        let stored = async || service.store.users().find(organization, id).await.unwrap().unwrap();
        let before = stored().await;
        let imported = User { password_hash: Some(BCRYPT.to_owned()), ..before.clone() };
        let tx = service.store.begin().await.unwrap();
        tx.users().save(organization, id, &Change::new(before, imported.clone())).await.unwrap();
        tx.commit().await.unwrap();

        let client = service.anonymous();
        for username in ["withpassword", "nobody-of-this-name"] {
            let begin = Instant::now();
            login(&client, "full", username, "wrong").await.refuses(400, "User not found");
            assert!(begin.elapsed() >= std::time::Duration::from_millis(500), "the time tells {username}");
        }
        assert_eq!(stored().await, imported);
        let both = join_all([(); 2].map(|()| login(&client, "full", "withpassword", RIGHT))).await;
        for answer in both {
            answer.is(200);
        }
        let replaced = stored().await;
        assert!(replaced.password_hash.as_ref().unwrap().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_eq!(User { password_hash: imported.password_hash.clone(), ..replaced.clone() }, imported);
        login(&client, "full", "withpassword", RIGHT).await.is(200);
        login(&client, "full", "withpassword", "wrong").await.refuses(400, "User not found");
        assert_eq!(stored().await, replaced, "once");
    }
}

#[tokio::test]
async fn a_success_resets_the_count_and_a_lock_that_ended_counts_from_one() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        fail(&client, "withpassword", 19).await;
        login(&client, "full", "withpassword", RIGHT).await.is(200);
        fail(&client, "withpassword", 19).await;
        login(&client, "full", "withpassword", RIGHT).await.is(200);

        // A lock of the past: its failures were before.
        let organization = civitas_kernel::OrganizationId(service.id("organization", "city"));
        let (full, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let key = LoginKey::new(organization, full, "withpassword");
        let before = clock::now() - Duration::hours(2);
        for _ in 0..25 {
            service.store.login_failures().count(&key, before + Duration::HOUR, before).await.unwrap();
        }
        fail(&client, "withpassword", 19).await;
        login(&client, "full", "withpassword", RIGHT).await.is(200);
        fail(&client, "withpassword", 20).await;
        let locked = service.store.login_failures().find(&key).await.unwrap().unwrap();
        let left = locked.locked_until.unwrap() - clock::now();
        assert!(left > Duration::minutes(57) && left <= Duration::HOUR, "{left}");
    }
}

#[tokio::test]
async fn of_guesses_at_once_no_more_than_twenty_are_answered() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        let guesses = (0..40).map(|_| login(&client, "full", "withpassword", "wrong"));
        let answers = join_all(guesses).await;
        let count = |text: &str| answers.iter().filter(|a| a.body["error_description"] == text).count();
        assert_eq!((count("User not found"), count("User locked")), (20, 20));
        login(&client, "full", "withpassword", RIGHT).await.refuses(400, "User locked");
    }
}
