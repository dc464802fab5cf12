//! `/organizations` (contract 03 §1).

use crate::document::Doc;
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::route::{Answer, Gate, Routes, Write};
use crate::shapes::{CreationDate, EditionDate, LocaleName, TimeZoneName, TranslatedProp};
use actix_web::http::{Method, StatusCode};
use civitas_application::{Registry, RenderContext};
use civitas_kernel::extended_data::is_blank;
use civitas_kernel::{Ability, Error, Locale, Locales, OrganizationId, Result, Translated};
use civitas_organizations::{
    Organization, OrganizationUpdates, Organizations, READ_ORGANIZATIONS, RegistrationMode,
    UpdateOrganization, UpdatedOrganization,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use utoipa::ToSchema;

/// An organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrganizationView {
    id: String,
    #[serde(rename = "type")]
    kind: OrganizationType,
    attributes: OrganizationAttributes,
    meta: OrganizationMeta,
}

/// The type of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization_object_type)]
#[serde(rename_all = "snake_case")]
enum OrganizationType {
    /// `organization`
    Organization,
}

/// The settings of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization_attributes)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, named as in the contract")]
struct OrganizationAttributes {
    name: TranslatedProp,
    description: TranslatedProp,
    /// Begins the names of uploaded files and references.
    reference_prefix: String,
    /// The primary domain.
    host: String,
    /// Names that redirect to the primary domain.
    secondary_hosts: Vec<String>,
    #[schema(value_type = Vec<LocaleName>)]
    available_locales: Locales,
    #[schema(value_type = LocaleName)]
    default_locale: Locale,
    /// New users get a welcome mail.
    send_welcome_notification: bool,
    #[schema(value_type = RegistrationModeName)]
    users_registration_mode: RegistrationMode,
    force_users_to_authenticate_before_access_organization: bool,
    badges_enabled: bool,
    /// Spaces can be filtered by area and scope.
    enable_participatory_space_filters: bool,
    enable_machine_translations: bool,
    user_groups_enabled: bool,
    #[schema(value_type = TimeZoneName)]
    time_zone: String,
    /// In characters.
    #[schema(minimum = 1)]
    comments_max_length: i64,
    rich_text_editor_in_public_views: bool,
    created_at: CreationDate,
    updated_at: EditionDate,
    /// Empty for clients that may not read it.
    #[schema(value_type = Object)]
    extended_data: Map<String, Value>,
}

/// Who may register.
#[derive(ToSchema)]
#[schema(as = users_registration_mode)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "names the words of the document")]
pub(crate) enum RegistrationModeName {
    /// Everybody.
    Enabled,
    /// Nobody new; existing users may log in.
    Existing,
    /// Nobody.
    Disabled,
}

/// What goes with an answer about an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization_meta)]
#[serde(deny_unknown_fields)]
struct OrganizationMeta {
    /// The languages of this answer.
    #[schema(value_type = Vec<LocaleName>)]
    locales: Locales,
    /// A primary domain that waits for its confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed_host: Option<String>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = Doc::new("Lists the organizations the client reaches", "organization_index_response");
    let list = list.locales().pages().fails(400);
    routes.read("listOrganizations", "/organizations", READ_ORGANIZATIONS, list, index);
    let show = Doc::new("Shows an organization", "organization_item_response");
    let show = show.locales().fails(400).fails(404);
    let unused = || Doc::new("Not implemented", "organization_item_response");
    routes.on("", Method::POST, "/organizations", Gate::NoAction, unused(), index);
    routes.on("", Method::DELETE, "/organizations/{id}", Gate::NoAction, unused(), show_one);
    routes.read("getOrganization", "/organizations/{id}", READ_ORGANIZATIONS, show, show_one);
    routes.write_or_patch(Write {
        ids: ["updateOrganizationAsync", "updateOrganization"],
        method: Method::PUT,
        paths: ["/organizations/{id}", "/organizations/{id}/sync"],
        status: StatusCode::OK,
        read: read_update,
        doc: || {
            let doc = Doc::new("Updates settings of an organization", "organization_item_response");
            let doc = doc.locales().takes("organization_update_body").fails(400).fails(404);
            doc.noting("What is not sent stays. A new `host` waits until it leads here.")
        },
    });
}

/// `single_label_hosts`: whether hosts may be names without a dot.
pub(crate) fn commands(to: Registry, single_label_hosts: bool) -> Registry {
    to.on::<UpdateOrganization>(
        move |p| {
            Box::new(OrganizationUpdates { store: p.organizations(), queue: p.queue(), single_label_hosts })
        },
        |context, UpdatedOrganization { id, organization }| {
            json!(Document { data: view(context, id, organization) })
        },
    )
}

fn read_update(request: &Request) -> Result<UpdateOrganization> {
    let Some(Value::Object(attributes)) = request.body.get("data").filter(|data| !is_blank(data)) else {
        return Err(Error::missing("data"));
    };
    Ok(UpdateOrganization { id: OrganizationId(request.id()?), attributes: attributes.clone() })
}

async fn index(request: Request) -> Answer {
    let context = request.render_context()?;
    let page = service(&request).list(context.ctx, request.query.page()).await?;
    let newest = page.items.iter().map(|(_, organization)| organization.updated_at).max();
    let page = page.map(|(id, organization)| view(&context, id, organization));
    Ok(Reply::list(&request, page, false, newest.unwrap_or(OffsetDateTime::UNIX_EPOCH))?)
}

async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let id = OrganizationId(request.id()?);
    let organization = service(&request).find(context.ctx, id).await?;
    let changed_at = organization.updated_at;
    Ok(Reply::read(&request, &Document { data: view(&context, id, organization) }, changed_at)?)
}

fn service(request: &Request) -> Organizations<'_> {
    Organizations { store: request.ports().organizations() }
}

/// An organization as its caller reads it.
pub(crate) fn view(context: &RenderContext<'_>, id: OrganizationId, from: Organization) -> OrganizationView {
    let locales = context.locales();
    let part = |text: &Translated| TranslatedProp(text.only(locales));
    let extended_data = if context.ctx.may(Ability::OrganizationsExtendedDataRead) {
        let pending = from.unconfirmed_host.iter();
        let pending = pending.map(|host| ("unconfirmed_host".to_owned(), Value::from(host.as_str())));
        from.extended_data.into_iter().chain(pending).collect()
    } else {
        Map::new()
    };
    let authenticate = from.force_users_to_authenticate_before_access_organization;
    OrganizationView {
        id: id.to_string(),
        kind: OrganizationType::Organization,
        attributes: OrganizationAttributes {
            name: part(&from.name),
            description: part(&from.description),
            reference_prefix: from.reference_prefix,
            host: from.host,
            secondary_hosts: from.secondary_hosts,
            available_locales: from.available_locales,
            default_locale: from.default_locale,
            send_welcome_notification: from.send_welcome_notification,
            users_registration_mode: from.users_registration_mode,
            force_users_to_authenticate_before_access_organization: authenticate,
            badges_enabled: from.badges_enabled,
            enable_participatory_space_filters: from.enable_participatory_space_filters,
            enable_machine_translations: from.enable_machine_translations,
            user_groups_enabled: from.user_groups_enabled,
            time_zone: from.time_zone,
            comments_max_length: from.comments_max_length,
            rich_text_editor_in_public_views: from.rich_text_editor_in_public_views,
            created_at: CreationDate(from.created_at),
            updated_at: EditionDate(from.updated_at),
            extended_data,
        },
        meta: OrganizationMeta { locales: locales.clone(), unconfirmed_host: from.unconfirmed_host },
    }
}
