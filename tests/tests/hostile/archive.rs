//! Lines of archives, imported without storing them, on both engines.

use crate::budget::fuzz;
use crate::generate::{damage, damaged, edit, edited};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use civitas_archive::{ImportError, ImportOptions, import};
use civitas_tests::{databases, import_options};
use civitas_tokens::Argon2Passwords;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use time::macros::datetime;
use tokio::runtime::Runtime;

/// A record of each type; the last ones refer to the first ones.
const LINES: &str = r##"
{"type": "organization", "ref": "city", "host": "city.test", "secondary_hosts": ["www.city.test"], "name": {"en": "City"}, "available_locales": ["en", "fr"], "default_locale": "en", "features": {"enabled": true}, "extended_data": {"a": {"b": [1]}}, "time_zone": "Europe/Paris", "max_attachment_bytes": 1048576}
{"type": "user", "ref": "nora", "organization": "city", "nickname": "norablum", "email": "nora@city.example", "name": "Nora", "admin": true, "locale": "fr", "confirmed_at": "2026-01-05T09:00:00Z", "personal_url": "https://nora.example/"}
{"type": "api_client", "ref": "full", "organization": "city", "client_id": "id_city_full", "client_secret": "key_city_full", "name": "Full", "scopes": ["public", "proposals"], "permissions": ["proposals.read"]}
{"type": "space", "ref": "streets", "organization": "city", "manifest": "participatory_processes", "title": {"en": "Streets"}, "visibility": "public", "published_at": "2026-01-05T09:00:00Z", "slug": "streets", "scope_id": 7}
{"type": "step", "ref": "voting", "organization": "city", "space": "streets", "title": {"en": "Vote"}, "position": 1, "active": true, "starts_at": "2026-01-05T09:00:00Z"}
{"type": "role", "ref": "r1", "organization": "city", "user": "nora", "kind": "space_administrator", "space": "streets", "invited_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "ideas", "organization": "city", "space": "streets", "manifest": "proposals", "name": {"en": "Ideas"}, "settings": {"vote_limit": 2, "proposal_limit": 3}, "default_step_settings": {"votes_enabled": true}, "step_settings": {"voting": {"votes_enabled": true}}}
{"type": "component", "ref": "talks", "organization": "city", "space": "streets", "manifest": "meetings", "name": {"en": "Talks"}}
{"type": "component", "ref": "news", "organization": "city", "space": "streets", "manifest": "blogs", "name": {"en": "News"}}
{"type": "component", "ref": "polls", "organization": "city", "space": "streets", "manifest": "surveys", "name": {"en": "Polls"}}
{"type": "proposal_state", "ref": "s1", "organization": "city", "component": "ideas", "token": "funded", "title": {"en": "Funded"}, "bg_color": "#ffffff"}
{"type": "proposal", "ref": "p1", "organization": "city", "component": "ideas", "title": {"en": "A proposal"}, "body": {"en": "Text"}, "authors": ["nora"], "published_at": "2026-02-01T09:00:00Z", "state": "accepted", "extended_data": {"n": 1}}
{"type": "vote", "ref": "v1", "organization": "city", "proposal": "p1", "user": "nora", "weight": 1}
{"type": "meeting", "ref": "day", "organization": "city", "component": "talks", "title": {"en": "Day"}, "start_time": "2026-04-01T17:00:00Z", "registrations": ["nora"]}
{"type": "post", "ref": "item", "organization": "city", "component": "news", "title": {"en": "Item"}, "body": {"en": "<p>B</p>"}, "author": "nora"}
{"type": "survey", "ref": "mobility", "organization": "city", "component": "polls"}
{"type": "questionnaire", "ref": "poll", "organization": "city", "survey": "mobility", "title": {"en": "Poll"}, "description": {"en": "<p>T</p>"}, "salt": "salt"}
{"type": "question", "ref": "one", "organization": "city", "questionnaire": "poll", "position": 0, "question_type": "single_option", "body": {"en": "Which?"}}
{"type": "question", "ref": "grid", "organization": "city", "questionnaire": "poll", "position": 1, "question_type": "matrix_single", "body": {"en": "Rate"}, "matrix_rows": [{"ref": "clean", "position": 1, "body": {"en": "Clean"}}]}
{"type": "question", "ref": "upload", "organization": "city", "questionnaire": "poll", "position": 2, "question_type": "files", "body": {"en": "Photos"}}
{"type": "answer_option", "ref": "bus", "organization": "city", "question": "one", "body": {"en": "BUS"}}
{"type": "answer_option", "ref": "good", "organization": "city", "question": "grid", "body": {"en": "GOOD"}}
{"type": "display_condition", "ref": "c1", "organization": "city", "question": "grid", "condition_question": "one", "condition_type": "equal", "answer_option": "bus", "mandatory": true}
{"type": "questionnaire_response", "ref": "a1", "organization": "city", "questionnaire": "poll", "user": "nora", "answers": {"one": "bus", "grid": {"clean": "good"}, "upload": [{"data": "aGVsbG8gd29ybGQK", "filename": "a.txt", "content_type": "text/plain"}]}}
{"type": "attachment_collection", "ref": "plans", "organization": "city", "attached_to": {"type": "proposal", "ref": "p1"}, "name": {"en": "Plans"}}
{"type": "attachment", "ref": "plan", "organization": "city", "attached_to": {"type": "proposal", "ref": "p1"}, "title": {"en": "Plan"}, "collection": "plans", "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
{"type": "attachment", "ref": "link", "organization": "city", "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "Map"}, "link": "https://maps.example/streets"}
{"type": "component", "ref": "talk", "organization": "city", "space": "streets", "manifest": "debates", "name": {"en": "Talk"}}
{"type": "debate", "ref": "d1", "organization": "city", "component": "talk", "title": {"en": "Debate"}}
{"type": "webhook_registration", "ref": "hook", "organization": "city", "api_client": "full", "url": "https://hooks.example/civitas", "subscriptions": ["proposal_creation.succeeded"], "signing_secret": "a-signing-secret-of-the-city"}
"##;

pub fn lines() -> Vec<Value> {
    LINES.trim().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_of_archives() {
    let runtime = Runtime::new().unwrap();
    let databases = runtime.block_on(databases());
    let lines = lines();
    let whole = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    for database in &databases {
        let options = ImportOptions { dry_run: true, ..import_options(datetime!(2026-11-21 10:00 UTC)) };
        let (passwords, mut nobody) = (Argon2Passwords::new(), |_| {});
        let imported = import(&*database.store, &passwords, whole.as_bytes(), options, &mut nobody);
        runtime.block_on(imported).expect("the archive is right before it is changed");
    }
    let files = prop_oneof![6 => Just(None), 1 => (vec(damage(), 0..3), any::<bool>()).prop_map(Some)];
    let change = (0..lines.len(), vec(edit(), 0..4), vec(damage(), 0..2), 0_u8..4, files);
    let strategy = vec(change, 1..3).prop_map(move |changes| {
        let mut texts: Vec<Vec<u8>> = lines.iter().map(|line| line.to_string().into_bytes()).collect();
        for (at, edits, damages, damage, file) in changes {
            let mut line = lines[at].clone();
            if let (Some((damages, is_image)), Some(data)) = (file, line.get_mut("data")) {
                let bytes =
                    if is_image { crate::files::samples()[0].clone() } else { b"hello world\n".to_vec() };
                *data = Value::from(STANDARD.encode(damaged(&bytes, &damages)));
            }
            let text = edited(&line, &edits).into_bytes();
            texts[at] = if damage == 0 { damaged(&text, &damages) } else { text };
        }
        texts.join(&b'\n')
    });
    for database in &databases {
        let passwords = Argon2Passwords::new();
        fuzz(
            &format!("lines of archives, {:?}", database.engine),
            databases.len() as u64,
            &strategy,
            |archive| {
                let options = import_options(datetime!(2026-11-21 10:00 UTC));
                let options = ImportOptions { dry_run: true, ..options };
                let imported = runtime.block_on(import(
                    &*database.store,
                    &passwords,
                    archive.as_slice(),
                    options,
                    &mut |_| {},
                ));
                match imported {
                    Ok(_) | Err(ImportError::Line(_)) => Ok(()),
                    Err(error @ ImportError::Store(..)) => {
                        Err(format!("{error}\n{}", String::from_utf8_lossy(archive)))
                    }
                }
            },
        );
    }
}
