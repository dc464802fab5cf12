//! axe-core on every page, and a picture of it with `CIVITAS_TEST_PICTURES=1`.

use super::{browser, service, sign_in, skip};
use crate::browser::driver::Browser;
use civitas_tests::panel::{CONFIRMATION, PASSWORD, SIGN_IN, sample_pages};
use civitas_tests::service::BASE;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The widths of windows, in CSS pixels.
const WIDTHS: [u32; 2] = [1280, 390];
const RULES: &str = "target/axe/node_modules/axe-core/axe.min.js";
/// Gives the violations as lines: the rule, and the elements. `ONLY` is [`ALL`] or [`COLOURS`].
const CHECK: &str = "const done = arguments[arguments.length - 1];
    axe.run(document, {resultTypes: ['violations'], ONLY}).then(found => done(found.violations.map(one =>
        one.id + ': ' + one.nodes.map(node => node.target.join(' ') + ' ' + node.failureSummary).join('; '))),
        error => done([String(error)]));";

/// All rules.
const ALL: &str = "";
/// The rules about colours.
const COLOURS: &str = "runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The directory of pictures. `None`: they are not wanted, and would take as long as the checks.
fn pictures() -> Option<PathBuf> {
    let is_wanted = std::env::var_os("CIVITAS_TEST_PICTURES").is_some_and(|value| value == "1");
    is_wanted.then(|| root().join("target/panel-screenshots"))
}

/// The violations on a page: in both widths, light and dark.
async fn violations(browser: &Browser, rules: &str, name: &str, path: &str) -> Vec<String> {
    let pictures = pictures();
    let mut violations = Vec::new();
    browser.open(path).await;
    browser.run(rules).await;
    for width in WIDTHS {
        browser.resize(width, 900).await;
        let wide = browser
            .run("const root = document.documentElement; return root.scrollWidth - root.clientWidth")
            .await;
        if wide.as_i64() != Some(0) {
            violations.push(format!("{path} at {width}: {wide} pixels wider than the window"));
        }
        // The dark scheme has other colours alone.
        for (scheme, only) in [("light", ALL), ("dark", COLOURS)] {
            browser.prefer(scheme).await;
            let found = browser.run_async(&CHECK.replace("ONLY", only)).await;
            let found = found.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned());
            violations.extend(found.map(|line| format!("{path} at {width}, {scheme}: {line}")));
            if let Some(pictures) = pictures.as_ref().filter(|_| scheme == "light" || width == 1280) {
                let picture = pictures.join(format!("{name}-{width}-{scheme}.png"));
                std::fs::write(picture, browser.picture().await).unwrap();
            }
        }
    }
    violations
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axe_finds_nothing_on_any_page_wide_and_narrow_light_and_dark() {
    let service = service().await;
    let Some(browser) = browser(&service).await else { return };
    let Ok(rules) = std::fs::read_to_string(root().join(RULES)) else {
        skip("axe-core is missing: tests/browser/install");
        return browser.quit().await;
    };
    if let Some(pictures) = pictures() {
        std::fs::create_dir_all(pictures).unwrap();
    }
    let panel = service.administrator().await;
    let pages = sample_pages(&service, &panel).await;
    let mut found = violations(&browser, &rules, "sign-in", SIGN_IN).await;
    browser.resize(1280, 900).await;
    browser.open(SIGN_IN).await;
    sign_in(&browser).await;
    browser.open(CONFIRMATION).await;
    browser.write("password", PASSWORD).await;
    browser.leave("button.primary").await;
    for page in &pages {
        found.extend(violations(&browser, &rules, &page.name, &page.path).await);
    }
    found.extend(violations(&browser, &rules, "missing", "/system/no/such/page").await);
    browser.quit().await;
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documentation_runs_under_its_policy() {
    let service = service().await;
    let Some(browser) = browser(&service).await else { return };
    browser.open(&format!("{BASE}/docs")).await;
    let started = Instant::now();
    // The script ran, and read the document.
    while browser.run("return document.getElementById('version').textContent").await == "" {
        assert!(started.elapsed() < Duration::from_secs(30), "the script does not run");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(browser.run("return document.styleSheets[0].cssRules.length").await.as_u64() > Some(10));
    browser.open(&format!("{BASE}/")).await;
    assert!(browser.run("return document.styleSheets[0].cssRules.length").await.as_u64() > Some(1));
    browser.quit().await;
}
