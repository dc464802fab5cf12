//! Participatory spaces.

use crate::columns::{self, Condition, EnumColumn, TextEnum, columns};
use crate::engine::{Conn, Db};
use crate::filter::{FilterColumn, column_condition, translated};
use crate::list_pages::list_page;
use crate::prepared::PrepareOnce;
use crate::records::numbered_records;
use crate::schema::{components, spaces};
use crate::session::{LoadModelsExt, LoadRowsExt, Session, borrowed_connection};
use crate::tables::texts::{self, TextPart};
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::extended_data::{ExtendedDataValue, canonical_object};
use civitas_kernel::filter;
use civitas_kernel::text::nfc;
use civitas_kernel::{
    ComponentId, Locales, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceKind, SpaceRef,
    Translated, Viewer,
};
use civitas_spaces::{
    ComponentKind, Space, SpaceDetail, SpaceField, SpaceFilter, SpaceSearch, SpaceStore, Visibility,
};
use diesel::dsl::case_when;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};
use std::collections::{BTreeSet, HashMap};
use time::OffsetDateTime;

columns! {
    /// A space as its row stores it.
    spaces as Space;
    read_only { manifest: EnumColumn<SpaceKind>, id: i64 }
    fields {
        slug: Option<String>,
        title: Translated,
        subtitle: Translated,
        short_description: Translated,
        description: Translated,
        visibility: Visibility,
        published_at: Option<OffsetDateTime>,
        scope_id: Option<i64>,
        extended_data: ExtendedDataValue,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { kind: SpaceKind }
    write_only { extended_data_text: String = |space| canonical_object(&space.extended_data) }
}

impl From<Row> for (SpaceRef, Space) {
    fn from(row: Row) -> Self {
        let id = SpaceRef { kind: row.manifest.0, id: row.id };
        (id, row.into_model(id.kind))
    }
}

fn condition(
    filter: &SpaceFilter,
    organization: OrganizationId,
    locales: &Locales,
) -> Result<Condition<spaces::table>> {
    let column = match filter.field {
        SpaceField::Kind => FilterColumn::Ascii(Box::new(spaces::manifest.nullable())),
        SpaceField::Id => FilterColumn::Integer(Box::new(spaces::id.nullable())),
        SpaceField::Slug => FilterColumn::Text(Box::new(
            case_when(
                spaces::manifest.eq(EnumColumn(SpaceKind::Initiatives)),
                "i-".into_sql::<Text>().concat(spaces::id.cast::<Text>()).nullable(),
            )
            .otherwise(spaces::slug),
        )),
        SpaceField::Title if matches!(filter.condition, filter::FilterCondition::Words(_)) => {
            return has_words(organization, &filter.condition);
        }
        SpaceField::Title => translated!(spaces::title, locales),
        SpaceField::PublishedAt => FilterColumn::Time(Box::new(spaces::published_at)),
        SpaceField::CreatedAt => FilterColumn::Time(Box::new(spaces::created_at.nullable())),
        SpaceField::UpdatedAt => FilterColumn::Time(Box::new(spaces::updated_at.nullable())),
        SpaceField::ExtendedData => FilterColumn::Text(Box::new(spaces::extended_data_text.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// Whether the title has these words. Spaces of each kind have their own numbers.
fn has_words(
    organization: OrganizationId,
    words: &filter::FilterCondition,
) -> Result<Condition<spaces::table>> {
    let mut found: Condition<spaces::table> = Box::new(false.into_sql::<Nullable<Bool>>());
    for kind in SpaceKind::ALL {
        let titled = texts::matches_by_index(kind.as_str(), organization, TextPart::Title, words)?;
        found = Box::new(found.or(spaces::manifest.eq(EnumColumn(kind)).and(titled)));
    }
    Ok(found)
}

/// A visible component of a space, as listed in the space.
#[derive(Queryable)]
struct ListedComponent {
    space_manifest: EnumColumn<SpaceKind>,
    space_id: i64,
    id: i64,
    kind: EnumColumn<ComponentKind>,
    updated_at: OffsetDateTime,
}

/// The spaces with their visible components.
async fn with_components(
    connection: &mut Conn,
    organization: OrganizationId,
    viewer: Viewer,
    rows: Vec<Row>,
) -> Result<Vec<SpaceDetail>> {
    // Each kind once, so that there are few different statements.
    let kinds: BTreeSet<&str> = rows.iter().map(|row| row.manifest.0.name()).collect();
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let parts: Vec<ListedComponent> = components::table
        .inner_join(spaces::table.on(super::components::is_in_space()))
        .filter(columns::equals_unindexed(components::organization_id.nullable(), organization.0))
        .filter(components::space_manifest.eq_any(kinds))
        .filter(columns::any_of(components::space_id.nullable(), &ids))
        .filter(VisibilityRule::ComponentIsVisible(viewer))
        .order((components::weight, components::manifest, components::id))
        .select((
            components::space_manifest,
            components::space_id,
            components::id,
            components::manifest,
            components::updated_at,
        ))
        .prepare_once()
        .rows_from(borrowed_connection(connection))
        .await?;
    let mut by_space: HashMap<SpaceRef, Vec<ListedComponent>> = HashMap::new();
    for part in parts {
        let space = SpaceRef { kind: part.space_manifest.0, id: part.space_id };
        by_space.entry(space).or_default().push(part);
    }
    let details = rows.into_iter().map(|row| {
        let (id, space) = row.into();
        let parts = by_space.remove(&id).unwrap_or_default();
        let newest = parts.iter().map(|p| p.updated_at).max();
        let named = parts.iter().take(usize::try_from(SpaceDetail::MAX_COMPONENTS).unwrap_or(usize::MAX));
        SpaceDetail {
            id,
            components: named.map(|p| (ComponentId(p.id), p.kind.0)).collect(),
            component_count: i64::try_from(parts.len()).unwrap_or(i64::MAX),
            changed_at: space.updated_at.max(newest.unwrap_or(space.updated_at)),
            space,
        }
    });
    Ok(details.collect())
}

numbered_records! {
    scoped spaces: SpaceRef by kind as manifest: SpaceKind => Space;
    unique (organization_id, manifest, slug);
}

#[async_trait]
impl SpaceStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        kind: Option<SpaceKind>,
        filters: &[SpaceFilter],
        page: PageRequest,
    ) -> Result<Page<SpaceDetail>> {
        let ReadContext { organization, viewer, .. } = read_context;
        let listed = || {
            let visible = rows_of(organization).filter(VisibilityRule::SpaceIsVisible(viewer));
            let rows = visible.select(columns::all_columns::<Row>()).into_boxed::<Db>();
            match kind {
                Some(kind) => rows.filter(spaces::manifest.eq(EnumColumn(kind))),
                None => rows,
            }
        };
        let connection = &mut *self.read_page(page, !filters.is_empty()).await?;
        let page: Page<Row> = list_page!(connection, page, self.bounds; listed();
            filters, |filter| condition(filter, organization, self.locales());
            [spaces::id, spaces::created_at, spaces::updated_at; (spaces::id, spaces::manifest)],
            (spaces::created_at, spaces::manifest, spaces::id));
        let items = with_components(connection, organization, viewer, page.items).await?;
        Ok(Page::new(items, page.has_more).with_total(page.total))
    }

    async fn find_visible(&self, read_context: ReadContext, id: SpaceRef) -> Result<Option<SpaceDetail>> {
        let connection = &mut *self.read().await?;
        let row: Option<Row> = rows_of(read_context.organization)
            .filter(spaces::manifest.eq(EnumColumn(id.kind)))
            .filter(spaces::id.eq(id.id))
            .filter(VisibilityRule::SpaceIsVisible(read_context.viewer))
            .select(columns::all_columns::<Row>())
            .first_from(borrowed_connection(connection))
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(with_components(connection, read_context.organization, read_context.viewer, vec![row])
            .await?
            .pop())
    }

    async fn find_by_slug(
        &self,
        organization: OrganizationId,
        kind: SpaceKind,
        slug: &str,
    ) -> Result<Option<SpaceRef>> {
        let mut found =
            rows_of(organization).filter(spaces::manifest.eq(EnumColumn(kind))).into_boxed::<Db>();
        found = if kind == SpaceKind::Initiatives {
            let number = slug.strip_prefix("i-").and_then(|n| n.parse::<i64>().ok());
            let Some(number) = number.filter(|n| slug == format!("i-{n}")) else { return Ok(None) };
            found.filter(spaces::id.eq(number))
        } else {
            found.filter(spaces::slug.eq(nfc(slug)))
        };
        let id: Option<i64> = found.select(spaces::id).first_from(self.read()).await?;
        Ok(id.map(|id| SpaceRef { kind, id }))
    }

    async fn search(
        &self,
        organization: OrganizationId,
        search: &SpaceSearch,
        page: PageRequest,
    ) -> Result<Page<(SpaceRef, Space)>> {
        let mut rows = rows_of(organization).into_boxed::<Db>();
        if let Some(kind) = search.kind {
            rows = rows.filter(spaces::manifest.eq(EnumColumn(kind)));
        }
        match search.published {
            Some(true) => rows = rows.filter(spaces::published_at.is_not_null()),
            Some(false) => rows = rows.filter(spaces::published_at.is_null()),
            None => {}
        }
        if let Some(text) = &search.text
            && let Some(words) = filter::FilterCondition::words(text)
        {
            let part = filter::FilterCondition::Contains(text.clone());
            let slug = SpaceFilter { field: SpaceField::Slug, condition: part };
            let slug = condition(&slug, organization, self.locales())?;
            rows = rows.filter(has_words(organization, &words)?.or(slug));
        }
        rows.order((spaces::created_at.desc(), spaces::manifest.desc(), spaces::id.desc()))
            .page_from::<Row, _>(page, self.read_long())
            .await
    }
}
