//! Writes: stored records and errors.

use super::{NOW, World, component, space, text};
use crate::{Component, ComponentManifest, Space, Step, StepAdmin, Visibility};
use civitas_kernel::records::conformance::{Samples, replace};
use civitas_kernel::records::{RecordAdmin, edit};
use civitas_kernel::{
    ComponentId, Error, Locale, Result, SpaceManifest, SpaceRef, StepId, Translated, Viewer,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use time::Duration;

/// Spaces for the conformance tests of [`Records`](civitas_kernel::records::Records).
///
/// # Errors
/// None.
pub async fn spaces(world: World<'_>) -> Result<Samples<'_, Space>> {
    let texts: Translated = [(Locale::EN, "A".to_owned()), (Locale::FR, "É".to_owned())].into();
    let unusual = Space {
        slug: Some("unusual".to_owned()),
        subtitle: texts.clone(),
        short_description: text("<p>short</p>"),
        description: [(Locale::ES, String::new())].into(),
        visibility: Visibility::Transparent,
        scope_id: Some(7),
        extended_data: object(json!({"a": {"b": [1, null, "é"]}})),
        updated_at: NOW + Duration::days(1),
        title: texts,
        ..space(SpaceManifest::Assemblies, "")
    };
    let plain = space(SpaceManifest::Assemblies, "plain");
    let early = NOW - Duration::days(1);
    let private = Space {
        visibility: Visibility::Private,
        ..Space::new(SpaceManifest::Assemblies, text("private"), early)
    };
    let unknown = SpaceRef { manifest: SpaceManifest::Assemblies, id: i64::MAX };
    let samples = [unusual, plain, private];
    Ok(Samples { records: world.spaces, mine: world.mine, other: world.other, samples, unknown })
}

/// Steps of a process that is added for them.
///
/// # Errors
/// Those of the store of spaces.
pub async fn steps(world: World<'_>) -> Result<Samples<'_, Step>> {
    let [first, second] = [
        world.add(&space(SpaceManifest::ParticipatoryProcesses, "first")).await?,
        world.add(&space(SpaceManifest::ParticipatoryProcesses, "second")).await?,
    ];
    let dated = Step {
        space: first,
        title: text("Ideas"),
        position: 2,
        active: false,
        starts_at: Some(NOW),
        ends_at: Some(NOW + Duration::days(9)),
    };
    let active = Step { active: true, ends_at: None, ..dated.clone() };
    let plain =
        Step { space: second, title: text("x"), position: 0, active: false, starts_at: None, ends_at: None };
    let samples = [dated, active, plain];
    Ok(Samples {
        records: world.steps,
        mine: world.mine,
        other: world.other,
        samples,
        unknown: StepId(i64::MAX),
    })
}

/// Components of a process that is added for them.
///
/// # Errors
/// Those of the stores of spaces and steps.
pub async fn components(world: World<'_>) -> Result<Samples<'_, Component>> {
    let home = world.add(&space(SpaceManifest::ParticipatoryProcesses, "home")).await?;
    let assembly = world.add(&space(SpaceManifest::Assemblies, "assembly")).await?;
    let step =
        Step { space: home, title: text("x"), position: 0, active: false, starts_at: None, ends_at: None };
    let step = world.steps.add(world.mine, &step).await?;
    let unusual = Component {
        weight: -3,
        settings: object(json!({"vote_limit": 3, "voting_cards_box_title": {"en": "Vote!"}})),
        default_step_settings: object(json!({"votes_enabled": true})),
        step_settings: BTreeMap::from([(step, object(json!({"votes_blocked": true})))]),
        scope_id: Some(9),
        deleted_at: Some(NOW + Duration::seconds(1)),
        extended_data: object(json!({"ß": null})),
        ..component(home, ComponentManifest::Proposals, "Ideas")
    };
    let plain = component(home, ComponentManifest::Blogs, "News");
    let early = NOW - Duration::days(1);
    let samples = [unusual, plain, Component::new(assembly, ComponentManifest::Pages, text("Early"), early)];
    let unknown = ComponentId(i64::MAX);
    Ok(Samples { records: world.components, mine: world.mine, other: world.other, samples, unknown })
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// Numbers are assigned per kind in the whole deployment.
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

    let initiative = world.add(&space(SpaceManifest::Initiatives, "signatures")).await?;
    let by_slug = async |manifest, slug: &str| world.spaces.find_by_slug(world.mine, manifest, slug).await;
    assert_eq!(by_slug(SpaceManifest::Assemblies, "trees").await?, Some(assembly));
    assert_eq!(by_slug(SpaceManifest::Assemblies, "Trees").await?, None);
    let number = format!("i-{}", initiative.id);
    assert_eq!(by_slug(SpaceManifest::Initiatives, &number).await?, Some(initiative));
    assert_eq!(by_slug(SpaceManifest::Initiatives, &format!("i-0{}", initiative.id)).await?, None);
    let renamed =
        replace(world.spaces, world.mine, second, &slugged(SpaceManifest::Assemblies, "trees")).await;
    assert!(matches!(renamed, Err(Error::Rejected(_))));
    Ok(())
}

/// No organization sees another's spaces and components.
pub async fn keeps_organizations_apart(world: World<'_>) -> Result<()> {
    let id = world
        .add(&Space { slug: Some("mine".to_owned()), ..space(SpaceManifest::Assemblies, "mine") })
        .await?;
    let part = world.add_component(&component(id, ComponentManifest::Pages, "mine")).await?;
    let mut foreign = world.seen_by(Viewer::Admin(world.admin));
    foreign.organization = world.other;
    let page = civitas_kernel::PageRequest::default();
    assert_eq!(world.spaces.find_visible(foreign, id).await?, None);
    assert_eq!(world.spaces.list(foreign, None, &[], page).await?.items, []);
    assert_eq!(world.spaces.find_by_slug(world.other, id.manifest, "mine").await?, None);
    assert_eq!(world.components.find_visible(foreign, part).await?, None);
    assert_eq!(world.components.list(foreign, None, &[], page).await?.items, []);
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
    let admin = StepAdmin { spaces: world.spaces, steps: world.steps };
    let elsewhere = admin.create(world.mine, &step(there, 0, true)).await?;
    let first = admin.create(world.mine, &step(here, 0, true)).await?;
    let second = admin.create(world.mine, &step(here, 1, true)).await?;
    let active = async || -> Result<Vec<StepId>> {
        let steps = world.steps.page_after(world.mine, None, 100).await?;
        let own = steps.into_iter().filter(|(_, s)| [here, there].contains(&s.space));
        Ok(own.filter(|(_, s)| s.active).map(|(id, _)| id).collect())
    };
    assert_eq!(active().await?, [elsewhere, second]);
    edit(&admin, world.mine, first, NOW, |step| step.active = true).await?;
    assert_eq!(active().await?, [elsewhere, first]);
    edit(&admin, world.mine, first, NOW, |step| step.active = false).await?;
    assert_eq!(active().await?, [elsewhere]);

    let part = world.add_component(&component(there, ComponentManifest::Pages, "x")).await?;
    let seen = world.components.find_visible(world.seen_by(Viewer::Public), part).await?;
    assert_eq!(seen.and_then(|detail| detail.active_step), Some(elsewhere));
    Ok(())
}
