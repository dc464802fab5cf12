//! The memory of the server while it receives, refuses and serves long bodies.

use super::platform::{BASE, Platform, Server, read_answer};
use base64::Engine as _;
use civitas_tests::{Database, Engine, ObjectServer};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const MIB: u64 = 1 << 20;
/// How much a request may add, in bytes.
const ALLOWANCE: u64 = 20 * MIB;
/// The length of the accepted file, in bytes.
const LENGTH: u64 = 100 * MIB;
/// The length of the refused bodies, in bytes.
const TOO_LONG: u64 = 2048 * MIB;

/// A line of `/proc/PID/status`, in bytes; `None` where the system does not tell as Linux does.
fn status(server: &Server, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The highest memory while `work` runs, above that before, in bytes.
async fn growth<T>(server: &Server, work: impl Future<Output = T>) -> (u64, T) {
    // The peak begins again here; where that is not allowed, it is that since the start.
    let _ = std::fs::write(format!("/proc/{}/clear_refs", server.process.id()), "5");
    let before = status(server, "VmRSS").unwrap_or_default();
    let done = work.await;
    (status(server, "VmHWM").unwrap_or_default().saturating_sub(before), done)
}

async fn assert_small<T>(server: &Server, what: &str, work: impl Future<Output = T>) -> T {
    let (added, done) = growth(server, work).await;
    println!("{what}: {} KiB", added / 1024);
    assert!(added < ALLOWANCE, "{what}: {added} bytes");
    done
}

/// A block of text of 64 KiB.
fn block() -> Vec<u8> {
    "plain text here\n".repeat(4096).into_bytes()
}

/// Sends a head, `length` bytes of text between `before` and `after`, and reads the answer. The server may answer and
/// close before it has all.
async fn send(
    server: &Server,
    head: String,
    (before, after): (&str, &str),
    length: u64,
    chunked: bool,
) -> Option<(u16, Vec<u8>)> {
    let socket = TcpStream::connect(server.address).await.ok()?;
    let (mut from, mut to) = socket.into_split();
    let total = before.len() as u64 + length + after.len() as u64;
    let framing =
        if chunked { "Transfer-Encoding: chunked".to_owned() } else { format!("Content-Length: {total}") };
    let (before, after) = (before.as_bytes().to_vec(), after.as_bytes().to_vec());
    let writing = tokio::spawn(async move {
        to.write_all(format!("{head}{framing}\r\n\r\n").as_bytes()).await?;
        let block = block();
        let blocks = std::iter::repeat_n(&block, usize::try_from(length / block.len() as u64).unwrap());
        for bytes in std::iter::once(&before).chain(blocks).chain([&after]).filter(|bytes| !bytes.is_empty())
        {
            if chunked {
                to.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
            }
            to.write_all(bytes).await?;
            if chunked {
                to.write_all(b"\r\n").await?;
            }
        }
        to.write_all(if chunked { b"0\r\n\r\n" } else { b"" }).await?;
        // Open until the answer is read.
        Ok::<_, std::io::Error>(to)
    });
    let answer = read_answer(&mut from).await;
    writing.abort();
    answer
}

fn checksum(length: u64) -> String {
    let (mut md5, block) = (Md5::new(), block());
    (0..length / block.len() as u64).for_each(|_| md5.update(&block));
    base64::engine::general_purpose::STANDARD.encode(md5.finalize())
}

/// Requests an upload of `length` bytes; returns the head of the request that sends them.
async fn stage(server: &Server, length: u64, checksum: &str) -> String {
    let members = json!({"filename": "a.txt", "byte_size": length, "checksum": checksum});
    let answer = server.post("/attachments/direct_upload", &members).await.unwrap();
    let signed = answer["signed_id"].as_str().unwrap_or_else(|| panic!("{answer}"));
    Server::head("PUT", &format!("{BASE}/attachments/direct_upload/{signed}"))
}

/// Attaches a file of this length, sends it as an upload too, and reads it.
async fn accept(platform: &Platform, server: &Server, length: u64, chunked: bool) {
    let (before, after) = platform.form();
    let work = send(server, server.form_head(), (&before, &after), length, chunked);
    let (status, body) = assert_small(server, "form", work).await.unwrap();
    assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
    let document: Value = serde_json::from_slice(&body).unwrap();
    let url = document["data"]["attributes"]["url"].as_str().unwrap().replace("https://city.test", "");
    let head = stage(server, length, &checksum(length)).await;
    let (status, _) =
        assert_small(server, "upload", send(server, head, ("", ""), length, chunked)).await.unwrap();
    assert_eq!(status, 204);
    let reading = async {
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        socket.write_all(format!("{}\r\n", Server::head("GET", &url)).as_bytes()).await.unwrap();
        tokio::io::copy(&mut socket, &mut tokio::io::sink()).await.unwrap()
    };
    assert!(assert_small(server, "served", reading).await > length);
}

async fn refuse(platform: &Platform, server: &Server) {
    let (before, after) = platform.form();
    for chunked in [false, true] {
        let work = send(server, server.form_head(), (&before, &after), TOO_LONG, chunked);
        let answer = assert_small(server, "refused form", work).await;
        assert_eq!(answer.map(|(status, _)| status), Some(413), "{chunked}");
        let head = stage(server, MIB, &checksum(MIB)).await;
        let answer =
            assert_small(server, "refused upload", send(server, head, ("", ""), TOO_LONG, chunked)).await;
        assert_eq!(answer.map(|(status, _)| status), Some(if chunked { 422 } else { 413 }));
        let head = server.form_head().replace("multipart/form-data", "application/json");
        let answer =
            assert_small(server, "refused document", send(server, head, ("", ""), TOO_LONG, chunked)).await;
        assert_eq!(answer.map(|(status, _)| status), Some(413), "{chunked}");
        let head = server.form_head().replace("Bearer", "Bearer x");
        let answer =
            assert_small(server, "without a token", send(server, head, (&before, &after), TOO_LONG, chunked))
                .await;
        assert_eq!(answer.map(|(status, _)| status), Some(401), "{chunked}");
        // One line that never ends, before the first boundary.
        let work = send(server, server.form_head(), ("", &after), TOO_LONG, chunked);
        let answer = assert_small(server, "no boundary", work).await;
        assert!(matches!(answer, Some((400 | 413, _))), "{chunked}");
    }
}

/// A server over SQLite that has received files before: threads, connections and code that is used later exist.
async fn warm(bucket: Option<ObjectServer>) -> Option<(Platform, Server)> {
    let platform = Platform::over(Database::fresh(Engine::Sqlite).await?, bucket);
    let server = platform.serve().await;
    let (before, after) = platform.form();
    for _ in 0..3 {
        let answer = send(&server, server.form_head(), (&before, &after), MIB, false).await;
        assert_eq!(answer.unwrap().0, 201);
    }
    Some((platform, server))
}

#[tokio::test(flavor = "multi_thread")]
async fn long_bodies_cost_little_memory_with_a_directory() {
    let Some((platform, server)) = warm(None).await else { return };
    accept(&platform, &server, LENGTH, false).await;
    accept(&platform, &server, LENGTH, true).await;
    refuse(&platform, &server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_bodies_cost_little_memory_with_a_bucket() {
    let bucket = ObjectServer::start().await;
    let Some((platform, server)) = warm(Some(bucket)).await else { return };
    accept(&platform, &server, LENGTH, true).await;
}
