//! Organizations and their hosts.

pub(super) mod hosts;

use crate::columns::{self, Condition, EnumColumn, columns};
use crate::engine::{Conn, Db};
use crate::filter::{FilterColumn, column_condition, containing};
use crate::list_pages::{in_order, page_of};
use crate::schema::{organization_hosts, organization_names, organizations};
use crate::session::{ExecuteExt, LoadRowsExt, Session, TransactionScope, borrowed_connection, lock_row};
use async_trait::async_trait;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::records::{Change, Entity};
use civitas_kernel::text::{fold_case, nfc};
use civitas_kernel::{Error, Locale, Locales, OrganizationId, Page, PageRequest, Result, Translated};
use civitas_organizations::{
    Features, HostMatch, MoveState, Organization, OrganizationField, OrganizationFilter, OrganizationQuery,
    OrganizationStore, RegistrationMode, Tenant,
};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};
use hosts::{
    CONFIRMED, FAILED, HostRow, PENDING, PRIMARY, PROMOTED, SECONDARY, UNCONFIRMED, hosts_of, write_hosts,
};
use std::collections::{BTreeSet, HashMap};
use time::OffsetDateTime;

columns! {
    /// An organization as its row stores it, without its hosts.
    organizations as Organization;
    fields {
        name: Translated,
        description: Translated,
        available_locales: Locales,
        default_locale: Locale,
        reference_prefix: String,
        time_zone: String,
        comments_max_length: i64,
        users_registration_mode: RegistrationMode,
        force_users_to_authenticate_before_access_organization as force_users_to_authenticate: bool,
        badges_enabled: bool,
        enable_participatory_space_filters: bool,
        enable_machine_translations: bool,
        user_groups_enabled: bool,
        rich_text_editor_in_public_views: bool,
        send_welcome_notification: bool,
        external_domain_allowlist: Vec<String>,
        max_attachment_bytes: i64,
        features: Features,
        extended_data: ExtendedDataValue,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with {
        host: String,
        secondary_hosts: Vec<String>,
        unconfirmed_secondary_hosts: Vec<String>,
        unconfirmed_host: Option<String>,
    }
}

impl Row {
    /// The organization with these hosts, in their order.
    fn with_hosts(self, hosts: Vec<HostRow>) -> Result<Organization> {
        let mut primary = None;
        let mut secondary_hosts = Vec::new();
        let mut unconfirmed_secondary = Vec::new();
        let mut unconfirmed_host = None;
        for HostRow { host, kind, state, .. } in hosts {
            if kind != UNCONFIRMED && state != CONFIRMED {
                unconfirmed_secondary.push(host.clone());
            }
            match kind.as_str() {
                PRIMARY => primary = Some(host),
                SECONDARY => secondary_hosts.push(host),
                PROMOTED => {
                    secondary_hosts.push(host.clone());
                    unconfirmed_host = Some(host);
                }
                _ => unconfirmed_host = Some(host),
            }
        }
        let primary = primary.ok_or_else(|| Error::internal("an organization without primary host"))?;
        Ok(self.into_model(primary, secondary_hosts, unconfirmed_secondary, unconfirmed_host))
    }
}

/// The form in which names are unique.
fn folded_name(text: &str) -> String {
    fold_case(&nfc(text))
}

/// Replaces the names of an organization.
async fn write_names(atomic: &TransactionScope<'_>, id: OrganizationId, name: &Translated) -> Result<()> {
    let own = organization_names::table.filter(organization_names::organization_id.eq(id.0));
    diesel::delete(own).run_on(atomic.connection()).await?;
    let texts: BTreeSet<String> =
        name.iter().map(|(_, text)| folded_name(text)).filter(|t| !t.is_empty()).collect();
    for text in texts {
        let written = diesel::insert_into(organization_names::table)
            .values((organization_names::folded.eq(text), organization_names::organization_id.eq(id.0)))
            .on_conflict_do_nothing()
            .run_on(atomic.connection())
            .await?;
        if written == 0 {
            return Err(Organization::name_taken_error());
        }
    }
    Ok(())
}

/// The rows of a page, each with its hosts.
async fn with_hosts(
    connection: &mut Conn,
    page: Page<(i64, Row)>,
) -> Result<Page<(OrganizationId, Organization)>> {
    let Page { items, has_more, total } = page;
    if items.is_empty() {
        return Ok(Page::new(Vec::new(), has_more).with_total(total));
    }
    let hosts: Vec<HostRow> = organization_hosts::table
        .filter(organization_hosts::organization_id.eq_any(items.iter().map(|(id, _)| *id)))
        .order(organization_hosts::position)
        .select(columns::all_columns::<HostRow>())
        .rows_from(borrowed_connection(connection))
        .await?;
    let mut by_organization: HashMap<i64, Vec<HostRow>> = HashMap::new();
    for host in hosts {
        by_organization.entry(host.organization_id).or_default().push(host);
    }
    let items = items.into_iter().map(|(id, row)| {
        let hosts = by_organization.remove(&id).unwrap_or_default();
        row.with_hosts(hosts).map(|organization| (OrganizationId(id), organization))
    });
    Ok(Page::new(items.collect::<Result<_>>()?, has_more).with_total(total))
}

/// Whether an organization has a name or a primary host that contains a text. Both columns are folded.
fn called(text: &str) -> Box<dyn BoxableExpression<organizations::table, Db, SqlType = Bool>> {
    let pattern = containing(&folded_name(text));
    let condition = sql::<Bool>(
        "(EXISTS (SELECT 1 FROM organization_names WHERE organization_names.organization_id = organizations.id \
         AND organization_names.folded LIKE ",
    )
    .bind::<Text, _>(pattern.clone())
    .sql(
        " ESCAPE '\\') OR EXISTS (SELECT 1 FROM organization_hosts \
         WHERE organization_hosts.organization_id = organizations.id AND organization_hosts.kind = 'primary' \
         AND organization_hosts.host LIKE ",
    )
    .bind::<Text, _>(pattern)
    .sql(" ESCAPE '\\'))");
    Box::new(condition)
}

fn condition(filter: &OrganizationFilter) -> Result<Condition<organizations::table>> {
    let column = match filter.field {
        OrganizationField::Id => FilterColumn::Integer(Box::new(organizations::id.nullable())),
        OrganizationField::CreatedAt => FilterColumn::Time(Box::new(organizations::created_at.nullable())),
        OrganizationField::UpdatedAt => FilterColumn::Time(Box::new(organizations::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

impl Session {
    /// Refuses hosts of other organizations, before any write.
    async fn check_hosts(&self, organization: &Organization, own: Option<OrganizationId>) -> Result<()> {
        let id = own.unwrap_or(OrganizationId(0));
        let wanted: Vec<String> = hosts_of(id, organization).into_iter().map(|h| h.host).collect();
        if self.taken_hosts(own, &wanted).await?.is_empty() {
            Ok(())
        } else {
            Err(Organization::key_taken_error())
        }
    }
}

#[async_trait]
impl OrganizationStore for Session {
    async fn locate(&self, host: &str) -> Result<Option<HostMatch>> {
        self.look_up(|lookups| &lookups.hosts, host.to_owned(), self.find_host(host)).await
    }

    async fn tenant(&self, id: OrganizationId) -> Result<Option<Tenant>> {
        self.look_up(|lookups| &lookups.tenants, id.0, self.find_tenant(id)).await
    }

    async fn find(&self, id: OrganizationId) -> Result<Option<Organization>> {
        let rows: Vec<(Row, HostRow)> = organizations::table
            .inner_join(organization_hosts::table)
            .filter(organizations::id.eq(id.0))
            .order(organization_hosts::position)
            .select((columns::all_columns::<Row>(), columns::all_columns::<HostRow>()))
            .rows_from(self.read())
            .await?;
        let (mut rows, hosts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        rows.pop().map(|row| row.with_hosts(hosts)).transpose()
    }

    async fn find_for_update(&self, id: OrganizationId) -> Result<Option<Organization>> {
        let row = organizations::table.find(id.0).select(organizations::id);
        if lock_row!(self, row) { OrganizationStore::find(self, id).await } else { Ok(None) }
    }

    async fn list(
        &self,
        query: &OrganizationQuery,
        page: PageRequest,
    ) -> Result<Page<(OrganizationId, Organization)>> {
        let listed = || {
            let mut rows = organizations::table
                .filter(organizations::deleted_at.is_null())
                .select((organizations::id, columns::all_columns::<Row>()))
                .into_boxed::<Db>();
            match query {
                OrganizationQuery::ById(only, filters) => {
                    if let Some(only) = only {
                        rows = rows.filter(organizations::id.eq(only.0));
                    }
                    for filter in filters {
                        rows = rows.filter(condition(filter)?);
                    }
                }
                OrganizationQuery::ByName(Some(text)) => rows = rows.filter(called(text)),
                OrganizationQuery::ByName(None) => {}
            }
            Result::<_>::Ok(rows)
        };
        let all = page.is_counted.then(listed).transpose()?;
        let name = sql::<Nullable<Text>>("organizations.name ->> organizations.default_locale");
        let (rows, is_long) = match query {
            OrganizationQuery::ById(_, filters) => {
                (in_order!(listed()?, page, organizations, organizations::id), !filters.is_empty())
            }
            OrganizationQuery::ByName(_) => (listed()?.order((name, organizations::id)), true),
        };
        let connection = &mut *self.read_page(page, is_long).await?;
        let page: Page<(i64, Row)> = page_of(connection, rows, all, page, self.bounds).await?;
        with_hosts(connection, page).await
    }

    async fn taken_hosts(&self, own: Option<OrganizationId>, hosts: &[String]) -> Result<Vec<String>> {
        organization_hosts::table
            .filter(organization_hosts::host.eq_any(hosts))
            .filter(organization_hosts::organization_id.ne(own.map_or(0, |id| id.0)))
            .filter(organization_hosts::state.ne(FAILED))
            .select(organization_hosts::host)
            .rows_from(self.read())
            .await
    }

    async fn taken_names(&self, own: Option<OrganizationId>, texts: &[String]) -> Result<Vec<String>> {
        let wanted: Vec<String> = texts.iter().map(|text| folded_name(text)).collect();
        let taken: Vec<String> = organization_names::table
            .filter(organization_names::folded.eq_any(&wanted))
            .filter(organization_names::organization_id.ne(own.map_or(0, |id| id.0)))
            .select(organization_names::folded)
            .rows_from(self.read())
            .await?;
        let is_taken = |text: &&String| taken.contains(&folded_name(text));
        Ok(texts.iter().filter(is_taken).cloned().collect())
    }

    async fn find_by_host(&self, host: &str) -> Result<Option<OrganizationId>> {
        let found: Option<i64> = organization_hosts::table
            .filter(organization_hosts::host.eq(host))
            .filter(organization_hosts::kind.eq(PRIMARY))
            .select(organization_hosts::organization_id)
            .first_from(self.read())
            .await?;
        Ok(found.map(OrganizationId))
    }

    async fn add(&self, organization: &Organization) -> Result<OrganizationId> {
        self.check_hosts(organization, None).await?;
        let atomic = self.transaction().await?;
        let assigned = self.take_assigned_id("organizations").map(|id| organizations::id.eq(id));
        let id: i64 = diesel::insert_into(organizations::table)
            .values((assigned, Changeset::new(organization)))
            .returning(organizations::id)
            .value_from(atomic.connection())
            .await?;
        let id = OrganizationId(id);
        write_hosts(&atomic, &hosts_of(id, organization)).await?;
        write_names(&atomic, id, &organization.name).await?;
        self.finish_write(atomic, id, Vec::new(), organization.events(id, None)).await?;
        Ok(id)
    }

    async fn save(&self, id: OrganizationId, change: &Change<Organization>) -> Result<()> {
        let state = &change.after;
        self.check_hosts(state, Some(id)).await?;
        let atomic = self.transaction().await?;
        let mut wanted = hosts_of(id, state);
        let own = organization_hosts::table.filter(organization_hosts::organization_id.eq(id.0));
        let kept: Vec<HostRow> = own
            .order(organization_hosts::position)
            .select(columns::all_columns::<HostRow>())
            .rows_from(atomic.connection())
            .await?;
        diesel::update(organizations::table.find(id.0))
            .set(Changeset::new(state))
            .change_on(atomic.connection())
            .await?;
        // An update alone claims no released host again.
        let has_failed = |host: &HostRow| kept.iter().any(|old| old.host == host.host && old.state == FAILED);
        for host in wanted.iter_mut().filter(|host| host.state == PENDING && has_failed(host)) {
            FAILED.clone_into(&mut host.state);
        }
        if kept != wanted {
            diesel::delete(own).run_on(atomic.connection()).await?;
            write_hosts(&atomic, &wanted).await?;
        }
        write_names(&atomic, id, &state.name).await?;
        self.finish_write(atomic, id, Vec::new(), change.events(id)).await
    }

    async fn release_hosts(&self, id: OrganizationId, hosts: &[String]) -> Result<()> {
        diesel::update(organization_hosts::table.filter(organization_hosts::organization_id.eq(id.0)))
            .filter(organization_hosts::host.eq_any(hosts))
            .filter(organization_hosts::state.eq(PENDING))
            .set(organization_hosts::state.eq(FAILED))
            .done_on(self.write())
            .await
    }

    async fn set_move_state(&self, id: OrganizationId, state: Option<MoveState>) -> Result<()> {
        diesel::update(organizations::table.find(id.0).filter(organizations::deleted_at.is_null()))
            .set(organizations::move_state.eq(state.map(EnumColumn)))
            .change_on(self.write())
            .await
    }

    async fn served_hosts(&self, after: &str, limit: i64) -> Result<Vec<String>> {
        let is_leaving = organizations::move_state.eq(EnumColumn(MoveState::Leaving));
        organization_hosts::table
            .inner_join(organizations::table)
            .filter(organization_hosts::state.eq(CONFIRMED))
            .filter(organizations::move_state.is_null().or(is_leaving))
            .filter(organization_hosts::host.gt(after))
            .order(organization_hosts::host)
            .limit(limit)
            .select(organization_hosts::host)
            .rows_from(self.read())
            .await
    }

    async fn ids(&self, after: Option<OrganizationId>, limit: i64) -> Result<Vec<OrganizationId>> {
        let ids: Vec<i64> = organizations::table
            .filter(organizations::deleted_at.is_null())
            .filter(organizations::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(organizations::id)
            .limit(limit)
            .select(organizations::id)
            .rows_from(self.read())
            .await?;
        Ok(ids.into_iter().map(OrganizationId).collect())
    }
}
