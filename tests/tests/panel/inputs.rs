use civitas_tests::panel::{Form, sample_pages};
use url::form_urlencoded::byte_serialize;

/// Whether a form writes texts. Those that delete ask for the name of the record, which an earlier text may be.
fn is_edited(form: &Form) -> bool {
    form.method == "post" && form.values("_method") != ["delete"]
}

/// Whether a field is the text in another language than the first: all languages of a text are read alike.
fn is_translation(field: &str) -> bool {
    ["[fr]", "[es]"].iter().any(|locale| field.ends_with(locale))
}

/// The body of a form with other bytes in one field.
fn with_bytes(form: &Form, field: &str, bytes: &[u8]) -> Vec<u8> {
    let name: String = byte_serialize(field.as_bytes()).collect();
    let value: String = byte_serialize(bytes).collect();
    format!("{}&{name}={value}", form.clone().without(field).body()).into_bytes()
}

#[tokio::test]
async fn no_text_in_a_form_is_an_error_of_the_server() {
    let long = "x".repeat(100_000);
    let odd: [(&str, &[u8]); 5] = [
        ("100 kB", long.as_bytes()),
        ("NUL", b"a\0b"),
        ("not UTF-8", b"a\xFF\xFEb"),
        ("markup and controls", "\"'><script>\u{202e}\u{200b}\r\n\t\u{1b}[31m😀".as_bytes()),
        ("a huge number", b"99999999999999999999999999"),
    ];
    for (service, panel) in super::panels().await {
        for page in sample_pages(&service, &panel).await {
            let shown = panel.get(&page.path).await.is(200);
            let forms = shown.forms().into_iter().filter(is_edited);
            for (index, mut form) in forms.enumerate() {
                let fields = form.typed_fields().into_iter().filter(|field| !is_translation(field));
                for (field, (what, bytes)) in fields.flat_map(|field| odd.map(|odd| (field.clone(), odd))) {
                    form = form.replace("authenticity_token", &panel.token().await);
                    let answer = panel.post(&form.action, with_bytes(&form, &field, bytes)).await;
                    let is_answered = [302, 422].contains(&answer.status);
                    assert!(is_answered, "{field} of {}: {what}: {}", page.path, answer.status);
                    let is_no_text = ["NUL", "not UTF-8"].contains(&what);
                    assert!(!is_no_text || answer.status == 422, "{field} of {}: {what}", page.path);
                    if answer.status == 302 {
                        // Another revision of the record.
                        let shown = panel.get(&page.path).await.is(200).forms().into_iter();
                        form = shown.filter(is_edited).nth(index).unwrap();
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_form_that_is_too_large_or_no_form_is_refused() {
    for (_service, panel) in super::panels().await {
        let large = format!("a={}", "x".repeat(3 * 1024 * 1024)).into_bytes();
        panel.post("/system/organizations", large).await.is(413);
        let token = panel.token().await;
        panel.post("/system/organizations", b"\xFF\x00&&==%%%".to_vec()).await.is(403);
        panel.post("/system/organizations", Vec::new()).await.is(403);
        let many = format!("authenticity_token={token}{}", "&a=b".repeat(100_000));
        panel.post("/system/organizations", many.into_bytes()).await.is(422);
    }
}

#[tokio::test]
async fn texts_of_people_are_shown_as_text() {
    let name = "<script>alert(1)</script>\"'&amp;<b>";
    for (service, panel) in super::panels().await {
        let form = panel.get("/system/api_clients/new").await.form("/system/api_clients");
        let city = service.id("organization", "city").to_string();
        let form = form.set("system_api_client[name]", name).set("system_api_client[organization_id]", &city);
        let created = panel.send(&form).await.is(302);
        let shown = panel.follow(&created).await.is(200).shows(name);
        assert!(!shown.text.contains("<script>alert"));
        let path = created.header("location").trim_end_matches("/edit").to_owned();
        for page in [path.clone(), format!("{path}/revoke"), "/system/api_clients".into(), "/system".into()] {
            panel.get(&page).await.is(200).shows(name).lacks("<script>alert");
        }
        panel.get("/system/audit_log").await.is(200).shows(name);
    }
}
