//! Requests to a city of 10,000 proposals, and how many each finds.

use super::{archive, filter, id, ids, person, total, votes};
use civitas_tests::numbered_proposals;
use civitas_tests::service::{Client, Service};
use serde_json::json;
use std::cmp::Reverse;

/// Even numbers are in the process, odd ones in the assembly. Ada wrote those that end with 07, and those that end with 08
/// with Bob, who is their first author. Of the first twelve, `n` has `n % 4` votes.
fn proposals() -> String {
    let mut lines = numbered_proposals("metro", "ideas", 10_000, |n, line| {
        if n % 2 == 1 {
            line["component"] = json!("motions");
        }
        match n % 100 {
            7 => line["authors"] = json!(["ada"]),
            8 => line["authors"] = json!(["bob", "ada"]),
            _ => {}
        }
    });
    for n in 0..12 {
        lines.push_str(&votes(&format!("n{n}"), n % 4));
    }
    lines
}

/// One city serves all tables: it is large.
#[tokio::test]
async fn a_city_of_ten_thousand_proposals_finds_what_people_look_for() {
    for service in Service::on_both_engines_with(&archive(&proposals()), &[]).await {
        let ada = person(&service, "ada").await;
        texts_and_times(&service, &ada).await;
        numbers_places_and_authors(&service, &ada).await;
        refusals(&ada).await;
        pages_in_order(&service, &ada).await;
        pages_in_other_orders(&service, &ada).await;
        days_of_time_zones(&service, &ada).await;
        service.stop().await;
    }
}

async fn check(service: &Service, ada: &Client, table: &[(String, i64)]) {
    for (query, expected) in table {
        let path = format!("/proposals?per_page=1&{query}");
        assert_eq!(total(ada, &path).await, *expected, "{:?}: {query}", service.engine);
    }
}

async fn texts_and_times(service: &Service, ada: &Client) {
    let table = [
        ("title_cont", "number 77", 111),
        ("title_i_cont", "NUMBER 77", 111),
        ("search_text_cont", "number 77", 111),
        ("title_or_body_cont", "number 77", 111),
        ("published_at_gteq", "2025-02-20T00:00:00Z", 3213),
        ("published_at_lt", "2025-02-03T00:00:00Z", 716),
        ("search_text_i_cont", "Nùmber 77", 111),
        ("search_text_start", "PROPOSAL NUMBER 77", 111),
        ("search_text", "proposal NUMBER 77", 1),
        ("title_start", "PROPOSAL NUMBER 77", 111),
        ("title_matches", "%number 77%", 111),
        ("title", "Proposal number 77", 1),
        ("title_cont", "number", 10_000),
        ("title_cont", "r 77", 111),
        ("title_cont", "77", 280),
        ("title_cont", "number 10000", 0),
        ("body_cont", "SUMMER", 10_000),
        ("search_text_cont", "summer", 10_000),
        ("title_cont", "summer", 0),
        ("body_cont", "number 77", 0),
        // Number 0, and those 672 further on: 14 of them.
        ("published_at", "2025-02-01T00:00:00Z", 15),
        ("published_at", "2025-02-01T01:00:00+01:00", 15),
        ("published_at_in", "2025-02-01T00:00:00.000Z", 15),
        ("published_at_not_eq", "2025-02-01T00:00:00Z", 9985),
        ("published_at_gteq", "2025-02-28T23:00:00Z", 14),
        ("published_at_gt", "2025-02-28T23:00:00Z", 0),
        ("published_at_lteq", "2025-02-28T23:00:00Z", 10_000),
        ("published_at_blank", "true", 0),
        ("published_at_present", "true", 10_000),
        ("created_at_gt", "2025-03-01T00:00:00Z", 10_000),
        ("updated_at_lt", "2025-03-01T00:00:00Z", 0),
    ];
    let table = table.map(|(key, value, expected)| (filter(key, value), expected));
    check(service, ada, &table).await;
    let number = filter("title_cont", "number 77");
    let late = filter("published_at_gteq", "2025-02-20T00:00:00Z");
    let day = filter("published_at_lt", "2025-02-21T00:00:00Z");
    let combined = [
        (format!("{number}&{late}"), 33),
        (format!("{late}&{day}"), 357),
        (format!("{number}&{}", filter("search_text_cont", "summer")), 111),
        (format!("{number}&{}", filter("title_i_cont", "777")), 11),
    ];
    check(service, ada, &combined).await;
}

async fn numbers_places_and_authors(service: &Service, ada: &Client) {
    let (bob, author) = (user(ada, "bob").await, user(ada, "ada").await);
    let (ideas, motions) = (id(service, "component", "ideas"), id(service, "component", "motions"));
    let (streets, council) = (id(service, "space", "streets"), id(service, "space", "council"));
    let zero = zero(ada).await;
    let (first, last) = (zero + 99, zero + 9990);
    let number = |key: &str, value: i64, expected: i64| (filter(key, &value.to_string()), expected);
    let words = filter("title_cont", "number 77");
    let process = filter("participatory_space_type", "Platform::ParticipatoryProcess");
    let assembly = filter("participatory_space_type_eq", "Decidim::Assembly");
    let in_streets = filter("participatory_space_id", &streets.to_string());
    let of_ada = filter("author_id", &author.to_string());
    let table = [
        number("component_id", ideas, 5000),
        number("component_id_in", motions, 5000),
        number("component_id_not_eq", motions, 5000),
        (format!("{words}&component_id={ideas}"), 55),
        (format!("{words}&{}", filter("component_id", &ideas.to_string())), 55),
        (format!("{words}&space_manifest=assemblies"), 56),
        (process.clone(), 5000),
        (assembly.clone(), 5000),
        // Ids of spaces are numbered for each kind.
        (in_streets.clone(), if streets == council { 10_000 } else { 5000 }),
        (format!("{in_streets}&{process}"), 5000),
        (format!("{process}&{assembly}"), 0),
        number("author_id", author, 200),
        number("author_id", bob, 100),
        (format!("{words}&{of_ada}"), 2),
        (format!("{of_ada}&{}", filter("published_at_gteq", "2025-02-20T00:00:00Z")), 72),
        (format!("{of_ada}&{}", filter("author_id_eq", &bob.to_string())), 100),
        number("votes_count_gteq", 2, 6),
        number("votes_count", 1, 3),
        number("votes_count_lt", 1, 9991),
        number("proposal_votes_count_gt", 2, 3),
        number("proposal_votes_count_lteq", 2, 9997),
        (format!("{words}&{}", filter("votes_count", "0")), 111),
        number("id_lteq", first, 100),
        number("id_lt", first, 99),
        number("id_gteq", last, 10),
        number("id_gt", last, 9),
        (format!("{words}&{}", filter("id_lteq", &first.to_string())), 1),
    ];
    check(service, ada, &table).await;
}

async fn refusals(ada: &Client) {
    for key in ["published_at_cont", "votes_count_cont", "title_lt", "search_text_gteq", "body_gt"] {
        let refused = ada.get(&format!("/proposals?{}", filter(key, "1"))).await;
        refused.refuses(400, &format!("Unknown filter: {key}"));
    }
    for (key, value) in [
        ("published_at_gteq", "yesterday"),
        ("published_at_lt", "2025-02-30"),
        ("updated_at_gteq", "2025-02-20T00:00:00"),
        ("created_at", "1"),
        ("votes_count_gteq", "many"),
        ("id_lteq", "9223372036854775808"),
        ("author_id", "ada"),
    ] {
        let refused = ada.get(&format!("/proposals?{}", filter(key, value))).await;
        refused.refuses(400, &format!("Invalid value for filter {key}"));
    }
}

/// The id of a user: the report of so many records does not name it.
async fn user(ada: &Client, nickname: &str) -> i64 {
    ada.get(&format!("/users?{}", filter("nickname", nickname))).await.is(200).ids()[0]
}

/// The id of the first proposal. The ids of the others follow.
async fn zero(ada: &Client) -> i64 {
    ada.get(&format!("/proposals?{}", filter("title", "Proposal number 0"))).await.is(200).ids()[0]
}

/// The ids of the numbers that begin with these digits, in an order.
fn numbers<K: Ord>(zero: i64, digits: &str, key: impl Fn(i64) -> K) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..10_000).filter(|n: &i64| n.to_string().starts_with(digits)).collect();
    numbers.sort_by_key(|n| key(*n));
    numbers.into_iter().map(|n| zero + n).collect()
}

/// When a number was published, as day and hour.
fn time_of(n: i64) -> (i64, i64) {
    (n % 28, n / 28 % 24)
}

/// Pages near the first and far from it, each row once.
async fn pages_in_order(service: &Service, ada: &Client) {
    let zero = zero(ada).await;
    for (digits, per_page) in [("77", 20), ("7", 100), ("7777", 1)] {
        let path = |more: &str| {
            let words = filter("title_cont", &format!("number {digits}"));
            format!("/proposals?per_page={per_page}&{words}{more}")
        };
        let ascending = numbers(zero, digits, |n| (time_of(n), n));
        assert_eq!(ids(ada, &path("")).await, ascending, "{:?}, {digits}", service.engine);
        let descending = numbers(zero, digits, |n| (Reverse(time_of(n)), n));
        let found = ids(ada, &path("&order_direction=desc")).await;
        assert_eq!(found, descending, "{:?}, {digits}", service.engine);
    }
}

async fn pages_in_other_orders(service: &Service, ada: &Client) {
    let (words, zero) = (filter("search_text_cont", "number 77"), zero(ada).await);
    let all = numbers(zero, "77", |n| n);
    // An import writes all of them at one time.
    for order in ["id", "created_at", "updated_at", "votes_count"] {
        for direction in ["asc", "desc"] {
            let path = format!("/proposals?per_page=25&{words}&order={order}&order_direction={direction}");
            let mut found = ids(ada, &path).await;
            if (order, direction) == ("id", "desc") {
                found.reverse();
            }
            assert_eq!(found, all, "{:?}: {order} {direction}", service.engine);
        }
    }
    // A word of every proposal filters nothing.
    for query in ["order_direction=desc", "order=votes_count&order_direction=desc", "order=id"] {
        for page in [1, 2, 30] {
            let path = format!("/proposals?per_page=50&page={page}&{query}");
            let expected = ada.get(&path).await.is(200).ids();
            let found = ada.get(&format!("{path}&{}", filter("title_cont", "proposal"))).await.is(200).ids();
            assert_eq!(found, expected, "{:?}: {path}", service.engine);
        }
    }
    let most_voted = "/proposals?per_page=10&order=votes_count&order_direction=desc";
    let expected = [3, 7, 11, 2, 6, 10, 1, 5, 9, 0].map(|n| zero + n);
    assert_eq!(ada.get(most_voted).await.is(200).ids(), expected);
}

/// A day begins at the midnight of the organization. In February New York is 5 hours behind UTC, and Tokyo 9 ahead:
///
/// - before 3 February 5:00 UTC are the 716 of two days, and five hours of the third: hours 0 to 21 of that day have 15
///   proposals each, as its 358 numbers fill 14 whole days and 22 hours. 716 + 5 · 15 = 791.
/// - before 2 February 15:00 UTC are the 358 of the first day, and 15 hours of the second. 358 + 15 · 15 = 583.
/// - from 20 February 5:00 UTC on the first five hours of that day are missing. 3213 - 5 · 15 = 3138.
/// - from 19 February 15:00 UTC on there are also the last nine hours of that day: its 357 numbers fill 14 days and 21
///   hours, so three of the nine hours have 14. 3213 + 6 · 15 + 3 · 14 = 3345.
async fn days_of_time_zones(service: &Service, ada: &Client) {
    let system = service.at("metro.test").of_system("whole_deployment").await;
    let path = format!("/organizations/{}/sync", id(service, "organization", "metro"));
    for (zone, before_the_third, from_the_twentieth) in [
        ("UTC", 716, 3213),
        ("America/New_York", 791, 3138),
        ("Asia/Tokyo", 583, 3345),
        ("Etc/UTC", 716, 3213),
    ] {
        system.put(&path, &json!({"data": {"time_zone": zone}})).await.is(200);
        let table = [
            (filter("published_at_lt", "2025-02-03"), before_the_third),
            (filter("published_at_gteq", "2025-02-20"), from_the_twentieth),
            // With an offset the zone does not matter.
            (filter("published_at_lt", "2025-02-03T00:00:00Z"), 716),
            (filter("published_at_gteq", "2025-02-20T02:00:00+02:00"), 3213),
        ];
        for (query, expected) in &table {
            let found = total(ada, &format!("/proposals?per_page=1&{query}")).await;
            assert_eq!(found, *expected, "{:?}, {zone}: {query}", service.engine);
        }
    }
}
