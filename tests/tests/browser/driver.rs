//! A headless Chromium, driven over the `WebDriver` protocol.

use super::skip;
use civitas_tests::service::http;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest wait for a page.
const MAX_DURATION: Duration = Duration::from_secs(20);
/// The member of an element in an answer (`WebDriver`, "Elements").
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The program that speaks `WebDriver`. It ends with the test.
struct ChromeDriver {
    process: Child,
    port: u16,
}

impl ChromeDriver {
    /// `None` when it is not installed.
    fn start() -> Option<Self> {
        let mut command = Command::new("chromedriver");
        let command = command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().ok()?;
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut lines = output.lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        Some(Self { process, port: port.expect("chromedriver says its port") })
    }
}

impl Drop for ChromeDriver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A browser on one site. The crates for `WebDriver` change how `serde_json` orders members, in all crates that are built
/// with the tests; the few commands needed are sent here.
pub struct Browser {
    http: reqwest::Client,
    /// The address of the session.
    session: String,
    origin: String,
    _process: ChromeDriver,
}

/// An element of the page.
pub struct Element<'a> {
    browser: &'a Browser,
    id: String,
}

impl Element<'_> {
    async fn command(&self, method: Method, name: &str, body: Value) -> Result<Value, String> {
        self.browser.command(method, &format!("/element/{}/{name}", self.id), body).await
    }

    /// The value of a field.
    pub async fn value(&self) -> String {
        let value = self.command(Method::GET, "property/value", Value::Null).await.expect("a field");
        value.as_str().expect("a text").to_owned()
    }

    /// Whether a box is ticked.
    pub async fn is_selected(&self) -> bool {
        self.command(Method::GET, "selected", Value::Null).await.expect("a box") == true
    }
}

impl Browser {
    /// `None`, with a message, when there is no chromedriver and none is required.
    pub async fn start(origin: &str) -> Option<Self> {
        let Some(process) = ChromeDriver::start() else {
            skip("chromedriver is missing: apt-get install chromium-driver");
            return None;
        };
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
        let wanted = json!({"browserName": "chrome", "goog:chromeOptions": {"args": arguments}});
        let address = format!("http://127.0.0.1:{}", process.port);
        let (http, origin) = (http(), origin.to_owned());
        let mut browser = Self { http, session: address.clone(), origin, _process: process };
        let wanted = json!({"capabilities": {"alwaysMatch": wanted}});
        let begun =
            browser.command(Method::POST, "/session", wanted).await.expect("a session of chromedriver");
        browser.session = format!("{address}/session/{}", begun["sessionId"].as_str().expect("an id"));
        Some(browser)
    }

    /// Sends a command. The error is the message of chromedriver.
    async fn command(&self, method: Method, path: &str, body: Value) -> Result<Value, String> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.session));
        let request = if method == Method::POST { request.json(&body) } else { request };
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let is_good = answer.status().is_success();
        let mut answer: Value = answer.json().await.map_err(|error| error.to_string())?;
        let value = answer["value"].take();
        if is_good { Ok(value) } else { Err(value["message"].as_str().unwrap_or_default().to_owned()) }
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.command(Method::POST, path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Opens a page of the site.
    pub async fn open(&self, path: &str) {
        self.post("/url", json!({"url": format!("{}{path}", self.origin)})).await;
    }

    /// The path of the page, with its parameters.
    pub async fn path(&self) -> String {
        let address = self.command(Method::GET, "/url", Value::Null).await.expect("an address");
        address
            .as_str()
            .expect("an address")
            .strip_prefix(&self.origin)
            .expect("a page of the site")
            .to_owned()
    }

    /// The element with this selector.
    pub async fn find(&self, selector: &str) -> Element<'_> {
        let wanted = json!({"using": "css selector", "value": selector});
        match self.command(Method::POST, "/element", wanted).await {
            Ok(found) => Element { browser: self, id: found[ELEMENT].as_str().expect("an id").to_owned() },
            Err(error) => panic!("{}: no {selector}: {error}", self.path().await),
        }
    }

    /// The field with this name.
    pub async fn field(&self, name: &str) -> Element<'_> {
        self.find(&format!("[name='{name}']:not([type=hidden])")).await
    }

    /// Replaces the text of a field.
    pub async fn write(&self, name: &str, text: &str) {
        let field = self.field(name).await;
        field.command(Method::POST, "clear", json!({})).await.expect("a field to write into");
        field.command(Method::POST, "value", json!({"text": text})).await.expect("a field to write into");
    }

    /// Clicks an element in the middle of the window.
    pub async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        let script = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})";
        let argument = json!({ELEMENT: element.id});
        self.post("/execute/sync", json!({"script": script, "args": [argument]})).await;
        let clicked = element.command(Method::POST, "click", json!({})).await;
        clicked.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Sends the form with this action, and waits for the next page.
    pub async fn submit(&self, action: &str) {
        self.leave(&format!("form[action='{action}'] button[type=submit]")).await;
    }

    /// Clicks an element that leads to another page, and waits for it.
    pub async fn leave(&self, selector: &str) {
        const ARRIVED: &str = "return !window.isLeft && document.readyState === 'complete'";
        self.run("window.isLeft = true").await;
        self.click(selector).await;
        let started = Instant::now();
        loop {
            // Between two pages a script may fail.
            let script = json!({"script": ARRIVED, "args": []});
            if self.command(Method::POST, "/execute/sync", script).await.is_ok_and(|arrived| arrived == true)
            {
                return;
            }
            assert!(started.elapsed() < MAX_DURATION, "{selector} opens no page");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The text of an element, as it is shown.
    pub async fn text(&self, selector: &str) -> String {
        let found = self.find(selector).await.command(Method::GET, "text", Value::Null).await;
        found.expect("a text").as_str().expect("a text").to_owned()
    }

    /// The result of a script. `WebDriver` runs it in the page, past its content security policy.
    pub async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": []})).await
    }

    /// The result that a script gives to its callback, the last of its arguments.
    pub async fn run_async(&self, script: &str) -> Value {
        self.post("/execute/async", json!({"script": script, "args": []})).await
    }

    /// Sets the size of the window, in CSS pixels.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Sets the colours that the device prefers: `light` or `dark`. Nothing moves.
    pub async fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// A picture of the whole page, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        use base64::Engine;
        use base64::engine::general_purpose::STANDARD;
        let wanted = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.devtools("Page.captureScreenshot", wanted).await;
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.post("/refresh", json!({})).await;
    }

    /// The source of the page.
    pub async fn source(&self) -> String {
        let source = self.command(Method::GET, "/source", Value::Null).await.expect("a page");
        source.as_str().expect("a text").to_owned()
    }

    /// Ends the browser.
    pub async fn quit(self) {
        self.command(Method::DELETE, "", Value::Null).await.expect("the browser ends");
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": method, "params": parameters})).await
    }
}
