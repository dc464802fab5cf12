//! Writes: stored records and errors.

use super::{NOW, World, component, space, text};
use crate::{Component, ComponentKind, Space, SpaceSearch, Step, StepAdministration, Visibility};
use civitas_kernel::records::conformance::{Samples, replace};
use civitas_kernel::records::{RecordAdministration, edit};
use civitas_kernel::{
    ComponentId, Error, Locale, PageRequest, Result, SpaceKind, SpaceRef, StepId, Translated, Viewer,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use time::Duration;

fn step(space: SpaceRef, position: i64, active: bool) -> Step {
    Step { active, ..Step::new(space, text("step"), position, NOW) }
}

impl World<'_> {
    async fn processes(&self) -> Result<[SpaceRef; 2]> {
        let process = space(SpaceKind::ParticipatoryProcesses, "process");
        Ok([self.add(&process).await?, self.add(&process).await?])
    }
}

/// Spaces for the conformance tests of [`Records`](civitas_kernel::records::Records).
pub async fn spaces(world: World<'_>) -> Result<Samples<'_, Space>> {
    let texts: Translated = [(Locale::EN, "A".to_owned()), (Locale::FR, "É".to_owned())].into();
    let unusual = Space {
        slug: Some("unusual".to_owned()),
        subtitle: texts.clone(),
        short_description: text("<p>short</p>"),
        description: [(Locale::ES, String::new())].into(),
        visibility: Visibility::Transparent,
        scope_id: Some(7),
        extended_data: object(json!({"a": {"b": [1, null, "é"]}})).into(),
        updated_at: NOW + Duration::days(1),
        title: texts,
        ..space(SpaceKind::Assemblies, "")
    };
    let plain = space(SpaceKind::Assemblies, "plain");
    let early = NOW - Duration::days(1);
    let private = Space {
        visibility: Visibility::Private,
        ..Space::new(SpaceKind::Assemblies, text("private"), early)
    };
    let unknown = SpaceRef { kind: SpaceKind::Assemblies, id: i64::MAX };
    Ok(Samples::new(world.spaces, [world.mine, world.other], [unusual, plain, private], unknown))
}

/// Steps of a process that is added for them.
pub async fn steps(world: World<'_>) -> Result<Samples<'_, Step>> {
    let [first, second] = world.processes().await?;
    let dated = Step {
        space: first,
        title: text("Ideas"),
        position: 2,
        active: false,
        starts_at: Some(NOW),
        ends_at: Some(NOW + Duration::days(9)),
        updated_at: NOW + Duration::days(1),
    };
    let active = Step { active: true, ends_at: None, ..dated.clone() };
    let samples = [dated, active, step(second, 0, false)];
    Ok(Samples::new(world.steps, [world.mine, world.other], samples, StepId(i64::MAX)))
}

/// Components of a process that is added for them.
pub async fn components(world: World<'_>) -> Result<Samples<'_, Component>> {
    let home = world.add(&space(SpaceKind::ParticipatoryProcesses, "home")).await?;
    let assembly = world.add(&space(SpaceKind::Assemblies, "assembly")).await?;
    let step = world.steps.add(world.mine, &step(home, 0, false)).await?;
    let unusual = Component {
        weight: -3,
        settings: object(json!({"vote_limit": 3, "voting_cards_box_title": {"en": "Vote!"}})),
        default_step_settings: object(json!({"votes_enabled": true})),
        step_settings: BTreeMap::from([(step, object(json!({"votes_blocked": true})))]),
        scope_id: Some(9),
        deleted_at: Some(NOW + Duration::seconds(1)),
        extended_data: object(json!({"ß": null})).into(),
        ..component(home, ComponentKind::Proposals, "Ideas")
    };
    let plain = component(home, ComponentKind::Blogs, "News");
    let early = NOW - Duration::days(1);
    let samples = [unusual, plain, Component::new(assembly, ComponentKind::Pages, text("Early"), early)];
    Ok(Samples::new(world.components, [world.mine, world.other], samples, ComponentId(i64::MAX)))
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// Numbers are assigned per kind in the whole deployment.
pub async fn numbers_spaces_by_kind(world: World<'_>) -> Result<()> {
    let first = world.add(&space(SpaceKind::Conferences, "first")).await?;
    let process = world.add(&space(SpaceKind::ParticipatoryProcesses, "process")).await?;
    let foreign = world.spaces.add(world.other, &space(SpaceKind::Conferences, "foreign")).await?;
    assert_eq!(first.kind, SpaceKind::Conferences);
    assert_eq!(foreign, SpaceRef { id: first.id + 1, ..first });
    assert_eq!(process.kind, SpaceKind::ParticipatoryProcesses);
    Ok(())
}

/// A slug belongs to one space of its kind and organization; an initiative's is its number.
pub async fn refuses_a_slug_that_is_taken(world: World<'_>) -> Result<()> {
    let slugged = |kind, slug: &str| Space { slug: Some(slug.to_owned()), ..space(kind, "x") };
    let assembly = world.add(&slugged(SpaceKind::Assemblies, "trees")).await?;
    let again = world.add(&slugged(SpaceKind::Assemblies, "trees")).await;
    assert!(matches!(again, Err(Error::Rejected(_))));
    world.add(&slugged(SpaceKind::Conferences, "trees")).await?;
    world.spaces.add(world.other, &slugged(SpaceKind::Assemblies, "trees")).await?;
    let second = world.add(&slugged(SpaceKind::Assemblies, "benches")).await?;

    let initiative = world.add(&space(SpaceKind::Initiatives, "signatures")).await?;
    let by_slug = async |kind, slug: &str| world.spaces.find_by_slug(world.mine, kind, slug).await;
    assert_eq!(by_slug(SpaceKind::Assemblies, "trees").await?, Some(assembly));
    assert_eq!(by_slug(SpaceKind::Assemblies, "Trees").await?, None);
    let number = format!("i-{}", initiative.id);
    assert_eq!(by_slug(SpaceKind::Initiatives, &number).await?, Some(initiative));
    assert_eq!(by_slug(SpaceKind::Initiatives, &format!("i-0{}", initiative.id)).await?, None);
    let renamed = replace(world.spaces, world.mine, second, &slugged(SpaceKind::Assemblies, "trees")).await;
    assert!(matches!(renamed, Err(Error::Rejected(_))));
    Ok(())
}

/// No organization sees another's spaces and components.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let id =
        world.add(&Space { slug: Some("mine".to_owned()), ..space(SpaceKind::Assemblies, "mine") }).await?;
    let part = world.add_component(&component(id, ComponentKind::Pages, "mine")).await?;
    let mut foreign = world.viewer_read_context(Viewer::Admin(world.admin));
    foreign.organization = world.other;
    let page = civitas_kernel::PageRequest::default();
    assert_eq!(world.spaces.find_visible(foreign, id).await?, None);
    assert_eq!(world.spaces.list(foreign, None, &[], page).await?.items, []);
    assert_eq!(world.spaces.find_by_slug(world.other, id.kind, "mine").await?, None);
    assert_eq!(world.components.find_visible(foreign, part).await?, None);
    assert_eq!(world.components.list(foreign, None, &[], page).await?.items, []);
    Ok(())
}

/// An active step makes the others of its process inactive, and none of another process.
pub async fn at_most_one_step_is_active(world: World<'_>) -> Result<()> {
    let [here, there] = world.processes().await?;
    let admin = StepAdministration { spaces: world.spaces, steps: world.steps };
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

    let part = world.add_component(&component(there, ComponentKind::Pages, "x")).await?;
    let seen = world.components.find_visible(world.viewer_read_context(Viewer::Public), part).await?;
    assert_eq!(seen.and_then(|detail| detail.active_step), Some(elsewhere));
    Ok(())
}

/// Administrators find all spaces, published or not, the newest first.
pub async fn finds_spaces_for_administrators(world: World<'_>) -> Result<()> {
    let early = NOW - Duration::days(1);
    let hidden = Space::new(SpaceKind::Conferences, text("Climate days"), early);
    let hidden = world.add(&Space { slug: Some("days".to_owned()), ..hidden }).await?;
    let streets = world.add(&space(SpaceKind::ParticipatoryProcesses, "Greener streets 100%")).await?;
    world.spaces.add(world.other, &space(SpaceKind::Conferences, "Climate of others")).await?;
    let found = async |search: SpaceSearch| -> Result<Vec<SpaceRef>> {
        let page = world.spaces.search(world.mine, &search, PageRequest::new(1, 100)).await?;
        let ids = page.items.into_iter().map(|(id, _)| id);
        Ok(ids.filter(|id| [hidden, streets].contains(id)).collect())
    };
    let all = SpaceSearch::default();
    assert_eq!(found(all.clone()).await?, [streets, hidden]);
    let of_kind = SpaceSearch { kind: Some(SpaceKind::Conferences), ..all.clone() };
    assert_eq!(found(of_kind).await?, [hidden]);
    let of_state = |is| SpaceSearch { published: Some(is), ..SpaceSearch::default() };
    assert_eq!(found(of_state(true)).await?, [streets]);
    assert_eq!(found(of_state(false)).await?, [hidden]);
    for (part, expected) in
        [("CLIMÁTE", vec![hidden]), ("day", vec![hidden]), ("100%", vec![streets]), ("1_0", vec![])]
    {
        let by_text = SpaceSearch { text: Some(part.to_owned()), ..all.clone() };
        assert_eq!(found(by_text).await?, expected, "{part}");
    }
    Ok(())
}

/// The steps of a process are listed in their order, the active ones of several at once, and a deleted one is gone.
pub async fn lists_and_deletes_steps(world: World<'_>) -> Result<()> {
    let [here, there] = world.processes().await?;
    let admin = StepAdministration { spaces: world.spaces, steps: world.steps };
    let last = admin.create(world.mine, &step(here, 2, false)).await?;
    let first = admin.create(world.mine, &step(here, 0, true)).await?;
    let same = admin.create(world.mine, &step(here, 2, false)).await?;
    admin.create(world.mine, &step(there, 0, false)).await?;
    let ids = |steps: Vec<(StepId, Step)>| steps.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    let listed =
        async |limit| Ok::<_, Error>(ids(world.steps.list_of_process(world.mine, here, limit).await?));
    assert_eq!(listed(100).await?, [first, last, same]);
    assert_eq!(listed(2).await?, [first, last]);
    assert_eq!(world.steps.list_of_process(world.other, here, 100).await?, []);
    assert_eq!(ids(world.steps.active_of(world.mine, &[here, there]).await?), [first]);
    assert_eq!(world.steps.active_of(world.other, &[here, there]).await?, []);
    assert_eq!(world.steps.active_of(world.mine, &[]).await?, []);
    assert!(matches!(world.steps.remove(world.other, last).await, Err(Error::NotFound)));
    world.steps.remove(world.mine, last).await?;
    assert!(matches!(world.steps.remove(world.mine, last).await, Err(Error::NotFound)));
    assert_eq!(listed(100).await?, [first, same]);
    Ok(())
}

/// The components of a space are listed in their order and counted without deleted ones; a locking read has those too.
pub async fn lists_and_counts_components_of_a_space(world: World<'_>) -> Result<()> {
    let here = world.add(&space(SpaceKind::ParticipatoryProcesses, "here")).await?;
    let there = world.add(&space(SpaceKind::Assemblies, "there")).await?;
    let heavy = Component { weight: 5, ..component(here, ComponentKind::Pages, "heavy") };
    let heavy = world.add_component(&heavy).await?;
    let hidden = Component::new(here, ComponentKind::Proposals, text("hidden"), NOW);
    let hidden = world.add_component(&hidden).await?;
    let deleted = Component { deleted_at: Some(NOW), ..component(here, ComponentKind::Pages, "deleted") };
    let deleted = world.add_component(&deleted).await?;
    let ids = |list: Vec<(ComponentId, Component)>| list.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(world.components.list_in_space(world.mine, here, 100).await?), [hidden, heavy]);
    assert_eq!(ids(world.components.list_in_space(world.mine, here, 1).await?), [hidden]);
    assert_eq!(world.components.list_in_space(world.other, here, 100).await?, []);
    let locked = world.components.list_in_space_for_update(world.mine, here).await?;
    assert_eq!(ids(locked), [heavy, hidden, deleted]);
    assert_eq!(world.components.count_in(world.mine, &[here, there]).await?, [(here, 2)]);
    assert_eq!(world.components.count_in(world.other, &[here]).await?, []);
    let mut counts = world.components.count_records(world.mine, &[heavy, hidden]).await?;
    counts.sort_unstable();
    assert_eq!(counts, [(heavy, 0), (hidden, 0)]);
    assert_eq!(world.components.count_records(world.other, &[heavy]).await?, []);
    assert_eq!(world.components.count_records(world.mine, &[]).await?, []);
    Ok(())
}
