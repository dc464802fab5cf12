//! The test environment: the city in a temporary directory, all servers, and a check that the baseline server answers the
//! same bytes.

use crate::Outcome;
use crate::archive::{self, Size};
use crate::baseline::PAGE;
use crate::city::nickname;
use crate::client::{BASE, Client, grant};
use crate::ledger::{self, Recorded};
use crate::plan::Values;
use crate::postgres;
use crate::process::{Process, free_address};
use crate::server::{Sample, Server};
use crate::tasks::{Bare, Task};
use crate::voting::{RECORDED, completed};
use crate::wrk::precise;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The key of the server: PostgreSQL needs one.
const SECRET_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Everything is ready to be measured.
pub struct Stage {
    /// The server.
    pub civitas: Server,
    /// The baseline server.
    pub baseline: Process,
    /// The server of another binary, over a copy of the city.
    pub other: Option<Server>,
    /// The names of the tasks that the other server does not have.
    pub missing: Vec<&'static str>,
    /// Length of the answer with one proposal, in bytes.
    pub length: u64,
}

/// Where the files are.
pub struct Home {
    /// The server.
    pub binary: PathBuf,
    /// Of all files.
    pub directory: PathBuf,
    /// The database of the server, if it is not [`Home::database`].
    pub postgres: Option<String>,
    /// Whether receivers of webhooks are on this machine. Older binaries do not have the setting.
    pub has_receivers: bool,
    /// Processes that serve it.
    pub processes: u64,
    /// Names and values of variables with more settings of these.
    settings: Vec<(String, String)>,
}

impl Home {
    /// The files of a run of this server.
    pub fn new(
        server: &Path,
        directory: &Path,
        postgres: Option<String>,
        has_receivers: bool,
    ) -> Outcome<Self> {
        Ok(Self {
            binary: fs::canonicalize(server)?,
            directory: directory.to_owned(),
            postgres,
            has_receivers,
            processes: 1,
            settings: Vec::new(),
        })
    }

    /// Sets how many processes serve it, and more of their settings: `NAME=VALUE`, with `{database}` for the name of its
    /// database.
    pub fn set(&mut self, settings: &[String], processes: u64) -> Outcome {
        let database = self.postgres.as_deref().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or("a setting is NAME=VALUE")?;
            let name = format!("CIVITAS_{}", name.to_uppercase());
            self.settings.push((name, value.replace("{database}", database)));
        }
        self.processes = processes;
        Ok(())
    }

    /// A file of the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn database(&self) -> PathBuf {
        self.file("civitas.db")
    }

    /// The addresses of the databases that hold the city: that of the baseline server comes from SQLite always.
    fn databases(&self) -> Vec<String> {
        let sqlite = format!("sqlite://{}", self.database().display());
        std::iter::once(sqlite).chain(self.postgres.clone()).collect()
    }

    fn civitas(&self, database: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words).arg("--database-url").arg(database);
        command.env("CIVITAS_SECRET_KEY", SECRET_KEY);
        if self.has_receivers {
            command.env("CIVITAS_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8");
        }
        command.arg("--data-dir").arg(&self.directory).current_dir(&self.directory);
        command
    }

    /// Makes the tables of a database, imports the archive, and prints how fast.
    fn import(&self, database: &str, archive: &Path, records: u64) -> Outcome {
        self.run_one(database, &["migrate"])?;
        let begun = Instant::now();
        self.run_one(database, &["import", "--quiet", &archive.display().to_string()])?;
        let (seconds, engine) =
            (begun.elapsed().as_secs_f64(), database.split(':').next().unwrap_or_default());
        println!(
            "import of {records} records into {engine} by {}: {seconds:.1} s, {:.0} records/s",
            self.binary.display(),
            precise(records) / seconds
        );
        Ok(())
    }

    /// Runs one command of the binary to its end, for this database.
    pub fn run_one(&self, database: &str, words: &[&str]) -> Outcome {
        let mut command = self.civitas(database, words);
        let output = command.output().map_err(|error| format!("{}: {error}", self.binary.display()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("civitas {words:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    /// The address of the database that is served.
    pub fn served(&self) -> Outcome<String> {
        Ok(self.databases().pop().ok_or("no database")?)
    }

    /// Starts the server.
    pub fn serve(&self) -> Outcome<Process> {
        let address = free_address()?;
        let log = File::create(self.file("civitas.log"))?;
        let database = self.served()?;
        // A proxy in front connects from 127.0.0.1. From there more than 1,000 connections are allowed.
        let words = ["serve", "--public-scheme", "http", "--trusted-proxies", "127.0.0.1/32"];
        let mut command = self.civitas(&database, &words);
        command.args(["--listen", &address.to_string()]).envs(self.settings.iter().cloned());
        Process::start(command.stdout(Stdio::null()).stderr(log), address)
    }

    fn baseline(&self) -> Outcome<Process> {
        let address = free_address()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("baseline").arg("--database").arg(self.file("baseline.db"));
        command.arg("--listen").arg(address.to_string());
        let mut baseline = Process::start(&mut command, address)?;
        baseline.until_answers("/hello")?;
        Ok(baseline)
    }
}

impl Stage {
    /// Imports the city everywhere, starts all servers, and records the answers the tasks need.
    pub async fn build(home: Home, other: Option<Home>, size: Size, tasks: &[&Task]) -> Outcome<Self> {
        let archive = home.file("city.ndjson");
        let records = archive::write(size, &mut BufWriter::new(File::create(&archive)?))?;
        for database in home.databases() {
            home.import(&database, &archive, records)?;
        }
        if let Some(other) = &other {
            other.import(&other.served()?, &archive, records)?;
        }
        for home in std::iter::once(&home).chain(&other) {
            if let Some(database) = &home.postgres {
                postgres::vacuum(database).await?;
            }
        }
        fs::remove_file(&archive)?;
        ledger::copy(&home.database(), &home.file("baseline.db"))?;
        let mut kept = ledger::open(&home.file("baseline.db"))?;
        let civitas = Server::start(home, size).await?;
        let first = ledger::proposals_from(&mut kept, civitas.pairs.first)?;
        let first_user = ledger::user_of(&mut kept, &nickname(0))?;
        if first.last != civitas.pairs.first + i64::try_from(size.proposals)? - 1
            || civitas.pairs.voters.first().map(|voter| voter.user) != Some(first_user)
        {
            return Err("the ids of the baseline's database are not those of the city".into());
        }
        for (name, body) in answers(&civitas, tasks).await? {
            ledger::keep_recorded(&mut kept, name, &body)?;
        }
        let samples = civitas.record().await?;
        ledger::keep(&mut kept, &recorded(&civitas, &samples).await?)?;
        drop(kept);

        let baseline = civitas.home.baseline()?;
        prove_equal(&civitas, &civitas.client.at(baseline.address), &samples).await?;
        let length = samples.iter().map(|one| one.answer.body.len() as u64).min().unwrap_or(0);
        let (other, missing) = match other {
            Some(home) => {
                let (server, missing) = Self::start_other(home, size, tasks).await?;
                (Some(server), missing)
            }
            None => (None, Vec::new()),
        };
        Ok(Self { civitas, baseline, other, missing, length })
    }

    /// The other server, and the names of the tasks that it does not have.
    async fn start_other(home: Home, size: Size, tasks: &[&Task]) -> Outcome<(Server, Vec<&'static str>)> {
        let server = Server::start(home, size).await?;
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for task in tasks {
            if server.has(task).await? {
                known.push(*task);
            } else {
                eprintln!("the other server does not have: {}", task.name);
                missing.push(task.name);
            }
        }
        answers(&server, &known).await?;
        server.record().await?;
        Ok((server, missing))
    }

    /// Stops all, and starts the server again, so often. It runs after the last, and answers.
    pub fn start_again(self, times: usize) -> Outcome<(Process, Vec<Duration>)> {
        drop((self.baseline, self.other));
        let Server { process: mut server, home, .. } = self.civitas;
        let mut took = Vec::new();
        for _ in 0..times {
            server.stop()?;
            server = home.serve()?;
            took.push(server.until_answers(&format!("{BASE}/health"))?);
        }
        Ok((server, took))
    }
}

fn page_path(page: u64) -> String {
    format!("{BASE}/proposals?page={page}")
}

/// The pages of a list that are measured.
fn pages(server: &Server) -> impl Iterator<Item = u64> {
    let Values { pages, far, .. } = server.values;
    (1..=pages).chain((far > pages).then_some(far))
}

/// The recorded proposals, and all members of the pages that are measured.
async fn recorded(server: &Server, samples: &[Sample]) -> Outcome<Vec<Recorded>> {
    let row =
        |id: u64| Outcome::Ok(Recorded { id: i64::try_from(id)?, shown: Vec::new(), listed: Vec::new() });
    let mut all = BTreeMap::new();
    for Sample { id, answer, .. } in samples {
        all.insert(*id, Recorded { shown: answer.body.clone(), ..row(*id)? });
    }
    for page in pages(server) {
        let answer = server.client.get(&page_path(page), None).await?.is(200)?;
        let first = server.values.first + (page - 1) * PAGE.unsigned_abs();
        for (id, listed) in (first..).zip(members(&answer.body)?) {
            all.entry(id).or_insert(row(id)?).listed = listed;
        }
    }
    Ok(all.into_values().collect())
}

/// The members of a list, each as it was written.
fn members(body: &[u8]) -> Outcome<Vec<Vec<u8>>> {
    let mut rest = body.strip_prefix(b"{\"data\":[").ok_or("an answer that is no list")?;
    let mut members = Vec::new();
    while rest.first() == Some(&b'{') {
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        stream.next().transpose()?;
        let (member, behind) = rest.split_at(stream.byte_offset());
        members.push(member.to_vec());
        rest = behind.strip_prefix(b",").unwrap_or(behind);
    }
    Ok(members)
}

/// What is answered to one request of each kind, by the names of the baseline server. An error if one is refused.
async fn answers(server: &Server, tasks: &[&Task]) -> Outcome<Vec<(&'static str, Vec<u8>)>> {
    let (client, last) = (&server.client, server.pairs.part(RECORDED + 1) - 1);
    let token = client.post("/oauth/token", &grant(), None).await?.is(200)?.body;
    let vote = server.pairs.cast(client, last, true).await?;
    let receipt = server.pairs.cast(client, last - 1, false).await?;
    let job = completed(client, &receipt).await?;
    let mut answers = vec![("token", token), ("vote", vote), ("receipt", receipt), ("job", job)];
    // Conditional requests need validators, which are recorded later.
    let requests = tasks.iter().flat_map(|task| task.requests()).filter(|request| !request.conditional);
    for (number, request) in (0..).zip(requests) {
        let answer = server.send(&request, number).await?;
        if let Bare::Stored(name) | Bare::Written(name) = request.bare {
            answers.push((name, answer.body));
        }
    }
    Ok(answers)
}

/// Checks that the baseline server answers the same.
async fn prove_equal(server: &Server, baseline: &Client, samples: &[Sample]) -> Outcome {
    let some = samples.iter().step_by(97).map(|one| format!("{BASE}/proposals/{}", one.id));
    for path in pages(server).map(page_path).chain(some) {
        let (real, bare) =
            (server.client.get(&path, None).await?.is(200)?, baseline.get(&path, None).await?.is(200)?);
        if real.body != bare.body {
            return Err(format!("the baseline answers {path} otherwise").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_list_are_cut_out_as_they_were_written() {
        let body = br#"{"data":[{"b":1,"a":[{"x":"]},{"}]},{"c":2}],"meta":{"page":1}}"#;
        let members = members(body).unwrap();
        assert_eq!(members, [br#"{"b":1,"a":[{"x":"]},{"}]}"#.to_vec(), br#"{"c":2}"#.to_vec()]);
        assert!(super::members(br#"{"data":[],"meta":{}}"#).unwrap().is_empty());
        assert!(super::members(b"{}").is_err());
    }
}
