//! Pages, budgets, results and debates.

use super::{NOW, World, component, space, text};
use crate::{Entry, EntryKind};
use civitas_kernel::{EntryId, Error, Locale, Result, SpaceManifest};
use time::Duration;

/// What is kept comes back, member by member, and of each kind for itself; so does its change.
pub async fn keeps_entries_by_kind(world: World<'_>) -> Result<()> {
    let home = world.add(&space(SpaceManifest::Assemblies, "home")).await?;
    let mut kept: Vec<(EntryKind, EntryId, Entry)> = Vec::new();
    for kind in EntryKind::ALL {
        let component = world.add_component(&component(home, kind.manifest(), "x")).await?;
        let unusual = Entry {
            title: [(Locale::FR, "É".to_owned()), (Locale::ES, String::new())].into(),
            hidden_at: Some(NOW + Duration::seconds(1)),
            deleted_at: Some(NOW + Duration::seconds(2)),
            created_at: NOW - Duration::days(1),
            ..Entry::new(component, text(""), NOW)
        };
        let id = world.entries.add(world.mine, &unusual).await?;
        assert_eq!(world.entries.find(world.mine, id).await?.as_ref(), Some(&unusual));
        let plain = Entry::new(component, text("plain"), NOW + Duration::days(1));
        world.entries.save(world.mine, id, &plain).await?;
        assert_eq!(world.entries.find(world.mine, id).await?.as_ref(), Some(&plain));
        kept.push((kind, id, plain.clone()));
        kept.push((kind, world.entries.add(world.mine, &plain).await?, plain));
    }
    for kind in EntryKind::ALL {
        let own: Vec<_> =
            kept.iter().filter(|(k, ..)| *k == kind).map(|(_, id, entry)| (*id, entry.clone())).collect();
        assert_eq!(world.entries.page_after(world.mine, kind, None, 9).await?, own);
        assert_eq!(world.entries.page_after(world.mine, kind, Some(own[0].0), 9).await?, own[1..]);
        assert_eq!(world.entries.page_after(world.mine, kind, None, 1).await?, own[..1]);
    }
    Ok(())
}

/// No organization sees or changes another's.
pub async fn keeps_entries_apart(world: World<'_>) -> Result<()> {
    let home = world.add(&space(SpaceManifest::Assemblies, "home")).await?;
    let component = world.add_component(&component(home, EntryKind::Debate.manifest(), "x")).await?;
    let entry = Entry::new(component, text("mine"), NOW);
    let id = world.entries.add(world.mine, &entry).await?;
    assert_eq!(world.entries.find(world.other, id).await?, None);
    assert_eq!(world.entries.page_after(world.other, EntryKind::Debate, None, 9).await?, []);
    let theft = Entry { title: text("stolen"), ..entry.clone() };
    assert!(matches!(world.entries.save(world.other, id, &theft).await, Err(Error::NotFound)));
    let unknown = world.entries.save(world.mine, EntryId(i64::MAX), &theft).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
    assert_eq!(world.entries.find(world.mine, id).await?, Some(entry));
    Ok(())
}
