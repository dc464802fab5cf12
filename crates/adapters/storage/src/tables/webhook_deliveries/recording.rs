//! Records the ends of attempts.

use crate::columns::{self, EnumColumn, UuidColumn};
use crate::engine::{Db, dialect};
use crate::insert::{insert_rows, inserted};
use crate::prepared::PrepareOnce;
use crate::schema::webhook_attempts;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::webhook_registrations as registrations;
use crate::session::{ExecuteExt, LoadRowsExt, Session, TransactionScope};
use civitas_kernel::{RegistrationId, Result};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryOutcome, DeliveryStatus, DeliveryVerdict, ReceiverResponse, RegistrationHealth,
    SendError, SendErrorKind,
};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

/// An attempt as its row stores it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_attempts, check_for_backend(Db))]
pub(super) struct AttemptRow {
    delivery_id: UuidColumn,
    number: i64,
    at: OffsetDateTime,
    milliseconds: i64,
    status: Option<i64>,
    error: Option<String>,
    answer: String,
}

inserted! { AttemptRow as webhook_attempts [delivery_id, number, at, milliseconds, status, error, answer] }

impl AttemptRow {
    fn new(delivery: Uuid, number: i64, attempt: &DeliveryAttempt) -> Self {
        let (status, error, answer) = match &attempt.result {
            Ok(response) => (Some(i64::from(response.status)), None, &response.body),
            Err(error) => (None, Some(error.kind.as_str().to_owned()), &error.cause),
        };
        Self {
            delivery_id: UuidColumn(delivery),
            number,
            at: attempt.at,
            milliseconds: i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX),
            status,
            error,
            answer: storable(answer),
        }
    }
}

impl From<AttemptRow> for DeliveryAttempt {
    fn from(row: AttemptRow) -> Self {
        let result = match row.status.and_then(|status| u16::try_from(status).ok()) {
            Some(status) => Ok(ReceiverResponse { status, retry_after: None, body: row.answer }),
            None => Err(SendError {
                kind: row.error.as_deref().and_then(SendErrorKind::parse).unwrap_or(SendErrorKind::Internal),
                cause: row.answer,
            }),
        };
        let duration = Duration::from_millis(row.milliseconds.try_into().unwrap_or_default());
        Self { number: row.number, at: row.at, duration, result }
    }
}

/// A text that may be of the receiver, cut, and without the character that PostgreSQL cannot store in a text.
fn storable(text: &str) -> String {
    let mut ends = (0..=ReceiverResponse::MAX_STORED_BODY_BYTES.min(text.len())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text[..end].replace('\0', "\u{fffd}")
}

/// What several deliveries come to.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum DeliveryEnd<'a> {
    Delivered,
    Retry(OffsetDateTime),
    Dead(&'a str),
    Dropped(&'a str),
}

impl<'a> From<&'a DeliveryVerdict> for DeliveryEnd<'a> {
    fn from(verdict: &'a DeliveryVerdict) -> Self {
        match verdict {
            DeliveryVerdict::Delivered => Self::Delivered,
            DeliveryVerdict::Retry(at) => Self::Retry(*at),
            DeliveryVerdict::Dead(reason) => Self::Dead(reason),
            DeliveryVerdict::Dropped(reason) => Self::Dropped(reason),
        }
    }
}

/// Stores what followed from attempts, with one statement for all deliveries of the same end, and the health of the
/// registration, which the caller has locked.
pub(super) async fn record(
    session: &Session,
    id: RegistrationId,
    outcomes: &[DeliveryOutcome],
    health: &RegistrationHealth,
    now: OffsetDateTime,
) -> Result<()> {
    let offset = session.database_time(now).await? - now;
    let atomic = session.transaction().await?;
    let mut existing = lock(&atomic, id, outcomes).await?;
    let mut attempts: Vec<AttemptRow> = Vec::new();
    let mut groups: BTreeMap<(DeliveryEnd<'_>, bool), Vec<Uuid>> = BTreeMap::new();
    for DeliveryOutcome { delivery, attempt, verdict } in outcomes {
        let Some(earlier) = existing.remove(&delivery.0) else { continue };
        groups.entry((DeliveryEnd::from(verdict), attempt.is_some())).or_default().push(delivery.0);
        // The number is counted here: a worker that lost its lease for a while may have an outdated one.
        attempts.extend(attempt.as_ref().map(|attempt| AttemptRow::new(delivery.0, earlier + 1, attempt)));
    }
    insert_rows(&mut *atomic.connection().await?, &attempts).await?;
    for ((end, is_attempted), ids) in groups {
        let end = match end {
            DeliveryEnd::Retry(at) => DeliveryEnd::Retry(at + offset),
            end => end,
        };
        store(&atomic, &end, is_attempted, &ids, now).await?;
    }
    diesel::update(registrations::table.find(id.0))
        .set((
            registrations::failures.eq(health.failures),
            registrations::failing_since.eq(health.failing_since),
            registrations::succeeded_at.eq(health.succeeded_at),
            registrations::disabled_at.eq(health.disabled_at),
        ))
        .prepare_once()
        .run_on(atomic.connection())
        .await?;
    atomic.commit().await
}

/// Locks the deliveries of the registration that still exist. Returns them with their numbers of attempts.
async fn lock(
    atomic: &TransactionScope<'_>,
    id: RegistrationId,
    outcomes: &[DeliveryOutcome],
) -> Result<HashMap<Uuid, i64>> {
    let rows = deliveries::table
        .filter(columns::any_uuid(
            deliveries::id.nullable(),
            outcomes.iter().map(|outcome| outcome.delivery.0),
        ))
        .filter(columns::equals_unindexed(deliveries::registration_id.nullable(), id.0))
        .order(deliveries::id)
        .select((deliveries::id, deliveries::attempts));
    let rows: Vec<(UuidColumn, i64)> = dialect::for_update!(rows).rows_from(atomic.connection()).await?;
    Ok(rows.into_iter().map(|(id, attempts)| (id.0, attempts)).collect())
}

/// Whether a delivery is pending. Written so that SQLite does not read all that are, instead of those of a list.
fn is_pending() -> SqlLiteral<Bool> {
    diesel::dsl::sql("webhook_deliveries.status || '' = 'pending'")
}

/// Stores one end of several deliveries. A delivery that expired during the attempt stays so, unless it was accepted.
async fn store(
    atomic: &TransactionScope<'_>,
    end: &DeliveryEnd<'_>,
    is_attempted: bool,
    ids: &[Uuid],
    now: OffsetDateTime,
) -> Result<()> {
    let these = || columns::any_uuid(deliveries::id.nullable(), ids.iter().copied());
    let counted = || deliveries::attempts.eq(deliveries::attempts + i64::from(is_attempted));
    let ended = |status, reason: Option<String>| {
        let columns = (
            deliveries::status.eq(EnumColumn(status)),
            deliveries::ended_at.eq(now),
            deliveries::reason.eq(reason),
        );
        (columns, counted())
    };
    let pending = || diesel::update(deliveries::table.filter(these()).filter(is_pending()));
    let connection = atomic.connection();
    match end {
        DeliveryEnd::Delivered => {
            let delivered = ended(DeliveryStatus::Delivered, None);
            let these = diesel::update(deliveries::table.filter(these()));
            these.set(delivered).prepare_once().done_on(connection).await
        }
        DeliveryEnd::Retry(at) => {
            let due = (deliveries::due_at.eq(at), counted());
            pending().set(due).prepare_once().done_on(connection).await
        }
        DeliveryEnd::Dead(reason) => {
            let dead = ended(DeliveryStatus::Dead, Some(storable(reason)));
            pending().set(dead).prepare_once().done_on(connection).await
        }
        DeliveryEnd::Dropped(reason) => {
            let dropped = ended(DeliveryStatus::Dropped, Some(storable(reason)));
            pending().set(dropped).prepare_once().done_on(connection).await
        }
    }
}
