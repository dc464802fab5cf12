//! `/organizations` (contract 03 §1).

use crate::answers;
use crate::document::OperationDoc;
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, RequiredAccess, Routes, WriteRoute, put};
use crate::shapes::{
    CreationDate, EditionDate, LocaleName, OrganizationType, RegistrationModeName, TimeZoneName,
    TranslatedProp,
};
use crate::typed_body::RawBody;
use actix_web::http::Method;
use civitas_application::RenderContext;
use civitas_kernel::extended_data::{ExtendedDataValue, is_blank};
use civitas_kernel::{Ability, Error, Locale, Locales, OrganizationId, Result, Translated};
use civitas_organizations::{
    ORGANIZATION_FIELDS, Organization, OrganizationAdministration, Organizations, READ_ORGANIZATIONS,
    RegistrationMode, UpdateOrganization, UpdatedOrganization,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::Ref;

/// An organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization)]
pub(crate) struct OrganizationView {
    id: String,
    r#type: OrganizationType,
    attributes: OrganizationAttributes,
    meta: OrganizationMeta,
}

/// The settings of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization_attributes)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, named as in the contract")]
struct OrganizationAttributes {
    name: TranslatedProp,
    description: TranslatedProp,
    /// The prefix of references and of names of uploaded files.
    reference_prefix: String,
    /// The primary domain.
    host: String,
    /// Names that redirect to the primary domain, once each resolves to this deployment.
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
    extended_data: ExtendedDataValue,
}

/// Additional data of an answer about an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = organization_meta)]
struct OrganizationMeta {
    /// The languages of this answer.
    #[schema(value_type = Vec<LocaleName>)]
    locales: Locales,
    /// A primary domain that is not confirmed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed_host: Option<String>,
}

/// Settings to change.
#[derive(Deserialize, ToSchema)]
#[schema(as = organization_update_body, examples(json!({"data": {
    "name": {"en": "Riverton"}, "host": "new.example.test", "available_locales": ["en", "fr"],
    "default_locale": "en", "comments_max_length": 500}})))]
struct OrganizationUpdateBody {
    // Read by the use case, setting by setting: the answer lists every invalid one.
    #[schema(schema_with = settings, required)]
    data: Option<Value>,
}

/// The settings to change, which are described without a type.
fn settings() -> Ref {
    Ref::from_schema_name("organization_update_data")
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<OrganizationView>("Lists the organizations the client reaches")
        .with_locales()
        .with_list_parameters();
    let list = list.with_filters(ORGANIZATION_FIELDS);
    routes.read("listOrganizations", "/organizations", READ_ORGANIZATIONS, list.at_replicas(), index);
    let show = OperationDoc::item::<OrganizationView>("Shows an organization").with_locales();
    let unused = || OperationDoc::item::<OrganizationView>("Not implemented");
    routes.add_route("", Method::POST, "/organizations", RequiredAccess::NoAction, unused(), index);
    routes.add_route("", Method::DELETE, "/organizations/{id}", RequiredAccess::NoAction, unused(), show_one);
    routes.read("getOrganization", "/organizations/{id}", READ_ORGANIZATIONS, show.at_replicas(), show_one);
    let doc = OperationDoc::item::<OrganizationView>("Updates settings of an organization").with_locales();
    routes.write_or_patch(&WriteRoute {
        operations: put(["updateOrganizationAsync", "updateOrganization"], "/organizations/{id}"),
        read: update_command,
        use_case: |ports, limits| {
            let (store, queue) = (ports.organizations(), ports.queue());
            Box::new(OrganizationAdministration {
                store,
                queue,
                single_label_hosts: limits.single_label_hosts,
            })
        },
        view: |context, UpdatedOrganization { id, organization }| {
            json!(Document { data: view(context, id, organization) })
        },
        doc: doc.with_note("What is not sent stays. A new `host` waits until it leads here."),
    });
}

fn update_command(
    request: &Request,
    sent: RawBody<'_, OrganizationUpdateBody>,
) -> Result<UpdateOrganization> {
    let Some(Value::Object(attributes)) = sent.read()?.data.filter(|data| !is_blank(data)) else {
        return Err(Error::missing("data"));
    };
    Ok(UpdateOrganization { id: OrganizationId(request.id()?), attributes })
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let store = request.list_store(Ability::OrganizationsExtendedDataRead)?;
    let organizations = Organizations { store: store.organizations() };
    let page = organizations.list(context.ctx, &request.filter()?, request.page()?).await?;
    let view = |(id, organization)| view(&context, id, organization);
    answers::page_reply(&request, &[], page, false, |(_, organization)| organization.updated_at, view).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let id = OrganizationId(request.id()?);
    let organizations = Organizations { store: request.ports().organizations() };
    let found = organizations.find(context.ctx, id).await?;
    answers::record_reply(&request, &[], found.updated_at, view(&context, id, found)).await
}

/// An organization as visible to the caller.
pub(crate) fn view(context: &RenderContext<'_>, id: OrganizationId, from: Organization) -> OrganizationView {
    let locales = context.locales();
    let part = |text: &Translated| TranslatedProp(text.in_locales(locales));
    let extended_data = if context.ctx.may(Ability::OrganizationsExtendedDataRead) {
        match &from.unconfirmed_host {
            None => from.extended_data,
            Some(host) => {
                let mut data = Map::from(from.extended_data);
                data.insert("unconfirmed_host".to_owned(), host.as_str().into());
                data.into()
            }
        }
    } else {
        ExtendedDataValue::default()
    };
    let authenticate = from.force_users_to_authenticate_before_access_organization;
    OrganizationView {
        id: id.to_string(),
        r#type: OrganizationType,
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
