//! The two passes (sheet 13 §1, §7).

use crate::Result;
use crate::error::DecidimError;
use crate::options::ExtractOptions;
use crate::report::{ExtractionReport, RowCounts};
use crate::run::{ExtractionRun, RowCountsByType};
use crate::source::Source;
use crate::{records, schema};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use tokio_postgres::Client;

/// The result of an extraction.
#[derive(Debug)]
pub struct Extraction {
    /// What was read, written and lost.
    pub report: ExtractionReport,
    /// The stops and losses that are not accepted, one line each, or why the extraction failed. If there are any, what was
    /// written is no whole archive.
    pub obstacles: Vec<String>,
}

/// The highest number of each id space of the source, by type and table.
const ID_SPACE_TABLES: &[(&str, &str)] = &[
    ("organization", "decidim_organizations"),
    ("system_admin", "decidim_system_admins"),
    ("user", "decidim_users"),
    ("api_client", "oauth_applications"),
    ("webhook_registration", "webhooks_tables"),
    ("participatory_processes", "decidim_participatory_processes"),
    ("assemblies", "decidim_assemblies"),
    ("conferences", "decidim_conferences"),
    ("initiatives", "decidim_initiatives"),
    ("step", "decidim_participatory_process_steps"),
    ("component", "decidim_components"),
    ("proposal_state", "decidim_proposals_proposal_states"),
    ("proposal", "decidim_proposals_proposals"),
    ("vote", "decidim_proposals_proposal_votes"),
    ("meeting", "decidim_meetings_meetings"),
    ("post", "decidim_blogs_posts"),
    ("survey", "decidim_surveys_surveys"),
    ("questionnaire", "decidim_forms_questionnaires"),
    ("question", "decidim_forms_questions"),
    ("answer_option", "decidim_forms_response_options"),
    ("matrix_row", "decidim_forms_question_matrix_rows"),
    ("display_condition", "decidim_forms_display_conditions"),
    ("questionnaire_response", "decidim_forms_responses"),
    ("attachment_collection", "decidim_attachment_collections"),
    ("attachment", "decidim_attachments"),
    ("page", "decidim_pages_pages"),
    ("budget", "decidim_budgets_budgets"),
    ("result", "decidim_accountability_results"),
    ("debate", "decidim_debates_debates"),
];

/// Reads a Decidim database over this connection and writes an archive to `out`, and what has no equivalent there to `residue`.
///
/// The first pass writes nothing; the second runs if there are no obstacles and `plan_only` is not set. The source
/// is read in one transaction `READ ONLY`. A failure of the database, a store of files or a writer is an obstacle, once the
/// passes have begun.
///
/// # Errors
/// `Stopped` if the database is not supported; `Database` if it fails before the first pass.
pub async fn extract(
    client: Client,
    options: &ExtractOptions,
    out: &mut (dyn Write + Send),
    residue: Option<&mut (dyn Write + Send)>,
) -> Result<Extraction> {
    let source = Source::begin(client).await?;
    let facts = source_facts(&source).await?;
    let tables = count_unread_tables(&source).await?;
    let mut run = ExtractionRun::new(&source, options, None, None);
    let planned = plan(&mut run).await;
    let mut obstacles = match planned {
        Ok(()) => run.codes.obstacles(&options.accepted),
        Err(error) => vec![error.to_string()],
    };
    if obstacles.is_empty() && !options.plan_only {
        // The memory of the first pass is freed.
        let ExtractionRun { row_counts, .. } = run;
        let residue = residue.map(|residue| residue as &mut (dyn Write + Send));
        run = ExtractionRun::new(&source, options, Some(out), residue);
        obstacles.extend(write(&mut run, &facts, &row_counts).await.err().map(|error| error.to_string()));
    }
    Ok(Extraction { report: report(&run, facts, tables), obstacles })
}

/// The first pass.
async fn plan(run: &mut ExtractionRun<'_>) -> Result {
    check_jobs(run).await?;
    records::write(run).await
}

/// The second pass. Its counts must be those of the first one, and each row of the source written or left out (§8).
async fn write(run: &mut ExtractionRun<'_>, facts: &Value, planned: &RowCountsByType) -> Result {
    run.write_line(&first_record(run.source, facts).await?)?;
    records::write(run).await?;
    run.write_inline_blobs().await?;
    run.flush()?;
    let stop = |text: String| Err(DecidimError::Stopped(vec![text]));
    if run.row_counts != *planned {
        return stop("the second pass read something else than the first".to_owned());
    }
    match run.row_counts.iter().find(|(_, counts)| !counts.is_complete()) {
        Some(((_, kind), counts)) => stop(format!("{kind}: the counts do not fit: {counts:?}")),
        None => Ok(()),
    }
}

/// The first record: the id spaces of the target must begin above these numbers (§3.1).
async fn first_record(source: &Source, facts: &Value) -> Result<Value> {
    let mut floors = BTreeMap::new();
    for (kind, table) in ID_SPACE_TABLES {
        let highest = source.value(&format!("SELECT max(id) FROM {table}")).await?;
        floors.insert(*kind, highest.as_i64().unwrap_or_default());
    }
    Ok(json!({
        "type": "archive", "format": 1, "source": format!("decidim {}", source.version.as_str()),
        "snapshot_at": facts.get("snapshot_at"), "id_floor": floors,
    }))
}

/// What the report says about the source.
async fn source_facts(source: &Source) -> Result<Value> {
    let optional = async |table: &str, statement: &str| {
        if source.has(table) { source.value(statement).await } else { Ok(Value::Null) }
    };
    let module = source.has("decidim_rest_full_api_client_permissions");
    Ok(json!({
        "decidim": source.version.as_str(),
        "module": module,
        "migrations": optional("schema_migrations", "SELECT count(*) FROM schema_migrations").await?,
        "newest_migration": optional("schema_migrations", "SELECT max(version) FROM schema_migrations").await?,
        "environment": optional(
            "ar_internal_metadata",
            "SELECT value FROM ar_internal_metadata WHERE key = 'environment'"
        ).await?,
        "snapshot_at": source.value(
            "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        ).await?,
    }))
}

/// The rows of every table that is only counted (§5.14). A table that this role cannot read has -1.
async fn count_unread_tables(source: &Source) -> Result<BTreeMap<String, i64>> {
    let mut tables = BTreeMap::new();
    for table in source.table_names().filter(|table| !schema::is_read(table)) {
        let name = table.replace('"', "\"\"");
        let may_read = format!("SELECT has_table_privilege('\"{}\"', 'SELECT')", name.replace('\'', "''"));
        let count = match source.value(&may_read).await?.as_bool() {
            Some(true) => source.value(&format!("SELECT count(*) FROM \"{name}\"")).await?.as_i64(),
            _ => None,
        };
        tables.insert(table.to_owned(), count.unwrap_or(-1));
    }
    Ok(tables)
}

/// S-JOBS: jobs of the module that have not ended (§7).
async fn check_jobs(run: &mut ExtractionRun<'_>) -> Result {
    let pending = "SELECT count(*) FROM decidim_rest_full_api_jobs WHERE status IN ('pending', 'processing')";
    let pending = run.source.value(pending).await?.as_i64().unwrap_or_default();
    if pending > 0 && !run.options.allow_pending_jobs {
        run.codes.add_stop(
            "S-JOBS",
            &format!("{pending} jobs are pending or processing (use --allow-pending-jobs)"),
        );
    }
    Ok(())
}

fn report(run: &ExtractionRun<'_>, facts: Value, tables: BTreeMap<String, i64>) -> ExtractionReport {
    let mut organizations: BTreeMap<String, BTreeMap<String, RowCounts>> = BTreeMap::new();
    for ((organization, kind), counts) in &run.row_counts {
        let facts = organization.and_then(|id| run.organizations.get(&id));
        let host = facts.map_or_else(String::new, |facts| facts.host.clone());
        organizations.entry(host).or_default().insert((*kind).to_owned(), counts.clone());
    }
    let mut report = ExtractionReport::new(facts, organizations, &run.codes, tables);
    let (count, bytes, refused) = run.files;
    report.files = json!({ "count": count, "bytes": bytes, "refused": refused });
    report
}
