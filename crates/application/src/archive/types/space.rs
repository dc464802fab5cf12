//! `space`: a participatory space.

use super::{Field, Map, OrganizationId, Ports, Result, Translated, Value, async_trait};
use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_kernel::{SpaceManifest, SpaceRef};
use civitas_spaces::{Space, Visibility};

pub(super) struct Spaces;

members! { Spaces, "space", OrganizationId, SpaceFields, |kind, space: Space| {
    manifest: fixed(SpaceManifest),
    slug: optional(String),
    title: required(Translated),
    subtitle: filled(Translated),
    short_description: filled(Translated),
    description: filled(Translated),
    visibility: required(Visibility),
    published_at: optional(Moment),
    scope_id: optional(i64),
    extended_data: filled(Map<String, Value>),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

#[async_trait]
impl RecordKind for Spaces {
    type Id = SpaceRef;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: SpaceRef) -> Result<Option<Space>> {
        ports.spaces().find(of, id).await
    }

    /// By id, else by manifest and slug.
    async fn find_existing(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        id: Option<SpaceRef>,
        fields: &SpaceFields,
    ) -> Result<Option<Found<Self>>, RecordError> {
        if let Some(found) = self.find_by_id(context.ports, of, id).await? {
            return Ok(Some(found));
        }
        let (Field::Value(manifest), Field::Value(slug)) = (&fields.manifest, &fields.slug) else {
            return Ok(None);
        };
        let id = context.ports.spaces().find_by_slug(of, *manifest, slug).await?;
        self.find_by_id(context.ports, of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<SpaceRef>) -> Rows<Self> {
        ports.spaces().after(of, after, PAGE).await
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        _: OrganizationId,
        fields: &SpaceFields,
    ) -> Result<Space, RecordError> {
        let (manifest, title) = (required("manifest", &fields.manifest)?, required("title", &fields.title)?);
        Ok(Space::new(manifest, title, context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, space: &mut Space) -> Result<(), RecordError> {
        Ok(space.check()?)
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        space: &Space,
    ) -> Result<SpaceRef, RecordError> {
        Ok(context.ports.spaces().add(of, space).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (id, _): &Found<Self>,
        space: Space,
    ) -> Result<(), RecordError> {
        Ok(context.ports.spaces().save(of, *id, &space).await?)
    }
}
