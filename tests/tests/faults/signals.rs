//! Signals to the process of `civitas serve`.

use civitas_server::cli::{Console, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// 32 bytes.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Less than a start waits for a database, and much more than a stop takes.
const SOON: Duration = Duration::from_secs(10);
/// How long a start may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn code_of(words: &[String]) -> u8 {
    let console = Console {
        environment: Vec::new(),
        stdin: &mut &b""[..],
        stdout: &mut std::io::sink(),
        stderr: &mut std::io::stderr(),
        watched: false,
    };
    run(["civitas".to_owned()].iter().chain(words), console).await
}

/// A command in a process of its own. Its words come in one line of its input.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the other tests"]
async fn command_of_another_process() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let words: Vec<String> = serde_json::from_str(&line).unwrap();
    std::process::exit(code_of(&words).await.into());
}

/// A process that is killed when the test ends.
struct Process(Child);

impl Process {
    fn of(words: &[String]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "--nocapture", "faults::signals::command_of_another_process"]);
        let (stdin, none) = (Stdio::piped(), Stdio::null);
        let mut child = command.stdin(stdin).stdout(none()).stderr(none()).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{}", json!(words)).unwrap();
        Self(child)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// How it ended; `None` if it still runs after this time.
    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            let ended = self.0.try_wait().unwrap();
            if ended.is_some() || started.elapsed() > patience {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The words of a command, with the settings of a deployment in this directory.
fn words(directory: &TempDir, words: &[&str]) -> Vec<String> {
    let data = directory.path().display().to_string();
    let settings = ["--data-dir", &data, "--secret-key", KEY];
    words.iter().chain(&settings).map(|&word| word.to_owned()).collect()
}

/// Waits until the server listens.
fn wait_for(address: SocketAddr, server: &mut Process) {
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(server.ended_within(Duration::ZERO).is_none(), "the server did not start");
        assert!(started.elapsed() < TIMEOUT, "the server does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_server_stops_in_order_at_a_signal_and_stays_at_the_one_for_certificates() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(code_of(&words(&directory, &["migrate"])).await, 0);
    for signal in [Signal::TERM, Signal::INT] {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut server = Process::of(&words(&directory, &["serve", "--listen", &address.to_string()]));
        wait_for(address, &mut server);
        server.send(Signal::HUP);
        assert_eq!(server.ended_within(Duration::from_millis(500)), None, "a server without a certificate");
        server.send(signal);
        let ended = server.ended_within(SOON).expect("the server stops");
        assert_eq!((ended.code(), ended.signal()), (Some(0), None), "{signal:?}");
    }
}

/// A server that accepts connections and says nothing is one that never answers.
#[test]
fn a_signal_ends_a_start_that_waits_for_the_database() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://civitas@{}/civitas", silent.local_addr().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut server = Process::of(&words(&directory, &["serve", "--database-url", &url]));
    let _waiting = silent.accept().unwrap();
    server.send(Signal::TERM);
    let ended = server.ended_within(Duration::from_secs(1)).expect("the start ends");
    assert_eq!(ended.signal(), Some(Signal::TERM.as_raw()));
}
