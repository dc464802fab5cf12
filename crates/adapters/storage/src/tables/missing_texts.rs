//! The texts of records of before texts were stored: see `texts`.

use super::texts::{KINDS, save_missing, scope};
use crate::engine::dialect;
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_accounts::User;
use civitas_application::{FillPosition, MissingTextStore};
use civitas_attachments::Attachment;
use civitas_blogs::Post;
use civitas_kernel::records::{Entity, Records, SearchTexts};
use civitas_kernel::{
    AttachmentId, ComponentId, Error, MeetingId, OrganizationId, PostId, ProposalId, Result, SpaceKind,
    SpaceRef, UserId,
};
use civitas_meetings::Meeting;
use civitas_proposals::Proposal;
use civitas_spaces::{Component, Space};
use diesel::dsl;
use diesel::expression::SqlLiteral;
use diesel::sql_types::{BigInt, Text};

/// The most records of one step: a tenth of a second of the write lock of SQLite.
const STEP: i64 = 500;

/// Selects the ids of the first records of a kind after an id that have no texts. `lock` is appended. Ids are numbers and
/// kinds and scopes ours, so that they can be part of the text. The texts of earlier records are left out too: PostgreSQL may
/// read the texts in the order of their records, and would begin with the first in each step.
fn without_texts(
    organization: OrganizationId,
    kind: &str,
    (after, limit): (i64, i64),
    lock: &str,
) -> SqlLiteral<BigInt> {
    let (table, of_kind) = match SpaceKind::parse(kind) {
        Some(_) => ("spaces", format!("AND spaces.manifest = '{kind}'")),
        None => (kind, String::new()),
    };
    let scope = scope(organization, kind);
    dsl::sql(&format!(
        "SELECT {table}.id FROM {table} WHERE {table}.organization_id = {organization} {of_kind} \
         AND {table}.id > {after} AND NOT EXISTS (SELECT 1 FROM record_texts \
         WHERE record_texts.organization_id = {organization} AND record_texts.scope = '{scope}' \
         AND record_texts.record_id > {after} AND record_texts.record_id = {table}.id) ORDER BY {table}.id LIMIT {limit}{lock}"
    ))
}

impl Session {
    /// A step of one kind: the last id it did, and how many texts it stored; `None` when no record after `after` lacks texts.
    /// `id` makes the id of a number, `number` the number of an id of this kind.
    async fn fill_kind<E: Entity>(
        &self,
        (organization, kind, after): (OrganizationId, &'static str, i64),
        id: impl Fn(i64) -> E::Id + Send + Sync,
        number: impl Fn(E::Id) -> Option<i64> + Send + Sync,
    ) -> Result<Option<(i64, u64)>>
    where
        Session: Records<E>,
    {
        // The first one may be far: it is found before the transaction begins.
        let first = without_texts(organization, kind, (after, 1), "").row_from(self.read_long());
        let Some(first): Option<i64> = first.await? else { return Ok(None) };
        let page = Records::<E>::page_after(self, organization, Some(id(first - 1)), STEP).await?;
        let last = page.iter().rev().find_map(|(id, _)| number(*id)).unwrap_or(first);
        let texts = page.iter().filter_map(|(id, record)| Some((number(*id)?, record.search_texts()?)));
        let mut texts: Vec<(i64, SearchTexts)> = texts.collect();
        let transaction = self.begin_long().await?;
        let mut guard = transaction.write().await?;
        let connection = &mut *guard;
        // A record that was saved meanwhile has its texts, one that was deleted gets none.
        let ids = without_texts(organization, kind, (first - 1, STEP), dialect::KEY_SHARE);
        let ids: Vec<i64> = ids.rows_from(borrowed_connection(connection)).await?;
        texts.retain(|(id, _)| ids.binary_search(id).is_ok());
        let stored = texts.len() as u64;
        save_missing(connection, organization, kind, texts).await?;
        drop(guard);
        transaction.commit().await?;
        Ok(Some((last, stored)))
    }
}

#[async_trait]
impl MissingTextStore for Session {
    async fn fill(
        &self,
        organization: OrganizationId,
        (number, after): FillPosition,
    ) -> Result<Option<(FillPosition, u64)>> {
        let Some(&kind) = KINDS.get(number) else { return Ok(None) };
        let at = (organization, kind, after);
        let done = match kind {
            "proposals" => self.fill_kind::<Proposal>(at, ProposalId, |id| Some(id.0)).await?,
            "meetings" => self.fill_kind::<Meeting>(at, MeetingId, |id| Some(id.0)).await?,
            "posts" => self.fill_kind::<Post>(at, PostId, |id| Some(id.0)).await?,
            "components" => self.fill_kind::<Component>(at, ComponentId, |id| Some(id.0)).await?,
            "users" => self.fill_kind::<User>(at, UserId, |id| Some(id.0)).await?,
            "attachments" => self.fill_kind::<Attachment>(at, AttachmentId, |id| Some(id.0)).await?,
            _ => {
                let kind = SpaceKind::parse(kind).ok_or_else(|| Error::internal("an unknown kind"))?;
                let number = move |id: SpaceRef| (id.kind == kind).then_some(id.id);
                self.fill_kind::<Space>(at, move |id| SpaceRef { kind, id }, number).await?
            }
        };
        Ok(Some(done.map_or(((number + 1, 0), 0), |(last, stored)| ((number, last), stored))))
    }

    async fn index(&self) -> Result<u64> {
        let Some([insert, update]) = dialect::ADD_TEXTS_TO_WORD_INDEX else { return Ok(0) };
        let transaction = self.begin_long().await?;
        let added = dsl::sql_query(insert).run_on(transaction.write()).await?;
        dsl::sql_query(update).done_on(transaction.write()).await?;
        transaction.commit().await?;
        Ok(added)
    }

    async fn count(&self, organization: Option<OrganizationId>) -> Result<i64> {
        let own = organization.map(|id| format!(" WHERE organization_id = {id}")).unwrap_or_default();
        let tables = ["proposals", "meetings", "posts", "components", "users", "attachments", "spaces"];
        let count = |table| format!("(SELECT count(*) FROM {table}{own})");
        let missing = format!("SELECT {} - {}", tables.map(count).join(" + "), count("record_texts"));
        dsl::sql::<BigInt>(&missing).value_from(self.read_long()).await
    }

    async fn index_statements(&self) -> Result<Vec<String>> {
        let Some(select) = dialect::MISSING_WORD_INDEXES else { return Ok(Vec::new()) };
        dsl::sql::<Text>(select).rows_from(self.read()).await
    }
}
