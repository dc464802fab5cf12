//! Words, times and numbers of the other lists (contract 01 §6.2).

use super::{archive, filter, finds, id, ids, person};
use civitas_tests::service::{Client, Service};

const RECORDS: &str = r#"
{"type": "component", "ref": "agenda", §, "space": "streets", "manifest": "meetings", "name": {"en": "Agenda"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "sessions", §, "space": "council", "manifest": "meetings", "name": {"en": "Sessions"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "component", "ref": "news", §, "space": "streets", "manifest": "blogs", "name": {"en": "News", "fr": "Actualités"}, "published_at": "2026-01-05T09:00:00Z"}
{"type": "meeting", "ref": "quarter", §, "component": "agenda", "title": {"en": "Quarter", "fr": "Réunion de quartier"}, "description": {"en": "<p>With c<b>of</b>fee</p>", "fr": "<p>Café</p>"}, "start_time": "2026-04-01T17:00:00Z", "end_time": "2026-04-01T19:00:00Z", "published_at": "2026-02-01T10:00:00Z"}
{"type": "meeting", "ref": "walk", §, "component": "sessions", "title": {"en": "Walk"}, "start_time": "2026-05-01T08:00:00Z", "published_at": "2026-02-03T10:00:00Z"}
{"type": "meeting", "ref": "planned", §, "component": "agenda", "title": {"en": "Walk, planned"}, "start_time": "2026-05-01T08:00:00Z"}
{"type": "post", "ref": "summer", §, "component": "news", "title": {"fr": "Été à la plage"}, "body": {"fr": "<p>Du sable</p>"}, "author": "bob", "published_at": "2026-02-01T08:00:00Z"}
{"type": "post", "ref": "winter", §, "component": "news", "title": {"en": "Winter"}, "body": {"en": "Snow & more"}, "published_at": "2026-03-01T08:00:00Z"}
{"type": "post", "ref": "unfinished", §, "component": "news", "title": {"en": "Winter too"}, "body": {"en": "B"}, "author": "bob"}
{"type": "component", "ref": "cards", §, "space": "streets", "manifest": "proposals", "name": {"en": "Cards"}, "published_at": "2026-01-05T09:00:00Z", "settings": {"awesome_voting_manifest": "voting_cards", "voting_cards_show_abstain": true}}
{"type": "proposal", "ref": "one", §, "component": "cards", "title": {"en": "One"}, "body": {"en": "B"}, "published_at": "2026-02-01T08:00:00Z"}
{"type": "vote", "ref": "zero", §, "proposal": "one", "user": "ada", "weight": 0}
{"type": "vote", "ref": "single", §, "proposal": "one", "user": "bob", "weight": 1}
{"type": "vote", "ref": "triple", §, "proposal": "one", "user": "cleo", "weight": 3}
{"type": "attachment", "ref": "map", §, "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "Map", "fr": "Plan détaillé"}, "link": "https://maps.example/streets"}
{"type": "attachment", "ref": "plan", §, "attached_to": {"type": "proposal", "ref": "one"}, "title": {"en": "Plan"}, "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
"#;

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&archive(RECORDS.trim_start()), &[]).await
}

/// A filter, and the refs of what it finds.
type Case<'a> = (&'a str, &'a str, &'a [&'a str]);

async fn check(service: &Service, client: &Client, list: &str, kind: &str, table: &[Case<'_>]) {
    for (key, value, expected) in table {
        let path = format!("{list}?per_page=100&{}", filter(key, value));
        finds(service, client, &path, kind, expected).await;
    }
}

#[tokio::test]
async fn meetings_are_found_by_words_times_and_places() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let agenda = id(&service, "component", "agenda").to_string();
        let table: &[Case<'_>] = &[
            ("title_cont", "REUNION", &["quarter"]),
            ("title_i_cont", "walk", &["walk"]),
            ("title_cont", "cafe", &[]),
            ("description_cont", "COFFEE", &["quarter"]),
            ("description_i_cont", "cafe", &["quarter"]),
            ("description_cont", "<p>", &[]),
            ("description_blank", "true", &["walk"]),
            ("search_text_cont", "café", &["quarter"]),
            ("search_text_cont", "al", &["walk"]),
            ("search_text_start", "reunion", &["quarter"]),
            ("start_time_gteq", "2026-05-01", &["walk"]),
            ("start_time_gt", "2026-05-01T08:00:00Z", &[]),
            ("start_time_lt", "2026-04-01T17:00:01Z", &["quarter"]),
            ("start_time", "2026-04-01T19:00:00+02:00", &["quarter"]),
            ("end_time_lteq", "2026-04-01T19:00:00Z", &["quarter"]),
            ("end_time_blank", "true", &["walk"]),
            ("end_time_present", "1", &["quarter"]),
            ("published_at_gteq", "2026-02-02", &["walk"]),
            ("component_id", &agenda, &["quarter"]),
            ("participatory_space_type", "Platform::Assembly", &["walk"]),
            ("created_at_gteq", "2026-01-01", &["quarter", "walk"]),
            ("updated_at_lt", "2026-01-01", &[]),
        ];
        check(&service, &ada, "/meetings", "meeting", table).await;
        let streets = id(&service, "space", "streets").to_string();
        let place = filter("participatory_space_type", "Platform::ParticipatoryProcess");
        let path = format!("/meetings?{}&{place}", filter("participatory_space_id", &streets));
        finds(&service, &ada, &path, "meeting", &["quarter"]).await;
        let refused = ada.get("/meetings?filter[votes_count_gt]=1").await;
        refused.refuses(400, "Unknown filter: votes_count_gt");
    }
}

#[tokio::test]
async fn posts_are_found_by_words_authors_and_times() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let [bob, news] =
            [("user", "bob"), ("component", "news")].map(|(kind, name)| id(&service, kind, name).to_string());
        let table: &[Case<'_>] = &[
            ("title_cont", "ete a", &["summer"]),
            ("title_i_cont", "WINTER", &["winter"]),
            ("body_cont", "sable", &["summer"]),
            ("body_cont", "snow & more", &["winter"]),
            ("body_cont", "</p>", &[]),
            ("search_text_cont", "PLAGE", &["summer"]),
            ("search_text_cont", "sn", &["winter"]),
            ("search_text_eq", "winter", &["winter"]),
            ("author_id", &bob, &["summer"]),
            ("author_id_not_eq", &bob, &[]),
            ("author_id_blank", "true", &["winter"]),
            ("component_id", &news, &["summer", "winter"]),
            ("participatory_space_type", "Platform::Assembly", &[]),
            ("published_at_gteq", "2026-02-02", &["winter"]),
            ("published_at_lt", "2026-02-01T08:00:00.001Z", &["summer"]),
            ("created_at_gteq", "2026-01-01", &["summer", "winter"]),
            ("state_not_eq", "rejected", &["summer", "winter"]),
            ("state_in", "rejected", &["summer", "winter"]),
        ];
        check(&service, &ada, "/blogs", "post", table).await;
        let writer = person(&service, "bob").await;
        let own: &[Case<'_>] = &[("search_text_cont", "winter", &["winter", "unfinished"])];
        check(&service, &writer, "/blogs", "post", own).await;
        ada.get("/blogs?filter[status_eq]=x").await.refuses(400, "Unknown filter: status_eq");
    }
}

#[tokio::test]
async fn people_spaces_and_components_are_found_by_their_names_and_times() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let users: &[Case<'_>] = &[
            ("name_cont", "MULLER", &["ada"]),
            ("name_i_cont", "novak", &["cleo"]),
            ("name_cont", "ΔΩΡΑ", &["dora"]),
            ("name_cont", "ön", &["bob"]),
            ("name", "Bob Stone", &["bob"]),
            ("name_start", "CLEO", &["cleo"]),
            ("name_cont", "%", &[]),
            ("created_at_gteq", "2026-01-01", &["ada", "bob", "cleo", "dora"]),
            ("updated_at_lt", "2026-01-01", &[]),
        ];
        check(&service, &ada, "/users", "user", users).await;
        let streets: &[Case<'_>] =
            &[("title_cont", "etroites", &["streets"]), ("title_i_cont", "STREETS", &["streets"])];
        check(&service, &ada, "/spaces/search", "space", streets).await;
        check(&service, &ada, "/spaces/participatory_processes", "space", streets).await;
        let found = ids(&ada, &format!("/spaces/assemblies?{}", filter("title_cont", "streets"))).await;
        assert_eq!(found, [] as [i64; 0]);
        let spaces: &[Case<'_>] = &[
            ("title_cont", "ou", &["council"]),
            ("published_at_gteq", "2026-02-01", &["council"]),
            ("published_at_blank", "true", &[]),
            ("created_at_gteq", "2026-01-01", &["streets", "council"]),
        ];
        check(&service, &ada, "/spaces/search", "space", spaces).await;
        let components: &[Case<'_>] = &[
            ("name_cont", "idees", &["ideas"]),
            ("name_i_cont", "ACTUALITES", &["news"]),
            ("name_cont", "on", &["motions", "sessions"]),
            ("published_at_gteq", "2026-02-01", &["motions"]),
            ("updated_at_lt", "2026-01-01", &[]),
        ];
        check(&service, &ada, "/components/search", "component", components).await;
    }
}

#[tokio::test]
async fn attachments_are_found_by_their_titles_and_votes_by_their_weights() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let attachments: &[Case<'_>] = &[
            ("title_cont", "DETAILLE", &["map"]),
            ("title_i_cont", "plan", &["map", "plan"]),
            ("title_cont", "p", &["map", "plan"]),
            ("title_cont", "hello", &[]),
            ("title", "Plan", &["plan"]),
            ("file_type", "link", &["map"]),
            ("created_at_gteq", "2026-01-01", &["map", "plan"]),
        ];
        check(&service, &ada, "/attachments", "attachment", attachments).await;
        let votes: &[Case<'_>] = &[
            ("weight", "3", &["triple"]),
            ("weight_gteq", "1", &["single", "triple"]),
            ("weight_lt", "1", &["zero"]),
            ("weight_in", "0", &["zero"]),
            ("weight_not_eq", "1", &["zero", "triple"]),
            ("created_at_gteq", "2026-01-01", &["zero", "single", "triple"]),
            ("updated_at_lt", "2026-01-01", &[]),
        ];
        check(&service, &ada, "/vote_proposals", "vote", votes).await;
    }
}
