//! The test environment: the city in a temporary directory, both servers, and a check that both answer the same bytes.

use crate::Outcome;
use crate::baseline::PAGE;
use crate::city::{self, Size};
use crate::client::{BASE, Client};
use crate::ledger::{self, Proposals, Recorded};
use crate::process::{Process, free_address};
use crate::voting::{Pairs, Voter, completed};
use serde::de::IgnoredAny;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Requests under way while the answers are recorded.
const AT_ONCE: i64 = 16;
/// Pages the load is spread over.
pub const PAGES: i64 = 50;
/// The key of the server: PostgreSQL needs one.
const SECRET_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The part of all pairs of voter and proposal from which the recorded votes come.
const RECORDED: u64 = 7;

/// Everything is ready to be measured.
pub struct Stage {
    /// The server.
    pub civitas: Process,
    /// The baseline server.
    pub baseline: Process,
    /// The machine client, at the server.
    pub client: Client,
    /// The machine client's token.
    pub bearer: String,
    /// Who votes on what.
    pub pairs: Arc<Pairs>,
    /// Length of the answer with one proposal, in bytes.
    pub length: u64,
    home: Home,
}

/// Where the files are.
pub struct Home {
    /// The server.
    pub binary: PathBuf,
    /// Of all files.
    pub directory: PathBuf,
    /// The database of the server, if it is not [`Home::database`].
    pub postgres: Option<String>,
}

impl Home {
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
        // Receivers of webhooks are on this machine.
        command.env("CIVITAS_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8");
        command.arg("--data-dir").arg(&self.directory).current_dir(&self.directory);
        command
    }

    /// Runs one command of the binary to its end, for each database.
    fn run(&self, words: &[&str]) -> Outcome {
        self.databases().iter().try_for_each(|database| self.run_one(database, words))
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
        let words = ["serve", "--public-scheme", "http", "--listen", &address.to_string()];
        let mut command = self.civitas(&database, &words);
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

/// How the server answered for each proposal.
struct Answers {
    all: Vec<Recorded>,
    etags: Vec<String>,
}

impl Stage {
    /// Builds it, with the server of this binary, over `postgres` or over SQLite.
    pub async fn build(
        binary: &Path,
        directory: &Path,
        postgres: Option<String>,
        size: Size,
    ) -> Outcome<Self> {
        let home = Home { binary: fs::canonicalize(binary)?, directory: directory.to_owned(), postgres };
        let archive = home.file("city.ndjson");
        city::write(size, &mut BufWriter::new(File::create(&archive)?))?;
        home.run(&["migrate"])?;
        home.run(&["import", "--quiet", &archive.display().to_string()])?;
        ledger::copy(&home.database(), &home.file("baseline.db"))?;
        let mut kept = ledger::open(&home.file("baseline.db"))?;
        let proposals = ledger::proposals_of(&mut kept)?;
        let mut civitas = home.serve()?;
        civitas.until_answers(&format!("{BASE}/health"))?;

        let anybody = Client::new(civitas.address)?;
        let bearer = anybody.token(None).await?;
        let client = anybody.bearing(&bearer);
        let mut voters = Vec::new();
        for user in 0..size.users {
            let nickname = city::nickname(user);
            let bearer = anybody.token(Some(&nickname)).await?;
            voters.push(Voter { bearer, user: ledger::user_of(&mut kept, &nickname)? });
        }
        let pairs = Arc::new(Pairs { voters, first: proposals.first, proposals: size.proposals });
        let answers = record(&client, proposals).await?;
        ledger::keep(&mut kept, &answers.all)?;
        record_writes(&mut kept, &client, &pairs).await?;
        home.write_addresses(&answers, &pairs)?;
        drop(kept);

        let baseline = home.baseline()?;
        prove_equal(&client, &client.at(baseline.address), &answers).await?;
        let length = answers.all.iter().map(|one| one.shown.len() as u64).min().unwrap_or(0);
        Ok(Self { civitas, baseline, client, bearer, pairs, length, home })
    }

    /// A file of the stage, for the generator.
    pub fn file(&self, name: &str) -> String {
        self.home.file(name).display().to_string()
    }

    /// Stops both, and starts the server again, so often. It runs after the last, and answers.
    pub fn start_again(self, times: usize) -> Outcome<(Process, Vec<std::time::Duration>)> {
        drop(self.baseline);
        let (mut server, mut took) = (self.civitas, Vec::new());
        for _ in 0..times {
            server.stop()?;
            server = self.home.serve()?;
            took.push(server.until_answers(&format!("{BASE}/health"))?);
        }
        Ok((server, took))
    }
}

impl Home {
    /// The files the scripts read.
    fn write_addresses(&self, answers: &Answers, pairs: &Pairs) -> Outcome {
        let lines = |line: &dyn Fn(&Recorded, &String) -> String| -> String {
            answers
                .all
                .iter()
                .zip(&answers.etags)
                .flat_map(|(one, etag)| [line(one, etag), "\n".into()])
                .collect()
        };
        let shown = lines(&|one, _| format!("{BASE}/proposals/{}", one.id));
        let conditional = lines(&|one, etag| format!("{BASE}/proposals/{}\t{etag}", one.id));
        let hello = lines(&|_, etag| format!("/hello\t{etag}"));
        let pages: String = (1..=PAGES).flat_map(|page| [page_path(page), "\n".into()]).collect();
        for (name, text) in [
            ("shown.txt", shown),
            ("conditional.txt", conditional),
            ("hello.txt", hello),
            ("pages.txt", pages),
            ("first.txt", format!("{}\n", page_path(1))),
        ] {
            fs::write(self.file(name), text)?;
        }
        pairs.write(&self.file("voters.txt"))
    }
}

fn page_path(page: i64) -> String {
    format!("{BASE}/proposals?page={page}")
}

/// Reads every proposal, alone and in its list.
async fn record(client: &Client, proposals: Proposals) -> Outcome<Answers> {
    let mut tasks = JoinSet::new();
    for task in 0..AT_ONCE {
        let client = client.clone();
        tasks.spawn(async move {
            let (mut shown, mut id) = (Vec::new(), proposals.first + task);
            while id <= proposals.last {
                let answer = client.get(&format!("{BASE}/proposals/{id}"), None).await?.is(200)?;
                shown.push((id, answer.etag, answer.body));
                id += AT_ONCE;
            }
            Outcome::Ok(shown)
        });
    }
    let mut shown = Vec::new();
    while let Some(done) = tasks.join_next().await {
        shown.extend(done??);
    }
    shown.sort_by_key(|(id, ..)| *id);
    let mut listed = Vec::new();
    for page in 1..=(proposals.last - proposals.first) / PAGE + 1 {
        let answer = client.get(&page_path(page), None).await?.is(200)?;
        listed.extend(members(&answer.body)?);
    }
    if listed.len() != shown.len() {
        return Err(format!("{} proposals are listed, {} are there", listed.len(), shown.len()).into());
    }
    let (mut all, mut etags) = (Vec::new(), Vec::new());
    for ((id, etag, shown), listed) in shown.into_iter().zip(listed) {
        etags.push(etag);
        all.push(Recorded { id, shown, listed });
    }
    Ok(Answers { all, etags })
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

/// Writes of each kind, and what was answered.
async fn record_writes(kept: &mut diesel::SqliteConnection, client: &Client, pairs: &Pairs) -> Outcome {
    let begin = pairs.part(RECORDED);
    let token = client.post("/oauth/token", &crate::client::grant(), None).await?.is(200)?.body;
    let vote = pairs.cast(client, begin, true).await?;
    let receipt = pairs.cast(client, begin + 1, false).await?;
    let job = completed(client, &receipt).await?;
    for (name, body) in [("token", token), ("vote", vote), ("receipt", receipt), ("job", job)] {
        ledger::keep_recorded(kept, name, &body)?;
    }
    Ok(())
}

/// Checks that both answer the same, and that the server answers 304.
async fn prove_equal(civitas: &Client, baseline: &Client, answers: &Answers) -> Outcome {
    let pages = (1..=PAGES).map(page_path);
    let some = answers.all.iter().step_by(97).map(|one| format!("{BASE}/proposals/{}", one.id));
    for path in pages.chain(some) {
        let (real, bare) =
            (civitas.get(&path, None).await?.is(200)?, baseline.get(&path, None).await?.is(200)?);
        if real.body != bare.body {
            return Err(format!("the baseline answers {path} otherwise").into());
        }
    }
    for (one, etag) in answers.all.iter().zip(&answers.etags).step_by(97) {
        civitas.get(&format!("{BASE}/proposals/{}", one.id), Some(etag)).await?.is(304)?;
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
