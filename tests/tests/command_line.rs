//! The command line: what it answers, with which exit code, and where. The commands run in this process, with
//! standard streams of their own.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use civitas_server::cli::{Console, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// What a command said, and how it ended.
struct Said {
    code: u8,
    out: String,
    err: String,
}

impl Said {
    /// Its one answer.
    fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }

    fn done(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self
    }
}

/// A deployment in a directory of its own.
struct City(TempDir);

impl City {
    fn unmigrated() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn new() -> Self {
        let city = Self::unmigrated();
        city.run(&["migrate"]).await.done();
        city
    }

    /// A migrated deployment with two organizations.
    async fn with_organizations() -> Self {
        let city = Self::new().await;
        let lines = ["a.example", "b.example"].map(|host| {
            format!(
                r#"{{"type":"organization","ref":"{host}","host":"{host}","name":{{"en":"City {host}"}},"available_locales":["en"],"default_locale":"en"}}"#
            )
        });
        city.type_in(&["import", "-"], &lines.join("\n")).await.done();
        city
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    async fn run(&self, words: &[&str]) -> Said {
        self.type_in(words, "").await
    }

    async fn type_in(&self, words: &[&str], input: &str) -> Said {
        let data = self.path().join("data").display().to_string();
        let environment = vec![("CIVITAS_DATA_DIR".to_owned(), data)];
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let console = Console {
            environment,
            stdin: &mut input.as_bytes(),
            stdout: &mut out,
            stderr: &mut err,
            watched: false,
        };
        let code = run(["civitas"].iter().chain(words), console).await;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code, out: text(out), err: text(err) }
    }

    /// What `api-client` refuses, in its own words.
    async fn refusal(&self, words: &[&str]) -> String {
        let said = self.run(&[&["api-client"], words].concat()).await;
        assert_eq!((said.code, said.err.as_str()), (1, ""), "{}", said.out);
        said.json()["error"].as_str().unwrap_or_else(|| panic!("{}", said.out)).to_owned()
    }

    async fn client(&self, words: &[&str]) -> Value {
        self.run(&[&["api-client"], words].concat()).await.done().json()
    }
}

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
        "api-client",
        "admin",
        "openapi",
        "doctor",
        "completions",
    ] {
        assert!(help.out.contains(command), "{command}");
    }
    assert!(help.out.contains("--token-lifetime-seconds"), "every setting is a flag");
    assert!(city.run(&["--version"]).await.done().out.starts_with("civitas 0."));
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
async fn a_client_is_made_with_what_was_asked_and_its_secret_is_shown_once() {
    let city = City::with_organizations().await;
    let made = city
        .run(&["api-client", "create", "--scope", "public", "--scope", "blogs", "--scope", "public"])
        .await;
    assert_eq!(made.json()["error"], "Error: --organization-id is required for non-system clients");
    let words = [
        "create",
        "--scope",
        "blogs",
        "--scope",
        "public",
        "--organization-id",
        "2",
        "--perm",
        "blogs.read",
        "--permission",
        "user.created",
        "--allow-login",
    ];
    assert_eq!(
        city.refusal(&[&words[..], &["--id", "my-client"]].concat()).await,
        "Error: can not grant permission user.created to client my-client, wrong scope"
    );
    let words = [&words[..9], &["--allow-impersonate", "--allow-login", "--id", "my-client"]].concat();
    let said = city.run(&[&["api-client"], &words[..]].concat()).await.done();
    let made = said.json();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("key_") && secret.len() == 36, "{secret}");
    let line = format!(
        "{{\"id\":\"my-client\",\"secret\":\"{secret}\",\"name\":\"API Client ***ient\",\"scopes\":[\"public\",\"blogs\"],\
         \"permissions\":[\"oauth.impersonate\",\"oauth.login\",\"blogs.read\"],\"organization_id\":2}}\n"
    );
    assert_eq!(said.out, line);
    let seen = city.client(&["get", "--id", "my-client"]).await;
    assert!(seen["secret"].is_null());
    assert_eq!(seen["scopes"], made["scopes"]);
    let found = fs::read(city.path().join("data/civitas.db")).unwrap();
    assert!(!found.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "only the digest is kept");
}

#[tokio::test]
async fn defaults_of_a_client_are_random_and_a_system_client_needs_no_organization() {
    let city = City::with_organizations().await;
    let made = city.client(&["create", "--scope", "system"]).await;
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("id_") && id.len() == 19, "{id}");
    assert_eq!(made["name"], format!("API Client ***{}", &id[15..]));
    assert!(made["organization_id"].is_null());
    assert_eq!(made["permissions"], serde_json::json!([]));
    let chosen = city
        .client(&[
            "create",
            "--scope",
            "system",
            "--secret",
            "my own secret",
            "--name",
            "Ops",
            "--id",
            "ops-client",
        ])
        .await;
    assert_eq!((&chosen["secret"], &chosen["name"]), (&"my own secret".into(), &"Ops".into()));
    let all = city.run(&["api-client", "get"]).await.done();
    let ids: Vec<Value> =
        all.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [made["id"].clone(), "ops-client".into()]);
}

#[tokio::test]
async fn permissions_are_granted_and_revoked_at_any_time() {
    let city = City::with_organizations().await;
    city.client(&["create", "--scope", "proposals", "--organization-id", "1", "--id", "voting-app"]).await;
    let granted = city
        .client(&["grant", "--id", "voting-app", "--perm", "proposals.vote", "--perm", "oauth.login"])
        .await;
    assert_eq!(granted["permissions"], serde_json::json!(["oauth.login", "proposals.vote"]));
    let event =
        city.client(&["grant", "--id", "voting-app", "--permission", "proposal_creation.succeeded"]).await;
    assert_eq!(event["permissions"].as_array().unwrap().len(), 3);
    assert_eq!(city.client(&["grant", "--id", "voting-app", "--perm", "proposals.vote"]).await, event);
    let refused = city
        .refusal(&["grant", "--id", "voting-app", "--perm", "proposals.read", "--perm", "blogs.read"])
        .await;
    assert_eq!(refused, "Error: can not grant permission blogs.read to client voting-app, wrong scope");
    assert_eq!(city.client(&["get", "--id", "voting-app"]).await, event, "nothing is changed");
    let revoked = city
        .client(&["revoke", "--id", "voting-app", "--perm", "proposals.vote", "--perm", "blogs.read"])
        .await;
    assert_eq!(revoked["permissions"].as_array().unwrap().len(), 2);
    let gone = city.run(&["api-client", "delete", "--id", "voting-app"]).await.done();
    assert_eq!(gone.out, "{\"deleted\":true,\"id\":\"voting-app\"}\n");
    assert_eq!(city.run(&["api-client", "get"]).await.done().out, "");
}

#[tokio::test]
async fn every_fault_of_api_client_has_its_words() {
    let city = City::with_organizations().await;
    city.client(&["create", "--scope", "system", "--id", "taken-client"]).await;
    let faults: [(&[&str], &str); 14] = [
        (&["create"], "Error: at least one --scope is required"),
        (
            &["create", "--scope", "system", "--id", "taken-client"],
            "Error: client with ID taken-client already exists",
        ),
        (
            &["create", "--scope", "system", "--scope", "public"],
            "Error: --organization-id is required for non-system clients",
        ),
        (
            &["create", "--scope", "public", "--organization-id", "99"],
            "Error: organization with ID 99 does not exist",
        ),
        (&["create", "--scope", "ecosystem", "--organization-id", "1"], "Error: unknown scope ecosystem"),
        (&["grant", "--perm", "oauth.login"], "Error: --id is required for grant command"),
        (&["revoke", "--perm", "oauth.login"], "Error: --id is required for revoke command"),
        (&["delete"], "Error: --id is required"),
        (&["get", "--id", "nobody-here"], "Error: client with ID nobody-here does not exist"),
        (
            &["grant", "--id", "nobody-here", "--perm", "oauth.login"],
            "Error: client with ID nobody-here does not exist",
        ),
        (
            &["revoke", "--id", "nobody-here", "--perm", "oauth.login"],
            "Error: client with ID nobody-here does not exist",
        ),
        (&["delete", "--id", "nobody-here"], "Error: client with ID nobody-here does not exist"),
        (&["grant", "--id", "taken-client"], "Error: at least one --permission is required"),
        (&["revoke", "--id", "taken-client"], "Error: at least one --permission is required"),
    ];
    for (words, text) in faults {
        assert_eq!(city.refusal(words).await, text, "{words:?}");
    }
    for words in [
        &["create", "--scope", "system", "--id", "short"][..],
        &["create", "--scope"],
        &["create", "--color", "red"],
        &["get", "--format", "xml"],
        &["create", "--scope", "public", "--organization-id", "one"],
    ] {
        let text = city.refusal(words).await;
        assert!(text.starts_with("Error: ") && !text.contains('\n'), "{words:?}: {text}");
    }
}

#[tokio::test]
async fn usage_of_api_client_is_an_answer_and_an_unknown_command_is_not() {
    let city = City::unmigrated();
    for words in
        [&["api-client"][..], &["api-client", "help"], &["api-client", "-h"], &["api-client", "--help"]]
    {
        let said = city.run(words).await.done();
        for command in ["create", "get", "grant", "revoke", "delete"] {
            assert!(said.out.contains(command), "{words:?}: {}", said.out);
        }
    }
    assert!(city.run(&["api-client", "create", "--help"]).await.done().out.contains("--allow-impersonate"));
    let unknown = city.run(&["api-client", "conquer", "--id", "x"]).await;
    assert_eq!((unknown.code, unknown.err.as_str()), (1, ""));
    assert!(
        unknown.out.contains("Usage:") && unknown.out.ends_with("Unknown command: conquer\n"),
        "{}",
        unknown.out
    );
}

#[tokio::test]
async fn text_is_for_people() {
    let city = City::with_organizations().await;
    let words = ["api-client", "create", "--scope", "blogs", "--scope", "public", "--organization-id", "1"];
    let more = ["--id", "text-client", "--secret", "quiet", "--perm", "blogs.read", "--format", "text"];
    let made = city.run(&[&words[..], &more].concat()).await.done();
    let text = "\nid=text-client\nsecret=quiet\nname=API Client ***ient\nscopes=public,blogs\npermissions=blogs.read\norganization_id=1\n";
    assert_eq!(made.out, text);
    let fault = city.run(&["api-client", "delete", "--format", "text"]).await;
    assert_eq!((fault.code, fault.out.as_str()), (1, "\n\u{1b}[31mError: --id is required\u{1b}[0m\n"));
    let wrong = city.run(&["api-client", "get", "--color", "--format=text"]).await;
    assert!(
        wrong.code == 1 && wrong.out.starts_with("\n\u{1b}[31mError: unexpected argument"),
        "{}",
        wrong.out
    );
    let gone = city.run(&["api-client", "delete", "--id", "text-client", "--format", "text"]).await.done();
    assert_eq!(gone.out, "\ndeleted id=text-client\n");
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
async fn the_doctor_finds_what_is_missing_and_says_what_to_do() {
    let city = City::unmigrated();
    let sick = city.run(&["doctor"]).await;
    assert_eq!(sick.code, 1);
    assert!(sick.out.contains("FAULT schema") && sick.out.contains("run `civitas migrate`"), "{}", sick.out);
    city.run(&["migrate"]).await.done();
    let well = city.run(&["doctor"]).await.done();
    assert_eq!(well.out.lines().filter(|line| line.starts_with("ok ")).count(), 7, "{}", well.out);
    let misread = city.run(&["doctor", "--workers", "none"]).await;
    assert_eq!(misread.out, "FAULT configuration configuration: --workers must be a number above 0\n");
    let silent = city.run(&["doctor", "--dns-server", "127.0.0.1:9"]).await;
    assert!(
        silent.code == 1 && silent.out.contains("127.0.0.1:9 does not answer: check dns_server"),
        "{}",
        silent.out
    );
}
