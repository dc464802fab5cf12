//! The real binary as a separate process: the demo, HTTPS, signals.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of each step, enough for a busy machine and a debug build.
const TIMEOUT: Duration = Duration::from_secs(30);

fn civitas() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CIVITAS_")) {
        command.env_remove(name);
    }
    command
}

/// A free address.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A server that is killed when the test ends before it.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let told = Command::new("kill").args([format!("-{name}"), self.0.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Ends it as a service manager would.
    fn terminate(mut self) -> (ExitStatus, String) {
        self.signal("TERM");
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                let mut log = String::new();
                self.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
                return (status, log);
            }
            assert!(Instant::now() < deadline, "it does not stop");
            sleep(Duration::from_millis(20));
        }
    }
}

/// Connects; retries until the server listens.
fn connect(address: SocketAddr) -> TcpStream {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(error) if Instant::now() > deadline => panic!("nobody listens on {address}: {error}"),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    }
}

/// The output of the demo before it serves: everything up to its second-last blank line and the examples.
fn greeting(out: &mut BufReader<ChildStdout>, last: &str) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the demo ended: {lines:?}");
        lines.push(line.trim_end().to_owned());
        if line.contains(last) {
            return lines;
        }
    }
}

/// Runs lines in a shell, as if they were pasted.
fn paste(lines: &str) -> String {
    let done = Command::new("sh").args(["-c", lines]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// How a command ends in this directory, and the line it prints.
fn failure(directory: &Path, words: &[&str]) -> String {
    let done = civitas().current_dir(directory).args(words).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{words:?}");
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn a_configuration_that_is_no_file_is_refused_and_not_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("civitas.toml");
    fs::create_dir(&file).unwrap();
    let refused = "civitas: configuration: civitas.toml: it is a directory, and must be a file\n";
    assert_eq!(failure(directory.path(), &["migrate"]), refused);
    fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("absent", &file).unwrap();
    assert_eq!(
        failure(directory.path(), &["migrate"]),
        "civitas: configuration: civitas.toml: No such file or directory (os error 2)\n",
        "a link to nothing"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing was created");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "\u{feff}data_dir = \"here\"\n").unwrap();
    assert!(civitas().current_dir(directory.path()).arg("migrate").status().unwrap().success());
    assert!(directory.path().join("here/civitas.db").is_file());
}

#[test]
fn a_command_whose_output_is_not_read_to_its_end_ends_quietly() {
    let directory = tempfile::tempdir().unwrap();
    for words in [&["completions", "bash"][..], &["openapi"], &["help"], &["serve", "--help"], &["doctor"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = civitas().current_dir(directory.path()).args(words).stdout(writer).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), said.as_ref()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn the_demo_prints_three_lines_that_work_when_pasted() {
    let directory = tempfile::tempdir().unwrap();
    let address = free_address();
    let start = || {
        let mut command = civitas();
        command.current_dir(directory.path()).args(["demo", "--listen", &address.to_string()]);
        Process::start(&mut command)
    };
    let mut demo = start();
    let mut out = BufReader::new(demo.0.stdout.take().unwrap());
    let lines = greeting(&mut out, "vote_proposals/sync");
    assert!(lines[0].starts_with("Civitas is ready"), "{lines:?}");
    let secrets: Vec<_> = lines.iter().filter(|line| line.starts_with("  API client")).collect();
    assert_eq!(secrets.len(), 2, "{lines:?}");
    assert!(directory.path().join("civitas-data/civitas.db").is_file());
    let [token, search, vote] = &lines[lines.len() - 3..] else { panic!("{lines:?}") };
    if Command::new("curl").arg("--version").output().is_ok() {
        let found = paste(&format!("{token}\n{search}"));
        assert!(found.contains(r#""data":["#) && found.contains("_component"), "{found}");
        let voted = paste(&format!("{token}\n{vote}"));
        assert!(voted.contains(r#""type":"vote_proposals""#), "{voted}");
    } else {
        eprintln!("NOT TESTED: there is no curl here to paste the lines of the demo into");
    }
    let (status, log) = demo.terminate();
    assert!(status.success(), "{log}");

    let mut again = start();
    let mut out = BufReader::new(again.0.stdout.take().unwrap());
    let lines = greeting(&mut out, "were printed at the first start");
    assert!(!lines.iter().any(|line| line.contains("key_")), "{lines:?}");
    assert!(again.terminate().0.success());
}

/// The certificate a server shows to a new connection.
fn shown_by(address: SocketAddr) -> CertificateDer<'static> {
    let mut roots = RootCertStore::empty();
    for name in ["first.crt", "second.crt"] {
        roots.add(CertificateDer::from_pem_file(fixture(name)).unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let mut client = ClientConnection::new(config, ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = connect(address);
    while client.is_handshaking() {
        client.complete_io(&mut stream).unwrap();
    }
    client.peer_certificates().unwrap()[0].clone().into_owned()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

#[test]
fn https_shows_a_new_certificate_after_a_hang_up_and_keeps_the_old_one_when_it_is_spoiled() {
    let directory = tempfile::tempdir().unwrap();
    let put = |name: &str| {
        fs::copy(fixture(&format!("{name}.crt")), directory.path().join("chain.pem")).unwrap();
        fs::copy(fixture(&format!("{name}.key")), directory.path().join("key.pem")).unwrap();
    };
    let read = |name: &str| CertificateDer::from_pem_file(fixture(name)).unwrap();
    put("first");
    let address = free_address();
    assert!(civitas().current_dir(directory.path()).arg("migrate").output().unwrap().status.success());
    let mut command = civitas();
    command.current_dir(directory.path()).args(["serve", "--listen", &address.to_string()]);
    command.args(["--tls-certificate", "chain.pem", "--tls-key", "key.pem"]);
    let server = Process::start(&mut command);
    assert_eq!(shown_by(address), read("first.crt"));
    let mut check = civitas();
    check.current_dir(directory.path()).args(["healthcheck", "--listen", &address.to_string()]);
    let check = check.args(["--tls-certificate", "chain.pem", "--tls-key", "key.pem"]).output().unwrap();
    let answer = format!("https://{address}/api/rest_full/v0.3/health answers 200 OK\n");
    assert_eq!(String::from_utf8_lossy(&check.stdout), answer, "{check:?}");

    put("second");
    server.signal("HUP");
    let deadline = Instant::now() + TIMEOUT;
    while shown_by(address) != read("second.crt") {
        assert!(Instant::now() < deadline, "the certificate was not exchanged");
        sleep(Duration::from_millis(20));
    }

    fs::copy(fixture("first.crt"), directory.path().join("chain.pem")).unwrap();
    server.signal("HUP");
    sleep(Duration::from_millis(300));
    assert_eq!(shown_by(address), read("second.crt"), "the key does not belong to it");
    let (status, log) = server.terminate();
    assert!(status.success() && log.contains("the old certificate stays in use"), "{log}");
}

#[test]
fn a_server_that_can_not_start_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = |arguments: &[&str]| civitas().current_dir(directory.path()).args(arguments).output().unwrap();
    assert!(run(&["migrate"]).status.success());
    let busy = run(&["serve", "--listen", &address]);
    let text = String::from_utf8_lossy(&busy.stderr);
    assert_eq!(busy.status.code(), Some(1));
    assert!(text.contains(&format!("listening on {address}: Address already in use")), "{text}");
    let blind = run(&["serve", "--tls-certificate", "no.pem", "--tls-key", "no.pem"]);
    assert_eq!(blind.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&blind.stderr).contains("no.pem: "), "{blind:?}");
}

#[test]
fn a_process_with_workers_only_does_not_listen_and_stops_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let address = free_address();
    assert!(civitas().current_dir(directory.path()).arg("migrate").output().unwrap().status.success());
    let mut command = civitas();
    command.current_dir(directory.path()).args(["serve", "--only-workers", "--listen", &address.to_string()]);
    let worker = Process::start(&mut command);
    sleep(Duration::from_millis(500));
    assert!(TcpStream::connect(address).is_err());
    let (status, log) = worker.terminate();
    assert!(status.success() && log.contains("stopped"), "{log}");
}

#[test]
fn the_limit_of_open_files_is_raised_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let script = r#"ulimit -S -n 256 && exec "$0" doctor --data-dir "$1""#;
    let doctor = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_civitas")])
        .arg(directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8(doctor.stdout).unwrap();
    let limits = text.lines().find_map(|line| line.strip_prefix("ok    open files"));
    let limits = limits
        .unwrap_or_else(|| panic!("{}: {text}{}", doctor.status, String::from_utf8_lossy(&doctor.stderr)));
    let (soft, hard) = limits.trim().split_once(" at most, hard limit ").unwrap();
    assert!(soft != "256" && hard.starts_with(soft), "{text}");
}
