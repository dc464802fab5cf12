//! Output of an export: lines of JSON.

use super::error::ExportError;
use super::person::ExportedPerson;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use civitas_attachments::ByteStream;
use civitas_kernel::{Error, OrganizationId, extended_data::is_blank};
use futures_util::TryStreamExt;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use std::io::Write;

/// The number of rows read by one query.
pub(super) const PAGE: i64 = 500;

/// The file an export writes.
pub(super) struct ArchiveWriter<'a> {
    writer: &'a mut (dyn Write + Send),
    with_secrets: bool,
    /// The person whose records alone are written; `None`: all records.
    pub(super) person: Option<ExportedPerson>,
}

impl<'a> ArchiveWriter<'a> {
    pub(super) fn new(writer: &'a mut (dyn Write + Send), with_secrets: bool) -> Self {
        Self { writer, with_secrets, person: None }
    }

    /// Starts a record.
    pub(super) fn row(&self, kind: &str, reference: &str, organization: Option<OrganizationId>) -> ExportRow {
        ExportRow::new(kind, reference, organization, self.with_secrets)
    }

    /// Writes a record as one line, with these bytes as its last member `data`, in base64.
    pub(super) async fn write_with_data(
        &mut self,
        row: &ExportRow,
        mut bytes: ByteStream,
    ) -> Result<(), ExportError> {
        let line = serde_json::to_string(row).map_err(|error| ExportError::Store(Error::internal(error)))?;
        let begin = line.strip_suffix('}').unwrap_or(&line);
        write!(self.writer, "{begin},\"data\":\"").map_err(ExportError::Write)?;
        let mut encoder = EncoderWriter::new(&mut *self.writer, &STANDARD);
        while let Some(chunk) = bytes.try_next().await? {
            encoder.write_all(&chunk).map_err(ExportError::Write)?;
        }
        encoder.finish().map_err(ExportError::Write)?;
        drop(encoder);
        writeln!(self.writer, "\"}}").map_err(ExportError::Write)
    }

    /// Writes a record as one line.
    pub(super) fn write(&mut self, row: &ExportRow) -> Result<(), ExportError> {
        let line = serde_json::to_string(row).map_err(|error| ExportError::Store(Error::internal(error)))?;
        writeln!(self.writer, "{line}").map_err(ExportError::Write)
    }
}

/// One record of an export. Members are written in the order in which they are added.
pub(super) struct ExportRow {
    members: Vec<(&'static str, Value)>,
    with_secrets: bool,
}

impl ExportRow {
    fn new(kind: &str, reference: &str, organization: Option<OrganizationId>, with_secrets: bool) -> Self {
        let members = vec![("type", kind.into()), ("ref", reference.into())];
        Self { members, with_secrets }.with_optional("organization", organization.map(|id| id.to_string()))
    }

    /// Adds a member.
    pub(super) fn with(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.members.push((name, serde_json::to_value(value).unwrap_or_default()));
        self
    }

    /// Adds a member unless it is null, `""`, `[]`, `{}` or false.
    pub(super) fn with_non_empty(self, name: &'static str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        if is_blank(&value) || value == false { self } else { self.with(name, value) }
    }

    /// Adds a member if it has a value.
    pub(super) fn with_optional(self, name: &'static str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Replaces the value of a member.
    pub(super) fn replace(mut self, name: &'static str, value: Value) -> Self {
        if let Some((_, old)) = self.members.iter_mut().find(|(other, _)| *other == name) {
            *old = value;
        }
        self
    }

    /// Adds nothing: the member is one of those that `RecordKind::complete` adds.
    pub(super) fn completed(self, _: &'static str, (): ()) -> Self {
        self
    }

    /// Whether the export includes secrets.
    pub(super) fn has_secrets(&self) -> bool {
        self.with_secrets
    }

    /// Adds a member that is left out of exports without secrets.
    pub(super) fn secret(self, name: &'static str, value: Option<&str>) -> Self {
        if self.with_secrets { self.with_non_empty(name, value) } else { self }
    }
}

impl Serialize for ExportRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (name, value) in &self.members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_keeps_its_order_and_leaves_defaults_out() {
        let row = ExportRow::new("user", "7", Some(OrganizationId(1)), false)
            .with("nickname", "nora")
            .with_non_empty("admin", false)
            .with_non_empty("extended_data", json!({}))
            .with_non_empty("weight", 0)
            .with_optional("blocked_at", None::<i64>);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, r#"{"type":"user","ref":"7","organization":"1","nickname":"nora","weight":0}"#);
    }
}
