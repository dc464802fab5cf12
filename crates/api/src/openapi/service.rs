//! The four service routes, which belong to no resource (contract 01 §11b).

use super::responses::{etag, moved, not_modified};
use super::shared::Health;
use utoipa::ToSchema;
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{
    Content, HttpMethod, Paths, Ref, RefOr, Response, ResponseBuilder, Schema, SecurityRequirement, Type,
};

/// The paths of the service itself.
pub(super) fn paths() -> Paths {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let with_etag = |answer: Response| ResponseBuilder::from(answer).header("ETag", etag()).build();
    let page = with_etag(answers("An HTML page", "text/html", text));
    let object = ObjectBuilder::new().schema_type(Type::Object);
    let document = with_etag(answers("The document", "application/json", object));
    let tagged = |answer| vec![("200", answer), ("304", not_modified())];
    let health = |says| answers(says, "application/json", Ref::from_schema_name(Health::name()));
    let operations = [
        ("/", about("The landing page", "getLandingPage"), tagged(page.clone())),
        ("/docs", about("The documentation page", "getDocumentationPage"), tagged(page)),
        ("/openapi.json", about("This document", "getOpenapiDocument"), tagged(document)),
        (
            "/health",
            about("Whether the service works", "getHealth"),
            vec![("200", health("It does")), ("503", health("The database does not answer"))],
        ),
    ];
    let mut paths = Paths::new();
    for (path, operation, responses) in operations {
        let operation =
            responses.into_iter().fold(operation, |o, (status, answer)| o.response(status, answer));
        let error = Ref::from_schema_name("error");
        let malformed = answers("The head of the request is malformed", "application/json", error);
        let operation = operation.response("301", moved()).response("400", malformed);
        let operation: Operation = operation.build();
        paths.add_path_operation(path, vec![HttpMethod::Get], operation);
    }
    paths
}

fn about(summary: &str, id: &str) -> OperationBuilder {
    OperationBuilder::new()
        .tag(super::tags::SERVICE)
        .summary(Some(summary))
        .description(Some("Answers on any host, whatever is switched off. No token is needed."))
        .operation_id(Some(id))
        .securities(Some(Vec::<SecurityRequirement>::new()))
}

fn answers(says: &str, media_type: &str, schema: impl Into<RefOr<Schema>>) -> Response {
    ResponseBuilder::new().description(says).content(media_type, Content::new(Some(schema))).build()
}
