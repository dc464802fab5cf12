//! The command line: output, exit code, and stream.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod api_client;
mod archive;
mod audit;
mod backup;
mod city;
mod compare;
mod files;
mod key;
mod organization;
mod paths;
mod postgres;
mod user;
mod user_export;
mod webhook;

use city::City;
use civitas_tests::mail_server::MailServer;
use std::fs;

#[tokio::test]
async fn help_is_an_answer_and_wrong_usage_is_exit_code_two() {
    let city = City::unmigrated();
    let help = city.run(&["--help"]).await.done();
    for command in [
        "demo",
        "serve",
        "migrate",
        "import",
        "export",
        "backup",
        "restore",
        "files",
        "api-client",
        "webhook",
        "organization",
        "user",
        "key",
        "admin",
        "audit",
        "compare",
        "openapi",
        "doctor",
        "healthcheck",
        "completions",
        "man",
    ] {
        assert!(help.out.contains(command), "{command}");
    }
    assert!(help.out.contains("--token-lifetime-seconds"), "every setting is a flag");
    let version = city.run(&["--version"]).await.done().out;
    let commit = version.trim_end().strip_prefix(concat!("civitas ", env!("CARGO_PKG_VERSION"), " ("));
    assert!(commit.is_some_and(|commit| commit.ends_with(')')), "{version}");
    for wrong in
        [&["conquer"][..], &["serve", "--fast"], &["serve", "--no-workers", "--only-workers"], &["import"]]
    {
        let said = city.run(wrong).await;
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{wrong:?}");
        assert!(said.err.starts_with("error: "), "{}", said.err);
    }
}

#[tokio::test]
async fn a_failure_is_one_clear_line_and_exit_code_one() {
    let city = City::new().await;
    for (words, line) in [
        (
            &["import", "/nowhere.ndjson"][..],
            "civitas: /nowhere.ndjson: No such file or directory (os error 2)\n",
        ),
        (
            &["migrate", "--listen", "3000"],
            "civitas: configuration: --listen must be an address and port, as 127.0.0.1:3000\n",
        ),
        (
            &["export", "--organization", "ghost.example"],
            "civitas: no organization has the host ghost.example\n",
        ),
        (&["admin", "create", "--email", "root"], "civitas: \"root\" is no e-mail address\n"),
    ] {
        let said = city.run(words).await;
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (1, "", line), "{words:?}");
    }
}

#[tokio::test]
async fn migrate_says_what_it_did_and_check_does_nothing() {
    let city = City::unmigrated();
    let missing = city.run(&["migrate", "--check"]).await;
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("run `civitas migrate`"), "{}", missing.err);
    assert!(!city.path().join("data").exists(), "looking makes nothing");
    let first = city.run(&["migrate"]).await.done();
    assert!(
        first.out.starts_with("applied ") && first.out.ends_with("the schema is up to date\n"),
        "{}",
        first.out
    );
    assert_eq!(city.run(&["migrate"]).await.done().out, "the schema is up to date\n");
    assert_eq!(city.run(&["migrate", "--check"]).await.done().out, "the schema is up to date\n");
}

#[tokio::test]
async fn nothing_works_on_a_database_that_lacks_migrations() {
    let city = City::unmigrated();
    for words in
        [&["serve"][..], &["export"], &["import", "-"], &["admin", "create", "--email", "a@b.example"]]
    {
        let said = city.run(words).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{words:?}");
        assert!(said.err.contains("run `civitas migrate`"), "{words:?}: {}", said.err);
    }
    assert!(city.refusal(&["get"]).await.contains("run `civitas migrate`"));
}

#[tokio::test]
async fn an_import_reports_in_json_and_a_dry_run_keeps_nothing() {
    let city = City::new().await;
    let line = r#"{"type":"organization","ref":"c","host":"c.example","name":{"en":"C"},"available_locales":["en"],"default_locale":"en"}"#;
    let dry = city.type_in(&["import", "-", "--dry-run"], line).await.done().json();
    assert_eq!(dry["created"]["organization"], 1);
    let real = city.type_in(&["import", "-", "--quiet"], line).await.done().json();
    assert_eq!(real["created"]["organization"], 1, "the dry run left nothing");
    assert!(real["refs"]["c"]["organization"]["c"].is_i64());
    let file = city.path().join("c.ndjson");
    fs::write(&file, line).unwrap();
    let again = city.run(&["import", &file.display().to_string()]).await.done().json();
    assert_eq!(again["unchanged"]["organization"], 1);
}

#[tokio::test]
async fn a_bad_line_is_named_and_nothing_is_kept() {
    let city = City::new().await;
    let lines = r#"{"type":"organization","ref":"c","host":"c.example","name":{"en":"C"},"available_locales":["en"],"default_locale":"en"}
{"type":"user","ref":"nora","organization":"ghost","nickname":"nora","email":"n@c.example","name":"Nora"}"#;
    let said = city.type_in(&["import", "-"], lines).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.starts_with("civitas: line 2: user \"nora\": "), "{}", said.err);
    assert_eq!(city.run(&["export"]).await.done().out, "");
}

#[tokio::test]
async fn an_export_goes_to_a_file_as_a_whole_or_not_at_all() {
    let city = City::with_organizations().await;
    let file = city.path().join("b.ndjson");
    let file_name = file.display().to_string();
    city.run(&["export", "--organization", "b.example", "--output", &file_name]).await.done();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("b.example") && !text.contains("a.example"), "{text}");
    assert_eq!(city.run(&["export", "--organization", "b.example"]).await.done().out, text);
    fs::remove_file(&file).unwrap();
    let failed = city.run(&["export", "--organization", "ghost.example", "--output", &file_name]).await;
    assert_eq!(failed.code, 1);
    let left = fs::read_dir(city.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(left, ["data"]);
}

#[tokio::test]
async fn an_administrator_gets_a_password_typed_or_generated() {
    let city = City::new().await;
    let words = ["admin", "create", "--email", "Root@City.example"];
    let made = city.run(&words).await.done();
    let password = made.out.strip_prefix("root@city.example is a system administrator\npassword: ").unwrap();
    assert_eq!(password.trim_end().len(), 20);
    let changed = city.type_in(&[&words[..], &["--password-stdin"]].concat(), "correct horse\n").await.done();
    assert_eq!(changed.out, "root@city.example has a new password\n");
    let blank = city.type_in(&[&words[..], &["--password-stdin"]].concat(), "\n").await;
    assert_eq!((blank.code, blank.err.as_str()), (1, "civitas: the password must not be blank\n"));
}

#[tokio::test]
async fn the_document_and_the_completions_are_printed() {
    let city = City::unmigrated();
    let document = city.run(&["openapi"]).await.done().json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{document}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(city.run(&["completions", shell]).await.done().out.contains("api-client"), "{shell}");
    }
}

#[tokio::test]
async fn the_manual_has_a_page_for_each_command() {
    let city = City::unmigrated();
    let place = city.path().display().to_string();
    city.run(&["man", &place]).await.done();
    for (page, text) in
        [("civitas.1", "database"), ("civitas-serve.1", "workers"), ("civitas-user-block.1", "nickname")]
    {
        let page = fs::read_to_string(city.path().join(page)).unwrap();
        assert!(page.starts_with(".ie") && page.to_lowercase().contains(text), "{page}");
    }
    let nowhere = city.run(&["man", "/nowhere"]).await;
    assert_eq!((nowhere.code, nowhere.out.as_str()), (1, ""));
    assert!(nowhere.err.starts_with("civitas: /nowhere: No such file or directory"), "{}", nowhere.err);
}

#[tokio::test]
async fn a_health_check_without_a_server_fails() {
    let said = City::unmigrated().run(&["healthcheck", "--listen", "127.0.0.1:9"]).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(said.err, "civitas: http://127.0.0.1:9/api/rest_full/v0.3/health does not answer\n");
}

#[tokio::test]
async fn the_doctor_finds_what_is_missing_and_says_what_to_do() {
    let city = City::unmigrated();
    let sick = city.run(&["doctor"]).await;
    assert_eq!(sick.code, 1);
    assert!(sick.out.contains("FAULT schema") && sick.out.contains("run `civitas migrate`"), "{}", sick.out);
    city.run(&["migrate"]).await.done();
    let well = city.run(&["doctor"]).await.done();
    assert_eq!(well.out.lines().filter(|line| line.starts_with("ok ")).count(), 13, "{}", well.out);
    let misread = city.run(&["doctor", "--database-pool-size", "none"]).await;
    assert_eq!(misread.out, "FAULT configuration --database-pool-size must be a number above 0\n");
    let retired = city.run(&["doctor", "--workers", "4"]).await;
    assert!(
        retired.out.starts_with("FAULT configuration --workers is no setting any more: "),
        "{}",
        retired.out
    );
    let silent = city.run(&["doctor", "--dns-server", "127.0.0.1:9"]).await;
    assert!(
        silent.code == 1 && silent.out.contains("127.0.0.1:9 does not answer: check dns_server"),
        "{}",
        silent.out
    );
}

#[tokio::test]
async fn the_doctor_signs_in_at_the_mail_server_and_sends_nothing() {
    let (city, post) = (City::unmigrated(), MailServer::open().await);
    city.run(&["migrate"]).await.done();
    let url = post.url("city:secret@");
    let doctor = ["doctor", "--smtp-url", &url, "--mail-from", "no-reply@city.example"];
    let well = city.run(&doctor).await.done();
    assert!(well.out.contains("ok    mail"), "{}", well.out);
    assert!(post.mails_to("no-reply@city.example").is_empty() && post.credentials().len() == 1);
    post.mistrust("535 5.7.8 who are you?");
    let sick = city.run(&doctor).await;
    assert!(sick.code == 1 && sick.out.contains("FAULT mail"), "{}", sick.out);
    assert!(sick.out.contains("check smtp_url") && !sick.out.contains("secret@"), "{}", sick.out);
}
