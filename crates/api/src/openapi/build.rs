//! Builders of schemas.

use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, OneOfBuilder, SchemaType};
use utoipa::openapi::{Discriminator, Ref, RefOr, Schema, Type};

/// Schemas by name.
pub(super) type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Adds the schema of a type, with the schemas it refers to.
pub(super) fn add<T: ToSchema>(to: &mut Schemas) {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    to.extend(parts);
    to.insert(T::name().into_owned(), T::schema());
}

/// An object with these keys only.
pub(super) fn closed() -> ObjectBuilder {
    let nothing_else = AdditionalProperties::<Schema>::FreeForm(false);
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(nothing_else))
}

/// Any text.
pub(crate) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Any whole number.
pub(crate) fn any_integer() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer)
}

/// A whole number, or its text.
pub(crate) fn number_or_text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type([Type::String, Type::Integer].into_iter().collect::<SchemaType>())
}

/// One of these words.
pub(crate) fn words(list: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    text().enum_values(Some(list))
}

/// One of these schemas, selected by `type`: (its value, the schema's name).
pub(super) fn by_type(variants: &[(&str, &str)]) -> OneOfBuilder {
    let target = |name: &str| format!("#/components/schemas/{name}");
    let mapping = variants.iter().map(|(value, name)| ((*value).to_owned(), target(name)));
    let mut names: Vec<&str> = variants.iter().map(|(_, name)| *name).collect();
    names.dedup();
    let one_of = names.into_iter().fold(OneOfBuilder::new(), |o, n| o.item(Ref::from_schema_name(n)));
    one_of.discriminator(Some(Discriminator::with_mapping("type", mapping)))
}

/// The object schema of a view.
pub(super) fn object(view: RefOr<Schema>) -> Object {
    match view {
        RefOr::T(Schema::Object(object)) => object,
        _ => unreachable!("a view is a struct with members"),
    }
}
