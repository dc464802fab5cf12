//! Shares: the limits, and what organizations use.

use crate::admin_request::AdminRequest;
use crate::format;
use crate::pages::clients::api_client::{self, organization_name};
use crate::parts::{Card, Cell, EmptyState, Html, Table};
use crate::reply::Reply;
use civitas_application::SharedResource;
use civitas_kernel::{OrganizationId, Result};
use std::collections::BTreeMap;

/// The most organizations that are shown for each stored share.
const MAX_ORGANIZATIONS: i64 = 25;

/// Number in use, and number of refusals, of organizations.
type Amounts = BTreeMap<(SharedResource, i64), (u64, u64)>;

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let (shares, store) = (&req.panel.services.shares, req.store());
    let used = shares.by_tenant().into_iter();
    let mut amounts: Amounts =
        used.map(|one| ((one.share, one.organization.0), (one.used, one.refused))).collect();
    for share in SharedResource::ALL.into_iter().filter(|share| share.is_stored()) {
        // A sum that takes too long is left out.
        let stored =
            store.shares().count_stored_by_tenant(share, MAX_ORGANIZATIONS).await.unwrap_or_default();
        for (OrganizationId(organization), used) in stored {
            amounts.entry((share, organization)).or_default().0 = used;
        }
    }
    let organizations = api_client::organizations(req, None).await?;
    let columns = req.columns(
        "shares-one shares-record:num client-one:num organization:num shares-process:num shares-used:num",
    );
    let limits = Table::new(req.tr("shares-limits"), columns);
    let limits = limits.rows(SharedResource::ALL.map(|share| limit_cells(req, share, &amounts)));
    let columns = req.columns("organization shares-one shares-used:num shares-refused:num");
    let rows = amounts.iter().map(|((share, organization), (used, refused))| {
        let name = if *organization == 0 {
            // Clients of the whole deployment, and the panel.
            Cell::muted("–")
        } else {
            let name = organization_name(req, &organizations, OrganizationId(*organization));
            Cell::link(&format!("/system/organizations/{organization}"), &name, "")
        };
        vec![
            name,
            Cell::text(&share_name(req, *share)),
            amount_cell(req, *share, *used),
            Cell::text(&req.number(i64::try_from(*refused).unwrap_or(i64::MAX))),
        ]
    });
    let tenants = Table::new(req.tr("shares-tenants"), columns).rows(rows);
    let tenants = tenants.empty(EmptyState::new(req.tr("shares-none"), ""));
    let cards = [
        Card::new("limits", req.tr("shares-limits"), limits.html()).html(),
        Card::new("tenants", req.tr("shares-tenants"), tenants.html()).html(),
    ];
    req.page(req.head("nav-shares").lede(req.tr("shares-lede")), Html::join(cards)).await
}

fn limit_cells(req: &AdminRequest, share: SharedResource, amounts: &Amounts) -> Vec<Cell> {
    let limits = req.panel.services.shares.limits(share);
    let used = amounts.iter().filter(|((known, _), _)| *known == share).map(|(_, (used, _))| used).sum();
    let numbers = [limits.record, limits.client, limits.tenant, limits.process, used];
    let name = Cell::with_subtext(&share_name(req, share), share.as_str());
    std::iter::once(name).chain(numbers.map(|number| amount_cell(req, share, number))).collect()
}

fn share_name(req: &AdminRequest, share: SharedResource) -> String {
    req.tr(&format!("share-{}", share.as_str().replace('_', "-")))
}

/// Bytes or a number; a dash without a limit.
fn amount_cell(req: &AdminRequest, share: SharedResource, number: u64) -> Cell {
    match i64::try_from(number) {
        _ if number == u64::MAX => Cell::muted("–"),
        Ok(bytes) if share.is_in_bytes() => Cell::text(&format::bytes(req.translator.locale, bytes)),
        number => Cell::text(&req.number(number.unwrap_or(i64::MAX))),
    }
}
