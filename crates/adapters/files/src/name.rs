//! Names of objects.

use civitas_kernel::{Error, Result};

/// The largest length of a name, in bytes.
const MAX_NAME: usize = 512;
/// The largest length of one segment, in bytes: that of a file name.
const MAX_SEGMENT: usize = 200;

/// Checks that a name is a list of segments of `[A-Za-z0-9_.-]` separated by `/`. No segment is empty or begins with a
/// dot, so that a name is never a path to another place.
///
/// # Errors
/// `Internal`: names are generated, never taken from a request.
pub(crate) fn check(name: &str) -> Result<()> {
    if name.len() <= MAX_NAME && name.split('/').all(is_segment) {
        return Ok(());
    }
    Err(Error::internal(format!(
        "invalid name of an object: {:?}",
        name.chars().take(64).collect::<String>()
    )))
}

fn is_segment(segment: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    !segment.is_empty()
        && segment.len() <= MAX_SEGMENT
        && !segment.starts_with('.')
        && segment.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn a_prefix_and_a_key_are_a_name() {
        for name in ["CITY/9mKx2vQ7c1TtWb4Lr0YpZs", "a", "A-b_c/d.e", "a/b/c..d"] {
            assert!(check(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn whatever_could_be_a_path_elsewhere_is_refused() {
        let long = "a".repeat(201);
        let deep = "a/".repeat(300) + "a";
        let names = [
            "",
            "/",
            "/etc/passwd",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "../a",
            ".staging/x",
            "a/.b",
            "a\\b",
            "a b",
            "a\0b",
            "ä",
            "a?b",
            "a%2fb",
            "a\nb",
            &long,
            &deep,
        ];
        for name in names {
            assert!(matches!(check(name), Err(Error::Internal(_))), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_name_stays_inside(name in "[./a-zA-Z0-9_\\\\-]{0,40}") {
            if check(&name).is_ok() {
                prop_assert!(Path::new(&name).components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
