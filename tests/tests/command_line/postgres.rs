//! The commands on PostgreSQL.

use crate::command_line::city::{City, KEY};

#[tokio::test]
async fn every_command_works_on_postgresql_too() {
    let Some(city) = City::on_postgres().await else { return };
    assert_eq!(city.run(&["migrate", "--check"]).await.done().out, "the schema is up to date\n");
    let city = city.founded().await;
    let made =
        city.client(&["create", "--scope", "blogs", "--organization-id", "1", "--id", "blog-client"]).await;
    assert_eq!(
        city.refusal(&["create", "--scope", "system", "--id", "blog-client"]).await,
        "Error: client with ID blog-client already exists"
    );
    let granted = city.client(&["grant", "--id", "blog-client", "--perm", "blogs.read"]).await;
    assert_eq!(
        (&granted["permissions"], &granted["scopes"]),
        (&serde_json::json!(["blogs.read"]), &made["scopes"])
    );
    let exported = city.run(&["export", "--organization", "a.example"]).await.done().out;
    assert!(exported.contains("blog-client") && !exported.contains("b.example"), "{exported}");
    city.client(&["delete", "--id", "blog-client"]).await;
    city.run(&["admin", "create", "--email", "root@city.example"]).await.done();
    let well = city.run(&["doctor", "--dns-server", ""]).await;
    assert!(well.out.contains("ok    database      PostgreSQL answers"), "{}", well.out);
}

#[tokio::test]
async fn the_doctor_says_what_the_search_for_words_lacks_and_migrate_stores_the_texts() {
    let Some(city) = City::on_postgres().await else { return };
    let city = city.founded().await;
    let user = r#"{"type":"user","ref":"ada","organization":"a.example","nickname":"ada","email":"ada@a.example","name":"Ada"}"#;
    city.type_in(&["import", "-"], user).await.done();
    let lacks = |text: &str| text.contains("searched by scanning") || text.contains("records without texts");
    let well = city.run(&["doctor", "--dns-server", ""]).await.out;
    assert!(!lacks(&well), "{well}");
    let database = city.1.as_ref().unwrap();
    database.execute("DELETE FROM record_texts; DROP EXTENSION IF EXISTS pg_trgm CASCADE").await;
    let statements = [
        "CREATE EXTENSION pg_trgm;",
        "CREATE INDEX CONCURRENTLY record_texts_title_words ON record_texts USING gin (title gin_trgm_ops);",
        "CREATE INDEX CONCURRENTLY record_texts_body_words ON record_texts USING gin (body gin_trgm_ops);",
    ];
    let lacking = city.run(&["doctor", "--dns-server", ""]).await.out;
    let text = format!(
        "words are searched by scanning: run {}; records without texts: 1: run `civitas migrate`",
        statements.join(" ")
    );
    assert!(lacking.contains("ok    database") && lacking.contains(&text), "{lacking}");
    let migrated = city.run(&["migrate"]).await.done().out;
    assert_eq!(migrated, "stored the texts of records: 1\nthe schema is up to date\n");
    for statement in statements {
        database.execute(statement).await;
    }
    let well = city.run(&["doctor", "--dns-server", ""]).await.out;
    assert!(!lacks(&well), "{well}");
}

#[tokio::test]
async fn a_database_of_a_newer_build_is_left_alone() {
    let Some(city) = City::on_postgres().await else { return };
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('99991231000000')";
    city.1.as_ref().unwrap().execute(newer).await;
    for words in [&["serve"][..], &["migrate"], &["migrate", "--check"], &["demo"], &["export"]] {
        let said = city.run(words).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{words:?}");
        assert!(said.err.contains("migrated by a newer civitas (99991231000000)"), "{words:?}: {}", said.err);
    }
}

#[tokio::test]
async fn a_database_of_before_the_first_release_is_not_upgraded() {
    let Some(city) = City::on_postgres().await else { return };
    let former = "DELETE FROM __diesel_schema_migrations WHERE version > '20261129000001'; \
                  UPDATE __diesel_schema_migrations SET version = '20261121000001'";
    city.1.as_ref().unwrap().execute(former).await;
    let refusal =
        "made by a civitas before version 0.1.0 and cannot be upgraded: write an archive with that civitas";
    for words in [
        &["serve"][..],
        &["migrate"],
        &["migrate", "--check"],
        &["demo"],
        &["export"],
        &["doctor", "--dns-server", ""],
    ] {
        let said = city.run(words).await;
        assert_eq!(said.code, 1, "{words:?}");
        assert!((said.out + &said.err).contains(refusal), "{words:?}");
    }
}

#[tokio::test]
async fn a_database_that_is_not_utf_8_is_refused() {
    let Some(city) = City::on_postgres().await else { return };
    let database = city.1.as_ref().unwrap();
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let settings = format!("ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0 OWNER civitas_test");
        database.administer(&format!("CREATE DATABASE {{}}_{encoding} {settings}")).await;
        let url = format!("{}_{}", database.url(), encoding.to_lowercase());
        let refusal = format!("the encoding of the database is {encoding} and must be UTF-8");
        for words in
            [&["migrate"][..], &["migrate", "--check"], &["serve"], &["doctor"], &["import", "-"], &["demo"]]
        {
            let said = city.run(&[words, &["--database-url", &url]].concat()).await;
            assert_eq!(said.code, 1, "{words:?}");
            assert!((said.out + &said.err).contains(&refusal), "{words:?}");
        }
        database.administer(&format!("DROP DATABASE {{}}_{encoding} WITH (FORCE)")).await;
    }
}

#[tokio::test]
async fn postgresql_without_a_secret_key_is_refused_with_what_to_do() {
    let city = City::unmigrated();
    let said = city.run(&["serve", "--database-url", "postgres://localhost/civitas"]).await;
    assert_eq!(said.code, 1);
    assert!(said.err.contains("needs a secret_key: set CIVITAS_SECRET_KEY"), "{}", said.err);
    let far = ["serve", "--database-url", "postgres://postgres@127.0.0.1:1/civitas", "--secret-key", KEY];
    let said = city.run(&far).await;
    assert!(said.code == 1 && said.err.contains("error connecting"), "{}", said.err);
}
