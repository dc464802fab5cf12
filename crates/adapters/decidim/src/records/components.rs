//! `component` (sheet 13 §5.8).

use super::{ExtractionRun, Result, Row, each_row, manifest_of, select_data, write_row_record};
use crate::row::integer;
use crate::run::MappedComponent;
use crate::settings::{MappedSettings, SettingsMapper, boolean};
use crate::version::Version;
use civitas_spaces::ComponentKind;
use serde_json::{Value, json};

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    let statement = format!(
        "SELECT t.*, {} AS data, (SELECT json_agg(s.id) FROM decidim_participatory_process_steps s \
         WHERE s.decidim_participatory_process_id = t.participatory_space_id \
         AND t.participatory_space_type = 'Decidim::ParticipatoryProcess') AS steps, \
         (SELECT s.id FROM decidim_scopes s WHERE s.id::text = t.settings -> 'global' ->> 'scope_id') AS scope \
         FROM decidim_components t ORDER BY t.id",
        select_data("Decidim::Component")
    );
    each_row(run, "decidim_components", &statement, component).await
}

fn component(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let (kind, space) = (manifest_of(row.str("participatory_space_type")), row.int("participatory_space_id"));
    let Some(of) = run.organization_of("component", row, kind, space)? else { return Ok(()) };
    let Some(component_kind) = ComponentKind::parse(row.str("manifest_name")) else {
        return run.drop_to_residue("component", row, Some(of), "W-MANIFEST");
    };
    if let Some(actions) = row.get("permissions").as_object().filter(|permissions| !permissions.is_empty()) {
        let actions: Vec<_> = actions.keys().collect();
        run.codes.count_loss_with_example("W-PERMISSION", row.table, row.id(), &json!(actions), &Value::Null);
    }
    let mapper = SettingsMapper {
        kind: component_kind,
        version: run.source.version,
        has_awesome: run.source.has("decidim_awesome_vote_weights"),
        languages: run.languages(of),
    };
    let mut settings = mapper.map(row.get("settings"));
    count_losses(run, row, of, &mut settings)?;
    // Those of steps that are gone are left out.
    let steps: Vec<_> = row.get("steps").as_array().into_iter().flatten().filter_map(integer).collect();
    settings.steps.retain(|step, _| step.parse::<i64>().is_ok_and(|step| steps.contains(&step)));
    let (name, global) = (run.name(row, "name", of), settings.global.clone());
    let facts =
        MappedComponent { manifest: component_kind.as_str(), name: name.clone(), settings: settings.global };
    run.components.insert(row.id(), facts);
    let members = json!({
        "space": format!("{kind}/{}", space.unwrap_or_default()),
        "manifest": component_kind.as_str(),
        "name": name,
        "settings": global,
        "default_step_settings": settings.default_step,
        "step_settings": settings.steps,
        "scope_id": scope(run, row),
    });
    write_row_record(run, "component", row, of, members)
}

/// Counts the settings that are lost, and writes their values into the residue.
fn count_losses(run: &mut ExtractionRun<'_>, row: &Row, of: i64, settings: &mut MappedSettings) -> Result {
    for (key, value) in settings.refused.drain(..) {
        run.codes.count_loss_with_example(
            "W-SETTING",
            row.table,
            row.id(),
            &json!({ key: value }),
            &Value::Null,
        );
        settings.unused.insert(key.to_owned(), value);
    }
    for text in settings.texts.drain(..) {
        run.record_text_losses(row, text);
    }
    let mut lost = row.clone();
    lost.columns.insert("settings".to_owned(), settings.unused.clone().into());
    run.write_unmapped_columns(&lost, of, &["settings"])
}

/// The scope of a component: to 0.30, where it has scopes and the scope exists.
fn scope(run: &ExtractionRun<'_>, row: &Row) -> Option<i64> {
    let has_scopes = row.get("settings").pointer("/global/scopes_enabled").and_then(boolean);
    row.int("scope").filter(|_| run.source.version < Version::V31 && has_scopes == Some(true))
}
