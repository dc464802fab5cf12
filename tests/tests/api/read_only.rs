//! The setting `read_only`: reads are served, writes answer 503 with `Retry-After`.

use civitas_server::config::{Config, Sources};
use civitas_server::wiring::start;
use civitas_tests::service::{Answer, Service, http};
use reqwest::Method;
use serde_json::json;

fn refused(answer: Answer) {
    let answer = answer.refuses(503, "Service is read-only");
    assert_eq!(answer.body["error"], "503: Service unavailable");
    assert_eq!(answer.header("retry-after"), "60");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_deployment_serves_reads_and_refuses_writes() {
    for mut service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let mut flags = service.flags().to_vec();
        service.end().await;
        flags.push(("read_only".to_owned(), "true".to_owned()));
        let config = Config::load(&Sources { flags, ..Sources::default() }).unwrap();
        let running = start(config).await.unwrap();
        let nora = nora.moved_to(running.address.unwrap());
        nora.get("/proposals").await.is(200);
        nora.post("/oauth/introspect", &json!({"token": nora.token})).await.is(200);
        let body = json!({"object_path": "k", "data": 1});
        refused(nora.put("/me/extended_data", &body).await);
        refused(nora.put("/me/extended_data/sync", &body).await);
        refused(nora.get("/me/magic_links/anything").await);
        refused(nora.delete("/jobs/0191a1b2-0000-7000-8000-000000000000").await);
        let credentials = json!({"grant_type": "client_credentials", "scope": "public",
            "client_id": "id_city_full", "client_secret": "key_city_full"});
        refused(nora.post("/oauth/token", &credentials).await);
        refused(nora.raw(Method::GET, "/confirmation/anything", &[], None).await);
        nora.get("/me/extended_data?object_path=k").await.is(200);
        let sign_in = format!("http://{}/system/admins/sign_in", running.address.unwrap());
        assert_eq!(http().get(&sign_in).send().await.unwrap().status(), 200);
        let answer = http().post(&sign_in).body("email=a").send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["retry-after"]),
            (503, &"60".parse().unwrap())
        );
        running.stop().await;
        let job = service.database.count("jobs", "true").await;
        assert_eq!(job, 0, "nothing was stored");
    }
}
