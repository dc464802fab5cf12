//! Filters (contract 01 §6, 05 §2.3 and §3.2).

use super::{World, component, space, text};
use crate::{COMPONENT_FIELDS, Component, ComponentKind, SPACE_FIELDS, Space, Visibility};
use civitas_kernel::filter::read_filters;
use civitas_kernel::testing::raw_filter;
use civitas_kernel::{Locale, PageRequest, Result, SpaceKind, SpaceRef, Translated, Viewer};
use serde_json::json;

/// The weight of the components of these tests.
const WEIGHT: i64 = 77;

impl World<'_> {
    /// The titles of the spaces that match a filter, in their order.
    async fn spaces_where(&self, key: &str, value: &str) -> Result<Vec<String>> {
        let filters = read_filters(SPACE_FIELDS, &raw_filter(key, value))?;
        let read_context = self.viewer_read_context(Viewer::Public);
        let page = self.spaces.list(read_context, None, &filters, PageRequest::default()).await?;
        let title = |texts: &Translated| texts.first_text().map(|(_, t)| t.to_owned()).unwrap_or_default();
        // The harness has other spaces; only those of these tests have extended data.
        let own = page.items.iter().filter(|d| !d.space.extended_data.is_empty());
        Ok(own.map(|d| title(&d.space.title)).collect())
    }

    async fn components_where(&self, key: &str, value: &str) -> Result<Vec<String>> {
        let filters = read_filters(COMPONENT_FIELDS, &raw_filter(key, value))?;
        let read_context = self.viewer_read_context(Viewer::Public);
        let page = self.components.list(read_context, None, &filters, PageRequest::default()).await?;
        let name = |texts: &Translated| texts.first_text().map(|(_, t)| t.to_owned()).unwrap_or_default();
        // As above: only those of these tests have a weight.
        let own = page.items.iter().filter(|d| d.component.weight == WEIGHT);
        Ok(own.map(|d| name(&d.component.name)).collect())
    }

    async fn add_marked(&self, kind: SpaceKind, title: Translated, slug: Option<&str>) -> Result<SpaceRef> {
        let data = json!({"Straße": {"Nº": 100}, "k": "50%_\\"}).as_object().cloned().unwrap_or_default();
        let slug = slug.map(str::to_owned);
        self.add(&Space { slug, title, extended_data: data.into(), ..space(kind, "") }).await
    }
}

/// Spaces by kind, number, slug, title and extended data; case-insensitive in every script for `start` and `matches`.
pub async fn filters_spaces(world: World<'_>) -> Result<()> {
    let trees = world.add_marked(SpaceKind::Assemblies, text("Árboles 100%"), Some("Trees_1")).await?;
    let votes = world.add_marked(SpaceKind::Initiatives, text("ÉTÉ"), None).await?;
    let initiative = format!("i-{}", votes.id);
    let all = vec!["Árboles 100%".to_owned(), "ÉTÉ".to_owned()];
    let (first, second) = (vec![all[0].clone()], vec![all[1].clone()]);
    for (key, value, expected) in [
        ("manifest_name", "assemblies", &first),
        ("manifest_name_not_eq", "assemblies", &second),
        ("manifest_name_in", "[]assemblies,initiatives", &all),
        ("manifest_name_matches", "%TIAT%", &second),
        ("id_eq", &trees.id.to_string(), if trees.id == votes.id { &all } else { &first }),
        ("id_lt", "1", &vec![]),
        ("id_present", "1", &all),
        ("slug", &initiative, &second),
        ("slug_start", "I-", &second),
        ("slug_start", "trees_", &first),
        ("slug_matches", r"trees\_%", &first),
        ("slug_matches", r"trees\_", &vec![]),
        ("slug_eq", "trees_1", &vec![]),
        ("slug_blank", "false", &all),
        ("title_start", "árbol", &first),
        ("title_start", "á%", &vec![]),
        ("title_start", "ÁRBOLES 100%", &first),
        ("title_matches", "ét_", &second),
        ("title_matches", r"%\", &vec![]),
        ("title_eq", "été", &vec![]),
        ("extended_data_cont", r#""straSSE""#, &vec![]),
        ("extended_data_cont", r#""STRAßE":{"nº":100}"#, &all),
        ("extended_data_cont", "50%_", &all),
        ("extended_data_cont", "5_%", &vec![]),
    ] {
        assert_eq!(world.spaces_where(key, value).await?, *expected, "{key} {value}");
    }
    Ok(())
}

/// A positive condition holds for any translation; a negative one requires a translation, and that all satisfy it.
pub async fn negations_look_at_every_translation(world: World<'_>) -> Result<()> {
    let both: Translated = [(Locale::EN, "Bench".to_owned()), (Locale::FR, "Banc".to_owned())].into();
    let hollow: Translated = [(Locale::ES, String::new())].into();
    world.add_marked(SpaceKind::Assemblies, both, None).await?;
    world.add_marked(SpaceKind::Assemblies, text("Banc"), None).await?;
    world.add_marked(SpaceKind::Assemblies, hollow, None).await?;
    world.add_marked(SpaceKind::Assemblies, Translated::default(), None).await?;
    let list = |titles: &[&str]| titles.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    for (key, value, expected) in [
        ("title_eq", "Banc", list(&["Bench", "Banc"])),
        ("title_not_eq", "Banc", list(&[""])),
        ("title_not_eq", "Bench", list(&["Banc", ""])),
        ("title_not_in", "[]Bench,Tree", list(&["Banc", ""])),
        ("title_in", "[]Bench,Tree", list(&["Bench"])),
        ("title_start", "BAN", list(&["Bench", "Banc"])),
        ("title_blank", "true", list(&["", ""])),
        ("title_present", "true", list(&["Bench", "Banc"])),
    ] {
        assert_eq!(world.spaces_where(key, value).await?, expected, "{key} {value}");
    }
    Ok(())
}

/// Components by kind, id, space, name and extended data.
pub async fn filters_components(world: World<'_>) -> Result<()> {
    let assembly = world.add_assembly("a", Visibility::Public).await?;
    let conference = world.add(&space(SpaceKind::Conferences, "c")).await?;
    let data = json!({"key": {"is": "AWESOME"}}).as_object().cloned().unwrap_or_default();
    let ideas = Component {
        weight: WEIGHT,
        extended_data: data.into(),
        ..component(assembly, ComponentKind::Proposals, "Ideas")
    };
    let ideas_id = world.add_component(&ideas).await?;
    let map = component(conference, ComponentKind::AwesomeMap, "Œuvres");
    world.add_component(&Component { weight: WEIGHT, ..map }).await?;
    let (first, second) = (vec!["Ideas".to_owned()], vec!["Œuvres".to_owned()]);
    let both = [first.clone(), second.clone()].concat();
    let same_number = if assembly.id == conference.id { &both } else { &first };
    for (key, value, expected) in [
        ("manifest_name_eq", "awesome_map", &second),
        ("manifest_name_start", "AWESOME_", &second),
        ("id_in", &format!("[]{ideas_id},{}", i64::MAX), &first),
        ("id_gt", &ideas_id.to_string(), &second),
        ("participatory_space_id_eq", &assembly.id.to_string(), same_number),
        ("participatory_space_type_eq", "Platform::Assembly", &first),
        ("participatory_space_type_not_eq", "Platform::Assembly", &second),
        ("participatory_space_type_start", "platform::conf", &second),
        ("participatory_space_type_blank", "true", &vec![]),
        ("name_matches", "œUV%", &second),
        ("name_present", "1", &both),
        ("extended_data_cont", r#""KEY": {"is":"awesome"}"#, &first),
    ] {
        assert_eq!(world.components_where(key, value).await?, *expected, "{key} {value}");
    }
    let read_context = world.viewer_read_context(Viewer::Public);
    let typed = Some(ComponentKind::Proposals);
    let blogs = read_filters(COMPONENT_FIELDS, &raw_filter("manifest_name", "blogs"))?;
    let none = world.components.list(read_context, typed, &blogs, PageRequest::default()).await?;
    assert_eq!(none.items, [], "the kind of a typed list is a condition of its own");
    Ok(())
}
