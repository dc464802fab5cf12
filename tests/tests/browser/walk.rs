use super::{browser, service, sign_in};
use crate::browser::driver::Browser;
use civitas_tests::panel::{EMAIL, PASSWORD, SIGN_IN};
use civitas_tests::{Client, Service};
use serde_json::json;

/// A new organization; its path.
async fn create_organization(browser: &Browser) -> String {
    browser.open("/system/organizations/new").await;
    browser.write("organization[name][en]", "Lakeside").await;
    browser.write("organization[host]", "lakeside.test").await;
    browser.submit("/system/organizations").await;
    assert_eq!(browser.text(".flash.good strong").await, "Lakeside is created.");
    browser.path().await
}

/// A client of the organization; its path, id and secret.
async fn create_client(browser: &Browser, organization: &str) -> (String, String, String) {
    let id = organization.rsplit('/').next().unwrap();
    browser.open("/system/api_clients/new").await;
    browser.write("system_api_client[name]", "Participation app").await;
    browser.click(&format!("[name='system_api_client[organization_id]'] option[value='{id}']")).await;
    browser.click("[name='system_api_client[scopes][]'][value=proposals]").await;
    browser.submit("/system/api_clients").await;
    assert_eq!(browser.text(".flash.good strong").await, "API Client created");
    let uid = browser.find("#once-1").await.value().await;
    let secret = browser.find("#once-2").await.value().await;
    browser.click("[data-copy=once-2]").await;
    let path = browser.path().await.strip_suffix("/edit").unwrap().to_owned();
    (path, uid, secret)
}

async fn with_token(service: &Service, uid: &str, secret: &str) -> Client {
    let asked = json!({"grant_type": "client_credentials", "client_id": uid, "client_secret": secret,
        "scope": "public proposals"});
    service.at("lakeside.test").with_token(&asked).await
}

/// Clicks the master switch of the interface and saves.
async fn toggle_interface(browser: &Browser, organization: &str, is_on: bool) {
    browser.open(&format!("{organization}/edit?tab=api")).await;
    browser.click("[name='organization[features][enabled]'][type=checkbox]").await;
    let is_off = browser.run("return document.getElementById('features').disabled").await;
    assert_eq!(is_off.as_bool(), Some(!is_on), "the script follows the switch");
    browser.submit(organization).await;
    assert_eq!(browser.text(".flash.good strong").await, "Settings saved.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_walks_from_sign_in_to_a_client_that_is_revoked() {
    let service = service().await;
    let Some(browser) = browser(&service).await else { return };
    service.add_administrator(EMAIL, PASSWORD).await;
    browser.open("/system/jobs").await;
    sign_in(&browser).await;
    assert_eq!(browser.path().await, "/system/jobs", "back to the page that was asked for");

    let organization = create_organization(&browser).await;
    let (client, uid, secret) = create_client(&browser, &organization).await;
    browser.reload().await;
    assert!(!browser.source().await.contains(&secret), "shown once");
    let holder = with_token(&service, &uid, &secret).await;
    holder.get("/proposals").await.is(403);

    browser.click("[value='proposals.read']").await;
    browser.submit("/system/api_permissions").await;
    assert_eq!(browser.text(".flash.good strong").await, "Permissions saved.");
    assert!(browser.find("[value='proposals.read']").await.is_selected().await);
    holder.get("/proposals").await.is(200);

    toggle_interface(&browser, &organization, false).await;
    holder.get("/proposals").await.is(501);
    toggle_interface(&browser, &organization, true).await;
    holder.get("/proposals").await.is(200);

    browser.open(&format!("{client}/revoke")).await;
    browser.write("confirm", "Participation").await;
    browser.submit(&client).await;
    assert!(browser.text(".flash.bad").await.contains("The name is not the same."));
    browser.write("confirm", "Participation app").await;
    browser.submit(&client).await;
    assert_eq!(browser.path().await, "/system/api_clients");
    assert_eq!(browser.text(".flash.good strong").await, "Client Revoked");
    holder.get("/proposals").await.is(401);

    browser.submit("/system/admins/sign_out").await;
    assert_eq!(browser.path().await, SIGN_IN);
    browser.open("/system").await;
    assert_eq!(browser.path().await, SIGN_IN);
    browser.quit().await;
}
