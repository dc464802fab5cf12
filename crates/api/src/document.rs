//! The description of a route in the OpenAPI document.

use actix_web::http::StatusCode;
use civitas_kernel::filter::{Field, Kind};

/// The description of one operation; with the list of routes it makes the document.
#[derive(Debug, Clone)]
pub struct Doc {
    /// One sentence.
    pub(crate) summary: &'static str,
    /// The status of success.
    pub(crate) status: StatusCode,
    /// The parameters behind the `?`.
    pub(crate) query: Vec<QueryParameter>,
    /// The name of the schema of the body.
    pub(crate) body: Option<&'static str>,
    /// Whether the body may be left out.
    pub(crate) body_is_optional: bool,
    /// The name of the schema of the answer; `None` without a JSON answer.
    pub(crate) answer: Option<&'static str>,
    /// Failures beyond those every operation can have.
    pub(crate) failures: Vec<u16>,
    /// What else a reader must know.
    pub(crate) note: Option<&'static str>,
    /// Whether the handler itself asks for a bearer, where the gate does not.
    pub(crate) bearer: bool,
}

/// A parameter behind the `?`.
#[derive(Debug, Clone)]
pub(crate) struct QueryParameter {
    /// Its name as sent: `filter[id_in][]`.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) holds: Holds,
}

/// What a parameter holds.
#[derive(Debug, Clone)]
pub(crate) enum Holds {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A page number.
    Page,
    /// A page length.
    PageLength,
    /// A switch.
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A language of the deployment, repeated.
    Locales,
    /// One of these, repeated.
    List(Box<Holds>),
}

impl Doc {
    /// An operation that answers 200 with this schema.
    pub(crate) fn new(summary: &'static str, answer: &'static str) -> Self {
        let (query, failures) = (Vec::new(), Vec::new());
        let (status, answer) = (StatusCode::OK, Some(answer));
        let (body, body_is_optional, note, bearer) = (None, false, None, false);
        Self { summary, status, query, body, body_is_optional, answer, failures, note, bearer }
    }

    /// An operation without a JSON answer.
    pub(crate) fn silent(summary: &'static str, status: StatusCode) -> Self {
        Self { status, answer: None, ..Self::new(summary, "") }
    }

    /// The asynchronous form: 202 with a job.
    pub(crate) fn accepted(self) -> Self {
        Self { status: StatusCode::ACCEPTED, answer: Some("rest_full_api_job_accepted"), ..self }
    }

    /// Takes a body of this schema.
    pub(crate) fn takes(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Takes a body of this schema, or none.
    pub(crate) fn may_take(self, body: &'static str) -> Self {
        Self { body_is_optional: true, ..self.takes(body) }
    }

    /// Takes this parameter.
    pub(crate) fn with(mut self, name: &str, holds: Holds) -> Self {
        self.query.push(QueryParameter { name: name.to_owned(), holds });
        self
    }

    /// May fail with this status beyond the usual.
    pub(crate) fn fails(mut self, status: u16) -> Self {
        self.failures.push(status);
        self
    }

    /// Says more.
    pub(crate) fn noting(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The handler asks for a bearer.
    pub(crate) fn bearer(self) -> Self {
        Self { bearer: true, ..self }
    }

    /// Takes `locales[]`.
    pub(crate) fn locales(self) -> Self {
        self.with("locales[]", Holds::Locales)
    }

    /// Whether it takes `locales[]`.
    pub(crate) fn takes_locales(&self) -> bool {
        self.query.iter().any(|parameter| matches!(parameter.holds, Holds::Locales))
    }

    /// Takes `page` and `per_page`.
    pub(crate) fn pages(self) -> Self {
        self.with("page", Holds::Page).with("per_page", Holds::PageLength)
    }

    /// Takes `space_manifest` and `space_id`.
    pub(crate) fn within_space(self) -> Self {
        const MANIFESTS: &[&str] = &["participatory_processes", "assemblies", "conferences", "initiatives"];
        self.with("space_manifest", Holds::Word(MANIFESTS)).with("space_id", Holds::Integer)
    }

    /// Takes `order` and `order_direction`.
    pub(crate) fn order(self, orders: &'static [&'static str]) -> Self {
        self.with("order", Holds::Word(orders)).with("order_direction", Holds::Word(&["asc", "desc"]))
    }

    /// Takes every filter these fields allow.
    pub(crate) fn filters<F>(mut self, fields: &'static [Field<F>]) -> Self {
        for field in fields {
            for predicate in field.kind.predicates() {
                let list = matches!(*predicate, "in" | "not_in");
                let name = format!("filter[{}_{predicate}]{}", field.name, if list { "[]" } else { "" });
                let single = value_of(field.kind, predicate);
                let holds = if list { Holds::List(Box::new(single)) } else { single };
                self = self.with(&name, holds);
            }
        }
        self
    }
}

fn value_of(kind: Kind, predicate: &str) -> Holds {
    match (kind, predicate) {
        (_, "blank" | "present") => Holds::Boolean,
        (_, "start" | "matches" | "cont") => Holds::Text,
        (Kind::Integer, _) => Holds::Integer,
        (Kind::Enum(words), _) => Holds::Word(words),
        _ => Holds::Text,
    }
}
