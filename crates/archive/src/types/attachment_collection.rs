//! `attachment_collection`: a named group of attachments of one record.

use super::{Field, OrganizationId, Translated, async_trait};
use super::{Import, Imported, ORGANIZATION, RecordKind, members, required};
use crate::refs::{RecordId, Referenced, Refs};
use civitas_attachments::{Collection, Parent, ParentKind};
use civitas_kernel::{MeetingId, PostId, ProposalId, SpaceRef};
use serde::{Deserialize, Serialize};

pub(super) struct Collections;

members! { Collections, "attachment_collection", ports.collections(), CollectionFields, |kind, collection: Collection| {
    attached_to: resolved(AttachedTo, check_parent, with(AttachedTo::of(collection.parent))),
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
    pub(super) fn of(parent: Parent) -> Self {
        let (kind, reference) = match parent.kind {
            ParentKind::Organization => (ORGANIZATION, parent.id.to_string()),
            ParentKind::Space(manifest) => (SpaceRef::TYPE, SpaceRef { manifest, id: parent.id }.to_text()),
            ParentKind::Proposal => (ProposalId::TYPE, parent.id.to_string()),
            ParentKind::Meeting => (MeetingId::TYPE, parent.id.to_string()),
            ParentKind::Post => (PostId::TYPE, parent.id.to_string()),
            // Exported with the response.
            ParentKind::Answer => ("answer", parent.id.to_string()),
        };
        Self { kind: kind.to_owned(), reference }
    }

    /// The record.
    pub(super) async fn resolve(&self, refs: &mut Refs<'_>, of: OrganizationId) -> Imported<Parent> {
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
    refs: &mut Refs<'_>,
    of: OrganizationId,
    given: &Field<AttachedTo>,
    current: Parent,
) -> Imported {
    match given {
        Field::Absent => Ok(()),
        Field::Value(given) if given.resolve(refs, of).await? == current => Ok(()),
        _ => Err("attached_to cannot change".into()),
    }
}

async fn check_parent(
    import: &mut Import<'_, '_, Collections>,
    fields: &mut CollectionFields,
    collection: &mut Collection,
) -> Imported {
    check_same_parent(&mut import.context.refs, import.owner, &fields.attached_to, collection.parent).await
}

#[async_trait]
impl RecordKind for Collections {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &CollectionFields,
    ) -> Imported<Collection> {
        let parent = required("attached_to", &fields.attached_to)?;
        let parent = parent.resolve(&mut import.context.refs, import.owner).await?;
        if !parent.kind.has_collections() {
            return Err("attached_to: an organization has no collections".into());
        }
        Ok(Collection { parent, name: required("name", &fields.name)?, weight: 0 })
    }
}
