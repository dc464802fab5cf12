//! The lines of the table: a task has one or two.

use crate::plan::Plan;
use crate::server::Server;
use crate::tasks::{Kind, Request, TASKS, Task};

/// What is done for one line of the table.
pub struct Work {
    /// Its name.
    pub name: String,
    /// The part of `<n>` that is the line's own.
    run: String,
    /// What is done.
    pub doing: Doing,
    /// The first of two parts of all pairs.
    pub part: u64,
    /// The ratio that is wanted.
    pub wanted: Option<f64>,
}

/// What a line measures.
pub enum Doing {
    /// Requests by their parts of all.
    Requests {
        /// Part and request.
        requests: Vec<(u32, Request)>,
        /// Whether no cached response may answer a read.
        computed: bool,
        /// Whether ten votes per second are cast meanwhile.
        beside_votes: bool,
    },
    /// Votes as jobs.
    VoteJob,
    /// Drafts.
    Draft,
}

/// The lines of the task of this number.
pub fn works(number: usize, task: &Task) -> Vec<Work> {
    // Tasks that vote have parts of the pairs for themselves.
    let part = TASKS.iter().take(number).filter(|task| task.is_voting()).count() as u64 * 2;
    let work = |suffix: &str, doing, wanted| Work {
        name: format!("{}{suffix}", task.name),
        run: format!("{number}{}", suffix.trim_start_matches([',', ' '])),
        doing,
        part,
        wanted,
    };
    let requests = |requests, computed| Doing::Requests { requests, computed, beside_votes: false };
    match task.kind {
        Kind::Read(one) => vec![
            work(", cached", requests(vec![(1, one)], false), task.wanted),
            work(", computed", requests(vec![(1, one)], true), None),
        ],
        Kind::Computed(one) => vec![work(", computed", requests(vec![(1, one)], true), None)],
        Kind::BesideVotes(one) => {
            let doing = Doing::Requests { requests: vec![(1, one)], computed: false, beside_votes: true };
            vec![work("", doing, None)]
        }
        Kind::Write(one) => vec![work("", requests(vec![(1, one)], false), None)],
        Kind::Mix(mix) => vec![work("", requests(mix.to_vec(), true), None)],
        Kind::VoteJob => vec![work("", Doing::VoteJob, None)],
        Kind::Draft => vec![work("", Doing::Draft, None)],
    }
}

impl Work {
    /// The plan of the load at a server, for the warm-up or for what counts; `None` if it is not that of requests.
    pub fn plan<'a>(&self, server: &'a Server, counts: bool) -> Option<Plan<'a>> {
        let Doing::Requests { requests, computed, .. } = &self.doing else { return None };
        Some(Plan {
            requests: requests.clone(),
            computed: *computed,
            run: format!("{}-{}", self.run, u8::from(counts)),
            pair: server.pairs.part(self.part + u64::from(counts)),
            role: server.values.roles() / 2 * u64::from(counts),
            values: &server.values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_voting_tasks_have_parts_of_the_pairs_for_themselves() {
        let voting = TASKS.iter().enumerate().filter(|(_, task)| task.is_voting());
        let parts: Vec<u64> =
            voting.flat_map(|(number, task)| works(number, task)).map(|work| work.part).collect();
        assert_eq!(parts.iter().collect::<HashSet<_>>().len(), parts.len());
        assert!(parts.iter().all(|part| part + 1 < crate::voting::RECORDED), "{parts:?}");
    }

    #[test]
    fn no_two_lines_send_the_same_parameter() {
        let lines: Vec<Work> =
            TASKS.iter().enumerate().flat_map(|(number, task)| works(number, task)).collect();
        let runs: HashSet<_> = lines.iter().map(|work| &work.run).collect();
        assert_eq!(runs.len(), lines.len());
    }
}
