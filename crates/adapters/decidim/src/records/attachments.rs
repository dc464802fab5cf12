//! Sheet 13 §5.12: `attachment_collection`, `attachment`, and the bytes of files.

use super::{ExtractionRun, Result, Row, each_row, kind_of, manifest_of, reference, write_row_record};
use crate::options::SourceFiles;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_attachments::is_web_address;
use futures_util::TryStreamExt;
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const ATTACHMENT: &str = "attachment";
const COLLECTION: &str = "attachment_collection";

/// The members that give a record its file, or the code why it has none.
type Content = std::result::Result<Map<String, Value>, &'static str>;

/// Attachments with their newest file.
pub(super) const FILES: &str = "SELECT DISTINCT ON (a.id) a.*, b.key, b.filename, b.content_type AS blob_type, \
         b.byte_size, b.checksum, b.service_name \
     FROM decidim_attachments a \
     LEFT JOIN active_storage_attachments s ON s.record_type = 'Decidim::Attachment' AND s.name = 'file' \
         AND s.record_id = a.id \
     LEFT JOIN active_storage_blobs b ON b.id = s.blob_id \
     ORDER BY a.id, s.id DESC";

/// Without the files of responses that exist: they are members of these. `is_of_same`: the collection is one of the same
/// record.
fn attachments_statement() -> String {
    format!(
        "SELECT t.*, c.collection_for_type = t.attached_to_type AND c.collection_for_id = t.attached_to_id AS is_of_same \
         FROM ({FILES}) t \
         LEFT JOIN decidim_attachment_collections c ON c.id = t.attachment_collection_id \
         LEFT JOIN decidim_forms_responses r ON r.id = t.attached_to_id \
             AND t.attached_to_type IN ('Decidim::Forms::Response', 'Decidim::Forms::Answer') \
         WHERE r.id IS NULL ORDER BY t.id"
    )
}

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    let collections = "SELECT * FROM decidim_attachment_collections ORDER BY id";
    each_row(run, "decidim_attachment_collections", collections, collection).await?;
    let mut rows = run.source.rows("decidim_attachments", &attachments_statement()).await?;
    while let Some(row) = rows.next().await? {
        attachment(run, &row).await?;
    }
    Ok(())
}

fn collection(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, attached_to)) = attached_to(run, row, COLLECTION, "collection_for")? else { return Ok(()) };
    write_row_record(run, COLLECTION, row, of, json!({ "attached_to": attached_to }))
}

async fn attachment(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, attached_to)) = attached_to(run, row, ATTACHMENT, "attached_to")? else { return Ok(()) };
    let content = match row.filled("link").map(str::trim) {
        Some(link) if is_web_address(link) => Ok([("link".to_owned(), link.into())].into_iter().collect()),
        Some(_) => Err("W-FILE"),
        None => content(run, row).await?,
    };
    let mut members = match content {
        Ok(content) => content,
        Err(code) => return run.drop_to_residue(ATTACHMENT, row, Some(of), code),
    };
    let collection = row.int("attachment_collection_id").filter(|_| row.flag("is_of_same"));
    let collection = collection.filter(|id| run.is_imported(COLLECTION, Some(*id), of));
    if collection.is_none() {
        run.write_unmapped_columns(row, of, &["attachment_collection_id"])?;
    }
    members.insert("attached_to".to_owned(), attached_to);
    members.insert("collection".to_owned(), reference(collection));
    write_row_record(run, ATTACHMENT, row, of, members.into())
}

/// The organization of a row, and its member `attached_to`. `None`: it is left out. `columns`: the begin of the names of the
/// columns with the class and the id of what it is attached to.
fn attached_to(
    run: &mut ExtractionRun<'_>,
    row: &Row,
    kind: &'static str,
    columns: &str,
) -> Result<Option<(i64, Value)>> {
    let (class, id) = (row.str(&format!("{columns}_type")), row.int(&format!("{columns}_id")));
    let (holder, is_space) = (kind_of(class), !manifest_of(class).is_empty());
    let is_holder = is_space || ["proposal", "meeting", "post"].contains(&holder);
    if !is_holder && (holder, kind) != ("organization", ATTACHMENT) {
        let is_of_response = ["Decidim::Forms::Response", "Decidim::Forms::Answer"].contains(&class);
        run.counts(None, kind).source += 1;
        run.drop_to_residue(kind, row, None, if is_of_response { "W-ORPHAN" } else { "W-PARENT" })?;
        return Ok(None);
    }
    let Some(of) = run.organization_of(kind, row, holder, id)? else { return Ok(None) };
    let id = id.unwrap_or_default();
    let attached_to = if is_space {
        json!({ "type": "space", "ref": format!("{holder}/{id}") })
    } else {
        json!({ "type": holder, "ref": id.to_string() })
    };
    Ok(Some((of, attached_to)))
}

/// The members of a record that give it a file, or the code why it has none. In the first pass the bytes are only read.
/// S-FILES without a store.
pub(super) async fn content(run: &mut ExtractionRun<'_>, row: &Row) -> Result<Content> {
    let content = read(run, row).await?;
    if content.is_ok() {
        run.files.0 += 1;
        run.files.1 += size(row);
    } else {
        run.files.2 += 1;
    }
    Ok(content)
}

async fn read(run: &mut ExtractionRun<'_>, row: &Row) -> Result<Content> {
    let (key, service) = (row.str("key"), row.str("service_name"));
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if key.is_empty() || !key.bytes().all(is_key) || size(row) == 0 {
        return Ok(Err("W-FILE"));
    }
    if is_vector_image(row.str("filename")) || is_vector_image(row.str("blob_type")) {
        return Ok(Err("W-FILERULE"));
    }
    let options = run.options;
    if options.without_files.contains(service) {
        return Ok(Err("W-FILE"));
    }
    let mut members = Map::new();
    members.insert("filename".to_owned(), row.get("filename").clone());
    members.insert("content_type".to_owned(), row.get("blob_type").clone());
    let Some(files) = options.files.get(service) else {
        let text = format!(
            "the service \"{service}\" has files (use --files {service}=URL or --without-files {service})"
        );
        run.codes.add_stop("S-FILES", &text);
        return Ok(Ok(members));
    };
    let is_complete = match &options.files_directory {
        _ if run.is_plan() => copy(files, row, &mut io::sink()).await?,
        Some(directory) => {
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            members.insert("path".to_owned(), format!("{name}/{key}").into());
            copy(files, row, &mut create(directory, key)?).await?
        }
        None => {
            let mut bytes = Vec::new();
            let is_complete = copy(files, row, &mut bytes).await?;
            members.insert("data".to_owned(), STANDARD.encode(bytes).into());
            is_complete
        }
    };
    Ok(if is_complete { Ok(members) } else { Err("W-FILE") })
}

/// A new file of the directory, mode 0600: files are personal data.
fn create(directory: &Path, key: &str) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(directory.join(key))
}

/// Copies the bytes of a file. Whether they are all there and are those of the row.
async fn copy(files: &SourceFiles, row: &Row, out: &mut (dyn Write + Send)) -> Result<bool> {
    let (key, size) = (row.str("key"), size(row));
    let name = match (key.get(..2), key.get(2..4)) {
        (Some(first), Some(second)) if files.nested => format!("{first}/{second}/{key}"),
        _ => key.to_owned(),
    };
    // One byte more than there should be.
    let mut bytes = match files.store.read(&name, 0..size + 1).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(false),
        // A file of a disk that cannot be read, or is empty.
        Err(_) if files.nested => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let (mut md5, mut length) = (Md5::new(), 0);
    while let Some(chunk) = bytes.try_next().await? {
        md5.update(&chunk);
        length += chunk.len() as u64;
        out.write_all(&chunk)?;
    }
    let digest = STANDARD.encode(md5.finalize());
    Ok(length == size && row.filled("checksum").is_none_or(|checksum| checksum == digest))
}

/// The length that a file should have, in bytes.
fn size(row: &Row) -> u64 {
    row.int("byte_size").and_then(|size| u64::try_from(size).ok()).unwrap_or_default()
}

/// Whether a name or a type is that of an SVG image, which can hold scripts.
fn is_vector_image(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.starts_with("image/svg") || [".svg", ".svgz"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use civitas_attachments::{ByteStream, FileStore, StoredObject};
    use futures_util::stream::{self, BoxStream, StreamExt};
    use std::ops::Range;
    use std::sync::Arc;
    use std::time::Duration;

    /// A disk service with one file.
    struct Disk;

    #[async_trait]
    impl FileStore for Disk {
        async fn put(&self, _: &str, _: civitas_attachments::FileContent) -> civitas_kernel::Result<()> {
            Ok(())
        }

        async fn read(&self, name: &str, _: Range<u64>) -> civitas_kernel::Result<Option<ByteStream>> {
            let bytes = stream::iter([Ok("hello ".into()), Ok("world\n".into())]).boxed();
            Ok((name == "r1/no/r1notes").then_some(bytes))
        }

        async fn delete(&self, _: &str) -> civitas_kernel::Result<()> {
            Ok(())
        }

        fn list(&self, _: &str) -> BoxStream<'static, civitas_kernel::Result<StoredObject>> {
            stream::empty().boxed()
        }

        async fn remove_incomplete(&self, _: Duration) -> civitas_kernel::Result<u64> {
            Ok(0)
        }

        async fn ready(&self) -> civitas_kernel::Result<()> {
            Ok(())
        }
    }

    async fn copied(key: &str, byte_size: u64, checksum: Option<&str>) -> bool {
        let files = SourceFiles { store: Arc::new(Disk), nested: true };
        let columns = json!({ "key": key, "byte_size": byte_size, "checksum": checksum });
        let row = Row { table: "decidim_attachments", columns: columns.as_object().unwrap().clone() };
        let mut bytes = Vec::new();
        let is_complete = copy(&files, &row, &mut bytes).await.unwrap();
        is_complete && bytes == b"hello world\n"
    }

    #[tokio::test]
    async fn a_file_has_the_size_and_the_digest_of_its_row() {
        assert!(copied("r1notes", 12, Some("b1kCrCNwJL3QwXbLkwY9xA==")).await);
        assert!(copied("r1notes", 12, None).await, "Decidim 0.31 may have no digest");
        assert!(!copied("r1notes", 12, Some("AAAAAAAAAAAAAAAAAAAAAA==")).await);
        assert!(!copied("r1notes", 13, None).await && !copied("r1notes", 11, None).await);
        assert!(!copied("r1missing", 12, None).await);
    }

    #[test]
    fn vector_images_are_recognised_by_name_and_type() {
        assert!(is_vector_image("Logo.SVG") && is_vector_image("image/svg+xml"));
        assert!(!is_vector_image("photo.PNG") && !is_vector_image("image/png"));
    }
}
