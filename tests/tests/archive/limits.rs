//! What an import may contain: one organization only (`--into`), and no operators (contract 10).

use crate::archive::{CITY, NOW, import_with, read};
use civitas_application::Store;
use civitas_archive::{ImportError, ImportOptions, ImportReport};
use civitas_tests::{databases, import_options};
use serde_json::json;

const TOWN: &str = r#"{"type": "organization", "ref": "town", "host": "town.example", "name": {"en": "Town"}, "available_locales": ["en"], "default_locale": "en"}"#;
const ROOT: &str = r#"{"type": "system_admin", "ref": "root", "email": "root@city.example"}"#;
const OPS: &str = r#"{"type": "api_client", "ref": "ops", "organization": null, "client_id": "ops-client", "name": "Operations", "scopes": ["system"]}"#;

async fn read_into(store: &dyn Store, host: &str, archive: &str) -> Result<ImportReport, ImportError> {
    let options = ImportOptions { into: Some(host), allow_operators: false, ..import_options(NOW) };
    import_with(store, archive, options).await
}

#[tokio::test]
async fn operators_need_the_flag() {
    let wide = r#"{"type": "webhook_registration", "ref": "wide", "api_client": "ops", "url": "https://x.example/", "subscriptions": ["user.created"]}"#;
    for database in databases().await {
        let store = &*database.store;
        for (line, record) in [(ROOT, r#"system_admin "root""#), (OPS, r#"api_client "ops""#)] {
            let options = ImportOptions { allow_operators: false, ..import_options(NOW) };
            let error = import_with(store, &format!("\n{TOWN}\n{line}\n"), options).await.unwrap_err();
            assert_eq!(error.to_string(), format!("line 3: {record}: needs --allow-operators"));
        }
        read(store, &format!("{ROOT}\n{OPS}\n{wide}"), false).await.unwrap();
        let options = ImportOptions { allow_operators: false, ..import_options(NOW) };
        let error = import_with(store, wide, options).await.unwrap_err();
        assert_eq!(error.to_string(), r#"line 1: webhook_registration "wide": needs --allow-operators"#);
        let of_city = ImportOptions { allow_operators: false, ..import_options(NOW) };
        import_with(store, CITY, of_city).await.unwrap();
    }
}

#[tokio::test]
async fn an_import_into_an_organization_creates_it_or_changes_the_existing_one() {
    for database in databases().await {
        let store = &*database.store;
        let first = read_into(store, " City.example ", CITY).await.unwrap();
        assert_eq!(first.created["organization"], 1);
        let again = read_into(store, "city.example", CITY).await.unwrap();
        assert_eq!((&again.to_json()["created"], &again.to_json()["updated"]), (&json!({}), &json!({})));
        let only = r#"{"type": "user", "ref": "nora", "organization": "city", "about": "Gardener"}"#;
        assert_eq!(read_into(store, "city.example", only).await.unwrap().updated["user"], 1);
    }
}

#[tokio::test]
async fn an_import_into_an_organization_refuses_every_other_record() {
    let user_of_town = r#"{"type": "user", "ref": "u", "organization": "town", "nickname": "uuu", "email": "u@town.example", "name": "U"}"#;
    let renamed = r#"{"type": "organization", "ref": "town", "host": "new.example"}"#;
    let leaving = r#"{"type": "organization", "ref": "city", "host": "new.example"}"#;
    let taken_over = r#"{"type": "organization", "ref": "town", "host": "city.example"}"#;
    for database in databases().await {
        let store = &*database.store;
        read(store, &format!("{CITY}{TOWN}"), false).await.unwrap();
        for (host, line, record) in [
            ("city.example", TOWN, r#"organization "town""#),
            ("city.example", user_of_town, r#"user "u""#),
            ("city.example", ROOT, r#"system_admin "root""#),
            ("city.example", OPS, r#"api_client "ops""#),
            ("city.example", leaving, r#"organization "city""#),
            ("new.example", renamed, r#"organization "town""#),
            ("nowhere.example", user_of_town, r#"user "u""#),
        ] {
            let error = read_into(store, host, line).await.unwrap_err();
            let expected =
                format!("line 1: {record}: does not belong to {host}: --into accepts no other records");
            assert_eq!(error.to_string(), expected);
        }
        let error = read_into(store, "city.example", taken_over).await.unwrap_err();
        assert_eq!(error.to_string(), r#"line 1: organization "town": Host has already been taken"#);
        let town = store.organizations().find_by_host("town.example").await.unwrap();
        assert!(town.is_some(), "nothing is stored");
    }
}
