//! Export: writes the database, or one organization of it, as an archive.

use super::context::{ExportServices, ExportSource, RecordType};
use super::error::ExportError;
use super::output::{ArchiveWriter, PAGE};
use super::types;
use civitas_application::Store;
use civitas_kernel::OrganizationId;
use std::io::Write;

/// What is exported.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The primary host of one organization. `None` exports everything, with system administrators and
    /// deployment-wide clients.
    pub organization: Option<String>,
    /// Includes password hashes, digests of client secrets and signing secrets of webhook registrations.
    pub with_secrets: bool,
    /// Includes the ids, for an import that keeps them.
    pub with_ids: bool,
}

/// Writes an archive that can be imported into an empty database of either engine (contract 10 §1). The `ref` of a
/// record is its id as text; the `ref` of a space is `<kind>/<number>`. Rows are read in pages, so memory is
/// bounded.
///
/// Rows that are written during the export may be missing; then records that refer to them cannot be imported.
///
/// # Errors
/// See [`ExportError`].
pub async fn export(
    store: &dyn Store,
    services: ExportServices<'_>,
    options: &ExportOptions,
    mut writer: impl Write + Send,
) -> Result<(), ExportError> {
    let mut output = ArchiveWriter::new(&mut writer, options.with_secrets);
    let mut types = types::all_record_types();
    let source = ExportSource { ports: store, services, with_ids: options.with_ids };
    if let Some(host) = &options.organization {
        let found = store.organizations().find_by_host(&host.trim().to_lowercase()).await?;
        let id = found.ok_or_else(|| ExportError::UnknownHost(host.clone()))?;
        export_rows(source, &mut types, Some(id), &mut output).await?;
    } else {
        export_rows(source, &mut types, None, &mut output).await?;
        let mut after = None;
        loop {
            let ids = store.organizations().ids(after, PAGE).await?;
            let Some(last) = ids.last() else { break };
            after = Some(*last);
            for id in ids {
                export_rows(source, &mut types, Some(id), &mut output).await?;
            }
        }
    }
    writer.flush().map_err(ExportError::Write)
}

/// Writes the rows of one organization; `None`: the rows that belong to no organization.
pub(super) async fn export_rows(
    source: ExportSource<'_>,
    types: &mut [Box<dyn RecordType>],
    organization: Option<OrganizationId>,
    output: &mut ArchiveWriter<'_>,
) -> Result<(), ExportError> {
    for kind in types {
        kind.export(source, organization, output).await?;
    }
    Ok(())
}
