//! The requests of the mixed load.

use crate::client::{Answer, BASE, Client, grant};
use crate::soak::world::World;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The part of each kind in 100 requests.
const MIX: [(Kind, u64); 16] = [
    (Kind::Proposal, 14),
    (Kind::Conditional, 14),
    (Kind::List, 10),
    (Kind::Filter, 5),
    (Kind::OwnVotes, 3),
    (Kind::Posts, 6),
    (Kind::Spaces, 4),
    (Kind::Components, 4),
    (Kind::Component, 4),
    (Kind::Vote, 8),
    (Kind::VoteJob, 6),
    (Kind::Post, 6),
    (Kind::PostJob, 6),
    (Kind::Token, 5),
    (Kind::Draft, 3),
    (Kind::Upload, 2),
];
/// How often a job is read, at first; then half as often each time.
const POLL: Duration = Duration::from_millis(20);
/// The longest time between two readings of a job.
const SLOWEST_POLL: Duration = Duration::from_secs(1);
/// How long a job may take.
const TIMEOUT: Duration = Duration::from_secs(180);
/// The file that is uploaded, and its MD5 digest (contract 07 B.6).
const FILE: &str = "hello world\n";
const DIGEST: &str = "b1kCrCNwJL3QwXbLkwY9xA%3D%3D";

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One proposal, with a parameter without meaning, so that no cached response answers it.
    Proposal,
    /// One proposal, with its last validator.
    Conditional,
    /// A page of proposals.
    List,
    /// Proposals by a filter.
    Filter,
    /// Proposals that a user voted on.
    OwnVotes,
    /// A page of posts.
    Posts,
    /// A search of spaces.
    Spaces,
    /// A search of components.
    Components,
    /// One component, with its counts.
    Component,
    /// A synchronous vote.
    Vote,
    /// A vote as a job.
    VoteJob,
    /// A synchronous post.
    Post,
    /// A post as a job.
    PostJob,
    /// A token.
    Token,
    /// A draft, with its event; then it is deleted.
    Draft,
    /// A file: requested, sent, attached.
    Upload,
}

/// The kind of a request. Neighbours differ; the sequence is the same in each run.
pub fn kind_of(number: u64) -> Kind {
    let mut left = scatter(number) % 100;
    for (kind, part) in MIX {
        if left < part {
            return kind;
        }
        left -= part;
    }
    Kind::Proposal
}

/// A number that looks random (the finalizer of `SplitMix64`).
pub fn scatter(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl World {
    /// Sends the request of a number, and what belongs to it, to its end.
    pub async fn execute(&self, kind: Kind, number: u64, due: Instant) {
        match kind {
            Kind::Vote | Kind::VoteJob => self.vote(kind, due).await,
            Kind::Post | Kind::PostJob => self.post(kind, due).await,
            Kind::Token => {
                let answer = self.client.post("/oauth/token", &grant(), None).await;
                self.tally.measure("a token", due, answer, &[200]);
            }
            Kind::Draft => self.draft(due).await,
            Kind::Upload => self.upload(number, due).await,
            Kind::Conditional => self.conditional(number, due).await,
            read => {
                let (client, path) = self.read_of(read, number);
                let answer = client.get(&format!("{BASE}{path}"), None).await;
                self.tally.measure(&path, due, answer, &[200]);
            }
        }
    }

    fn proposal(&self, number: u64) -> u64 {
        self.first + scatter(number ^ 0xff) % self.proposals
    }

    fn read_of(&self, kind: Kind, number: u64) -> (&Client, String) {
        let page = scatter(number ^ 0xfff) % 50 + 1;
        let path = match kind {
            Kind::List => format!("/proposals?page={page}&n={number}"),
            Kind::Filter => {
                let id = self.proposal(number);
                format!("/proposals?filter%5Bid_lt%5D={id}&filter%5Bstate_blank%5D=true")
            }
            Kind::OwnVotes => "/proposals?filter%5Bvoted_weight_present%5D=true".to_owned(),
            Kind::Posts => format!("/blogs?order=published_at&order_direction=desc&n={number}"),
            Kind::Spaces => "/spaces/search?filter%5Bmanifest_name_start%5D=assem".to_owned(),
            Kind::Components => "/components/search?filter%5Bmanifest_name_eq%5D=proposals".to_owned(),
            Kind::Component => format!("/components/proposal_components/{}", self.ideas),
            _ => format!("/proposals/{}?n={number}", self.proposal(number)),
        };
        (if kind == Kind::OwnVotes { self.user(number) } else { &self.client }, path)
    }

    async fn conditional(&self, number: u64, due: Instant) {
        // A quarter of the proposals: most have been read before.
        let id = self.first + (self.proposal(number) - self.first) / 4;
        let known = self.etags.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        let answer = self.client.get(&format!("{BASE}/proposals/{id}"), known.as_deref()).await;
        let answer = self.tally.measure("a conditional read", due, answer, &[200, 304]);
        if let Some(Answer { status: 200, etag, .. }) = answer {
            self.etags.lock().unwrap_or_else(PoisonError::into_inner).insert(id, etag);
        }
    }

    async fn vote(&self, kind: Kind, due: Instant) {
        let (user, proposal) = self.pair(self.votes.fetch_add(1, Ordering::Relaxed));
        let proposal = self.first + proposal;
        let body = json!({"proposal_id": proposal, "data": {"weight": 1}});
        if self.write(self.user(user), "/vote_proposals", 200, kind == Kind::VoteJob, &body, due).await {
            self.ledger.vote(user, proposal);
        }
    }

    async fn post(&self, kind: Kind, due: Instant) {
        let number = self.posts.fetch_add(1, Ordering::Relaxed);
        let title = format!("Post {number}");
        let attributes = json!({"title": {"en": title}, "body": {"en": "<p>The works begin on Monday.</p>"},
            "published_at": "2026-03-01T08:00:00Z"});
        let body = json!({"data": {"component_id": self.news, "attributes": attributes}});
        if self.write(self.user(number), "/blogs", 201, kind == Kind::PostJob, &body, due).await {
            self.ledger.post(title);
        }
    }

    /// Writes, at once or as a job that is followed to its end. Whether it is acknowledged.
    async fn write(
        &self,
        client: &Client,
        path: &str,
        status: u16,
        is_job: bool,
        body: &Value,
        due: Instant,
    ) -> bool {
        let (sync, status) = if is_job { ("", 202) } else { ("/sync", status) };
        let answer = client.post(&format!("{BASE}{path}{sync}"), body, None).await;
        let Some(answer) = self.tally.measure(path, due, answer, &[status]) else { return false };
        if !is_job {
            return true;
        }
        let Ok(receipt) = answer.json() else { return false };
        self.ended(client, receipt["job_id"].as_str().unwrap_or_default()).await
    }

    /// Waits for the end of a job. Whether it is completed.
    async fn ended(&self, client: &Client, job: &str) -> bool {
        let (begun, mut pause) = (Instant::now(), POLL);
        while begun.elapsed() < TIMEOUT {
            sleep(pause).await;
            pause = (pause * 2).min(SLOWEST_POLL);
            let answer = client.get(&format!("{BASE}/jobs/{job}"), None).await;
            let answer = self.tally.count("a job", answer, &[200]);
            let Some(state) = answer.and_then(|answer| answer.json().ok()) else { continue };
            match state["status"].as_str() {
                Some("completed") => return true,
                Some("failed") => {
                    self.tally.fault(format!("a job failed: {state}"));
                    return false;
                }
                _ => {}
            }
        }
        self.tally.fault(format!("job {job} has not ended within {} s", TIMEOUT.as_secs()));
        false
    }

    async fn draft(&self, due: Instant) {
        let user = self.without_draft.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(user) = user else { return };
        let body = json!({"data": {"component_id": self.ideas}});
        let answer = user.post(&format!("{BASE}/draft_proposals/sync"), &body, None).await;
        let Some(answer) = self.tally.measure("a draft", due, answer, &[200]) else { return };
        self.ledger.draft();
        let draft = answer.json().unwrap_or_default();
        let id = draft["data"]["id"].as_str().unwrap_or_default();
        let answer = user.delete(&format!("{BASE}/draft_proposals/{id}/sync")).await;
        if self.tally.count("the end of a draft", answer, &[200]).is_some() {
            self.without_draft.lock().unwrap_or_else(PoisonError::into_inner).push(user);
        }
    }

    async fn upload(&self, number: u64, due: Instant) {
        let uploads = format!("{BASE}/attachments/direct_upload");
        let query =
            format!("filename=note.txt&byte_size={}&checksum={DIGEST}&content_type=text%2Fplain", FILE.len());
        let answer = self.client.post(&format!("{uploads}?{query}"), &json!({}), None).await;
        let Some(answer) = self.tally.measure("an upload", due, answer, &[201]) else { return };
        let staged = answer.json().unwrap_or_default();
        let signed_id = staged["signed_id"].as_str().unwrap_or_default();
        let answer = self.client.put_text(&format!("{uploads}/{signed_id}"), FILE).await;
        if self.tally.count("bytes of an upload", answer, &[204]).is_none() {
            return;
        }
        let body = json!({"signed_id": signed_id, "attached_to_type": "proposals", "title": "Note",
            "attached_to_id": self.proposal(number), "description": "A note"});
        let answer = self.client.post(&format!("{BASE}/attachments"), &body, None).await;
        let Some(answer) = self.tally.count("an attachment", answer, &[201]) else { return };
        let attachment = answer.json().unwrap_or_default();
        self.ledger.attachment(attachment["data"]["id"].as_str().unwrap_or_default().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_kinds_come_about_as_often_as_the_mix_says() {
        assert_eq!(MIX.iter().map(|(_, part)| part).sum::<u64>(), 100);
        let mut counts: HashMap<Kind, u64> = HashMap::new();
        for number in 0..100_000 {
            *counts.entry(kind_of(number)).or_default() += 1;
        }
        for (kind, part) in MIX {
            assert!(counts[&kind].abs_diff(part * 1_000) < part * 100 + 200, "{kind:?}: {}", counts[&kind]);
        }
    }
}
