//! `space`: a participatory space.

use super::{ExtendedDataValue, PatchField, Translated, async_trait};
use super::{Import, ImportContext, ImportResult, RecordKind, Timestamp, members, required};
use civitas_kernel::text::nfc;
use civitas_kernel::{SpaceKind, SpaceRef};
use civitas_spaces::{Space, SpaceAdministration, Visibility};

pub(super) struct SpaceRecordType;

members! { SpaceRecordType, "space", ports.spaces(), SpaceFields, |kind, space: Space| {
    manifest: fixed(SpaceKind, kind),
    slug: optional(String),
    title: required(Translated),
    subtitle: filled(Translated),
    short_description: filled(Translated),
    description: filled(Translated),
    visibility: required(Visibility),
    published_at: optional(Timestamp),
    scope_id: optional(i64),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}, |context| SpaceAdministration { spaces: context.ports.spaces() }}

#[async_trait]
impl RecordKind for SpaceRecordType {
    /// Kind and slug.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &SpaceFields,
    ) -> ImportResult<Option<SpaceRef>> {
        let (PatchField::Value(kind), PatchField::Value(slug)) = (&fields.manifest, &fields.slug) else {
            return Ok(None);
        };
        Ok(import.context.ports.spaces().find_by_slug(import.owner, *kind, slug).await?)
    }

    fn id_space(&self, space: &Space) -> Option<&'static str> {
        Some(space.kind.as_str())
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &SpaceFields) -> ImportResult<Space> {
        let (kind, title) = (required("manifest", &fields.manifest)?, required("title", &fields.title)?);
        Ok(Space::new(kind, title, import.context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, space: &mut Space) -> ImportResult {
        space.slug = space.slug.take().map(|slug| nfc(&slug).into_owned());
        Ok(())
    }
}
