//! A PostgreSQL server of a test's own, which it stops and starts.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Open transactions are rolled back, everything is written.
    InOrder,
    /// At once; the next start recovers from the write-ahead log.
    Crash,
}

/// The server. Dropped, it ends, and its files are removed.
pub struct Cluster {
    programs: PathBuf,
    directory: TempDir,
    port: u16,
}

impl Cluster {
    /// Makes and starts one; `None` where the programs of the server are not found.
    pub fn make() -> Option<Self> {
        let Some(programs) = programs() else {
            let news = "NO initdb IS FOUND: PostgreSQL is not stopped and started by the tests";
            let mut stderr = std::io::stderr();
            writeln!(stderr, "{news}").unwrap();
            return None;
        };
        let cluster = Self::in_new_directory(programs);
        let data = cluster.data();
        cluster
            .run("initdb", &["-D", &data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        cluster.start();
        // Row-level security does not bind superusers.
        let port = cluster.port.to_string();
        let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        cluster.run("createuser", &[&server[..], &["civitas"]].concat());
        cluster.run("createdb", &[&server[..], &["-O", "civitas", "civitas"]].concat());
        Some(cluster)
    }

    fn in_new_directory(programs: PathBuf) -> Self {
        let directory = tempfile::Builder::new().prefix("civitas-cluster").tempdir_in("/tmp").unwrap();
        if is_root() {
            let owned = Command::new("chown").arg("postgres:").arg(directory.path()).status();
            assert!(owned.unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { programs, directory, port }
    }

    /// Makes and starts a server that repeats what this one writes, and only reads.
    pub fn standby(&self) -> Self {
        let standby = Self::in_new_directory(self.programs.clone());
        let (port, data) = (self.port.to_string(), standby.data());
        let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        standby.run("pg_basebackup", &[&server[..], &["-D", &data, "-R", "-c", "fast"]].concat());
        standby.start();
        standby
    }

    /// What a statement of an administrator returns.
    #[track_caller]
    pub fn ask(&self, sql: &str) -> String {
        let port = self.port.to_string();
        let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "civitas", "-qtAc", sql];
        let output = self.command("psql", &server).stdout(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{sql}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Lets a standby write, as after the loss of the server that it repeats.
    pub fn promote(&self) {
        self.run("pg_ctl", &["promote", "-D", &self.data(), "-w", "-s"]);
    }

    /// Executes statements as a superuser, each outside of transactions.
    pub fn execute(&self, statements: &[&str]) {
        let port = self.port.to_string();
        let mut arguments = vec!["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-q", "-X"];
        arguments.extend(statements.iter().flat_map(|statement| ["-c", statement]));
        self.run("psql", &arguments);
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        format!("postgres://civitas@127.0.0.1:{}/civitas", self.port)
    }

    /// Starts it; it answers when this returns.
    pub fn start(&self) {
        let (data, log) = (self.data(), self.file("log"));
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -k {}", self.port, self.file(""));
        self.run("pg_ctl", &["start", "-D", &data, "-l", &log, "-o", &options, "-w", "-s"]);
    }

    /// Stops it.
    pub fn stop(&self, stop: Stop) {
        let mode = if stop == Stop::Crash { "immediate" } else { "fast" };
        self.run("pg_ctl", &["stop", "-D", &self.data(), "-m", mode, "-w", "-s"]);
    }

    fn data(&self) -> String {
        self.file("data")
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    #[track_caller]
    fn run(&self, program: &str, args: &[&str]) {
        let status = self.command(program, args).status().unwrap();
        assert!(status.success(), "{program} {args:?}: {status}");
    }

    /// PostgreSQL does not run as root.
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(args).current_dir("/").stdout(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may not run.
        let data = self.data();
        let _ = self.command("pg_ctl", &["stop", "-D", &data, "-m", "immediate", "-s"]).status();
    }
}

pub fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// The directory of the server's programs: where Debian has them, or that of `pg_config`.
pub fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<_> = debian.map(|version| version.path().join("bin")).collect();
    found.sort();
    let config = Command::new("pg_config").arg("--bindir").output();
    found.extend(config.ok().map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())));
    found.into_iter().rev().find(|directory: &PathBuf| Path::new(directory).join("initdb").is_file())
}
