//! Failed sign-ins of somebody else keep no administrator out (contract 04 §1).

use civitas_tests::Service;
use civitas_tests::mail_server::MailServer;
use civitas_tests::panel::{EMAIL, PASSWORD};
use civitas_tests::service::CITIES;
use futures_util::future::join_all;

const HOME: &str = "192.0.2.1";
const AWAY: &str = "192.0.2.2";
/// How many are sent at the same time.
const AT_ONCE: usize = 10;
const REFUSED: &str = "E-mail address or password is not right.";

/// A server on each engine behind a trusted proxy.
async fn services(mails: &MailServer) -> Vec<Service> {
    let url = mails.url("");
    let settings = [
        ("trusted_proxies", "127.0.0.0/8"),
        ("smtp_url", url.as_str()),
        ("mail_from", "no-reply@city.example"),
    ];
    Service::on_both_engines_with(CITIES, &settings).await
}

/// Wrong passwords for the account, one from each address.
async fn attack(service: &Service, addresses: &[String]) {
    for some in addresses.chunks(AT_ONCE) {
        let attempts = some.iter().map(|address| async move {
            service.visitor_from(address).sign_in(EMAIL, "wrong").await.is(422).shows(REFUSED);
        });
        join_all(attempts).await;
    }
}

/// Whether the right password signs in from an address.
async fn signs_in(service: &Service, address: &str) -> bool {
    service.visitor_from(address).sign_in(EMAIL, PASSWORD).await.status == 302
}

#[tokio::test]
async fn wrong_passwords_from_other_addresses_keep_no_administrator_out() {
    let mails = MailServer::open().await;
    for (round, service) in services(&mails).await.into_iter().enumerate() {
        service.add_administrator(EMAIL, PASSWORD).await;
        assert!(signs_in(&service, HOME).await);

        // One source: an IPv6 network of 64 bits.
        let network: Vec<String> = (0..20).map(|n| format!("2001:db8::{n:x}")).collect();
        attack(&service, &network).await;
        assert!(!signs_in(&service, "2001:db8::ffff").await, "the source is refused");
        assert!(signs_in(&service, HOME).await && signs_in(&service, AWAY).await, "others are not");
        let first = mails.wait_for(EMAIL, 2 * round + 1).await.pop().unwrap();
        assert!(first.header("Subject").contains("refused"), "{:?}", first.headers);
        assert!(!first.text.contains("://") && !first.text.contains("city.test"), "{}", first.text);

        // Many sources: 100 failures in all.
        let many: Vec<String> = (1..80).map(|n| format!("198.51.100.{n}")).collect();
        attack(&service, &many).await;
        assert!(signs_in(&service, "203.0.113.1").await, "after 99 a new address is accepted");
        attack(&service, &["198.51.100.80".to_owned()]).await;
        assert!(!signs_in(&service, "203.0.113.2").await, "after 100 it is not");
        for known in [HOME, AWAY, "203.0.113.1"] {
            assert!(signs_in(&service, known).await, "{known} is known");
        }
        attack(&service, &(0..40).map(|n| format!("203.0.113.{}", n + 100)).collect::<Vec<_>>()).await;
        assert!(signs_in(&service, HOME).await && !signs_in(&service, "203.0.113.3").await);
        mails.wait_for(EMAIL, 2 * round + 2).await;

        let (id, stored) = service.store.administrators().find_by_email(EMAIL).await.unwrap().unwrap();
        let text = serde_json::to_string(&stored.sources).unwrap();
        for address in [HOME, "198.51.100", "2001:db8"] {
            assert!(!text.contains(address), "{text}");
        }
        let panel = service.visitor_from(HOME);
        panel.sign_in(EMAIL, PASSWORD).await.is(302);
        panel.confirm(PASSWORD).await.is(302);
        panel.act("POST", &format!("/system/admins/{id}/unlock"), &[]).await.is(302);
        assert!(signs_in(&service, "203.0.113.4").await, "an administrator accepts all sources again");
        assert_eq!(mails.mails_to(EMAIL).len(), 2 * round + 2, "one mail for each lock");
    }
}

#[tokio::test]
async fn the_own_failures_of_a_known_address_refuse_it() {
    let mails = MailServer::open().await;
    for service in services(&mails).await {
        service.add_administrator(EMAIL, PASSWORD).await;
        assert!(signs_in(&service, HOME).await);
        attack(&service, &vec![HOME.to_owned(); 20]).await;
        assert!(!signs_in(&service, HOME).await && signs_in(&service, AWAY).await);
    }
}
