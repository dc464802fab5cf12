//! Invalid lines, and their errors.

use crate::archive::{CITY, pairs, read};
use civitas_tests::databases;

/// Lines that follow [`CITY`], and below each why it is refused.
const REFUSED: &str = r#"
{"type": "user", "ref":
is not JSON: EOF while parsing a value at line 1 column 23
["type", "user"]
is not a JSON object
{"type": "user", "ref": "nora", §, "extended_data": {"n": [0.1, 12345678901234567890123]}}
Number cannot be stored exactly, send it as text: 12345678901234567890123
{"ref": "x", §}
type is required
{"type": "user", §}
ref is required
{"type": "user", "ref": "", §}
ref must be a text
{"type": "pet", "ref": "x", §}
pet "x": type "pet" is not known
{"type": "access_token", "ref": "x", §}
access_token "x": type "access_token" is not known
{"type": "user", "ref": "x"}
user "x": organization is required
{"type": "user", "ref": "x", "organization": "town"}
user "x": organization "town" is not known
{"type": "system_admin", "ref": "x", §, "email": "a@b.example"}
system_admin "x": belongs to no organization
{"type": "system_admin", "ref": "x"}
system_admin "x": email is required
{"type": "system_admin", "ref": "x", "email": "root"}
system_admin "x": email "root" is not valid
{"type": "user", "ref": "x", §, "nickname": "x", "name": "X"}
user "x": email is required
{"type": "user", "ref": "nora", §, "nick": "x"}
user "nora": unknown member "nick"
{"type": "user", "ref": "nora", §, "admin": "yes"}
user "nora": admin: invalid type: string "yes", expected a boolean
{"type": "user", "ref": "nora", §, "admin": null}
user "nora": admin cannot be null
{"type": "user", "ref": "nora", §, "locale": "de"}
user "nora": locale: "de" is not a locale of the deployment
{"type": "user", "ref": "nora", §, "blocked_at": "yesterday"}
user "nora": blocked_at: "yesterday" is not a time in ISO 8601
{"type": "user", "ref": "nora", §, "email": "n"}
user "nora": email "n" is not valid
{"type": "user", "ref": "nora", §, "nickname": "nora blum"}
user "nora": nickname "nora blum" is not valid
{"type": "user", "ref": "nora", §, "name": "No\nra"}
user "nora": name "No\nra" is not valid
{"type": "user", "ref": "nora", §, "name": "\u200b"}
user "nora": name "\u{200b}" is not valid
{"type": "user", "ref": "nora", §, "email": "a..b@city.example"}
user "nora": email "a..b@city.example" is not valid
{"type": "user", "ref": "nora", §, "email": "LUIS@city.example"}
user "nora": email "luis@city.example" has already been taken
{"type": "user", "ref": "nora", §, "nickname": "Luis"}
user "nora": nickname "Luis" has already been taken
{"type": "user", "ref": "nora", §, "password": "a", "password_hash": "b"}
user "nora": give either password or password_hash
{"type": "user", "ref": "nora", §, "password_hash": "md5"}
user "nora": password_hash is not a hash of Argon2id or bcrypt
{"type": "user", "ref": "nora", §, "about": "a\u0000b"}
user "nora": about must not contain the character U+0000
{"type": "organization", "ref": "city", "host": "https://city.example"}
organization "city": Host is invalid
{"type": "organization", "ref": "city", "time_zone": "Paris"}
organization "city": Time zone is not included in the list
{"type": "organization", "ref": "city", "default_locale": "es"}
organization "city": Name es cannot be blank. Default locale is not one of the available locales
{"type": "organization", "ref": "city", "features": {"pets_enabled": true}}
organization "city": features: unknown field `pets_enabled`, expected one of `enabled`, `proposals_enabled`, `blogs_enabled`, `debates_enabled`, `surveys_enabled`, `forms_enabled`, `meetings_enabled`, `attachments_enabled`, `budgets_enabled`, `accountabilities_enabled`
{"type": "organization", "ref": "town", "host": "town.example", "name": {"en": "Town", "fr": "CITY"}, "available_locales": ["en"], "default_locale": "en"}
organization "town": Name fr has already been taken
{"type": "organization", "ref": "town", "host": "town.example", "secondary_hosts": ["city.example"], "name": {"en": "Town"}, "available_locales": ["en"], "default_locale": "en"}
organization "town": Host has already been taken
{"type": "api_client", "ref": "x", §, "client_id": "short", "name": "X", "scopes": ["public"]}
api_client "x": client_id "short" is shorter than 8 characters
{"type": "api_client", "ref": "x", §, "client_id": "long-enough", "name": "X", "scopes": []}
api_client "x": scopes must not be empty
{"type": "api_client", "ref": "x", §, "client_id": "long-enough", "name": "X", "scopes": ["pets"]}
api_client "x": scope "pets" is not known
{"type": "api_client", "ref": "x", "client_id": "long-enough", "name": "X", "scopes": ["public"]}
api_client "x": organization is required unless scopes are exactly ["system"]
{"type": "api_client", "ref": "x", "client_id": "app-client", "name": "X", "scopes": ["system"]}
api_client "x": client_id "app-client" has already been taken
{"type": "api_client", "ref": "app", §, "scopes": ["blogs"]}
api_client "app": scopes cannot change
{"type": "api_client", "ref": "app", §, "permissions": ["blogs.read"]}
api_client "app": permission "blogs.read" needs a scope the client does not own
{"type": "api_client", "ref": "app", §, "permissions": ["blogs.eat"]}
api_client "app": permission "blogs.eat" is not known
{"type": "api_client", "ref": "app", §, "client_secret_hash": "abc"}
api_client "app": client_secret_hash must be a SHA-256 in 64 hexadecimal digits
{"type": "space", "ref": "petition", §, "visibility": "transparent"}
space "petition": initiatives cannot be transparent
{"type": "space", "ref": "petition", §, "slug": "petition"}
space "petition": an initiative has no slug of its own
{"type": "space", "ref": "streets", §, "manifest": "assemblies"}
space "streets": manifest cannot change
{"type": "step", "ref": "x", §, "space": "council", "title": {}, "position": 0}
step "x": only participatory processes have steps
{"type": "step", "ref": "collect", §, "position": -1}
step "collect": position must be 0 or more
{"type": "role", "ref": "x", §, "user": "nora", "kind": "space_moderator", "space": "petition"}
role "x": an initiative has no roles
{"type": "role", "ref": "x", §, "user": null, "kind": "space_moderator", "space": "streets"}
role "x": email is required where user is null
{"type": "role", "ref": "x", §, "user": "nora", "kind": "general_admin", "space": "streets"}
role "x": a general_admin has no space, email, invited_at and accepted_at
{"type": "role", "ref": "member", §, "kind": "general_admin"}
role "member": kind cannot change
{"type": "component", "ref": "x", §, "space": "square", "manifest": "pages", "name": {}}
component "x": space "square" is not known
{"type": "component", "ref": "page", §, "settings": {"vote_limit": 3}}
component "page": unknown setting vote_limit
{"type": "component", "ref": "ideas", §, "settings": {"vote_limit": "3"}}
component "ideas": invalid value for setting vote_limit
{"type": "component", "ref": "ideas", §, "step_settings": {"rest": {}}}
component "ideas": step "rest" is not known
{"type": "component", "ref": "x", §, "space": "council", "manifest": "pages", "name": {}, "step_settings": {"decide": {}}}
component "x": step "decide" is not one of the component's space
{"type": "proposal_state", "ref": "x", §, "component": "ideas", "token": "pilot", "title": {}}
proposal_state "x": token "pilot" has already been taken
{"type": "proposal_state", "ref": "x", §, "component": "page", "token": "new", "title": {}}
proposal_state "x": component "page" does not hold proposals
{"type": "proposal", "ref": "bike-lanes", §, "component": "idea", "title": {}, "body": {}}
proposal "bike-lanes": component "idea" is not known
{"type": "proposal", "ref": "x", §, "component": "ideas", "body": {}}
proposal "x": title is required
{"type": "post", "ref": "x", §, "component": "ideas", "title": {}, "body": {}}
post "x": component "ideas" does not hold posts
{"type": "post", "ref": "x", §, "component": "blog", "title": {}}
post "x": component "blog" is not known
{"type": "survey", "ref": "x", §, "component": "ideas"}
survey "x": component "ideas" does not hold surveys
{"type": "questionnaire", "ref": "x", §, "title": {}}
questionnaire "x": survey or meeting is required
{"type": "questionnaire", "ref": "x", §, "survey": "s", "title": {}}
questionnaire "x": survey "s" is not known
{"type": "question", "ref": "x", §, "questionnaire": "q", "position": 0, "question_type": "sorting", "body": {}}
question "x": questionnaire "q" is not known
{"type": "answer_option", "ref": "x", §, "question": "q", "body": {}}
answer_option "x": question "q" is not known
{"type": "display_condition", "ref": "x", §, "question": "q", "condition_question": "p", "condition_type": "equal"}
display_condition "x": question "q" is not known
{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "answers": {}}
questionnaire_response "x": questionnaire "q" is not known
{"type": "proposal", "ref": "trees", §, "authors": ["nora", "tom"]}
proposal "trees": user "tom" is not known
{"type": "proposal", "ref": "trees", §, "authors": ["nora", "nora"]}
proposal "trees": authors name "nora" twice
{"type": "proposal", "ref": "trees", §, "state": "done"}
proposal "trees": state "done" is not known
{"type": "proposal", "ref": "x", §, "component": "ideas", "title": {}, "body": {}, "authors": ["nora"]}
proposal "x": an author has another draft in the component
{"type": "proposal", "ref": "trees", §, "published_at": null}
proposal "trees": an author has another draft in the component
{"type": "vote", "ref": "x", §, "proposal": "trees", "user": "nora"}
vote "x": the user has already voted on the proposal
{"type": "vote", "ref": "v1", §, "weight": 4}
vote "v1": weight must be between 0 and 3
{"type": "vote", "ref": "v1", §, "user": "luis"}
vote "v1": user cannot change
{"type": "meeting", "ref": "x", §, "component": "ideas", "title": {}, "start_time": "2026-04-01T17:00:00Z"}
meeting "x": component "ideas" does not hold meetings
{"type": "meeting", "ref": "x", §, "component": "agenda", "title": {}}
meeting "x": start_time is required
{"type": "meeting", "ref": "x", §, "component": "agenda", "start_time": "2026-04-01T17:00:00Z"}
meeting "x": title is required
{"type": "meeting", "ref": "x", §, "title": {}, "start_time": "2026-04-01T17:00:00Z"}
meeting "x": component is required
{"type": "meeting", "ref": "kickoff", §, "start_time": null}
meeting "kickoff": start_time cannot be null
{"type": "meeting", "ref": "kickoff", §, "private": null}
meeting "kickoff": private cannot be null
{"type": "meeting", "ref": "kickoff", §, "component": "page"}
meeting "kickoff": component cannot change
{"type": "meeting", "ref": "kickoff", §, "registrations": ["nora", "tom"]}
meeting "kickoff": user "tom" is not known
{"type": "meeting", "ref": "kickoff", §, "registrations": ["nora", "nora"]}
meeting "kickoff": registrations name "nora" twice
{"type": "meeting", "ref": "kickoff", §, "place": "here"}
meeting "kickoff": unknown member "place"
{"type": "page", "ref": "x", §, "component": "agenda", "title": {}}
page "x": component "agenda" does not hold pages
{"type": "budget", "ref": "x", §, "component": "page", "title": {}}
budget "x": component "page" does not hold budgets
{"type": "result", "ref": "x", §, "component": "page", "title": {}}
result "x": component "page" does not hold results
{"type": "debate", "ref": "x", §, "component": "page", "title": {}}
debate "x": component "page" does not hold debates
{"type": "page", "ref": "x", §, "component": "page"}
page "x": title is required
{"type": "page", "ref": "about", §, "published_at": "2026-04-01T17:00:00Z"}
page "about": unknown member "published_at"
"#;

#[tokio::test]
async fn every_bad_line_is_named_with_its_number_and_its_fault() {
    for database in databases().await {
        let number = CITY.lines().count() + 1;
        for (line, fault) in pairs(REFUSED) {
            let error = read(&*database.store, &format!("{CITY}{line}"), false).await.unwrap_err();
            assert_eq!(error.to_string(), format!("line {number}: {fault}"), "{line}");
        }
    }
}
