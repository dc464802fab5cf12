//! What administrators do with spaces and their steps. The caller checks permission.

use crate::{Space, SpaceStore, Step, StepStore};
use civitas_kernel::{Ability, Error, EventName, OrganizationId, Result, SpaceRef, StepId};
use time::OffsetDateTime;

impl Step {
    /// What this state announces after that one, or of a new step: that it became the current one (contract 05
    /// §2.8).
    pub fn announcements(&self, before: Option<&Self>) -> &'static [EventName] {
        let was_active = before.is_some_and(|old| old.active);
        if self.active && !was_active { &[Ability::StepActivated] } else { &[] }
    }
}

/// Administers the spaces of organizations.
pub struct SpaceAdmin<'a> {
    /// The store of spaces.
    pub spaces: &'a dyn SpaceStore,
    /// The store of steps.
    pub steps: &'a dyn StepStore,
}

impl SpaceAdmin<'_> {
    /// Makes a space.
    ///
    /// # Errors
    /// `Rejected` for a visibility or slug that does not suit its kind, and for a slug that is taken.
    pub async fn create(&self, organization: OrganizationId, space: &Space) -> Result<SpaceRef> {
        space.check()?;
        self.spaces.add(organization, space).await
    }

    /// Changes a space under its lock. An edit that changes nothing leaves its time alone.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::create`].
    pub async fn edit(
        &self,
        organization: OrganizationId,
        id: SpaceRef,
        now: OffsetDateTime,
        edit: impl FnOnce(&mut Space) + Send,
    ) -> Result<Space> {
        let before = self.spaces.find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
        let mut space = before.clone();
        edit(&mut space);
        if space != before {
            space.updated_at = now;
            space.check()?;
            self.spaces.save(organization, id, &space).await?;
        }
        Ok(space)
    }

    /// Makes a step. An active one makes the others of its process inactive.
    ///
    /// # Errors
    /// `Rejected` where the space is no process.
    pub async fn create_step(&self, organization: OrganizationId, step: &Step) -> Result<StepId> {
        step.check()?;
        self.steps.add(organization, step, step.announcements(None)).await
    }

    /// Changes a step under its lock, with the same care.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::create_step`].
    pub async fn edit_step(
        &self,
        organization: OrganizationId,
        id: StepId,
        edit: impl FnOnce(&mut Step) + Send,
    ) -> Result<Step> {
        let before = self.steps.find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
        let mut step = before.clone();
        edit(&mut step);
        if step != before {
            step.check()?;
            self.steps.save(organization, id, &step, step.announcements(Some(&before))).await?;
        }
        Ok(step)
    }

    /// Makes a step the current one of its process: the phase settings of all its components follow at once. Nothing
    /// happens when it is already.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn activate_step(&self, organization: OrganizationId, id: StepId) -> Result<Step> {
        self.edit_step(organization, id, |step| step.active = true).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockSpaceStore, MockStepStore, Visibility};
    use civitas_kernel::{Locale, SpaceManifest, Translated};
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

    async fn activate(was_active: bool, mut steps: MockStepStore) -> Step {
        steps.expect_find_for_update().returning(move |_, _| Ok(Some(step(was_active))));
        let spaces = MockSpaceStore::new();
        SpaceAdmin { spaces: &spaces, steps: &steps }.activate_step(CITY, StepId(5)).await.unwrap()
    }

    #[tokio::test]
    async fn an_activation_is_announced_once() {
        let mut steps = MockStepStore::new();
        steps.expect_save().once().returning(|_, id, step, names| {
            assert_eq!((id, step.active, names), (StepId(5), true, [Ability::StepActivated].as_slice()));
            Ok(())
        });
        assert!(activate(false, steps).await.active);
        assert!(activate(true, MockStepStore::new()).await.active, "nothing is kept or announced again");
    }

    #[tokio::test]
    async fn a_new_step_that_is_active_is_announced_too() {
        let mut steps = MockStepStore::new();
        steps
            .expect_add()
            .withf(|_, _, names| *names == [Ability::StepActivated])
            .once()
            .returning(|_, _, _| Ok(StepId(1)));
        steps.expect_add().withf(|_, _, names| names.is_empty()).once().returning(|_, _, _| Ok(StepId(2)));
        let spaces = MockSpaceStore::new();
        let admin = SpaceAdmin { spaces: &spaces, steps: &steps };
        admin.create_step(CITY, &step(true)).await.unwrap();
        admin.create_step(CITY, &step(false)).await.unwrap();
        let assembly = SpaceRef { manifest: SpaceManifest::Assemblies, id: 3 };
        let refused = admin.create_step(CITY, &Step { space: assembly, ..step(true) }).await.unwrap_err();
        assert_eq!(refused.description(), "only participatory processes have steps");
    }

    #[tokio::test]
    async fn a_space_keeps_the_rules_of_its_kind() {
        let mut spaces = MockSpaceStore::new();
        spaces
            .expect_find_for_update()
            .returning(|_, _| Ok(Some(Space::new(SpaceManifest::Conferences, title(), NOW))));
        let steps = MockStepStore::new();
        let admin = SpaceAdmin { spaces: &spaces, steps: &steps };
        let id = SpaceRef { manifest: SpaceManifest::Conferences, id: 1 };
        let refused = admin.edit(CITY, id, NOW, |space| space.visibility = Visibility::Private).await;
        assert_eq!(refused.unwrap_err().description(), "conferences cannot be private");
        admin.edit(CITY, id, NOW, |_| {}).await.unwrap();
    }
}
