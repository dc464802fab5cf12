//! Request heads that are no HTTP. Clients cause them: they are in the log at `debug` only.

use crate::faults::kills::spawn;
use civitas_tests::service::{CITIES, Service};
use civitas_tests::{Database, Engine};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;

/// The answer to a malformed head.
fn answer_to_nonsense(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost city\0test\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_head_is_logged_at_debug_only() {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let mut service = Service::over(database, CITIES, &[]).await;
    // SQLite has one server at a time.
    service.end().await;
    for (level, is_logged) in [("info", false), ("info,actix_http=debug", true)] {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut flags = service.flags().to_vec();
        flags.retain(|(name, _)| name != "listen");
        flags.push(("listen".to_owned(), address.to_string()));
        flags.push(("log".to_owned(), level.to_owned()));
        let (mut child, _output) = spawn(&flags, Stdio::piped());
        for _ in 0..3 {
            assert!(answer_to_nonsense(address).starts_with("HTTP/1.1 400 "));
        }
        child.kill().unwrap();
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        child.wait().unwrap();
        assert_eq!(log.contains("stream error"), is_logged, "{level}: {log}");
        assert!(!log.contains("host city"), "nothing of the head: {log}");
    }
}
