//! Collections of attachments.

use crate::columns::{EnumColumn, columns};
use crate::records::records;
use crate::schema::attachment_collections;
use crate::session::{LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_attachments::{AttachmentParent, Collection, CollectionStore, ParentKind};
use civitas_kernel::{CollectionId, OrganizationId, Result, SpaceKind, Translated};
use diesel::dsl::exists;
use diesel::prelude::*;

columns! {
    /// A collection as its row stores it.
    attachment_collections as Collection;
    id CollectionId;
    fields {
        name: Translated,
        weight: i64,
    }
    nested { parent: AttachmentParent { kind as attached_to_type: ParentKind, id as attached_to_id: i64 } }
    write_only {
        space_manifest: Option<EnumColumn<SpaceKind>> = |of| of.parent.space().map(|space| EnumColumn(space.kind)),
        space_id: Option<i64> = |of| of.parent.space().map(|space| space.id),
        proposal_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Proposal),
        meeting_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Meeting),
        post_id: Option<i64> = |of| of.parent.id_of_kind(ParentKind::Post),
    }
}

records! { scoped attachment_collections: CollectionId => Collection; }

#[async_trait]
impl CollectionStore for Session {
    async fn is_of(
        &self,
        organization: OrganizationId,
        id: CollectionId,
        parent: AttachmentParent,
    ) -> Result<bool> {
        let own = rows_of(organization)
            .filter(attachment_collections::id.eq(id.0))
            .filter(attachment_collections::attached_to_type.eq(EnumColumn(parent.kind)))
            .filter(attachment_collections::attached_to_id.eq(parent.id));
        diesel::select(exists(own)).value_from(self.read()).await
    }

    async fn list_of_parent(
        &self,
        organization: OrganizationId,
        parent: AttachmentParent,
        limit: i64,
    ) -> Result<Vec<(CollectionId, Collection)>> {
        rows_of(organization)
            .filter(attachment_collections::attached_to_type.eq(EnumColumn(parent.kind)))
            .filter(attachment_collections::attached_to_id.eq(parent.id))
            .order((attachment_collections::weight, attachment_collections::id))
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
