//! JSON schemas whose properties keep their order.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A JSON schema. Its properties are written in the order of the form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schema {
    #[serde(flatten)]
    keywords: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "in_order")]
    properties: Option<Vec<(String, Schema)>>,
}

impl Schema {
    /// The schema of values of this type.
    pub(super) fn of_type(kind: &str) -> Self {
        Self { keywords: Map::new(), properties: None }.with("type", kind)
    }

    /// The schema of objects with these properties.
    pub(super) fn object(properties: impl Iterator<Item = (String, Self)>) -> Self {
        Self { properties: Some(properties.collect()), ..Self::of_type("object") }
    }

    /// Adds a keyword; a null value adds none.
    pub(super) fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.keywords.insert(keyword.to_owned(), value);
        }
        self
    }
}

#[expect(clippy::ref_option, reason = "the signature is that of serde")]
fn in_order<S: Serializer>(properties: &Option<Vec<(String, Schema)>>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(properties.iter().flatten().map(|(name, schema)| (name, schema)))
}
