//! The export of traces by the real binary: what a collector gets, and what a server does without one.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use civitas_tests::{Behaviour, Receiver};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Read};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The time limit of each step, enough for a busy machine and a debug build.
const TIMEOUT: Duration = Duration::from_secs(60);
const BASE: &str = "/api/rest_full/v0.3";
/// The trace and the span of a caller behind the proxy.
const CALLER: [&str; 2] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
/// A text of a query string.
const SEARCHED: &str = "unmistakable words";

/// `civitas demo` as a process, which is killed when the test ends before it.
struct Demo {
    process: Child,
    /// Its output stays open: a demo whose greeting cannot be written ends.
    _output: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
    http: reqwest::Client,
    /// The id and the secret of the client with all rights.
    client: [String; 2],
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Demo {
    /// Starts a demo in an empty directory, with this collector; waits until it serves.
    fn start(directory: &Path, collector: &str) -> Self {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
        let variables = std::env::vars_os().map(|(name, _)| name);
        for name in variables.filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with("CIVITAS_") || name.starts_with("OTEL_")
        }) {
            command.env_remove(name);
        }
        command.current_dir(directory).args(["demo", "--listen", &address.to_string()]);
        command.env("OTEL_BSP_SCHEDULE_DELAY", "1000");
        command.args(["--trusted-proxies", "127.0.0.1"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut client = None;
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        for line in output.by_ref().map(Result::unwrap) {
            if let Some(words) = line.strip_prefix("  API client") {
                let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
                client = client.or_else(|| <[String; 2]>::try_from(words).ok());
            } else if line.contains("vote_proposals/sync") {
                break;
            }
        }
        Self { process, _output: output, address, http: reqwest::Client::new(), client: client.unwrap() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a request to the host of the demo.
    async fn send(&self, request: RequestBuilder) -> Value {
        let request = request.header("host", format!("localhost:{}", self.address.port()));
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
        serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default()
    }

    async fn token(&self) -> String {
        let [client_id, client_secret] = &self.client;
        let grant = json!({"grant_type": "password", "auth_type": "impersonate", "username": "tom_baker",
            "client_id": client_id, "client_secret": client_secret, "scope": "public proposals oauth"});
        let issued = self.send(self.http.post(self.url("/oauth/token")).json(&grant)).await;
        issued["access_token"].as_str().unwrap().to_owned()
    }

    /// Stops it as a service manager would. Returns its log, and how long it took.
    fn terminate(mut self) -> (String, Duration) {
        let begun = Instant::now();
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let mut log = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                assert!(status.success(), "{status}: {log}");
                return (log, begun.elapsed());
            }
            assert!(begun.elapsed() < TIMEOUT, "it does not stop");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// All batches that a collector has got.
fn batches(collector: &Receiver) -> Vec<ExportTraceServiceRequest> {
    let received = collector.received();
    assert!(received.iter().all(|request| request.target == "/v1/traces"), "{received:?}");
    received.into_iter().map(|request| ExportTraceServiceRequest::decode(request.body).unwrap()).collect()
}

fn spans(batches: &[ExportTraceServiceRequest]) -> Vec<Span> {
    let resources = batches.iter().flat_map(|batch| &batch.resource_spans);
    resources.flat_map(|of_resource| &of_resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        AnyValue::StringValue(text) => Some(text.clone()),
        AnyValue::IntValue(number) => Some(number.to_string()),
        other => panic!("{other:?}"),
    }
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let names = || spans.iter().map(|span| span.name.as_str()).collect::<Vec<_>>();
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {:?}", names()))
}

/// A read behind a proxy, a job, and a page of the panel. Returns texts that no span may have.
async fn use_it(demo: &Demo, collector: &Receiver) -> [String; 3] {
    let token = demo.token().await;
    let path = format!("{BASE}/components/search?note={}", SEARCHED.replace(' ', "%20"));
    let search = demo.http.get(demo.url(&path)).bearer_auth(&token);
    let [trace, span] = CALLER;
    demo.send(search.header("traceparent", format!("00-{trace}-{span}-01"))).await;
    let write = demo.http.put(demo.url(&format!("{BASE}/me/extended_data"))).bearer_auth(&token);
    demo.send(write.json(&json!({"object_path": "traced", "data": {"words": SEARCHED}}))).await;
    let begun = Instant::now();
    // The job runs after its answer; the other spans of the server are exported meanwhile.
    while !spans(&batches(collector)).iter().any(|span| span.name == "application.commands.perform") {
        assert!(begun.elapsed() < TIMEOUT, "no span of the job");
        sleep(Duration::from_millis(100)).await;
    }
    demo.send(demo.http.get(demo.url("/system/admins/sign_in?note=unmistakable"))).await;
    [token, demo.client[1].clone(), "unmistakable".to_owned()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_the_spans_of_requests_and_jobs_without_secrets() {
    let (directory, collector) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    collector.behave(Behaviour::Answer(200));
    let demo = Demo::start(directory.path(), &collector.url("/"));
    let hidden = use_it(&demo, &collector).await;
    let (log, _) = demo.terminate();
    assert!(!log.contains("could not be exported"), "{log}");
    let batches = batches(&collector);
    let spans = spans(&batches);
    let search = named(&spans, "GET /components/search");
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/components/search"),
        ("http.response.status_code", "200"),
        ("client", &demo_client(&spans)),
    ] {
        assert_eq!(text(&search.attributes, name).as_deref(), Some(value), "{name}");
    }
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let [link] = search.links.as_slice() else { panic!("{:?}", search.links) };
    assert_eq!([hex(&link.trace_id), hex(&link.span_id)], CALLER);
    assert_ne!(hex(&search.trace_id), CALLER[0], "a request begins a trace of its own");
    let job = named(&spans, "application.commands.perform");
    assert!(text(&job.attributes, "key").unwrap().contains("extended_data"), "{job:?}");
    let enqueued = named(&spans, "application.commands.enqueue");
    assert_eq!(enqueued.parent_span_id, named(&spans, "PUT /me/extended_data").span_id);
    // Its request was the last one: it was sent when the server stopped.
    named(&spans, "GET /system/admins/sign_in");
    for batch in &batches {
        let resource = batch.resource_spans[0].resource.as_ref().unwrap();
        assert_eq!(text(&resource.attributes, "service.name").as_deref(), Some("civitas"));
        let version = text(&resource.attributes, "service.version");
        assert_eq!(version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        assert!(text(&resource.attributes, "host.name").is_some_and(|host| !host.is_empty()));
    }
    let everything = format!("{batches:?}");
    for text in hidden {
        assert!(!everything.contains(&text), "{text}");
    }
}

/// The client of any request.
fn demo_client(spans: &[Span]) -> String {
    spans.iter().find_map(|span| text(&span.attributes, "client")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_collector_a_server_answers_warns_once_and_stops() {
    let silent = Receiver::start().await;
    silent.behave(Behaviour::Silence);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for collector in [silent.url("/"), format!("http://user:unmistakable@{closed}")] {
        let directory = tempfile::tempdir().unwrap();
        let demo = Demo::start(directory.path(), &collector);
        let token = demo.token().await;
        let begun = Instant::now();
        // Longer than three batches need.
        while begun.elapsed() < Duration::from_secs(8) {
            let sent = Instant::now();
            let search = demo.http.get(demo.url(&format!("{BASE}/components/search?page=2")));
            demo.send(search.bearer_auth(&token)).await;
            assert!(sent.elapsed() < Duration::from_secs(4), "a request waits for the collector");
        }
        let (log, took) = demo.terminate();
        assert_eq!(log.matches("traces could not be exported").count(), 1, "{log}");
        assert!(!log.contains("unmistakable"), "{log}");
        // The limits for the last spans and for requests, on a busy machine.
        assert!(took < Duration::from_secs(40), "{took:?}");
    }
}

#[test]
fn an_invalid_address_of_a_collector_is_refused_without_its_text() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
    command.current_dir(directory.path()).args(["demo", "--listen", "127.0.0.1:0"]).env_clear();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:unmistakable@[collector");
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("OTEL_EXPORTER_OTLP_ENDPOINT must be an address"), "{text}");
    assert!(!text.contains("unmistakable"), "{text}");
}
