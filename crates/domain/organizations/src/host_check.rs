//! Checks whether hosts that are not confirmed resolve to this deployment: a pending host becomes the primary one, a
//! secondary host answers from then on (contract 03 §1.3, §1.5).

use crate::rules::{is_taken, with_hosts_without_www};
use crate::{HostResolver, Organization, OrganizationStore};
use civitas_kernel::records::Change;
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskPayload, TaskQueue};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use time::{Duration, OffsetDateTime};

/// The most checks of a host.
pub const MAX_HOST_CHECK_ATTEMPTS: i64 = 10;
/// The delay between two of them: names of a zone often live for a minute.
pub const HOST_CHECK_INTERVAL: Duration = Duration::MINUTE;

/// Checks whether the hosts of the organization that are not confirmed resolve to this deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckHost {}

impl TaskPayload for CheckHost {
    const KIND: &'static str = "host_check";
}

/// Queues checks of the hosts of an organization that are not confirmed, if there are others than `before`: the checks
/// begin again. Otherwise they go on, so that an organization without proof of a host cannot keep it from others.
pub(crate) async fn queue_host_checks(
    queue: &dyn TaskQueue,
    id: OrganizationId,
    before: Option<&Organization>,
    organization: &Organization,
    now: OffsetDateTime,
) -> Result<()> {
    let before = before.filter(|before| before.unconfirmed_host == organization.unconfirmed_host);
    let known = before.map_or_else(Vec::new, Organization::hosts_to_check);
    if organization.hosts_to_check().iter().all(|host| known.contains(host)) {
        return Ok(());
    }
    queue.add(&NewTask::new(id, &CheckHost {}, now)?.with_subject("host")).await
}

/// Checks hosts.
pub struct HostCheck<'a> {
    /// Resolves host names.
    pub resolver: &'a dyn HostResolver,
    /// The configured public addresses of the deployment.
    pub loadbalancer_ips: &'a [IpAddr],
}

impl HostCheck<'_> {
    /// Whether a host resolves to this deployment. Every configured address must be one of the name's, or have the name as
    /// PTR record; without configured addresses every host is accepted.
    pub async fn resolves_to_deployment(&self, name: &str) -> bool {
        self.proves(name).await.unwrap_or_else(|cause| {
            tracing::info!(%cause, host = name, "the resolver did not answer about a host");
            false
        })
    }

    async fn proves(&self, name: &str) -> Result<bool> {
        let wanted = self.loadbalancer_ips;
        if wanted.is_empty() {
            return Ok(true);
        }
        if name.parse::<IpAddr>().is_ok() {
            return Ok(false); // No record of a name server has it.
        }
        let addresses = self.resolver.addresses(name).await?;
        for address in wanted.iter().filter(|address| !addresses.contains(address)) {
            if !self.resolver.names(*address).await?.iter().any(|found| found == name) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Organization {
    /// The hosts that are not confirmed: the pending primary one, and secondary ones.
    pub fn hosts_to_check(&self) -> Vec<String> {
        let pending = self.unconfirmed_host.iter().filter(|host| **host != self.host);
        let secondary = self.unconfirmed_secondary_hosts.iter();
        pending
            .chain(secondary.filter(|host| self.unconfirmed_host.as_ref() != Some(*host)))
            .cloned()
            .collect()
    }

    /// The organization with its pending host as primary one. The old host is removed.
    #[must_use]
    pub fn with_pending_host_as_primary(mut self, now: OffsetDateTime) -> Self {
        let Some(host) = self.unconfirmed_host.take() else { return self };
        self.secondary_hosts.retain(|other| *other != host);
        Self { host, updated_at: now, ..self }
    }
}

/// Confirms the hosts that a check found, if they still wait: the pending one becomes the primary host, secondary ones
/// answer. Those that an update would refuse as taken are dropped: another organization has them, or the host behind
/// `www.`, since they were entered.
pub async fn confirm(
    store: &dyn OrganizationStore,
    id: OrganizationId,
    found: &[String],
    now: OffsetDateTime,
) -> Result<()> {
    let kept = store.find_for_update(id).await?.ok_or(Error::NotFound)?;
    let waiting: Vec<String> =
        kept.hosts_to_check().into_iter().filter(|host| found.contains(host)).collect();
    let taken = store.taken_hosts(Some(id), &with_hosts_without_www(waiting.iter())).await?;
    let (lost, free): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|host| is_taken(host, &taken));
    let mut after = kept.clone();
    let is_lost = |host: &String| lost.contains(host) && kept.unconfirmed_secondary_hosts.contains(host);
    after.secondary_hosts.retain(|host| !is_lost(host));
    after.unconfirmed_secondary_hosts.retain(|host| !lost.contains(host) && !free.contains(host));
    after.unconfirmed_host = after.unconfirmed_host.filter(|host| !lost.contains(host));
    if !lost.is_empty() {
        after.updated_at = now;
    }
    if after.unconfirmed_host.as_ref().is_some_and(|host| free.contains(host)) {
        after = after.with_pending_host_as_primary(now);
    }
    if after == kept { Ok(()) } else { store.save(id, &Change::new(kept, after)).await }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockHostResolver, MockOrganizationStore};
    use civitas_kernel::{Ability, Locale, Translated};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn waiting(host: &str) -> Organization {
        let name = Translated::from([(Locale::EN, "Riverton".to_owned())]);
        Organization {
            unconfirmed_host: Some(host.to_owned()),
            secondary_hosts: vec!["www.city.example".to_owned()],
            ..Organization::new("city.example".into(), name, Locale::EN, datetime!(2026-01-01 0:00 UTC))
        }
    }

    /// A resolver: `new.example` is `192.0.2.1` and `2001:db8::1`; the PTR record of `192.0.2.2` is `new.example`.
    fn resolver() -> MockHostResolver {
        let mut resolver = MockHostResolver::new();
        resolver.expect_addresses().returning(|name| {
            let known = ["192.0.2.1", "2001:db8::1"].iter().map(|ip| ip.parse().unwrap()).collect();
            Ok(if name == "new.example" { known } else { Vec::new() })
        });
        resolver.expect_names().returning(|address| {
            let named = address.to_string() == "192.0.2.2";
            Ok(if named { vec!["other.example".to_owned(), "new.example".to_owned()] } else { Vec::new() })
        });
        resolver
    }

    async fn is_found(host: &str, ips: &[&str]) -> bool {
        let ips: Vec<IpAddr> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
        HostCheck { resolver: &resolver(), loadbalancer_ips: &ips }.resolves_to_deployment(host).await
    }

    #[tokio::test]
    async fn every_address_must_be_proven_one_way_or_the_other() {
        assert!(is_found("new.example", &["192.0.2.1"]).await, "others may be there too");
        assert!(is_found("new.example", &["192.0.2.1", "192.0.2.2"]).await);
        assert!(
            is_found("new.example", &["2001:0db8:0:0::1"]).await,
            "addresses are compared, not their text"
        );
        assert!(!is_found("new.example", &["192.0.2.1", "192.0.2.3"]).await);
        assert!(!is_found("nowhere.example", &["192.0.2.1"]).await);
        assert!(!is_found("192.0.2.3", &["192.0.2.3"]).await, "an address does not prove itself");
    }

    #[tokio::test]
    async fn without_addresses_there_is_nothing_to_prove() {
        assert!(is_found("nowhere.example", &[]).await);
    }

    #[test]
    fn what_waits_is_checked_once_and_the_primary_host_never() {
        assert_eq!(waiting("city.example").hosts_to_check(), [] as [&str; 0]);
        let unconfirmed_secondary_hosts = vec!["a.example".to_owned(), "new.example".to_owned()];
        let both = Organization { unconfirmed_secondary_hosts, ..waiting("new.example") };
        assert_eq!(both.hosts_to_check(), ["new.example", "a.example"]);
    }

    #[tokio::test]
    async fn a_resolver_that_does_not_answer_proves_nothing() {
        let mut silent = MockHostResolver::new();
        silent.expect_addresses().returning(|_| Err(Error::Unavailable("timed out".into())));
        let ips = ["192.0.2.1".parse().unwrap()];
        let check = HostCheck { resolver: &silent, loadbalancer_ips: &ips };
        assert!(!check.resolves_to_deployment("new.example").await);
    }

    async fn confirmed(store: &MockOrganizationStore, host: &str) {
        confirm(store, OrganizationId(1), &[host.to_owned()], NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_secondary_host_that_was_found_answers_without_an_event() {
        let before = Organization {
            unconfirmed_secondary_hosts: vec!["www.city.example".to_owned()],
            ..waiting("new.example")
        };
        let mut store = MockOrganizationStore::new();
        store.expect_find_for_update().returning(move |_| Ok(Some(before.clone())));
        store.expect_taken_hosts().returning(|_, _| Ok(Vec::new()));
        store.expect_save().once().returning(|id, change| {
            assert_eq!(change.after.unconfirmed_secondary_hosts, [] as [&str; 0]);
            assert_eq!(
                (&change.after.unconfirmed_host, change.events(id).len()),
                (&Some("new.example".into()), 0)
            );
            Ok(())
        });
        confirmed(&store, "www.city.example").await;
    }

    fn store(pending: &'static str, taken: bool) -> MockOrganizationStore {
        let mut store = MockOrganizationStore::new();
        store.expect_find_for_update().returning(move |_| Ok(Some(waiting(pending))));
        store.expect_taken_hosts().returning(move |_, hosts| Ok(if taken { hosts.to_vec() } else { vec![] }));
        store
    }

    #[tokio::test]
    async fn a_proven_host_becomes_the_primary_one() {
        let mut store = store("www.city.example", false);
        store.expect_save().once().returning(|_, change| {
            let moved = &change.after;
            assert_eq!((moved.host.as_str(), &moved.unconfirmed_host), ("www.city.example", &None));
            assert!(
                moved.secondary_hosts.is_empty(),
                "the old host is not added, the new one is no longer secondary"
            );
            assert_eq!(
                (moved.updated_at, change.events(OrganizationId(1))[0].name),
                (NOW, Ability::OrganizationUpdated)
            );
            Ok(())
        });
        confirmed(&store, "www.city.example").await;
    }

    #[tokio::test]
    async fn a_host_that_was_taken_meanwhile_is_dropped() {
        let mut store = store("new.example", true);
        store.expect_save().once().returning(|_, change| {
            assert_eq!((change.after.host.as_str(), &change.after.unconfirmed_host), ("city.example", &None));
            Ok(())
        });
        confirmed(&store, "new.example").await;
    }

    #[tokio::test]
    async fn www_of_a_host_that_another_organization_took_meanwhile_is_dropped() {
        let found = ["www.town.example", "www.dam.example", "a.example"].map(str::to_owned);
        let before = Organization {
            secondary_hosts: found[1..].to_vec(),
            unconfirmed_secondary_hosts: found[1..].to_vec(),
            ..waiting("www.town.example")
        };
        let mut store = MockOrganizationStore::new();
        store.expect_find_for_update().returning(move |_| Ok(Some(before.clone())));
        store.expect_taken_hosts().returning(|own, hosts| {
            let taken = ["town.example", "dam.example"].map(str::to_owned);
            assert!(own == Some(OrganizationId(1)) && taken.iter().all(|host| hosts.contains(host)));
            Ok(taken.to_vec())
        });
        store.expect_save().once().returning(|_, change| {
            let after = &change.after;
            assert_eq!((after.host.as_str(), &after.unconfirmed_host), ("city.example", &None));
            assert_eq!((after.secondary_hosts.concat().as_str(), after.updated_at), ("a.example", NOW));
            assert!(after.unconfirmed_secondary_hosts.is_empty());
            Ok(())
        });
        confirm(&store, OrganizationId(1), &found, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_host_that_no_longer_waits_is_left_alone() {
        confirmed(&store("newer.example", false), "new.example").await;
    }
}
