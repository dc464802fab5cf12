//! Requesting an upload, and receiving its bytes (contract 07 B.6).

use crate::filename::{MAX_FILENAME_BYTES, sanitize};
use crate::{AllowList, FileRegistry, FileState, SignedId, Upload, UploadStore, WRITE_ATTACHMENTS};
use async_trait::async_trait;
use civitas_kernel::limits::{MAX_LINE_CHARS, is_longer};
use civitas_kernel::records::{Change, Records};
use civitas_kernel::{CommandHandler, Ctx, Error, FileId, OrganizationId, Result, UploadId, commands};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The media type of an upload without one.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Requests an upload. [`StageUpload::new`] checks the members.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StageUpload {
    filename: String,
    content_type: String,
    byte_size: i64,
    checksum: String,
}

/// An upload that was requested.
#[derive(Debug, Clone, PartialEq)]
pub struct StagedUpload {
    /// The right to send its bytes and to attach its file.
    pub signed: SignedId,
    /// The upload.
    pub upload: Upload,
}

/// The members of an upload request as they were sent; `byte_size` is `None` when it is not an integer.
#[derive(Debug, Clone, Copy)]
pub struct UploadRequest<'a> {
    /// The name of the file.
    pub filename: &'a str,
    /// Its media type.
    pub content_type: Option<&'a str>,
    /// Its length in bytes.
    pub byte_size: Option<i64>,
    /// Its MD5, in padded base64.
    pub checksum: &'a str,
}

impl StageUpload {
    /// Checks an upload request. `limit` is the most bytes of a file.
    ///
    /// # Errors
    /// `Rejected` with the texts of contract 07 B.6.
    pub fn new(sent: UploadRequest<'_>, limit: i64) -> Result<Self> {
        let filename = sanitize(sent.filename);
        let content_type = sent.content_type.filter(|text| !text.is_empty()).unwrap_or(UNKNOWN_TYPE);
        let is_name = !filename.is_empty()
            && sent.filename.len() <= MAX_FILENAME_BYTES
            && AllowList::Admin.has_extension_of(&filename);
        if !is_name {
            return Err(Error::rejected("filename is invalid"));
        }
        let byte_size = sent.byte_size.filter(|size| (1..=limit).contains(size));
        let byte_size =
            byte_size.ok_or_else(|| Error::rejected(format!("byte_size must be between 1 and {limit}")))?;
        if !is_md5(sent.checksum) {
            return Err(Error::rejected("checksum must be a base64 MD5 digest"));
        }
        if is_longer(content_type, MAX_LINE_CHARS) || !content_type.bytes().all(|b| matches!(b, b' '..=b'~'))
        {
            return Err(Error::rejected("content_type is invalid"));
        }
        let (content_type, checksum) = (content_type.to_owned(), sent.checksum.to_owned());
        Ok(Self { filename, content_type, byte_size, checksum })
    }

    /// The length of the file in bytes.
    pub fn byte_size(&self) -> u64 {
        self.byte_size.unsigned_abs()
    }
}

/// Whether a text is the standard padded base64 of 16 bytes.
fn is_md5(text: &str) -> bool {
    let Some(digits) = text.strip_suffix("==").filter(|digits| digits.len() == 22) else { return false };
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    // The last of the 22 digits has four unused bits, which are zero.
    digits.bytes().all(is_digit) && digits.ends_with(['A', 'Q', 'g', 'w'])
}

commands! {
    StageUpload: "attachments#direct_upload", WRITE_ATTACHMENTS => StagedUpload;
}

/// Writes uploads.
pub struct UploadWrites<'a> {
    /// The store of uploads.
    pub uploads: &'a dyn UploadStore,
    /// The rows of files.
    pub files: &'a dyn FileRegistry,
}

#[async_trait]
impl CommandHandler<StageUpload> for UploadWrites<'_> {
    async fn handle(&self, ctx: &Ctx, command: StageUpload) -> Result<StagedUpload> {
        ctx.require(&WRITE_ATTACHMENTS)?;
        let StageUpload { filename, content_type, byte_size, checksum } = command;
        let (secret, digest) = SignedId::new_secret();
        let upload = Upload {
            client: ctx.caller.client,
            digest,
            filename,
            content_type,
            byte_size,
            checksum,
            file: None,
            created_at: ctx.now,
        };
        let id = self.uploads.add(ctx.organization, &upload).await?;
        Ok(StagedUpload { signed: SignedId::new(id, secret), upload })
    }
}

/// What the head of a request says about the bytes it sends.
#[derive(Debug, Clone, Copy, Default)]
pub struct UploadHeaders<'a> {
    /// `Content-Length`.
    pub length: Option<u64>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Content-MD5`.
    pub md5: Option<&'a str>,
}

impl Upload {
    /// Checks the head of a request before its bytes are read. Parameters of types are not compared; `*/*`, which clients
    /// send that are generated from the OpenAPI document, names no type.
    ///
    /// # Errors
    /// `Invalid` as unprocessable.
    pub fn check_head(&self, head: UploadHeaders<'_>) -> Result<()> {
        if head.length.is_some_and(|length| i64::try_from(length) != Ok(self.byte_size)) {
            return Err(wrong_length_error());
        }
        let requested = without_parameters(&self.content_type);
        let sent = head.content_type.map(without_parameters).filter(|sent| !matches!(*sent, "" | "*/*"));
        if sent.is_some_and(|sent| !sent.eq_ignore_ascii_case(requested)) {
            return Err(Error::unprocessable("content_type", "mismatch", "Content-Type mismatch"));
        }
        if head.md5.is_some_and(|sent| sent != self.checksum) {
            return Err(wrong_checksum());
        }
        Ok(())
    }

    /// Checks the bytes: their number, and their MD5 in base64.
    ///
    /// # Errors
    /// `Invalid` as unprocessable.
    pub fn check_bytes(&self, length: u64, md5: &str) -> Result<()> {
        if i64::try_from(length) != Ok(self.byte_size) {
            return Err(wrong_length_error());
        }
        if md5 == self.checksum { Ok(()) } else { Err(wrong_checksum()) }
    }
}

/// `text/plain` of `text/plain; charset=utf-8`.
fn without_parameters(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// The error of bytes that are more or fewer than the upload request says.
pub fn wrong_length_error() -> Error {
    Error::unprocessable("byte_size", "mismatch", "Content length mismatch")
}

fn wrong_checksum() -> Error {
    Error::unprocessable("checksum", "mismatch", "Checksum mismatch")
}

impl UploadWrites<'_> {
    /// The upload of a signed id, if it accepts bytes.
    ///
    /// # Errors
    /// `NotFound` for any other text, and when the time is over.
    pub async fn find_open(
        &self,
        organization: OrganizationId,
        signed: &str,
        now: OffsetDateTime,
    ) -> Result<(UploadId, Upload)> {
        let signed = SignedId::parse(signed).ok_or(Error::NotFound)?;
        let upload = self.uploads.find(organization, signed.id).await?;
        let upload = upload.filter(|upload| signed.matches(upload) && upload.accepts_bytes(now));
        upload.map(|upload| (signed.id, upload)).ok_or(Error::NotFound)
    }

    /// Makes a pending file, whose bytes are stored, the file of an upload. The file of an earlier request is removed.
    /// Requires a transaction.
    ///
    /// # Errors
    /// `NotFound` when the upload was attached or removed since.
    pub async fn complete(&self, organization: OrganizationId, id: UploadId, file: FileId) -> Result<()> {
        let upload = self.uploads.find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
        if let Some(former) = upload.file {
            set_state(self.files, organization, former, FileState::Removed).await?;
        }
        set_state(self.files, organization, file, FileState::Stored).await?;
        let change = Change { after: Upload { file: Some(file), ..upload.clone() }, before: upload };
        self.uploads.save(organization, id, &change).await
    }
}

/// Changes the state of a file, unless it was removed meanwhile.
///
/// # Errors
/// `NotFound` when it was.
pub(crate) async fn set_state(
    files: &dyn FileRegistry,
    organization: OrganizationId,
    id: FileId,
    state: FileState,
) -> Result<()> {
    let before = Records::find_for_update(files, organization, id).await?;
    let before = before.filter(|file| file.state != FileState::Removed).ok_or(Error::NotFound)?;
    let mut after = before.clone();
    after.state = state;
    if after == before {
        return Ok(());
    }
    files.save(organization, id, &Change { before, after }).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockFileRegistry, MockUploadStore};
    use civitas_kernel::ClientId;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    /// Of `hello world` and a line feed.
    const MD5: &str = "b1kCrCNwJL3QwXbLkwY9xA==";

    fn upload_request() -> UploadRequest<'static> {
        UploadRequest { filename: "a.txt", content_type: None, byte_size: Some(12), checksum: MD5 }
    }

    #[test]
    fn an_upload_request_is_checked_member_by_member() {
        let refusal = |sent| StageUpload::new(sent, 100).unwrap_err().description().into_owned();
        let read = StageUpload::new(upload_request(), 100).unwrap();
        assert_eq!((read.filename.as_str(), read.content_type.as_str()), ("a.txt", UNKNOWN_TYPE));
        let long = format!("{}.txt", "x".repeat(252));
        for filename in ["", "..", "/", "a", "a.exe", "a.svg", ".txt", &long] {
            assert_eq!(refusal(UploadRequest { filename, ..upload_request() }), "filename is invalid");
        }
        for byte_size in [None, Some(0), Some(-1), Some(101), Some(i64::MAX)] {
            let sent = UploadRequest { byte_size, ..upload_request() };
            assert_eq!(refusal(sent), "byte_size must be between 1 and 100");
        }
        for byte_size in [1, 100] {
            assert!(
                StageUpload::new(UploadRequest { byte_size: Some(byte_size), ..upload_request() }, 100)
                    .is_ok()
            );
        }
        for checksum in [
            "",
            "x",
            "b1kCrCNwJL3QwXbLkwY9xA",
            "b1kCrCNwJL3QwXbLkwY9xA=",
            "b1kCrCNwJL3QwXbLkwY9xB==",
            "b1kCrCNwJL3QwXbLkwY9x-==",
            "6f5902ac237024bdd0c176cb93063dc4",
        ] {
            let sent = UploadRequest { checksum, ..upload_request() };
            assert_eq!(refusal(sent), "checksum must be a base64 MD5 digest", "{checksum}");
        }
    }

    fn upload(digest: String) -> Upload {
        Upload {
            client: ClientId(1),
            digest,
            filename: "a.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            byte_size: 12,
            checksum: MD5.to_owned(),
            file: None,
            created_at: NOW,
        }
    }

    #[test]
    fn the_head_and_the_bytes_must_be_those_requested() {
        let upload = upload(String::new());
        assert!(upload.check_head(UploadHeaders::default()).is_ok());
        let all = UploadHeaders { length: Some(12), content_type: Some("TEXT/plain"), md5: Some(MD5) };
        assert!(upload.check_head(all).is_ok());
        for wrong in [
            UploadHeaders { length: Some(11), ..all },
            UploadHeaders { length: Some(u64::MAX), ..all },
            UploadHeaders { content_type: Some("image/png"), ..all },
            UploadHeaders { md5: Some("x"), ..all },
        ] {
            assert!(upload.check_head(wrong).is_err(), "{wrong:?}");
        }
        assert!(upload.check_bytes(12, MD5).is_ok());
        assert!(upload.check_bytes(11, MD5).is_err());
        let refused = upload.check_bytes(12, "AAAAAAAAAAAAAAAAAAAAAA==").unwrap_err();
        assert_eq!(refused.description(), "Checksum mismatch");
    }

    #[test]
    fn types_are_compared_without_parameters_and_any_type_names_none() {
        let is_taken = |requested: &str, sent: &str| {
            let upload = Upload { content_type: requested.to_owned(), ..upload(String::new()) };
            upload.check_head(UploadHeaders { content_type: Some(sent), ..UploadHeaders::default() }).is_ok()
        };
        for sent in
            ["text/plain;charset=utf-8", "text/plain; charset=UTF-8", "Text/Plain ;format=flowed", "*/*", ""]
        {
            assert!(is_taken("text/plain", sent), "{sent}");
            assert!(is_taken("text/plain; charset=iso-8859-1", sent), "{sent}");
        }
        for sent in ["text/html;charset=utf-8", "text", "text/*", "application/octet-stream", "?"] {
            assert!(!is_taken("text/plain", sent), "{sent}");
        }
    }

    #[tokio::test]
    async fn an_upload_is_open_for_a_quarter_of_an_hour_and_for_its_own_signed_id() {
        let (secret, digest) = SignedId::new_secret();
        let mut uploads = MockUploadStore::new();
        uploads.expect_find().returning(move |_, id| Ok((id == UploadId(7)).then(|| upload(digest.clone()))));
        let files = MockFileRegistry::new();
        let writes = UploadWrites { uploads: &uploads, files: &files };
        let find = async |signed: &str, now| writes.find_open(OrganizationId(1), signed, now).await.is_ok();
        let own = format!("7--{secret}");
        assert!(find(&own, NOW).await);
        assert!(find(&own, NOW + Duration::minutes(15) - Duration::SECOND).await);
        assert!(!find(&own, NOW + Duration::minutes(15)).await);
        assert!(!find(&format!("8--{secret}"), NOW).await, "another upload");
        assert!(!find(&format!("7--{}", SignedId::new_secret().0), NOW).await, "another secret");
        assert!(!find("7", NOW).await);
    }

    #[tokio::test]
    async fn sending_again_replaces_the_file_and_a_file_that_was_removed_is_not_used() {
        let mut uploads = MockUploadStore::new();
        let former = Upload { file: Some(FileId(1)), ..upload(String::new()) };
        uploads.expect_find_for_update().returning(move |_, _| Ok(Some(former.clone())));
        uploads.expect_save().once().returning(|_, _, _| Ok(()));
        let mut files = MockFileRegistry::new();
        files.expect_find_for_update().returning(|_, id| {
            let state = match id {
                FileId(1) => FileState::Stored,
                FileId(2) => FileState::Pending,
                _ => FileState::Removed,
            };
            Ok(Some(crate::StoredFile::for_test(NOW, state)))
        });
        files.expect_save().returning(|_, id, change| {
            let expected = if id == FileId(1) { FileState::Removed } else { FileState::Stored };
            assert_eq!(change.after.state, expected);
            Ok(())
        });
        let writes = UploadWrites { uploads: &uploads, files: &files };
        writes.complete(OrganizationId(1), UploadId(7), FileId(2)).await.unwrap();
        let late = writes.complete(OrganizationId(1), UploadId(7), FileId(3)).await;
        assert!(matches!(late, Err(Error::NotFound)));
    }
}
