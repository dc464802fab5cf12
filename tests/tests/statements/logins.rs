//! Logins of known and unknown names.

use super::{alone, is_data, taken};
use async_trait::async_trait;
use civitas_accounts::grants::{LoginGrant, Logins};
use civitas_accounts::{Passwords, Secret};
use civitas_kernel::{OrganizationId, Result, clock};
use civitas_tests::Service;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts hashes; no password is right.
#[derive(Default)]
struct CountedPasswords(AtomicUsize);

#[async_trait]
impl Passwords for CountedPasswords {
    async fn hash(&self, _: Secret) -> Result<String> {
        Ok(String::new())
    }

    async fn verify(&self, _: Secret, _: Option<String>) -> Result<bool> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(false)
    }

    fn check_hash(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

/// Whether a statement is of a login. The sweep of failed logins orders its rows.
fn is_of_login(text: &str) -> bool {
    let is_of_texts = text.contains("record_texts");
    (text.contains("users") || text.contains("login_failures"))
        && !text.contains(" ORDER BY ")
        && !is_of_texts
}

#[tokio::test]
async fn known_and_unknown_names_cost_the_same_statements_and_one_hash_each() {
    let _alone = alone().await;
    for service in Service::on_both_engines().await {
        let organization = OrganizationId(service.id("organization", "city"));
        let (client, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let passwords = CountedPasswords::default();
        // With a password, blocked, without a password, and unknown.
        let names = ["withpassword", "victorblocked", "norablum", "nobody-of-this-name"];
        let mut costs = Vec::new();
        for name in names {
            let mut of_name = Vec::new();
            for _ in 0..21 {
                passwords.0.store(0, Ordering::Relaxed);
                taken();
                let logins = Logins {
                    users: service.store.users(),
                    failures: service.store.login_failures(),
                    passwords: &passwords,
                };
                let login = LoginGrant { username: name.to_owned(), password: Secret::new("wrong") };
                logins.check(organization, client, &login, clock::now()).await.unwrap_err();
                let statements: Vec<String> = taken()
                    .into_iter()
                    .filter(|text| is_data(text) && is_of_login(text))
                    .map(|text| text.split(" -- ").next().unwrap_or_default().to_owned())
                    .collect();
                of_name.push((statements, passwords.0.load(Ordering::Relaxed)));
            }
            costs.push(of_name);
        }
        let counts: Vec<_> =
            costs[0].iter().map(|(statements, hashes)| (statements.len(), *hashes)).collect();
        assert_eq!(counts[0], (3, 1), "{:?}", costs[0][0]);
        assert_eq!(counts[20], (2, 0), "while it is locked: {:?}", costs[0][20]);
        for (name, of_name) in names.iter().zip(&costs) {
            assert_eq!(of_name, &costs[0], "{name}");
        }
    }
}
