//! What the server acknowledged, and the check at the end that it is there, once.

use crate::Outcome;
use crate::client::{BASE, Client};
use crate::soak::world::World;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records on a page.
const PAGE: usize = 100;
/// The most missing records that are named.
const NAMED: usize = 10;

/// Writes that were acknowledged: by a 2xx of a synchronous write, or by a job that is completed.
#[derive(Default)]
pub struct Ledger(Mutex<Acknowledged>);

#[derive(Default)]
struct Acknowledged {
    /// Titles.
    posts: Vec<String>,
    /// Number of the user, id of the proposal.
    votes: Vec<(u64, u64)>,
    /// Ids.
    attachments: Vec<String>,
    drafts: u64,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Acknowledged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A post was created.
    pub fn post(&self, title: String) {
        self.lock().posts.push(title);
    }

    /// A vote was cast.
    pub fn vote(&self, user: u64, proposal: u64) {
        self.lock().votes.push((user, proposal));
    }

    /// A file was attached.
    pub fn attachment(&self, id: String) {
        self.lock().attachments.push(id);
    }

    /// A draft was created.
    pub fn draft(&self) {
        self.lock().drafts += 1;
    }

    /// The number of drafts, each with one event.
    pub fn drafts(&self) -> u64 {
        self.lock().drafts
    }

    /// The number of writes.
    pub fn writes(&self) -> usize {
        let all = self.lock();
        all.posts.len() + all.votes.len() + all.attachments.len()
    }
}

/// Compares the ledger with the server. Returns what is wrong.
pub async fn check(world: &World) -> Outcome<Vec<String>> {
    let (posts, votes, attachments) = {
        let all = world.ledger.lock();
        (all.posts.clone(), all.votes.clone(), all.attachments.clone())
    };
    let mut wrong = compare(&posts, &titles(&world.client).await?);
    let mut found = HashSet::new();
    for (user, client) in (0_u64..).zip(&world.users) {
        for record in all(client, "/proposals?filter%5Bvoted_weight_present%5D=true&").await? {
            found.insert((user, record["id"].as_str().unwrap_or_default().parse::<u64>()?));
        }
    }
    let missing = votes.iter().filter(|vote| !found.contains(vote));
    wrong.extend(missing.map(|(user, proposal)| format!("the vote of user {user} on {proposal} is missing")));
    for id in attachments {
        let answer = world.client.get(&format!("{BASE}/attachments/{id}"), None).await?;
        if answer.status != 200 {
            wrong.push(format!("attachment {id}: {}", answer.status));
        }
    }
    Ok(wrong)
}

/// What is missing, and what is there twice.
fn compare(acknowledged: &[String], found: &HashMap<String, usize>) -> Vec<String> {
    let missing = acknowledged.iter().filter(|title| !found.contains_key(*title));
    let twice = found.iter().filter(|(_, count)| **count > 1);
    let missing = missing.map(|title| format!("{title:?} is missing"));
    missing.chain(twice.map(|(title, count)| format!("{title:?} is there {count} times"))).collect()
}

/// How often each title is in the list of posts.
async fn titles(client: &Client) -> Outcome<HashMap<String, usize>> {
    let mut titles = HashMap::new();
    for post in all(client, "/blogs?").await? {
        let title = post["attributes"]["title"]["en"].as_str().unwrap_or_default().to_owned();
        *titles.entry(title).or_default() += 1;
    }
    Ok(titles)
}

/// All records of a list.
async fn all(client: &Client, path: &str) -> Outcome<Vec<Value>> {
    let mut records = Vec::new();
    for page in 1.. {
        let path = format!("{BASE}{path}per_page={PAGE}&page={page}");
        let Value::Array(found) = client.get(&path, None).await?.is(200)?.json()?["data"].take() else {
            return Err(format!("{path} is not a list").into());
        };
        let is_last = found.len() < PAGE;
        records.extend(found);
        if is_last {
            break;
        }
    }
    Ok(records)
}

/// The first of them, and how many there are.
pub fn summary(wrong: &[String]) -> String {
    format!(
        "{} of the acknowledged writes are wrong: {}",
        wrong.len(),
        wrong[..wrong.len().min(NAMED)].join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_write_and_one_that_was_applied_twice_are_found() {
        let acknowledged = ["a", "b", "c"].map(str::to_owned);
        let found = [("a", 1), ("c", 2), ("d", 1)].map(|(title, count)| (title.to_owned(), count));
        let wrong = compare(&acknowledged, &found.into());
        assert_eq!(wrong, ["\"b\" is missing", "\"c\" is there 2 times"]);
    }
}
