//! Pages, budgets, results and debates.

use super::{NOW, World, component, space, text};
use crate::{Entry, EntryKind};
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::{EntryId, Locale, Result, SpaceManifest};
use time::Duration;

/// Entries of components that are added for them.
///
/// # Errors
/// Those of the stores of spaces and components.
pub async fn entries(world: World<'_>) -> Result<Samples<'_, Entry>> {
    let home = world.add(&space(SpaceManifest::Assemblies, "home")).await?;
    let debates = world.add_component(&component(home, EntryKind::Debate.manifest(), "x")).await?;
    let pages = world.add_component(&component(home, EntryKind::Page.manifest(), "x")).await?;
    let unusual = Entry {
        title: [(Locale::FR, "É".to_owned()), (Locale::ES, String::new())].into(),
        hidden_at: Some(NOW + Duration::seconds(1)),
        deleted_at: Some(NOW + Duration::seconds(2)),
        created_at: NOW - Duration::days(1),
        ..Entry::new(debates, text(""), NOW)
    };
    let samples = [
        unusual,
        Entry::new(debates, text("plain"), NOW),
        Entry::new(pages, text("late"), NOW + Duration::days(1)),
    ];
    Ok(Samples {
        records: world.entries,
        mine: world.mine,
        other: world.other,
        samples,
        unknown: EntryId(i64::MAX),
    })
}

/// The entries of each kind have separate pages.
pub async fn pages_of_entries_are_of_a_kind(world: World<'_>) -> Result<()> {
    let home = world.add(&space(SpaceManifest::Assemblies, "home")).await?;
    let mut kept: Vec<(EntryKind, EntryId, Entry)> = Vec::new();
    for kind in EntryKind::ALL {
        let component = world.add_component(&component(home, kind.manifest(), "x")).await?;
        for title in ["first", "second"] {
            let entry = Entry::new(component, text(title), NOW);
            kept.push((kind, world.entries.add(world.mine, &entry).await?, entry));
        }
    }
    for kind in EntryKind::ALL {
        let own: Vec<_> =
            kept.iter().filter(|(k, ..)| *k == kind).map(|(_, id, entry)| (*id, entry.clone())).collect();
        let page =
            async |after, limit| world.entries.page_of_kind_after(world.mine, kind, after, limit).await;
        assert_eq!(page(None, 9).await?, own);
        assert_eq!(page(Some(own[0].0), 9).await?, own[1..]);
        assert_eq!(page(None, 1).await?, own[..1]);
        assert_eq!(world.entries.page_of_kind_after(world.other, kind, None, 9).await?, []);
    }
    Ok(())
}
