//! `/roles` (contract 03 §4).

use crate::document::Doc;
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::{data, integer, newest, object, present, text};
use crate::route::{Answer, Routes, Write};
use crate::shapes::{CreationDate, EditionDate, RoleResourceName, RoleTypeName, iso};
use actix_web::http::{Method, StatusCode};
use civitas_accounts::{
    CreateRole, DestroyRole, READ_ROLES, ROLE_FIELDS, RoleDetail, RoleId, Roles, UpdateRole,
};
use civitas_application::{Ports, Registry};
use civitas_kernel::{Error, Result, UserId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// What somebody is, in the organization or in a space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = role)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleView {
    /// Changes with the type of the role.
    id: String,
    #[serde(rename = "type")]
    kind: RoleObjectType,
    attributes: RoleAttributes,
}

/// The type of the document of a role.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = role_object_type)]
#[serde(rename_all = "snake_case")]
enum RoleObjectType {
    /// `role`
    Role,
}

/// Who is what, and where.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = role_attributes)]
#[serde(deny_unknown_fields)]
struct RoleAttributes {
    #[serde(rename = "type")]
    #[schema(value_type = RoleTypeName)]
    kind: &'static str,
    /// Null for a pending invitation without account.
    #[schema(required)]
    user_id: Option<i64>,
    resource_id: i64,
    #[schema(value_type = RoleResourceName)]
    resource_type: &'static str,
    /// Null for a role that was given directly.
    #[schema(required, format = "date-time")]
    invited_at: Option<String>,
    /// False while the invitation is pending.
    accepted_invite: bool,
    created_at: CreationDate,
    updated_at: EditionDate,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list =
        Doc::new("Lists the roles: general administrators, then those in spaces", "role_index_response");
    routes.read("listRoles", "/roles", READ_ROLES, list.pages().filters(ROLE_FIELDS).fails(400), index);
    let show = Doc::new("Shows a role", "role_item_response").fails(404);
    routes.read("getRole", "/roles/{id}", READ_ROLES, show, show_one);
    routes.write(Write {
        ids: ["createRole", "createRoleSync"],
        method: Method::POST,
        paths: ["/roles", "/roles/sync"],
        status: StatusCode::CREATED,
        read: read_create,
        doc: || {
            let doc = Doc::new("Gives somebody a role", "role_item_response").takes("role_create_body");
            doc.fails(400).fails(404).fails(422)
        },
    });
    routes.write(Write {
        ids: ["updateRoleAsync", "updateRole"],
        method: Method::PUT,
        paths: ["/roles/{id}", "/roles/{id}/sync"],
        status: StatusCode::OK,
        read: read_update,
        doc: || {
            let doc = Doc::new("Makes a role in a space one of another type", "role_item_response");
            let doc = doc.noting("The id changes with the type: the old one is gone.");
            doc.takes("role_update_body").fails(400).fails(404).fails(422)
        },
    });
    routes.write(Write {
        ids: ["deleteRoleAsync", "deleteRole"],
        method: Method::DELETE,
        paths: ["/roles/{id}", "/roles/{id}/sync"],
        status: StatusCode::NO_CONTENT,
        read: |request| Ok(DestroyRole { id: id(request)? }),
        doc: || Doc::silent("Takes a role away", StatusCode::NO_CONTENT).fails(404),
    });
}

pub(crate) fn commands(to: Registry) -> Registry {
    to.on::<CreateRole>(|p| Box::new(roles(p)), |_, role| json!(Document { data: view(&role) }))
        .on::<UpdateRole>(|p| Box::new(roles(p)), |_, role| json!(Document { data: view(&role) }))
        .on::<DestroyRole>(|p| Box::new(roles(p)), |_, ()| Value::Null)
}

fn roles(ports: &dyn Ports) -> Roles<'_> {
    Roles { store: ports.roles(), users: ports.users() }
}

/// The id in the path. What cannot be one names no role.
fn id(request: &Request) -> Result<RoleId> {
    RoleId::decode(request.segment("id")).ok_or(Error::NotFound)
}

fn attributes(request: &Request) -> Result<&Map<String, Value>> {
    object(data(&request.body)?, "attributes")
}

fn read_create(request: &Request) -> Result<CreateRole> {
    let sent = attributes(request)?;
    for name in ["resource_type", "resource_id", "user_id", "type"] {
        present(sent, name)?;
    }
    Ok(CreateRole {
        resource_type: text(sent, "resource_type")?,
        resource_id: integer(sent, "resource_id")?,
        user: UserId(integer(sent, "user_id")?),
        role_type: text(sent, "type")?,
    })
}

fn read_update(request: &Request) -> Result<UpdateRole> {
    let sent = attributes(request)?;
    let role_type = text(sent, "type")?;
    let identity = ["resource_type", "resource_id", "user_id"];
    let sent = identity.into_iter().filter_map(|name| Some((name.to_owned(), sent.get(name)?.clone())));
    Ok(UpdateRole { id: id(request)?, role_type, sent: sent.collect() })
}

async fn index(request: Request) -> Answer {
    let roles = roles(request.ports());
    let page = roles.list(request.ctx()?, &request.query.filter()?, request.query.page()).await?;
    let changed_at = newest(&request, &["roles"], page.items.iter().map(|r| r.updated_at)).await?;
    Ok(Reply::list(&request, page.map(|role| view(&role)), false, changed_at)?)
}

async fn show_one(request: Request) -> Answer {
    let role = roles(request.ports()).find(request.ctx()?, &id(&request)?).await?;
    Ok(Reply::read(&request, &Document { data: view(&role) }, role.updated_at)?)
}

fn view(role: &RoleDetail) -> RoleView {
    let RoleDetail { id, accepted_invite, created_at, updated_at } = role;
    RoleView {
        id: id.encode(),
        kind: RoleObjectType::Role,
        attributes: RoleAttributes {
            kind: id.role_type().as_str(),
            user_id: id.user().map(|user| user.0),
            resource_id: id.resource_id(),
            resource_type: id.resource_type(),
            invited_at: id.invited_at().map(iso),
            accepted_invite: *accepted_invite,
            created_at: CreationDate(*created_at),
            updated_at: EditionDate(*updated_at),
        },
    }
}
