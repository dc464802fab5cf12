//! Configuration: precedence of sources, errors with their place, and that the example file is current.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use civitas_server::config::{Config, LogFormat, RETIRED, SETTINGS, Scheme, SettingSources, example};
use std::fs;
use std::path::PathBuf;

fn words(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Reads a file of settings, an environment and flags.
fn load(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, String> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("city.toml");
    fs::write(&path, file).unwrap();
    let sources = SettingSources {
        flags: words(flags),
        environment: words(environment),
        file: Some(path.clone()),
        defaults: Vec::new(),
    };
    Config::load(&sources)
        .map_err(|error| error.to_string().replace(&path.display().to_string(), "city.toml"))
}

fn refusal(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> String {
    load(file, environment, flags).err().expect("this configuration is refused")
}

#[test]
fn a_flag_beats_the_environment_and_that_beats_the_file() {
    let file = "listen = \"127.0.0.1:1\"\ndatabase_pool_size = 3\npublic_scheme = \"http\"";
    let environment =
        [("CIVITAS_LISTEN", "127.0.0.1:2"), ("CIVITAS_DATABASE_POOL_SIZE", "4"), ("PATH", "/bin")];
    let config = load(file, &environment, &[("listen", "127.0.0.1:3")]).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.database_pool_size.get(), 4);
    assert!(config.public_scheme == Scheme::Http);
    assert_eq!(config.token_lifetime_seconds.get(), 7200, "nobody said otherwise");
}

#[test]
fn everything_follows_the_data_directory() {
    let config = load("", &[], &[("data_dir", "/srv/civitas")]).unwrap();
    assert_eq!(config.database_url, "sqlite:///srv/civitas/civitas.db");
    assert_eq!(config.files_url, "file:///srv/civitas/files");
}

#[test]
fn lists_are_lists_in_the_file_and_have_commas_elsewhere() {
    let file = "trusted_proxies = [\"10.0.0.0/8\", \"192.0.2.7\"]\nwebhook_retry_delays_seconds = [1, 2]";
    let from_file = load(file, &[], &[]).unwrap();
    assert_eq!(from_file.trusted_proxies.len(), 2);
    assert_eq!(from_file.webhook_retry_delays_seconds.len(), 2);
    let environment = [
        ("CIVITAS_TRUSTED_PROXIES", "10.0.0.0/8,192.0.2.7/32"),
        ("CIVITAS_WEBHOOK_RETRY_DELAYS_SECONDS", "1, 2"),
    ];
    assert!(load("", &environment, &[]).unwrap() == from_file);
}

#[test]
fn limits_of_zero_are_none() {
    let config =
        load("max_async_api_job_payload_bytes = 0", &[], &[("max_extended_data_payload_bytes", "")]).unwrap();
    assert_eq!(config.max_async_api_job_payload_bytes.0, None);
    assert_eq!(config.max_extended_data_payload_bytes.0, None);
}

#[test]
fn what_is_no_setting_stops_the_start_and_is_named_with_its_source() {
    assert_eq!(
        refusal("lisen = \"127.0.0.1:1\"", &[], &[]),
        "configuration: lisen in city.toml is no setting"
    );
    let environment = [("CIVITAS_LISEN", "127.0.0.1:1")];
    assert_eq!(refusal("", &environment, &[]), "configuration: CIVITAS_LISEN is no setting");
    assert!(load("", &[("CIVITAS_TEST_POSTGRES", "postgres://x")], &[]).is_ok(), "that is for the tests");
}

#[test]
fn a_setting_of_an_earlier_release_stops_the_start_with_a_sentence() {
    for (name, sentence) in RETIRED {
        assert!(!SETTINGS.iter().any(|setting| setting.name == *name), "{name}");
        let said = |place: &str| format!("configuration: {place} is no setting any more: {sentence}");
        assert_eq!(refusal(&format!("{name} = 1"), &[], &[]), said(&format!("{name} in city.toml")));
        let variable = format!("CIVITAS_{}", name.to_uppercase());
        assert_eq!(refusal("", &[(&variable, "1")], &[]), said(&variable));
        assert_eq!(refusal("", &[], &[(name, "1")]), said(&format!("--{}", name.replace('_', "-"))));
    }
}

#[test]
fn variables_that_kubernetes_sets_for_services_are_left_out() {
    let of_services = [
        ("CIVITAS_PORT", "tcp://10.43.1.2:80"),
        ("CIVITAS_SERVICE_HOST", "10.43.1.2"),
        ("CIVITAS_SERVICE_PORT", "80"),
        ("CIVITAS_SERVICE_PORT_HTTP", "80"),
        ("CIVITAS_PORT_80_TCP", "tcp://10.43.1.2:80"),
        ("CIVITAS_PORT_80_TCP_PROTO", "tcp"),
        ("CIVITAS_PORT_80_TCP_PORT", "80"),
        ("CIVITAS_PORT_80_TCP_ADDR", "10.43.1.2"),
        ("CIVITAS_DB_SERVICE_HOST", "10.43.1.3"),
        ("CIVITAS_DB_SERVICE_PORT_POSTGRES", "5432"),
        ("CIVITAS_DB_PORT", "tcp://10.43.1.3:5432"),
        ("CIVITAS_DB_PORT_5432_TCP_ADDR", "10.43.1.3"),
    ];
    assert!(load("", &of_services, &[]).unwrap() == load("", &[], &[]).unwrap());
    assert_eq!(load("", &[("CIVITAS_PUBLIC_PORT", "8080")], &[]).unwrap().public_port.unwrap().get(), 8080);
    for (name, value) in
        [("CIVITAS_PUBLIC_PORTS", "8080"), ("CIVITAS_DB_PORT", "5432"), ("CIVITAS_LISTEN_PORT", "80")]
    {
        assert_eq!(refusal("", &[(name, value)], &[]), format!("configuration: {name} is no setting"));
    }
    for setting in SETTINGS {
        let variable = format!("CIVITAS_{}", setting.name.to_uppercase());
        let strange = load("", &[(&variable, "\0")], &[]).err();
        let takes_any_text = ["data_dir", "decidim_password_pepper", "log"].contains(&setting.name);
        assert!(strange.is_some() || takes_any_text, "{variable} is left out");
    }
}

#[test]
fn a_bad_value_stops_the_start_and_is_named_with_its_source_but_not_said() {
    let must = "must be an address and port, as 127.0.0.1:3000";
    assert_eq!(refusal("listen = 3000", &[], &[]), format!("configuration: listen in city.toml {must}"));
    let environment = [("CIVITAS_LISTEN", "secret")];
    assert_eq!(refusal("", &environment, &[]), format!("configuration: CIVITAS_LISTEN {must}"));
    assert_eq!(refusal("", &environment, &[("listen", "")]), format!("configuration: --listen {must}"));
    assert_eq!(
        refusal("", &[("CIVITAS_SECRET_KEY", "c2hvcnQ=")], &[]),
        "configuration: CIVITAS_SECRET_KEY must be 32 bytes in base64"
    );
}

#[test]
fn every_kind_of_bad_value_is_refused() {
    let bad = [
        ("database_url", "mysql://localhost/civitas"),
        ("database_pooler_url", "postgres://localhost:6432/civitas"),
        ("database_read_url", "postgres://localhost:5433/civitas"),
        ("files_url", "ftp://host/files"),
        ("public_scheme", "HTTP"),
        ("public_port", "0"),
        ("trusted_proxies", "10.0.0.0/33"),
        ("token_lifetime_seconds", "0"),
        ("max_body_bytes", "1 MiB"),
        ("max_async_api_job_payload_bytes", "-1"),
        ("loadbalancer_ips", "localhost"),
        ("dns_server", "9.9.9.9"),
        ("webhook_retry_delays_seconds", "5,soon"),
        ("database_pool_size", "many"),
        ("log", "civitas=loud=very"),
        ("log_format", "xml"),
        ("tls_certificate", "chain.pem"),
        ("tls_key", "key.pem"),
        ("tls_acme_email", "operator"),
        ("tls_acme_directory", "letsencrypt"),
        ("smtp_url", "smtps://mail.example"),
        ("mail_from", "City"),
        ("database_url", "postgres://localhost/civitas"),
    ];
    for (name, value) in bad {
        let text = refusal("", &[], &[(name, value)]);
        assert!(text.starts_with(&format!("configuration: --{} ", name.replace('_', "-"))), "{name}: {text}");
        assert!(!text.contains('\n'), "{text}");
    }
}

#[test]
fn certificates_come_from_files_or_from_a_ca() {
    let email = ("tls_acme_email", "operator@city.example");
    assert!(load("", &[], &[email]).unwrap().is_https());
    let both = [("tls_certificate", "chain.pem"), ("tls_key", "key.pem"), email];
    let text = refusal("", &[], &both);
    assert_eq!(text, "configuration: --tls-acme-email cannot be set beside tls_certificate");
}

#[test]
fn a_mail_server_that_is_none_is_refused_without_its_password() {
    let text =
        refusal("", &[], &[("smtp_url", "http://city:secret@mail.example"), ("mail_from", "a@b.example")]);
    assert!(text.contains("--smtp-url must be smtps://") && !text.contains("secret"), "{text}");
    let both = [("smtp_url", "smtps://city:secret@mail.example"), ("mail_from", "City <a@b.example>")];
    load("", &[], &both).unwrap();
}

#[test]
fn a_file_that_is_none_is_refused() {
    assert!(
        refusal("read_only = true\nlisten = secret", &[], &[])
            .starts_with("configuration: city.toml, line 2: ")
    );
    assert!(!refusal("listen = secret", &[], &[]).contains("secret"));
    let missing =
        SettingSources { file: Some(PathBuf::from("/nowhere/civitas.toml")), ..SettingSources::default() };
    let error = Config::load(&missing).err().unwrap();
    assert_eq!(
        error.to_string(),
        "configuration: /nowhere/civitas.toml: No such file or directory (os error 2)"
    );
    let directory = SettingSources { file: Some(PathBuf::from("/")), ..SettingSources::default() };
    let error = Config::load(&directory).err().unwrap();
    assert_eq!(error.to_string(), "configuration: /: it is a directory, and must be a file");
}

#[test]
fn the_example_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../civitas.example.toml");
    if std::env::var_os("CIVITAS_TEST_WRITE_EXAMPLE").is_some() {
        fs::write(path, example()).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap();
    assert!(
        kept == example(),
        "run this test with CIVITAS_TEST_WRITE_EXAMPLE=1 to rewrite civitas.example.toml"
    );
}

#[test]
fn the_example_uncommented_says_the_defaults() {
    let is_setting = |line: &str| SETTINGS.iter().any(|s| line.starts_with(&format!("# {} = ", s.name)));
    let lines = example();
    let lines: Vec<_> = lines.lines().filter(|line| is_setting(line)).map(|line| &line[2..]).collect();
    assert_eq!(lines.len(), SETTINGS.len());
    assert!(load(&lines.join("\n"), &[], &[]).unwrap() == load("", &[], &[]).unwrap());
}

#[test]
fn log_lines_can_be_json() {
    assert!(load("log_format = \"json\"", &[], &[]).unwrap().log_format == LogFormat::Json);
}
