//! Makes requests of templates ([`crate::tasks`]): here for single requests, in `scripts/requests.lua` for the load.

use crate::archive::RARE_WORD;
use crate::client::{BASE, grant};
use crate::tasks::{Bare, Request};
use crate::wrk::THREADS;
use std::fmt::Write;

/// The kinds of roles a user can have in an assembly.
pub const ROLES: [&str; 4] =
    ["space_private_member", "space_administrator", "space_moderator", "space_valuator"];

/// What the names in templates stand for, at one server.
#[derive(Debug, Clone)]
pub struct Values {
    /// The first proposal; the others follow without gaps.
    pub first: u64,
    /// How many there are.
    pub proposals: u64,
    /// Recorded proposals: the first, and each so many after it.
    pub stride: u64,
    /// How many are recorded.
    pub samples: u64,
    /// Pages of a list the load is spread over.
    pub pages: u64,
    /// The page that is far behind.
    pub far: u64,
    /// The first user; the others follow without gaps.
    pub first_user: u64,
    /// How many there are. The first of them vote.
    pub users: u64,
    /// How many vote.
    pub voters: u64,
    /// The first assembly; the others follow without gaps.
    pub first_space: u64,
    /// How many there are.
    pub spaces: u64,
    /// A job that is completed.
    pub job: String,
    /// The time since which 20 proposals were changed.
    pub recent: String,
}

impl Values {
    /// Roles that can be given: each user each role in each assembly.
    pub fn roles(&self) -> u64 {
        self.users * self.spaces * ROLES.len() as u64
    }

    /// A template with its names replaced, for the pair and the role of this number.
    pub fn fill(&self, template: &str, pair: u64, role: u64) -> String {
        let mut text = self.constants(template);
        let user = role / ROLES.len() as u64;
        for (name, value) in [
            ("<proposal>", (self.first + pair % self.proposals).to_string()),
            ("<voted>", (self.first + pair % self.proposals).to_string()),
            ("<page>", "1".to_owned()),
            ("<n>", format!("p{pair}")),
            ("<role>", ROLES[usize::try_from(role).unwrap_or_default() % ROLES.len()].to_owned()),
            ("<user>", (self.first_user + user % self.users).to_string()),
            ("<space>", (self.first_space + user / self.users % self.spaces).to_string()),
        ] {
            text = text.replace(name, &value);
        }
        text
    }

    /// A template without the names that have one value.
    fn constants(&self, template: &str) -> String {
        template
            .replace("<far>", &self.far.to_string())
            .replace("<job>", &self.job)
            .replace("<rare>", RARE_WORD)
            .replace("<recent>", &self.recent)
            .replace("<grant>", &grant().to_string())
    }
}

/// The whole path of a request.
pub fn path(request: &Request) -> String {
    match request.path.strip_prefix('/') {
        Some(of_host) if of_host.starts_with('/') => of_host.to_owned(),
        _ => format!("{BASE}{}", request.path),
    }
}

/// What one run of the load does.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// Requests, by their parts of all.
    pub requests: Vec<(u32, Request)>,
    /// The part of `<n>` that no other run at this server has.
    pub run: String,
    /// The first pair.
    pub pair: u64,
    /// The first role.
    pub role: u64,
    /// The values at the server.
    pub values: &'a Values,
}

impl Plan<'_> {
    /// The plan as the beginning of a script for the server, or for the baseline server.
    pub fn script(&self, files: &str, bearer: &str, is_baseline: bool) -> String {
        let Values { first, proposals, stride, samples, pages, .. } = self.values;
        let Values { first_user, users, voters, first_space, spaces, .. } = self.values;
        let (pair, role, run) = (self.pair, self.role, &self.run);
        let roles = ROLES.map(|role| format!("{role:?}")).join(", ");
        let mut text = format!(
            "plan = {{\n  files = {files:?}, bearer = {bearer:?}, host = {:?}, run = {run:?}, threads = {THREADS},\n  \
             first = {first}, proposals = {proposals}, stride = {stride}, samples = {samples}, pages = {pages},\n  \
             first_user = {first_user}, users = {users}, voters = {voters}, first_space = {first_space}, \
             spaces = {spaces},\n  pair = {pair}, role = {role}, roles = {{ {roles} }},\n  requests = {{\n",
            crate::city::HOST
        );
        for (part, request) in &self.requests {
            let (method, path, body) = if is_baseline { self.bare(request) } else { self.real(request) };
            let Request { caller, conditional, accepts, prefers, .. } = request;
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "    {{ part = {part}, method = {method:?}, caller = \"{caller:?}\", conditional = {conditional},\n      \
                 accepts = {accepts:?}, prefers = {prefers:?}, path = {path:?},\n      body = {body:?} }},",
            );
        }
        text.push_str("  },\n}\n");
        text
    }

    fn real(&self, request: &Request) -> (&'static str, String, String) {
        let mut path = self.values.constants(&path(request));
        if request.method == "GET" {
            path = unique(&path);
        }
        if request.conditional {
            path = path.replace("<proposal>", "<sample>");
        }
        (request.method, path, self.values.constants(request.body))
    }

    /// The baseline server has the recorded proposals only.
    fn bare(&self, request: &Request) -> (&'static str, String, String) {
        let (method, path, body) = self.real(request);
        match request.bare {
            Bare::Same => (method, path.replace("<proposal>", "<sample>"), body),
            Bare::Hello => (method, "/hello".to_owned(), body),
            Bare::Stored(name) => (method, format!("{BASE}/stored/{name}"), body),
            Bare::Written(name) => ("POST", format!("{BASE}/written/{name}"), body),
        }
    }
}

/// A parameter that means nothing, and that no other request has: an older binary has no cached response for it.
fn unique(path: &str) -> String {
    format!("{path}{}unused=<n>", if path.contains('?') { '&' } else { '?' })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Kind, TASKS};
    use std::collections::HashSet;

    fn values() -> Values {
        Values {
            first: 11,
            proposals: 100,
            stride: 1,
            samples: 100,
            pages: 5,
            far: 5,
            first_user: 3,
            users: 6,
            voters: 4,
            first_space: 2,
            spaces: 7,
            job: "job-1".to_owned(),
            recent: "2026-02-01T00:01:20Z".to_owned(),
        }
    }

    #[test]
    fn every_name_of_every_template_is_known() {
        for request in TASKS.iter().flat_map(crate::tasks::Task::requests) {
            let text = values().fill(&format!("{} {}", path(&request), request.body), 5, 6);
            assert!(!text.contains('<'), "{text}");
        }
    }

    #[test]
    fn each_role_comes_once() {
        let all: HashSet<_> =
            (0..values().roles()).map(|n| values().fill("<role> <user> <space>", 0, n)).collect();
        assert_eq!(all.len() as u64, 6 * 7 * 4);
    }

    #[test]
    fn reads_have_a_parameter_of_their_own_and_the_baseline_reads_what_is_recorded() {
        let Some(Kind::One(show)) = TASKS.get(1).map(|task| task.kind) else { panic!("no read") };
        let values = values();
        let plan = Plan { requests: vec![(1, show)], run: "r".to_owned(), pair: 0, role: 0, values: &values };
        assert!(plan.script("", "", false).contains("/proposals/<proposal>?unused=<n>\""));
        assert!(plan.script("", "", true).contains("/proposals/<sample>?unused=<n>\""));
    }

    #[test]
    fn paths_of_the_host_have_no_prefix() {
        let at = |path| super::path(&Request { path, ..TASKS[0].requests()[0] });
        assert_eq!(at("//oauth/token"), "/oauth/token");
        assert_eq!(at("/jobs"), format!("{BASE}/jobs"));
    }
}
