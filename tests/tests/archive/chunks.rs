//! Records of one type are written several at a time; what is stored and what is refused does not depend on that.

use crate::archive::{CITY, NOW, ids, read};
use civitas_kernel::records::Records;
use civitas_kernel::{Locale, ProposalId, UserId, VoteId};
use civitas_proposals::{Proposal, Vote};
use civitas_tests::{Database, Engine, databases};
use std::time::{Duration, Instant};

/// The most records that are written together.
const CHUNK: usize = 500;

/// The number of the first line after [`CITY`].
fn first_line() -> usize {
    CITY.lines().count() + 1
}

fn user(n: usize) -> String {
    format!(
        r#"{{"type": "user", "ref": "u{n}", "organization": "city", "nickname": "user_{n}", "email": "u{n}@city.example", "name": "User {n}"}}"#
    )
}

fn proposal(n: usize) -> String {
    let author = if n.is_multiple_of(3) { format!(r#""u{n}""#) } else { String::new() };
    format!(
        r#"{{"type": "proposal", "ref": "p{n}", "organization": "city", "component": "ideas", "title": {{"en": "Title {n}"}}, "body": {{"en": "Body"}}, "authors": [{author}], "published_at": "2026-02-09T09:00:00Z", "state": "pilot", "state_published_at": "2026-02-10T09:00:00Z"}}"#
    )
}

fn vote(reference: &str, proposal: usize, user: usize) -> String {
    format!(
        r#"{{"type": "vote", "ref": "{reference}", "organization": "city", "proposal": "p{proposal}", "user": "u{user}"}}"#
    )
}

/// [`CITY`], and as many users and proposals.
fn people(number: usize) -> String {
    let users = (0..number).map(user);
    let lines: Vec<String> = users.chain((0..number).map(proposal)).collect();
    format!("{CITY}{}\n", lines.join("\n"))
}

/// The same, and as many votes; each user votes on one proposal.
fn records(number: usize) -> String {
    let votes: Vec<String> = (0..number).map(|n| vote(&format!("vote{n}"), n, number - 1 - n)).collect();
    format!("{}{}\n", people(number), votes.join("\n"))
}

#[tokio::test]
async fn every_number_of_records_is_stored_as_it_is_written() {
    for number in [1, CHUNK - 1, CHUNK, CHUNK + 1] {
        for database in databases().await {
            let store = &*database.store;
            let report = read(store, &records(number), false).await.unwrap();
            let created = number as u64;
            assert_eq!((report.created["user"], report.created["proposal"]), (created + 2, created + 3));
            let (city, _) = ids(&report, "nora");
            let refs = &report.refs["city"];
            let in_order: Vec<i64> = (0..number).map(|n| refs["proposal"][&format!("p{n}")]).collect();
            assert!(in_order.is_sorted(), "ids ascend as the lines do: {in_order:?}");
            for n in [0, number / 2, number - 1] {
                let users = &refs["user"];
                let stored =
                    store.users().find(city, UserId(users[&format!("u{n}")])).await.unwrap().unwrap();
                assert_eq!(stored.nickname, format!("user_{n}"));
                let id = ProposalId(refs["proposal"][&format!("p{n}")]);
                let stored: Proposal = store.proposals().find(city, id).await.unwrap().unwrap();
                assert_eq!(stored.title.get(Locale::EN), Some(format!("Title {n}").as_str()));
                let authors: Vec<UserId> =
                    n.is_multiple_of(3).then(|| UserId(users[&format!("u{n}")])).into_iter().collect();
                assert_eq!(stored.authors, authors);
                assert!(stored.state.is_some());
                let vote: Vote = store
                    .votes()
                    .find(city, VoteId(refs["vote"][&format!("vote{n}")]))
                    .await
                    .unwrap()
                    .unwrap();
                let voter = UserId(users[&format!("u{}", number - 1 - n)]);
                assert_eq!((vote.proposal, vote.user), (id, voter));
                assert!(vote.temporary, "two votes are the minimum");
            }
        }
    }
}

#[tokio::test]
async fn votes_of_a_chunk_are_final_when_their_user_has_enough() {
    let votes = [vote("x0", 0, 0), vote("x1", 1, 0), vote("x2", 2, 1)].join("\n");
    let archive = format!("{}{votes}\n", people(3));
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, &archive, false).await.unwrap();
        let (city, nora) = ids(&report, "nora");
        let votes = Records::<Vote>::page_after(store.votes(), city, None, 100).await.unwrap();
        let temporary: Vec<bool> =
            votes.iter().filter(|(_, vote)| vote.user != nora).map(|(_, vote)| vote.temporary).collect();
        assert_eq!(temporary, [false, false, true]);
    }
}

#[tokio::test]
async fn proposals_have_their_number_of_final_votes_after_an_import() {
    const WRONG: &str = "SELECT count(*) AS number FROM proposals WHERE votes_count <> \
         (SELECT count(*) FROM votes WHERE proposal_id = proposals.id AND NOT temporary)";
    const ALL: &str = "SELECT CAST(sum(votes_count) AS bigint) AS number FROM proposals";
    let lines = |begin: &str, users: std::ops::Range<usize>, next: usize| -> String {
        users.map(|n| vote(&format!("{begin}{n}"), n + next, n) + "\n").collect()
    };
    // The last ten users have one vote, two are the minimum.
    let first = format!("{}{}{}", people(120), lines("a", 0..110, 0), lines("b", 0..100, 1));
    let changed = vote("a0", 0, 0).replace('}', r#", "weight": 3}"#);
    let second = format!("{}{}\n{changed}\n", lines("b", 100..110, 1), user(120));
    let refused = format!("{}{}\n{}\n", lines("c", 110..118, 0), lines("d", 110..118, 1), vote("e", 0, 999));
    for database in databases().await {
        let counts = async || (database.number(WRONG).await, database.number(ALL).await);
        read(&*database.store, &first, false).await.unwrap();
        assert_eq!(counts().await, (0, 200));
        read(&*database.store, &second, false).await.unwrap();
        assert_eq!(counts().await, (0, 220));
        read(&*database.store, &refused, false).await.unwrap_err();
        assert_eq!(counts().await, (0, 220));
    }
}

#[tokio::test]
async fn the_first_record_of_a_chunk_that_is_refused_is_named_and_nothing_is_stored() {
    let (count, first) = (40, first_line());
    let city = records(count);
    let end = city.lines().count() + 1;
    let user_again = user(1).replace(r#""u1""#, r#""u900""#).replace("user_1", "somebody");
    let draft = |n: usize| {
        proposal(n)
            .replace(r#""published_at": "2026-02-09T09:00:00Z""#, r#""published_at": null"#)
            .replace(r#""authors": []"#, r#""authors": ["u1"]"#)
    };
    let cases = [
        (
            format!("{city}{}\n{}\n", vote("x1", 1, 1), vote("x2", 1, 1)),
            format!(r#"line {}: vote "x2": the user has already voted on the proposal"#, end + 1),
        ),
        (
            format!("{city}{}\n{}\n", user(901), user_again),
            format!(r#"line {}: user "u900": email "u1@city.example" has already been taken"#, end + 1),
        ),
        (
            format!("{city}{}\n{}\n", draft(1000), draft(1001)),
            format!(r#"line {}: proposal "p1001": an author has another draft in the component"#, end + 1),
        ),
        (
            city.replacen("u7@city.example", "u3@city.example", 1),
            format!(r#"line {}: user "u7": email "u3@city.example" has already been taken"#, first + 7),
        ),
    ];
    for database in databases().await {
        for (archive, reason) in &cases {
            let refused = read(&*database.store, archive, false).await.unwrap_err();
            assert_eq!(&refused.to_string(), reason);
            assert_eq!(database.store.organizations().ids(None, 10).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn a_record_of_a_chunk_can_be_one_of_an_earlier_line() {
    let same_ref = user(1).replace("User 1", "Other name");
    let same_nickname = user(2).replace(r#""u2""#, r#""u902""#).replace("User 2", "Third name");
    let archive = format!("{CITY}{}\n{}\n{same_ref}\n{same_nickname}\n", user(1), user(2));
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, &archive, false).await.unwrap();
        assert_eq!((report.created["user"], report.updated["user"]), (4, 2));
        let (city, _) = ids(&report, "nora");
        let users = &report.refs["city"]["user"];
        assert_eq!(users["u2"], users["u902"]);
        for (reference, name) in [("u1", "Other name"), ("u2", "Third name")] {
            let found = store.users().find(city, UserId(users[reference])).await.unwrap().unwrap();
            assert_eq!((found.name.as_str(), found.updated_at), (name, NOW));
        }
    }
}

/// Compares an archive whose types alternate, so that each record is written alone, with the same records by type.
/// `CIVITAS_TEST_IMPORT_RECORDS` is their number.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how long a test runs is no setting of the server")]
async fn records_by_type_are_those_that_alternate_and_their_rates_are_printed() {
    let number = std::env::var("CIVITAS_TEST_IMPORT_RECORDS").ok().and_then(|number| number.parse().ok());
    let number = number.unwrap_or(900) / 3;
    let line = |n: usize| [user(n), proposal(n), vote(&format!("vote{n}"), n, n)].join("\n");
    let alternating: Vec<String> = (0..number).map(line).collect();
    let alternating = format!("{CITY}{}\n", alternating.join("\n"));
    for engine in Engine::BOTH {
        let mut times = Vec::new();
        let mut stored = Vec::new();
        for archive in [&alternating, &records(number)] {
            let Some(database) = Database::fresh(engine).await else { continue };
            let begun = Instant::now();
            let report = read(&*database.store, archive, false).await.unwrap();
            times.push(begun.elapsed());
            stored.push((report.created, database.count("votes", "temporary").await));
        }
        let [alone, together] = times.as_slice() else { continue };
        assert_eq!(stored[0], stored[1]);
        let rate = |time: &Duration| 3_000 * number as u128 / time.as_millis().max(1);
        println!("{engine:?}: {} records/s alone, {} together", rate(alone), rate(together));
    }
}

#[tokio::test]
async fn the_words_of_imported_records_are_in_the_index() {
    for database in databases().await {
        let store = &*database.store;
        read(store, &people(CHUNK), false).await.unwrap();
        assert_eq!(store.missing_texts().index().await.unwrap(), 0);
    }
}
