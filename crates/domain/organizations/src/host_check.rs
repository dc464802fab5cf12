//! Checks whether a pending host resolves to this deployment, and makes it the primary one (contract 03 §1.5).

use crate::{HostResolver, Organization, OrganizationStore};
use civitas_kernel::records::Change;
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskPayload, TaskQueue};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use time::OffsetDateTime;

/// The most checks of a pending host.
pub const HOST_CHECKS: i64 = 10;

/// Checks whether the pending host of the organization resolves to this deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckHost {}

impl TaskPayload for CheckHost {
    const KIND: &'static str = "host_check";
}

/// Queues checks of the pending host of an organization, if there is one. The checks begin again.
pub(crate) async fn have_checked(
    queue: &dyn TaskQueue,
    id: OrganizationId,
    organization: &Organization,
    now: OffsetDateTime,
) -> Result<()> {
    if organization.unconfirmed_host.is_none() {
        return Ok(());
    }
    queue.add(&NewTask::of(id, &CheckHost {}, now)?.about("host")).await
}

/// The result of a check of a pending host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every address of the deployment belongs to the name.
    Proven,
    /// Not yet; another check may succeed.
    Unproven,
    /// No further checks: there is no pending host, or it is the current one.
    Hopeless,
}

/// Checks pending hosts.
pub struct HostCheck<'a> {
    /// Resolves host names.
    pub resolver: &'a dyn HostResolver,
    /// The configured public addresses of the deployment.
    pub loadbalancer_ips: &'a [IpAddr],
}

impl HostCheck<'_> {
    /// Whether the pending host of an organization resolves to this deployment. Every configured address must be one of
    /// the name's, or have the name as PTR record; without configured addresses every host is accepted.
    pub async fn verdict(&self, organization: &Organization) -> Verdict {
        let Some(name) = &organization.unconfirmed_host else { return Verdict::Hopeless };
        if *name == organization.host {
            return Verdict::Hopeless;
        }
        match self.proves(name).await {
            Ok(true) => Verdict::Proven,
            Ok(false) => Verdict::Unproven,
            Err(cause) => {
                tracing::info!(%cause, host = name, "the resolver did not answer about a pending host");
                Verdict::Unproven
            }
        }
    }

    async fn proves(&self, name: &str) -> Result<bool> {
        let wanted = self.loadbalancer_ips;
        if wanted.is_empty() {
            return Ok(true);
        }
        let addresses = match name.parse() {
            Ok(literal) => vec![literal],
            Err(_) => self.resolver.addresses(name).await?,
        };
        for address in wanted.iter().filter(|address| !addresses.contains(address)) {
            if !self.resolver.names(*address).await?.iter().any(|found| found == name) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Organization {
    /// The organization with its pending host as primary one. The old host is removed.
    #[must_use]
    pub fn moved(self, now: OffsetDateTime) -> Self {
        let Some(host) = self.unconfirmed_host.clone() else { return self };
        let secondary_hosts = self.secondary_hosts.iter().filter(|other| **other != host).cloned().collect();
        Self { host, secondary_hosts, unconfirmed_host: None, updated_at: now, ..self }
    }
}

/// Makes the checked host the primary one, if it is still pending. A host that another organization has taken meanwhile
/// is dropped.
///
/// # Errors
/// Those of the store.
pub async fn confirm(
    store: &dyn OrganizationStore,
    id: OrganizationId,
    proven: &str,
    now: OffsetDateTime,
) -> Result<()> {
    let kept = store.find_for_update(id).await?.ok_or(Error::NotFound)?;
    if kept.unconfirmed_host.as_deref() != Some(proven) {
        return Ok(());
    }
    let is_free = store.taken_hosts(Some(id), &[proven.to_owned()]).await?.is_empty();
    let moved = if is_free {
        kept.clone().moved(now)
    } else {
        Organization { unconfirmed_host: None, updated_at: now, ..kept.clone() }
    };
    store.save(id, &Change::new(kept, moved)).await
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

    async fn verdict(host: &str, ips: &[&str]) -> Verdict {
        let ips: Vec<IpAddr> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
        HostCheck { resolver: &resolver(), loadbalancer_ips: &ips }.verdict(&waiting(host)).await
    }

    #[tokio::test]
    async fn every_address_must_be_proven_one_way_or_the_other() {
        assert_eq!(verdict("new.example", &["192.0.2.1"]).await, Verdict::Proven, "others may be there too");
        assert_eq!(verdict("new.example", &["192.0.2.1", "192.0.2.2"]).await, Verdict::Proven);
        assert_eq!(
            verdict("new.example", &["2001:0db8:0:0::1"]).await,
            Verdict::Proven,
            "addresses are compared, not their text"
        );
        assert_eq!(verdict("new.example", &["192.0.2.1", "192.0.2.3"]).await, Verdict::Unproven);
        assert_eq!(verdict("nowhere.example", &["192.0.2.1"]).await, Verdict::Unproven);
        assert_eq!(verdict("192.0.2.3", &["192.0.2.3"]).await, Verdict::Proven, "an address is itself");
    }

    #[tokio::test]
    async fn without_addresses_there_is_nothing_to_prove() {
        assert_eq!(verdict("nowhere.example", &[]).await, Verdict::Proven);
    }

    #[tokio::test]
    async fn what_can_never_be_proven_is_not_tried_again() {
        assert_eq!(verdict("city.example", &["192.0.2.1"]).await, Verdict::Hopeless);
    }

    #[tokio::test]
    async fn a_resolver_that_does_not_answer_proves_nothing() {
        let mut silent = MockHostResolver::new();
        silent.expect_addresses().returning(|_| Err(Error::Unavailable("timed out".into())));
        let ips = ["192.0.2.1".parse().unwrap()];
        let check = HostCheck { resolver: &silent, loadbalancer_ips: &ips };
        assert_eq!(check.verdict(&waiting("new.example")).await, Verdict::Unproven);
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
        confirm(&store, OrganizationId(1), "www.city.example", NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_host_that_was_taken_meanwhile_is_dropped() {
        let mut store = store("new.example", true);
        store.expect_save().once().returning(|_, change| {
            assert_eq!((change.after.host.as_str(), &change.after.unconfirmed_host), ("city.example", &None));
            Ok(())
        });
        confirm(&store, OrganizationId(1), "new.example", NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_host_that_no_longer_waits_is_left_alone() {
        confirm(&store("newer.example", false), OrganizationId(1), "new.example", NOW).await.unwrap();
    }
}
