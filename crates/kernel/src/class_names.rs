//! Class names on the wire: their prefix on output, and the prefixes that are understood (contract 01 §2).

use crate::{Error, Result};
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

/// The prefix of class names in this program, and on the wire by default.
const OWN: &str = "Platform";
/// The prefix that clients of an older product send.
const OLDER: &str = "Decidim";
/// The longest prefix, in bytes.
const MAX_LENGTH: usize = 64;

/// The prefix of class names on output, as `Platform` in `Platform::Assembly`. Input is also understood with the prefixes
/// `Platform` and `Decidim`.
///
/// ```
/// use civitas_kernel::ClassNames;
///
/// let names: ClassNames = "Decidim".parse()?;
/// assert_eq!(names.to_wire("Platform::Assembly"), "Decidim::Assembly");
/// assert_eq!(names.from_wire("Decidim::Assembly"), "Platform::Assembly");
/// # Ok::<(), civitas_kernel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassNames(Arc<str>);

impl ClassNames {
    /// A class name of this program as it is written on the wire. Any other text stays as it is.
    pub fn to_wire(&self, class: &'static str) -> Cow<'static, str> {
        match rest(class, OWN) {
            Some(rest) if &*self.0 != OWN => format!("{}::{rest}", self.0).into(),
            _ => class.into(),
        }
    }

    /// A class name that was sent, with the prefix of this program. Any other text stays as it is.
    pub fn from_wire<'a>(&self, sent: &'a str) -> Cow<'a, str> {
        match rest(sent, OLDER).or_else(|| rest(sent, &self.0)) {
            Some(class) => format!("{OWN}::{class}").into(),
            None => sent.into(),
        }
    }

    /// The prefixes of the class names that a pattern is compared with: the one on output, and each other one that the
    /// pattern has, in any case. None if the names of this program can be compared as they are.
    pub fn prefixes_in(&self, pattern: &str) -> Vec<&str> {
        let pattern = pattern.to_ascii_lowercase();
        let has = |prefix: &str| pattern.contains(&format!("{}::", prefix.to_ascii_lowercase()));
        let others: Vec<&str> =
            [OWN, OLDER].into_iter().filter(|other| *other != &*self.0 && has(other)).collect();
        if others.is_empty() && &*self.0 == OWN {
            return others;
        }
        [&*self.0].into_iter().chain(others).collect()
    }

    /// A text of this program, as a description or a schema, with each class name in it as it is written on the wire.
    /// The text must have no part that others wrote.
    pub fn replace_in(&self, text: String) -> String {
        if &*self.0 == OWN { text } else { text.replace("Platform::", &format!("{}::", self.0)) }
    }
}

/// `Assembly` of `Platform::Assembly`.
fn rest<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    name.strip_prefix(prefix)?.strip_prefix("::")
}

impl Default for ClassNames {
    fn default() -> Self {
        Self(OWN.into())
    }
}

impl FromStr for ClassNames {
    type Err = Error;

    /// # Errors
    /// `Rejected` for what is not a capital letter followed by at most 63 letters or digits.
    fn from_str(text: &str) -> Result<Self> {
        let is_name = text.len() <= MAX_LENGTH
            && text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_name {
            return Ok(Self(text.into()));
        }
        Err(Error::rejected("must be a capital letter followed by at most 63 letters or digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_prefix_of_a_class_name_changes() {
        let names: ClassNames = "Agora".parse().unwrap();
        for (sent, read) in [
            ("Decidim::Proposals::Proposal", "Platform::Proposals::Proposal"),
            ("Agora::Assembly", "Platform::Assembly"),
            ("Platform::Assembly", "Platform::Assembly"),
            ("Decidim", "Decidim"),
            ("DecidimX::Assembly", "DecidimX::Assembly"),
            ("of Decidim::Assembly", "of Decidim::Assembly"),
        ] {
            assert_eq!(names.from_wire(sent), read);
        }
        assert_eq!(names.to_wire("Platform::Blogs::Post"), "Agora::Blogs::Post");
        assert_eq!(names.to_wire("proposals"), "proposals");
        assert_eq!(ClassNames::default().to_wire("Platform::Blogs::Post"), "Platform::Blogs::Post");
        assert_eq!(names.replace_in("a Platform::User".to_owned()), "a Agora::User");
    }

    #[test]
    fn a_prefix_is_one_name_with_a_capital_letter() {
        for bad in ["", "platform", "A::B", "A\"", "1A", &"A".repeat(65)] {
            assert!(bad.parse::<ClassNames>().is_err(), "{bad}");
        }
    }
}
