//! The administration panel in a headless Chromium. Needs chromedriver and axe-core (`tests/browser/install`); without
//! them the tests are skipped, or fail when `CIVITAS_REQUIRE_BROWSER=1`.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod accessibility;
mod driver;
mod process;
mod walk;

use civitas_tests::panel::{EMAIL, PASSWORD, SIGN_IN};
use civitas_tests::{CITIES, Database, Engine, Service};
use driver::Browser;

/// Says what is missing. The test is skipped; where a browser is required it fails.
fn skip(missing: &str) {
    let is_required = std::env::var_os("CIVITAS_REQUIRE_BROWSER").is_some_and(|value| value == "1");
    assert!(!is_required, "{missing}");
    eprintln!("SKIPPED: {missing}");
}

/// A server whose links are of http, as those of the browser.
async fn service() -> Service {
    service_with(&[]).await
}

/// The same, with more settings.
async fn service_with(settings: &[(&str, &str)]) -> Service {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let all = [&[("public_scheme", "http")], settings].concat();
    Service::over(database, CITIES, &all).await
}

/// A browser on the server, with a wide window. `None` when there is none.
async fn browser(service: &Service) -> Option<Browser> {
    let browser = Browser::start(&format!("http://{}", service.address)).await?;
    browser.resize(1280, 900).await;
    browser.prefer("light").await;
    Some(browser)
}

/// Fills the form of the sign-in page and sends it.
async fn sign_in(browser: &Browser) {
    assert!(browser.path().await.starts_with(SIGN_IN));
    browser.write("admin[email]", EMAIL).await;
    browser.write("admin[password]", PASSWORD).await;
    browser.leave("button.primary").await;
}
