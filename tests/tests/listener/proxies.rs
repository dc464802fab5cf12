//! The files of `docs/proxies`, each with its program in front of a server. Where a program is missing its test is skipped,
//! or fails when `CIVITAS_REQUIRE_PROXIES=1`.

use crate::listener::tls::{connect, fixture};
use civitas_tests::service::{BASE, CITIES, Service, http_builder};
use civitas_tests::{Database, Engine};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// What a client may write to look like another one, or to reach another host.
const FORGED: [(&str, &str); 5] = [
    ("forwarded", "for=192.0.2.9;host=evil.test;proto=http"),
    ("x-forwarded-for", "192.0.2.9"),
    ("x-forwarded-host", "evil.test"),
    ("x-forwarded-proto", "http"),
    ("x-forwarded-port", "81"),
];

/// Writes the file of a program for the addresses of the server, of HTTP and of HTTPS, with all its files in a directory.
type Configure = fn(&str, [SocketAddr; 3], &Path) -> String;

/// A running proxy.
struct Proxy {
    child: Child,
    http: SocketAddr,
    https: SocketAddr,
    client: Client,
    directory: TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text with other ports and paths, each of which must be in it.
fn replaced(text: &str, replacements: &[(&str, String)]) -> String {
    replacements.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} in\n{text}");
        text.replace(from, to)
    })
}

fn nginx(text: &str, [server, http, https]: [SocketAddr; 3], directory: &Path) -> String {
    let place = directory.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {place}/{name};\n"))
        .concat();
    let changes = [
        ("user www-data;\n", String::new()),
        ("/run/nginx.pid", format!("{place}/nginx.pid")),
        ("/var/log/nginx", place.to_string()),
        ("http {\n", format!("http {{\n{temporary}")),
        ("127.0.0.1:3000", server.to_string()),
        ("listen [::]:80 default_server;", String::new()),
        ("listen [::]:443 ssl http2 default_server;", String::new()),
        ("listen 80 ", format!("listen {http} ")),
        ("listen 443 ", format!("listen {https} ")),
        ("/etc/ssl/city.example/fullchain.pem", fixture("first.crt").display().to_string()),
        ("/etc/ssl/city.example/key.pem", fixture("first.key").display().to_string()),
    ];
    replaced(text, &changes)
}

fn haproxy(text: &str, [server, http, https]: [SocketAddr; 3], directory: &Path) -> String {
    let both = directory.join("both.pem");
    let parts = ["first.crt", "first.key"].map(|name| fs::read_to_string(fixture(name)).unwrap());
    fs::write(&both, parts.concat()).unwrap();
    let changes = [
        ("    user haproxy\n", String::new()),
        ("    group haproxy\n", String::new()),
        ("log /dev/log local0", "log stdout format raw local0".to_owned()),
        ("127.0.0.1:3000", server.to_string()),
        (":::80 v4v6", http.to_string()),
        (":::443 v4v6", https.to_string()),
        ("/etc/haproxy/city.example.pem", both.display().to_string()),
    ];
    replaced(text, &changes)
}

fn caddy(text: &str, [server, _, https]: [SocketAddr; 3], _: &Path) -> String {
    let [chain, key] = ["first.crt", "first.key"].map(|name| fixture(name).display().to_string());
    let site = format!("https://:{} {{\n\tbind 127.0.0.1\n\ttls {chain} {key}", https.port());
    let changes = [
        // Certificates of its own need names that exist.
        ("{\n\tservers {", "{\n\tadmin off\n\tauto_https off\n\tservers {".to_owned()),
        ("127.0.0.1:3000", server.to_string()),
        ("city.example, www.city.example {", site),
    ];
    replaced(text, &changes)
}

/// Whether the program is installed; else says so.
fn is_installed(program: &str) -> bool {
    let version = if program == "caddy" { "version" } else { "-v" };
    let found = Command::new(program).arg(version).output().is_ok();
    let is_required = std::env::var_os("CIVITAS_REQUIRE_PROXIES").is_some_and(|value| value == "1");
    assert!(found || !is_required, "{program} is not installed");
    if !found {
        eprintln!("SKIPPED: {program} is not installed");
    }
    found
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Proxy {
    /// Starts a program with its file of `docs/proxies`, in front of this server.
    async fn start(program: &str, server: SocketAddr) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [http, https] = [free_address(), free_address()];
        let (name, arguments, configure): (&str, &[&str], Configure) = match program {
            "nginx" => {
                ("nginx.conf", &["-e", "stderr", "-g", "daemon off; master_process off;", "-c"], nginx)
            }
            "haproxy" => ("haproxy.cfg", &["-db", "-f"], haproxy),
            _ => ("Caddyfile", &["run", "--adapter", "caddyfile", "--config"], caddy),
        };
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/proxies").join(name);
        let text = configure(&fs::read_to_string(template).unwrap(), [server, http, https], directory.path());
        let (file, log) = (directory.path().join(name), directory.path().join("stderr"));
        fs::write(&file, text).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).arg(&file).env("HOME", directory.path());
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log).unwrap());
        let certificate = reqwest::Certificate::from_pem(&fs::read(fixture("first.crt")).unwrap()).unwrap();
        let client = http_builder().http1_only().tls_certs_only([certificate]).resolve("localhost", https);
        let client = client.build().unwrap();
        let mut proxy = Self { child: command.spawn().unwrap(), http, https, client, directory };
        let begun = Instant::now();
        while connect(https, &["http/1.1"]).await.is_err() {
            let has_ended = proxy.child.try_wait().unwrap().is_some();
            assert!(!has_ended && begun.elapsed() < TIMEOUT, "it does not serve: {}", proxy.log());
            sleep(Duration::from_millis(50)).await;
        }
        proxy
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("stderr")).unwrap()
    }

    fn request(&self, method: Method, host: &str, path: &str) -> RequestBuilder {
        let url = format!("https://localhost:{}{path}", self.https.port());
        self.client.request(method, url).header("host", host)
    }

    async fn get(&self, path: &str, token: &str) -> Response {
        let request = self.request(Method::GET, "city.test", path).bearer_auth(token);
        request.send().await.unwrap_or_else(|error| panic!("{error:?}: {}", self.log()))
    }
}

/// What it is that a proxy must pass on as it is.
async fn check(program: &str) {
    if !is_installed(program) {
        return;
    }
    let settings = [("trusted_proxies", "127.0.0.0/8"), ("max_failed_authentications_per_minute", "3")];
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &settings).await;
    let proxy = Proxy::start(program, service.address).await;
    let token = service.user("norablum").await.token.unwrap();
    redirects(&proxy, program == "caddy").await;
    conditional_reads(&proxy, &token).await;
    events(&proxy, &service).await;
    uploads(&proxy, &service, &token).await;
    long_answers(&proxy, &service).await;
    limits_of_heads(&proxy, &token).await;
    sources(&proxy).await;
    let protocol = connect(proxy.https, &["h2"]).await.unwrap();
    assert_eq!(protocol.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()), "HTTP/2 is offered");
    drop((protocol, proxy));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nginx_passes_on_what_the_contract_says() {
    check("nginx").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn caddy_passes_on_what_the_contract_says() {
    check("caddy").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn haproxy_passes_on_what_the_contract_says() {
    check("haproxy").await;
}

/// A secondary host is redirected with the scheme of the client, whatever the client forges; plain HTTP to HTTPS.
async fn redirects(proxy: &Proxy, is_caddy: bool) {
    let path = format!("{BASE}/proposals?page=2");
    for (method, status) in [(Method::GET, 301), (Method::POST, 308)] {
        let request = proxy.request(method, "www.city.test", &path);
        let request = FORGED.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let answer = request.send().await.unwrap();
        let location = answer.headers().get("location").map(|location| location.to_str().unwrap().to_owned());
        let expected = Some(format!("https://city.test{path}"));
        assert_eq!(
            (answer.status().as_u16(), location),
            (status, expected),
            "{}",
            answer.text().await.unwrap()
        );
    }
    // Caddy does it only for hosts whose certificates it gets itself.
    if !is_caddy {
        let plain = proxy.client.post(format!("http://{}{path}", proxy.http)).header("host", "city.test");
        let answer = plain.send().await.unwrap();
        let location = answer.headers()["location"].to_str().unwrap().to_owned();
        assert_eq!((answer.status().as_u16(), location), (308, format!("https://city.test{path}")));
    }
}

async fn conditional_reads(proxy: &Proxy, token: &str) {
    let path = format!("{BASE}/proposals?per_page=1");
    let answer = proxy.get(&path, token).await;
    assert_eq!(answer.status(), 200);
    let validator = answer.headers()["etag"].clone();
    let next = answer.json::<Value>().await.unwrap()["meta"]["next"].as_str().unwrap().to_owned();
    assert!(next.starts_with(&format!("https://city.test{BASE}/proposals?")), "{next}");
    let again = proxy.request(Method::GET, "city.test", &path).bearer_auth(token);
    let again = again.header("if-none-match", &validator).send().await.unwrap();
    assert_eq!((again.status().as_u16(), &again.headers()["etag"]), (304, &validator));
    assert_eq!(again.text().await.unwrap(), "");
}

/// An event arrives while its stream goes on: nothing buffers it.
async fn events(proxy: &Proxy, service: &Service) {
    let token = service.machine().await.token.unwrap();
    let mut stream = proxy.get(&format!("{BASE}/events"), &token).await;
    assert_eq!(stream.status(), 200);
    let user = service.user("norablum").await;
    let draft = json!({"data": {"component_id": service.id("component", "ideas")}});
    user.post("/draft_proposals/sync", &draft).await.is(200);
    let mut received = Vec::new();
    let wanted: &[u8] = b"event: draft_proposal_creation.succeeded\n";
    while !received.windows(wanted.len()).any(|part| part == wanted) {
        let chunk = timeout(TIMEOUT, stream.chunk()).await.expect("an event").unwrap();
        received.extend(chunk.expect("a stream that goes on"));
    }
}

/// A file of some hundred KiB arrives whole, and so does its download.
async fn uploads(proxy: &Proxy, service: &Service, token: &str) {
    let text = (0..80_000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
    let proposal = service.id("proposal", "p1").to_string();
    let parts = [
        ("attached_to_type\"", "proposals"),
        ("attached_to_id\"", proposal.as_str()),
        ("title\"", "Plan"),
        ("description\"", "Sketch"),
        ("file\"; filename=\"plan.txt\"", text.as_str()),
    ];
    let parts = parts.map(|(name, value)| {
        format!("--b\r\ncontent-disposition: form-data; name=\"{name}\r\n\r\n{value}\r\n")
    });
    let request = proxy.request(Method::POST, "city.test", &format!("{BASE}/attachments"));
    let request = request.bearer_auth(token).header("content-type", "multipart/form-data; boundary=b");
    let answer = request.body(parts.concat() + "--b--\r\n").send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    assert!((200..300).contains(&status), "{status}: {body}");
    let url = body["data"]["attributes"]["url"].as_str().unwrap();
    let path = url.strip_prefix("https://city.test").unwrap();
    let file = proxy.request(Method::GET, "city.test", path).send().await.unwrap();
    assert!(file.text().await.unwrap() == text, "another file");
}

async fn long_answers(proxy: &Proxy, service: &Service) {
    let path = format!("{BASE}/openapi.json");
    let direct = service.anonymous().raw(Method::GET, &path, &[], None).await.text;
    let passed = proxy.request(Method::GET, "city.test", &path).send().await.unwrap();
    assert!(direct.len() > 100_000 && passed.text().await.unwrap() == direct, "another document");
}

/// A head that is too long is refused, or its connection closed; others are served.
async fn limits_of_heads(proxy: &Proxy, token: &str) {
    let request = proxy.request(Method::GET, "city.test", &format!("{BASE}/proposals"));
    let refused = request.bearer_auth(token).header("x-long", "a".repeat(100_000)).send().await;
    assert!(refused.as_ref().is_ok_and(|answer| answer.status().is_client_error()) || refused.is_err());
    let request = proxy.request(Method::GET, "city.test", &format!("{BASE}/proposals"));
    let answer = request.bearer_auth(token).header("x-long", "a".repeat(8_000)).send().await.unwrap();
    assert_eq!(answer.status(), 200, "a head of 8 KB");
    assert_eq!(proxy.get(&format!("{BASE}/proposals"), token).await.status(), 200);
}

/// A client has the address of its connection, whatever it forges.
async fn sources(proxy: &Proxy) {
    let body = r#"{"grant_type":"client_credentials","client_id":"id_city_full","client_secret":"no","scope":"public"}"#;
    let mut statuses = Vec::new();
    for number in 0..6 {
        let request = proxy.request(Method::POST, "city.test", &format!("{BASE}/oauth/token"));
        let request = request.header("x-forwarded-for", format!("192.0.2.{number}"));
        let request = request.header("forwarded", format!("for=192.0.2.{number}"));
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        statuses.push(answer.status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 429, 429, 429]);
}
