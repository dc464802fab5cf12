//! A server of the city: started, its users signed in, its ids found, some of its answers recorded.

use crate::Outcome;
use crate::archive::{READERS, SCOPES, SPACES, Size};
use crate::city;
use crate::client::{Answer, BASE, Client};
use crate::cpu::{self, Cluster};
use crate::measure::Cpu;
use crate::plan::{Values, path};
use crate::process::Process;
use crate::stage::Home;
use crate::tasks::{Caller, Request, Task};
use crate::voting::{Pairs, RECORDED, Voter, completed};
use serde_json::Value;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Proposals whose answers are recorded, at most. The cached part of the load reads these.
const SAMPLES: u64 = 10_000;
/// Pages the load is spread over.
pub const PAGES: u64 = 50;
/// The page that is far behind.
const FAR: u64 = 1_000;
/// Rows on a page.
const ROWS: u64 = 20;
/// Requests under way while answers are recorded.
const AT_ONCE: u64 = 16;
/// The scope of a user's token.
const USER_SCOPES: &str = "public proposals";

/// A running server.
pub struct Server {
    /// The process.
    pub process: Process,
    /// More processes over the same database.
    more: Vec<Process>,
    /// The machine client.
    pub client: Client,
    /// Its token.
    pub bearer: String,
    /// Who votes on what.
    pub pairs: Arc<Pairs>,
    /// What the names in templates stand for.
    pub values: Values,
    /// The component of the proposals.
    pub component: u64,
    /// Its files.
    pub home: Home,
    readers: Vec<Voter>,
    cluster: Option<Cluster>,
}

/// How the server answered for a proposal.
pub struct Sample {
    /// The proposal.
    pub id: u64,
    /// The answer.
    pub answer: Answer,
    /// The time of its last change.
    modified: String,
}

impl Server {
    /// Starts it over the city that was imported.
    pub async fn start(home: Home, size: Size) -> Outcome<Self> {
        let start = || {
            let mut process = home.serve()?;
            process.until_answers(&format!("{BASE}/health"))?;
            Outcome::Ok(process)
        };
        let process = start()?;
        let more = (1..home.processes).map(|_| start()).collect::<Outcome<_>>()?;
        let anonymous = Client::new(process.address)?;
        let bearer = anonymous.token_for(SCOPES).await?;
        let client = anonymous.bearing(&bearer);
        let values = values(&client, size).await?;
        let mut users = Vec::new();
        for number in 0..size.voters + READERS {
            let bearer = anonymous.token_of(Some(&city::nickname(number)), USER_SCOPES).await?;
            users.push(Voter { bearer, user: i64::try_from(values.first_user + number)? });
        }
        let readers = users.split_off(usize::try_from(size.voters)?);
        let first = i64::try_from(values.first)?;
        let pairs = Arc::new(Pairs { voters: users, first, proposals: size.proposals });
        let list = client.get(&format!("{BASE}/proposals?per_page=1"), None).await?.is(200)?.json()?;
        let component = id(&list["data"][0]["relationships"]["component"]["data"]["id"])?;
        let cluster = match &home.postgres {
            Some(url) => Cluster::find(url).await,
            None => None,
        };
        let mut server =
            Self { process, more, client, bearer, pairs, values, component, home, readers, cluster };
        Pairs::write(&server.pairs.voters, &server.home.file("voters.txt"))?;
        Pairs::write(&server.readers, &server.home.file("readers.txt"))?;
        server.values.job = server.job().await?;
        Ok(server)
    }

    /// Votes as a job. Returns the id of the completed job.
    async fn job(&self) -> Outcome<String> {
        let receipt = self.pairs.cast(&self.client, self.pairs.part(RECORDED), false).await?;
        completed(&self.client, &receipt).await?;
        let receipt: Value = serde_json::from_slice(&receipt)?;
        Ok(receipt["job_id"].as_str().ok_or("a receipt without job")?.to_owned())
    }

    fn processes(&self) -> impl Iterator<Item = &Process> {
        std::iter::once(&self.process).chain(&self.more)
    }

    /// Where its processes listen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.processes().map(|process| process.address).collect()
    }

    /// The processor time of its processes and of the database so far.
    pub fn cpu(&self) -> Cpu {
        let server = self.processes().map(|process| cpu::of_process(process.id())).sum();
        Cpu { server, database: self.cluster.and_then(Cluster::time) }
    }

    /// Sends a request that is not measured. No two with the same number vote, or give a role, twice.
    pub async fn send(&self, request: &Request, number: u64) -> Outcome<Answer> {
        let answer = self.ask(request, number).await?.is(request.status);
        let answer = answer.map_err(|error| format!("{} {}: {error}", request.method, request.path))?;
        if answer.applied != request.prefers {
            return Err(format!("{}: {} was not applied", request.path, request.prefers).into());
        }
        Ok(answer)
    }

    /// Whether it has what a task reads: a server of an older commit refuses a filter or an order that it does not have, and
    /// ignores a preference.
    pub async fn has(&self, task: &Task) -> Outcome<bool> {
        for request in task.requests().iter().filter(|request| request.method == "GET") {
            let answer = self.ask(request, 0).await?;
            if answer.status == 400 || answer.applied != request.prefers {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The answer to a request, of any status.
    async fn ask(&self, request: &Request, number: u64) -> Outcome<Answer> {
        let pair = self.pairs.part(RECORDED) + 1 + number;
        let role = self.values.roles() - 1 - number;
        let fill = |template: &str| self.values.fill(template, pair, role);
        let client = match request.caller {
            Caller::Anonymous => self.client.anonymous(),
            Caller::Client => self.client.clone(),
            Caller::Reader => self.client.bearing(&self.readers.first().ok_or("no readers")?.bearer),
            Caller::Voter => self.client.bearing(&self.pairs.voter(pair).ok_or("no voters")?.bearer),
        };
        let (path, body) = (fill(&path(request)), fill(request.body));
        client.call_preferring(request.method, &path, request.prefers, body).await
    }

    /// Reads the proposals of the sample, and writes their validators for the load.
    pub async fn record(&self) -> Outcome<Vec<Sample>> {
        let mut tasks = JoinSet::new();
        for task in 0..AT_ONCE {
            let (client, values) = (self.client.clone(), self.values.clone());
            tasks.spawn(async move {
                let mut samples = Vec::new();
                for number in (task..values.samples).step_by(usize::try_from(AT_ONCE)?) {
                    let id = values.first + number * values.stride;
                    let (answer, modified) = client.get_dated(&format!("{BASE}/proposals/{id}")).await?;
                    samples.push(Sample { id, answer: answer.is(200)?, modified });
                }
                Outcome::Ok(samples)
            });
        }
        let mut samples = Vec::new();
        while let Some(done) = tasks.join_next().await {
            samples.extend(done??);
        }
        samples.sort_by_key(|sample| sample.id);
        let lines = samples.iter().map(|one| format!("{}\t{}\n", one.answer.etag, one.modified));
        fs::write(self.home.file("validators.txt"), lines.collect::<String>())?;
        self.check_validators(&samples).await?;
        Ok(samples)
    }

    /// Checks that both validators of some proposals are answered with 304.
    async fn check_validators(&self, samples: &[Sample]) -> Outcome {
        for Sample { id, answer, modified } in samples.iter().step_by(97) {
            let path = format!("{BASE}/proposals/{id}");
            self.client.get(&path, Some(&answer.etag)).await?.is(304)?;
            let path = format!("{path}?unused=check");
            self.client.get_if_modified(&path, modified).await?.is(304)?;
        }
        Ok(())
    }
}

/// Finds the ids of a city, and checks that they have no gaps.
async fn values(client: &Client, size: Size) -> Outcome<Values> {
    let get = async |path: String| client.get(&format!("{BASE}{path}"), None).await?.is(200)?.json();
    let first = id(&get("/proposals?per_page=1".to_owned()).await?["data"][0]["id"])?;
    get(format!("/proposals/{}", first + size.proposals - 1)).await?;
    let author = async |proposal: u64| {
        let proposal = get(format!("/proposals/{proposal}")).await?;
        id(&proposal["data"]["relationships"]["author"]["data"]["id"])
    };
    let (first_user, last_user) = (author(first).await?, author(first + size.users - 1).await?);
    let spaces = get("/spaces/assemblies?per_page=100".to_owned()).await?;
    let spaces: Vec<u64> = spaces["data"]
        .as_array()
        .ok_or("no list")?
        .iter()
        .map(|space| id(&space["id"]))
        .collect::<Outcome<_>>()?;
    let first_space = spaces.iter().min().copied().ok_or("no assemblies")?;
    if last_user != first_user + size.users - 1 || spaces.iter().max() != Some(&(first_space + SPACES - 1)) {
        return Err("the ids of users or assemblies have gaps".into());
    }
    let samples = size.proposals.min(SAMPLES);
    let last_page = size.proposals / ROWS;
    Ok(Values {
        first,
        proposals: size.proposals,
        stride: size.proposals / samples,
        samples,
        pages: last_page.min(PAGES),
        far: last_page.min(FAR),
        first_user,
        users: size.users,
        voters: size.voters,
        first_space,
        spaces: SPACES,
        job: String::new(),
        recent: city::published(size.proposals - ROWS),
    })
}

fn id(value: &Value) -> Outcome<u64> {
    Ok(value.as_str().ok_or("an answer without id")?.parse()?)
}
