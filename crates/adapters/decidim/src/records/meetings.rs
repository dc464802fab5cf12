//! Sheet 13 §5.10: `meeting`, `post`.

use super::{
    ExtractionRun, Result, Row, each_row, join_moderation, reference, select_data, user_loss_code,
    write_row_record,
};
use serde_json::{Value, json};

fn meetings_statement() -> String {
    let class = "Decidim::Meetings::Meeting";
    let (data, join_moderation) = (select_data(class), join_moderation(class));
    format!(
        "SELECT t.*, m.hidden_at, r.registrations, {data} AS extended_data \
         FROM decidim_meetings_meetings t \
         {join_moderation} \
         LEFT JOIN (SELECT decidim_meeting_id, json_agg(json_build_object('id', id, 'status', status, \
                 'decidim_user_id', decidim_user_id) ORDER BY id) AS registrations \
             FROM decidim_meetings_registrations GROUP BY decidim_meeting_id) r ON r.decidim_meeting_id = t.id \
         ORDER BY t.id"
    )
}

fn posts_statement() -> String {
    let join_moderation = join_moderation("Decidim::Blogs::Post");
    format!("SELECT t.*, m.hidden_at FROM decidim_blogs_posts t {join_moderation} ORDER BY t.id")
}

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    each_row(run, "decidim_meetings_meetings", &meetings_statement(), meeting).await?;
    each_row(run, "decidim_blogs_posts", &posts_statement(), post).await
}

fn meeting(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, _)) = run.organization_and_component("meeting", row, "meetings")? else { return Ok(()) };
    if row.time("start_time").is_null() {
        return run.drop_to_residue("meeting", row, Some(of), "W-NOTIME");
    }
    let members = json!({ "registrations": registrations(run, row, of)? });
    write_row_record(run, "meeting", row, of, members)
}

/// The registered accounts. Deleted accounts are left out. Decidim to 0.30 has no waiting list.
fn registrations(run: &mut ExtractionRun<'_>, row: &Row, of: i64) -> Result<Vec<Value>> {
    let mut users = Vec::new();
    for registration in row.children("registrations", "decidim_meetings_registrations") {
        let user = registration.int("decidim_user_id");
        if let Some(code) = user_loss_code(run, user, of) {
            run.write_loss(&registration, Some(of), code)?;
        } else if registration.filled("status").is_some_and(|status| status != "registered") {
            run.write_loss(&registration, Some(of), "W-WAITING")?;
        } else if !user.is_some_and(|user| run.deleted_users.contains(&user)) {
            users.push(reference(user));
        }
    }
    Ok(users)
}

fn post(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, _)) = run.organization_and_component("post", row, "blogs")? else { return Ok(()) };
    let id = row.int("decidim_author_id");
    let (author, loss_code) = match row.str("decidim_author_type") {
        "Decidim::Organization" => (None, None),
        "Decidim::UserBaseEntity" => (id, user_loss_code(run, id, of)),
        _ => (None, Some("W-ORPHAN")),
    };
    if let Some(code) = loss_code {
        run.write_loss(row, Some(of), code)?;
    }
    write_row_record(
        run,
        "post",
        row,
        of,
        json!({ "author": reference(author.filter(|_| loss_code.is_none())) }),
    )
}
