//! `organization`: a tenant.

use super::super::export::{ExportError, Row, Sink};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, maybe, need, set};
use super::super::record::Record;
use super::{ORGANIZATION, RecordType};
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{Field, Locale, Locales, OrganizationId, Translated};
use civitas_organizations::{Features, Organization, OrganizationAdmin, RegistrationMode};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) struct Organizations;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OrganizationRecord {
    host: Field<String>,
    name: Field<Translated>,
    description: Field<Translated>,
    available_locales: Field<Locales>,
    default_locale: Field<Locale>,
    secondary_hosts: Field<Vec<String>>,
    unconfirmed_host: Field<String>,
    reference_prefix: Field<String>,
    time_zone: Field<String>,
    comments_max_length: Field<i64>,
    users_registration_mode: Field<RegistrationMode>,
    force_users_to_authenticate_before_access_organization: Field<bool>,
    badges_enabled: Field<bool>,
    enable_participatory_space_filters: Field<bool>,
    enable_machine_translations: Field<bool>,
    user_groups_enabled: Field<bool>,
    rich_text_editor_in_public_views: Field<bool>,
    send_welcome_notification: Field<bool>,
    external_domain_allowlist: Field<Vec<String>>,
    max_attachment_bytes: Field<i64>,
    features: Field<FeaturesRecord>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

/// The switches a record names; the others stay as they are.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FeaturesRecord {
    enabled: Option<bool>,
    proposals_enabled: Option<bool>,
    blogs_enabled: Option<bool>,
    debates_enabled: Option<bool>,
    surveys_enabled: Option<bool>,
    forms_enabled: Option<bool>,
    meetings_enabled: Option<bool>,
    attachments_enabled: Option<bool>,
    budgets_enabled: Option<bool>,
    accountabilities_enabled: Option<bool>,
}

impl FeaturesRecord {
    fn over(self, kept: Features) -> Features {
        Features {
            enabled: self.enabled.unwrap_or(kept.enabled),
            proposals_enabled: self.proposals_enabled.unwrap_or(kept.proposals_enabled),
            blogs_enabled: self.blogs_enabled.unwrap_or(kept.blogs_enabled),
            debates_enabled: self.debates_enabled.unwrap_or(kept.debates_enabled),
            surveys_enabled: self.surveys_enabled.unwrap_or(kept.surveys_enabled),
            forms_enabled: self.forms_enabled.unwrap_or(kept.forms_enabled),
            meetings_enabled: self.meetings_enabled.unwrap_or(kept.meetings_enabled),
            attachments_enabled: self.attachments_enabled.unwrap_or(kept.attachments_enabled),
            budgets_enabled: self.budgets_enabled.unwrap_or(kept.budgets_enabled),
            accountabilities_enabled: self.accountabilities_enabled.unwrap_or(kept.accountabilities_enabled),
        }
    }
}

impl OrganizationRecord {
    fn begin(&self, import: &Import<'_>) -> Result<Organization, Fault> {
        need("available_locales", &self.available_locales)?;
        let (host, name) = (need("host", &self.host)?, need("name", &self.name)?);
        let locale = need("default_locale", &self.default_locale)?;
        Ok(Organization::new(host, name, locale, import.options.now))
    }

    fn apply(self, to: &mut Organization) -> Result<(), Fault> {
        set("host", self.host, &mut to.host)?;
        set("name", self.name, &mut to.name)?;
        fill(self.description, &mut to.description);
        set("available_locales", self.available_locales, &mut to.available_locales)?;
        set("default_locale", self.default_locale, &mut to.default_locale)?;
        fill(self.secondary_hosts, &mut to.secondary_hosts);
        maybe(self.unconfirmed_host, &mut to.unconfirmed_host);
        set("reference_prefix", self.reference_prefix, &mut to.reference_prefix)?;
        set("time_zone", self.time_zone, &mut to.time_zone)?;
        set("comments_max_length", self.comments_max_length, &mut to.comments_max_length)?;
        set("users_registration_mode", self.users_registration_mode, &mut to.users_registration_mode)?;
        let authenticate = &mut to.force_users_to_authenticate_before_access_organization;
        let name = "force_users_to_authenticate_before_access_organization";
        set(name, self.force_users_to_authenticate_before_access_organization, authenticate)?;
        set("badges_enabled", self.badges_enabled, &mut to.badges_enabled)?;
        let filters = &mut to.enable_participatory_space_filters;
        set("enable_participatory_space_filters", self.enable_participatory_space_filters, filters)?;
        let translations = &mut to.enable_machine_translations;
        set("enable_machine_translations", self.enable_machine_translations, translations)?;
        set("user_groups_enabled", self.user_groups_enabled, &mut to.user_groups_enabled)?;
        let editor = &mut to.rich_text_editor_in_public_views;
        set("rich_text_editor_in_public_views", self.rich_text_editor_in_public_views, editor)?;
        let welcome = &mut to.send_welcome_notification;
        set("send_welcome_notification", self.send_welcome_notification, welcome)?;
        fill(self.external_domain_allowlist, &mut to.external_domain_allowlist);
        set("max_attachment_bytes", self.max_attachment_bytes, &mut to.max_attachment_bytes)?;
        match self.features {
            Field::Absent => {}
            Field::Null => to.features = Features::default(),
            Field::Value(features) => to.features = features.over(to.features),
        }
        fill(self.extended_data, &mut to.extended_data);
        set("created_at", self.created_at, &mut to.created_at)?;
        set("updated_at", self.updated_at, &mut to.updated_at)
    }
}

/// The organization a record stands for: the one its ref was remembered for, else the one of its host.
async fn find(
    import: &Import<'_>,
    record: &Record,
    said: &OrganizationRecord,
) -> Result<Option<(OrganizationId, Organization)>, Fault> {
    let store = import.ports.organizations();
    if let Some(id) = record.seen_as(OrganizationId)
        && let Some(found) = store.find(id).await?
    {
        return Ok(Some((id, found)));
    }
    let Some(host) = said.host.as_value() else { return Ok(None) };
    let Some(id) = store.find_by_host(&host.trim().to_lowercase()).await? else { return Ok(None) };
    Ok(store.find(id).await?.map(|found| (id, found)))
}

#[async_trait]
impl RecordType for Organizations {
    fn name(&self) -> &'static str {
        ORGANIZATION
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        record.homeless()?;
        let said: OrganizationRecord = record.members()?;
        let before = find(import, &record, &said).await?;
        let mut organization = match &before {
            Some((_, organization)) => organization.clone(),
            None => said.begin(import)?,
        };
        said.apply(&mut organization)?;
        let store = import.ports.organizations();
        let admin = OrganizationAdmin {
            store,
            queue: import.ports.queue(),
            single_label_hosts: import.options.single_label_hosts,
        };
        let Some((id, old)) = before else {
            return Ok(Put::created(admin.create(&mut organization, import.options.now).await?));
        };
        let changed = admin.change(id, &old, organization, import.options.now).await?;
        Ok(if changed { Put::updated(id) } else { Put::unchanged(id) })
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        id: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let Some(from) = ports.organizations().find(id).await? else { return Ok(()) };
        let authenticate = from.force_users_to_authenticate_before_access_organization;
        sink.write(
            &Row::new(ORGANIZATION, id)
                .with("host", from.host)
                .with("name", from.name)
                .unless_empty("description", from.description)
                .with("available_locales", from.available_locales)
                .with("default_locale", from.default_locale)
                .unless_empty("secondary_hosts", from.secondary_hosts)
                .some("unconfirmed_host", from.unconfirmed_host)
                .with("reference_prefix", from.reference_prefix)
                .with("time_zone", from.time_zone)
                .with("comments_max_length", from.comments_max_length)
                .with("users_registration_mode", from.users_registration_mode)
                .unless_empty("force_users_to_authenticate_before_access_organization", authenticate)
                .unless_empty("badges_enabled", from.badges_enabled)
                .unless_empty("enable_participatory_space_filters", from.enable_participatory_space_filters)
                .unless_empty("enable_machine_translations", from.enable_machine_translations)
                .unless_empty("user_groups_enabled", from.user_groups_enabled)
                .unless_empty("rich_text_editor_in_public_views", from.rich_text_editor_in_public_views)
                .unless_empty("send_welcome_notification", from.send_welcome_notification)
                .unless_empty("external_domain_allowlist", from.external_domain_allowlist)
                .with("max_attachment_bytes", from.max_attachment_bytes)
                .with("features", from.features)
                .unless_empty("extended_data", from.extended_data)
                .stamps(from.created_at, from.updated_at),
        )
    }
}
