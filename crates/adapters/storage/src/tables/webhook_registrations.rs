//! Registrations for webhooks.

use crate::columns::{self, ColumnValue, Condition, JsonColumn, LenientColumn, columns};
use crate::engine::{Db, dialect};
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::optional::filter_some;
use crate::schema::webhook_registrations::{self, self as registrations};
use crate::schema::{api_clients, organizations};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, WorkKind, lock_row};
use async_trait::async_trait;
use civitas_kernel::{
    Abilities, ClientId, EventName, OrganizationId, Page, PageRequest, RegistrationId, Result, Scopes,
};
use civitas_organizations::Features;
use civitas_webhooks::{
    CheckedRegistration, EventReceiver, EventSwitches, ReceiverRights, Registration, RegistrationField,
    RegistrationHealth, RegistrationListFilter, RegistrationStore, SealedSecret,
};
use diesel::dsl::{Eq, Filter, exists, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use time::OffsetDateTime;

columns! {
    /// A registration as its row stores it.
    webhook_registrations as Registration;
    id RegistrationId;
    fields {
        client as api_client_id: ClientId,
        organization as organization_id: Option<OrganizationId>,
        url: String,
        subscriptions: Vec<EventName>,
        secret as sealed_secret: SealedSecret,
        paused_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    nested {
        health: RegistrationHealth {
            failures as failures: i64,
            failing_since as failing_since: Option<OffsetDateTime>,
            succeeded_at as succeeded_at: Option<OffsetDateTime>,
            disabled_at as disabled_at: Option<OffsetDateTime>,
        },
    }
}

/// The columns of a receiver: those of the registration, its client, and the switches of its organization.
type ReceiverRow = (
    i64,
    Option<i64>,
    LenientColumn<JsonColumn<Vec<String>>>,
    String,
    String,
    Option<LenientColumn<JsonColumn<Features>>>,
);

/// The rights of a client with these columns.
pub(super) fn rights(scopes: &str, permissions: &str) -> ReceiverRights {
    ReceiverRights { scopes: Scopes::read(scopes), permissions: Abilities::read(permissions) }
}

/// The receiver. `None`, with a message in the log, when its subscriptions or the features of its organization cannot
/// be read: the receivers of others are not concerned.
fn receiver(
    (id, organization, subscriptions, scopes, permissions, features): ReceiverRow,
) -> Option<EventReceiver> {
    let columns = subscriptions
        .0
        .and_then(|subscriptions| Ok((subscriptions, features.map(|features| features.0).transpose()?)));
    let (subscriptions, features) = match columns {
        Ok(columns) => columns,
        Err(cause) => {
            tracing::error!(registration = id, cause, "a registration is left out: it cannot be read");
            return None;
        }
    };
    let switches = features.map_or(EventSwitches::ALL_ON, |JsonColumn(features)| EventSwitches {
        api: features.enabled,
        proposals: features.proposals_enabled,
        meetings: features.meetings_enabled,
    });
    Some(EventReceiver {
        id: RegistrationId(id),
        organization: organization.map(OrganizationId),
        subscriptions: ColumnValue::from_column(subscriptions),
        rights: rights(&scopes, &permissions),
        switches,
    })
}

type OfClient =
    Filter<Filter<registrations::table, Eq<registrations::id, i64>>, Eq<registrations::api_client_id, i64>>;

/// The registration of this id, if it is the client's.
fn registration_of(client: ClientId, id: RegistrationId) -> OfClient {
    registrations::table.filter(registrations::id.eq(id.0)).filter(registrations::api_client_id.eq(client.0))
}

fn condition(filter: &RegistrationListFilter) -> Result<Condition<registrations::table>> {
    let column = match filter.field {
        RegistrationField::Id => FilterColumn::Integer(Box::new(registrations::id.nullable())),
        RegistrationField::CreatedAt => FilterColumn::Time(Box::new(registrations::created_at.nullable())),
        RegistrationField::UpdatedAt => FilterColumn::Time(Box::new(registrations::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// Whether the client of a registration was not removed.
fn is_of_existing_client() -> SqlLiteral<Bool> {
    sql("webhook_registrations.api_client_id IN (SELECT id FROM api_clients WHERE deleted_at IS NULL)")
}

#[async_trait]
impl RegistrationStore for Session {
    async fn find(&self, client: ClientId, id: RegistrationId) -> Result<Option<Registration>> {
        registration_of(client, id).model_from::<Row, _>(self.read()).await
    }

    async fn update(
        &self,
        client: ClientId,
        id: RegistrationId,
        checked: &CheckedRegistration,
        now: OffsetDateTime,
    ) -> Result<Option<Registration>> {
        let none = None::<OffsetDateTime>;
        let row: Option<Row> = diesel::update(registration_of(client, id))
            .set((
                registrations::url.eq(&checked.url),
                registrations::subscriptions.eq(checked.subscriptions.to_column()),
                registrations::failures.eq(0),
                registrations::failing_since.eq(none),
                registrations::disabled_at.eq(none),
                registrations::updated_at.eq(now),
            ))
            .returning(columns::all_columns::<Row>())
            .row_from(self.write())
            .await?;
        // Deliveries may have waited while it was disabled.
        self.notify(WorkKind::Deliveries);
        Ok(row.map(Row::into_model))
    }

    async fn is_taken(&self, client: ClientId, url: &str, except: Option<RegistrationId>) -> Result<bool> {
        let others = registrations::table
            .filter(registrations::api_client_id.eq(client.0))
            .filter(registrations::url.eq(url))
            .filter(registrations::id.ne(except.map_or(i64::MIN, |id| id.0)));
        diesel::select(exists(others)).value_from(self.read()).await
    }

    async fn list(
        &self,
        client: ClientId,
        filters: &[RegistrationListFilter],
        page: PageRequest,
    ) -> Result<Page<(RegistrationId, Registration)>> {
        let connection = &mut *self.read_page(page, false).await?;
        let of_client = || registrations::table.filter(registrations::api_client_id.eq(client.0));
        let rows = || of_client().select(columns::all_columns::<Row>()).into_boxed::<Db>();
        let page: Page<Row> = list_page!(connection, page, self.bounds; rows();
            filters, |filter| condition(filter); registrations,
            (registrations::created_at.desc(), registrations::id.desc()));
        Ok(page.map(Into::into))
    }

    async fn count_for_update(&self, client: ClientId) -> Result<i64> {
        if !lock_row!(self, api_clients::table.filter(api_clients::id.eq(client.0)).select(api_clients::id)) {
            return Ok(0);
        }
        let own = registrations::table.filter(registrations::api_client_id.eq(client.0));
        own.count().value_from(self.for_update()).await
    }

    async fn add(&self, registration: &Registration) -> Result<Option<RegistrationId>> {
        let assigned = self.take_assigned_id("webhook_registrations").map(|id| registrations::id.eq(id));
        let id: Option<i64> = diesel::insert_into(registrations::table)
            .values((assigned, Changeset::new(registration)))
            .on_conflict_do_nothing()
            .returning(registrations::id)
            .row_from(self.write())
            .await?;
        Ok(id.map(RegistrationId))
    }

    async fn save(&self, id: RegistrationId, registration: &Registration) -> Result<()> {
        diesel::update(registrations::table.find(id.0))
            .set(Changeset::new(registration))
            .change_on(self.write())
            .await?;
        // Deliveries may have waited while it was paused.
        self.notify(WorkKind::Deliveries);
        Ok(())
    }

    async fn remove(&self, client: ClientId, id: RegistrationId) -> Result<bool> {
        diesel::delete(registration_of(client, id)).any_on(self.write()).await
    }

    async fn find_unrestricted(&self, id: RegistrationId) -> Result<Option<Registration>> {
        let row = registrations::table.find(id.0).filter(is_of_existing_client());
        row.model_from::<Row, _>(self.read()).await
    }

    async fn find_unrestricted_for_update(&self, id: RegistrationId) -> Result<Option<Registration>> {
        let row = registrations::table.find(id.0).filter(is_of_existing_client());
        dialect::for_update!(row).model_from::<Row, _>(self.for_update()).await
    }

    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        after: Option<RegistrationId>,
        limit: i64,
    ) -> Result<Vec<(RegistrationId, Registration)>> {
        let mut all = registrations::table.into_boxed::<Db>();
        filter_some!(all; organization => |organization| registrations::organization_id.eq(organization.0));
        all.filter(registrations::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .filter(is_of_existing_client())
            .order(registrations::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn receivers(&self, organizations: &[OrganizationId]) -> Result<Vec<EventReceiver>> {
        let ids: Vec<i64> = organizations.iter().map(|id| id.0).collect();
        let rows: Vec<ReceiverRow> = registrations::table
            .inner_join(api_clients::table)
            .left_join(organizations::table)
            .filter(api_clients::deleted_at.is_null())
            .filter(registrations::disabled_at.is_null())
            .filter(
                columns::any_of(registrations::organization_id, &ids)
                    .or(registrations::organization_id.is_null()),
            )
            .order(registrations::id)
            .select((
                registrations::id,
                registrations::organization_id,
                registrations::subscriptions,
                api_clients::scopes,
                api_clients::permissions,
                organizations::features.nullable(),
            ))
            .rows_from(self.read())
            .await?;
        Ok(rows.into_iter().filter_map(receiver).collect())
    }
}
