//! What all records of one import share, and the interface of a record type.

use super::chunk::ImportLine;
use super::error::{ExportError, RecordError};
use super::files::{FileServices, ImportedFiles};
use super::ids::ArchiveIds;
use super::lines::LongTexts;
use super::output::ArchiveWriter;
use super::passwords::PreparedPassword;
use super::record::ArchiveRecord;
use super::refs::RefResolver;
use super::report::{ImportReport, RecordOutcome};
use async_trait::async_trait;
use civitas_accounts::Passwords;
use civitas_application::{EventCommitter, Ports};
use civitas_attachments::{ByteStream, FileStore, StoredFile};
use civitas_kernel::{Error, Locales, OrganizationId, Result};
use civitas_webhooks::{SecretCipher, TargetPolicy};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// What an import of webhook registrations needs.
#[derive(Clone, Copy)]
pub struct WebhookArchive<'a> {
    /// Creates and encrypts signing secrets.
    pub cipher: &'a dyn SecretCipher,
    /// Which callback addresses are allowed. Host names are not resolved.
    pub policy: &'a TargetPolicy,
}

/// Options of an import.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub struct ImportOptions<'a> {
    /// Does everything, then rolls back.
    pub dry_run: bool,
    /// Accepts hosts of one label, for deployments whose links begin with `http` (contract 03 §1.3).
    pub single_label_hosts: bool,
    /// The languages of the deployment. Texts in others are refused.
    pub locales: &'a Locales,
    /// The time of the import, in whole microseconds.
    pub now: OffsetDateTime,
    /// Renders the events of each created or changed record. `None` discards them.
    pub committer: Option<&'a EventCommitter>,
    /// Stores files. `None`: records with files are refused.
    pub files: Option<FileServices<'a>>,
    /// Stores webhook registrations. `None`: they are refused.
    pub webhooks: Option<WebhookArchive<'a>>,
    /// Accepts only records of the organization with this primary host, and the record that creates or changes it.
    pub into: Option<&'a str>,
    /// Accepts records with rights over the whole deployment: system administrators, deployment-wide API clients and
    /// their webhook registrations.
    pub allow_operators: bool,
    /// Accepts secrets of API clients that cannot have 128 bits of randomness.
    pub allow_weak_secrets: bool,
    /// Gives new records the ids that the archive brings, which must be free, and sets the id spaces past `id_floor` of
    /// its record `archive` before the first record (contract 13 §3.1). Otherwise both are ignored.
    pub keep_ids: bool,
    /// The number of records of each type that the archive has (contract 13 §8). Before the commit they are compared with
    /// the numbers of rows, and each record with its row; a difference ends the import. So does an organization that is
    /// known with another host: it comes from elsewhere. `None`: nothing is compared.
    pub expected: Option<&'a BTreeMap<&'a str, u64>>,
    /// The organization of `into` comes from another deployment, and is not served until its move has ended.
    pub is_moved: bool,
    /// Lists the ids of all records in the report, however many they are.
    pub list_all_ids: bool,
}

impl<'a> ImportOptions<'a> {
    /// Options of a quiet import at `now` of any organization, without operators, files and webhook registrations.
    pub fn new(locales: &'a Locales, now: OffsetDateTime) -> Self {
        Self {
            dry_run: false,
            single_label_hosts: false,
            locales,
            now,
            committer: None,
            files: None,
            webhooks: None,
            into: None,
            allow_operators: false,
            allow_weak_secrets: false,
            keep_ids: false,
            expected: None,
            is_moved: false,
            list_all_ids: false,
        }
    }
}

/// What all records of one import share.
pub(super) struct ImportContext<'a> {
    /// The ports of the transaction.
    pub(super) ports: &'a dyn Ports,
    pub(super) passwords: &'a dyn Passwords,
    /// The password of the current line, hashed.
    pub(super) password: Option<PreparedPassword>,
    pub(super) options: ImportOptions<'a>,
    pub(super) refs: RefResolver<'a>,
    pub(super) report: ImportReport,
    /// The ref of the current record.
    pub(super) reference: String,
    pub(super) ids: ArchiveIds,
    pub(super) files: ImportedFiles<'a>,
}

/// What an export needs besides the store.
#[derive(Clone, Copy)]
pub struct ExportServices<'a> {
    /// Stores the bytes of files.
    pub objects: &'a dyn FileStore,
    /// Decrypts the signing secrets of webhook registrations. Not used without secrets.
    pub cipher: &'a dyn SecretCipher,
}

/// What is exported: rows, and the bytes of files.
#[derive(Clone, Copy)]
pub(super) struct ExportSource<'a> {
    pub(super) ports: &'a dyn Ports,
    pub(super) services: ExportServices<'a>,
    /// Whether records have the ids of their rows.
    pub(super) with_ids: bool,
}

impl ExportSource<'_> {
    /// The bytes of a file.
    pub(super) async fn read(&self, file: &StoredFile) -> Result<ByteStream> {
        let bytes = self.services.objects.read(&file.object, 0..file.byte_size.unsigned_abs()).await?;
        bytes.ok_or_else(|| Error::internal(format!("the file store has no object {}", file.object)))
    }
}

/// The result of the import of one record.
#[derive(Debug)]
pub(super) struct ImportedRecord {
    /// The id that is stored for the ref; `<kind>/<number>` for a space.
    pub(super) id: String,
    /// The number clients see, if it is not the one in `id`.
    pub(super) number: Option<i64>,
    pub(super) outcome: RecordOutcome,
}

/// A record type. An instance serves one import or one export and may cache rows for that time.
#[async_trait]
pub(super) trait RecordType: Send + Sync {
    /// The value of `type`.
    fn name(&self) -> &'static str;

    /// Checks what needs no database: the members and their types, text lengths, languages, the size of extended data,
    /// and whether the record may be imported.
    fn check_fields(
        &self,
        record: &ArchiveRecord,
        options: ImportOptions<'_>,
        long_texts: &LongTexts,
    ) -> Result<(), RecordError>;

    /// Adds a row, changes an existing one, or leaves it as it is.
    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: ArchiveRecord,
    ) -> Result<ImportedRecord, RecordError>;

    /// Adds the rows of these new records with few statements. `None`: nothing was written, because one of them is
    /// invalid or exists already, or because rows of this type are added one by one; then [`Self::import`] imports each,
    /// or returns its error.
    async fn import_batch(
        &mut self,
        _: &mut ImportContext<'_>,
        _lines: &[ImportLine],
    ) -> Result<Option<Vec<ImportedRecord>>, RecordError> {
        Ok(None)
    }

    /// Whether the rows of these records, which were imported, are as the records say. `false`: a row is not, or rows of
    /// this type are read one by one; then [`Self::import`] of each decides.
    async fn are_stored(
        &mut self,
        _: &mut ImportContext<'_>,
        _lines: &[ImportLine],
    ) -> Result<bool, RecordError> {
        Ok(false)
    }

    /// Writes what follows from all records. Called once, after the last.
    async fn finish(&mut self, _: &mut ImportContext<'_>) -> Result<(), RecordError> {
        Ok(())
    }

    /// Writes the rows of an organization; `None`: the rows that belong to no organization.
    async fn export(
        &mut self,
        source: ExportSource<'_>,
        organization: Option<OrganizationId>,
        output: &mut ArchiveWriter<'_>,
    ) -> Result<(), ExportError>;

    /// Drops cached rows that depend on rows of the type `name`. Called after each change of such a row.
    fn invalidate(&mut self, _name: &str) {}
}
