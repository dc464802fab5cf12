//! Writing the database, or one organization of it, as an archive.

use super::members::Moment;
use super::types;
use crate::{Ports, Store};
use civitas_kernel::{Error, OrganizationId, extended_data::is_blank};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use std::fmt::{self, Display};
use std::future::Future;
use std::io::{self, Write};
use time::OffsetDateTime;

/// How many rows are asked for at once.
pub(super) const PAGE: i64 = 500;

/// What is exported.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The primary host of the one organization; `None` for everything, system administrators and deployment-wide
    /// clients included.
    pub organization: Option<String>,
    /// Password hashes and digests of client secrets are written too.
    pub with_secrets: bool,
}

/// Why an export ended early. What was written until then is no archive.
#[derive(Debug)]
pub enum ExportError {
    /// No organization has this primary host.
    UnknownHost(String),
    /// The database failed.
    Store(Error),
    /// The output could not be written.
    Write(io::Error),
}

impl Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHost(host) => write!(f, "no organization has the host {host}"),
            Self::Store(error) => error.fmt(f),
            Self::Write(error) => write!(f, "the archive could not be written: {error}"),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<Error> for ExportError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Where rows go.
pub(super) struct Sink<'a> {
    output: &'a mut (dyn Write + Send),
    /// See [`ExportOptions::with_secrets`].
    pub(super) with_secrets: bool,
}

impl Sink<'_> {
    pub(super) fn write(&mut self, row: &Row) -> Result<(), ExportError> {
        let line = serde_json::to_string(row).map_err(|error| ExportError::Store(Error::internal(error)))?;
        writeln!(self.output, "{line}").map_err(ExportError::Write)
    }
}

/// Writes an archive that imports into an empty database of either engine (contract 10 §1). The `ref` of a record
/// is its id as text; a space's is `<kind>/<number>`. Rows are read in pages, so memory stays bounded.
///
/// Rows that other programs write meanwhile may be missing, and then what points at them does not import: export
/// while nothing writes.
///
/// # Errors
/// See [`ExportError`].
pub async fn export(
    store: &dyn Store,
    options: &ExportOptions,
    mut output: impl Write + Send,
) -> Result<(), ExportError> {
    let mut sink = Sink { output: &mut output, with_secrets: options.with_secrets };
    if let Some(host) = &options.organization {
        let found = store.organizations().find_by_host(&host.trim().to_lowercase()).await?;
        let id = found.ok_or_else(|| ExportError::UnknownHost(host.clone()))?;
        one(store, id, &mut sink).await?;
    } else {
        for kind in types::TYPES {
            kind.export_deployment_wide(store, &mut sink).await?;
        }
        let mut after = None;
        loop {
            let ids = store.organizations().ids(after, PAGE).await?;
            let Some(last) = ids.last() else { break };
            after = Some(*last);
            for id in ids {
                one(store, id, &mut sink).await?;
            }
        }
    }
    output.flush().map_err(ExportError::Write)
}

async fn one(
    ports: &dyn Ports,
    organization: OrganizationId,
    sink: &mut Sink<'_>,
) -> Result<(), ExportError> {
    for kind in types::TYPES {
        kind.export(ports, organization, sink).await?;
    }
    Ok(())
}

/// Hands every row to `write`, page by page; `page` answers the rows after an id.
pub(super) async fn every<I, T, F>(
    mut page: impl FnMut(Option<I>) -> F,
    mut write: impl FnMut(I, T) -> Result<(), ExportError>,
) -> Result<(), ExportError>
where
    I: Copy,
    F: Future<Output = Result<Vec<(I, T)>, Error>>,
{
    let mut after = None;
    loop {
        let rows = page(after).await?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(*last);
        for (id, row) in rows {
            write(id, row)?;
        }
    }
}

/// One line of an archive: its members in the order they were said, defaults left out.
pub(super) struct Row(Vec<(&'static str, Value)>);

impl Row {
    pub(super) fn new(kind: &'static str, id: impl Display) -> Self {
        Self(vec![("type", kind.into()), ("ref", id.to_string().into())])
    }

    /// A record of an organization.
    pub(super) fn of(organization: OrganizationId, kind: &'static str, id: impl Display) -> Self {
        Self::new(kind, id).with("organization", organization.to_string())
    }

    /// A member that is always written.
    pub(super) fn with(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.0.push((name, serde_json::to_value(value).unwrap_or_default()));
        self
    }

    /// A member that is written unless it is nothing: null, `""`, `[]`, `{}`, false.
    pub(super) fn unless_empty(self, name: &'static str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        if is_blank(&value) || value == false { self } else { self.with(name, value) }
    }

    /// A member that is written unless there is none.
    pub(super) fn some(self, name: &'static str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A time that may not have come.
    pub(super) fn time(self, name: &'static str, at: Option<OffsetDateTime>) -> Self {
        self.some(name, at.map(Moment))
    }

    /// When the row was made and last changed.
    pub(super) fn stamps(self, created_at: OffsetDateTime, updated_at: OffsetDateTime) -> Self {
        self.time("created_at", Some(created_at)).time("updated_at", Some(updated_at))
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
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
        let row = Row::of(OrganizationId(1), "user", 7)
            .with("nickname", "nora")
            .unless_empty("admin", false)
            .unless_empty("extended_data", json!({}))
            .unless_empty("weight", 0)
            .time("blocked_at", None);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, r#"{"type":"user","ref":"7","organization":"1","nickname":"nora","weight":0}"#);
    }

    #[tokio::test]
    async fn pages_follow_each_other_until_one_is_empty() {
        let rows = [(1, "a"), (2, "b"), (3, "c")];
        let mut seen = Vec::new();
        every(
            |after: Option<i32>| {
                let page =
                    rows.iter().copied().filter(|(id, _)| after.is_none_or(|a| *id > a)).take(2).collect();
                std::future::ready(Ok(page))
            },
            |id, row| {
                seen.push((id, row));
                Ok(())
            },
        )
        .await
        .unwrap();
        assert_eq!(seen, rows);
    }
}
