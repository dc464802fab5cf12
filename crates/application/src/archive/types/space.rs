//! `space`: a participatory space.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, fixed, maybe, need, set};
use super::super::record::Record;
use super::super::refs::{read_space, space_id};
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{Field, OrganizationId, SpaceManifest, SpaceRef, Translated};
use civitas_spaces::{Space, Visibility};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) struct Spaces;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SpaceRecord {
    manifest: Field<SpaceManifest>,
    slug: Field<String>,
    title: Field<Translated>,
    subtitle: Field<Translated>,
    short_description: Field<Translated>,
    description: Field<Translated>,
    visibility: Field<Visibility>,
    published_at: Field<Moment>,
    scope_id: Field<i64>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl SpaceRecord {
    fn begin(&self, import: &Import<'_>) -> Result<Space, Fault> {
        let (manifest, title) = (need("manifest", &self.manifest)?, need("title", &self.title)?);
        Ok(Space::new(manifest, title, import.options.now))
    }

    fn apply(self, space: &mut Space) -> Result<(), Fault> {
        fixed("manifest", &self.manifest, &space.manifest)?;
        maybe(self.slug, &mut space.slug);
        set("title", self.title, &mut space.title)?;
        fill(self.subtitle, &mut space.subtitle);
        fill(self.short_description, &mut space.short_description);
        fill(self.description, &mut space.description);
        set("visibility", self.visibility, &mut space.visibility)?;
        maybe(self.published_at, &mut space.published_at);
        maybe(self.scope_id, &mut space.scope_id);
        fill(self.extended_data, &mut space.extended_data);
        set("created_at", self.created_at, &mut space.created_at)?;
        set("updated_at", self.updated_at, &mut space.updated_at)
    }
}

/// The space a record stands for: the one its ref was remembered for, else the one of its kind and slug.
async fn find(
    import: &Import<'_>,
    organization: OrganizationId,
    record: &Record,
    said: &SpaceRecord,
) -> Result<Option<(SpaceRef, Space)>, Fault> {
    let store = import.ports.spaces();
    if let Some(id) = record.seen.as_deref().and_then(read_space)
        && let Some(space) = store.find(organization, id).await?
    {
        return Ok(Some((id, space)));
    }
    let (Field::Value(manifest), Field::Value(slug)) = (&said.manifest, &said.slug) else { return Ok(None) };
    let Some(id) = store.find_by_slug(organization, *manifest, slug).await? else { return Ok(None) };
    Ok(store.find(organization, id).await?.map(|space| (id, space)))
}

#[async_trait]
impl RecordType for Spaces {
    fn name(&self) -> &'static str {
        "space"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: SpaceRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let before = find(import, organization, &record, &said).await?;
        let mut space = match &before {
            Some((_, space)) => space.clone(),
            None => said.begin(import)?,
        };
        said.apply(&mut space)?;
        space.check()?;
        let store = import.ports.spaces();
        match before {
            None => Ok(Put::created(space_id(store.add(organization, &space).await?))),
            Some((id, old)) if old == space => Ok(Put::unchanged(space_id(id))),
            Some((id, _)) => {
                if !restamped {
                    space.updated_at = import.options.now;
                }
                store.save(organization, id, &space).await?;
                Ok(Put::updated(space_id(id)))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.spaces().after(organization, after, PAGE);
        every(page, |id, space| {
            sink.write(
                &Row::of(organization, self.name(), space_id(id))
                    .with("manifest", space.manifest)
                    .some("slug", space.slug)
                    .with("title", space.title)
                    .unless_empty("subtitle", space.subtitle)
                    .unless_empty("short_description", space.short_description)
                    .unless_empty("description", space.description)
                    .with("visibility", space.visibility)
                    .time("published_at", space.published_at)
                    .some("scope_id", space.scope_id)
                    .unless_empty("extended_data", space.extended_data)
                    .stamps(space.created_at, space.updated_at),
            )
        })
        .await
    }
}
