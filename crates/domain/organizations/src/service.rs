//! Reading and updating organizations (contract 03 §1).

use crate::host_check::queue_host_checks;
use crate::update::OrganizationEdit;
use crate::{
    ORGANIZATION_FIELDS, Organization, OrganizationAdministration, OrganizationQuery, OrganizationStore,
};
use async_trait::async_trait;
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::records::Change;
use civitas_kernel::{
    Ability, Access, CommandHandler, Ctx, Error, OrganizationId, Page, PageRequest, Result, Scope, commands,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The rights to read organizations.
pub const READ_ORGANIZATIONS: Access = Access::either(Scope::System, &[Ability::OrganizationsRead]);
/// The rights to update one.
pub const UPDATE_ORGANIZATIONS: Access = Access::either(Scope::System, &[Ability::OrganizationsUpdate]);

/// Changes settings of an organization.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateOrganization {
    /// The organization.
    pub id: OrganizationId,
    /// The settings as sent, by name. An absent one keeps its value.
    pub attributes: Map<String, Value>,
}

commands! {
    UpdateOrganization: "organizations#update", UPDATE_ORGANIZATIONS => UpdatedOrganization;
}

/// An organization after an update.
#[derive(Debug)]
pub struct UpdatedOrganization {
    /// The organization.
    pub id: OrganizationId,
    /// The stored state.
    pub organization: Organization,
}

/// Reads organizations.
pub struct Organizations<'a> {
    /// The store of organizations.
    pub store: &'a dyn OrganizationStore,
}

impl Organizations<'_> {
    /// The organizations the client may access, by ascending id.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<(OrganizationId, Organization)>> {
        ctx.require(&READ_ORGANIZATIONS)?;
        let only = Some(ctx.organization).filter(|_| !ctx.caller.deployment_wide);
        let filters = read_filters(ORGANIZATION_FIELDS, filter)?;
        self.store.list(&OrganizationQuery::ById(only, filters), page).await
    }

    /// An organization that the client may access.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound` also for one the client may not access.
    pub async fn find(&self, ctx: &Ctx, id: OrganizationId) -> Result<Organization> {
        ctx.require(&READ_ORGANIZATIONS)?;
        reaches(ctx, id)?;
        self.store.find(id).await?.ok_or(Error::NotFound)
    }
}

/// A client of one organization may access that one, a client without organization all, from any host (contract 03 §1).
fn reaches(ctx: &Ctx, id: OrganizationId) -> Result<()> {
    if ctx.caller.deployment_wide || id == ctx.organization { Ok(()) } else { Err(Error::NotFound) }
}

#[async_trait]
impl CommandHandler<UpdateOrganization> for OrganizationAdministration<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateOrganization) -> Result<()> {
        ctx.require(&UPDATE_ORGANIZATIONS)?;
        reaches(ctx, command.id)?;
        self.store.tenant(command.id).await?.map(drop).ok_or(Error::NotFound)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateOrganization) -> Result<UpdatedOrganization> {
        ctx.require(&UPDATE_ORGANIZATIONS)?;
        let UpdateOrganization { id, attributes } = command;
        reaches(ctx, id)?;
        let kept = self.store.find_for_update(id).await?.ok_or(Error::NotFound)?;
        let mut update =
            OrganizationEdit::read(kept.clone(), &attributes, &ctx.locales, self.single_label_hosts);
        let names: Vec<_> = update.sent_names().into_iter().map(|(l, text)| (l, text.to_owned())).collect();
        let texts: Vec<String> = names.iter().map(|(_, text)| text.clone()).collect();
        let taken = self.store.taken_names(Some(id), &texts).await?;
        let locales: Vec<_> = names.into_iter().filter(|(_, t)| taken.contains(t)).map(|(l, _)| l).collect();
        let hosts = self.store.taken_hosts(Some(id), &update.sent_hosts()).await?;
        update.refuse_taken(&locales, &hosts);
        let updated = update.finish()?;
        let change = Change::from_edit(kept, ctx.now, |organization| *organization = updated);
        if !change.is_empty() {
            self.store.save(id, &change).await?;
        }
        queue_host_checks(self.queue, id, Some(&change.before), &change.after, ctx.now).await?;
        Ok(UpdatedOrganization { id, organization: change.after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockOrganizationStore;
    use civitas_kernel::testing::raw_filter;
    use civitas_kernel::{Locale, MockTaskQueue, Translated};
    use serde_json::json;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const TOWN: OrganizationId = OrganizationId(2);

    fn city() -> Organization {
        let name = Translated::from([(Locale::EN, "Riverton".to_owned())]);
        Organization::new("city.example".into(), name, Locale::EN, datetime!(2026-01-01 0:00 UTC))
    }

    fn ctx() -> Ctx {
        let now = datetime!(2026-02-01 0:00 UTC);
        Ctx::for_test().with_access(&READ_ORGANIZATIONS).with_access(&UPDATE_ORGANIZATIONS).at_time(now)
    }

    fn wide() -> Ctx {
        let mut ctx = ctx();
        ctx.caller.deployment_wide = true;
        ctx
    }

    fn update(id: OrganizationId, attributes: &Value) -> UpdateOrganization {
        UpdateOrganization { id, attributes: attributes.as_object().cloned().unwrap() }
    }

    fn holding() -> MockOrganizationStore {
        let mut store = MockOrganizationStore::new();
        store.expect_find_for_update().returning(|_| Ok(Some(city())));
        store
    }

    fn free(store: &mut MockOrganizationStore) {
        store.expect_taken_names().returning(|_, _| Ok(Vec::new()));
        store.expect_taken_hosts().returning(|_, _| Ok(Vec::new()));
    }

    #[tokio::test]
    async fn a_change_is_kept_and_dated_with_an_event() {
        let mut store = holding();
        free(&mut store);
        store.expect_save().once().returning(|id, change| {
            assert_eq!((id, change.after.comments_max_length), (CITY, 7));
            assert_eq!(change.after.updated_at, datetime!(2026-02-01 0:00 UTC));
            assert_eq!(
                change.events(id).into_iter().map(|e| e.name).collect::<Vec<_>>(),
                [Ability::OrganizationUpdated]
            );
            Ok(())
        });
        let queue = MockTaskQueue::new();
        let service = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        let changed = service.handle(&ctx(), update(CITY, &json!({"comments_max_length": 7}))).await.unwrap();
        assert_eq!(changed.organization.comments_max_length, 7);
    }

    #[tokio::test]
    async fn what_changes_nothing_has_no_event() {
        let mut store = holding();
        free(&mut store);
        let queue = MockTaskQueue::new();
        let service = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        let same = service.handle(&ctx(), update(CITY, &json!({"name": {"en": "Riverton"}}))).await.unwrap();
        assert_eq!(same.organization.updated_at, city().updated_at);
    }

    #[tokio::test]
    async fn an_update_begins_the_checks_again_when_it_changes_hosts_that_wait() {
        let mut store = MockOrganizationStore::new();
        let waiting = Organization { unconfirmed_host: Some("new.example".into()), ..city() };
        store.expect_find_for_update().returning(move |_| Ok(Some(waiting.clone())));
        store.expect_save().times(2).returning(|_, _| Ok(()));
        free(&mut store);
        let mut queue = MockTaskQueue::new();
        queue.expect_add().once().returning(|task| {
            let now = datetime!(2026-02-01 0:00 UTC);
            assert_eq!((task.organization, task.kind, task.due_at), (CITY, "host_check", now));
            assert_eq!(task.subject.as_deref(), Some("host"), "one at a time");
            Ok(())
        });
        let service = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        for same in [json!({"host": "new.example"}), json!({"comments_max_length": 7})] {
            service.handle(&ctx(), update(CITY, &same)).await.unwrap();
        }
        service.handle(&ctx(), update(CITY, &json!({"host": "newer.example"}))).await.unwrap();
    }

    #[tokio::test]
    async fn names_and_hosts_of_others_are_taken() {
        let mut store = holding();
        store.expect_taken_names().returning(|own, texts| {
            assert_eq!((own, texts), (Some(CITY), ["Milltown".to_owned()].as_slice()));
            Ok(texts.to_vec())
        });
        store.expect_taken_hosts().returning(|_, hosts| Ok(hosts.to_vec()));
        let queue = MockTaskQueue::new();
        let service = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        let sent = json!({"name": {"en": "Milltown"}, "host": "town.example"});
        let refused = service.handle(&ctx(), update(CITY, &sent)).await.unwrap_err();
        let said: Vec<_> = refused.details().iter().map(|f| f.description.as_str()).collect();
        assert_eq!(said, ["Name en has already been taken", "Unconfirmed host has already been taken"]);
    }

    #[tokio::test]
    async fn a_bound_client_reaches_its_own_organization_alone() {
        let mut store = MockOrganizationStore::new();
        store
            .expect_list()
            .withf(|query, _| *query == OrganizationQuery::ById(Some(CITY), Vec::new()))
            .returning(|_, _| Ok(Page::new(vec![], false)));
        let queue = MockTaskQueue::new();
        let service = OrganizationAdministration { store: &store, queue: &queue, single_label_hosts: false };
        let reads = Organizations { store: &store };
        assert!(matches!(reads.find(&ctx(), TOWN).await, Err(Error::NotFound)));
        assert!(matches!(
            service.check_enqueue(&ctx(), &update(TOWN, &json!({}))).await,
            Err(Error::NotFound)
        ));
        assert!(matches!(service.handle(&ctx(), update(TOWN, &json!({}))).await, Err(Error::NotFound)));
        reads.list(&ctx(), &RawFilter::default(), PageRequest::default()).await.unwrap();
        let unknown = reads.list(&ctx(), &raw_filter("name_eq", "City"), PageRequest::default()).await;
        assert_eq!(unknown.unwrap_err().description(), "Unknown filter: name_eq");
    }

    #[tokio::test]
    async fn a_client_of_the_deployment_reaches_all() {
        let mut store = MockOrganizationStore::new();
        store.expect_find().returning(|_| Ok(Some(city())));
        store
            .expect_list()
            .withf(|query, _| *query == OrganizationQuery::ById(None, Vec::new()))
            .returning(|_, _| Ok(Page::new(vec![], false)));
        let service = Organizations { store: &store };
        service.find(&wide(), TOWN).await.unwrap();
        service.list(&wide(), &RawFilter::default(), PageRequest::default()).await.unwrap();
    }
}
