//! A headless Chromium, driven over the `WebDriver` protocol.

use super::skip;
use async_trait::async_trait;
use bytes::Bytes;
use civitas_tests::service::http;
use hyper::{Request, Response};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thirtyfour::error::{WebDriverError, WebDriverResult};
use thirtyfour::session::http::{Body, HttpClient};
use thirtyfour::{By, ChromiumLikeCapabilities, DesiredCapabilities, WebDriver, WebElement};

/// The longest wait for a page.
const LONGEST: Duration = Duration::from_secs(20);

/// Sends commands with the HTTP client of the other tests.
struct Http(reqwest::Client);

#[async_trait]
impl HttpClient for Http {
    async fn send(&self, request: Request<Body<'_>>) -> WebDriverResult<Response<Bytes>> {
        let failed = |error: reqwest::Error| WebDriverError::HttpError(error.to_string());
        let (parts, body) = request.into_parts();
        let request = self.0.request(parts.method, parts.uri.to_string()).headers(parts.headers);
        let request = match body {
            Body::Empty => request,
            Body::Json(value) => request.json(value),
        };
        let answer = request.send().await.map_err(failed)?;
        let status = answer.status();
        let mut response = Response::new(answer.bytes().await.map_err(failed)?);
        *response.status_mut() = status;
        Ok(response)
    }

    async fn new(&self) -> Arc<dyn HttpClient> {
        Arc::new(Self(self.0.clone()))
    }
}

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

/// A browser on one site.
pub struct Browser {
    pub driver: WebDriver,
    origin: String,
    _process: ChromeDriver,
}

impl Browser {
    /// `None`, with a message, when there is no chromedriver and none is required.
    pub async fn start(origin: &str) -> Option<Self> {
        let Some(process) = ChromeDriver::start() else {
            skip("chromedriver is missing: apt-get install chromium-driver");
            return None;
        };
        let mut wanted = DesiredCapabilities::chrome();
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] {
            wanted.add_arg(argument).expect("an argument");
        }
        let address = format!("http://127.0.0.1:{}", process.port);
        let driver = WebDriver::builder(address, wanted).client(Http(http())).connect().await;
        let driver = driver.expect("a session of chromedriver");
        Some(Self { driver, origin: origin.to_owned(), _process: process })
    }

    /// Opens a page of the site.
    pub async fn open(&self, path: &str) {
        self.driver.goto(format!("{}{path}", self.origin)).await.expect("a page");
    }

    /// The path of the page, with its parameters.
    pub async fn path(&self) -> String {
        let address = self.driver.current_url().await.expect("an address");
        address.as_str().strip_prefix(&self.origin).expect("a page of the site").to_owned()
    }

    /// The element with this selector.
    pub async fn find(&self, selector: &str) -> WebElement {
        let found = self.driver.find(By::Css(selector)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("{}: no {selector}: {error}", self.path().await),
        }
    }

    /// The field with this name.
    pub async fn field(&self, name: &str) -> WebElement {
        self.find(&format!("[name='{name}']:not([type=hidden])")).await
    }

    /// Replaces the text of a field.
    pub async fn write(&self, name: &str, text: &str) {
        let field = self.field(name).await;
        field.clear().await.expect("a field to write into");
        field.send_keys(text).await.expect("a field to write into");
    }

    /// Clicks an element in the middle of the window.
    pub async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        let script = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})";
        let argument = element.to_json().expect("an element");
        self.driver.execute(script, vec![argument]).await.expect("a script");
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
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
            let arrived = self.driver.execute(ARRIVED, Vec::new()).await;
            if arrived.is_ok_and(|arrived| arrived.json().as_bool() == Some(true)) {
                return;
            }
            assert!(started.elapsed() < LONGEST, "no page after {selector}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The text of an element, as it is shown.
    pub async fn text(&self, selector: &str) -> String {
        self.find(selector).await.text().await.expect("a text")
    }

    /// The result of a script. `WebDriver` runs it in the page, past its content security policy.
    pub async fn run(&self, script: &str) -> Value {
        self.driver.execute(script, Vec::new()).await.expect("a script").json().clone()
    }

    /// The result that a script gives to its callback, the last of its arguments.
    pub async fn run_async(&self, script: &str) -> Value {
        self.driver.execute_async(script, Vec::new()).await.expect("a script").json().clone()
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

    /// Ends the browser.
    pub async fn quit(self) {
        self.driver.quit().await.expect("the browser ends");
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(method, parameters).await.expect("a command of the browser")
    }
}
