//! The audit trail.

mod rows;

use crate::columns::{self, Condition, Expr, columns};
use crate::engine::{Db, dialect};
use crate::filter::{containing, like};
use crate::optional::filter_some;
use crate::schema::{audit_entries as entries, audit_heads as heads};
use crate::scoped::organization_key;
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_audit::{
    AuditEntry, AuditFilter, AuditLog, AuditScope, ChainHead, MAX_SEARCHED_ENTRIES, NewAuditEntry,
    StoredAuditEntry,
};
use civitas_kernel::{OrganizationId, Page, PageRequest, Result, UserId};
use diesel::dsl::{IntoBoxed, exists, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use rows::EntryRow;
use time::OffsetDateTime;

columns! {
    /// The head of a chain as its row stores it.
    heads as ChainHead;
    fields {
        number: i64,
        hash: String,
        removed_number: i64,
        removed_hash: String,
    }
}

type Boxed<'a> = IntoBoxed<'a, entries::table, Db>;

/// Reads an index of one equality in the order of the list: that of the object, else of the action, else of the actor,
/// else of the organization.
fn filtered<'a>(filter: &AuditFilter) -> Boxed<'a> {
    let mut all = entries::table.into_boxed::<Db>();
    let organization = match filter.scope {
        AuditScope::All => None,
        AuditScope::Deployment => Some(0),
        AuditScope::Organization(id) => Some(id.0),
    };
    if let Some((kind, id)) = &filter.object {
        all = all.filter(entries::object_kind.eq(kind.clone())).filter(entries::object_id.eq(id.clone()));
        if let Some(organization) = organization {
            let own: Condition<entries::table> =
                columns::equals_unindexed(entries::organization_id.nullable(), organization);
            all = all.filter(own);
        }
    } else if let Some(organization) = organization {
        all = all.filter(entries::organization_id.eq(organization));
    }
    filter_some! {
        all;
        filter.action => |action| entries::action.eq(action.as_str()),
        filter.actor => |actor| entries::actor_kind.eq(actor.as_str()),
        filter.since => |since| entries::at.ge(since),
        filter.until => |until| entries::at.lt(until),
    }
    all.order((entries::at.desc(), entries::id.desc()))
}

/// Whether a name or a label has this part, in any case.
fn mentions(part: &str) -> Condition<entries::table> {
    let pattern = containing(part);
    let columns: [Expr<entries::table, Text>; 3] =
        [Box::new(entries::actor_name), Box::new(entries::user_name), Box::new(entries::object_label)];
    let [actor, user, object] = columns.map(|column| like(column, &pattern));
    Box::new(actor.or(user).or(object))
}

/// The text of a column without its characters; null stays null.
fn emptied(column: &str) -> SqlLiteral<Nullable<Text>> {
    sql(&format!("substr({column}, 1, 0)"))
}

impl Session {
    /// The numbers of rows with details about a user, and of acts for the user; at most `limit` of each.
    async fn entries_of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        limit: i64,
    ) -> Result<Vec<i64>> {
        let own = columns::equals_unindexed(entries::organization_id.nullable(), organization.0);
        let mut ids: Vec<i64> = entries::table
            .filter(entries::object_kind.eq("user"))
            .filter(entries::object_id.eq(user.to_string()))
            .filter(own)
            .filter(entries::details_salt.is_not_null())
            .limit(limit)
            .select(entries::id)
            .rows_from(self.read())
            .await?;
        let of_acts: Vec<i64> = entries::table
            .filter(entries::organization_id.eq(organization.0))
            .filter(entries::user_id.eq(user.0))
            .filter(entries::details_salt.is_not_null())
            .limit(limit)
            .select(entries::id)
            .rows_from(self.read())
            .await?;
        ids.extend(of_acts);
        Ok(ids)
    }

    /// The head of the chain, locked until the transaction ends; a new one if there is none.
    async fn lock_head(&self, organization: Option<OrganizationId>) -> Result<ChainHead> {
        let row = || heads::table.find(organization_key(organization));
        let locked = dialect::for_update!(row()).model_from::<Row, _>(self.for_update()).await?;
        if let Some(head) = locked {
            return Ok(head);
        }
        diesel::insert_into(heads::table)
            .values((
                heads::organization_id.eq(organization_key(organization)),
                Changeset::new(&ChainHead::default()),
            ))
            .on_conflict_do_nothing()
            .run_on(self.for_update())
            .await?;
        let row = row().select(columns::all_columns::<Row>()).limit(1);
        let locked: Row = dialect::for_update!(row).value_from(self.for_update()).await?;
        Ok(locked.into())
    }

    async fn append_after(
        &self,
        head: ChainHead,
        new_entry: &NewAuditEntry,
        now: OffsetDateTime,
    ) -> Result<AuditEntry> {
        let entry = new_entry.append_to(&head, now);
        diesel::insert_into(entries::table).values(EntryRow::new(&entry)?).run_on(self.for_update()).await?;
        diesel::update(heads::table.find(organization_key(entry.organization)))
            .set((heads::number.eq(entry.number), heads::hash.eq(&entry.hash)))
            .run_on(self.for_update())
            .await?;
        Ok(entry)
    }

    /// Whether there is an entry with the same actor, action and object since this time.
    async fn has_since(&self, new_entry: &NewAuditEntry, since: OffsetDateTime) -> Result<bool> {
        let mut same = filtered(&AuditFilter {
            scope: new_entry.organization().map_or(AuditScope::Deployment, AuditScope::Organization),
            action: Some(new_entry.action()),
            actor: Some(new_entry.actor().kind()),
            object: new_entry.object().map(|object| (object.kind.clone(), object.id.clone())),
            since: Some(since),
            ..AuditFilter::default()
        });
        if new_entry.object().is_none() {
            same = same.filter(entries::object_kind.is_null());
        }
        if let Some(actor) = new_entry.actor().id() {
            same = same.filter(entries::actor_id.eq(actor));
        }
        let found: Option<i64> = same.select(entries::number).first_from(self.for_update()).await?;
        Ok(found.is_some())
    }

    /// A chain that begins with an entry before this time. Each head is one lookup of its first entry.
    async fn chain_to_shorten(&self, before: OffsetDateTime) -> Result<Option<i64>> {
        let first = entries::organization_id
            .eq(heads::organization_id)
            .and(entries::number.eq(heads::removed_number + 1))
            .and(entries::at.lt(before));
        heads::table
            .filter(heads::removed_number.lt(heads::number))
            .filter(exists(entries::table.filter(first)))
            .select(heads::organization_id)
            .first_from(self.read())
            .await
    }
}

#[async_trait]
impl AuditLog for Session {
    async fn append(&self, new_entry: &NewAuditEntry, now: OffsetDateTime) -> Result<AuditEntry> {
        let head = self.lock_head(new_entry.organization()).await?;
        self.append_after(head, new_entry, now).await
    }

    async fn append_unless_since(
        &self,
        new_entry: &NewAuditEntry,
        since: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<bool> {
        // Most acts follow another one, and need not wait for the lock of the chain.
        if self.has_since(new_entry, since).await? {
            return Ok(false);
        }
        let head = self.lock_head(new_entry.organization()).await?;
        if self.has_since(new_entry, since).await? {
            return Ok(false);
        }
        self.append_after(head, new_entry, now).await.map(|_| true)
    }

    async fn list(&self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>> {
        let mut all = filtered(filter);
        if let Some(part) = &filter.text {
            let oldest: Option<OffsetDateTime> = filtered(filter)
                .offset(MAX_SEARCHED_ENTRIES - 1)
                .select(entries::at)
                .first_from(self.read_long())
                .await?;
            filter_some!(all; oldest => |oldest| entries::at.ge(oldest));
            all = all.filter(mentions(part));
        }
        let rows: Vec<EntryRow> = all
            .limit(page.rows_to_fetch())
            .offset(page.offset())
            .select(columns::all_columns::<EntryRow>())
            .rows_from(self.read_long())
            .await?;
        let Page { items, has_more, .. } = Page::from_fetched(rows, page);
        let read = |row: EntryRow| {
            let (organization, number) = (row.organization_id, row.number);
            let entry = row.into_entry();
            if entry.is_none() {
                tracing::error!(organization, number, "an entry of the audit trail cannot be read");
            }
            entry
        };
        Ok(Page::new(items.into_iter().filter_map(read).collect(), has_more))
    }

    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        number: i64,
        limit: i64,
    ) -> Result<Vec<StoredAuditEntry>> {
        let rows: Vec<EntryRow> = entries::table
            .filter(entries::organization_id.eq(organization_key(organization)))
            .filter(entries::number.gt(number))
            .order(entries::number)
            .limit(limit)
            .select(columns::all_columns::<EntryRow>())
            .rows_from(self.read())
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| StoredAuditEntry { number: row.number, entry: row.into_entry() })
            .collect())
    }

    async fn erase_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64> {
        let ids = self.entries_of_user(organization, user, limit).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let found = entries::table
            .filter(columns::any_of(entries::id.nullable(), &ids))
            .filter(entries::details_salt.is_not_null());
        diesel::update(found)
            .set((
                entries::details_salt.eq(None::<String>),
                entries::actor_name.eq(emptied("actor_name")),
                entries::user_name.eq(emptied("user_name")),
                entries::address.eq(None::<String>),
                entries::object_label.eq(emptied("object_label")),
                entries::changes.eq("[]"),
            ))
            .run_on(self.write())
            .await
    }

    async fn head(&self, organization: Option<OrganizationId>) -> Result<Option<ChainHead>> {
        heads::table.find(organization_key(organization)).model_from::<Row, _>(self.read()).await
    }

    async fn organizations_after(&self, after: OrganizationId, limit: i64) -> Result<Vec<OrganizationId>> {
        let of_heads: Vec<i64> = heads::table
            .filter(heads::organization_id.gt(after.0))
            .order(heads::organization_id)
            .limit(limit)
            .select(heads::organization_id)
            .rows_from(self.read())
            .await?;
        let of_entries: Vec<i64> = entries::table
            .filter(entries::organization_id.gt(after.0))
            .order(entries::organization_id)
            .limit(limit)
            .select(entries::organization_id)
            .distinct()
            .rows_from(self.read())
            .await?;
        let mut ids = columns::distinct_ids(of_heads.into_iter().chain(of_entries));
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(ids.into_iter().map(OrganizationId).collect())
    }

    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        // Most calls find none, and do not wait for the write lock.
        let Some(chain) = self.chain_to_shorten(before).await? else { return Ok(0) };
        let atomic = self.transaction().await?;
        let locked = heads::table.find(chain).select(heads::removed_number).limit(1);
        let removed: i64 = dialect::for_update!(locked).value_from(atomic.connection()).await?;
        let oldest: Vec<(i64, OffsetDateTime, String)> = entries::table
            .filter(entries::organization_id.eq(chain))
            .filter(entries::number.gt(removed))
            .order(entries::number)
            .limit(limit)
            .select((entries::number, entries::at, entries::hash))
            .rows_from(atomic.connection())
            .await?;
        let Some((last, _, hash)) = oldest.into_iter().take_while(|(_, at, _)| *at < before).last() else {
            return Ok(0);
        };
        diesel::update(heads::table.find(chain))
            .set((heads::removed_number.eq(last), heads::removed_hash.eq(hash)))
            .run_on(atomic.connection())
            .await?;
        let rows = diesel::delete(entries::table)
            .filter(entries::organization_id.eq(chain))
            .filter(entries::number.le(last))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(rows)
    }
}
