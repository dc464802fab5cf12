//! `organization`: a tenant.

use super::{
    Change, Import, ImportContext, ImportResult, ORGANIZATION, RecordKind, RecordStore, Rows, Timestamp,
    members, required,
};
use super::{ExtendedDataValue, OrganizationId, PatchField, Ports, Result, Translated, async_trait};
use crate::owner::NoOrganization;
use civitas_kernel::{Locale, Locales};
use civitas_organizations::{Features, Organization, OrganizationAdministration, RegistrationMode};
use serde::Deserialize;

pub(super) struct OrganizationRecordType;

members! { OrganizationRecordType, ORGANIZATION, NoOrganization, OrganizationFields, |kind, organization: Organization| {
    host: required(String),
    name: required(Translated),
    description: filled(Translated),
    available_locales: required(Locales),
    default_locale: required(Locale),
    secondary_hosts: filled(Vec<String>),
    unconfirmed_secondary_hosts: filled(Vec<String>),
    unconfirmed_host: optional(String),
    reference_prefix: required(String),
    time_zone: required(String),
    comments_max_length: required(i64),
    users_registration_mode: required(RegistrationMode),
    force_users_to_authenticate_before_access_organization: flag(bool),
    badges_enabled: flag(bool),
    enable_participatory_space_filters: flag(bool),
    enable_machine_translations: flag(bool),
    user_groups_enabled: flag(bool),
    rich_text_editor_in_public_views: flag(bool),
    send_welcome_notification: flag(bool),
    external_domain_allowlist: filled(Vec<String>),
    max_attachment_bytes: required(i64),
    features: custom(FeaturesFields, set_features, with(organization.features)),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

macro_rules! features {
    ($($name:ident),+ $(,)?) => {
        /// The features of a record. An absent feature keeps its value.
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct FeaturesFields {
            $($name: Option<bool>),+
        }

        impl FeaturesFields {
            fn apply(&self, current: Features) -> Features {
                Features { $($name: self.$name.unwrap_or(current.$name)),+ }
            }
        }
    };
}

features! {
    enabled, proposals_enabled, blogs_enabled, debates_enabled, surveys_enabled, forms_enabled, meetings_enabled,
    attachments_enabled, budgets_enabled, accountabilities_enabled,
}

#[expect(clippy::unnecessary_wraps, reason = "the table of members expects a result")]
fn set_features(fields: &mut OrganizationFields, organization: &mut Organization) -> ImportResult {
    match &fields.features {
        PatchField::Absent => {}
        PatchField::Null => organization.features = Features::default(),
        PatchField::Value(features) => organization.features = features.apply(organization.features),
    }
    Ok(())
}

fn admin<'a>(context: &ImportContext<'a>) -> OrganizationAdministration<'a> {
    OrganizationAdministration {
        store: context.ports.organizations(),
        queue: context.ports.queue(),
        single_label_hosts: context.options.single_label_hosts,
    }
}

#[async_trait]
impl RecordStore for OrganizationRecordType {
    async fn find_for_update(
        &self,
        ports: &dyn Ports,
        _: NoOrganization,
        id: OrganizationId,
    ) -> Result<Option<Organization>> {
        ports.organizations().find_for_update(id).await
    }

    async fn page(
        &mut self,
        ports: &dyn Ports,
        owner: NoOrganization,
        after: Option<OrganizationId>,
    ) -> Rows<Self> {
        let (NoOrganization(Some(id)), None) = (owner, after) else { return Ok(Vec::new()) };
        let found = ports.organizations().find(id).await?;
        Ok(found.map(|organization| (id, organization)).into_iter().collect())
    }

    async fn add(
        &self,
        import: &Import<'_, '_, Self>,
        organization: &Organization,
    ) -> ImportResult<OrganizationId> {
        Ok(admin(import.context).create(&mut organization.clone(), import.context.options.now).await?)
    }

    async fn save(
        &self,
        import: &Import<'_, '_, Self>,
        id: OrganizationId,
        change: &Change<Organization>,
    ) -> ImportResult {
        let Change { before, after } = change;
        if import.context.options.expected.is_some() && before.host != after.host {
            return Err(format!("S-IDS: is {} already, from elsewhere", before.host).into());
        }
        admin(import.context).change(id, before, after.clone(), import.context.options.now).await?;
        Ok(())
    }
}

#[async_trait]
impl RecordKind for OrganizationRecordType {
    /// The host.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &OrganizationFields,
    ) -> ImportResult<Option<OrganizationId>> {
        let Some(host) = fields.host.as_value() else { return Ok(None) };
        Ok(import.context.ports.organizations().find_by_host(&host.trim().to_lowercase()).await?)
    }

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &OrganizationFields,
    ) -> ImportResult<Organization> {
        required("available_locales", &fields.available_locales)?;
        let (host, name) = (required("host", &fields.host)?, required("name", &fields.name)?);
        let locale = required("default_locale", &fields.default_locale)?;
        Ok(Organization::new(host, name, locale, import.context.options.now))
    }

    fn check(&self, context: &ImportContext<'_>, organization: &mut Organization) -> ImportResult {
        organization.normalize();
        Ok(organization.check(context.options.single_label_hosts)?)
    }
}
