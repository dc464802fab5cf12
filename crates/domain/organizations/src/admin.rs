//! Administration of organizations by system administrators. The caller checks permission.

use crate::host_check::queue_host_checks;
use crate::model::is_local;
use crate::rules::{normalize_hosts, with_hosts_without_www};
use crate::{Organization, OrganizationStore};
use civitas_kernel::records::Change;
use civitas_kernel::{Error, FieldError, OrganizationId, Result, TaskQueue, Wording};
use time::OffsetDateTime;

/// Administers the organizations of the deployment, and handles [`crate::UpdateOrganization`] of API clients.
pub struct OrganizationAdministration<'a> {
    /// The store of organizations.
    pub store: &'a dyn OrganizationStore,
    /// The queue for checks of pending hosts.
    pub queue: &'a dyn TaskQueue,
    /// Whether hosts may be single labels (see [`crate::is_host`]), and new secondary ones literal addresses.
    pub single_label_hosts: bool,
}

impl OrganizationAdministration<'_> {
    /// Creates an organization, after normalizing it.
    ///
    /// # Errors
    /// `Invalid` with each invalid setting; `Rejected` for a host that is taken.
    pub async fn create(
        &self,
        organization: &mut Organization,
        now: OffsetDateTime,
    ) -> Result<OrganizationId> {
        self.check(None, organization).await?;
        let id = self.store.add(organization).await?;
        queue_host_checks(self.queue, id, None, organization, now).await?;
        Ok(id)
    }

    /// Stores a new state of an organization whose state was `before`, after normalizing it. Returns whether they
    /// differ. Its time of change is `now`, unless the new state has another one.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn change(
        &self,
        id: OrganizationId,
        before: &Organization,
        mut organization: Organization,
        now: OffsetDateTime,
    ) -> Result<bool> {
        self.check(Some((id, before)), &mut organization).await?;
        if organization == *before {
            return Ok(false);
        }
        if organization.updated_at == before.updated_at {
            organization.updated_at = now;
        }
        queue_host_checks(self.queue, id, Some(before), &organization, now).await?;
        self.store.save(id, &Change::new(before.clone(), organization)).await?;
        Ok(true)
    }

    /// Checks the secondary hosts that an administrator enters, without those that are `known`. An archive is not checked:
    /// its hosts are those of an organization that exists.
    ///
    /// # Errors
    /// `Invalid` for a literal address, `localhost`, and `www.` of another organization's host.
    pub async fn check_entered(
        &self,
        own: Option<OrganizationId>,
        known: &[String],
        hosts: &[String],
    ) -> Result<()> {
        let new: Vec<String> =
            normalize_hosts(hosts).into_iter().filter(|host| !known.contains(host)).collect();
        let invalid = !self.single_label_hosts && new.iter().any(|host| is_local(host));
        let taken = !self.store.taken_hosts(own, &with_hosts_without_www(new.iter())).await?.is_empty();
        let faults = [(invalid, "invalid", "is invalid"), (taken, "taken", "has already been taken")];
        let faults = faults.into_iter().filter(|(is_broken, ..)| *is_broken);
        let fault =
            |(_, code, text)| FieldError::new("secondary_hosts", code, format!("Secondary hosts {text}"));
        Error::unless_valid(Wording::BadRequest, faults.map(fault).collect())
    }

    async fn check(
        &self,
        before: Option<(OrganizationId, &Organization)>,
        organization: &mut Organization,
    ) -> Result<()> {
        organization.normalize();
        organization.check(self.single_label_hosts)?;
        if before.is_some_and(|(_, old)| old.name == organization.name) {
            return Ok(());
        }
        let texts: Vec<String> = organization.name.iter().map(|(_, text)| text.to_owned()).collect();
        let taken = self.store.taken_names(before.map(|(id, _)| id), &texts).await?;
        let faults = organization.name.iter().filter(|(_, text)| taken.iter().any(|taken| taken == text));
        let faults = faults.map(|(locale, _)| {
            FieldError::new("name", "taken", format!("Name {locale} has already been taken"))
        });
        Error::unless_valid(Wording::BadRequest, faults.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockOrganizationStore;
    use civitas_kernel::records::Entity;
    use civitas_kernel::{Ability, Locale, MockTaskQueue, Translated};
    use serde_json::json;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);

    fn city() -> Organization {
        let name =
            Translated::from([(Locale::EN, "Riverton".to_owned()), (Locale::FR, "Riverville".to_owned())]);
        Organization::new("city.example".into(), name, Locale::EN, datetime!(2026-01-01 0:00 UTC))
    }

    #[test]
    fn what_is_shown_is_news() {
        let news = |edit: fn(&mut Organization)| {
            let mut organization = city();
            edit(&mut organization);
            !Change::new(city(), organization).events(CITY).is_empty()
        };
        assert!(news(|o| o.badges_enabled = true));
        assert!(news(|o| o.unconfirmed_host = Some("new.example".into())));
        assert!(!news(|o| o.updated_at = NOW));
        assert!(!news(|o| o.features.enabled = false));
        assert!(!news(|o| o.extended_data = [("k", json!(1))].into()));
    }

    #[tokio::test]
    async fn an_organization_is_made_in_the_form_in_which_it_is_kept() {
        let mut store = MockOrganizationStore::new();
        store.expect_taken_names().returning(|_, _| Ok(Vec::new()));
        store.expect_add().once().returning(|organization| {
            assert_eq!(organization.host, "city.example");
            assert_eq!(organization.events(CITY, None)[0].name, Ability::OrganizationCreated);
            Ok(CITY)
        });
        let queue = MockTaskQueue::new();
        let admin = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        admin.create(&mut Organization { host: " City.Example ".into(), ..city() }, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn names_are_asked_for_when_they_change() {
        let mut store = MockOrganizationStore::new();
        store.expect_taken_names().returning(|_, _| Ok(vec!["Milltown".to_owned()]));
        store.expect_save().once().returning(|_, _| Ok(()));
        let queue = MockTaskQueue::new();
        let admin = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        let same_name = Organization { comments_max_length: 7, ..city() };
        assert!(admin.change(CITY, &city(), same_name, NOW).await.unwrap());
        assert!(!admin.change(CITY, &city(), city(), NOW).await.unwrap(), "nothing is kept");
        let mut renamed = city();
        renamed.name.set(Locale::ES, "Milltown".into());
        let refused = admin.change(CITY, &city(), renamed, NOW).await.unwrap_err();
        assert_eq!(refused.description(), "Name es has already been taken");
    }
}
