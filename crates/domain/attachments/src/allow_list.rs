//! The files that can be attached: extensions and detected media types (contract 07 B.5).

use crate::filename::extension;
use crate::{ContentError, StoredFile};
use civitas_kernel::FieldError;

/// The files that a kind of record accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowList {
    /// For records of participants.
    Participant,
    /// For records of administrators: office documents too.
    Admin,
}

const PARTICIPANT: &[&str] = &["jpg", "jpeg", "png", "webp", "pdf", "rtf", "txt"];
const ADMIN: &[&str] = &[
    "jpg", "jpeg", "png", "webp", "pdf", "rtf", "txt", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "ppx",
    "odt", "ott", "odf", "odg", "ods", "ots", "otg",
];

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";
const EXCEL: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const POWERPOINT: &str = "application/vnd.openxmlformats-officedocument.presentationml";
const TEXT: &str = "application/vnd.oasis.opendocument.text";
const SHEET: &str = "application/vnd.oasis.opendocument.spreadsheet";
const DRAWING: &str = "application/vnd.oasis.opendocument.graphics";
const FORMULA: &str = "application/vnd.oasis.opendocument.formula";

/// The media types that a file with this extension may have; see [`is_of`].
fn types_of(extension: &str) -> &'static [&'static str] {
    match extension {
        "jpg" | "jpeg" => &["image/jpeg"],
        "png" => &["image/png"],
        "webp" => &["image/webp"],
        "pdf" => &["application/pdf"],
        "rtf" => &["application/rtf", "text/rtf"],
        "txt" => &["text/plain"],
        "doc" => &["application/msword"],
        "docx" => &[WORD],
        "xls" => &["application/vnd.ms-excel"],
        "xlsx" => &[EXCEL],
        "ppt" => &["application/vnd.ms-powerpoint"],
        "pptx" | "ppx" => &[POWERPOINT],
        "odt" | "ott" => &[TEXT],
        "ods" | "ots" => &[SHEET],
        "odg" | "otg" => &[DRAWING],
        "odf" => &[FORMULA],
        _ => &[],
    }
}

/// Whether a media type is this one, or a kind of it: a document or template of OOXML, a template of `OpenDocument`.
/// Documents with macros have types of their own.
fn is_of(content_type: &str, own: &str) -> bool {
    content_type.strip_prefix(own).is_some_and(|kind| match own {
        WORD | EXCEL | POWERPOINT => kind.starts_with('.'),
        TEXT | SHEET | DRAWING | FORMULA => kind.is_empty() || kind.starts_with('-'),
        _ => kind.is_empty(),
    })
}

impl AllowList {
    /// The extensions, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Participant => PARTICIPANT,
            Self::Admin => ADMIN,
        }
    }

    /// Whether a file with this name can be accepted.
    pub fn has_extension_of(self, filename: &str) -> bool {
        extension(filename).is_some_and(|extension| self.extensions().contains(&extension.as_str()))
    }

    /// Why a file is refused; `None` when it is accepted. A detected type is only allowed behind an extension of its
    /// own.
    pub fn refusal(self, file: &StoredFile) -> Option<FieldError> {
        if !self.has_extension_of(&file.filename) {
            let allowed = self.extensions().join(", ");
            let text = format!("File extension is not allowed (allowed are {allowed})");
            return Some(FieldError::new("file", "extension_not_allowed", text));
        }
        let extension = extension(&file.filename).unwrap_or_default();
        if !types_of(&extension).iter().any(|own| is_of(&file.content_type, own)) {
            let text = "File content is not allowed for its extension";
            return Some(FieldError::new("file", "content_type_not_allowed", text));
        }
        file.fault.map(|fault| match fault {
            ContentError::ImageTooBig => {
                FieldError::new("file", "image_too_big", "File must be at most 8000 pixels wide and high")
            }
            ContentError::Undecodable => FieldError::new("file", "invalid", "File is invalid"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileState;
    use time::macros::datetime;

    fn file(filename: &str, content_type: &str) -> StoredFile {
        StoredFile {
            filename: filename.to_owned(),
            content_type: content_type.to_owned(),
            ..StoredFile::for_test(datetime!(2026-03-01 09:30 UTC), FileState::Stored)
        }
    }

    fn code(list: AllowList, file: &StoredFile) -> Option<String> {
        list.refusal(file).map(|error| error.code.into_owned())
    }

    #[test]
    fn each_extension_accepts_its_own_type_and_no_other() {
        for extension in ADMIN {
            let own = types_of(extension);
            assert!(!own.is_empty(), "{extension}");
            for content_type in own {
                let kind = if matches!(*content_type, WORD | EXCEL | POWERPOINT) { ".document" } else { "" };
                let sent = file(&format!("A.{extension}"), &format!("{content_type}{kind}"));
                assert_eq!(code(AllowList::Admin, &sent), None);
            }
            for strange in [
                "image/svg+xml",
                "image/gif",
                "image/bmp",
                "image/tiff",
                "image/avif",
                "image/heic",
                "image/x-icon",
                "text/html",
                "application/zip",
                "application/octet-stream",
                "application/vnd.ms-excel.sheet.macroenabled.12",
                "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
                "application/vnd.ms-word.document.macroenabled.12",
                "",
            ] {
                let refused = code(AllowList::Admin, &file(&format!("a.{extension}"), strange));
                assert_eq!(refused.as_deref(), Some("content_type_not_allowed"), "{extension} {strange}");
            }
        }
    }

    #[test]
    fn office_documents_are_for_administrators() {
        let sheet = file("a.xls", "application/vnd.ms-excel");
        assert_eq!(code(AllowList::Admin, &sheet), None);
        assert_eq!(code(AllowList::Participant, &sheet).as_deref(), Some("extension_not_allowed"));
        assert_eq!(code(AllowList::Participant, &file("A.PDF", "application/pdf")), None);
    }

    #[test]
    fn faults_of_images_have_their_codes() {
        for (fault, expected) in
            [(ContentError::ImageTooBig, "image_too_big"), (ContentError::Undecodable, "invalid")]
        {
            let image = StoredFile { fault: Some(fault), ..file("a.png", "image/png") };
            assert_eq!(code(AllowList::Participant, &image).as_deref(), Some(expected));
        }
    }
}
