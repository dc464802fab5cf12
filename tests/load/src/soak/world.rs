//! The city of a soak run, with its clients.

use crate::Outcome;
use crate::city::{self, nickname};
use crate::client::{BASE, Client};
use crate::pace::Tally;
use crate::process::Process;
use crate::soak::ledger::Ledger;
use crate::stage::Home;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// The scope of a user's token.
const USER_SCOPE: &str = "public proposals blogs";
/// The scope of the client's own token.
const CLIENT_SCOPE: &str = "public proposals blogs attachments webhooks";
/// The event of the receiver and of the stream: each new draft causes one.
pub const EVENT: &str = "draft_proposal_creation.succeeded";

/// What requests need.
pub struct World {
    /// The client with its own token.
    pub client: Client,
    /// A client for each user.
    pub users: Vec<Client>,
    /// Users without a draft: each has one at most.
    pub without_draft: Mutex<Vec<Client>>,
    /// The id of the first proposal; the others follow without gaps.
    pub first: u64,
    /// How many there are.
    pub proposals: u64,
    /// The component of the proposals.
    pub ideas: String,
    /// The component of the posts.
    pub news: String,
    /// The last validator of each proposal.
    pub etags: Mutex<HashMap<u64, String>>,
    /// The number of the next vote.
    pub votes: AtomicU64,
    /// The number of the next post.
    pub posts: AtomicU64,
    /// What was acknowledged.
    pub ledger: Ledger,
    /// What was answered.
    pub tally: Tally,
}

impl World {
    /// Signs in the clients of a city.
    pub async fn of(server: &Process, users: u64, proposals: u64) -> Outcome<Self> {
        let anonymous = Client::new(server.address)?;
        let client = anonymous.bearing(&anonymous.token_for(CLIENT_SCOPE).await?);
        let mut tokens = Vec::new();
        for user in 0..users {
            let token = anonymous.token_of(Some(&nickname(user)), USER_SCOPE).await?;
            tokens.push(anonymous.bearing(&token));
        }
        let first = id_of(&client, "/proposals?per_page=1").await?.parse()?;
        client.get(&format!("{BASE}/proposals/{}", first + proposals - 1), None).await?.is(200)?;
        Ok(Self {
            ideas: id_of(&client, "/components/proposal_components").await?,
            news: id_of(&client, "/components/blog_components").await?,
            without_draft: Mutex::new(tokens.clone()),
            users: tokens,
            client,
            first,
            proposals,
            etags: Mutex::default(),
            votes: AtomicU64::new(0),
            posts: AtomicU64::new(0),
            ledger: Ledger::default(),
            tally: Tally::default(),
        })
    }

    /// The user of a number.
    pub fn user(&self, number: u64) -> &Client {
        &self.users[usize::try_from(number).unwrap_or_default() % self.users.len()]
    }

    /// The user and the proposal of a vote; no pair comes twice before all have come.
    pub fn pair(&self, vote: u64) -> (u64, u64) {
        pair(self.users.len() as u64, self.proposals, vote)
    }
}

fn pair(users: u64, proposals: u64, vote: u64) -> (u64, u64) {
    let user = vote % users;
    (user, (vote / users + user * 37) % proposals)
}

/// The id of the first record of a list.
async fn id_of(client: &Client, path: &str) -> Outcome<String> {
    let list = client.get(&format!("{BASE}{path}"), None).await?.is(200)?.json()?;
    Ok(list["data"][0]["id"].as_str().ok_or_else(|| format!("{path} is empty"))?.to_owned())
}

/// Imports the city into the database of this server.
pub fn build(home: &Home, users: u64, proposals: u64) -> Outcome {
    let archive = home.file("city.ndjson");
    let mut out = BufWriter::new(File::create(&archive)?);
    let proposals = (0..proposals).map(|number| city::proposal(number, number % users));
    for record in foundation().into_iter().chain((0..users).map(city::citizen)).chain(proposals) {
        writeln!(out, "{record}")?;
    }
    out.flush()?;
    let database = home.served()?;
    home.run_one(&database, &["migrate"])?;
    home.run_one(&database, &["import", "--quiet", &archive.display().to_string()])
}

fn foundation() -> Vec<Value> {
    let mut records = city::foundation().to_vec();
    for client in records.iter_mut().filter(|record| record["type"] == "api_client") {
        client["scopes"] = json!(["public", "proposals", "blogs", "attachments", "webhooks"]);
        client["permissions"] = json!([
            "oauth.impersonate",
            "public.component.read",
            "public.space.read",
            "proposals.read",
            "proposals.vote",
            "proposals.draft",
            "blogs.read",
            "blogs.write",
            "attachments.read",
            "attachments.write",
            "webhooks.read",
            "webhooks.write",
            EVENT
        ]);
    }
    let began = "2026-01-05T09:00:00Z";
    records.push(json!({"type": "component", "ref": "news", "organization": "city", "space": "council",
        "manifest": "blogs", "name": {"en": "News"}, "published_at": began, "created_at": began}));
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_user_votes_twice_on_a_proposal_before_all_pairs_have_come() {
        let pairs: HashSet<_> = (0..7 * 90).map(|vote| pair(7, 90, vote)).collect();
        assert_eq!(pairs.len(), 7 * 90);
        assert!(pairs.iter().all(|(user, proposal)| *user < 7 && *proposal < 90));
    }
}
