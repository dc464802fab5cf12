//! `/users` (contract 03 §2.1), and an account as events show it (09 C.2).

use crate::answers;
use crate::document::OperationDoc;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{CreationDate, EditionDate, LocaleName, ResourceIdentifier, UserType};
use civitas_accounts::{READ_USERS, USER_FIELDS, User, Users};
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{Ability, Locale, UserId, UserState};
use civitas_organizations::Tenant;
use serde::Serialize;
use utoipa::ToSchema;

/// An account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = user)]
pub(crate) struct UserView {
    id: String,
    r#type: UserType,
    attributes: UserAttributes,
    relationships: UserRelationships,
    meta: UserMeta,
}

/// The attributes of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = user_attributes)]
struct UserAttributes {
    name: String,
    nickname: String,
    /// As written by the user: not checked, and markup is kept.
    #[schema(required)]
    personal_url: Option<String>,
    email: String,
    /// As written by the user: not checked, and markup is kept.
    #[schema(required)]
    about: Option<String>,
    /// The user's, else the organization's.
    #[schema(value_type = LocaleName)]
    locale: Locale,
    /// Empty for clients that may not read it.
    #[schema(value_type = Object)]
    extended_data: ExtendedDataValue,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// Relationships of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = user_relationships)]
struct UserRelationships {
    roles: UserRoles,
}

/// Always empty: roles are a resource of their own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = user_roles)]
struct UserRoles {
    data: Vec<ResourceIdentifier>,
}

/// Whether the account may be used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = user_meta)]
struct UserMeta {
    blocked: bool,
    locked: bool,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<UserView>("Lists the people of the organization").with_list_parameters();
    routes.read("listUsers", "/users", READ_USERS, list.with_filters(USER_FIELDS), index);
}

async fn index(request: Request) -> HandlerResult {
    let ctx = request.ctx()?;
    let store = request.list_store(Ability::OauthExtendedDataRead)?;
    let users = Users { store: store.users() };
    let page = users.list(ctx, &request.filter()?, request.page()?).await?;
    let in_full = ctx.may(Ability::OauthExtendedDataRead);
    let view = |(id, user): (UserId, User)| view(&request.tenant, id, &user, in_full);
    answers::page_reply(&request, &["users"], page, false, |(_, user)| user.updated_at, view).await
}

/// An account without its extended data.
pub(crate) fn event_view(tenant: &Tenant, id: UserId, user: &User) -> UserView {
    view(tenant, id, user, false)
}

fn view(tenant: &Tenant, id: UserId, user: &User, in_full: bool) -> UserView {
    UserView {
        id: id.to_string(),
        r#type: UserType,
        attributes: UserAttributes {
            name: user.name.clone(),
            nickname: user.nickname.clone(),
            personal_url: user.personal_url.clone(),
            email: user.email.clone(),
            about: user.about.clone(),
            locale: user.locale.unwrap_or(tenant.default_locale),
            extended_data: if in_full { user.extended_data.clone() } else { ExtendedDataValue::default() },
            created_at: CreationDate(user.created_at),
            updated_at: EditionDate(user.updated_at),
        },
        relationships: UserRelationships { roles: UserRoles { data: Vec::new() } },
        meta: UserMeta { blocked: user.state() == UserState::Blocked, locked: user.locked_at.is_some() },
    }
}
