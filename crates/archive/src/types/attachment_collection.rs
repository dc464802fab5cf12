//! `attachment_collection`: a named group of attachments of one record.

use super::{
    Import, ImportResult, ORGANIZATION, OrganizationId, PatchField, RecordKind, Translated, async_trait,
    members, required,
};
use crate::refs::{RecordId, RefResolver, ReferencedId};
use civitas_attachments::{AttachmentParent, Collection, ParentKind};
use civitas_kernel::{MeetingId, PostId, ProposalId, SpaceRef};
use serde::{Deserialize, Serialize};

pub(super) struct CollectionRecordType;

members! { CollectionRecordType, "attachment_collection", ports.collections(), CollectionFields, |kind, collection: Collection| {
    attached_to: resolved(AttachedTo, check_parent, with(AttachedTo::from_parent(collection.parent))),
    name: required(Translated),
    weight: required(i64),
}}

/// A reference to a record with attachments.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachedTo {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "ref")]
    reference: String,
}

impl AttachedTo {
    /// The exported form.
    pub(super) fn from_parent(parent: AttachmentParent) -> Self {
        let (kind, reference) = match parent.kind {
            ParentKind::Organization => (ORGANIZATION, parent.id.to_string()),
            ParentKind::Space(kind) => (SpaceRef::TYPE, SpaceRef { kind, id: parent.id }.to_text()),
            ParentKind::Proposal => (ProposalId::TYPE, parent.id.to_string()),
            ParentKind::Meeting => (MeetingId::TYPE, parent.id.to_string()),
            ParentKind::Post => (PostId::TYPE, parent.id.to_string()),
            // Exported with the response.
            ParentKind::Answer => ("answer", parent.id.to_string()),
        };
        Self { kind: kind.to_owned(), reference }
    }

    /// The record.
    pub(super) async fn resolve(
        &self,
        refs: &mut RefResolver<'_>,
        of: OrganizationId,
    ) -> ImportResult<AttachmentParent> {
        let reference = self.reference.as_str();
        Ok(match self.kind.as_str() {
            ORGANIZATION => {
                let found = refs.find(None, ORGANIZATION, reference).await?;
                let is_own = found.as_deref().and_then(OrganizationId::parse) == Some(of);
                if is_own { of.into() } else { return Err("attached_to: is another organization".into()) }
            }
            SpaceRef::TYPE => refs.resolve::<SpaceRef>(of, reference).await?.into(),
            ProposalId::TYPE => refs.resolve::<ProposalId>(of, reference).await?.into(),
            MeetingId::TYPE => refs.resolve::<MeetingId>(of, reference).await?.into(),
            PostId::TYPE => refs.resolve::<PostId>(of, reference).await?.into(),
            other => return Err(format!("attached_to: nothing is attached to the type {other:?}").into()),
        })
    }
}

/// The record of a collection or an attachment cannot change.
pub(super) async fn check_same_parent(
    refs: &mut RefResolver<'_>,
    of: OrganizationId,
    given: &PatchField<AttachedTo>,
    current: AttachmentParent,
) -> ImportResult {
    match given {
        PatchField::Absent => Ok(()),
        PatchField::Value(given) if given.resolve(refs, of).await? == current => Ok(()),
        _ => Err("attached_to cannot change".into()),
    }
}

async fn check_parent(
    import: &mut Import<'_, '_, CollectionRecordType>,
    fields: &mut CollectionFields,
    collection: &mut Collection,
) -> ImportResult {
    check_same_parent(&mut import.context.refs, import.owner, &fields.attached_to, collection.parent).await
}

#[async_trait]
impl RecordKind for CollectionRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &CollectionFields,
    ) -> ImportResult<Collection> {
        let parent = required("attached_to", &fields.attached_to)?;
        let parent = parent.resolve(&mut import.context.refs, import.owner).await?;
        if !parent.kind.has_collections() {
            return Err("attached_to: an organization has no collections".into());
        }
        Ok(Collection { parent, name: required("name", &fields.name)?, weight: 0 })
    }
}
