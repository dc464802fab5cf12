//! `space`: a participatory space.

use super::{ExtendedDataValue, Field, Translated, async_trait};
use super::{Import, ImportContext, Imported, Moment, RecordKind, members, required};
use civitas_kernel::text::nfc;
use civitas_kernel::{SpaceManifest, SpaceRef};
use civitas_spaces::{Space, SpaceAdmin, Visibility};

pub(super) struct Spaces;

members! { Spaces, "space", ports.spaces(), SpaceFields, |kind, space: Space| {
    manifest: fixed(SpaceManifest),
    slug: optional(String),
    title: required(Translated),
    subtitle: filled(Translated),
    short_description: filled(Translated),
    description: filled(Translated),
    visibility: required(Visibility),
    published_at: optional(Moment),
    scope_id: optional(i64),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}, |context| SpaceAdmin { spaces: context.ports.spaces() }}

#[async_trait]
impl RecordKind for Spaces {
    /// Manifest and slug.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &SpaceFields,
    ) -> Imported<Option<SpaceRef>> {
        let (Field::Value(manifest), Field::Value(slug)) = (&fields.manifest, &fields.slug) else {
            return Ok(None);
        };
        Ok(import.context.ports.spaces().find_by_slug(import.owner, *manifest, slug).await?)
    }

    fn id_space(&self, space: &Space) -> Option<&'static str> {
        Some(space.manifest.as_str())
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &SpaceFields) -> Imported<Space> {
        let (manifest, title) = (required("manifest", &fields.manifest)?, required("title", &fields.title)?);
        Ok(Space::new(manifest, title, import.context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, space: &mut Space) -> Imported {
        space.slug = space.slug.take().map(|slug| nfc(&slug).into_owned());
        Ok(())
    }
}
