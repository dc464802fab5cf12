//! Options of imports and exports in tests.

use crate::files_in_memory;
use civitas_archive::{ExportServices, ImportOptions, WebhookArchive};
use civitas_kernel::Locales;
use civitas_tokens::{SECRET_BYTES, SecretKeys, WebhookCipher};
use civitas_webhooks::TargetPolicy;
use std::sync::LazyLock;
use time::OffsetDateTime;

static LOCALES: LazyLock<Locales> = LazyLock::new(Locales::standard);
static CIPHER: LazyLock<WebhookCipher> =
    LazyLock::new(|| WebhookCipher::of(&SecretKeys::one([7; SECRET_BYTES])));
static POLICY: LazyLock<TargetPolicy> = LazyLock::new(TargetPolicy::default);

/// Options of a quiet import that accepts all records and short secrets, with files in memory.
pub fn import_options(now: OffsetDateTime) -> ImportOptions<'static> {
    ImportOptions {
        files: Some(files_in_memory()),
        webhooks: Some(WebhookArchive { cipher: &*CIPHER, policy: &POLICY }),
        allow_operators: true,
        allow_weak_secrets: true,
        ..ImportOptions::new(&LOCALES, now)
    }
}

/// The services of an export of what [`import_options`] imports.
pub fn export_services() -> ExportServices<'static> {
    ExportServices { objects: files_in_memory().objects, cipher: &*CIPHER }
}
