//! Attachments, and the records they belong to.

use super::attachment_visibility::visible;
use super::files::of_ids;
use super::visible_components::{OnPage, VisibleComponents};
use crate::columns::{self, Condition, EnumColumn, columns};
use crate::engine::{Conn, Db};
use crate::failure::{Stored, changed};
use crate::filter::{Column, holds};
use crate::records::records;
use crate::schema::attachments;
use crate::session::Session;
use async_trait::async_trait;
use civitas_attachments::{
    Attachment, AttachmentDetail, AttachmentField, AttachmentFilter, AttachmentReader, AttachmentStore,
    FileType, Parent, ParentKind, ParentLookup, StoredFile,
};
use civitas_blogs::PostStore;
use civitas_kernel::{
    AttachmentId, CollectionId, FileId, MeetingId, OrganizationId, Page, PageRequest, PostId, ProposalId,
    Result, SpaceManifest, Translated, Within,
};
use civitas_meetings::MeetingStore;
use civitas_proposals::ProposalStore;
use civitas_spaces::SpaceStore;
use diesel::dsl::{Eq, Filter};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use std::collections::HashMap;
use time::OffsetDateTime;

columns! {
    /// An attachment as its row stores it.
    attachments as Attachment;
    id AttachmentId;
    fields {
        title: Translated,
        description: Translated,
        weight: i64,
        collection as collection_id: Option<CollectionId>,
        file_type: FileType,
        file as file_id: Option<FileId>,
        link: Option<String>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    nested { parent: Parent { kind as attached_to_type: ParentKind, id as attached_to_id: i64 } }
    write_only {
        space_manifest: Option<EnumColumn<SpaceManifest>> = |of| of.parent.space().map(|space| EnumColumn(space.manifest)),
        space_id: Option<i64> = |of| of.parent.space().map(|space| space.id),
        proposal_id: Option<i64> = |of| of.parent.of_kind(ParentKind::Proposal),
        meeting_id: Option<i64> = |of| of.parent.of_kind(ParentKind::Meeting),
        post_id: Option<i64> = |of| of.parent.of_kind(ParentKind::Post),
        answer_id: Option<i64> = |of| of.parent.of_kind(ParentKind::Answer),
    }
}

type Scoped = Filter<attachments::table, Eq<attachments::organization_id, i64>>;

/// The attachments of one organization.
fn of(organization: OrganizationId) -> Scoped {
    attachments::table.filter(attachments::organization_id.eq(organization.0))
}

records! { attachments: AttachmentId => Attachment; }

/// Whether an attachment satisfies a filter.
fn satisfies(filter: &AttachmentFilter) -> Result<Condition<attachments::table>> {
    let column = match filter.field {
        AttachmentField::ParentKind => Column::Text(Box::new(attachments::attached_to_type.nullable())),
        AttachmentField::ParentId => Column::Integer(Box::new(attachments::attached_to_id.nullable())),
        AttachmentField::Collection => Column::Integer(Box::new(attachments::collection_id)),
        AttachmentField::FileType => Column::Text(Box::new(attachments::file_type.nullable())),
    };
    holds(column, &filter.condition)
}

/// Adds the files of attachments.
async fn with_files(
    connection: &mut Conn,
    organization: OrganizationId,
    rows: Vec<Row>,
) -> Result<Vec<AttachmentDetail>> {
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.file_id).collect();
    let files = of_ids(connection, organization, &ids).await?;
    let mut files: HashMap<FileId, StoredFile> = files.into_iter().collect();
    let details = rows.into_iter().map(|row| {
        let (id, attachment): (AttachmentId, Attachment) = row.into();
        let file = attachment.file.and_then(|id| files.remove(&id));
        AttachmentDetail { id, attachment, file }
    });
    Ok(details.collect())
}

#[async_trait]
impl AttachmentStore for Session {
    async fn list(
        &self,
        reader: AttachmentReader,
        filters: &[AttachmentFilter],
        page: PageRequest,
    ) -> Result<Page<AttachmentDetail>> {
        let organization = reader.read_context.organization;
        let connection = &mut *self.read().await?;
        let components = VisibleComponents::load(connection, reader.read_context, Within::default()).await?;
        let mut ids = of(organization)
            .filter(visible(&reader, &components))
            .order((attachments::weight, attachments::id))
            .select(attachments::id)
            .into_boxed::<Db>();
        for filter in filters {
            ids = ids.filter(satisfies(filter)?);
        }
        let rows: Vec<Row> = attachments::table
            .filter(OnPage::of(Box::new(attachments::id.nullable()), ids, page.into()))
            .order((attachments::weight, attachments::id))
            .limit(page.fetch())
            .select(columns::of::<Row>())
            .load(connection)
            .await
            .stored()?;
        let page = Page::cut(rows, page);
        let items = with_files(connection, organization, page.items).await?;
        Ok(Page { items, has_more: page.has_more })
    }

    async fn find_visible(
        &self,
        reader: AttachmentReader,
        id: AttachmentId,
    ) -> Result<Option<AttachmentDetail>> {
        let organization = reader.read_context.organization;
        let connection = &mut *self.read().await?;
        let components = VisibleComponents::load(connection, reader.read_context, Within::default()).await?;
        let row: Option<Row> = of(organization)
            .filter(attachments::id.eq(id.0))
            .filter(visible(&reader, &components))
            .select(columns::of::<Row>())
            .first(connection)
            .await
            .optional()
            .stored()?;
        Ok(with_files(connection, organization, row.into_iter().collect()).await?.pop())
    }

    async fn page_of_records_after(
        &self,
        organization: OrganizationId,
        after: Option<AttachmentId>,
        limit: i64,
    ) -> Result<Vec<(AttachmentId, Attachment)>> {
        let rows: Vec<Row> = of(organization)
            .filter(attachments::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .filter(attachments::answer_id.is_null())
            .order(attachments::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn remove_of_answers(&self, organization: OrganizationId, answers: &[i64]) -> Result<()> {
        if answers.is_empty() {
            return Ok(());
        }
        let atomic = self.atomic().await?;
        let removed =
            diesel::delete(of(organization).filter(columns::any_of(attachments::answer_id, answers)))
                .execute(&mut *atomic.connection().await?)
                .await
                .stored()?;
        if removed > 0 {
            atomic.touch_list(organization, "attachments").await?;
        }
        atomic.commit().await
    }

    async fn remove(&self, organization: OrganizationId, id: AttachmentId) -> Result<()> {
        let atomic = self.atomic().await?;
        diesel::delete(of(organization).filter(attachments::id.eq(id.0)))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()
            .and_then(changed)?;
        atomic.touch_list(organization, "attachments").await?;
        atomic.commit().await
    }
}

#[async_trait]
impl ParentLookup for Session {
    async fn sees(&self, reader: AttachmentReader, parent: Parent) -> Result<bool> {
        let (read_context, id, within) = (reader.read_context, parent.id, Within::default());
        Ok(match parent.kind {
            ParentKind::Organization => id == read_context.organization.0,
            ParentKind::Space(_) => match parent.space() {
                Some(space) => SpaceStore::find_visible(self, read_context, space).await?.is_some(),
                None => false,
            },
            ParentKind::Proposal => {
                ProposalStore::find_visible(self, read_context, ProposalId(id), within).await?.is_some()
            }
            ParentKind::Meeting => {
                MeetingStore::find_visible(self, read_context, MeetingId(id), within).await?.is_some()
            }
            ParentKind::Post => {
                PostStore::find_visible(self, read_context, reader.now, PostId(id), within).await?.is_some()
            }
            ParentKind::Answer => false,
        })
    }
}
