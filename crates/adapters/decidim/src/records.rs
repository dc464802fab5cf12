//! The mapping, one module for a group of tables (sheet 13 §5).
//!
//! Each `write` reads its rows in the order of their ids, maps each to a record, and is called in the order of [`write`]:
//! parents before children. Both passes call them. `records.txt` has the members that are columns of the row; the modules
//! add the others.

mod attachments;
mod clients;
mod components;
mod entries;
mod forms;
mod meetings;
mod organizations;
mod proposals;
mod responses;
mod roles;
mod spaces;
mod users;

use crate::Result;
use crate::row::Row;
use crate::run::{ExtractionRun, RowOutcome};
use crate::schema;
use civitas_kernel::{SpaceKind, extended_data};
use serde_json::{Map, Value};

/// `type: ` and the members of a record, `member<column:kind`, with the kinds of [`member`]; `<column` is left out where
/// it has the same name. `type, left: ` and the columns without an equivalent here (marked x in §5).
const RECORDS: &str = include_str!("records/records.txt");

/// Maps all rows, parents before children.
pub(crate) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    organizations::write(run).await?;
    users::write(run).await?;
    clients::write(run).await?;
    spaces::write(run).await?;
    roles::write(run).await?;
    components::write(run).await?;
    proposals::write(run).await?;
    meetings::write(run).await?;
    forms::write(run).await?;
    responses::write(run).await?;
    attachments::write(run).await?;
    entries::write(run).await?;
    let statement = "SELECT * FROM resource_extended_data WHERE resource_type IS NOT NULL ORDER BY id";
    each_row(run, "resource_extended_data", statement, check_extended_data).await
}

/// Counts extended data of a record that is gone, or has none here: W-ORPHAN.
fn check_extended_data(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let kind = kind_of(row.str("resource_type"));
    if ["post", "survey"].contains(&kind) || run.outcome(kind, row.int("resource_id")).is_none() {
        run.write_loss(row, None, "W-ORPHAN")?;
    }
    Ok(())
}

/// Maps each row of a statement. `table`: the table whose rows they are.
async fn each_row(
    run: &mut ExtractionRun<'_>,
    table: &'static str,
    statement: &str,
    mut map: impl FnMut(&mut ExtractionRun<'_>, &Row) -> Result,
) -> Result {
    let mut rows = run.source.rows(table, statement).await?;
    while let Some(row) = rows.next().await? {
        map(run, &row)?;
    }
    Ok(())
}

/// Writes the record of a row whose ref is its id: `others`, and the members of [`RECORDS`].
fn write_row_record(
    run: &mut ExtractionRun<'_>,
    kind: &'static str,
    row: &Row,
    organization: i64,
    others: Value,
) -> Result {
    let members = members(run, kind, row, organization, others)?;
    run.write_row_record(kind, row.id(), organization, members)
}

/// The members of a record: `others`, and those of [`RECORDS`]. Writes the columns without an equivalent into the residue.
fn members(
    run: &mut ExtractionRun<'_>,
    kind: &str,
    row: &Row,
    organization: i64,
    others: Value,
) -> Result<Value> {
    let left: Vec<_> = words(kind, ", left: ").collect();
    run.write_unmapped_columns(row, organization, &left)?;
    let mut members = Map::new();
    for (name, column, kind) in words(kind, ": ").map(schema::split) {
        members.insert(name.to_owned(), member(run, row, organization, column, kind));
    }
    if let Value::Object(others) = others {
        members.extend(others);
    }
    Ok(members.into())
}

/// The words of a line of [`RECORDS`].
fn words(kind: &str, separator: &str) -> impl Iterator<Item = &'static str> {
    let line = RECORDS.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(separator));
    line.unwrap_or_default().split_whitespace()
}

/// The value of a member that is a column; null if it is absent.
fn member(run: &mut ExtractionRun<'_>, row: &Row, organization: i64, column: &str, kind: &str) -> Value {
    match kind {
        "name" => run.name(row, column, organization),
        "text" => run.content(row, column, organization),
        "data" => data(run, row, column),
        "time" => row.time(column),
        "flag" => row.flag(column).into(),
        "line" => row.filled(column).into(),
        "ref" => reference(row.int(column)),
        "id" => row.int(column).into(),
        "number" => row.int(column).unwrap_or_default().into(),
        _ => row.get(column).clone(),
    }
}

/// The `ref` of a row whose ref is its id; null without a row.
fn reference(id: Option<i64>) -> Value {
    id.map(|id| id.to_string()).into()
}

/// The code of a reference to an account that is not one of the organization; `None` if it is.
fn user_loss_code(run: &ExtractionRun<'_>, id: Option<i64>, organization: i64) -> Option<&'static str> {
    match run.outcome("user", id) {
        Some(RowOutcome::Imported(of)) if of == organization => None,
        Some(RowOutcome::Imported(_) | RowOutcome::NotSelected) => Some("W-TENANT"),
        Some(RowOutcome::Dropped(_)) | None => Some("W-ORPHAN"),
    }
}

/// The type of the records of a Ruby class, for a space its manifest; `""` for other classes.
fn kind_of(class: &str) -> &'static str {
    match class {
        "Decidim::Organization" => "organization",
        "Decidim::ParticipatoryProcess" => "participatory_processes",
        "Decidim::Assembly" => "assemblies",
        "Decidim::Conference" => "conferences",
        "Decidim::Initiative" => "initiatives",
        "Decidim::Component" => "component",
        "Decidim::Proposals::Proposal" => "proposal",
        "Decidim::Meetings::Meeting" => "meeting",
        "Decidim::Blogs::Post" => "post",
        "Decidim::Surveys::Survey" => "survey",
        _ => "",
    }
}

/// The manifest of the spaces of a Ruby class; `""` for other classes.
fn manifest_of(class: &str) -> &'static str {
    SpaceKind::parse(kind_of(class)).map_or("", SpaceKind::as_str)
}

/// The moderation `m` of the row `t` of this class.
fn join_moderation(class: &str) -> String {
    format!(
        "LEFT JOIN decidim_moderations m ON m.decidim_reportable_type = '{class}' AND m.decidim_reportable_id = t.id"
    )
}

/// An expression for the extended data of the row `t` of this class: the newest row counts. Tables of old versions of the
/// module have organizations only, without a class.
fn select_data(class: &str) -> String {
    let old = if class == "Decidim::Organization" { " OR e.resource_type IS NULL" } else { "" };
    format!(
        "(SELECT e.data FROM resource_extended_data e WHERE e.resource_id = t.id \
         AND (e.resource_type = '{class}'{old}) ORDER BY e.id DESC LIMIT 1)"
    )
}

/// The extended data in a column, without blank values (contract 01 §11.3). No object: W-JSON.
fn data(run: &mut ExtractionRun<'_>, row: &Row, column: &str) -> Value {
    match row.get(column).clone() {
        Value::Object(mut data) => {
            extended_data::compact(&mut data);
            data.into()
        }
        other => {
            if !other.is_null() {
                run.codes.count_loss("W-JSON", "resource_extended_data", row.id());
            }
            Value::Null
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_has_a_kind() {
        let kinds = ["name", "text", "data", "time", "flag", "line", "ref", "id", "number", "value"];
        for line in RECORDS.lines().filter(|line| !line.contains(", left: ")) {
            let (kind, members) = line.split_once(": ").unwrap();
            for (name, _, of) in members.split_whitespace().map(schema::split) {
                assert!(kinds.contains(&of), "{kind}: {name}: {of}");
            }
        }
    }
}
