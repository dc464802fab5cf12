//! Administration of spaces and their steps. The caller checks permission.

use crate::{Space, SpaceStore, Step, StepStore};
use async_trait::async_trait;
use civitas_kernel::records::{Change, RecordAdmin, Records};
use civitas_kernel::{Error, OrganizationId, Result, SpaceRef, StepId};

/// Administers the spaces of organizations, by the rules of [`Space::check`].
pub struct SpaceAdmin<'a> {
    /// The store, in a transaction.
    pub spaces: &'a dyn SpaceStore,
}

#[async_trait]
impl RecordAdmin<Space> for SpaceAdmin<'_> {
    fn records(&self) -> &dyn Records<Space> {
        self.spaces
    }

    async fn prepare(&self, _: OrganizationId, _: Option<(SpaceRef, &Space)>, after: &Space) -> Result<()> {
        after.check()
    }
}

/// Administers the steps of processes. At most one step of a process is active: a step that becomes active makes the
/// other one inactive, which changes the phase settings of all components at once.
pub struct StepAdmin<'a> {
    /// The store of spaces, in a transaction.
    pub spaces: &'a dyn SpaceStore,
    /// The store of steps, in the same one.
    pub steps: &'a dyn StepStore,
}

#[async_trait]
impl RecordAdmin<Step> for StepAdmin<'_> {
    fn records(&self) -> &dyn Records<Step> {
        self.steps
    }

    /// Locks the process of an active step, so that of two activations at once the later one is effective.
    async fn prepare(
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
                let inactive = Step { active: false, ..active.clone() };
                self.steps.save(organization, id, &Change::new(active, inactive)).await
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockSpaceStore, MockStepStore, Visibility};
    use civitas_kernel::records::{Entity, edit};
    use civitas_kernel::{Ability, Locale, SpaceManifest, Translated};
    use mockall::Sequence;
    use time::OffsetDateTime;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn title() -> Translated {
        [(Locale::EN, "Streets".to_owned())].into()
    }

    fn step(active: bool) -> Step {
        let space = SpaceRef { manifest: SpaceManifest::ParticipatoryProcesses, id: 3 };
        Step { space, title: title(), position: 0, active, starts_at: None, ends_at: None }
    }

    /// The process, which can be locked.
    fn process() -> MockSpaceStore {
        let mut spaces = MockSpaceStore::new();
        let process = Space::new(SpaceManifest::ParticipatoryProcesses, title(), NOW);
        spaces.expect_find_for_update().returning(move |_, _| Ok(Some(process.clone())));
        spaces
    }

    async fn activate(was_active: bool, mut steps: MockStepStore) -> Step {
        steps.expect_find_for_update().returning(move |_, _| Ok(Some(step(was_active))));
        let admin = StepAdmin { spaces: &process(), steps: &steps };
        edit(&admin, CITY, StepId(5), NOW, |step| step.active = true).await.unwrap()
    }

    #[tokio::test]
    async fn an_activation_is_announced_once() {
        let mut steps = MockStepStore::new();
        steps.expect_active().returning(|_, _| Ok(None));
        steps.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.after.active), (StepId(5), true));
            assert_eq!(change.events(id)[0].name, Ability::StepActivated);
            Ok(())
        });
        assert!(activate(false, steps).await.active);
        assert!(activate(true, MockStepStore::new()).await.active, "nothing is stored or announced again");
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
    async fn a_new_step_that_is_active_is_announced_too() {
        let announced = |step: &Step| step.events(StepId(1), None).len();
        assert_eq!((announced(&step(true)), announced(&step(false))), (1, 0));
        let mut steps = MockStepStore::new();
        steps.expect_active().once().returning(|_, _| Ok(None));
        steps.expect_add().times(2).returning(|_, _| Ok(StepId(1)));
        let spaces = process();
        let admin = StepAdmin { spaces: &spaces, steps: &steps };
        admin.create(CITY, &step(true)).await.unwrap();
        admin.create(CITY, &step(false)).await.unwrap();
        let assembly = SpaceRef { manifest: SpaceManifest::Assemblies, id: 3 };
        let refused = admin.create(CITY, &Step { space: assembly, ..step(true) }).await.unwrap_err();
        assert_eq!(refused.description(), "only participatory processes have steps");
    }

    #[tokio::test]
    async fn a_space_keeps_the_rules_of_its_kind() {
        let mut spaces = MockSpaceStore::new();
        spaces
            .expect_find_for_update()
            .returning(|_, _| Ok(Some(Space::new(SpaceManifest::Conferences, title(), NOW))));
        let admin = SpaceAdmin { spaces: &spaces };
        let id = SpaceRef { manifest: SpaceManifest::Conferences, id: 1 };
        let refused = edit(&admin, CITY, id, NOW, |space| space.visibility = Visibility::Private).await;
        assert_eq!(refused.unwrap_err().description(), "conferences cannot be private");
        edit(&admin, CITY, id, NOW, |_| {}).await.unwrap();
    }
}
