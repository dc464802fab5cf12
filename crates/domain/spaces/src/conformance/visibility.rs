//! Visibility and order.

use super::{NOW, Role, World, component, space, text};
use crate::{
    COMPONENT_FIELDS, Component, ComponentKind, SPACE_FIELDS, Space, SpaceDetail, Step, StepAdministration,
    Visibility,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::read_filters;
use civitas_kernel::records::RecordAdministration;
use civitas_kernel::records::conformance::replace;
use civitas_kernel::{ComponentId, Error, PageRequest, Result, SpaceKind, SpaceRef, Viewer};
use time::Duration;

/// Contract 05 §1.3, cell by cell: the readers of a space, by its kind, visibility and publication.
pub async fn space_visibility_matches_the_contract(world: World<'_>) -> Result<()> {
    for kind in SpaceKind::ALL {
        for visibility in [Visibility::Public, Visibility::Transparent, Visibility::Private] {
            for published in [true, false] {
                if visibility.is_allowed_for(kind) {
                    shows_a_space_to_whom_it_may(&world, kind, visibility, published).await?;
                }
            }
        }
    }
    Ok(())
}

async fn shows_a_space_to_whom_it_may(
    world: &World<'_>,
    kind: SpaceKind,
    visibility: Visibility,
    published: bool,
) -> Result<()> {
    let published_at = published.then_some(NOW);
    let id = world.add(&Space { visibility, published_at, ..space(kind, "table") }).await?;
    let open = visibility != Visibility::Private;
    let (nora, otto) = (Viewer::Participant(world.nora), Viewer::Participant(world.otto));
    let of_admins = kind == SpaceKind::ParticipatoryProcesses || kind == SpaceKind::Assemblies;
    let mut expected = vec![
        (Viewer::Public, published && open),
        (nora, published && open),
        (Viewer::Admin(world.admin), published || of_admins),
    ];
    agrees(world, id, &expected).await?;
    // Moderators and users with a pending invitation are not members; users who joined or accepted are.
    world.people.give_role(world.mine, id, world.nora, Role::Moderator).await?;
    world.people.give_role(world.mine, id, world.otto, Role::Invited).await?;
    expected.push((otto, published && open));
    agrees(world, id, &expected).await?;
    for role in [Role::Member, Role::InvitedMember] {
        let id = world.add(&Space { visibility, published_at, ..space(kind, "members") }).await?;
        world.people.give_role(world.mine, id, world.nora, role).await?;
        agrees(world, id, &[(nora, published), (otto, published && open)]).await?;
    }
    Ok(())
}

/// Checks that the space is found and listed for exactly these readers.
async fn agrees(world: &World<'_>, id: SpaceRef, expected: &[(Viewer, bool)]) -> Result<()> {
    for (viewer, sees) in expected {
        let read_context = world.viewer_read_context(*viewer);
        let found = world.spaces.find_visible(read_context, id).await?.is_some();
        let all = PageRequest::new(1, 100);
        let listed = world.spaces.list(read_context, Some(id.kind), &[], all).await?;
        let listed = listed.items.iter().any(|detail| detail.id == id);
        let space = world.spaces.find(world.mine, id).await?;
        assert_eq!((found, listed), (*sees, *sees), "{viewer:?} of {space:?}");
    }
    Ok(())
}

/// A component is seen where its space is, published (but by administrators) and not deleted: found, listed, and
/// named and counted by its space.
pub async fn shows_components_by_the_rules(world: World<'_>) -> Result<()> {
    let public = world.add_assembly("public", Visibility::Public).await?;
    let private = world.add_assembly("private", Visibility::Private).await?;
    world.people.give_role(world.mine, private, world.nora, Role::Member).await?;
    let members = [Viewer::Participant(world.nora), Viewer::Admin(world.admin)];
    for space in [public, private] {
        for (published, deleted) in [(true, false), (true, true), (false, false), (false, true)] {
            let part = Component {
                published_at: published.then_some(NOW),
                deleted_at: deleted.then_some(NOW),
                ..component(space, ComponentKind::Pages, "part")
            };
            let id = world.add_component(&part).await?;
            for viewer in [Viewer::Public, Viewer::Participant(world.otto), members[0], members[1]] {
                let in_space = space == public || members.contains(&viewer);
                let sees = in_space && !deleted && (published || viewer.is_admin());
                assert_eq!(
                    found_by_each_read(&world, viewer, space, id).await?,
                    [sees; 4],
                    "{viewer:?} of {part:?}"
                );
            }
            // Removed before the next case.
            let gone = Component { deleted_at: Some(NOW), ..part };
            replace(world.components, world.mine, id, &gone).await?;
        }
    }
    Ok(())
}

/// Whether the component is found, listed, listed in its space, and counted there.
async fn found_by_each_read(
    world: &World<'_>,
    viewer: Viewer,
    space: SpaceRef,
    id: ComponentId,
) -> Result<[bool; 4]> {
    let read_context = world.viewer_read_context(viewer);
    let found = world.components.find_visible(read_context, id).await?.is_some();
    let listed = world.components.list(read_context, None, &[], PageRequest::default()).await?;
    let listed = listed.items.iter().any(|detail| detail.id == id);
    let around = world.spaces.find_visible(read_context, space).await?;
    let named = around.as_ref().is_some_and(|s| s.components.contains(&(id, ComponentKind::Pages)));
    Ok([found, listed, named, around.is_some_and(|s| s.component_count == 1)])
}

/// A space lists its first components, by weight, kind and id, and counts all; so does the list.
pub async fn counts_components_beyond_those_it_names(world: World<'_>) -> Result<()> {
    let space = world.add_assembly("full", Visibility::Public).await?;
    let add = async |kind, weight| {
        world.add_component(&Component { weight, ..component(space, kind, "part") }).await
    };
    for _ in 0..SpaceDetail::MAX_COMPONENTS {
        add(ComponentKind::Pages, 5).await?;
    }
    let heavy = add(ComponentKind::Blogs, 9).await?;
    let light = add(ComponentKind::Surveys, -1).await?;
    let blog = add(ComponentKind::Blogs, 5).await?;
    let read_context = world.viewer_read_context(Viewer::Public);
    let found = world.spaces.find_visible(read_context, space).await?.ok_or(Error::NotFound)?;
    assert_eq!(found.component_count, SpaceDetail::MAX_COMPONENTS + 3);
    assert_eq!(i64::try_from(found.components.len()).ok(), Some(SpaceDetail::MAX_COMPONENTS));
    let first = [(light, ComponentKind::Surveys), (blog, ComponentKind::Blogs)];
    assert_eq!(found.components[..2], first);
    assert!(found.components.iter().all(|(id, _)| *id != heavy));
    let kind = Some(SpaceKind::Assemblies);
    let listed = world.spaces.list(read_context, kind, &[], PageRequest::default()).await?;
    assert!(listed.items.contains(&found), "the list tells the same");
    Ok(())
}

/// Spaces by age, kind and number, components by id; pages of any length have each once.
pub async fn lists_in_order_without_overlap(world: World<'_>) -> Result<()> {
    let mut parts = Vec::new();
    let mut spaces = Vec::new();
    for hours in [3, 1, 2] {
        for kind in SpaceKind::ALL {
            for _ in 0..2 {
                let created_at = NOW - Duration::hours(hours);
                let id = world.add(&Space { created_at, ..space(kind, "one") }).await?;
                spaces.push((created_at, kind.as_str(), id));
                parts.push(world.add_component(&component(id, ComponentKind::Debates, "part")).await?);
            }
        }
    }
    spaces.sort();
    let spaces: Vec<SpaceRef> = spaces.into_iter().map(|(.., id)| id).collect();
    let read_context = world.viewer_read_context(Viewer::Public);
    for per_page in [1, 5, 24, 100] {
        let (mut listed_spaces, mut listed_parts) = (Vec::new(), Vec::new());
        for page in 1.. {
            let page = PageRequest::new(page, per_page);
            let some = world.spaces.list(read_context, None, &[], page).await?;
            let others = world.components.list(read_context, Some(ComponentKind::Debates), &[], page).await?;
            listed_spaces.extend(some.items.iter().map(|d| d.id));
            listed_parts.extend(others.items.iter().map(|d| d.id));
            if !some.has_more && !others.has_more {
                break;
            }
        }
        listed_spaces.retain(|id| spaces.contains(id));
        assert_eq!((&listed_spaces, &listed_parts), (&spaces, &parts), "by {per_page}");
        let titled = world.components.titled(read_context, ComponentKind::Debates, per_page).await?;
        let first = parts.iter().copied().take(titled.len()).collect::<Vec<_>>();
        assert_eq!(titled.iter().map(|one| one.id).collect::<Vec<_>>(), first);
        assert_eq!(titled.len(), parts.len().min(usize::try_from(per_page).unwrap_or(usize::MAX)));
        assert!(titled.iter().all(|one| one.space_title == space(SpaceKind::Assemblies, "one").title));
    }
    let kind = Some(SpaceKind::Assemblies);
    check_list(async |raw, page| {
        let page = world.spaces.list(read_context, kind, &read_filters(SPACE_FIELDS, &raw)?, page).await?;
        Ok(page.map(|found| (found.id.id, found.space.created_at, found.space.updated_at)))
    })
    .await?;
    check_list(async |raw, page| {
        let page =
            world.components.list(read_context, None, &read_filters(COMPONENT_FIELDS, &raw)?, page).await?;
        Ok(page.map(|found| (found.id, found.component.created_at, found.component.updated_at)))
    })
    .await?;
    let exported = world.spaces.page_after(world.mine, Some(spaces[0]), 3).await?;
    assert!(
        exported.iter().all(|(id, _)| (id.kind.as_str(), id.id) > (spaces[0].kind.as_str(), spaces[0].id))
    );
    let after: Vec<_> = world.components.page_after(world.mine, Some(parts[0]), 2).await?;
    assert_eq!(after.iter().map(|(id, _)| *id).collect::<Vec<_>>(), parts[1..3]);
    Ok(())
}

/// A space changes with its visible components, a component with its space and steps.
pub async fn tells_when_something_changed(world: World<'_>) -> Result<()> {
    let later = |days| NOW + Duration::days(days);
    let id = world.add(&space(SpaceKind::ParticipatoryProcesses, "changing")).await?;
    let part = Component { updated_at: later(2), ..component(id, ComponentKind::Pages, "part") };
    let part_id = world.add_component(&part).await?;
    let unpublished = Component { updated_at: later(9), published_at: None, ..part };
    world.add_component(&unpublished).await?;
    let read_context = world.viewer_read_context(Viewer::Public);
    let of_space = async || {
        Ok::<_, Error>(world.spaces.find_visible(read_context, id).await?.map(|detail| detail.changed_at))
    };
    let of_part = async || {
        let found = world.components.find_visible(read_context, part_id).await?;
        Ok::<_, Error>(found.map(|detail| detail.changed_at))
    };
    assert_eq!((of_space().await?, of_part().await?), (Some(later(2)), Some(later(2))));
    let renamed = Space { updated_at: later(3), ..space(id.kind, "changed") };
    replace(world.spaces, world.mine, id, &renamed).await?;
    assert_eq!((of_space().await?, of_part().await?), (Some(later(3)), Some(later(3))));
    let admin = StepAdministration { spaces: world.spaces, steps: world.steps };
    let step = Step { active: true, ..Step::new(id, text("now"), 0, later(4)) };
    admin.create(world.mine, &step).await?;
    let activated = of_part().await?;
    assert!(activated > Some(later(3)), "a step that becomes active changes the settings in force");
    admin.create(world.mine, &Step { position: 1, updated_at: later(5), ..step }).await?;
    assert!(of_part().await? > activated);
    Ok(())
}
