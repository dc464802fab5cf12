//! Reading proposals (contract 06 §1).

use crate::{
    PROPOSAL_FIELDS, ProposalDetail, ProposalField, ProposalNeighbours, ProposalQuery, ProposalStore,
};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{
    Ability, Access, Ctx, Error, LocationFilter, Order, Page, PageRequest, ProposalId, Result, Scope,
};

/// The rights to read proposals.
pub const READ_PROPOSALS: Access = Access::either(Scope::Proposals, &[Ability::ProposalsRead]);

/// Reads proposals.
pub struct Proposals<'a> {
    /// The store of proposals.
    pub store: &'a dyn ProposalStore,
}

impl Proposals<'_> {
    /// The visible proposals.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`; `User required` when a service token asks for
    /// its votes.
    pub async fn list(
        &self,
        ctx: &Ctx,
        within: LocationFilter,
        filter: &RawFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        let query = Self::query(ctx, within, filter, order)?;
        self.store.list(ctx.read_context(), &query, page).await
    }

    /// One visible proposal inside `within`, and its neighbours in the list with the same parameters.
    ///
    /// # Errors
    /// As [`Self::list`]; `NotFound`.
    pub async fn find(
        &self,
        ctx: &Ctx,
        id: ProposalId,
        within: LocationFilter,
        filter: &RawFilter,
        order: Order,
    ) -> Result<(ProposalDetail, ProposalNeighbours)> {
        let query = Self::query(ctx, within, filter, order)?;
        self.store.find_with_neighbours(ctx.read_context(), &query, id).await?.ok_or(Error::NotFound)
    }

    fn query(ctx: &Ctx, within: LocationFilter, filter: &RawFilter, order: Order) -> Result<ProposalQuery> {
        ctx.require(&READ_PROPOSALS)?;
        ctx.check_filter(filter, Ability::ProposalsExtendedDataRead)?;
        let filters = read_filters(PROPOSAL_FIELDS, filter)?;
        if filters.iter().any(|f| f.field == ProposalField::VotedWeight) {
            ctx.user()?;
        }
        Ok(ProposalQuery { within, filters, order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockProposalStore;
    use civitas_kernel::testing::raw_filter;

    async fn list(
        ctx: &Ctx,
        store: &MockProposalStore,
        key: &str,
        value: &str,
    ) -> Result<Page<ProposalDetail>> {
        let (raw, page) = (raw_filter(key, value), PageRequest::default());
        Proposals { store }.list(ctx, LocationFilter::default(), &raw, Order::default(), page).await
    }

    #[tokio::test]
    async fn asking_for_ones_votes_needs_a_user_unless_the_value_is_empty() {
        let ctx = Ctx::for_test().with_access(&READ_PROPOSALS);
        let mut store = MockProposalStore::new();
        let refused = list(&ctx, &store, "voted_weight_eq", "1").await.unwrap_err();
        assert_eq!(refused.description(), "User required");
        store.expect_list().once().returning(|_, query, _| {
            assert!(query.filters.is_empty());
            Ok(Page::new(vec![], false))
        });
        list(&ctx, &store, "voted_weight_eq", "").await.unwrap();
    }

    #[tokio::test]
    async fn extended_data_is_searched_only_with_its_ability() {
        let ctx = Ctx::for_test().with_access(&READ_PROPOSALS);
        let refused = list(&ctx, &MockProposalStore::new(), "extended_data_cont", "x").await;
        assert!(matches!(refused, Err(Error::Forbidden)));
    }
}
