//! Bodies as types: the handler reads the same type that the document describes.
//!
//! A body derives `Deserialize` and `ToSchema`. The first wrong member is the error, with the text of the
//! contract; missing members come before members of another type:
//!
//! | type of a member | absent | null | else |
//! |---|---|---|---|
//! | struct | missing | missing | `<name> must be an object` |
//! | `String`, `i64` | missing | missing, as is an empty text | `<name> must be a string`, `.. an integer` |
//! | `Option<T>` | `None` | read as `T` | read as `T` |
//!
//! An `i64` may be sent as text. `#[serde(deny_unknown_fields)]` closes an object (contract 01 §2): `Unknown key:
//! data.x`.

mod reader;

use civitas_kernel::{Error, Result};
use reader::Member;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::marker::PhantomData;
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The body of a write, or an object in it that is read later.
pub(crate) trait Body: DeserializeOwned + ToSchema + 'static {}

impl<B: DeserializeOwned + ToSchema + 'static> Body for B {}

/// The body of a write without body, where one that is sent is ignored, and of one whose body is read member by member.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NoBody {}

/// A body whose one member is `data`. The description of the inner type is that of the body.
#[derive(Deserialize)]
pub(crate) struct DataBody<T> {
    pub(crate) data: T,
}

/// The same, closed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClosedDataBody<T> {
    pub(crate) data: T,
}

macro_rules! body_of_data {
    ($($name:ident is $is_closed:literal),+) => {$(
        impl<T: Body> PartialSchema for $name<T> {
            fn schema() -> RefOr<Schema> {
                in_data(T::schema(), $is_closed)
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

body_of_data!(DataBody is false, ClosedDataBody is true);

/// The schema of a body with this `data`, whose title, description and examples become those of the body. A closed one
/// has no other members (contract 12).
fn in_data(inner: RefOr<Schema>, is_closed: bool) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut data)) = inner else { return inner };
    let (title, description) = (data.title.take(), data.description.take());
    let examples = std::mem::take(&mut data.examples);
    let nothing_else = is_closed.then_some(AdditionalProperties::<Schema>::FreeForm(false));
    let body = ObjectBuilder::new().schema_type(Type::Object).property("data", data).required("data");
    body.additional_properties(nothing_else)
        .title(title)
        .description(description)
        .examples(examples)
        .build()
        .into()
}

/// A body as sent, before it is read.
pub(crate) struct RawBody<'r, B> {
    body: &'r Value,
    /// Whether the command is executed synchronously.
    pub(crate) is_sync: bool,
    read_as: PhantomData<B>,
}

impl<'r, B: Body> RawBody<'r, B> {
    pub(crate) fn new(body: &'r Value, is_sync: bool) -> Self {
        Self { body, is_sync, read_as: PhantomData }
    }

    /// Reads the body.
    ///
    /// # Errors
    /// The first member that is missing, unknown or of another type.
    pub(crate) fn read(self) -> Result<B> {
        Ok(B::deserialize(Member { sent: Some(self.body), name: "" })?)
    }
}

/// Checks that an object has known members only. `at`: its position, a dot after each name.
///
/// # Errors
/// `Unknown key: <at><name>`.
pub(crate) fn check_keys(
    members: &Map<String, Value>,
    at: &str,
    is_known: impl Fn(&str) -> bool,
) -> Result<()> {
    match members.keys().find(|name| !is_known(name)) {
        Some(unknown) => Err(Error::rejected(format!("Unknown key: {at}{unknown}"))),
        None => Ok(()),
    }
}

/// Reads an object in a body, after checks that do not concern the body alone. `path`: its position,
/// names joined with dots.
pub(crate) fn read_at<B: Body>(path: &str, sent: Option<&Value>) -> Result<B> {
    let name = path.rsplit('.').next().unwrap_or(path);
    Ok(B::deserialize(Member { sent, name }).map_err(|error| error.within(path))?)
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

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "type")]
        _kind: Option<BoxType>,
        #[schema(inline)]
        inner: Inner,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        name: String,
        number: i64,
        any: Option<Value>,
    }

    fn read<B: Body>(body: &Value) -> Result<B, String> {
        RawBody::new(body, true).read().map_err(|error| error.description().into_owned())
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
    fn data_is_described_by_what_it_holds() {
        let body = json!({"data": {"name": "A", "number": 1}, "x": 1});
        assert!(read::<DataBody<Inner>>(&body).is_ok());
        assert_eq!(read::<ClosedDataBody<Inner>>(&body).err().as_deref(), Some("Unknown key: x"));
        let RefOr::T(Schema::Object(schema)) = DataBody::<Inner>::schema() else { panic!("an object") };
        assert_eq!(schema.required, ["data"]);
        assert_eq!(DataBody::<Inner>::name(), Inner::name());
        assert!(schema.additional_properties.is_none());
        let RefOr::T(Schema::Object(schema)) = ClosedDataBody::<Inner>::schema() else { panic!("an object") };
        let nothing_else = AdditionalProperties::FreeForm(false);
        assert!(schema.additional_properties.as_deref() == Some(&nothing_else));
    }
}
