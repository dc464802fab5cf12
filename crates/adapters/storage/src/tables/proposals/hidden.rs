//! The list of hidden proposals.

use super::listing::details;
use super::reading::{Facts, read, satisfies};
use crate::engine::Db;
use crate::failure::Stored;
use crate::schema::proposals;
use crate::session::Session;
use crate::tables::pages::By;
use civitas_kernel::{OrganizationId, Page, PageRequest, Result};
use civitas_proposals::{HiddenProposals, ProposalDetail};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

/// One page of hidden proposals and drafts. The first conditions are those of the partial indexes.
pub(super) async fn page(
    session: &Session,
    organization: OrganizationId,
    list: &HiddenProposals,
    page: PageRequest,
) -> Result<Page<ProposalDetail>> {
    let mut found = super::of(organization)
        .filter(proposals::hidden_at.is_not_null())
        .filter(proposals::deleted_at.is_null())
        .select(read(None))
        .into_boxed::<Db>();
    if let Some(component) = list.component {
        found = found.filter(proposals::component_id.eq(component.0));
    }
    for filter in &list.filters {
        found = found.filter(satisfies(None, filter)?);
    }
    let order = (By(proposals::hidden_at, list.direction), By(proposals::id, list.direction));
    let found = found.order(order).limit(page.fetch()).offset(page.offset());
    let rows: Vec<Facts> = found.load(&mut *session.read_long().await?).await.stored()?;
    details(session, organization, None, Page::cut(rows, page)).await
}
