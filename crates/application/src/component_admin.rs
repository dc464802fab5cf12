//! What administrators do with components; settings of a component are rules of several domain crates. The caller checks
//! permission.

use crate::component_settings_error;
use civitas_kernel::{ComponentId, Error, Locales, OrganizationId, Result};
use civitas_proposals::VoteStore;
use civitas_spaces::{Component, ComponentStore};
use serde_json::Value;
use time::OffsetDateTime;

/// Administers the components of organizations.
pub struct ComponentAdmin<'a> {
    /// Where they are kept.
    pub components: &'a dyn ComponentStore,
    /// The votes that count or not, by the settings.
    pub votes: &'a dyn VoteStore,
    /// The languages of the deployment.
    pub locales: &'a Locales,
}

impl ComponentAdmin<'_> {
    /// Makes a component.
    ///
    /// # Errors
    /// `Rejected` for a setting that its kind does not have, or whose value does not suit it.
    pub async fn create(&self, organization: OrganizationId, component: &Component) -> Result<ComponentId> {
        self.check(component)?;
        self.components.add(organization, component).await
    }

    /// Stores a new state of a component whose state was `before`. Votes count, or wait, by the new minimum.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn change(
        &self,
        organization: OrganizationId,
        id: ComponentId,
        before: &Component,
        component: &Component,
    ) -> Result<()> {
        self.check(component)?;
        self.components.save(organization, id, component).await?;
        let minimum = minimum_votes(component);
        if minimum != minimum_votes(before) {
            self.votes.settle(organization, id, minimum).await?;
        }
        Ok(())
    }

    fn check(&self, component: &Component) -> Result<()> {
        match component_settings_error(component, self.locales) {
            Some(fault) => Err(Error::rejected(fault)),
            None => Ok(()),
        }
    }

    /// Changes a component under its lock. An edit that changes nothing leaves its time alone.
    ///
    /// # Errors
    /// `NotFound` for one that is not there or deleted; as [`Self::create`].
    pub async fn edit(
        &self,
        organization: OrganizationId,
        id: ComponentId,
        now: OffsetDateTime,
        edit: impl FnOnce(&mut Component) + Send,
    ) -> Result<Component> {
        let before =
            self.components.find_for_update(organization, id).await?.filter(|kept| kept.deleted_at.is_none());
        let before = before.ok_or(Error::NotFound)?;
        let mut component = before.clone();
        edit(&mut component);
        if component != before {
            component.updated_at = now;
            self.change(organization, id, &before, &component).await?;
        }
        Ok(component)
    }
}

/// How many votes a user needs in a component before they count; 0: all do.
pub(crate) fn minimum_votes(component: &Component) -> i64 {
    component.settings.get("minimum_votes_per_user").and_then(Value::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{Locale, SpaceManifest, SpaceRef, Translated};
    use civitas_proposals::MockVoteStore;
    use civitas_spaces::{ComponentManifest, MockComponentStore};
    use serde_json::json;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const IDEAS: ComponentId = ComponentId(3);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn ideas() -> Component {
        let space = SpaceRef { manifest: SpaceManifest::ParticipatoryProcesses, id: 3 };
        let name = Translated::from([(Locale::EN, "Ideas".to_owned())]);
        Component::new(space, ComponentManifest::Proposals, name, datetime!(2026-01-01 0:00 UTC))
    }

    fn store() -> MockComponentStore {
        let mut store = MockComponentStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(ideas())));
        store
    }

    fn set(name: &str, value: Value) -> impl FnOnce(&mut Component) + Send {
        move |component| drop(component.settings.insert(name.to_owned(), value))
    }

    #[tokio::test]
    async fn votes_are_settled_when_the_minimum_moves_and_only_then() {
        let mut components = store();
        components.expect_save().times(2).returning(|_, _, _| Ok(()));
        let mut votes = MockVoteStore::new();
        votes
            .expect_settle()
            .withf(|_, id, minimum| (*id, *minimum) == (IDEAS, 3))
            .once()
            .returning(|_, _, _| Ok(()));
        let admin = ComponentAdmin { components: &components, votes: &votes, locales: &Locales::standard() };
        admin.edit(CITY, IDEAS, NOW, set("minimum_votes_per_user", json!(3))).await.unwrap();
        let edited = admin.edit(CITY, IDEAS, NOW, set("vote_limit", json!(3))).await.unwrap();
        assert_eq!(edited.updated_at, NOW);
    }

    #[tokio::test]
    async fn a_setting_must_suit_its_kind() {
        let components = store();
        let votes = MockVoteStore::new();
        let admin = ComponentAdmin { components: &components, votes: &votes, locales: &Locales::standard() };
        admin.edit(CITY, IDEAS, NOW, set("colour", json!("red"))).await.unwrap_err();
        admin.edit(CITY, IDEAS, NOW, set("vote_limit", json!("many"))).await.unwrap_err();
        admin.edit(CITY, IDEAS, NOW, |_| {}).await.unwrap();
    }
}
