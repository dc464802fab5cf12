use civitas_accounts::login_failures::{LoginKey, name_digest};
use civitas_kernel::{OrganizationId, clock};
use civitas_tests::service::Service;
use time::Duration;

#[tokio::test]
async fn the_page_of_an_account_shows_a_login_lock_and_lifts_it() {
    for service in Service::on_both_engines().await {
        let panel = service.administrator().await;
        let organization = OrganizationId(service.id("organization", "city"));
        let path = format!("/system/organizations/{organization}/users/{}", service.id("user", "withpass"));
        assert!(!panel.get(&path).await.is(200).text.contains("id_city_second"));
        let now = clock::now();
        for uid in ["id_city_full", "id_city_second"] {
            let (client, _) = service.store.clients().find_by_uid(uid).await.unwrap().unwrap();
            let key = LoginKey::new(organization, client, "withpassword");
            for _ in 0..20 {
                service.store.login_failures().count(&key, now + Duration::HOUR, now).await.unwrap();
            }
        }
        let page = panel.get(&path).await.is(200);
        assert!(page.text.contains("Through Full (id_city_full), until "), "{}", page.text);
        assert!(page.text.contains("Through Second (id_city_second), until "), "{}", page.text);
        let unlocked = panel.act("POST", &format!("{path}/unlock"), &[]).await;
        let page = panel.follow(&unlocked).await.is(200);
        assert!(!page.text.contains("id_city_second"), "{}", page.text);
        let name = name_digest("withpassword");
        assert_eq!(service.store.login_failures().locks(organization, &name, now).await.unwrap(), []);
        let log = panel.get("/system/audit_log?action=user.unlocked").await.is(200);
        assert!(log.text.contains("withpassword"), "{}", log.text);
    }
}
