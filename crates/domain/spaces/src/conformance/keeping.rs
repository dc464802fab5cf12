//! Writes: what is stored, what is refused.

use super::{NOW, World, component, space, text};
use crate::{Component, ComponentManifest, Space, Step, Visibility};
use civitas_kernel::{
    ComponentId, Error, Locale, Result, SpaceManifest, SpaceRef, StepId, Translated, Viewer,
};
use serde_json::json;
use std::collections::BTreeMap;
use time::Duration;

/// A space in which nothing has its default.
fn unusual() -> Space {
    let texts: Translated = [(Locale::EN, "A".to_owned()), (Locale::FR, "É".to_owned())].into();
    Space {
        slug: Some("unusual".to_owned()),
        subtitle: texts.clone(),
        short_description: text("<p>short</p>"),
        description: [(Locale::ES, String::new())].into(),
        visibility: Visibility::Transparent,
        scope_id: Some(7),
        extended_data: json!({"a": {"b": [1, null, "é"]}}).as_object().cloned().unwrap_or_default(),
        updated_at: NOW + Duration::days(1),
        title: texts,
        ..space(SpaceManifest::Assemblies, "")
    }
}

/// What is kept comes back, member by member; so does its change.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let mut kept = unusual();
    let id = world.add(&kept).await?;
    assert_eq!(world.spaces.find(world.mine, id).await?.as_ref(), Some(&kept));
    kept = Space { visibility: Visibility::Private, published_at: None, ..space(id.manifest, "plain") };
    world.spaces.save(world.mine, id, &kept).await?;
    assert_eq!(world.spaces.find(world.mine, id).await?, Some(kept));

    let step = Step {
        space: id,
        title: text("Ideas"),
        position: 2,
        active: false,
        starts_at: Some(NOW),
        ends_at: Some(NOW + Duration::days(9)),
    };
    let step_id = world.steps.add(world.mine, &step, &[]).await?;
    assert_eq!(world.steps.find(world.mine, step_id).await?, Some(step.clone()));
    let step = Step { active: true, ends_at: None, ..step };
    world.steps.save(world.mine, step_id, &step, &[]).await?;
    assert_eq!(world.steps.find(world.mine, step_id).await?, Some(step));

    let object = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    let mut part = Component {
        weight: -3,
        settings: object(json!({"vote_limit": 3, "voting_cards_box_title": {"en": "Vote!"}})),
        default_step_settings: object(json!({"votes_enabled": true})),
        step_settings: BTreeMap::from([(step_id, object(json!({"votes_blocked": true})))]),
        scope_id: Some(9),
        deleted_at: Some(NOW + Duration::seconds(1)),
        extended_data: object(json!({"ß": null})),
        ..component(id, ComponentManifest::Proposals, "Ideas")
    };
    let part_id = world.add_component(&part).await?;
    assert_eq!(world.components.find(world.mine, part_id).await?.as_ref(), Some(&part));
    part = component(id, ComponentManifest::Blogs, "News");
    world.components.save(world.mine, part_id, &part).await?;
    assert_eq!(world.components.find(world.mine, part_id).await?, Some(part));
    Ok(())
}

/// Numbers are taken per kind and over the whole deployment.
pub async fn numbers_spaces_by_kind(world: World<'_>) -> Result<()> {
    let first = world.add(&space(SpaceManifest::Conferences, "first")).await?;
    let process = world.add(&space(SpaceManifest::ParticipatoryProcesses, "process")).await?;
    let foreign = world.spaces.add(world.other, &space(SpaceManifest::Conferences, "foreign")).await?;
    assert_eq!(first.manifest, SpaceManifest::Conferences);
    assert_eq!(foreign, SpaceRef { id: first.id + 1, ..first });
    assert_eq!(process.manifest, SpaceManifest::ParticipatoryProcesses);
    Ok(())
}

/// A slug belongs to one space of its kind and organization; an initiative's is its number.
pub async fn refuses_a_slug_that_is_taken(world: World<'_>) -> Result<()> {
    let slugged = |manifest, slug: &str| Space { slug: Some(slug.to_owned()), ..space(manifest, "x") };
    let assembly = world.add(&slugged(SpaceManifest::Assemblies, "trees")).await?;
    let again = world.add(&slugged(SpaceManifest::Assemblies, "trees")).await;
    assert!(matches!(again, Err(Error::Rejected(_))));
    world.add(&slugged(SpaceManifest::Conferences, "trees")).await?;
    world.spaces.add(world.other, &slugged(SpaceManifest::Assemblies, "trees")).await?;
    let second = world.add(&slugged(SpaceManifest::Assemblies, "benches")).await?;
    let renamed = slugged(SpaceManifest::Assemblies, "trees");
    assert!(matches!(world.spaces.save(world.mine, second, &renamed).await, Err(Error::Rejected(_))));

    let initiative = world.add(&space(SpaceManifest::Initiatives, "signatures")).await?;
    let by_slug = async |manifest, slug: &str| world.spaces.find_by_slug(world.mine, manifest, slug).await;
    assert_eq!(by_slug(SpaceManifest::Assemblies, "trees").await?, Some(assembly));
    assert_eq!(by_slug(SpaceManifest::Assemblies, "Trees").await?, None);
    let number = format!("i-{}", initiative.id);
    assert_eq!(by_slug(SpaceManifest::Initiatives, &number).await?, Some(initiative));
    assert_eq!(by_slug(SpaceManifest::Initiatives, &format!("i-0{}", initiative.id)).await?, None);
    Ok(())
}

/// No organization sees or changes another's spaces, steps and components.
pub async fn keeps_organizations_apart(world: World<'_>) -> Result<()> {
    let id = world
        .add(&Space { slug: Some("mine".to_owned()), ..space(SpaceManifest::Assemblies, "mine") })
        .await?;
    let part = component(id, ComponentManifest::Pages, "mine");
    let part_id = world.add_component(&part).await?;
    let step =
        Step { space: id, title: text("x"), position: 0, active: false, starts_at: None, ends_at: None };
    let step_id = world.steps.add(world.mine, &step, &[]).await?;

    let mut foreign = world.seen_by(Viewer::Admin(world.admin));
    foreign.organization = world.other;
    let page = civitas_kernel::PageRequest::default();
    assert_eq!(world.spaces.find(world.other, id).await?, None);
    assert_eq!(world.spaces.find_visible(foreign, id).await?, None);
    assert_eq!(world.spaces.list(foreign, None, &[], page).await?.items, []);
    assert_eq!(world.spaces.find_by_slug(world.other, id.manifest, "mine").await?, None);
    assert_eq!(world.spaces.page_after(world.other, None, 9).await?, []);
    assert_eq!(world.steps.find(world.other, step_id).await?, None);
    assert_eq!(world.steps.page_after(world.other, None, 9).await?, []);
    assert_eq!(world.components.find(world.other, part_id).await?, None);
    assert_eq!(world.components.find_visible(foreign, part_id).await?, None);
    assert_eq!(world.components.list(foreign, None, &[], page).await?.items, []);
    assert_eq!(world.components.page_after(world.other, None, 9).await?, []);

    let theft = space(SpaceManifest::Assemblies, "stolen");
    assert!(matches!(world.spaces.save(world.other, id, &theft).await, Err(Error::NotFound)));
    assert!(matches!(world.steps.save(world.other, step_id, &step, &[]).await, Err(Error::NotFound)));
    assert!(matches!(world.components.save(world.other, part_id, &part).await, Err(Error::NotFound)));
    let unknown = world.components.save(world.mine, ComponentId(i64::MAX), &part).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
    Ok(())
}

/// An active step makes the others of its process inactive, and none of another process.
pub async fn at_most_one_step_is_active(world: World<'_>) -> Result<()> {
    let here = world.add(&space(SpaceManifest::ParticipatoryProcesses, "here")).await?;
    let there = world.add(&space(SpaceManifest::ParticipatoryProcesses, "there")).await?;
    let step = |space, position, active| Step {
        space,
        title: text("step"),
        position,
        active,
        starts_at: None,
        ends_at: None,
    };
    let elsewhere = world.steps.add(world.mine, &step(there, 0, true), &[]).await?;
    let first = world.steps.add(world.mine, &step(here, 0, true), &[]).await?;
    let second = world.steps.add(world.mine, &step(here, 1, true), &[]).await?;
    let active = async || -> Result<Vec<StepId>> {
        let steps = world.steps.page_after(world.mine, None, 100).await?;
        let own = steps.into_iter().filter(|(_, s)| [here, there].contains(&s.space));
        Ok(own.filter(|(_, s)| s.active).map(|(id, _)| id).collect())
    };
    assert_eq!(active().await?, [elsewhere, second]);
    world.steps.save(world.mine, first, &step(here, 0, true), &[]).await?;
    assert_eq!(active().await?, [elsewhere, first]);
    world.steps.save(world.mine, first, &step(here, 0, false), &[]).await?;
    assert_eq!(active().await?, [elsewhere]);

    let part = world.add_component(&component(there, ComponentManifest::Pages, "x")).await?;
    let seen = world.components.find_visible(world.seen_by(Viewer::Public), part).await?;
    assert_eq!(seen.and_then(|detail| detail.active_step), Some(elsewhere));
    Ok(())
}
