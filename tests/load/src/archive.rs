//! The archive of `load run` (contract 10): the city, and other organizations beside it.
//!
//! The same size gives the same archive. Records of one type follow each other, because the import writes records of one
//! type in chunks. Ids of the city's users, assemblies and proposals follow each other in the order of their numbers.

use crate::city::{self, BEGAN, nickname};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Users after the voters whose own votes are read.
pub const READERS: u64 = 20;
/// Assemblies of the city, the council among them.
pub const SPACES: u64 = 50;
/// Users and proposals of each other organization.
const OTHER_USERS: u64 = 20;
const OTHER_PROPOSALS: u64 = 100;
/// One of so many proposals is accepted, one is evaluated, one is in the north.
const ACCEPTED: u64 = 10;
const EVALUATED: u64 = 20;
const IN_THE_NORTH: u64 = 100;
/// A word that three proposals of the city have, of whatever size.
pub const RARE_WORD: &str = "greenhouse";

/// The scopes of the API client.
pub const SCOPES: &str = "public proposals blogs meetings roles";
/// Its permissions.
const PERMISSIONS: [&str; 12] = [
    "oauth.impersonate",
    "public.component.read",
    "public.space.read",
    "proposals.read",
    "proposals.vote",
    "proposals.draft",
    "proposals.extended_data.read",
    "proposals.extended_data.update",
    "blogs.read",
    "meetings.read",
    "roles.read",
    "roles.write",
];

/// How large everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Organizations, the city among them.
    pub organizations: u64,
    /// Users of the city: voters, then readers, then others.
    pub users: u64,
    /// Users who vote during the run. They have no votes before it.
    pub voters: u64,
    /// Published proposals of the city, all in one component.
    pub proposals: u64,
    /// Votes in the archive, by the users who are no voters.
    pub votes: u64,
    /// Posts of the city.
    pub posts: u64,
    /// Meetings of the city.
    pub meetings: u64,
}

impl Size {
    /// What is wrong with it.
    pub fn fault(&self) -> Option<&'static str> {
        if !self.proposals.is_multiple_of(self.voters) {
            return Some("the proposals must be a multiple of the voters");
        }
        if self.users < self.voters + READERS {
            return Some("the users must be 20 more than the voters, at least");
        }
        if self.users > self.proposals {
            return Some("the users must not be more than the proposals");
        }
        let pairs = (self.users - self.voters) * self.proposals;
        (self.votes > pairs / 2).then_some("there are more votes than half of all pairs")
    }

    /// Whether a proposal has the rare word. Those that have it are far from each other.
    fn has_rare_word(&self, proposal: u64) -> bool {
        let third = self.proposals / 3;
        proposal % third == third / 2
    }

    /// User and proposal of a vote; each pair comes once.
    fn vote(&self, number: u64) -> (u64, u64) {
        let others = self.users - self.voters;
        let (round, user) = (number / others, self.voters + number % others);
        let step = (self.proposals / self.votes.div_ceil(others).max(1)).max(1);
        (user, (user * 7919 + round * step) % self.proposals)
    }
}

/// Writes the archive. Returns the number of its records.
pub fn write(size: Size, out: &mut impl Write) -> io::Result<u64> {
    let others = 1..size.organizations;
    let records = organizations(size)
        .into_iter()
        .chain((0..size.users).map(city::citizen))
        .chain(others.clone().flat_map(|number| (0..OTHER_USERS).map(move |user| other_user(number, user))))
        .chain((0..size.proposals).map(|number| proposal(&size, number)))
        .chain(others.flat_map(|number| (0..OTHER_PROPOSALS).map(move |one| other_proposal(number, one))))
        .chain((0..size.votes).map(|number| vote(number, size.vote(number))))
        .chain((0..size.posts).map(|number| post(number, number % size.users)))
        .chain((0..size.meetings).map(meeting));
    let mut written = 0;
    for record in records {
        writeln!(out, "{record}")?;
        written += 1;
    }
    out.flush()?;
    Ok(written)
}

/// Organizations, client, spaces and components, by type.
fn organizations(size: Size) -> Vec<Value> {
    let [city, mut client, council, ideas] = city::foundation();
    client["scopes"] = SCOPES.split(' ').collect();
    client["permissions"] = json!(PERMISSIONS);
    let others = 1..size.organizations;
    let mut records = vec![city];
    records.extend(others.clone().map(|number| {
        json!({"type": "organization", "ref": other(number), "host": format!("{}.load.test", other(number)),
            "name": {"en": format!("Organization {number}")}, "available_locales": ["en"],
            "default_locale": "en", "created_at": BEGAN})
    }));
    records.extend([client, council]);
    records.extend((1..SPACES).map(|number| space("city", &format!("district-{number}"))));
    records.extend(others.clone().map(|number| space(&other(number), "council")));
    records.push(ideas);
    records.extend([component("city", "council", "blogs"), component("city", "council", "meetings")]);
    for number in 1..SPACES {
        let district = format!("district-{number}");
        records.extend(["proposals", "blogs"].map(|manifest| component("city", &district, manifest)));
    }
    records.extend(others.map(|number| component(&other(number), "council", "proposals")));
    records
}

fn other(number: u64) -> String {
    format!("organization-{number}")
}

fn space(organization: &str, slug: &str) -> Value {
    json!({"type": "space", "ref": slug, "organization": organization, "manifest": "assemblies",
        "title": {"en": slug}, "slug": slug, "visibility": "public", "published_at": BEGAN, "created_at": BEGAN})
}

fn component(organization: &str, space: &str, manifest: &str) -> Value {
    json!({"type": "component", "ref": format!("{space}-{manifest}"), "organization": organization,
        "space": space, "manifest": manifest, "name": {"en": format!("The {manifest} of {space}")},
        "published_at": BEGAN, "created_at": BEGAN})
}

fn other_user(number: u64, user: u64) -> Value {
    let mut record = city::citizen(user);
    record["organization"] = other(number).into();
    for member in ["ref", "nickname"] {
        record[member] = format!("other{user:02}").into();
    }
    record
}

fn other_proposal(number: u64, proposal: u64) -> Value {
    let mut record = city::proposal(proposal, 0);
    record["organization"] = other(number).into();
    record["component"] = "council-proposals".into();
    record["authors"] = json!([format!("other{:02}", proposal % OTHER_USERS)]);
    record
}

/// Some have a state, some extended data. None is rejected: all can be voted on.
fn proposal(size: &Size, number: u64) -> Value {
    let mut record = city::proposal(number, number % size.users);
    if size.has_rare_word(number) {
        record["title"] = json!({"en": format!("A {RARE_WORD} beside street number {number}")});
    }
    if let Some(state) = match number {
        _ if number % ACCEPTED == 3 => Some("accepted"),
        _ if number % EVALUATED == 4 => Some("evaluating"),
        _ => None,
    } {
        record["state"] = state.into();
        record["state_published_at"] = BEGAN.into();
    }
    if number.is_multiple_of(2) {
        let district = if number % IN_THE_NORTH == 50 { "north" } else { "elsewhere" };
        record["extended_data"] = json!({"district": district, "cost": number * 10});
    }
    record
}

fn vote(number: u64, (user, proposal): (u64, u64)) -> Value {
    json!({"type": "vote", "ref": format!("v{number}"), "organization": "city",
        "proposal": format!("p{proposal}"), "user": nickname(user),
        "created_at": "2026-03-01T09:00:00Z", "updated_at": "2026-03-01T09:00:00Z"})
}

fn post(number: u64, author: u64) -> Value {
    let (day, hour, minute) = (number / 1440 % 28 + 1, number / 60 % 24, number % 60);
    json!({"type": "post", "ref": format!("post-{number}"), "organization": "city",
        "component": "council-blogs", "title": {"en": format!("News of day {number}")},
        "body": {"en": "<p>The works begin on Monday. Buses take the other street until Friday.</p>"},
        "author": nickname(author), "published_at": format!("2026-02-{day:02}T{hour:02}:{minute:02}:00Z"),
        "created_at": BEGAN, "updated_at": BEGAN})
}

fn meeting(number: u64) -> Value {
    let (month, day, hour) = (number / 672 % 9 + 1, number / 24 % 28 + 1, number % 24);
    let at = |minute: u64| format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z");
    json!({"type": "meeting", "ref": format!("meeting-{number}"), "organization": "city",
        "component": "council-meetings", "title": {"en": format!("Meeting {number}")},
        "description": {"en": "<p>Everybody is welcome.</p>"}, "start_time": at(0), "end_time": at(50),
        "published_at": BEGAN, "created_at": BEGAN, "updated_at": BEGAN})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SIZE: Size =
        Size { organizations: 3, users: 40, voters: 10, proposals: 100, votes: 95, posts: 7, meetings: 6 };

    #[test]
    fn each_record_has_a_line_and_a_ref_of_its_own() {
        let mut archive = Vec::new();
        let written = write(SIZE, &mut archive).unwrap();
        let text = String::from_utf8(archive).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!((lines.len() as u64, of("organization"), of("user")), (written, 3, 80));
        assert_eq!((of("proposal"), of("vote"), of("post"), of("meeting")), (300, 95, 7, 6));
        let names: HashSet<_> =
            lines.iter().map(|l| format!("{} {} {}", l["organization"], l["type"], l["ref"])).collect();
        assert_eq!(names.len(), lines.len());
    }

    #[test]
    fn no_voter_has_a_vote_and_no_pair_comes_twice() {
        let pairs: HashSet<_> = (0..SIZE.votes).map(|number| SIZE.vote(number)).collect();
        assert_eq!(pairs.len() as u64, SIZE.votes);
        assert!(pairs.iter().all(|(user, proposal)| (10..40).contains(user) && *proposal < 100));
    }

    #[test]
    fn three_proposals_have_the_rare_word() {
        for proposals in [100, 1000, 10_000, 300_000] {
            let size = Size { proposals, ..SIZE };
            let having = (0..proposals).filter(|number| size.has_rare_word(*number));
            assert_eq!(having.count(), 3, "{proposals}");
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert_eq!(SIZE.fault(), None);
        assert!(Size { voters: 30, ..SIZE }.fault().is_some());
        assert!(Size { users: 20, ..SIZE }.fault().is_some());
        assert!(Size { users: 200, ..SIZE }.fault().is_some());
        assert!(Size { votes: 1501, ..SIZE }.fault().is_some());
    }
}
