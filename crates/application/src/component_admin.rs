//! Administration of components; their settings are checked by rules of several domain crates. The caller checks
//! permission.

use crate::component_settings_error;
use async_trait::async_trait;
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{ComponentId, Error, Locales, OrganizationId, Result};
use civitas_proposals::{ProposalState, StateStore, VoteStore};
use civitas_spaces::{Component, ComponentKind, ComponentStore};
use serde_json::Value;

/// Administers components. Checks that settings suit the kind of the component, adds the built-in states to a new
/// proposals component, and updates votes to final or temporary by the minimum of the settings.
pub struct ComponentAdministration<'a> {
    /// The store, in a transaction.
    pub components: &'a dyn ComponentStore,
    /// The states of proposals.
    pub states: &'a dyn StateStore,
    /// Votes, which the settings make final or temporary.
    pub votes: &'a dyn VoteStore,
    /// The languages of the deployment.
    pub locales: &'a Locales,
}

#[async_trait]
impl RecordAdministration<Component> for ComponentAdministration<'_> {
    fn records(&self) -> &dyn Records<Component> {
        self.components
    }

    async fn before_store(
        &self,
        _: OrganizationId,
        _: Option<(ComponentId, &Component)>,
        after: &Component,
    ) -> Result<()> {
        match component_settings_error(after, self.locales) {
            Some(error) => Err(Error::Rejected(Box::new(error))),
            None => Ok(()),
        }
    }

    async fn follow_up(
        &self,
        organization: OrganizationId,
        id: ComponentId,
        before: Option<&Component>,
        after: &Component,
    ) -> Result<()> {
        match before {
            None if after.kind == ComponentKind::Proposals => {
                for state in ProposalState::built_in(id, after.created_at) {
                    self.states.add(organization, &state).await?;
                }
                Ok(())
            }
            Some(before) if minimum_votes(before) != minimum_votes(after) => {
                self.votes.set_finality(organization, id, minimum_votes(after)).await
            }
            _ => Ok(()),
        }
    }
}

/// The number of votes a user needs in a component before they are final; 0: all are.
pub fn minimum_votes(component: &Component) -> i64 {
    component.settings.get("minimum_votes_per_user").and_then(Value::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::records::edit;
    use civitas_kernel::{Locale, SpaceKind, SpaceRef, StateId, Translated};
    use civitas_proposals::{MockStateStore, MockVoteStore};
    use civitas_spaces::MockComponentStore;
    use serde_json::json;
    use time::OffsetDateTime;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const IDEAS: ComponentId = ComponentId(3);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn ideas() -> Component {
        let space = SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 3 };
        let name = Translated::from([(Locale::EN, "Ideas".to_owned())]);
        Component::new(space, ComponentKind::Proposals, name, datetime!(2026-01-01 0:00 UTC))
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
            .expect_set_finality()
            .withf(|_, id, minimum| (*id, *minimum) == (IDEAS, 3))
            .once()
            .returning(|_, _, _| Ok(()));
        let states = MockStateStore::new();
        let admin = ComponentAdministration {
            components: &components,
            states: &states,
            votes: &votes,
            locales: &Locales::standard(),
        };
        edit(&admin, CITY, IDEAS, NOW, set("minimum_votes_per_user", json!(3))).await.unwrap();
        let edited = edit(&admin, CITY, IDEAS, NOW, set("vote_limit", json!(3))).await.unwrap();
        assert_eq!(edited.updated_at, NOW);
    }

    #[tokio::test]
    async fn a_setting_must_suit_its_kind() {
        let components = store();
        let votes = MockVoteStore::new();
        let states = MockStateStore::new();
        let admin = ComponentAdministration {
            components: &components,
            states: &states,
            votes: &votes,
            locales: &Locales::standard(),
        };
        edit(&admin, CITY, IDEAS, NOW, set("colour", json!("red"))).await.unwrap_err();
        edit(&admin, CITY, IDEAS, NOW, set("vote_limit", json!("many"))).await.unwrap_err();
        edit(&admin, CITY, IDEAS, NOW, |_| {}).await.unwrap();
    }

    #[tokio::test]
    async fn a_new_proposals_component_has_the_built_in_states() {
        let mut components = MockComponentStore::new();
        components.expect_add().times(2).returning(|_, _| Ok(IDEAS));
        let mut states = MockStateStore::new();
        states.expect_add().times(4).returning(|_, state| {
            assert_eq!(state.component, IDEAS);
            assert!(ProposalState::BUILT_IN_STATES.contains(&state.token.as_str()));
            Ok(StateId(1))
        });
        let votes = MockVoteStore::new();
        let admin = ComponentAdministration {
            components: &components,
            states: &states,
            votes: &votes,
            locales: &Locales::standard(),
        };
        admin.create(CITY, &ideas()).await.unwrap();
        admin.create(CITY, &Component { kind: ComponentKind::Pages, ..ideas() }).await.unwrap();
    }
}
