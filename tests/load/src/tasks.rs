//! What is measured: a task is an entry of [`TASKS`].
//!
//! Paths and bodies are templates. A name in angle brackets is replaced in each request ([`crate::plan`]): `<proposal>` and
//! `<page>` at random, `<far>` by page 1,000 or the last, `<rare>` by a word that three proposals have, `<recent>` by the
//! time since which 20 proposals were changed, `<n>` by a number that no other request of the run has.

/// Who sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Nobody: without a token.
    Anonymous,
    /// The machine client.
    Client,
    /// One of the users who have votes, at random.
    Reader,
    /// The voter of the pair, whose proposal is `<voted>`: each pair comes once.
    Voter,
}

/// What the baseline server is asked instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// The same path: it serves the recorded answers.
    Same,
    /// The one word `hello`.
    Hello,
    /// The recorded answer of this name, by one statement.
    Stored(&'static str),
    /// To insert the body, and to answer the recorded answer of this name.
    Written(&'static str),
}

/// A request, as a template.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The method.
    pub method: &'static str,
    /// The path behind the prefix of the interface; `//` in front: of the host.
    pub path: &'static str,
    /// The body; empty: none.
    pub body: &'static str,
    /// Who sends it.
    pub caller: Caller,
    /// Whether it has the validators of the recorded answer, so that 304 is the answer.
    pub conditional: bool,
    /// The encoding that is asked for; empty: none.
    pub accepts: &'static str,
    /// The preference (RFC 7240), which must be applied; empty: none.
    pub prefers: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// The request of the baseline server.
    pub bare: Bare,
}

impl Request {
    const fn get(path: &'static str) -> Self {
        Self {
            method: "GET",
            path,
            body: "",
            caller: Caller::Client,
            conditional: false,
            accepts: "",
            prefers: "",
            status: 200,
            bare: Bare::Same,
        }
    }

    const fn post(path: &'static str, body: &'static str) -> Self {
        Self { method: "POST", body, ..Self::get(path) }
    }

    const fn stored(self, name: &'static str) -> Self {
        Self { bare: Bare::Stored(name), ..self }
    }

    const fn written(self, name: &'static str) -> Self {
        Self { bare: Bare::Written(name), ..self }
    }

    const fn by(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    const fn answers(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// How a task is measured.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// The same kind of request again and again.
    One(Request),
    /// Ten votes per second are cast meanwhile.
    BesideVotes(Request),
    /// Requests by their parts of all.
    Mix(&'static [(u32, Request)]),
    /// Votes as jobs, each followed until it is completed.
    VoteJob,
    /// Drafts: created, written and published. The baseline server has none.
    Draft,
}

/// Something that is measured.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name, in the tables and for `--only`.
    pub name: &'static str,
    /// How it is measured.
    pub kind: Kind,
}

impl Task {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }

    /// Whether it reads posts.
    pub fn needs_posts(&self) -> bool {
        self.requests().iter().any(|request| request.bare == POSTS.bare)
    }

    /// Whether it casts votes, and so needs pairs of its own.
    pub fn is_voting(&self) -> bool {
        match self.kind {
            Kind::Draft => false,
            Kind::One(request) => request.caller == Caller::Voter,
            Kind::BesideVotes(_) | Kind::Mix(_) | Kind::VoteJob => true,
        }
    }

    /// Its requests, each once.
    pub fn requests(&self) -> Vec<Request> {
        match self.kind {
            Kind::One(one) | Kind::BesideVotes(one) => vec![one],
            Kind::Mix(mix) => mix.iter().map(|(_, request)| *request).collect(),
            Kind::VoteJob | Kind::Draft => Vec::new(),
        }
    }
}

const SHOW: Request = Request::get("/proposals/<proposal>");
const NOT_MODIFIED: Request = Request { conditional: true, status: 304, bare: Bare::Hello, ..SHOW };
const LIST: Request = Request::get("/proposals?page=<page>");
const GZIP: Request = Request { accepts: "gzip", ..LIST };
const BROTLI: Request = Request { accepts: "br", ..LIST };
const ZSTD: Request = Request { accepts: "zstd", ..LIST };
const BY_STATE: Request = Request::get("/proposals?filter%5Bstate_eq%5D=accepted").stored("by-state");
const OWN_VOTES: Request =
    Request::get("/proposals?filter%5Bvoted_weight_present%5D=true").by(Caller::Reader).stored("own-votes");
const BY_EXTENDED_DATA: Request =
    Request::get("/proposals?filter%5Bextended_data_cont%5D=%22district%22:%20%22north%22")
        .stored("by-extended-data");
const RARE_WORD: Request = Request::get("/proposals?filter%5Bsearch_text_cont%5D=<rare>").stored("rare-word");
const FREQUENT_WORD: Request =
    Request::get("/proposals?filter%5Bsearch_text_cont%5D=street").stored("frequent-word");
/// In no proposal, and too short for an index: all texts are read.
const SHORT_WORD: Request = Request::get("/proposals?filter%5Bsearch_text_cont%5D=qz").stored("short-word");
const RECENT: Request = Request::get("/proposals?filter%5Bupdated_at_gteq%5D=<recent>").stored("recent");
const COUNTED: Request = Request { prefers: "count=exact", ..LIST };
const BY_VOTES: Request =
    Request::get("/proposals?order=votes_count&order_direction=desc").stored("by-votes");
const COMPONENTS: Request =
    Request::get("/components/search?filter%5Bmanifest_name_eq%5D=proposals").stored("components");
const SPACES: Request = Request::get("/spaces/search?filter%5Bmanifest_name_start%5D=assem").stored("spaces");
const POSTS: Request = Request::get("/blogs?order=published_at&order_direction=desc").stored("posts");
const MEETINGS: Request = Request::get("/meetings?order_direction=desc").stored("meetings");
const VOTE: Request =
    Request::post("/vote_proposals/sync", r#"{"proposal_id":<voted>,"data":{"weight":1}}"#).by(Caller::Voter);
const ACCEPT_VOTE: Request = Request { path: "/vote_proposals", status: 202, ..VOTE };
const ROLE: Request = Request::post(
    "/roles/sync",
    r#"{"data":{"attributes":{"resource_type":"Platform::Assembly","resource_id":<space>,"user_id":<user>,"type":"<role>"}}}"#,
)
.answers(201)
.written("role");
const EXTENDED_DATA: Request = Request {
    method: "PUT",
    ..Request::post(
        "/proposals/<proposal>/extended_data/sync",
        r#"{"object_path":"load.checked","data":"<n>"}"#,
    )
    .written("extended-data")
};
const TOKEN: Request = Request::post("//oauth/token", "<grant>").by(Caller::Anonymous);
const JOB: Request = Request::get("/jobs/<job>");

/// 90 % reads.
const MIX: [(u32, Request); 13] = [
    (25, SHOW),
    (15, NOT_MODIFIED),
    (20, LIST),
    (5, BY_STATE),
    (5, OWN_VOTES),
    (4, COMPONENTS),
    (4, SPACES),
    (6, POSTS),
    (6, MEETINGS),
    (6, VOTE),
    (1, ACCEPT_VOTE),
    (1, EXTENDED_DATA),
    (2, TOKEN),
];

/// All tasks, in the order of the run: writes come last, because they change what is read.
pub const TASKS: &[Task] = &[
    Task::new("getProposal (304)", Kind::One(NOT_MODIFIED)),
    Task::new("getProposal (200)", Kind::One(SHOW)),
    Task::new("a list of 20, pages 1 to 50", Kind::One(LIST)),
    Task::new("a list of 20, gzip", Kind::One(GZIP)),
    Task::new("a list of 20, br", Kind::One(BROTLI)),
    Task::new("a list of 20, zstd", Kind::One(ZSTD)),
    Task::new("list, page 1", Kind::One(Request::get("/proposals?page=1"))),
    Task::new("list, page 1,000 or the last", Kind::One(Request::get("/proposals?page=<far>"))),
    Task::new("list, shuffled", Kind::One(Request::get("/proposals?order=rand").stored("shuffled"))),
    Task::new("list, by state", Kind::One(BY_STATE)),
    Task::new("list, own votes", Kind::One(OWN_VOTES)),
    Task::new("list, by extended data", Kind::One(BY_EXTENDED_DATA)),
    Task::new("list, a rare word", Kind::One(RARE_WORD)),
    Task::new("list, a word of every proposal", Kind::One(FREQUENT_WORD)),
    Task::new("list, two characters of no proposal", Kind::One(SHORT_WORD)),
    Task::new("list, changed lately", Kind::One(RECENT)),
    Task::new("a list of 20, counted", Kind::One(COUNTED)),
    Task::new("list, by votes", Kind::One(BY_VOTES)),
    Task::new("search of components", Kind::One(COMPONENTS)),
    Task::new("search of spaces", Kind::One(SPACES)),
    Task::new("posts", Kind::One(POSTS)),
    Task::new("meetings", Kind::One(MEETINGS)),
    Task::new("job poll", Kind::One(JOB)),
    Task::new("getProposal, 10 votes/s beside it", Kind::BesideVotes(SHOW)),
    Task::new("a list of 20, 10 votes/s beside it", Kind::BesideVotes(LIST)),
    Task::new("vote (sync)", Kind::One(VOTE)),
    Task::new("vote as a job, until completed", Kind::VoteJob),
    Task::new("draft: create, write, publish", Kind::Draft),
    Task::new("role (sync)", Kind::One(ROLE)),
    Task::new("extended data (sync)", Kind::One(EXTENDED_DATA)),
    Task::new("token (client_credentials)", Kind::One(TOKEN)),
    Task::new("mixed, 90 % reads", Kind::Mix(&MIX)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn nine_of_ten_mixed_requests_read() {
        let of = |reads: bool| -> u32 {
            MIX.iter().filter(|(_, one)| (one.method == "GET") == reads).map(|(part, _)| part).sum()
        };
        assert_eq!((of(true), of(false)), (90, 10));
    }

    #[test]
    fn no_name_comes_twice() {
        let names: HashSet<_> = TASKS.iter().map(|task| task.name).collect();
        assert_eq!(names.len(), TASKS.len());
    }
}
