//! What an import may contain, and the signing secrets of webhook registrations, from the command line.

use crate::command_line::city::City;

const ROOT: &str = r#"{"type":"system_admin","ref":"root","email":"root@a.example"}"#;
const USER_OF_B: &str = r#"{"type":"user","ref":"u","organization":"b.example","nickname":"nora","email":"n@b.example","name":"Nora"}"#;
const HOOKED: &str = r#"{"type":"api_client","ref":"app","organization":"a.example","client_id":"app-client","name":"App","scopes":["oauth"],"permissions":["user.created"]}
{"type":"webhook_registration","ref":"hook","organization":"a.example","api_client":"app","url":"https://hooks.example/","subscriptions":["user.created"]}"#;

#[tokio::test]
async fn operators_are_imported_only_with_the_flag() {
    let city = City::with_organizations().await;
    let said = city.type_in(&["import", "-"], ROOT).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(said.err, "civitas: line 1: system_admin \"root\": needs --allow-operators\n");
    let report = city.type_in(&["import", "-", "--allow-operators"], ROOT).await.done().json();
    assert_eq!(report["created"]["system_admin"], 1);
}

#[tokio::test]
async fn an_import_into_an_organization_refuses_records_of_others() {
    let city = City::with_organizations().await;
    let said = city.type_in(&["import", "-", "--into", "a.example"], USER_OF_B).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    let reason = "does not belong to a.example: --into accepts no other records";
    assert_eq!(said.err, format!("civitas: line 1: user \"u\": {reason}\n"));
    let report = city.type_in(&["import", "-", "--into", "b.example"], USER_OF_B).await.done().json();
    assert_eq!(report["created"]["user"], 1);
}

#[tokio::test]
async fn signing_secrets_are_printed_once_and_exported_with_secrets_only() {
    let city = City::with_organizations().await;
    let report = city.type_in(&["import", "-"], HOOKED).await.done().json();
    let secret = report["secrets"]["webhook_registration"]["hook"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 64);
    let again = city.type_in(&["import", "-"], HOOKED).await.done().json();
    assert!(again["secrets"].is_null() && again["unchanged"]["webhook_registration"] == 1, "{again}");
    let exported = city.run(&["export", "--with-secrets"]).await.done().out;
    assert!(exported.contains(&secret), "{exported}");
    let plain = city.run(&["export"]).await.done().out;
    assert!(plain.contains("https://hooks.example/") && !plain.contains(&secret), "{plain}");
}

#[tokio::test]
async fn a_hash_of_bcrypt_is_accepted_and_a_nickname_of_21_characters_is_not() {
    let user = |nickname: &str, hash: &str| {
        format!(
            r#"{{"type":"user","ref":"u","organization":"a.example","nickname":"{nickname}","email":"n@a.example","name":"Nora","password_hash":"{hash}"}}"#
        )
    };
    let hash = |cost: &str| format!("$2a${cost}$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e");
    for mut city in [Some(City::with_organizations().await), City::on_postgres().await].into_iter().flatten()
    {
        if city.1.is_some() {
            city = city.founded().await;
        }
        let longest = "x".repeat(20);
        for (line, reason) in [
            (user("nora", &hash("16")), "password_hash has a cost of bcrypt that is not from 4 to 15"),
            (user("nora", &hash("x")), "password_hash is not a hash of Argon2id or bcrypt"),
            (
                user(&format!("{longest}y"), &hash("12")),
                r#"nickname "xxxxxxxxxxxxxxxxxxxxy" is too long (maximum is 20 characters)"#,
            ),
        ] {
            let said = city.type_in(&["import", "-"], &line).await;
            assert_eq!((said.code, said.out.as_str()), (1, ""));
            assert_eq!(said.err, format!("civitas: line 1: user \"u\": {reason}\n"));
        }
        city.type_in(&["import", "-"], &user(&longest, &hash("12"))).await.done();
        let exported = city.run(&["export", "--with-secrets"]).await.done().out;
        assert!(exported.contains(&hash("12")), "{exported}");
    }
}

#[tokio::test]
async fn a_short_client_secret_and_a_costly_password_hash_are_refused() {
    let client = |secret: &str| {
        format!(
            r#"{{"type":"api_client","ref":"app","organization":"a.example","client_id":"app-client","client_secret":"{secret}","name":"App","scopes":["public"]}}"#
        )
    };
    let user = |memory: u64| {
        format!(
            r#"{{"type":"user","ref":"u","organization":"a.example","nickname":"nora","email":"n@a.example","name":"Nora","password_hash":"$argon2id$v=19$m={memory},t=2,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA"}}"#
        )
    };
    let city = City::with_organizations().await;
    for (line, begin) in [
        (
            client("s3cret"),
            "civitas: line 1: api_client \"app\": client_secret must have at least 22 characters",
        ),
        (user(4_194_304), "civitas: line 1: user \"u\": password_hash costs too much: at most 256 MiB"),
    ] {
        let said = city.type_in(&["import", "-"], &line).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        assert!(said.err.starts_with(begin), "{}", said.err);
    }
    for (flags, line) in [
        (&["import", "-"][..], client("key_4fRk29aQpLx0WmZtB7cD")),
        (&["import", "-", "--allow-weak-secrets"][..], client("s3cret")),
        (&["import", "-"][..], user(19_456)),
    ] {
        city.type_in(flags, &line).await.done();
    }
}

#[tokio::test]
async fn ids_of_an_archive_are_kept_with_the_flag() {
    let city = City::with_organizations().await;
    let line = r#"{"type":"user","ref":"u","id":500,"organization":"a.example","nickname":"nora","email":"n@a.example","name":"Nora"}"#;
    let report = city.type_in(&["import", "-", "--keep-ids"], line).await.done().json();
    assert_eq!(report["refs"]["a.example"]["user"]["u"], 500);
    let said = city.type_in(&["import", "-", "--keep-ids"], &line.replace("500", "501")).await;
    let reason = "S-IDS: exists with the id 500 instead of 501";
    assert_eq!((said.code, said.err), (1, format!("civitas: line 1: user \"u\": {reason}\n")));
}
