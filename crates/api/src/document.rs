//! The description of a route in the OpenAPI document.

use crate::typed_body::{Body, NoBody};
use actix_web::http::StatusCode;
use civitas_kernel::filter::{FieldKind, FilterField};
use std::any::TypeId;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// Schemas and their names.
pub(crate) type NamedSchemas = Vec<(String, RefOr<Schema>)>;

/// The description of one operation. The document is built from these and the list of routes.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an operation")]
pub struct OperationDoc {
    /// One sentence.
    pub(crate) summary: &'static str,
    /// The status of success.
    pub(crate) status: StatusCode,
    pub(crate) query: Vec<QueryParameter>,
    /// The name of the schema of the body.
    pub(crate) body: Option<String>,
    pub(crate) body_is_optional: bool,
    /// The name of the schema of the answer; `None` without a JSON answer.
    pub(crate) answer: Option<String>,
    /// Add the schemas of body and answer to those of the document.
    pub(crate) schemas: Vec<fn(&mut NamedSchemas)>,
    /// Error statuses in addition to those of every operation.
    pub(crate) failures: Vec<u16>,
    pub(crate) note: Option<&'static str>,
    /// Whether the handler itself requires a bearer token or the credentials of the client.
    pub(crate) takes_credentials: bool,
    /// Whether caches must not store the answer.
    pub(crate) is_secret: bool,
    pub(crate) is_stream: bool,
    pub(crate) has_location: bool,
    /// Whether it reads at replicas, whose state may be some seconds old.
    pub(crate) is_read_at_replicas: bool,
}

/// The pattern of the type of a file: printable ASCII. An empty text is the default type.
pub(crate) const MEDIA_TYPE: &str = "^[ -~]{0,255}$";
/// The pattern of a whole number as a text.
const WHOLE_NUMBER: &str = "^-?[0-9]{1,18}$";

/// A query parameter.
#[derive(Debug, Clone)]
pub(crate) struct QueryParameter {
    /// Its name as sent: `filter[id_in][]`.
    pub(crate) name: String,
    pub(crate) value_type: ParameterType,
    /// Whether a request must have it: the body cannot.
    pub(crate) is_required: bool,
}

/// The type of a parameter.
#[derive(Debug, Clone)]
pub(crate) enum ParameterType {
    Text,
    /// Text of a character at least.
    Filled,
    Pattern(&'static str),
    Integer,
    Time,
    /// A whole number from 1.
    Length,
    Page,
    PageLength,
    Boolean,
    Word(&'static [&'static str]),
    /// A language of the deployment, repeated.
    Locales,
    /// A language of the organization.
    Locale,
    List(Box<ParameterType>),
}

/// The parameter with the languages of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LanguageParameter {
    /// There is none: the answer has no texts in languages.
    None,
    /// `locales[]`: those of texts in several languages.
    Locales,
    /// `locale`: that of texts in one language.
    Locale,
}

/// Adds the schema of a type, with the schemas it refers to.
pub(crate) fn add_schema<T: ToSchema>(to: &mut NamedSchemas) {
    T::schemas(to);
    to.push((T::name().into_owned(), T::schema()));
}

impl OperationDoc {
    /// An operation that answers 200 with the schema of this name.
    pub(crate) fn new(summary: &'static str, answer: &str) -> Self {
        Self { answer: Some(answer.to_owned()), ..Self::without_json(summary, StatusCode::OK) }
    }

    /// An operation that answers 200 with a stream of server-sent events.
    pub(crate) fn stream(summary: &'static str) -> Self {
        Self { is_stream: true, ..Self::without_json(summary, StatusCode::OK) }
    }

    /// The operation of a stream also answers with this view, or with a record of it on each line.
    pub(crate) fn or_answers_with<V: ToSchema>(self) -> Self {
        Self { answer: Some(V::name().into_owned()), ..self }.with_schema::<V>()
    }

    /// An operation without a JSON answer.
    pub(crate) fn without_json(summary: &'static str, status: StatusCode) -> Self {
        Self { summary, status, ..Self::default() }
    }

    /// An operation that answers 200 with one record of this view.
    pub(crate) fn item<V: ToSchema>(summary: &'static str) -> Self {
        Self::new(summary, &format!("{}_item_response", V::name())).with_schema::<V>()
    }

    /// An operation that answers 200 with a page of records of this view.
    pub(crate) fn page<V: ToSchema>(summary: &'static str) -> Self {
        Self::new(summary, &format!("{}_index_response", V::name())).with_schema::<V>()
    }

    /// An operation that answers 200 with this view, without `data`.
    pub(crate) fn without_envelope<V: ToSchema>(summary: &'static str) -> Self {
        Self::new(summary, &V::name()).with_schema::<V>()
    }

    /// Adds the schema of a type to the document, with the schemas it refers to.
    pub(crate) fn with_schema<T: ToSchema>(mut self) -> Self {
        self.schemas.push(add_schema::<T>);
        self
    }

    /// The asynchronous form: 202 with this receipt.
    pub(crate) fn with_accepted_answer<R: ToSchema>(self) -> Self {
        let answer = Some(R::name().into_owned());
        Self { status: StatusCode::ACCEPTED, answer, ..self }.with_schema::<R>()
    }

    pub(crate) fn with_status_created(self) -> Self {
        Self { status: StatusCode::CREATED, ..self }
    }

    /// Caches must not store the answer.
    pub(crate) fn with_no_store(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// Reads at replicas.
    pub(crate) fn at_replicas(self) -> Self {
        Self { is_read_at_replicas: true, ..self }
    }

    pub(crate) fn with_location(self) -> Self {
        Self { has_location: true, ..self }
    }

    /// Takes this body, if it is one.
    pub(crate) fn with_body<B: Body>(self) -> Self {
        if TypeId::of::<B>() == TypeId::of::<NoBody>() {
            return self;
        }
        self.with_named_body(&B::name()).with_schema::<B>()
    }

    /// Takes a body of the schema of this name.
    pub(crate) fn with_named_body(self, body: &str) -> Self {
        Self { body: Some(body.to_owned()), ..self }
    }

    pub(crate) fn with_parameter(mut self, name: &str, value_type: ParameterType) -> Self {
        self.query.push(QueryParameter { name: name.to_owned(), value_type, is_required: false });
        self
    }

    pub(crate) fn with_required_parameter(mut self, name: &str, value_type: ParameterType) -> Self {
        self.query.push(QueryParameter { name: name.to_owned(), value_type, is_required: true });
        self
    }

    /// May fail with this status, in addition to 400, and 404 where the path has an `{id}`.
    pub(crate) fn with_failure(mut self, status: u16) -> Self {
        self.failures.push(status);
        self
    }

    pub(crate) fn with_note(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The handler requires a bearer token, or the credentials of the client.
    pub(crate) fn with_bearer_or_credentials(self) -> Self {
        Self { takes_credentials: true, ..self }
    }

    pub(crate) fn with_optional_body(self) -> Self {
        Self { body_is_optional: true, ..self }
    }

    /// Takes `locales[]`.
    pub(crate) fn with_locales(self) -> Self {
        self.with_parameter("locales[]", ParameterType::Locales)
    }

    pub(crate) fn with_locale(self) -> Self {
        self.with_parameter("locale", ParameterType::Locale)
    }

    /// The parameter with the languages of the answer.
    pub(crate) fn language_parameter(&self) -> LanguageParameter {
        let named = self.query.iter().find_map(|parameter| match parameter.value_type {
            ParameterType::Locales => Some(LanguageParameter::Locales),
            ParameterType::Locale => Some(LanguageParameter::Locale),
            _ => None,
        });
        named.unwrap_or(LanguageParameter::None)
    }

    /// Takes `page` and `per_page`.
    pub(crate) fn with_page_parameters(self) -> Self {
        self.with_parameter("page", ParameterType::Page).with_parameter("per_page", ParameterType::PageLength)
    }

    /// Takes the parameters of a list without an order of its own: pages, and the orders of every list.
    pub(crate) fn with_list_parameters(self) -> Self {
        self.with_page_parameters().with_order_parameters(&["id", "created_at", "updated_at"])
    }

    /// Whether it answers with a page of a list.
    pub(crate) fn is_list(&self) -> bool {
        self.answer.as_deref().is_some_and(|answer| answer.ends_with("_index_response"))
    }

    /// Takes `space_manifest` and `space_id`.
    pub(crate) fn with_space_parameters(self) -> Self {
        const KINDS: &[&str] = &["participatory_processes", "assemblies", "conferences", "initiatives"];
        self.with_parameter("space_manifest", ParameterType::Word(KINDS))
            .with_parameter("space_id", ParameterType::Integer)
    }

    pub(crate) fn with_component_id(self) -> Self {
        self.with_parameter("component_id", ParameterType::Integer)
    }

    /// Takes the parameters common to reads of records of a component: languages, space and component, and one of these
    /// orders.
    pub(crate) fn with_component_read_parameters(self, orders: &'static [&'static str]) -> Self {
        self.with_locales().with_space_parameters().with_component_id().with_order_parameters(orders)
    }

    /// Takes `order` and `order_direction`.
    pub(crate) fn with_order_parameters(self, orders: &'static [&'static str]) -> Self {
        self.with_parameter("order", ParameterType::Word(orders))
            .with_parameter("order_direction", ParameterType::Word(&["asc", "desc"]))
    }

    /// Takes every filter these fields allow.
    pub(crate) fn with_filters<F>(mut self, fields: &'static [FilterField<F>]) -> Self {
        for field in fields {
            for predicate in field.kind.predicates() {
                let list = matches!(*predicate, "in" | "not_in");
                let name = format!("filter[{}_{predicate}]{}", field.name, if list { "[]" } else { "" });
                let single = value_of(field.kind, predicate);
                let value_type = if list { ParameterType::List(Box::new(single)) } else { single };
                self = self.with_parameter(&name, value_type);
            }
        }
        self
    }
}

fn value_of(kind: FieldKind, predicate: &str) -> ParameterType {
    match (kind, predicate) {
        (_, "blank" | "present") => ParameterType::Boolean,
        (_, "start" | "matches" | "cont" | "i_cont") => ParameterType::Text,
        (FieldKind::Integer, _) => ParameterType::Integer,
        (FieldKind::Time, _) => ParameterType::Time,
        (FieldKind::IntegerText, _) => ParameterType::Pattern(WHOLE_NUMBER),
        (FieldKind::Enum(words), _) => ParameterType::Word(words),
        _ => ParameterType::Text,
    }
}
