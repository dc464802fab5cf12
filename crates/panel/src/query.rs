//! Parameters of addresses, and addresses with other parameters.

use civitas_application::form_pairs;
use civitas_kernel::PageRequest;
use url::form_urlencoded::Serializer;

/// The parameters of a request. Blank ones and ones that are not UTF-8 count as absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = form_pairs(text).flatten();
        Self(pairs.filter(|(_, value)| !value.trim().is_empty() && !value.contains('\0')).take(50).collect())
    }

    /// A parameter, without surrounding blanks.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// A parameter as it is shown in its field.
    pub(crate) fn field_value(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    /// The page of a list: 1 unless a positive number is given.
    pub(crate) fn page(&self, per_page: i64) -> PageRequest {
        PageRequest::new(self.number("page").filter(|page| *page >= 1).unwrap_or(1), per_page)
    }

    /// The address of this path with these parameters, of which one has another value; `None` removes it.
    pub(crate) fn with(&self, path: &str, name: &str, value: Option<&str>) -> String {
        let mut query = Serializer::new(String::new());
        for (known, kept) in &self.0 {
            // Another filter or order begins at the first page.
            if known != name && !["page", "older", "newer"].contains(&known.as_str()) {
                query.append_pair(known, kept);
            }
        }
        if let Some(value) = value {
            query.append_pair(name, value);
        }
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_filter_begins_at_the_first_page() {
        let query = Query::parse("q=a+b&state=on&page=7&blank=+");
        assert_eq!((query.get("q"), query.get("blank"), query.page(25).page), (Some("a b"), None, 7));
        assert_eq!(query.with("/x", "state", Some("off")), "/x?q=a+b&state=off");
        assert_eq!(query.with("/x", "page", Some("8")), "/x?q=a+b&state=on&page=8");
        assert_eq!(Query::parse("page=-3").page(25).page, 1);
        assert_eq!(Query::parse("q=caf%E9&state=on").with("/x", "page", None), "/x?state=on");
    }
}
