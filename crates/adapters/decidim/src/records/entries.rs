//! `page`, `budget`, `result`, `debate` (sheet 13 §5.13).

use super::{ExtractionRun, Result, Row, each_row, join_moderation, write_row_record};
use serde_json::{Value, json};

/// Type, table, manifest of its components, class.
const ENTRIES: [(&str, &str, &str, &str); 4] = [
    ("page", "decidim_pages_pages", "pages", "Decidim::Pages::Page"),
    ("budget", "decidim_budgets_budgets", "budgets", "Decidim::Budgets::Budget"),
    ("result", "decidim_accountability_results", "accountability", "Decidim::Accountability::Result"),
    ("debate", "decidim_debates_debates", "debates", "Decidim::Debates::Debate"),
];

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    for (kind, table, manifest, class) in ENTRIES {
        let join_moderation = join_moderation(class);
        let statement = format!("SELECT t.*, m.hidden_at FROM {table} t {join_moderation} ORDER BY t.id");
        each_row(run, table, &statement, |run, row| entry(run, row, kind, manifest)).await?;
    }
    Ok(())
}

fn entry(run: &mut ExtractionRun<'_>, row: &Row, kind: &'static str, manifest: &str) -> Result {
    let Some((of, component)) = run.organization_and_component(kind, row, manifest)? else { return Ok(()) };
    // A page has no title but that of its component.
    let facts = run.components.get(&component).filter(|_| kind == "page");
    let members = facts.map_or(Value::Null, |facts| json!({ "title": facts.name }));
    write_row_record(run, kind, row, of, members)
}
