//! `space` and `step` (sheet 13 §5.5, §5.6).

use super::{ExtractionRun, Result, Row, each_row, kind_of, members, select_data, write_row_record};
use crate::run::Record;
use crate::version::Version;
use serde_json::json;

/// Table, class, and the data migration that filled `access_mode`.
const SPACES: [(&str, &str, &str); 4] = [
    ("decidim_participatory_processes", "Decidim::ParticipatoryProcess", "20260111190000"),
    ("decidim_assemblies", "Decidim::Assembly", "20260111185230"),
    ("decidim_conferences", "Decidim::Conference", ""),
    ("decidim_initiatives", "Decidim::Initiative", ""),
];

/// A step without position comes after the last one, by id.
const STEPS: &str = "SELECT t.*, coalesce(t.position, row_number() OVER (PARTITION BY t.decidim_participatory_process_id, \
     t.position IS NULL ORDER BY t.id) + (SELECT coalesce(max(l.position), -1) \
     FROM decidim_participatory_process_steps l \
     WHERE l.decidim_participatory_process_id = t.decidim_participatory_process_id)) AS place \
     FROM decidim_participatory_process_steps t ORDER BY t.id";

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    for (table, class, migration) in SPACES {
        let filled = format!("SELECT count(*) FROM data_migrations WHERE version = '{migration}'");
        let is_filled = run.source.value(&filled).await?.as_i64() > Some(0);
        let statement = format!("SELECT t.*, {} AS data FROM {table} t ORDER BY t.id", select_data(class));
        each_row(run, table, &statement, |run, row| space(run, row, kind_of(class), is_filled)).await?;
    }
    each_row(run, "decidim_participatory_process_steps", STEPS, step).await
}

fn space(run: &mut ExtractionRun<'_>, row: &Row, kind: &'static str, is_filled: bool) -> Result {
    let parent = row.int("decidim_organization_id");
    let Some(of) = run.organization_of(kind, row, "organization", parent)? else { return Ok(()) };
    if !row.get("deleted_at").is_null() {
        return run.drop_to_residue(kind, row, Some(of), "W-DELETEDSPACE");
    }
    let visibility = visibility(run.source.version, row, kind, is_filled);
    let members = members(run, "space", row, of, json!({ "manifest": kind, "visibility": visibility }))?;
    let reference = format!("{kind}/{}", row.id());
    run.write_record(Record { kind, reference, id: Some(row.id()), organization: Some(of), members })
}

/// From 0.32 on `access_mode` decides. Where it may never have been filled (0 is its default), the more closed of mode and
/// old columns does.
fn visibility(version: Version, row: &Row, kind: &str, is_filled: bool) -> &'static str {
    if !["participatory_processes", "assemblies"].contains(&kind) {
        return "public";
    }
    let flags = match (row.flag("private_space"), kind == "assemblies" && row.flag("is_transparent")) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    let mode = row.int("access_mode").unwrap_or_default();
    let closed = match (version < Version::V32, is_filled) {
        (true, _) => flags,
        (false, true) => mode,
        (false, false) => mode.max(flags),
    };
    match closed {
        0 => "public",
        1 => "transparent",
        _ => "private",
    }
}

fn step(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let (kind, id) = ("participatory_processes", row.int("decidim_participatory_process_id"));
    let Some(of) = run.organization_of("step", row, kind, id)? else { return Ok(()) };
    let members = json!({
        "space": format!("{kind}/{}", id.unwrap_or_default()),
        "position": row.int("place").unwrap_or_default().max(0),
    });
    write_row_record(run, "step", row, of, members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn of(kind: &str, version: Version, is_filled: bool, columns: &Value) -> &'static str {
        let row = Row { table: "t", columns: columns.as_object().unwrap().clone() };
        visibility(version, &row, kind, is_filled)
    }

    #[test]
    fn the_access_mode_decides_once_it_is_filled() {
        let opened = json!({"private_space": true, "is_transparent": false, "access_mode": 0});
        let assembly = |version, is_filled| of("assemblies", version, is_filled, &opened);
        assert_eq!(assembly(Version::V32, true), "public");
        assert_eq!(assembly(Version::V32, false), "private", "the mode may never have been filled");
        assert_eq!(assembly(Version::V31, true), "private");
        let closed = json!({"private_space": false, "access_mode": 2});
        assert_eq!(of("participatory_processes", Version::V32, false, &closed), "private");
    }

    #[test]
    fn only_assemblies_are_transparent_by_the_old_columns() {
        let columns = json!({"private_space": true, "is_transparent": true});
        assert_eq!(of("assemblies", Version::V30, false, &columns), "transparent");
        assert_eq!(of("participatory_processes", Version::V30, false, &columns), "private");
        assert_eq!(of("conferences", Version::V30, false, &columns), "public");
    }
}
