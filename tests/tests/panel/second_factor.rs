use civitas_kernel::clock;
use civitas_tests::Service;
use civitas_tests::panel::{EMAIL, PASSWORD, Page, PanelClient, SIGN_IN};
use totp_rs::{Builder, Secret};

const BEGIN: &str = "/system/account/second_factor";
const CONFIRM: &str = "/system/account/second_factor/confirm";
/// Seconds of one code.
const STEP: u64 = 30;

/// The code that an app shows, this many steps from now.
fn code(key: &str, steps: i64) -> String {
    let now = u64::try_from(clock::now().unix_timestamp()).unwrap();
    let at = now.checked_add_signed(steps * STEP.cast_signed()).unwrap();
    let secret = Secret::try_from_base32(key).unwrap();
    let app = Builder::new().with_secret(secret).with_digits(6).with_step_duration(STEP).build().unwrap();
    app.generate(at).to_string()
}

/// The page with the key, and the key.
async fn begin(panel: &PanelClient) -> (Page, String) {
    let form = panel.get("/system/account").await.is(200).form(BEGIN);
    let page = panel.send(&form).await.is(200);
    let content = page.content();
    let key = content.split("Key ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(key.len() == 32, "{content}");
    (page, key)
}

async fn sign_in_with(service: &Service, code: &str) -> (PanelClient, Page) {
    let visitor = service.visitor();
    let form = visitor.get(SIGN_IN).await.is(200).form(SIGN_IN);
    let form = form.set("admin[email]", EMAIL).set("admin[password]", PASSWORD).set("admin[code]", code);
    let page = visitor.send(&form).await;
    (visitor, page)
}

#[tokio::test]
async fn sign_in_needs_a_code_once_the_second_factor_is_on() {
    for (service, panel) in super::panels().await {
        let (page, key) = begin(&panel).await;
        let wrong = if code(&key, 0) == "000000" { "000001" } else { "000000" };
        let refused = panel.send(&page.form(CONFIRM).set("code", wrong)).await.is(422);
        let refused = refused.shows("The code is not right.");
        service.visitor().sign_in(EMAIL, PASSWORD).await.leads_to("/system");

        let used = code(&key, -1);
        let form = refused.form(CONFIRM).set("code", &used);
        let sent = panel.send(&form).await.leads_to("/system/account");
        let on = panel.follow(&sent).await.is(200).shows("The second factor is on.");
        let recovery = on.secrets().concat();
        let recovery: Vec<&str> = recovery.split_whitespace().collect();
        assert_eq!(recovery.len(), 10);
        panel.get("/system/account").await.is(200).lacks(recovery[0]).lacks(&key);

        let (_, needed) = sign_in_with(&service, "").await;
        needed.is(422).shows("Enter the code of your app, and the password again.");
        sign_in_with(&service, wrong).await.1.is(422);
        sign_in_with(&service, &used).await.1.is(422);
        let now = code(&key, 0);
        sign_in_with(&service, &now).await.1.leads_to("/system");
        sign_in_with(&service, &now).await.1.is(422);
        sign_in_with(&service, recovery[0]).await.1.leads_to("/system");
        sign_in_with(&service, recovery[0]).await.1.is(422);

        let form = panel.get("/system/account").await.is(200).form(BEGIN);
        panel.send(&form).await.is(302);
        service.visitor().sign_in(EMAIL, PASSWORD).await.leads_to("/system");
    }
}

#[tokio::test]
async fn a_second_factor_ends_the_other_sessions_and_can_be_ended_by_another_administrator() {
    for (service, panel) in super::panels().await {
        let other = service.visitor();
        other.sign_in(EMAIL, PASSWORD).await.is(302);
        let (page, key) = begin(&panel).await;
        panel.send(&page.form(CONFIRM).set("code", &code(&key, 0))).await.is(302);
        other.get("/system").await.leads_to(SIGN_IN);

        service.add_administrator("omar@riverton.example", PASSWORD).await;
        other.sign_in("omar@riverton.example", PASSWORD).await.is(302);
        other.confirm(PASSWORD).await.is(302);
        let id = service.store.administrators().find_by_email(EMAIL).await.unwrap().unwrap().0;
        let path = format!("/system/admins/{id}");
        let edit = other.get(&format!("{path}/edit")).await.is(200);
        let end = edit.forms().into_iter().find(|form| !form.values("admin[end_second_factor]").is_empty());
        other.send(&end.unwrap()).await.leads_to("/system/admins");
        service.visitor().sign_in(EMAIL, PASSWORD).await.leads_to("/system");
    }
}

#[tokio::test]
async fn the_secret_of_a_form_is_of_its_administrator_and_cannot_be_chosen() {
    for (service, panel) in super::panels().await {
        service.add_administrator("omar@riverton.example", PASSWORD).await;
        let other = service.visitor();
        other.sign_in("omar@riverton.example", PASSWORD).await.is(302);
        other.confirm(PASSWORD).await.is(302);
        let (page, key) = begin(&other).await;
        let sealed = page.form(CONFIRM).values("sealed").concat();
        let now = code(&key, 0);
        for sealed in [sealed.as_str(), "", "x", &key] {
            panel.act("POST", CONFIRM, &[("sealed", sealed), ("code", &now)]).await.is(422);
        }
        service.visitor().sign_in(EMAIL, PASSWORD).await.leads_to("/system");
    }
}
