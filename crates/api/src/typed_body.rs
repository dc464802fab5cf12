//! Bodies as types: one type is what the handler reads and what the document describes.
//!
//! A body derives `Deserialize`, `Validate` and `ToSchema`. The first wrong member is the error, with the text of the
//! contract; what is missing comes before what is of another type:
//!
//! | type of a member | absent | null | else |
//! |---|---|---|---|
//! | struct | missing | missing | `<name> must be an object` |
//! | `String`, `i64` | missing | missing, as is an empty text | `<name> must be a string`, `.. an integer` |
//! | `Option<T>` | `None` | read as `T` | read as `T` |
//!
//! An `i64` may come as text. `#[serde(deny_unknown_fields)]` closes an object (contract 01 §2): `Unknown key: data.x`.

use civitas_kernel::{Error, FieldError, Result, Wording};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, MapAccess, Unexpected, Visitor,
};
use serde::{Deserialize, Deserializer, de, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use validator::{Validate, ValidationErrors, ValidationErrorsKind};

/// The body of a write, or an object in it that is read later.
pub(crate) trait Body: DeserializeOwned + Validate + ToSchema + 'static {
    /// Whether a request must have it, may have it, or has none.
    const PRESENCE: Presence = Presence::Required;
}

/// Makes bodies of these types, with no more to say.
macro_rules! bodies {
    ($($name:ty),+ $(,)?) => {
        $(impl $crate::typed_body::Body for $name {})+
    };
}
pub(crate) use bodies;

/// Whether a request has a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must have one.
    Required,
    /// It may have one.
    Optional,
    /// What is sent is ignored.
    None,
}

/// The body of a write that takes none: what is sent is ignored.
#[derive(Deserialize, Validate, ToSchema)]
pub(crate) struct NoBody {}

impl Body for NoBody {
    const PRESENCE: Presence = Presence::None;
}

/// A body whose one member is `data`. The description of the inner type is that of the body.
#[derive(Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

/// The same, closed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClosedData<T> {
    pub(crate) data: T,
}

macro_rules! body_of_data {
    ($($name:ident),+) => {$(
        impl<T: Body> Body for $name<T> {
            const PRESENCE: Presence = T::PRESENCE;
        }

        impl<T: Body> Validate for $name<T> {
            fn validate(&self) -> Result<(), ValidationErrors> {
                self.data.validate()
            }
        }

        impl<T: Body> PartialSchema for $name<T> {
            fn schema() -> RefOr<Schema> {
                in_data(T::schema(), T::PRESENCE)
            }
        }

        impl<T: Body> ToSchema for $name<T> {
            fn name() -> Cow<'static, str> {
                T::name()
            }

            fn schemas(parts: &mut Vec<(String, RefOr<Schema>)>) {
                T::schemas(parts);
            }
        }
    )+};
}

body_of_data!(Data, ClosedData);

/// The schema of a body with this `data`, whose description and examples become those of the body.
fn in_data(inner: RefOr<Schema>, presence: Presence) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut data)) = inner else { return inner };
    let (description, examples) = (data.description.take(), std::mem::take(&mut data.examples));
    let body = ObjectBuilder::new().schema_type(Type::Object).property("data", data);
    let body = if presence == Presence::Required { body.required("data") } else { body };
    body.description(description).examples(examples).build().into()
}

/// A body as sent, before it is read.
pub(crate) struct Sent<'r, B> {
    body: &'r Value,
    /// Whether the command is executed at once, not kept as a job.
    pub(crate) is_sync: bool,
    read_as: PhantomData<B>,
}

impl<'r, B: Body> Sent<'r, B> {
    pub(crate) fn new(body: &'r Value, is_sync: bool) -> Self {
        Self { body, is_sync, read_as: PhantomData }
    }

    /// Reads and validates the body.
    ///
    /// # Errors
    /// The first member that is missing, unknown or of another type; `Invalid` with each rule that is broken.
    pub(crate) fn read(self) -> Result<B> {
        checked(B::deserialize(Member { sent: Some(self.body), name: "" }))
    }
}

/// Reads and validates an object in a body whose turn comes after checks that are not about the body alone.
/// `path`: where it is, names joined with dots.
///
/// # Errors
/// Those of [`Sent::read`].
pub(crate) fn read_at<B: Body>(path: &str, sent: Option<&Value>) -> Result<B> {
    let name = path.rsplit('.').next().unwrap_or(path);
    checked(B::deserialize(Member { sent, name }).map_err(|error| error.within(path)))
}

fn checked<B: Body>(read: Result<B, BodyError>) -> Result<B> {
    let body = read?;
    body.validate().map_err(|errors| invalid(&errors))?;
    Ok(body)
}

/// Broken rules as `error_details` (contract 01 §3), in the order of their members' names.
fn invalid(errors: &ValidationErrors) -> Error {
    let mut fields = Vec::new();
    collect(errors, &mut fields);
    fields.sort_by(|one, other| one.field.cmp(&other.field));
    Error::Invalid { wording: Wording::InvalidRequest, fields }
}

fn collect(errors: &ValidationErrors, fields: &mut Vec<FieldError>) {
    for (name, kind) in errors.errors() {
        match kind {
            ValidationErrorsKind::Field(broken) => fields.extend(broken.iter().map(|error| FieldError {
                code: error.code.clone(),
                field: name.clone(),
                description: error.message.as_deref().unwrap_or(&error.code).to_owned(),
            })),
            ValidationErrorsKind::Struct(inner) => collect(inner, fields),
            ValidationErrorsKind::List(items) => items.values().for_each(|inner| collect(inner, fields)),
        }
    }
}

/// Why a body cannot be read.
#[derive(Debug)]
enum BodyError {
    /// A required member, by name, is absent, null or empty.
    Missing(String),
    /// What is wrong with the member at a path: the text before the path, the path, and the text behind it.
    At(&'static str, String, String),
    /// Anything else, with its text.
    Rejected(String),
}

impl BodyError {
    /// The same, of an object that is a member itself.
    fn within(self, name: &str) -> Self {
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
struct Member<'a> {
    sent: Option<&'a Value>,
    name: &'a str,
}

impl<'a> Member<'a> {
    fn missing(self) -> BodyError {
        BodyError::Missing(self.name.to_owned())
    }

    /// What was sent, neither null nor an empty text.
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
        let number = match self.present()? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
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

/// The members of an object in the order they are read: those the type does not have, those that are absent or empty,
/// all others; each in the order of the type.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::type_names;
    use serde_json::json;

    type_names! {
        /// A type.
        BoxType = "box" in "box_type",
    }

    #[derive(Debug, Deserialize, Validate, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "type")]
        _kind: Option<BoxType>,
        #[schema(inline)]
        inner: Inner,
    }

    #[derive(Debug, Deserialize, Validate, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[validate(length(max = 3, code = "too_long", message = "Name is too long"))]
        name: String,
        number: i64,
        any: Option<Value>,
    }

    bodies!(Outer, Inner);

    fn read<B: Body>(body: &Value) -> Result<B, String> {
        Sent::new(body, true).read().map_err(|error| error.description().into_owned())
    }

    #[test]
    fn texts_and_numbers_may_come_as_text_and_null_is_not_absence() {
        let read = |inner: Value| read::<Outer>(&json!({"inner": inner})).unwrap().inner;
        let inner = read(json!({"name": "Ada", "number": "7", "any": null}));
        assert_eq!((inner.name.as_str(), inner.number, inner.any), ("Ada", 7, Some(Value::Null)));
        assert_eq!(read(json!({"name": "A", "number": 7})).any, None);
    }

    #[test]
    fn the_first_wrong_member_is_the_error_and_what_is_missing_comes_first() {
        let missing = |name: &str| format!("param is missing or the value is empty or invalid: {name}");
        for (body, text) in [
            (json!({}), missing("inner")),
            (json!({"inner": null}), missing("inner")),
            (json!({"inner": 1, "x": 1}), "Unknown key: x".to_owned()),
            (json!({"inner": 1, "type": 2}), "type must be box".to_owned()),
            (json!({"inner": 1}), "inner must be an object".to_owned()),
            (json!({"inner": {"x": 1}}), "Unknown key: inner.x".to_owned()),
            (json!({"inner": {"name": 1, "number": ""}}), missing("number")),
            (json!({"inner": {"name": 1, "number": true}}), "name must be a string".to_owned()),
            (json!({"inner": {"name": "A", "number": 1.5}}), "number must be an integer".to_owned()),
        ] {
            assert_eq!(read::<Outer>(&body).unwrap_err(), text, "{body}");
        }
        let sent = json!({"x": 1});
        let error = read_at::<Inner>("data.inner", Some(&sent)).unwrap_err();
        assert_eq!(error.description(), "Unknown key: data.inner.x");
    }

    #[test]
    fn broken_rules_are_the_details_of_an_invalid_request() {
        let body = json!({"name": "Augusta", "number": 1});
        let error = Sent::<Inner>::new(&body, true).read().unwrap_err();
        assert_eq!(error.description(), "Name is too long");
        assert_eq!(error.details(), [FieldError::new("name", "too_long", "Name is too long")]);
    }

    #[test]
    fn data_is_described_by_what_it_holds() {
        let body = json!({"data": {"name": "A", "number": 1}, "x": 1});
        assert!(read::<Data<Inner>>(&body).is_ok());
        assert_eq!(read::<ClosedData<Inner>>(&body).err().as_deref(), Some("Unknown key: x"));
        let RefOr::T(Schema::Object(schema)) = Data::<Inner>::schema() else { panic!("an object") };
        assert_eq!(schema.required, ["data"]);
        assert_eq!(Data::<Inner>::name(), Inner::name());
    }
}
