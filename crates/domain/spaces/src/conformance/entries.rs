//! Pages, budgets, results and debates.

use super::{NOW, World, component, space, text};
use crate::{ComponentEntry, ComponentEntryKind, ComponentEntryRef};
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::{Locale, Result, SpaceKind};
use time::Duration;

/// Entries of components that are added for them; of one kind, for the kind of an entry never changes.
pub async fn entries(world: World<'_>) -> Result<Samples<'_, ComponentEntry>> {
    let home = world.add(&space(SpaceKind::Assemblies, "home")).await?;
    let debates =
        world.add_component(&component(home, ComponentEntryKind::Debate.component_kind(), "x")).await?;
    let others =
        world.add_component(&component(home, ComponentEntryKind::Debate.component_kind(), "y")).await?;
    let unusual = ComponentEntry {
        title: [(Locale::FR, "É".to_owned()), (Locale::ES, String::new())].into(),
        hidden_at: Some(NOW + Duration::seconds(1)),
        deleted_at: Some(NOW + Duration::seconds(2)),
        created_at: NOW - Duration::days(1),
        ..ComponentEntry::new(ComponentEntryKind::Debate, debates, text(""), NOW)
    };
    let samples = [
        unusual,
        ComponentEntry::new(ComponentEntryKind::Debate, debates, text("plain"), NOW),
        ComponentEntry::new(ComponentEntryKind::Debate, others, text("late"), NOW + Duration::days(1)),
    ];
    Ok(Samples::new(
        world.entries,
        [world.mine, world.other],
        samples,
        ComponentEntryRef { kind: ComponentEntryKind::Debate, id: i64::MAX },
    ))
}

/// The entries of each kind have separate pages.
pub async fn pages_of_entries_are_of_a_kind(world: World<'_>) -> Result<()> {
    let home = world.add(&space(SpaceKind::Assemblies, "home")).await?;
    let mut kept: Vec<(ComponentEntryRef, ComponentEntry)> = Vec::new();
    for kind in ComponentEntryKind::ALL {
        let component = world.add_component(&component(home, kind.component_kind(), "x")).await?;
        for title in ["first", "second"] {
            let entry = ComponentEntry::new(kind, component, text(title), NOW);
            kept.push((world.entries.add(world.mine, &entry).await?, entry));
        }
    }
    for kind in ComponentEntryKind::ALL {
        let own: Vec<_> = kept.iter().filter(|(id, _)| id.kind == kind).cloned().collect();
        assert_eq!(own.iter().map(|(id, _)| id.id).collect::<Vec<_>>(), [1, 2], "numbers of its own");
        let page =
            async |after, limit| world.entries.page_of_kind_after(world.mine, kind, after, limit).await;
        assert_eq!(page(None, 9).await?, own);
        assert_eq!(page(Some(own[0].0.id), 9).await?, own[1..]);
        assert_eq!(page(None, 1).await?, own[..1]);
        assert_eq!(world.entries.page_of_kind_after(world.other, kind, None, 9).await?, []);
    }
    Ok(())
}
