//! Reading meetings (contract 06 §5).

use crate::{MEETING_FIELDS, MeetingDetail, MeetingQuery, MeetingStore};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{
    Ability, Access, Ctx, Error, LocationFilter, MeetingId, Order, Page, PageRequest, Result, Scope,
};

/// The rights to read meetings.
pub const READ_MEETINGS: Access = Access::either(Scope::Meetings, &[Ability::MeetingsRead]);

/// Reads meetings.
pub struct Meetings<'a> {
    /// The store of meetings.
    pub store: &'a dyn MeetingStore,
}

impl Meetings<'_> {
    /// The visible meetings.
    ///
    /// # Errors
    /// `Forbidden`, also for a filter on extended data without the ability to read it; `Unknown filter`,
    /// `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        within: LocationFilter,
        filter: &RawFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<MeetingDetail>> {
        ctx.require(&READ_MEETINGS)?;
        ctx.check_filter(filter, Ability::MeetingsExtendedDataRead)?;
        let query = MeetingQuery { within, filters: read_filters(MEETING_FIELDS, filter)?, order };
        self.store.list(ctx.read_context(), &query, page).await
    }

    /// One visible meeting inside `within`.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`.
    pub async fn find(&self, ctx: &Ctx, id: MeetingId, within: LocationFilter) -> Result<MeetingDetail> {
        ctx.require(&READ_MEETINGS)?;
        self.store.find_visible(ctx.read_context(), id, within).await?.ok_or(Error::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MeetingField, MockMeetingStore};
    use civitas_kernel::Direction;
    use civitas_kernel::filter::{Comparison, FilterCondition};
    use civitas_kernel::testing::raw_filter;

    async fn list(
        ctx: &Ctx,
        store: &MockMeetingStore,
        key: &str,
        value: &str,
    ) -> Result<Page<MeetingDetail>> {
        let (raw, order) = (raw_filter(key, value), Order::Column(Direction::Descending));
        Meetings { store }.list(ctx, LocationFilter::default(), &raw, order, PageRequest::default()).await
    }

    #[tokio::test]
    async fn without_the_ability_nothing_is_asked_of_the_store() {
        let (ctx, store) = (Ctx::for_test(), MockMeetingStore::new());
        assert!(matches!(list(&ctx, &store, "id", "1").await, Err(Error::Forbidden)));
        let one = Meetings { store: &store }.find(&ctx, MeetingId(1), LocationFilter::default()).await;
        assert!(matches!(one, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn extended_data_is_searched_only_with_its_ability_even_for_nothing() {
        let store = MockMeetingStore::new();
        let refused =
            list(&Ctx::for_test().with_access(&READ_MEETINGS), &store, "extended_data_cont", "").await;
        assert!(matches!(refused, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn the_request_is_passed_to_the_store() {
        let ctx = Ctx::for_test().with_access(&READ_MEETINGS);
        let mut store = MockMeetingStore::new();
        store.expect_list().once().returning(|_, query, _| {
            assert_eq!(query.order, Order::Column(Direction::Descending));
            let [filter] = query.filters.as_slice() else { panic!("{query:?}") };
            assert_eq!(filter.field, MeetingField::Id);
            assert_eq!(filter.condition, FilterCondition::Integer(Comparison::Gt(3)));
            Ok(Page::new(vec![], false))
        });
        list(&ctx, &store, "id_gt", "3").await.unwrap();
        let unknown = list(&ctx, &store, "address_eq", "x").await.unwrap_err();
        assert_eq!(unknown.description(), "Unknown filter: address_eq");
    }
}
