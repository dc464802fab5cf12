//! Options of imports and exports in tests, and lines of archives.

use crate::files_in_memory;
use civitas_archive::{ExportServices, ImportOptions, WebhookArchive};
use civitas_kernel::Locales;
use civitas_tokens::{SECRET_BYTES, SecretKeys, WebhookCipher};
use civitas_webhooks::TargetPolicy;
use serde_json::{Value, json};
use std::sync::LazyLock;
use time::OffsetDateTime;

static LOCALES: LazyLock<Locales> = LazyLock::new(Locales::standard);
static CIPHER: LazyLock<WebhookCipher> =
    LazyLock::new(|| WebhookCipher::new(&SecretKeys::single([7; SECRET_BYTES])));
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

/// Lines of published proposals in a component, titled `Proposal number <0…>`, under the refs `n0`, `n1` and so on. Number
/// `n` is of day `1 + n % 28` of February 2025, at hour `n / 28 % 24`. `edit` changes the line of a number.
pub fn numbered_proposals(
    organization: &str,
    component: &str,
    count: i64,
    edit: impl Fn(i64, &mut Value),
) -> String {
    let line = |n: i64| {
        let published_at = format!("2025-02-{:02}T{:02}:00:00Z", 1 + n % 28, n / 28 % 24);
        let mut line = json!({"type": "proposal", "ref": format!("n{n}"), "organization": organization,
            "component": component, "title": {"en": format!("Proposal number {n}")},
            "body": {"en": "We would like to see this done before next summer."}, "published_at": published_at});
        edit(n, &mut line);
        format!("{line}\n")
    };
    (0..count).map(line).collect()
}
