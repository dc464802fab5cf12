//! The order of the components of a space. The caller checks permission.

use crate::{Component, ComponentStore};
use civitas_kernel::records::{Change, Entity};
use civitas_kernel::{ComponentId, Error, OrganizationId, Result, SpaceRef};
use time::OffsetDateTime;

/// Where a component moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentMove {
    /// One position up; the first one stays.
    Up,
    /// One position down; the last one stays.
    Down,
    /// To this position, counted from 1; the last one for a larger number.
    To(usize),
}

/// The position of a component before and after a move, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedComponent {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// Moves components among those of their space.
pub struct ComponentOrder<'a> {
    /// The store, in a transaction.
    pub components: &'a dyn ComponentStore,
}

impl ComponentOrder<'_> {
    /// Moves a component. Weights become the positions from 0; components whose weight stays are not changed. A component
    /// that stays at its position changes nothing.
    ///
    /// # Errors
    /// `NotFound` when the space has no such component.
    pub async fn reorder(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        id: ComponentId,
        way: ComponentMove,
        now: OffsetDateTime,
    ) -> Result<MovedComponent> {
        let mut list = self.components.list_in_space_for_update(organization, space).await?;
        list.retain(|(_, component)| !component.is_deleted());
        list.sort_by_key(|(id, component)| (component.weight, component.kind.as_str(), id.0));
        let before = list.iter().position(|(own, _)| *own == id).ok_or(Error::NotFound)?;
        let end = list.len() - 1;
        let after = match way {
            ComponentMove::Up => before.saturating_sub(1),
            ComponentMove::Down => before + 1,
            ComponentMove::To(position) => position.saturating_sub(1),
        };
        let after = after.min(end);
        if before != after {
            let moved = list.remove(before);
            list.insert(after, moved);
            for (weight, (id, component)) in (0_i64..).zip(list) {
                let change =
                    Change::<Component>::from_edit(component, now, |component| component.weight = weight);
                if !change.is_empty() {
                    self.components.save(organization, id, &change).await?;
                }
            }
        }
        Ok(MovedComponent { before: before + 1, after: after + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ComponentKind, MockComponentStore};
    use civitas_kernel::{SpaceKind, Translated};
    use std::sync::{Arc, Mutex};
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const SPACE: SpaceRef = SpaceRef { kind: SpaceKind::Assemblies, id: 3 };
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn component(kind: ComponentKind, weight: i64) -> Component {
        let then = datetime!(2026-01-01 0:00 UTC);
        Component { weight, ..Component::new(SPACE, kind, Translated::default(), then) }
    }

    /// The components 1 to 4 in this order, of which 9 is deleted, and what a move saves.
    async fn reorder(id: i64, way: ComponentMove) -> (Result<MovedComponent>, Vec<(i64, i64)>) {
        let list = vec![
            (ComponentId(2), component(ComponentKind::Proposals, 5)),
            (ComponentId(3), component(ComponentKind::Proposals, 5)),
            (ComponentId(1), component(ComponentKind::Blogs, 5)),
            (ComponentId(4), component(ComponentKind::Blogs, 7)),
            (ComponentId(9), Component { deleted_at: Some(NOW), ..component(ComponentKind::Blogs, 0) }),
        ];
        let saved: Arc<Mutex<Vec<(i64, i64)>>> = Arc::default();
        let mut store = MockComponentStore::new();
        store.expect_list_in_space_for_update().returning(move |_, _| Ok(list.clone()));
        let to = saved.clone();
        store.expect_save().returning(move |_, id, change| {
            assert_eq!(change.after.updated_at, NOW);
            to.lock().unwrap().push((id.0, change.after.weight));
            Ok(())
        });
        let order = ComponentOrder { components: &store };
        let moved = order.reorder(CITY, SPACE, ComponentId(id), way, NOW).await;
        let saved = saved.lock().unwrap().clone();
        (moved, saved)
    }

    #[tokio::test]
    async fn a_component_changes_places_with_its_neighbour() {
        let (moved, saved) = reorder(3, ComponentMove::Up).await;
        assert_eq!(moved.unwrap(), MovedComponent { before: 3, after: 2 });
        assert_eq!(saved, [(1, 0), (3, 1), (2, 2), (4, 3)]);
        let (moved, saved) = reorder(2, ComponentMove::Down).await;
        assert_eq!(moved.unwrap(), MovedComponent { before: 2, after: 3 });
        assert_eq!(saved, [(1, 0), (3, 1), (2, 2), (4, 3)]);
    }

    #[tokio::test]
    async fn a_position_beyond_the_end_is_the_last_one() {
        let (moved, saved) = reorder(1, ComponentMove::To(9)).await;
        assert_eq!(moved.unwrap(), MovedComponent { before: 1, after: 4 });
        assert_eq!(saved, [(2, 0), (3, 1), (4, 2), (1, 3)]);
        let (moved, _) = reorder(4, ComponentMove::To(0)).await;
        assert_eq!(moved.unwrap(), MovedComponent { before: 4, after: 1 });
    }

    #[tokio::test]
    async fn a_component_that_stays_changes_nothing() {
        for (id, way) in [(1, ComponentMove::Up), (4, ComponentMove::Down), (3, ComponentMove::To(3))] {
            let (moved, saved) = reorder(id, way).await;
            let moved = moved.unwrap();
            assert_eq!((moved.before, saved.len()), (moved.after, 0));
        }
        assert!(matches!(reorder(9, ComponentMove::Up).await.0, Err(Error::NotFound)), "it is deleted");
    }
}
