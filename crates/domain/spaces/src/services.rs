//! Reads spaces and components.

use crate::{
    COMPONENT_FIELDS, ComponentDetail, ComponentField, ComponentFilter, ComponentKind, ComponentStore,
    SPACE_FIELDS, SpaceDetail, SpaceStore,
};
use civitas_kernel::filter::{FieldKind, FilterCondition, FilterField, RawFilter, read_filters};
use civitas_kernel::{
    Ability, Access, ComponentId, Ctx, Error, Page, PageRequest, Result, Scope, SpaceKind, SpaceRef,
};

/// The rights to read spaces.
pub const READ_SPACES: Access = Access::either(Scope::Public, &[Ability::SpaceRead]);
/// The rights to read components.
pub const READ_COMPONENTS: Access = Access::either(Scope::Public, &[Ability::ComponentRead]);

/// The fields of the two typed component lists: those of the search, except the kind.
pub const COMPONENT_FIELDS_WITHOUT_KIND: &[FilterField<ComponentField>] = COMPONENT_FIELDS.split_at(1).1;

/// Reads spaces.
pub struct Spaces<'a> {
    /// The store.
    pub store: &'a dyn SpaceStore,
}

impl Spaces<'_> {
    /// The visible spaces, of one kind or of all.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter` and `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        kind: Option<SpaceKind>,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<SpaceDetail>> {
        ctx.require(&READ_SPACES)?;
        ctx.check_filter(filter, Ability::SpaceExtendedDataRead)?;
        self.store.list(ctx.read_context(), kind, &read_filters(SPACE_FIELDS, filter)?, page).await
    }

    /// One visible space.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound` when it is unknown, of another organization or invisible.
    pub async fn find(&self, ctx: &Ctx, id: SpaceRef) -> Result<SpaceDetail> {
        ctx.require(&READ_SPACES)?;
        self.store.find_visible(ctx.read_context(), id).await?.ok_or(Error::NotFound)
    }
}

/// Reads components.
pub struct Components<'a> {
    /// The store.
    pub store: &'a dyn ComponentStore,
}

impl Components<'_> {
    /// The visible components, of one kind or of all.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter` and `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        kind: Option<ComponentKind>,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<ComponentDetail>> {
        ctx.require(&READ_COMPONENTS)?;
        ctx.check_filter(filter, Ability::ComponentExtendedDataRead)?;
        let fields = if kind.is_some() { COMPONENT_FIELDS_WITHOUT_KIND } else { COMPONENT_FIELDS };
        let filters: Vec<_> = read_filters(fields, filter)?.into_iter().map(by_class_name).collect();
        self.store.list(ctx.read_context(), kind, &filters, page).await
    }

    /// One visible component of this kind.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound` when it is unknown, of another organization, invisible or of another kind.
    pub async fn find(&self, ctx: &Ctx, kind: ComponentKind, id: ComponentId) -> Result<ComponentDetail> {
        ctx.require(&READ_COMPONENTS)?;
        let found = self.store.find_visible(ctx.read_context(), id).await?;
        found.filter(|c| c.component.kind == kind).ok_or(Error::NotFound)
    }
}

/// The name of a kind that is compared for equality with a class name means its class (contract 05 §3.2).
fn by_class_name(mut filter: ComponentFilter) -> ComponentFilter {
    if let (ComponentField::SpaceType, FilterCondition::Text(is)) = (filter.field, &mut filter.condition) {
        for name in is.equated_mut() {
            if let Some(kind) = SpaceKind::parse(name) {
                kind.class().clone_into(name);
            }
        }
    }
    filter
}

const _: () = assert!(matches!(COMPONENT_FIELDS[0].kind, FieldKind::Enum(_)), "the kind is the first field");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockComponentStore, MockSpaceStore};
    use civitas_kernel::filter::Comparison;
    use civitas_kernel::testing::raw_filter;

    #[tokio::test]
    async fn the_extended_data_filter_needs_its_ability_even_when_it_is_empty() {
        let store = MockSpaceStore::new();
        let ctx = Ctx::for_test().with_access(&READ_SPACES);
        let spaces = Spaces { store: &store };
        let refused =
            spaces.list(&ctx, None, &raw_filter("extended_data_cont", ""), PageRequest::default()).await;
        assert!(matches!(refused, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn rights_are_asked_before_anything_is_read() {
        let store = MockSpaceStore::new();
        let id = SpaceRef { kind: SpaceKind::Assemblies, id: 1 };
        assert!(matches!(Spaces { store: &store }.find(&Ctx::for_test(), id).await, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn a_manifest_name_is_read_as_its_class_and_the_typed_lists_have_no_kind() {
        let mut store = MockComponentStore::new();
        let wanted = FilterCondition::Text(Comparison::Eq("Platform::Assembly".to_owned()));
        store
            .expect_list()
            .once()
            .withf(move |_, _, filters, _| filters[0].condition == wanted)
            .returning(|_, _, _, _| Ok(Page::new(vec![], false)));
        let ctx = Ctx::for_test().with_access(&READ_COMPONENTS);
        let components = Components { store: &store };
        let page = PageRequest::default();
        components
            .list(&ctx, None, &raw_filter("participatory_space_type", "assemblies"), page)
            .await
            .unwrap();
        let typed = Some(ComponentKind::Blogs);
        let refused =
            components.list(&ctx, typed, &raw_filter("manifest_name_eq", "blogs"), page).await.unwrap_err();
        assert_eq!(refused.description(), "Unknown filter: manifest_name_eq");
    }
}
