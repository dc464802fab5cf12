//! Records of the city that is put under load (contract 10).

use serde_json::{Value, json};

/// The host of the city.
pub const HOST: &str = "load.test";
/// The public name of its one API client.
pub const CLIENT_ID: &str = "load_client";
/// The client's secret.
pub const CLIENT_SECRET: &str = "load_secret_of_128_bits";

/// When everything was created.
pub const BEGAN: &str = "2026-01-05T09:00:00Z";
/// What a citizen writes, about as long as such texts are.
const BODY: &str = "We would like two trees in every block of the street, planted before next summer and watered \
by the city during their first three years. The shade makes the way to school bearable in July, and the benches \
under them would give older neighbours a place to rest on the way to the market. The parking places that are lost \
can be found again behind the old depot, which has stood empty since the tram line was closed.";

/// The nickname of a user, counted from 0.
pub fn nickname(user: u64) -> String {
    format!("voter{user:05}")
}

/// Organization, client, space and component.
pub fn foundation() -> [Value; 4] {
    [
        json!({"type": "organization", "ref": "city", "host": HOST, "name": {"en": "Load"},
            "available_locales": ["en"], "default_locale": "en", "created_at": BEGAN}),
        json!({"type": "api_client", "ref": "load", "organization": "city", "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET, "name": "Load", "scopes": ["public", "proposals"],
            "permissions": ["oauth.impersonate", "proposals.read", "proposals.vote", "proposals.draft"]}),
        json!({"type": "space", "ref": "council", "organization": "city", "manifest": "assemblies",
            "title": {"en": "Council"}, "slug": "council", "visibility": "public", "published_at": BEGAN,
            "created_at": BEGAN}),
        json!({"type": "component", "ref": "ideas", "organization": "city", "space": "council",
            "manifest": "proposals", "name": {"en": "Ideas"}, "published_at": BEGAN, "created_at": BEGAN,
            "default_step_settings": {"votes_enabled": true, "creation_enabled": true}}),
    ]
}

/// A user, who votes.
pub fn citizen(user: u64) -> Value {
    let nickname = nickname(user);
    json!({"type": "user", "ref": nickname, "organization": "city", "nickname": nickname,
        "email": format!("{nickname}@load.example"), "name": format!("Voter {user}"),
        "confirmed_at": BEGAN, "tos_accepted_at": BEGAN, "created_at": BEGAN})
}

/// When a proposal was published and last changed: each a second after the one before, so that the order of the list is
/// that of the ids.
pub fn published(number: u64) -> String {
    let (hours, rest) = (number / 3600 % 24, number % 3600);
    let day = number / 86_400 % 28 + 1;
    format!("2026-02-{day:02}T{hours:02}:{:02}:{:02}Z", rest / 60, rest % 60)
}

/// A published proposal.
pub fn proposal(number: u64, author: u64) -> Value {
    let published = published(number);
    json!({"type": "proposal", "ref": format!("p{number}"), "organization": "city", "component": "ideas",
        "title": {"en": format!("More trees along street number {number}")}, "body": {"en": BODY},
        "published_at": published, "created_at": BEGAN, "updated_at": published,
        "authors": [nickname(author)]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_are_published_in_the_order_of_their_numbers() {
        let times: Vec<String> = [0, 59, 60, 3599, 3600, 86_399, 86_400, 100_000].map(published).into();
        assert!(times.is_sorted(), "{times:?}");
    }
}
