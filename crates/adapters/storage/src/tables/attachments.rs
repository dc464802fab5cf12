//! Attachments, and the records they belong to.

use super::attachment_visibility::is_visible;
use super::files::load_by_ids;
use super::listing::ListedTable;
use super::select::{RecordSelect, correlated};
use super::texts::{self, TextPart};
use super::visible_components::VisibleComponents;
use crate::columns::{self, Condition, EnumColumn, JsonColumn, columns};
use crate::engine::Conn;
use crate::failure::{DieselResultExt, require_changed};
use crate::filter::{FilterColumn, column_condition, contains, translated};
use crate::list_pages::count;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::records::records;
use crate::schema::{attachments, files, meetings, posts, proposals, spaces};
use crate::scoped::scoped;
use crate::session::Session;
use async_trait::async_trait;
use civitas_attachments::{
    Attachment, AttachmentDetail, AttachmentField, AttachmentFilter, AttachmentParent, AttachmentReader,
    AttachmentSearch, AttachmentStore, FileType, MAX_SEARCHED_ATTACHMENTS, ParentKind, ParentLookup,
    StoredFile,
};
use civitas_blogs::PostStore;
use civitas_kernel::filter::FilterCondition;
use civitas_kernel::{
    AttachmentId, CollectionId, Direction, FileId, Locales, LocationFilter, MeetingId, Order, OrganizationId,
    Page, PageRequest, PostId, ProposalId, Result, SpaceKind, SpaceRef, Translated,
};
use civitas_meetings::MeetingStore;
use civitas_proposals::ProposalStore;
use civitas_spaces::SpaceStore;
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
    nested { parent: AttachmentParent { kind as attached_to_type: ParentKind, id as attached_to_id: i64 } }
    write_only {
        space_manifest: Option<EnumColumn<SpaceKind>> = |of| of.parent.space().map(|space| EnumColumn(space.kind)),
        space_id: Option<i64> = |of| of.parent.space().map(|space| space.id),
        proposal_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Proposal),
        meeting_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Meeting),
        post_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Post),
        answer_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Answer),
    }
}

scoped! { attachments }

records! { attachments: AttachmentId => Attachment; }

/// Whether an attachment satisfies a filter.
fn satisfies(
    filter: &AttachmentFilter,
    organization: OrganizationId,
    locales: &Locales,
) -> Result<Condition<attachments::table>> {
    let column = match filter.field {
        AttachmentField::ParentKind => {
            FilterColumn::Ascii(Box::new(attachments::attached_to_type.nullable()))
        }
        AttachmentField::ParentId => FilterColumn::Integer(Box::new(attachments::attached_to_id.nullable())),
        AttachmentField::Collection => FilterColumn::Integer(Box::new(attachments::collection_id)),
        AttachmentField::FileType => FilterColumn::Ascii(Box::new(attachments::file_type.nullable())),
        AttachmentField::Id => FilterColumn::Integer(Box::new(attachments::id.nullable())),
        AttachmentField::Title if matches!(filter.condition, FilterCondition::Words(_)) => {
            return texts::matches_by_index("attachments", organization, TextPart::Title, &filter.condition);
        }
        AttachmentField::Title => translated!(attachments::title, locales),
        AttachmentField::CreatedAt => FilterColumn::Time(Box::new(attachments::created_at.nullable())),
        AttachmentField::UpdatedAt => FilterColumn::Time(Box::new(attachments::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// The oldest of the attachments whose files' names and links are searched; 0 when there are fewer.
async fn first_searched(connection: &mut Conn, organization: OrganizationId) -> Result<i64> {
    let first: Option<i64> = rows_of(organization)
        .filter(attachments::answer_id.is_null())
        .order(attachments::id.desc())
        .offset(MAX_SEARCHED_ATTACHMENTS - 1)
        .limit(1)
        .select(attachments::id)
        .first(connection)
        .await
        .optional_row()?;
    Ok(first.unwrap_or_default())
}

/// Whether the title has these words, or the name of the file or the link this part, of attachments from the first.
fn has_text(
    organization: OrganizationId,
    words: &FilterCondition,
    text: &str,
    first: i64,
) -> Result<Condition<attachments::table>> {
    let title =
        texts::matches_by_index::<attachments::table>("attachments", organization, TextPart::Title, words)?;
    let filename = files::table.filter(files::id.nullable().eq(attachments::file_id)).select(files::filename);
    let filename = contains::<attachments::table>(FilterColumn::Text(Box::new(correlated(filename))), text)?;
    let link = contains::<attachments::table>(FilterColumn::Text(Box::new(attachments::link)), text)?;
    Ok(Box::new(title.or(attachments::id.ge(first).and(filename.or(link)))))
}

/// Adds the files of attachments.
async fn with_files(
    connection: &mut Conn,
    organization: OrganizationId,
    rows: Vec<Row>,
) -> Result<Vec<AttachmentDetail>> {
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.file_id).collect();
    let files = load_by_ids(connection, organization, &ids).await?;
    let mut files: HashMap<FileId, StoredFile> = files.into_iter().collect();
    let details = rows.into_iter().map(|row| {
        let (id, attachment): (AttachmentId, Attachment) = row.into();
        let file = attachment.file.and_then(|id| files.remove(&id));
        AttachmentDetail { id, attachment, file }
    });
    Ok(details.collect())
}

const ATTACHMENTS: ListedTable =
    ListedTable { name: "attachments", order_column: "weight", is_read_in_order: false };

/// All attachments of an organization.
fn all(organization: OrganizationId) -> RecordSelect {
    ATTACHMENTS.records().filter(attachments::organization_id.eq(organization.0))
}

/// One page of these attachments, with their files.
async fn load(
    connection: &mut Conn,
    organization: OrganizationId,
    found: RecordSelect,
    page: PageRequest,
    bounds: RowReadLimits,
) -> Result<Page<AttachmentDetail>> {
    let rows: Vec<Row> =
        found.select(columns::all_columns::<Row>()).load_page(connection, bounds).await.map_db_error()?;
    let page = Page::from_fetched(rows, page);
    let items = with_files(connection, organization, page.items).await?;
    Ok(Page::new(items, page.has_more))
}

/// Adds the titles of the records of a table that are not deleted.
macro_rules! titles {
    ($connection:ident, $organization:ident, $table:ident, $kind:expr, $parents:ident => $found:ident) => {
        let ids: Vec<i64> = $parents.iter().filter_map(|parent| parent.id_of_kind($kind)).collect();
        if !ids.is_empty() {
            let rows: Vec<(i64, JsonColumn<Translated>)> = $table::table
                .filter($table::organization_id.eq($organization.0))
                .filter(columns::any_of($table::id.nullable(), &ids))
                .filter($table::deleted_at.is_null())
                .select(($table::id, $table::title))
                .load($connection)
                .await
                .map_db_error()?;
            $found
                .extend(rows.into_iter().map(|(id, title)| (AttachmentParent { kind: $kind, id }, title.0)));
        }
    };
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
        let components =
            VisibleComponents::load(self, reader.read_context, LocationFilter::default(), None).await?;
        // A list that begins with many that the reader does not see skips them one by one.
        let connection = &mut *self.read_long().await?;
        let listed = || {
            let mut found = all(organization).filter(is_visible(&reader, &components));
            for filter in filters {
                found = found.filter(satisfies(filter, organization, self.locales())?);
            }
            Result::<_>::Ok(found)
        };
        let total =
            count(connection, page.is_counted.then(listed).transpose()?.map(RecordSelect::ids)).await?;
        let table = page.sort.map_or(ATTACHMENTS, |sort| ATTACHMENTS.ordered_by(Order::By(sort)));
        let direction = page.sort.map(|sort| sort.direction).unwrap_or_default();
        let found = table.order(listed()?, direction, Direction::Ascending).on_page(page.into());
        Ok(load(connection, organization, found, page, self.bounds).await?.with_total(total))
    }

    async fn find_visible(
        &self,
        reader: AttachmentReader,
        id: AttachmentId,
    ) -> Result<Option<AttachmentDetail>> {
        let organization = reader.read_context.organization;
        let components =
            VisibleComponents::load(self, reader.read_context, LocationFilter::default(), None).await?;
        let connection = &mut *self.read().await?;
        let row: Option<Row> = rows_of(organization)
            .filter(attachments::id.eq(id.0))
            .filter(is_visible(&reader, &components))
            .select(columns::all_columns::<Row>())
            .first(connection)
            .await
            .optional_row()?;
        Ok(with_files(connection, organization, row.into_iter().collect()).await?.pop())
    }

    async fn search(
        &self,
        organization: OrganizationId,
        search: &AttachmentSearch,
        page: PageRequest,
    ) -> Result<Page<AttachmentDetail>> {
        let connection = &mut *self.read_long().await?;
        let mut found = all(organization).filter(attachments::answer_id.is_null());
        if let Some(parent) = search.parent {
            found = found
                .filter(attachments::attached_to_type.eq(EnumColumn(parent.kind)))
                .filter(attachments::attached_to_id.eq(parent.id));
        }
        if let Some(kind) = search.kind {
            found = found.filter(attachments::attached_to_type.eq(EnumColumn(kind)));
        }
        if let Some(file_type) = search.file_type {
            found = found.filter(attachments::file_type.eq(EnumColumn(file_type)));
        }
        if let Some(text) = &search.text
            && let Some(words) = FilterCondition::words(text)
        {
            let first = first_searched(connection, organization).await?;
            found = found.filter(has_text(organization, &words, text, first)?);
        }
        let id = ATTACHMENTS.column("id");
        let found = match (search.parent, search.oldest_first) {
            (Some(_), _) => ATTACHMENTS.order(found, Direction::Ascending, Direction::Ascending),
            (None, true) => found.order(id, Direction::Ascending),
            (None, false) => found.order(id, Direction::Descending),
        };
        load(connection, organization, found.with_limit(page), page, RowReadLimits::NONE).await
    }

    async fn page_of_records_after(
        &self,
        organization: OrganizationId,
        after: Option<AttachmentId>,
        limit: i64,
    ) -> Result<Vec<(AttachmentId, Attachment)>> {
        let rows: Vec<Row> = rows_of(organization)
            .filter(attachments::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .filter(attachments::answer_id.is_null())
            .order(attachments::id)
            .limit(limit)
            .select(columns::all_columns::<Row>())
            .load(&mut *self.read().await?)
            .await
            .map_db_error()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn remove_of_answers(&self, organization: OrganizationId, answers: &[i64]) -> Result<()> {
        if answers.is_empty() {
            return Ok(());
        }
        let atomic = self.transaction().await?;
        let removed =
            diesel::delete(rows_of(organization).filter(columns::any_of(attachments::answer_id, answers)))
                .execute(&mut *atomic.connection().await?)
                .await
                .map_db_error()?;
        if removed > 0 {
            atomic.touch_list(organization, "attachments").await?;
        }
        atomic.commit().await
    }

    async fn remove(&self, organization: OrganizationId, id: AttachmentId) -> Result<()> {
        let atomic = self.transaction().await?;
        diesel::delete(rows_of(organization).filter(attachments::id.eq(id.0)))
            .execute(&mut *atomic.connection().await?)
            .await
            .map_db_error()
            .and_then(require_changed)?;
        atomic.touch_list(organization, "attachments").await?;
        atomic.commit().await
    }
}

#[async_trait]
impl ParentLookup for Session {
    async fn can_see(&self, reader: AttachmentReader, parent: AttachmentParent) -> Result<bool> {
        let (read_context, id, within) = (reader.read_context, parent.id, LocationFilter::default());
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

    async fn titles(
        &self,
        organization: OrganizationId,
        parents: &[AttachmentParent],
    ) -> Result<Vec<(AttachmentParent, Translated)>> {
        let connection = &mut *self.read().await?;
        let mut found = Vec::new();
        if parents.contains(&organization.into()) {
            found.push((organization.into(), Translated::default()));
        }
        let ids: Vec<i64> =
            parents.iter().filter_map(|parent| parent.space()).map(|space| space.id).collect();
        if !ids.is_empty() {
            let rows: Vec<(EnumColumn<SpaceKind>, i64, JsonColumn<Translated>)> = spaces::table
                .filter(spaces::organization_id.eq(organization.0))
                .filter(columns::any_of(spaces::id.nullable(), &ids))
                .select((spaces::manifest, spaces::id, spaces::title))
                .load(connection)
                .await
                .map_db_error()?;
            let rows = rows
                .into_iter()
                .map(|(kind, id, title)| (AttachmentParent::from(SpaceRef { kind: kind.0, id }), title.0));
            // A number belongs to a space of each kind.
            found.extend(rows.filter(|(parent, _)| parents.contains(parent)));
        }
        titles!(connection, organization, proposals, ParentKind::Proposal, parents => found);
        titles!(connection, organization, meetings, ParentKind::Meeting, parents => found);
        titles!(connection, organization, posts, ParentKind::Post, parents => found);
        Ok(found)
    }
}
