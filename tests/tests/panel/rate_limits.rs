use civitas_tests::panel::{EMAIL, PASSWORD};
use civitas_tests::service::{CITIES, Service};

#[tokio::test]
async fn refused_sign_ins_close_the_sign_in_for_their_address() {
    let settings = [("max_failed_authentications_per_minute", "3")];
    for service in Service::on_both_engines_with(CITIES, &settings).await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let visitor = service.visitor();
        for email in [EMAIL, "nobody@riverton.example", EMAIL] {
            visitor.sign_in(email, "not the password").await.is(422);
        }
        let page = visitor.sign_in(EMAIL, PASSWORD).await.is(429);
        assert!(page.text.contains("Too many attempts"), "{}", page.text);
        let seconds: u64 = page.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
}
