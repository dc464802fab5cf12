use super::*;
use civitas_accounts::RoleType;
use civitas_accounts::administrators::PanelTheme;
use civitas_application::{Dependency, MAX_FIGURE, SharedResource};
use civitas_audit::{Action, ActorKind};
use civitas_jobs::JobStatus;
use civitas_kernel::{Scope, SpaceKind};
use civitas_spaces::ComponentKind;
use civitas_surveys::{ConditionType, QuestionType, SurveyPeriod};
use civitas_webhooks::DeliveryStatus;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The keys of the catalogues of a language, with the names of their variables.
fn keys(sources: &[&str]) -> BTreeSet<(String, Vec<String>)> {
    let mut found = BTreeSet::new();
    for source in sources {
        let mut key = String::new();
        let mut variables: BTreeSet<String> = BTreeSet::new();
        for line in source.lines().chain(["end = "]) {
            let starts = line.starts_with(|c: char| c.is_ascii_lowercase());
            if let (true, Some((name, _))) = (starts, line.split_once(" =")) {
                if !key.is_empty() {
                    found.insert((key.clone(), variables.iter().cloned().collect()));
                }
                name.clone_into(&mut key);
                variables.clear();
            }
            variables.extend(line.split('$').skip(1).map(|rest| {
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
            }));
        }
    }
    found
}

#[test]
fn the_catalogues_have_the_same_texts_with_the_same_values() {
    let english = keys(&SOURCES[0].1);
    assert!(english.len() > 400);
    for (locale, sources) in &SOURCES[1..] {
        let translated = keys(sources);
        let missing: Vec<_> = english.difference(&translated).collect();
        let strange: Vec<_> = translated.difference(&english).collect();
        assert!(
            missing.is_empty() && strange.is_empty(),
            "{locale}: missing {missing:?}, strange {strange:?}"
        );
    }
}

#[test]
fn the_catalogues_are_well_formed() {
    for (locale, sources) in SOURCES {
        for source in sources {
            if let Err((_, faults)) = FluentResource::try_new(source.to_owned()) {
                panic!("{locale}: {faults:?}");
            }
        }
    }
}

fn files(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, list);
        } else {
            list.push(path);
        }
    }
}

#[test]
fn every_text_that_a_page_names_is_in_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    files(&root.join("src"), &mut sources);
    files(&root.join("templates"), &mut sources);
    let known: BTreeSet<String> = keys(&SOURCES[0].1).into_iter().map(|(key, _)| key).collect();
    // The keys of columns are one text; in two parts here, so that this source has no call.
    let columns = concat!(".", "columns(");
    let mut named = 0;
    for path in sources {
        let source = fs::read_to_string(&path).unwrap();
        for call in [".tr(", ".tr_with(", ".tr_args(", ".tr_count(", ".redirect_done(", "req.head(", columns]
        {
            for rest in source.split(call).skip(1) {
                let Some(text) = rest.trim_start().strip_prefix('"').and_then(|text| text.split('"').next())
                else {
                    continue;
                };
                let keys: Vec<&str> = if call == columns { text.split(' ').collect() } else { vec![text] };
                for key in keys.into_iter().filter_map(|key| key.split(':').next()) {
                    let is_key =
                        key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                    if is_key && !key.is_empty() {
                        assert!(known.contains(key), "{key} in {}", path.display());
                        named += 1;
                    }
                }
            }
        }
    }
    assert!(named > 300, "{named}");
}

/// The names of all values of a type, as keys have them.
macro_rules! names {
    ($all:expr) => {
        $all.iter().map(|value| value.as_str().replace(['_', '.', ' '], "-")).collect::<Vec<String>>()
    };
}

#[test]
fn every_text_whose_key_is_made_of_a_name_is_in_the_catalogue() {
    let jobs: Vec<String> = JobStatus::NAMES.iter().map(|&name| name.to_owned()).collect();
    let shares = SharedResource::ALL.iter().map(|share| share.as_str().replace('_', "-"));
    let logs = ["audit", "deliveries", "jobs", "mails", "registrations"].map(str::to_owned).to_vec();
    let families = [
        ("nav-", logs.clone(), vec![""]),
        ("", logs, vec!["-filter", "-lede"]),
        ("storage-check-", names!(Dependency::ALL), vec![""]),
        ("action-", names!(Action::ALL), vec![""]),
        ("actor-", names!(ActorKind::ALL), vec![""]),
        ("job-", jobs, vec!["", "-lede"]),
        ("delivery-", names!(DeliveryStatus::ALL), vec![""]),
        ("scope-", names!(Scope::ALL), vec![""]),
        ("role-", names!(RoleType::ALL), vec!["", "-hint"]),
        ("space-", names!(SpaceKind::ALL), vec![""]),
        ("space-one-", names!(SpaceKind::ALL), vec![""]),
        ("component-", names!(ComponentKind::ALL), vec![""]),
        ("survey-", names!(SurveyPeriod::ALL), vec![""]),
        ("question-", names!(QuestionType::ALL), vec![""]),
        ("condition-", names!(ConditionType::ALL), vec![""]),
        ("theme-", names!(PanelTheme::ALL), vec![""]),
        ("share-", shares.collect(), vec![""]),
    ];
    let known: BTreeSet<String> = keys(&SOURCES[0].1).into_iter().map(|(key, _)| key).collect();
    for (start, names, ends) in families {
        for key in names.iter().flat_map(|name| ends.iter().map(move |end| format!("{start}{name}{end}"))) {
            assert!(known.contains(&key), "{key}");
        }
    }
}

#[test]
fn a_text_that_is_missing_is_shown_as_such() {
    assert_eq!(Translator::for_locale(Locale::FR).tr("No such text"), "{No such text}");
}

#[test]
fn a_plural_follows_the_number() {
    let english = Translator::for_locale(Locale::EN);
    assert_eq!(english.tr_count("revoke-tokens", 1_i64), "1 valid token stops working");
    assert_eq!(english.tr_count("revoke-tokens", 1_214_i64), "1,214 valid tokens stop working");
    assert_eq!(english.tr_count("revoke-tokens", 0_i64), "No token is valid now");
    assert_ne!(Translator::for_locale(Locale::FR).tr("cancel"), english.tr("cancel"));
}

#[test]
fn a_language_without_texts_is_english() {
    let german = Locale::parse("de").unwrap();
    assert_eq!(Translator::for_locale(german).locale, Locale::EN);
}

#[test]
fn a_number_is_exact_below_the_limit_of_its_count() {
    let english = Translator::for_locale(Locale::EN);
    let texts = [0, 9_999, 10_000, 10_001].map(|count| english.count_text(count, MAX_FIGURE));
    assert_eq!(texts, ["0", "9,999", "10,000", "More than 10,000"]);
    assert_eq!(
        Translator::for_locale(Locale::FR).count_text(MAX_FIGURE, MAX_FIGURE),
        "Plus de 10\u{202f}000"
    );
}
