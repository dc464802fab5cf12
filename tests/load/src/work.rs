//! The lines of the table, one for each task.

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
}

/// What a line measures.
pub enum Doing {
    /// Requests by their parts of all.
    Requests {
        /// Part and request.
        requests: Vec<(u32, Request)>,
        /// Whether ten votes per second are cast meanwhile.
        beside_votes: bool,
    },
    /// Votes as jobs.
    VoteJob,
    /// Drafts.
    Draft,
}

/// The line of the task of this number.
pub fn work(number: usize, task: &Task) -> Work {
    // Tasks that vote have parts of the pairs for themselves.
    let part = TASKS.iter().take(number).filter(|task| task.is_voting()).count() as u64 * 2;
    let requests = |requests, beside_votes| Doing::Requests { requests, beside_votes };
    let doing = match task.kind {
        Kind::One(one) => requests(vec![(1, one)], false),
        Kind::BesideVotes(one) => requests(vec![(1, one)], true),
        Kind::Mix(mix) => requests(mix.to_vec(), false),
        Kind::VoteJob => Doing::VoteJob,
        Kind::Draft => Doing::Draft,
    };
    Work { name: task.name.to_owned(), run: number.to_string(), doing, part }
}

impl Work {
    /// The plan of the load at a server, for the warm-up or for what counts; `None` if it is not that of requests.
    pub fn plan<'a>(&self, server: &'a Server, counts: bool) -> Option<Plan<'a>> {
        let Doing::Requests { requests, .. } = &self.doing else { return None };
        Some(Plan {
            requests: requests.clone(),
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
        let parts: Vec<u64> = voting.map(|(number, task)| work(number, task).part).collect();
        assert_eq!(parts.iter().collect::<HashSet<_>>().len(), parts.len());
        assert!(parts.iter().all(|part| part + 1 < crate::voting::RECORDED), "{parts:?}");
    }

    #[test]
    fn no_two_lines_send_the_same_parameter() {
        let lines: Vec<Work> = TASKS.iter().enumerate().map(|(number, task)| work(number, task)).collect();
        let runs: HashSet<_> = lines.iter().map(|work| &work.run).collect();
        assert_eq!(runs.len(), lines.len());
    }
}
