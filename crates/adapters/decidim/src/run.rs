//! One pass over the source: what was imported, what was lost, and where records go.

use crate::Result;
use crate::codes::StopsAndLosses;
use crate::options::ExtractOptions;
use crate::report::RowCounts;
use crate::residue::{UnmappedRowWriter, inline_blobs};
use crate::row::Row;
use crate::source::Source;
use crate::text::{Languages, MappedText};
use civitas_kernel::extended_data::check_size;
use civitas_kernel::{SpaceKind, limits};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Write;

/// The types that other records refer to: the outcome of each of their rows is kept. Spaces are kept by manifest.
const PARENTS: &[&str] = &[
    "organization",
    "user",
    "api_client",
    "participatory_processes",
    "assemblies",
    "conferences",
    "initiatives",
    "step",
    "component",
    "proposal",
    "meeting",
    "post",
    "survey",
    "questionnaire",
    "question",
    "answer_option",
    "matrix_row",
    "attachment_collection",
];

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOutcome {
    /// It was imported into this organization.
    Imported(i64),
    /// It was left out; its organization, if it is known.
    Dropped(Option<i64>),
    /// Its organization is not one of those to read.
    NotSelected,
}

/// What is kept of an organization.
#[derive(Debug, Clone)]
pub(crate) struct MappedOrganization {
    pub(crate) host: String,
    /// Mapped.
    pub(crate) default_locale: String,
    /// A name of contract 11.
    pub(crate) time_zone: String,
    pub(crate) comments_max_length: i64,
}

/// What is kept of a component.
#[derive(Debug, Clone)]
pub(crate) struct MappedComponent {
    pub(crate) manifest: &'static str,
    /// As in the record.
    pub(crate) name: Value,
    /// As in the record.
    pub(crate) settings: Map<String, Value>,
}

/// The counts by organization and type.
pub(crate) type RowCountsByType = BTreeMap<(Option<i64>, &'static str), RowCounts>;

/// One pass. The first one has no `out`.
pub(crate) struct ExtractionRun<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a ExtractOptions,
    pub(crate) codes: StopsAndLosses,
    pub(crate) organizations: BTreeMap<i64, MappedOrganization>,
    pub(crate) components: HashMap<i64, MappedComponent>,
    pub(crate) deleted_users: HashSet<i64>,
    pub(crate) row_counts: RowCountsByType,
    /// Files copied, their bytes, and files refused.
    pub(crate) files: (u64, u64, u64),
    outcomes: HashMap<&'static str, HashMap<i64, RowOutcome>>,
    /// The ids of the blobs that texts link to.
    inline_blobs: BTreeSet<i64>,
    residue: UnmappedRowWriter<'a>,
    out: Option<&'a mut (dyn Write + Send)>,
}

/// A record of the archive.
pub(crate) struct Record {
    /// The type, or for a space its manifest.
    pub(crate) kind: &'static str,
    /// Unique per organization and type.
    pub(crate) reference: String,
    /// The number of the row; `None` for records whose number is not kept.
    pub(crate) id: Option<i64>,
    /// `None`: of the deployment.
    pub(crate) organization: Option<i64>,
    /// An object. Members that are null are left out: in a new record that means the same.
    pub(crate) members: Value,
}

impl<'a> ExtractionRun<'a> {
    pub(crate) fn new(
        source: &'a Source,
        options: &'a ExtractOptions,
        out: Option<&'a mut (dyn Write + Send)>,
        residue: Option<&'a mut (dyn Write + Send)>,
    ) -> Self {
        Self {
            source,
            options,
            codes: StopsAndLosses::default(),
            organizations: BTreeMap::new(),
            components: HashMap::new(),
            deleted_users: HashSet::new(),
            row_counts: BTreeMap::new(),
            files: (0, 0, 0),
            outcomes: HashMap::new(),
            inline_blobs: BTreeSet::new(),
            residue: UnmappedRowWriter(residue),
            out,
        }
    }

    /// Whether this pass writes nothing.
    pub(crate) fn is_plan(&self) -> bool {
        self.out.is_none()
    }

    /// What became of a row; `None`: there is no such row.
    pub(crate) fn outcome(&self, kind: &str, id: Option<i64>) -> Option<RowOutcome> {
        self.outcomes.get(kind)?.get(&id?).copied()
    }

    /// Whether a row was imported into this organization.
    pub(crate) fn is_imported(&self, kind: &str, id: Option<i64>, organization: i64) -> bool {
        self.outcome(kind, id) == Some(RowOutcome::Imported(organization))
    }

    /// Records what became of a row, if others refer to rows of its type.
    pub(crate) fn set_outcome(&mut self, kind: &'static str, id: i64, outcome: RowOutcome) {
        if PARENTS.contains(&kind) {
            self.outcomes.entry(kind).or_default().insert(id, outcome);
        }
    }

    /// Counts a row of the source, and returns the organization of its parent. `None`: the parent was not imported, and the
    /// row is left out with it. Counts W-ORPHAN only if there is no parent at all (§3.4).
    pub(crate) fn organization_of(
        &mut self,
        kind: &'static str,
        row: &Row,
        parent: &str,
        parent_id: Option<i64>,
    ) -> Result<Option<i64>> {
        match self.outcome(parent, parent_id) {
            Some(RowOutcome::Imported(organization)) => {
                self.counts(Some(organization), kind).source += 1;
                return Ok(Some(organization));
            }
            Some(RowOutcome::Dropped(organization)) => {
                let counts = self.counts(organization, kind);
                counts.source += 1;
                *counts.dropped.entry("parent".to_owned()).or_default() += 1;
                self.set_outcome(kind, row.id(), RowOutcome::Dropped(organization));
                self.residue.write(row, organization, None, None)?;
            }
            Some(RowOutcome::NotSelected) => self.set_outcome(kind, row.id(), RowOutcome::NotSelected),
            None => {
                self.counts(None, kind).source += 1;
                self.drop_to_residue(kind, row, None, "W-ORPHAN")?;
            }
        }
        Ok(None)
    }

    /// The same for a row with a `decidim_component_id`: its organization and component. Rows of a component with another
    /// manifest are left out: W-ORPHAN.
    pub(crate) fn organization_and_component(
        &mut self,
        kind: &'static str,
        row: &Row,
        manifest: &str,
    ) -> Result<Option<(i64, i64)>> {
        let id = row.int("decidim_component_id");
        let Some(organization) = self.organization_of(kind, row, "component", id)? else { return Ok(None) };
        let component =
            id.filter(|id| self.components.get(id).is_some_and(|facts| facts.manifest == manifest));
        if component.is_none() {
            self.drop_to_residue(kind, row, Some(organization), "W-ORPHAN")?;
        }
        Ok(component.map(|component| (organization, component)))
    }

    /// Leaves out a row that was counted, with all rows below it.
    pub(crate) fn drop_to_residue(
        &mut self,
        kind: &'static str,
        row: &Row,
        organization: Option<i64>,
        code: &'static str,
    ) -> Result {
        if self.may_be_unselected(organization) {
            self.counts(None, kind).source -= 1;
            self.set_outcome(kind, row.id(), RowOutcome::NotSelected);
            return Ok(());
        }
        *self.counts(organization, kind).dropped.entry(code.to_owned()).or_default() += 1;
        self.set_outcome(kind, row.id(), RowOutcome::Dropped(organization));
        self.write_loss(row, organization, code)
    }

    /// Whether a row without a known organization may belong to an organization that is not read (§3.4).
    fn may_be_unselected(&self, organization: Option<i64>) -> bool {
        organization.is_none() && !self.options.organizations.is_empty()
    }

    /// Counts a loss of a row, and writes the row into the residue.
    pub(crate) fn write_loss(&mut self, row: &Row, organization: Option<i64>, code: &'static str) -> Result {
        if self.may_be_unselected(organization) {
            return Ok(());
        }
        self.codes.count_loss(code, row.table, id_text(row));
        self.residue.write(row, organization, Some(code), None)
    }

    /// Writes those of these columns that are not empty into the residue: they have no equivalent here (marked x in §5).
    pub(crate) fn write_unmapped_columns(
        &mut self,
        row: &Row,
        organization: i64,
        columns: &[&str],
    ) -> Result {
        self.residue.write(row, Some(organization), None, Some(columns))
    }

    /// A translated text of content, in the languages of the organization.
    pub(crate) fn content(&mut self, row: &Row, column: &str, organization: i64) -> Value {
        let text = self.languages(organization).content(row.get(column));
        self.record_text_losses(row, text)
    }

    /// A translated text that must not be empty: the name of a part of the structure.
    pub(crate) fn name(&mut self, row: &Row, column: &str, organization: i64) -> Value {
        let text = self.languages(organization).name(row.get(column), &format!("#{}", row.id()));
        self.record_text_losses(row, text)
    }

    /// The languages of an organization.
    pub(crate) fn languages(&self, organization: i64) -> Languages<'_> {
        let facts = self.organizations.get(&organization);
        let default = facts.map_or("en", |facts| facts.default_locale.as_str());
        Languages { locales: &self.options.locales, map: &self.options.locale_map, default }
    }

    /// Counts the losses of a text of a row.
    pub(crate) fn record_text_losses(&mut self, row: &Row, text: MappedText) -> Value {
        for (code, locale) in text.losses {
            if code == "W-INLINE" {
                let texts = text.value.values().filter_map(Value::as_str);
                self.inline_blobs.extend(texts.flat_map(inline_blobs));
            }
            let found = self.codes.count_loss(code, row.table, id_text(row));
            if !locale.is_empty() {
                *found.locales.entry(locale).or_default() += 1;
            }
        }
        text.value.into()
    }

    /// Writes a record whose `ref` is its id.
    pub(crate) fn write_row_record(
        &mut self,
        kind: &'static str,
        id: i64,
        organization: i64,
        members: Value,
    ) -> Result {
        let (reference, organization) = (id.to_string(), Some(organization));
        self.write_record(Record { kind, reference, id: Some(id), organization, members })
    }

    /// Writes a record.
    pub(crate) fn write_record(&mut self, record: Record) -> Result {
        let Record { kind, reference, id, organization, members } = record;
        self.counts(organization, kind).written += 1;
        if let (Some(id), Some(organization)) = (id, organization) {
            self.set_outcome(kind, id, RowOutcome::Imported(organization));
        }
        let Value::Object(mut members) = members else { return Ok(()) };
        self.shorten(kind, &reference, organization, &mut members)?;
        let mut line = Map::new();
        line.insert("type".to_owned(), type_of(kind).into());
        line.insert("ref".to_owned(), reference.into());
        if let Some(id) = id {
            line.insert("id".to_owned(), id.into());
        }
        if let Some(organization) = organization.filter(|_| kind != "organization") {
            line.insert("organization".to_owned(), organization.to_string().into());
        }
        line.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
        self.write_line(&line.into())
    }

    /// Cuts texts that are longer than those of an archive, and leaves out extended data that are too large: W-JSON. The
    /// residue has them whole.
    fn shorten(
        &mut self,
        kind: &'static str,
        reference: &str,
        organization: Option<i64>,
        members: &mut Map<String, Value>,
    ) -> Result {
        for (name, value) in members {
            let mut whole = Vec::new();
            match (limits::max_member_chars(name), &mut *value) {
                (Some(max), value) => cut(value, max, &mut whole),
                (None, Value::Object(data)) if name == "extended_data" => {
                    if check_size(data, limits::MAX_EXTENDED_DATA_BYTES).is_err() {
                        whole.push(std::mem::take(data).into());
                    }
                }
                (None, _) => {}
            }
            if !whole.is_empty() {
                self.codes.count_loss("W-JSON", kind, reference);
                let columns = [("id".to_owned(), reference.into()), (name.clone(), whole.into())];
                let row = Row { table: kind, columns: columns.into_iter().collect() };
                self.residue.write(&row, organization, Some("W-JSON"), None)?;
            }
        }
        Ok(())
    }

    /// Writes the blobs that texts link to into the residue: only the old installation serves them (§3.2).
    pub(crate) async fn write_inline_blobs(&mut self) -> Result {
        if self.residue.0.is_none() || self.inline_blobs.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = self.inline_blobs.iter().map(i64::to_string).collect();
        let statement = format!("SELECT * FROM active_storage_blobs WHERE id IN ({})", ids.join(", "));
        let mut rows = self.source.rows("active_storage_blobs", &statement).await?;
        while let Some(row) = rows.next().await? {
            self.residue.write(&row, None, Some("W-INLINE"), None)?;
        }
        Ok(())
    }

    /// Writes a line that is not counted.
    pub(crate) fn write_line(&mut self, line: &Value) -> Result {
        let Some(out) = self.out.as_deref_mut() else { return Ok(()) };
        serde_json::to_writer(&mut *out, line)?;
        Ok(out.write_all(b"\n")?)
    }

    /// Writes what is buffered.
    pub(crate) fn flush(&mut self) -> Result {
        for out in [self.out.as_deref_mut(), self.residue.0.as_deref_mut()].into_iter().flatten() {
            out.flush()?;
        }
        Ok(())
    }

    /// The counts of a type in an organization.
    pub(crate) fn counts(&mut self, organization: Option<i64>, kind: &'static str) -> &mut RowCounts {
        self.row_counts.entry((organization, type_of(kind))).or_default()
    }
}

/// Cuts the texts of a value after `max` characters, and adds the whole ones to `whole`.
fn cut(value: &mut Value, max: usize, whole: &mut Vec<Value>) {
    match value {
        Value::String(text) if limits::is_longer(text, max) => {
            let short = text.chars().take(max).collect();
            whole.push(std::mem::replace(text, short).into());
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut(item, max, whole)),
        Value::Object(members) => members.values_mut().for_each(|member| cut(member, max, whole)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The record type: `space` for each of the manifests.
fn type_of(kind: &'static str) -> &'static str {
    if SpaceKind::parse(kind).is_some() { "space" } else { kind }
}

fn id_text(row: &Row) -> String {
    row.int("id").map_or_else(|| row.str("id").to_owned(), |id| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_cut_after_a_character_wherever_they_are() {
        let (long, short) = ("é".repeat(256), "é".repeat(255));
        let mut title = json!({ "en": long, "fr": short, "more": ["x", long] });
        let mut whole = Vec::new();
        cut(&mut title, limits::MAX_LINE_CHARS, &mut whole);
        assert_eq!(title, json!({ "en": short, "fr": short, "more": ["x", short] }));
        assert_eq!(whole, [json!(long), json!(long)]);
    }
}
