use super::*;
use crate::RegistrationMode;
use serde_json::json;
use time::macros::datetime;

fn city() -> Organization {
    let text = |en: &str, fr: &str| Translated::from([(Locale::EN, en.into()), (Locale::FR, fr.into())]);
    Organization {
        description: text("The city", "La ville"),
        available_locales: [Locale::EN, Locale::FR].into_iter().collect(),
        secondary_hosts: vec!["www.city.example".into()],
        ..Organization::new(
            "city.example".into(),
            text("Riverton", "Riverville"),
            Locale::EN,
            datetime!(2026-01-01 0:00 UTC),
        )
    }
}

fn update(sent: &Value) -> Result<Organization> {
    OrganizationEdit::read(city(), sent.as_object().unwrap(), &Locales::standard(), false).finish()
}

fn faults(sent: &Value) -> Vec<String> {
    let error = update(sent).expect_err("it is refused");
    error.details().iter().map(|fault| format!("{} {}", fault.field, fault.code)).collect()
}

#[test]
fn a_text_has_a_maximum_and_so_has_the_list_of_hosts() {
    let hosts: Vec<String> = (0..101).map(|n| format!("h{n}.example")).collect();
    let sent = json!({"name": {"fr": "n".repeat(6_000)}, "description": {"en": "d".repeat(65_537)},
        "reference_prefix": "r".repeat(256), "secondary_hosts": hosts});
    let expected =
        ["name too_long", "description too_long", "reference_prefix too_long", "secondary_hosts too_many"];
    assert_eq!(faults(&sent), expected);
    let sent = json!({"name": {"fr": "é".repeat(255)}, "description": {"en": "d".repeat(65_536)}});
    update(&sent).unwrap();
}

#[test]
fn what_is_not_sent_stays() {
    assert_eq!(update(&json!({"id": 7, "colour": "red", "created_at": null})).unwrap(), city());
    let renamed = update(&json!({"name": {"en": "Rivertown"}})).unwrap();
    assert_eq!(
        (renamed.name.get(Locale::EN), renamed.name.get(Locale::FR)),
        (Some("Rivertown"), Some("Riverville"))
    );
    let shortened = update(&json!({"name": {"fr": null}, "description": {"fr": " "}})).unwrap();
    assert_eq!((shortened.name.get(Locale::FR), shortened.description.get(Locale::FR)), (None, None));
}

#[test]
fn every_setting_can_be_written() {
    let sent = json!({"reference_prefix": " RIV ", "secondary_hosts": "A.example\n\nb.example\na.example",
        "available_locales": ["fr", "en", "es"], "default_locale": "fr", "users_registration_mode": "existing",
        "force_users_to_authenticate_before_access_organization": true, "send_welcome_notification": true,
        "badges_enabled": true, "enable_participatory_space_filters": true, "user_groups_enabled": true,
        "rich_text_editor_in_public_views": true, "time_zone": "Europe/Paris", "comments_max_length": "7"});
    let written = update(&sent).unwrap();
    assert_eq!((written.reference_prefix.as_str(), written.default_locale), ("RIV", Locale::FR));
    assert_eq!(written.secondary_hosts, ["a.example", "b.example"]);
    assert_eq!(written.unconfirmed_secondary_hosts, ["a.example", "b.example"]);
    assert_eq!(written.users_registration_mode, RegistrationMode::Existing);
    assert_eq!((written.time_zone.as_str(), written.comments_max_length), ("Europe/Paris", 7));
    assert!(written.force_users_to_authenticate_before_access_organization && written.badges_enabled);
    let closed = update(&json!({"users_registration_mode": "disabled",
        "force_users_to_authenticate_before_access_organization": true}));
    assert!(!closed.unwrap().force_users_to_authenticate_before_access_organization);
}

#[test]
fn a_new_host_waits_and_the_own_one_ends_the_wait() {
    let waiting = update(&json!({"host": " New.Example "})).unwrap();
    assert_eq!(
        (waiting.host.as_str(), waiting.unconfirmed_host.as_deref()),
        ("city.example", Some("new.example"))
    );
    let sent = json!({"host": "CITY.example"});
    let ended = OrganizationEdit::read(waiting, sent.as_object().unwrap(), &Locales::standard(), false)
        .finish()
        .unwrap();
    assert_eq!(ended.unconfirmed_host, None);
}

#[test]
fn each_rule_has_its_code() {
    for (sent, expected) in [
        (json!({"name": null}), "name blank"),
        (json!({"name": {"en": ""}}), "name blank"),
        (json!({"name": "Riverton"}), "name invalid"),
        (json!({"name": {"de": "Flussstadt"}}), "name invalid"),
        (json!({"name": {"fr": 7}}), "name invalid"),
        (json!({"description": {"en": null}}), "description blank"),
        (json!({"reference_prefix": " "}), "reference_prefix blank"),
        (json!({"host": null}), "host blank"),
        (json!({"host": "city"}), "host invalid"),
        (json!({"host": "https://new.example"}), "host invalid"),
        (json!({"secondary_hosts": ["a b"]}), "secondary_hosts invalid"),
        (json!({"secondary_hosts": [7]}), "secondary_hosts invalid"),
        (json!({"secondary_hosts": ["city.example"]}), "secondary_hosts taken"),
        (json!({"secondary_hosts": ["localhost"]}), "secondary_hosts invalid"),
        (json!({"secondary_hosts": ["127.0.0.1"]}), "secondary_hosts invalid"),
        (json!({"secondary_hosts": ["::1"]}), "secondary_hosts invalid"),
        (json!({"available_locales": []}), "available_locales blank"),
        (json!({"available_locales": null}), "available_locales blank"),
        (json!({"available_locales": ["en", "de"]}), "available_locales inclusion"),
        (json!({"available_locales": ["fr"]}), "available_locales inclusion"),
        (json!({"default_locale": ""}), "default_locale blank"),
        (json!({"default_locale": "de"}), "default_locale inclusion"),
        (json!({"default_locale": "es"}), "default_locale inclusion"),
        (json!({"default_locale": "es", "available_locales": ["en"]}), "default_locale inclusion"),
        (json!({"users_registration_mode": "closed"}), "users_registration_mode inclusion"),
        (json!({"badges_enabled": "yes"}), "badges_enabled invalid"),
        (json!({"enable_machine_translations": true}), "enable_machine_translations invalid"),
        (json!({"time_zone": "europe/paris"}), "time_zone inclusion"),
        (json!({"comments_max_length": 0}), "comments_max_length greater_than"),
        (json!({"comments_max_length": 1.5}), "comments_max_length invalid"),
    ] {
        assert_eq!(faults(&sent).first().map(String::as_str), Some(expected), "{sent}");
    }
}

fn of_hosts(mut kept: Organization, hosts: &[&str], is_local: bool) -> Result<Organization> {
    kept.secondary_hosts = ["old.example", "lost.example", "127.0.0.1"].map(str::to_owned).to_vec();
    kept.unconfirmed_secondary_hosts = vec!["lost.example".into()];
    let sent = json!({"secondary_hosts": hosts});
    OrganizationEdit::read(kept, sent.as_object().unwrap(), &Locales::standard(), is_local).finish()
}

#[test]
fn new_secondary_hosts_wait_for_their_check_and_others_stay_as_they_are() {
    let written = of_hosts(city(), &["new.example", "127.0.0.1", "lost.example"], false).unwrap();
    assert_eq!(written.secondary_hosts, ["new.example", "127.0.0.1", "lost.example"]);
    assert_eq!(written.unconfirmed_secondary_hosts, ["new.example", "lost.example"]);
    let local = of_hosts(city(), &["localhost", "::1", "old.example"], true).unwrap();
    assert_eq!(local.unconfirmed_secondary_hosts, ["localhost", "::1"]);
    of_hosts(city(), &["old.example", "localhost"], false).unwrap_err();
    assert_eq!(of_hosts(city(), &[], false).unwrap().unconfirmed_secondary_hosts, [] as [&str; 0]);
}

#[test]
fn www_of_a_host_of_another_organization_is_taken() {
    for field in ["host", "secondary_hosts"] {
        let sent = json!({field: "www.town.example"});
        let (sent, locales) = (sent.as_object().unwrap(), Locales::standard());
        let mut update = OrganizationEdit::read(city(), sent, &locales, false);
        assert_eq!(update.sent_hosts(), ["www.town.example", "town.example"]);
        update.refuse_taken(&[], &["town.example".to_owned()]);
        let error = update.finish().unwrap_err();
        assert_eq!((error.details()[0].field.as_ref(), error.details()[0].code.as_ref()), (field, "taken"));
    }
}

#[test]
fn a_new_default_language_needs_name_and_description() {
    let sent = json!({"available_locales": ["en", "es"], "default_locale": "es"});
    assert_eq!(faults(&sent), ["default_locale blank", "default_locale blank"]);
    let mut complete = sent;
    complete["name"] = json!({"es": "Ciudad"});
    complete["description"] = json!({"es": "La ciudad"});
    assert_eq!(update(&complete).unwrap().default_locale, Locale::ES);
    complete["name"] = json!({"es": ""});
    assert_eq!(faults(&complete), ["name blank"]);
}

#[test]
fn all_errors_are_in_the_order_of_the_settings() {
    let sent = json!({"time_zone": "x", "badges_enabled": 1, "host": "x", "name": null,
        "secondary_hosts": ["a.example"], "available_locales": []});
    let sent = sent.as_object().unwrap();
    let locales = Locales::standard();
    let mut update = OrganizationEdit::read(city(), sent, &locales, false);
    update.refuse_taken(&[Locale::FR], &["a.example".to_owned()]);
    let error = update.finish().unwrap_err();
    let told: Vec<_> = error.details().iter().map(|f| (f.field.as_ref(), f.code.as_ref())).collect();
    let expected = [
        ("name", "blank"),
        ("name", "taken"),
        ("host", "invalid"),
        ("secondary_hosts", "taken"),
        ("available_locales", "blank"),
        ("badges_enabled", "invalid"),
        ("time_zone", "inclusion"),
    ];
    assert_eq!(told, expected);
}
