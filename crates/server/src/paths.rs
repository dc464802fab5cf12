//! Files that the operator names: where links lead, and errors with the path and, where a permission is missing, the owner.

use civitas_kernel::Error;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The error with the path of its file.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn with_path(path: &Path, error: io::Error) -> io::Error {
    let owner = if error.kind() == ErrorKind::PermissionDenied { owner_text(path) } else { String::new() };
    io::Error::new(error.kind(), format!("{}: {error}{owner}", path.display()))
}

/// The same for the error of an adapter that opens this path.
pub(crate) fn adapter_error_with_path(path: &Path, error: Error) -> Error {
    let Error::Unavailable(cause) = error else { return error };
    Error::Unavailable(cause.downcast().map_or_else(|other| other, |cause| with_path(path, *cause).into()))
}

/// Who owns the path, or what can be seen above it, and who this process is; begins with a colon.
pub(crate) fn owner_text(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_default();
    let seen = path.ancestors().find_map(|path| Some((path.display(), fs::metadata(path).ok()?)));
    seen.map_or_else(String::new, |(seen, found)| {
        let (owner, mode, own) = (found.uid(), found.mode() & 0o7777, rustix::process::geteuid());
        format!(": {seen} belongs to user {owner} (mode {mode:03o}), civitas runs as user {own}")
    })
}

/// The text of a key or a certificate. It must begin with the first byte: some editors write a byte order mark before.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let bytes = fs::read(path).map_err(|error| with_path(path, error))?;
    if marks.iter().any(|mark| bytes.starts_with(mark)) {
        let text = "it begins with a byte order mark: save it as UTF-8 without one";
        return Err(with_path(path, io::Error::new(ErrorKind::InvalidData, text)));
    }
    Ok(bytes)
}

/// The file that a path names, after all links, whether or not it exists.
pub(crate) fn follow_links(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    let next = |path: &PathBuf| Some(directory_of(path).join(fs::read_link(path).ok()?));
    let links = std::iter::successors(Some(path.to_owned()), next);
    links.take(MAX_LINKS).last().unwrap_or_default()
}

pub(crate) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_missing_permission_has_path_reason_and_owner() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o750)).unwrap();
        let shown = directory.path().display();
        let refused = with_path(&directory.path().join("absent/key"), ErrorKind::PermissionDenied.into());
        let own = rustix::process::geteuid();
        let expected = format!(
            "{shown}/absent/key: permission denied: {shown} belongs to user {own} (mode 750), civitas runs as user {own}"
        );
        assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::PermissionDenied, expected));
        assert_eq!(
            with_path(Path::new("key"), ErrorKind::NotFound.into()).to_string(),
            "key: entity not found"
        );
        let error =
            adapter_error_with_path(Path::new("files"), Error::Unavailable(io::Error::other("full").into()));
        assert_eq!(error.cause().unwrap().to_string(), "files: full");
    }
}
