//! An upload that a client requested (contract 07 B.6).

use civitas_kernel::records::Entity;
use civitas_kernel::text::hexadecimal;
use civitas_kernel::{ClientId, FileId, UploadId, random_key};
use ring::digest::{SHA256, digest};
use time::{Duration, OffsetDateTime};

/// How long bytes are accepted after the upload request.
pub const UPLOAD_WINDOW: Duration = Duration::minutes(15);
/// How long the uploaded file can be attached after the upload request.
pub const ATTACH_WINDOW: Duration = Duration::hours(24);

/// A requested upload. It is removed when its file is attached.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// The client that requested it, which alone may attach the file.
    pub client: ClientId,
    /// SHA-256 of the secret part of its signed id, in hexadecimal.
    pub digest: String,
    /// The name of the file.
    pub filename: String,
    /// The media type of the upload request.
    pub content_type: String,
    /// The exact length of the file in bytes.
    pub byte_size: i64,
    /// The MD5 of the file, in base64.
    pub checksum: String,
    /// The file, once its bytes arrived.
    pub file: Option<FileId>,
    /// When it was requested.
    pub created_at: OffsetDateTime,
}

/// The text that gives the right to send the bytes, and to attach the file once: `<number>--<64 hexadecimal digits>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedId {
    /// The upload.
    pub id: UploadId,
    /// 244 random bits. The store has only their digest.
    secret: String,
}

impl SignedId {
    /// A new secret and its digest.
    pub fn new_secret() -> (String, String) {
        let secret = random_key();
        let digest = digest_of(&secret);
        (secret, digest)
    }

    /// The signed id of an upload with this secret.
    pub fn new(id: UploadId, secret: String) -> Self {
        Self { id, secret }
    }

    /// Parses the text; `None` when it was not made here.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once("--")?;
        let is_number = id.len() <= 19 && id.bytes().all(|b| b.is_ascii_digit());
        let is_secret = secret.len() == 64 && secret.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let id = id.parse().ok().filter(|_| is_number && is_secret)?;
        Some(Self { id: UploadId(id), secret: secret.to_owned() })
    }

    /// The text itself.
    pub fn expose(&self) -> String {
        format!("{}--{}", self.id, self.secret)
    }

    /// Whether it is the signed id of this upload. Digests are compared, so the time tells nothing of the secret.
    pub fn matches(&self, upload: &Upload) -> bool {
        digest_of(&self.secret) == upload.digest
    }
}

fn digest_of(secret: &str) -> String {
    hexadecimal(digest(&SHA256, secret.as_bytes()).as_ref())
}

impl Upload {
    /// Whether bytes are accepted at this time.
    pub fn accepts_bytes(&self, now: OffsetDateTime) -> bool {
        now - UPLOAD_WINDOW < self.created_at
    }

    /// Whether the file can be attached at this time.
    pub fn is_attachable(&self, now: OffsetDateTime) -> bool {
        now - ATTACH_WINDOW < self.created_at
    }
}

impl Entity for Upload {
    type Id = UploadId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_of_the_form_of_signed_ids_are_parsed() {
        let (secret, _) = SignedId::new_secret();
        let signed = SignedId::new(UploadId(712), secret.clone());
        assert_eq!(SignedId::parse(&signed.expose()), Some(signed.clone()));
        let (upper, short) = (secret.to_uppercase(), &secret[1..]);
        for bad in [
            String::new(),
            "712".to_owned(),
            format!("712-{secret}"),
            format!("-712--{secret}"),
            format!("712--{short}"),
            format!("712--{secret}0"),
            format!("712--{upper}!"),
            format!("99999999999999999999--{secret}"),
            format!(" 712--{secret}"),
        ] {
            assert_eq!(SignedId::parse(&bad), None, "{bad}");
        }
    }
}
