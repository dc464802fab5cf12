//! `role` (sheet 13 §5.7).

use super::{ExtractionRun, Result, Row, each_row, members, user_loss_code};
use crate::run::Record;
use serde_json::json;

/// The tables of roles, in the order of [`STATEMENT`]'s `source`.
const TABLES: [&str; 4] = [
    "decidim_assembly_user_roles",
    "decidim_conference_user_roles",
    "decidim_members",
    "decidim_participatory_process_user_roles",
];

/// `n` numbers the rows with the same user, space and kind, the earliest first.
const STATEMENT: &str = "SELECT r.*, row_number() OVER (PARTITION BY r.decidim_user_id, r.manifest, r.space, r.kind \
     ORDER BY r.created_at, r.source, r.id) AS n \
     FROM (SELECT s.*, CASE WHEN s.source <> 2 THEN u.invitation_sent_at END AS invited_at, \
     CASE WHEN s.source <> 2 THEN u.invitation_accepted_at END AS accepted_at, \
     CASE s.role WHEN 'admin' THEN 'space_administrator' WHEN 'moderator' THEN 'space_moderator' \
     WHEN 'valuator' THEN 'space_valuator' WHEN 'evaluator' THEN 'space_valuator' \
     WHEN 'collaborator' THEN 'space_private_member' WHEN 'member' THEN 'space_private_member' END AS kind \
     FROM (\
     SELECT 0 AS source, id, decidim_user_id, 'assemblies' AS manifest, decidim_assembly_id AS space, role, created_at, \
     updated_at FROM decidim_assembly_user_roles UNION ALL \
     SELECT 1, id, decidim_user_id, 'conferences', decidim_conference_id, role, created_at, updated_at \
     FROM decidim_conference_user_roles UNION ALL \
     SELECT 2, id, decidim_user_id, CASE participatory_space_type \
     WHEN 'Decidim::ParticipatoryProcess' THEN 'participatory_processes' WHEN 'Decidim::Assembly' THEN 'assemblies' END, \
     participatory_space_id, 'member', created_at, updated_at FROM decidim_members UNION ALL \
     SELECT 3, id, decidim_user_id, 'participatory_processes', decidim_participatory_process_id, role, created_at, \
     updated_at FROM decidim_participatory_process_user_roles) s \
     LEFT JOIN decidim_users u ON u.id = s.decidim_user_id) r ORDER BY r.source, r.id";

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    each_row(run, "decidim_members", STATEMENT, role).await
}

fn role(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let source = row.int("source").and_then(|source| usize::try_from(source).ok());
    let table = source.and_then(|source| TABLES.get(source)).copied().unwrap_or(row.table);
    let row = &Row { table, columns: row.columns.clone() };
    let (manifest, space) = (row.str("manifest"), row.int("space"));
    let Some(of) = run.organization_of("role", row, manifest, space)? else { return Ok(()) };
    let user = row.int("decidim_user_id");
    let is_deleted = user.is_some_and(|user| run.deleted_users.contains(&user));
    let loss_code = user_loss_code(run, user, of)
        .or(is_deleted.then_some("W-ORPHAN"))
        .or(row.filled("kind").is_none().then_some("W-USERROLE"));
    if let Some(code) = loss_code {
        return run.drop_to_residue("role", row, Some(of), code);
    }
    if row.int("n") != Some(1) {
        *run.counts(Some(of), "role").dropped.entry("repeated".to_owned()).or_default() += 1;
        return Ok(());
    }
    if row.str("role") == "collaborator" {
        run.write_loss(row, Some(of), "W-COLLABORATOR")?;
    }
    let space = json!({ "space": format!("{manifest}/{}", space.unwrap_or_default()) });
    let members = members(run, "role", row, of, space)?;
    // Role ids are computed from other values; the ids of the tables overlap.
    let reference = format!("{}/{}", table.strip_prefix("decidim_").unwrap_or(table), row.id());
    run.write_record(Record { kind: "role", reference, id: None, organization: Some(of), members })
}
