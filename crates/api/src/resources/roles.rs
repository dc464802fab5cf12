//! `/roles` (contract 03 §4).

use crate::answers;
use crate::document::OperationDoc;
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, delete, post, put};
use crate::shapes::{CreationDate, EditionDate, RoleObjectType, RoleResourceName, RoleTypeName, iso_seconds};
use crate::typed_body::{DataBody, NoBody, RawBody};
use actix_web::http::StatusCode;
use civitas_accounts::{
    CreateRole, DestroyRole, READ_ROLES, ROLE_FIELDS, RoleDetail, RoleId, Roles, UpdateRole,
};
use civitas_application::Ports;
use civitas_kernel::{ClassNames, Error, Result, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use utoipa::ToSchema;

/// A role of a user, in the organization or in a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = role)]
pub(crate) struct RoleView {
    /// Changes with the type of the role.
    id: String,
    r#type: RoleObjectType,
    attributes: RoleAttributes,
}

/// The user of a role, its type, and its place.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = role_attributes)]
struct RoleAttributes {
    #[schema(value_type = RoleTypeName)]
    r#type: &'static str,
    /// Null for a pending invitation without account.
    #[schema(required)]
    user_id: Option<i64>,
    resource_id: i64,
    #[schema(value_type = RoleResourceName)]
    resource_type: Cow<'static, str>,
    /// Null for a role that was given directly.
    #[schema(required, format = "date-time")]
    invited_at: Option<String>,
    /// False while the invitation is pending.
    accepted_invite: bool,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// The user of a new role, its type, and its place.
#[derive(Deserialize, ToSchema)]
#[schema(as = role_create_body, examples(json!({"data": {"attributes": {
    "resource_type": "Platform::Assembly", "resource_id": 7, "user_id": 42, "type": "space_moderator"}}})))]
struct RoleToCreate {
    #[schema(inline)]
    attributes: CreateAttributes,
}

#[derive(Deserialize, ToSchema)]
struct CreateAttributes {
    /// `Platform::Organization` for a general administrator; initiatives have no roles.
    #[schema(value_type = RoleResourceName)]
    resource_type: String,
    resource_id: i64,
    user_id: i64,
    #[schema(value_type = RoleTypeName)]
    r#type: String,
}

/// The new type of a role. The other members are optional, and must have the values of the role.
#[derive(Deserialize, ToSchema)]
#[schema(as = role_update_body, examples(json!({"data": {"attributes": {"type": "space_moderator"}}})))]
struct RoleToUpdate {
    #[schema(inline)]
    attributes: UpdateAttributes,
}

#[derive(Deserialize, ToSchema)]
struct UpdateAttributes {
    #[schema(value_type = RoleTypeName)]
    r#type: String,
    #[schema(value_type = Option<RoleResourceName>)]
    resource_type: Option<Value>,
    #[schema(value_type = Option<i64>)]
    resource_id: Option<Value>,
    #[schema(value_type = Option<i64>)]
    user_id: Option<Value>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list =
        OperationDoc::page::<RoleView>("Lists the roles: general administrators, then those in spaces");
    routes.read(
        "listRoles",
        "/roles",
        READ_ROLES,
        list.with_list_parameters().with_filters(ROLE_FIELDS),
        index,
    );
    routes.read(
        "getRole",
        "/roles/{id}",
        READ_ROLES,
        OperationDoc::item::<RoleView>("Shows a role"),
        show_one,
    );
    routes.write(&WriteRoute {
        operations: post(["createRole", "createRoleSync"], "/roles"),
        read: create_command,
        use_case: |ports, _| Box::new(roles(ports)),
        view: |context, role| json!(Document { data: view(&context.site.class_names, &role) }),
        doc: OperationDoc::item::<RoleView>("Gives somebody a role")
            .with_status_created()
            .with_failure(404)
            .with_failure(422),
    });
    let doc = OperationDoc::item::<RoleView>("Makes a role in a space one of another type");
    routes.write(&WriteRoute {
        operations: put(["updateRoleAsync", "updateRole"], "/roles/{id}"),
        read: update_command,
        use_case: |ports, _| Box::new(roles(ports)),
        view: |context, role| json!(Document { data: view(&context.site.class_names, &role) }),
        doc: doc.with_note("The id changes with the type: the old one is gone.").with_failure(422),
    });
    routes.write(&WriteRoute {
        operations: delete(["deleteRoleAsync", "deleteRole"], "/roles/{id}"),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyRole { id: id(request)? }),
        use_case: |ports, _| Box::new(roles(ports)),
        view: |_, ()| Value::Null,
        doc: OperationDoc::without_json("Takes a role away", StatusCode::NO_CONTENT),
    });
}

fn roles(ports: &dyn Ports) -> Roles<'_> {
    Roles { store: ports.roles(), users: ports.users() }
}

/// The id in the path. An invalid id is not found.
fn id(request: &Request) -> Result<RoleId> {
    RoleId::decode_as(request.segment("id"), request.class_names()).ok_or(Error::NotFound)
}

fn create_command(request: &Request, sent: RawBody<'_, DataBody<RoleToCreate>>) -> Result<CreateRole> {
    let CreateAttributes { resource_type, resource_id, user_id, r#type } = sent.read()?.data.attributes;
    let resource_type = request.class_names().from_wire(&resource_type).into_owned();
    Ok(CreateRole { resource_type, resource_id, user: UserId(user_id), role_type: r#type })
}

fn update_command(request: &Request, sent: RawBody<'_, DataBody<RoleToUpdate>>) -> Result<UpdateRole> {
    let UpdateAttributes { r#type, resource_type, resource_id, user_id } = sent.read()?.data.attributes;
    let resource_type = resource_type.map(|sent| match sent {
        Value::String(name) => request.class_names().from_wire(&name).into(),
        other => other,
    });
    let identity = [("resource_type", resource_type), ("resource_id", resource_id), ("user_id", user_id)];
    let sent = identity.into_iter().filter_map(|(name, sent)| Some((name.to_owned(), sent?)));
    Ok(UpdateRole { id: id(request)?, role_type: r#type, sent: sent.collect() })
}

async fn index(request: Request) -> HandlerResult {
    let (roles, names) = (roles(request.ports()), request.class_names());
    let page = roles.list(request.ctx()?, &request.filter()?, request.page()?).await?;
    answers::page_reply(&request, &["roles"], page, false, |role| role.updated_at, |role| view(names, &role))
        .await
}

async fn show_one(request: Request) -> HandlerResult {
    let role = roles(request.ports()).find(request.ctx()?, &id(&request)?).await?;
    answers::record_reply(&request, &[], role.updated_at, view(request.class_names(), &role)).await
}

fn view(names: &ClassNames, role: &RoleDetail) -> RoleView {
    let RoleDetail { id, accepted_invite, created_at, updated_at } = role;
    RoleView {
        id: id.encode_as(names),
        r#type: RoleObjectType,
        attributes: RoleAttributes {
            r#type: id.role_type().as_str(),
            user_id: id.user().map(|user| user.0),
            resource_id: id.resource_id(),
            resource_type: names.to_wire(id.resource_type()),
            invited_at: id.invited_at().map(iso_seconds),
            accepted_invite: *accepted_invite,
            created_at: CreationDate(*created_at),
            updated_at: EditionDate(*updated_at),
        },
    }
}
