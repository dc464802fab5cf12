//! A member of a request body: absent, null, or a value.

use serde::{Deserialize, Deserializer};

/// A member of a body: absent, null or a value. Absent keeps, null clears, a value sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PatchField<T> {
    /// The member is absent.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> PatchField<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value by reference, if there is one.
    pub fn as_value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Whether the member is absent.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Applies the member to an optional value.
    pub fn apply(self, target: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *target = None,
            Self::Value(value) => *target = Some(value),
        }
    }
}

/// Replaces a value by the one that is given, if there is one.
pub fn set_given<T>(target: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *target = value;
    }
}

/// Needs `#[serde(default)]` on the member: serde calls this only for present members.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for PatchField<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(|read| read.map_or(Self::Null, Self::Value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        name: PatchField<String>,
    }

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let read = |json| serde_json::from_str::<Body>(json).unwrap().name;
        assert_eq!(read("{}"), PatchField::Absent);
        assert_eq!(read(r#"{"name":null}"#), PatchField::Null);
        assert_eq!(read(r#"{"name":"Ada"}"#), PatchField::Value("Ada".to_owned()));
    }
}
