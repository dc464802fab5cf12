//! What a form sent: names and values, in the order of the page.

use civitas_application::form_pairs;
use civitas_kernel::{Locales, Translated};

/// The most fields of a form.
const MAX_FIELDS: usize = 5_000;

/// The values that were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct SubmittedForm(Vec<(String, String)>);

impl SubmittedForm {
    /// Reads a body of `application/x-www-form-urlencoded`. Line ends become `\n`; a field that is not UTF-8 is U+0000.
    pub(crate) fn from_body(body: &[u8]) -> Self {
        let pairs = form_pairs(std::str::from_utf8(body).unwrap_or("%00")).take(MAX_FIELDS);
        Self::from_pairs(pairs.map(|pair| pair.unwrap_or_else(|| ("\0".to_owned(), String::new()))))
    }

    /// The fields with these names and values. Line ends become `\n`.
    pub(crate) fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n"))).collect())
    }

    /// The value of a field, as it was typed.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field without surrounding blanks; empty if it was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default().trim()
    }

    /// All values of a name, such as those of ticked boxes. Empty ones only say that the form has the boxes.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(known, value)| known == name && !value.is_empty());
        values.map(|(_, value)| value.clone()).collect()
    }

    /// Whether a box was ticked: its form sends `0` before the `1` of the box. `None` if it was not sent.
    pub(crate) fn checkbox(&self, name: &str) -> Option<bool> {
        let sent = self.0.iter().rev().find(|(known, _)| known == name);
        sent.map(|(_, value)| matches!(value.as_str(), "1" | "true" | "on"))
    }

    /// Whether a field was sent whose name begins with `prefix`.
    pub(crate) fn has_prefix(&self, prefix: &str) -> bool {
        self.0.iter().any(|(name, _)| name.starts_with(prefix))
    }

    /// The texts of `name[en]`, `name[fr]`, ...; blank ones are left out.
    pub(crate) fn texts(&self, name: &str, locales: &Locales) -> Translated {
        let mut texts = Translated::default();
        for locale in locales.iter() {
            if let Some(text) = self.get(&format!("{name}[{locale}]")).filter(|text| !text.trim().is_empty())
            {
                texts.set(locale, text.to_owned());
            }
        }
        texts
    }

    /// The lines of a field, without blank ones.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.get(name).unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// Whether a value has U+0000, which no database text may have, or was not UTF-8.
    pub(crate) fn has_nul(&self) -> bool {
        self.0.iter().any(|(name, value)| name.contains('\0') || value.contains('\0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Locale;

    #[test]
    fn a_form_is_read_by_name() {
        let form = SubmittedForm::from_body(b"a=1&b%5B%5D=&b%5B%5D=x&b%5B%5D=y&on=0&on=1&off=0&n%5Ben%5D=Hi+there&n%5Bfr%5D=+&lines=a%0D%0A%0D%0Ab");
        assert_eq!((form.get("a"), form.has_prefix("b["), form.has_prefix("c")), (Some("1"), true, false));
        assert_eq!(
            (form.checkbox("on"), form.checkbox("off"), form.checkbox("c")),
            (Some(true), Some(false), None)
        );
        assert_eq!(form.values("b[]"), ["x", "y"]);
        assert_eq!(form.lines("lines"), ["a", "b"]);
        let texts = form.texts("n", &Locales::standard());
        assert_eq!((texts.get(Locale::EN), texts.get(Locale::FR)), (Some("Hi there"), None));
    }

    #[test]
    fn a_nul_and_bytes_that_are_not_utf8_are_found() {
        for body in [&b"a=%00"[..], b"a=1&b=caf%E9", b"%E9=1", b"a=caf\xe9"] {
            assert!(SubmittedForm::from_body(body).has_nul(), "{body:?}");
        }
        assert!(!SubmittedForm::from_body("a=0&b=%EF%BF%BDé".as_bytes()).has_nul());
    }
}
