//! The memory to receive, inspect and store a file does not depend on its length. The only test of its binary, because
//! it measures the memory of the process. The server with the S3 interface is another process.

use bytes::Bytes;
use civitas_attachments::{ByteStream, FileIntake, FileStore, ImageBytes, ReceiveOutcome};
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_tests::ObjectServer;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// How much a file may add, in bytes.
const ALLOWANCE: u64 = 20 * MIB;
/// The length of the chunks of a body, in bytes.
const CHUNK: u64 = 32 * 1024;

/// Text of `length` bytes, which is never in memory as a whole.
fn body(length: u64) -> ByteStream {
    let chunks = (0..length / CHUNK).map(|n| {
        let line = format!("{n:>31}\n");
        Ok(Bytes::from(line.repeat(usize::try_from(CHUNK / 32).unwrap_or_default())))
    });
    stream::iter(chunks).boxed()
}

/// The memory this program has allocated, in bytes; `None` where the system does not tell as Linux does.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The highest memory while `work` runs, above that before, in bytes.
async fn growth(work: impl Future<Output = ()>) -> u64 {
    let before = memory().unwrap_or_default();
    let (highest, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let watch = {
        let (highest, ended) = (Arc::clone(&highest), Arc::clone(&ended));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                highest.fetch_max(memory().unwrap_or_default(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        })
    };
    work.await;
    ended.store(true, Ordering::Relaxed);
    watch.join().expect("a measurement");
    highest.load(Ordering::Relaxed).saturating_sub(before)
}

async fn store_and_read(intake: &DirectoryIntake, store: &FileStorage, length: u64) {
    let ReceiveOutcome::Complete(received) = intake.receive(body(length), length).await.expect("a file")
    else {
        panic!("too long")
    };
    let inspected = intake.inspect(received, ImageBytes::WithoutMetadata).await.expect("a file");
    assert_eq!(inspected.content_type, "text/plain");
    store.put("a", inspected.content).await.expect("a stored file");
    let stream = store.read("a", 0..length).await.expect("an answer").expect("an object");
    let read =
        stream.try_fold(0, async |read, chunk| Ok(read + chunk.len() as u64)).await.expect("all bytes");
    assert_eq!(read, length);
}

/// A PNG file of 8,000 × 8,000 pixels with four channels of 16 bits, all of them 0. Only the first lines are there: it is not
/// decoded.
fn deep_image() -> Vec<u8> {
    let chunk = |kind: &[u8; 4], content: &[u8]| {
        let mut checksum = flate2::Crc::new();
        checksum.update(kind);
        checksum.update(content);
        let length = u32::try_from(content.len()).expect("a length").to_be_bytes();
        [&length[..], kind, content, &checksum.sum().to_be_bytes()].concat()
    };
    let header = [&8000_u32.to_be_bytes()[..], &8000_u32.to_be_bytes(), &[16, 6, 0, 0, 0]].concat();
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::fast());
    let line = vec![0; 1 + 8000 * 8];
    for _ in 0..500 {
        pixels.write_all(&line).expect("memory");
    }
    let pixels = pixels.finish().expect("memory");
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &header), &chunk(b"IDAT", &pixels), &chunk(b"IEND", b"")]
        .concat()
}

/// Starts the server in a process of its own, which ends when its input ends. Returns the settings of a client.
fn server() -> (Child, Vec<(String, String)>) {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--exact", "--nocapture", "server_for_another_process"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
    let settings = lines.skip_while(|line| line != "settings").skip(1).take_while(|line| line != "end");
    let settings = settings
        .filter_map(|line| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    (child, settings.collect())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the other test"]
async fn server_for_another_process() {
    let server = ObjectServer::start().await;
    println!("\nsettings");
    for (name, value) in server.settings() {
        println!("{name}={value}");
    }
    println!("end");
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_files_take_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let intake = DirectoryIntake::open(directory.path().join("incoming")).unwrap();
    let (mut child, settings) = server();
    let stores = [
        (
            "directory",
            FileStorage::open(&format!("file://{}/objects", directory.path().display()), []).unwrap(),
        ),
        ("bucket", FileStorage::open("s3://files/x", settings).unwrap()),
    ];
    for (name, store) in stores {
        // Threads and connections exist afterwards.
        store_and_read(&intake, &store, MIB).await;
        let added = growth(store_and_read(&intake, &store, 100 * MIB)).await;
        println!("{name}: {added} bytes for a file of 100 MiB");
        assert!(added < ALLOWANCE, "{name}: {added} bytes");
    }
    let refused = async {
        let reception = intake.receive(body(2048 * MIB), 1024 * MIB).await.unwrap();
        assert!(matches!(reception, ReceiveOutcome::TooLong));
    };
    let added = growth(refused).await;
    println!("{added} bytes for a body of 2 GiB with a limit of 1 GiB");
    assert!(added < ALLOWANCE, "refused: {added} bytes");
    let image = deep_image();
    println!("an image of {} bytes", image.len());
    let inspecting = async {
        let length = image.len() as u64;
        let body = stream::iter([Ok(Bytes::from(image))]).boxed();
        let ReceiveOutcome::Complete(received) = intake.receive(body, length).await.unwrap() else {
            panic!("too long")
        };
        let inspected = intake.inspect(received, ImageBytes::WithoutMetadata).await.unwrap();
        assert_eq!((inspected.content_type.as_str(), inspected.fault), ("image/png", None));
        assert!(inspected.thumbnail.is_none());
    };
    let added = growth(inspecting).await;
    println!("{added} bytes for an image whose pixels have 512 million bytes");
    assert!(added < ALLOWANCE, "image: {added} bytes");
    drop(child.stdin.take());
    // Its status says nothing: the output it writes at its end has no reader.
    child.wait().unwrap();
}
