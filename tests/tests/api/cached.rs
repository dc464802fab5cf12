//! The response cache (decision 0011).

use civitas_kernel::OrganizationId;
use civitas_kernel::records::Change;
use civitas_tests::Engine;
use civitas_tests::service::{BASE, Service};
use reqwest::Method;

#[tokio::test]
async fn an_answer_is_given_again_and_to_nobody_else() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = format!("/proposals/{}", service.id("proposal", "p1"));
        let first = nora.get(&path).await.is(200);
        let etag = first.header("etag").to_owned();
        for _ in 0..3 {
            let again = nora.get(&path).await.is(200);
            assert_eq!((&again.text, again.header("etag")), (&first.text, &*etag));
            let known = nora.send(Method::GET, &path, &[("if-none-match", &etag)], None).await.is(304);
            assert_eq!((known.text.as_str(), known.header("etag")), ("", &*etag));
            let head = nora.send(Method::HEAD, &path, &[], None).await.is(200);
            assert_eq!((head.text.as_str(), head.header("etag")), ("", &*etag));
        }
        let token = nora.token.clone().unwrap();
        service.at("town.test").bearing(&token).get(&path).await.refuses(401, "Unauthorized access");
        service.at("nowhere.test").bearing(&token).get(&path).await.is(404);
        nora.bearing(&format!("{token}x")).get(&path).await.is(401);
        service.anonymous().get(&path).await.is(401);
        let machine = service.machine().await.get(&path).await.is(200);
        assert_ne!(machine.header("etag"), etag, "another caller has another answer");
        let bearer = format!("Bearer {token}");
        let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
        service.anonymous().raw(Method::GET, &format!("{BASE}{path}"), &twice, None).await.is(401);
    }
}

#[tokio::test]
async fn a_commit_of_another_process_is_seen_by_the_next_reader_or_within_a_second() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = format!("/proposals/{}", service.id("proposal", "p1"));
        let id = OrganizationId(service.refs["city"]["organization"]["city"].as_i64().unwrap());
        let elsewhere = service.database.store();
        for enabled in [false, true, false] {
            let status = nora.get(&path).await.status.as_u16();
            assert_eq!(nora.get(&path).await.status.as_u16(), status);
            let before = elsewhere.organizations().find(id).await.unwrap().unwrap();
            let mut city = before.clone();
            city.features.enabled = enabled;
            elsewhere.organizations().save(id, &Change::new(before, city)).await.unwrap();
            if service.engine == Engine::Postgres {
                // Lookups are cached for a second (decision 0049).
                tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
            }
            nora.get(&path).await.is(if enabled { 200 } else { 501 });
        }
    }
}
