//! A serde deserializer over JSON values that reads members of a body with the errors of the contract.

use civitas_kernel::{Error, integer};
use serde::de::{DeserializeSeed, Expected, IntoDeserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserializer, de, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::fmt;

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum BodyError {
    /// A required member, by name, is absent, null or empty.
    Missing(String),
    /// An invalid member: the text before its path, the path, and the text after it.
    At(&'static str, String, String),
    /// Anything else, with its text.
    Rejected(String),
}

impl BodyError {
    /// The same, of an object that is a member itself.
    pub(super) fn within(self, name: &str) -> Self {
        match self {
            Self::At(before, path, after) if path.is_empty() => Self::At(before, name.to_owned(), after),
            Self::At(before, path, after) => Self::At(before, format!("{name}.{path}"), after),
            other => other,
        }
    }
}

impl From<BodyError> for Error {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Missing(name) => Error::missing(name),
            BodyError::At(before, path, after) => Error::rejected(format!("{before}{path}{after}")),
            BodyError::Rejected(text) => Error::rejected(text),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for BodyError {}

impl de::Error for BodyError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Rejected(text.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Self::At("", String::new(), format!(" must be {allowed}"))
    }

    fn unknown_field(name: &str, _: &'static [&'static str]) -> Self {
        Self::At("Unknown key: ", name.to_owned(), String::new())
    }
}

/// One member of an object, which may be absent; or the body itself, without a name.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) sent: Option<&'a Value>,
    pub(super) name: &'a str,
}

impl<'a> Member<'a> {
    fn missing(self) -> BodyError {
        BodyError::Missing(self.name.to_owned())
    }

    /// The value sent, neither null nor an empty text.
    fn present(self) -> Result<&'a Value, BodyError> {
        self.sent.filter(|sent| !is_empty(sent)).ok_or_else(|| self.missing())
    }

    fn must_be(self, what: &str) -> BodyError {
        BodyError::Rejected(format!("{} must be {what}", self.name))
    }
}

fn is_empty(sent: &Value) -> bool {
    sent.is_null() || sent.as_str() == Some("")
}

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = BodyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BodyError> {
        let sent = self.sent.ok_or_else(|| self.missing())?;
        sent.deserialize_any(visitor).map_err(de::Error::custom)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BodyError> {
        match self.sent {
            None => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BodyError> {
        let number = integer(self.present()?);
        visitor.visit_i64(number.ok_or_else(|| self.must_be("an integer"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BodyError> {
        visitor.visit_str(self.present()?.as_str().ok_or_else(|| self.must_be("a string"))?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BodyError> {
        match self.sent {
            None | Some(Value::Null) => Err(self.missing()),
            Some(Value::Object(members)) => visitor.visit_map(Members::new(members, names)),
            Some(_) => Err(self.must_be("an object")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The members of an object in the order they are read: unknown ones, absent or empty ones, all others; each in the
/// order of the type.
struct Members<'a> {
    object: &'a Map<String, Value>,
    names: std::vec::IntoIter<&'a str>,
    current: &'a str,
}

impl<'a> Members<'a> {
    fn new(object: &'a Map<String, Value>, names: &'static [&'static str]) -> Self {
        let (empty, filled): (Vec<&str>, Vec<&str>) =
            names.iter().partition(|name| object.get(**name).is_none_or(is_empty));
        let strange = object.keys().map(String::as_str).filter(|name| !names.contains(name));
        let names: Vec<&str> = strange.chain(empty).chain(filled).collect();
        Self { object, names: names.into_iter(), current: "" }
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = BodyError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BodyError> {
        let Some(name) = self.names.next() else { return Ok(None) };
        self.current = name;
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, BodyError> {
        let (name, sent) = (self.current, self.object.get(self.current));
        seed.deserialize(Member { sent, name }).map_err(|error| error.within(name))
    }
}
