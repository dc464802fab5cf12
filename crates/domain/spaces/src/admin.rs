//! Administration of spaces and their steps. The caller checks permission.

use crate::{Component, ComponentKind, ComponentStore, Space, SpaceStore, Step, StepStore};
use async_trait::async_trait;
use civitas_kernel::records::{Change, RecordAdministration, Records, find_for_update};
use civitas_kernel::{ComponentId, Error, OrganizationId, Result, SpaceRef, StepId};
use time::OffsetDateTime;

/// Administers the spaces of organizations, by the rules of [`Space::check`].
pub struct SpaceAdministration<'a> {
    /// The store, in a transaction.
    pub spaces: &'a dyn SpaceStore,
}

#[async_trait]
impl RecordAdministration<Space> for SpaceAdministration<'_> {
    fn records(&self) -> &dyn Records<Space> {
        self.spaces
    }

    async fn before_store(
        &self,
        _: OrganizationId,
        _: Option<(SpaceRef, &Space)>,
        after: &Space,
    ) -> Result<()> {
        after.check()
    }
}

/// Administers the steps of processes. At most one step of a process is active: a step that becomes active makes the
/// other one inactive, which changes the step settings of all components at once.
pub struct StepAdministration<'a> {
    /// The store of spaces, in a transaction.
    pub spaces: &'a dyn SpaceStore,
    /// The store of steps, in the same one.
    pub steps: &'a dyn StepStore,
}

#[async_trait]
impl RecordAdministration<Step> for StepAdministration<'_> {
    fn records(&self) -> &dyn Records<Step> {
        self.steps
    }

    /// Locks the process of an active step, so that of two activations at once the later one is effective.
    async fn before_store(
        &self,
        organization: OrganizationId,
        before: Option<(StepId, &Step)>,
        after: &Step,
    ) -> Result<()> {
        after.check()?;
        if !after.active {
            return Ok(());
        }
        self.spaces.find_for_update(organization, after.space).await?.ok_or(Error::NotFound)?;
        match self.steps.active(organization, after.space).await? {
            Some((id, active)) if before.is_none_or(|(own, _)| own != id) => {
                let updated_at = after.updated_at.max(active.updated_at);
                let inactive = Step { active: false, updated_at, ..active.clone() };
                self.steps.save(organization, id, &Change::new(active, inactive)).await
            }
            _ => Ok(()),
        }
    }
}

/// The component of this kind that gets a new record, locked so that it is not deleted before the record is stored.
///
/// # Errors
/// `NotFound` when there is none, it is of another kind, or it is deleted; `Internal` outside a transaction.
pub async fn component_for_record(
    components: &dyn ComponentStore,
    organization: OrganizationId,
    id: ComponentId,
    kind: ComponentKind,
) -> Result<Component> {
    let component = find_for_update::<Component>(components, organization, id).await?;
    if component.kind == kind { Ok(component) } else { Err(Error::NotFound) }
}

/// Deletes a step, and the settings that components of the process have for it. The current settings do not change: the
/// step is not active. The caller checks permission. Needs the stores of a transaction.
///
/// # Errors
/// `NotFound`; `Rejected` when the step is active.
pub async fn remove_step(
    steps: &dyn StepStore,
    components: &dyn ComponentStore,
    organization: OrganizationId,
    id: StepId,
    now: OffsetDateTime,
) -> Result<()> {
    let step = find_for_update::<Step>(steps, organization, id).await?;
    if step.active {
        return Err(Error::rejected_field("active", "is_active", "the active step cannot be deleted"));
    }
    for (component, before) in components.list_in_space_for_update(organization, step.space).await? {
        let change = Change::from_edit(before, now, |component| drop(component.step_settings.remove(&id)));
        if !change.is_empty() {
            components.save(organization, component, &change).await?;
        }
    }
    steps.remove(organization, id).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockComponentStore, MockSpaceStore, MockStepStore, Visibility};
    use civitas_kernel::records::{Entity, edit};
    use civitas_kernel::{Ability, Locale, SpaceKind, Translated};
    use mockall::Sequence;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn title() -> Translated {
        [(Locale::EN, "Streets".to_owned())].into()
    }

    fn step(active: bool) -> Step {
        let space = SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 3 };
        Step { active, ..Step::new(space, title(), 0, NOW) }
    }

    /// The process, which can be locked.
    fn process() -> MockSpaceStore {
        let mut spaces = MockSpaceStore::new();
        let process = Space::new(SpaceKind::ParticipatoryProcesses, title(), NOW);
        spaces.expect_find_for_update().returning(move |_, _| Ok(Some(process.clone())));
        spaces
    }

    async fn activate(was_active: bool, mut steps: MockStepStore) -> Step {
        steps.expect_find_for_update().returning(move |_, _| Ok(Some(step(was_active))));
        let admin = StepAdministration { spaces: &process(), steps: &steps };
        edit(&admin, CITY, StepId(5), NOW, |step| step.active = true).await.unwrap()
    }

    #[tokio::test]
    async fn an_activation_has_one_event() {
        let mut steps = MockStepStore::new();
        steps.expect_active().returning(|_, _| Ok(None));
        steps.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.after.active), (StepId(5), true));
            assert_eq!(change.events(id)[0].name, Ability::StepActivated);
            Ok(())
        });
        assert!(activate(false, steps).await.active);
        assert!(
            activate(true, MockStepStore::new()).await.active,
            "nothing is stored again and there is no event"
        );
    }

    #[tokio::test]
    async fn an_activation_makes_the_other_step_inactive_without_an_event() {
        let mut steps = MockStepStore::new();
        steps.expect_active().returning(|_, _| Ok(Some((StepId(4), step(true)))));
        let mut in_order = Sequence::new();
        steps.expect_save().once().in_sequence(&mut in_order).returning(|_, id, change| {
            assert_eq!((id, change.after.active, change.events(id)), (StepId(4), false, Vec::new()));
            Ok(())
        });
        steps.expect_save().once().in_sequence(&mut in_order).returning(|_, id, change| {
            assert_eq!((id, change.after.active), (StepId(5), true));
            Ok(())
        });
        assert!(activate(false, steps).await.active);
    }

    #[tokio::test]
    async fn a_new_step_that_is_active_has_an_event_too() {
        let events = |step: &Step| step.events(StepId(1), None).len();
        assert_eq!((events(&step(true)), events(&step(false))), (1, 0));
        let mut steps = MockStepStore::new();
        steps.expect_active().once().returning(|_, _| Ok(None));
        steps.expect_add().times(2).returning(|_, _| Ok(StepId(1)));
        let spaces = process();
        let admin = StepAdministration { spaces: &spaces, steps: &steps };
        admin.create(CITY, &step(true)).await.unwrap();
        admin.create(CITY, &step(false)).await.unwrap();
        let assembly = SpaceRef { kind: SpaceKind::Assemblies, id: 3 };
        let refused = admin.create(CITY, &Step { space: assembly, ..step(true) }).await.unwrap_err();
        assert_eq!(refused.description(), "only participatory processes have steps");
    }

    #[tokio::test]
    async fn a_deleted_step_takes_its_settings_along() {
        let mut steps = MockStepStore::new();
        steps.expect_find_for_update().returning(|_, _| Ok(Some(step(false))));
        steps.expect_remove().once().withf(|_, id| *id == StepId(5)).returning(|_, _| Ok(()));
        let mut components = MockComponentStore::new();
        components.expect_list_in_space_for_update().returning(|_, space| {
            let plain = Component::new(space, ComponentKind::Proposals, title(), NOW);
            let mut own = plain.clone();
            own.step_settings.insert(StepId(4), serde_json::Map::new());
            own.step_settings.insert(StepId(5), serde_json::Map::new());
            Ok(vec![(ComponentId(1), plain), (ComponentId(2), own)])
        });
        components.expect_save().once().returning(|_, id, change| {
            let kept: Vec<StepId> = change.after.step_settings.keys().copied().collect();
            assert_eq!((id, kept), (ComponentId(2), vec![StepId(4)]));
            Ok(())
        });
        remove_step(&steps, &components, CITY, StepId(5), NOW).await.unwrap();
    }

    #[tokio::test]
    async fn a_record_is_added_to_a_component_of_its_kind() {
        let mut components = MockComponentStore::new();
        components.expect_find_for_update().returning(|_, id| {
            let space = SpaceRef { kind: SpaceKind::Assemblies, id: 1 };
            let mut found = Component::new(space, ComponentKind::Blogs, title(), NOW);
            found.deleted_at = (id == ComponentId(2)).then_some(NOW);
            Ok((id != ComponentId(3)).then_some(found))
        });
        let find = async |id, kind| component_for_record(&components, CITY, ComponentId(id), kind).await;
        assert!(find(1, ComponentKind::Blogs).await.is_ok());
        for (id, kind) in [(1, ComponentKind::Meetings), (2, ComponentKind::Blogs), (3, ComponentKind::Blogs)]
        {
            assert!(matches!(find(id, kind).await, Err(Error::NotFound)), "{id} {kind:?}");
        }
    }

    #[tokio::test]
    async fn an_active_step_is_not_deleted() {
        let mut steps = MockStepStore::new();
        steps.expect_find_for_update().returning(|_, _| Ok(Some(step(true))));
        let components = MockComponentStore::new();
        let refused = remove_step(&steps, &components, CITY, StepId(5), NOW).await.unwrap_err();
        assert_eq!(refused.description(), "the active step cannot be deleted");
    }

    #[tokio::test]
    async fn a_space_keeps_the_rules_of_its_kind() {
        let mut spaces = MockSpaceStore::new();
        spaces
            .expect_find_for_update()
            .returning(|_, _| Ok(Some(Space::new(SpaceKind::Conferences, title(), NOW))));
        let admin = SpaceAdministration { spaces: &spaces };
        let id = SpaceRef { kind: SpaceKind::Conferences, id: 1 };
        let refused = edit(&admin, CITY, id, NOW, |space| space.visibility = Visibility::Private).await;
        assert_eq!(refused.unwrap_err().description(), "conferences cannot be private");
        edit(&admin, CITY, id, NOW, |_| {}).await.unwrap();
    }
}
