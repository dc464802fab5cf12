//! Invalid lines, and their errors.

use crate::archive::{CITY, read};
use civitas_tests::databases;

/// Lines that follow [`CITY`], and why each is refused. `§` stands for `"organization": "city"`.
const REFUSED: &[(&str, &str)] = &[
    (r#"{"type": "user", "ref": "#, "is not JSON: EOF while parsing a value at line 1 column 23"),
    (r#"["type", "user"]"#, "is not a JSON object"),
    (
        r#"{"type": "user", "ref": "nora", §, "extended_data": {"n": [0.1, 12345678901234567890123]}}"#,
        "Number cannot be stored exactly, send it as text: 12345678901234567890123",
    ),
    (r#"{"ref": "x", §}"#, "type is required"),
    (r#"{"type": "user", §}"#, "ref is required"),
    (r#"{"type": "user", "ref": "", §}"#, "ref must be a text"),
    (r#"{"type": "pet", "ref": "x", §}"#, r#"pet "x": type "pet" is not known"#),
    (r#"{"type": "access_token", "ref": "x", §}"#, r#"access_token "x": type "access_token" is not known"#),
    (r#"{"type": "user", "ref": "x"}"#, r#"user "x": organization is required"#),
    (
        r#"{"type": "user", "ref": "x", "organization": "town"}"#,
        r#"user "x": organization "town" is not known"#,
    ),
    (
        r#"{"type": "system_admin", "ref": "x", §, "email": "a@b.example"}"#,
        r#"system_admin "x": belongs to no organization"#,
    ),
    (r#"{"type": "system_admin", "ref": "x"}"#, r#"system_admin "x": email is required"#),
    (
        r#"{"type": "system_admin", "ref": "x", "email": "root"}"#,
        r#"system_admin "x": email "root" is not valid"#,
    ),
    (r#"{"type": "user", "ref": "x", §, "nickname": "x", "name": "X"}"#, r#"user "x": email is required"#),
    (r#"{"type": "user", "ref": "nora", §, "nick": "x"}"#, r#"user "nora": unknown member "nick""#),
    (
        r#"{"type": "user", "ref": "nora", §, "admin": "yes"}"#,
        r#"user "nora": admin: invalid type: string "yes", expected a boolean"#,
    ),
    (r#"{"type": "user", "ref": "nora", §, "admin": null}"#, r#"user "nora": admin cannot be null"#),
    (
        r#"{"type": "user", "ref": "nora", §, "locale": "de"}"#,
        r#"user "nora": locale: "de" is not a locale of the deployment"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "blocked_at": "yesterday"}"#,
        r#"user "nora": blocked_at: "yesterday" is not a time in ISO 8601"#,
    ),
    (r#"{"type": "user", "ref": "nora", §, "email": "n"}"#, r#"user "nora": email "n" is not valid"#),
    (
        r#"{"type": "user", "ref": "nora", §, "nickname": "nora blum"}"#,
        r#"user "nora": nickname "nora blum" is not valid"#,
    ),
    (r#"{"type": "user", "ref": "nora", §, "name": "<b>"}"#, r#"user "nora": name "<b>" is not valid"#),
    (
        r#"{"type": "user", "ref": "nora", §, "name": "\u200b"}"#,
        r#"user "nora": name "\u{200b}" is not valid"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "email": "a..b@city.example"}"#,
        r#"user "nora": email "a..b@city.example" is not valid"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "email": "LUIS@city.example"}"#,
        r#"user "nora": email "luis@city.example" has already been taken"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "nickname": "Luis"}"#,
        r#"user "nora": nickname "Luis" has already been taken"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "password": "a", "password_hash": "b"}"#,
        r#"user "nora": give either password or password_hash"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "password_hash": "md5"}"#,
        r#"user "nora": password_hash is not a hash of Argon2id or bcrypt"#,
    ),
    (
        r#"{"type": "user", "ref": "nora", §, "about": "a\u0000b"}"#,
        r#"user "nora": about must not contain the character U+0000"#,
    ),
    (
        r#"{"type": "organization", "ref": "city", "host": "https://city.example"}"#,
        r#"organization "city": Host is invalid"#,
    ),
    (
        r#"{"type": "organization", "ref": "city", "time_zone": "Paris"}"#,
        r#"organization "city": Time zone is not included in the list"#,
    ),
    (
        r#"{"type": "organization", "ref": "city", "default_locale": "es"}"#,
        r#"organization "city": Name es cannot be blank. Default locale is not one of the available locales"#,
    ),
    (
        r#"{"type": "organization", "ref": "city", "features": {"pets_enabled": true}}"#,
        concat!(
            r#"organization "city": features: unknown field `pets_enabled`, expected one of `enabled`, "#,
            "`proposals_enabled`, `blogs_enabled`, `debates_enabled`, `surveys_enabled`, `forms_enabled`, ",
            "`meetings_enabled`, `attachments_enabled`, `budgets_enabled`, `accountabilities_enabled`"
        ),
    ),
    (
        r#"{"type": "organization", "ref": "town", "host": "town.example", "name": {"en": "Town", "fr": "CITY"}, "available_locales": ["en"], "default_locale": "en"}"#,
        r#"organization "town": Name fr has already been taken"#,
    ),
    (
        r#"{"type": "organization", "ref": "town", "host": "town.example", "secondary_hosts": ["city.example"], "name": {"en": "Town"}, "available_locales": ["en"], "default_locale": "en"}"#,
        r#"organization "town": Host has already been taken"#,
    ),
    (
        r#"{"type": "api_client", "ref": "x", §, "client_id": "short", "name": "X", "scopes": ["public"]}"#,
        r#"api_client "x": client_id "short" is shorter than 8 characters"#,
    ),
    (
        r#"{"type": "api_client", "ref": "x", §, "client_id": "long-enough", "name": "X", "scopes": []}"#,
        r#"api_client "x": scopes must not be empty"#,
    ),
    (
        r#"{"type": "api_client", "ref": "x", §, "client_id": "long-enough", "name": "X", "scopes": ["pets"]}"#,
        r#"api_client "x": scope "pets" is not known"#,
    ),
    (
        r#"{"type": "api_client", "ref": "x", "client_id": "long-enough", "name": "X", "scopes": ["public"]}"#,
        r#"api_client "x": organization is required unless scopes are exactly ["system"]"#,
    ),
    (
        r#"{"type": "api_client", "ref": "x", "client_id": "app-client", "name": "X", "scopes": ["system"]}"#,
        r#"api_client "x": client_id "app-client" has already been taken"#,
    ),
    (
        r#"{"type": "api_client", "ref": "app", §, "scopes": ["blogs"]}"#,
        r#"api_client "app": scopes cannot change"#,
    ),
    (
        r#"{"type": "api_client", "ref": "app", §, "permissions": ["blogs.read"]}"#,
        r#"api_client "app": permission "blogs.read" needs a scope the client does not own"#,
    ),
    (
        r#"{"type": "api_client", "ref": "app", §, "permissions": ["blogs.eat"]}"#,
        r#"api_client "app": permission "blogs.eat" is not known"#,
    ),
    (
        r#"{"type": "api_client", "ref": "app", §, "client_secret_hash": "abc"}"#,
        r#"api_client "app": client_secret_hash must be a SHA-256 in 64 hexadecimal digits"#,
    ),
    (
        r#"{"type": "space", "ref": "streets", §, "visibility": "transparent"}"#,
        r#"space "streets": participatory_processes cannot be transparent"#,
    ),
    (
        r#"{"type": "space", "ref": "petition", §, "slug": "petition"}"#,
        r#"space "petition": an initiative has no slug of its own"#,
    ),
    (
        r#"{"type": "space", "ref": "streets", §, "manifest": "assemblies"}"#,
        r#"space "streets": manifest cannot change"#,
    ),
    (
        r#"{"type": "step", "ref": "x", §, "space": "council", "title": {}, "position": 0}"#,
        r#"step "x": only participatory processes have steps"#,
    ),
    (
        r#"{"type": "step", "ref": "collect", §, "position": -1}"#,
        r#"step "collect": position must be 0 or more"#,
    ),
    (
        r#"{"type": "role", "ref": "x", §, "user": "nora", "kind": "space_moderator", "space": "petition"}"#,
        r#"role "x": an initiative has no roles"#,
    ),
    (
        r#"{"type": "role", "ref": "x", §, "user": null, "kind": "space_moderator", "space": "streets"}"#,
        r#"role "x": email is required where user is null"#,
    ),
    (
        r#"{"type": "role", "ref": "x", §, "user": "nora", "kind": "general_admin", "space": "streets"}"#,
        r#"role "x": a general_admin has no space, email, invited_at and accepted_at"#,
    ),
    (
        r#"{"type": "role", "ref": "member", §, "kind": "general_admin"}"#,
        r#"role "member": kind cannot change"#,
    ),
    (
        r#"{"type": "component", "ref": "x", §, "space": "square", "manifest": "pages", "name": {}}"#,
        r#"component "x": space "square" is not known"#,
    ),
    (
        r#"{"type": "component", "ref": "page", §, "settings": {"vote_limit": 3}}"#,
        r#"component "page": unknown setting vote_limit"#,
    ),
    (
        r#"{"type": "component", "ref": "ideas", §, "settings": {"vote_limit": "3"}}"#,
        r#"component "ideas": invalid value for setting vote_limit"#,
    ),
    (
        r#"{"type": "component", "ref": "ideas", §, "step_settings": {"rest": {}}}"#,
        r#"component "ideas": step "rest" is not known"#,
    ),
    (
        r#"{"type": "component", "ref": "x", §, "space": "council", "manifest": "pages", "name": {}, "step_settings": {"decide": {}}}"#,
        r#"component "x": step "decide" is not one of the component's space"#,
    ),
    (
        r#"{"type": "proposal_state", "ref": "x", §, "component": "ideas", "token": "pilot", "title": {}}"#,
        r#"proposal_state "x": token "pilot" has already been taken"#,
    ),
    (
        r#"{"type": "proposal_state", "ref": "x", §, "component": "page", "token": "new", "title": {}}"#,
        r#"proposal_state "x": component "page" does not hold proposals"#,
    ),
    (
        r#"{"type": "proposal", "ref": "bike-lanes", §, "component": "idea", "title": {}, "body": {}}"#,
        r#"proposal "bike-lanes": component "idea" is not known"#,
    ),
    (
        r#"{"type": "proposal", "ref": "x", §, "component": "ideas", "body": {}}"#,
        r#"proposal "x": title is required"#,
    ),
    (
        r#"{"type": "post", "ref": "x", §, "component": "ideas", "title": {}, "body": {}}"#,
        r#"post "x": component "ideas" does not hold posts"#,
    ),
    (
        r#"{"type": "post", "ref": "x", §, "component": "blog", "title": {}}"#,
        r#"post "x": component "blog" is not known"#,
    ),
    (
        r#"{"type": "survey", "ref": "x", §, "component": "ideas"}"#,
        r#"survey "x": component "ideas" does not hold surveys"#,
    ),
    (
        r#"{"type": "questionnaire", "ref": "x", §, "title": {}}"#,
        r#"questionnaire "x": survey or meeting is required"#,
    ),
    (
        r#"{"type": "questionnaire", "ref": "x", §, "survey": "s", "title": {}}"#,
        r#"questionnaire "x": survey "s" is not known"#,
    ),
    (
        r#"{"type": "question", "ref": "x", §, "questionnaire": "q", "position": 0, "question_type": "sorting", "body": {}}"#,
        r#"question "x": questionnaire "q" is not known"#,
    ),
    (
        r#"{"type": "answer_option", "ref": "x", §, "question": "q", "body": {}}"#,
        r#"answer_option "x": question "q" is not known"#,
    ),
    (
        r#"{"type": "display_condition", "ref": "x", §, "question": "q", "condition_question": "p", "condition_type": "equal"}"#,
        r#"display_condition "x": question "q" is not known"#,
    ),
    (
        r#"{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "answers": {}}"#,
        r#"questionnaire_response "x": questionnaire "q" is not known"#,
    ),
    (
        r#"{"type": "proposal", "ref": "trees", §, "authors": ["nora", "tom"]}"#,
        r#"proposal "trees": user "tom" is not known"#,
    ),
    (
        r#"{"type": "proposal", "ref": "trees", §, "authors": ["nora", "nora"]}"#,
        r#"proposal "trees": authors name "nora" twice"#,
    ),
    (
        r#"{"type": "proposal", "ref": "trees", §, "state": "done"}"#,
        r#"proposal "trees": state "done" is not known"#,
    ),
    (
        r#"{"type": "proposal", "ref": "x", §, "component": "ideas", "title": {}, "body": {}, "authors": ["nora"]}"#,
        r#"proposal "x": an author has another draft in the component"#,
    ),
    (
        r#"{"type": "proposal", "ref": "trees", §, "published_at": null}"#,
        r#"proposal "trees": an author has another draft in the component"#,
    ),
    (
        r#"{"type": "vote", "ref": "x", §, "proposal": "trees", "user": "nora"}"#,
        r#"vote "x": the user has already voted on the proposal"#,
    ),
    (r#"{"type": "vote", "ref": "v1", §, "weight": 4}"#, r#"vote "v1": weight must be between 0 and 3"#),
    (r#"{"type": "vote", "ref": "v1", §, "user": "luis"}"#, r#"vote "v1": user cannot change"#),
    (
        r#"{"type": "meeting", "ref": "x", §, "component": "ideas", "title": {}, "start_time": "2026-04-01T17:00:00Z"}"#,
        r#"meeting "x": component "ideas" does not hold meetings"#,
    ),
    (
        r#"{"type": "meeting", "ref": "x", §, "component": "agenda", "title": {}}"#,
        r#"meeting "x": start_time is required"#,
    ),
    (
        r#"{"type": "meeting", "ref": "x", §, "component": "agenda", "start_time": "2026-04-01T17:00:00Z"}"#,
        r#"meeting "x": title is required"#,
    ),
    (
        r#"{"type": "meeting", "ref": "x", §, "title": {}, "start_time": "2026-04-01T17:00:00Z"}"#,
        r#"meeting "x": component is required"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "start_time": null}"#,
        r#"meeting "kickoff": start_time cannot be null"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "private": null}"#,
        r#"meeting "kickoff": private cannot be null"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "component": "page"}"#,
        r#"meeting "kickoff": component cannot change"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "registrations": ["nora", "tom"]}"#,
        r#"meeting "kickoff": user "tom" is not known"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "registrations": ["nora", "nora"]}"#,
        r#"meeting "kickoff": registrations name "nora" twice"#,
    ),
    (
        r#"{"type": "meeting", "ref": "kickoff", §, "place": "here"}"#,
        r#"meeting "kickoff": unknown member "place""#,
    ),
    (
        r#"{"type": "page", "ref": "x", §, "component": "agenda", "title": {}}"#,
        r#"page "x": component "agenda" does not hold pages"#,
    ),
    (
        r#"{"type": "budget", "ref": "x", §, "component": "page", "title": {}}"#,
        r#"budget "x": component "page" does not hold budgets"#,
    ),
    (
        r#"{"type": "result", "ref": "x", §, "component": "page", "title": {}}"#,
        r#"result "x": component "page" does not hold results"#,
    ),
    (
        r#"{"type": "debate", "ref": "x", §, "component": "page", "title": {}}"#,
        r#"debate "x": component "page" does not hold debates"#,
    ),
    (r#"{"type": "page", "ref": "x", §, "component": "page"}"#, r#"page "x": title is required"#),
    (
        r#"{"type": "page", "ref": "about", §, "updated_at": "2026-04-01T17:00:00Z"}"#,
        r#"page "about": unknown member "updated_at""#,
    ),
];

#[tokio::test]
async fn every_bad_line_is_named_with_its_number_and_its_fault() {
    for database in databases().await {
        let number = CITY.lines().count() + 1;
        for (line, fault) in REFUSED {
            let line = line.replace('§', r#""organization": "city""#);
            let error = read(&*database.store, &format!("{CITY}{line}"), false).await.unwrap_err();
            assert_eq!(error.to_string(), format!("line {number}: {fault}"), "{line}");
        }
    }
}
