//! Orders of proposals: by a column, then by ascending id, in both directions (contract 06 §1.5).

use super::{archive, filter, finds, id, ids, person, rows, votes};
use civitas_tests::service::Service;
use serde_json::{Value, json};

/// The proposals; the last one is a draft of Ada.
const PROPOSALS: i64 = 31;
const DRAFT: i64 = PROPOSALS - 1;

/// Whether a proposal is in the component that hides its votes.
fn is_quiet(n: i64) -> bool {
    n % 3 == 0 && n != DRAFT
}

/// The votes on a proposal.
fn votes_on(n: i64) -> i64 {
    if n == DRAFT { 0 } else { n % 4 }
}

fn proposals() -> String {
    let mut lines = concat!(
        r#"{"type": "component", "ref": "quiet", §, "space": "council", "manifest": "proposals", "name": {"en": "Quiet"}, "#,
        r#""published_at": "2026-01-05T09:00:00Z", "default_step_settings": {"votes_enabled": true, "votes_hidden": true}}"#,
        "\n"
    )
    .to_owned();
    for n in 0..PROPOSALS {
        let mut line = json!({"type": "proposal", "ref": format!("n{n}"), "organization": "metro",
            "component": if is_quiet(n) { "quiet" } else { "ideas" },
            "title": {"en": format!("Ordered {n}")}, "body": {"en": "0"},
            "created_at": format!("2026-01-{:02}T09:00:00Z", 1 + n % 5),
            "updated_at": format!("2026-02-{:02}T09:00:00Z", 1 + n % 7),
            "published_at": format!("2026-03-01T{:02}:00:00Z", n % 6)});
        if n == DRAFT {
            (line["published_at"], line["authors"]) = (Value::Null, json!(["ada"]));
        }
        lines.extend([line.to_string().as_str(), "\n"]);
    }
    for n in 0..PROPOSALS {
        lines.push_str(&votes(&format!("n{n}"), usize::try_from(votes_on(n)).unwrap()));
    }
    lines
}

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&archive(&proposals()), &[]).await
}

/// What a proposal is sorted by.
fn value(order: &str, n: i64) -> i64 {
    match order {
        "id" => n,
        "created_at" => n % 5,
        "updated_at" => n % 7,
        "votes_count" if is_quiet(n) => 0,
        "votes_count" => votes_on(n),
        // A draft comes last ascending, and first descending.
        "published_at" if n == DRAFT => i64::MAX,
        _ => n % 6,
    }
}

/// The ids of these numbers in an order.
fn sorted(service: &Service, order: &str, direction: &str, is_member: impl Fn(i64) -> bool) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..PROPOSALS).filter(|n| is_member(*n)).collect();
    let sign = if direction == "desc" { -1 } else { 1 };
    numbers.sort_by_key(|n| (sign * value(order, *n), *n));
    numbers.into_iter().map(|n| id(service, "proposal", &format!("n{n}"))).collect()
}

const ORDERS: [&str; 5] = ["id", "created_at", "updated_at", "votes_count", "published_at"];

#[tokio::test]
async fn pages_of_each_order_have_each_proposal_once() {
    for service in services().await {
        let (ada, bob) = (person(&service, "ada").await, person(&service, "bob").await);
        let ideas = id(&service, "component", "ideas");
        let quiet = id(&service, "component", "quiet");
        let words = filter("title_cont", "ordered");
        for order in ORDERS {
            for direction in ["asc", "desc"] {
                let path = format!("/proposals?per_page=7&order={order}&order_direction={direction}");
                let context = format!("{:?}: {order} {direction}", service.engine);
                let all = sorted(&service, order, direction, |_| true);
                assert_eq!(ids(&ada, &path).await, all, "{context}");
                assert_eq!(ids(&ada, &format!("{path}&{words}")).await, all, "{context}, with words");
                let published = sorted(&service, order, direction, |n| n != DRAFT);
                assert_eq!(ids(&bob, &path).await, published, "{context}, without the draft");
                let part = sorted(&service, order, direction, |n| !is_quiet(n));
                let found = ids(&ada, &format!("{path}&component_id={ideas}")).await;
                assert_eq!(found, part, "{context}, in a component");
                let part = sorted(&service, order, direction, is_quiet);
                let found = ids(&ada, &format!("{path}&component_id={quiet}&{words}")).await;
                assert_eq!(found, part, "{context}, in the component that hides its votes");
                let part = sorted(&service, order, direction, |n| n % 5 == 0);
                let day = filter("created_at_lt", "2026-01-02");
                assert_eq!(ids(&ada, &format!("{path}&{day}")).await, part, "{context}, of one day");
            }
        }
        ada.get("/proposals?order=title").await.refuses(400, "Unknown order title");
        ada.get("/blogs?order=votes_count").await.refuses(400, "Unknown order votes_count");
    }
}

#[tokio::test]
async fn the_neighbours_of_a_proposal_are_those_of_the_order() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        for (order, direction) in [("votes_count", "desc"), ("votes_count", "asc"), ("updated_at", "desc")] {
            let all = sorted(&service, order, direction, |_| true);
            for (at, shown) in all.iter().enumerate() {
                let path = format!("/proposals/{shown}?order={order}&order_direction={direction}");
                let seen = ada.get(&path).await.is(200);
                let beside = |link: &str| -> Option<i64> {
                    seen.data()["links"][link]["meta"]["resource_id"].as_str()?.parse().ok()
                };
                let expected = (all.get(at + 1).copied(), at.checked_sub(1).map(|before| all[before]));
                assert_eq!((beside("next"), beside("prev")), expected, "{:?}: {path}", service.engine);
            }
        }
    }
}

#[tokio::test]
async fn hidden_numbers_of_votes_are_neither_shown_nor_found() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let all = rows(&ada, "/proposals?per_page=100&order=id").await;
        assert_eq!(all.len(), usize::try_from(PROPOSALS).unwrap());
        for (row, n) in all.iter().zip(0..) {
            let shown = if is_quiet(n) || n == DRAFT { Value::Null } else { json!(votes_on(n)) };
            assert_eq!(row["meta"]["votes_count"], shown, "{:?}: {n}", service.engine);
        }
        for least in [1, 2, 3] {
            let names: Vec<String> = (0..PROPOSALS)
                .filter(|n| !is_quiet(*n) && votes_on(*n) >= least)
                .map(|n| format!("n{n}"))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for key in ["votes_count_gteq", "proposal_votes_count_gteq"] {
                let path = format!("/proposals?per_page=100&{}", filter(key, &least.to_string()));
                finds(&service, &ada, &path, "proposal", &names).await;
            }
        }
    }
}
