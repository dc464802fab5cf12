//! Shares: the limits, and what organizations use.

use super::log::organization_name;
use crate::admin_request::AdminRequest;
use crate::format;
use crate::pages::clients::api_client;
use crate::parts::{Card, Cell, Empty, Html, Table};
use crate::reply::Reply;
use civitas_application::Share;
use civitas_kernel::{OrganizationId, Result};
use std::collections::BTreeMap;

/// The most organizations that are shown for each stored share.
const MAX: i64 = 25;

/// Number in use, and number of refusals, of organizations.
type Amounts = BTreeMap<(Share, i64), (u64, u64)>;

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let (shares, store) = (&req.panel.services.shares, req.panel.store());
    let used = shares.by_tenant().into_iter();
    let mut amounts: Amounts =
        used.map(|of| ((of.share, of.organization.0), (of.used, of.refused))).collect();
    for share in Share::ALL.into_iter().filter(|share| share.is_stored()) {
        // A sum that takes too long is left out.
        let stored = store.shares().stored_by_tenant(share, MAX).await.unwrap_or_default();
        for (OrganizationId(organization), used) in stored {
            amounts.entry((share, organization)).or_default().0 = used;
        }
    }
    let organizations = api_client::organizations(req).await?;
    let columns = req.columns(
        "shares-one shares-record:num client-one:num organization:num shares-process:num shares-used:num",
    );
    let limits = Table::new(req.tr("shares-limits"), columns);
    let limits = limits.rows(Share::ALL.map(|share| limit_cells(req, share, &amounts)));
    let columns = req.columns("organization shares-one shares-used:num shares-refused:num");
    let rows = amounts.iter().map(|((share, organization), (used, refused))| {
        let name = match organization_name(&organizations, OrganizationId(*organization)) {
            // Clients of the whole deployment, and the panel.
            "" => Cell::soft("–"),
            name => Cell::link(&format!("/system/organizations/{organization}"), name, ""),
        };
        vec![
            name,
            Cell::text(&name_of(req, *share)),
            amount_cell(req, *share, *used),
            Cell::num(&req.number(i64::try_from(*refused).unwrap_or(i64::MAX))),
        ]
    });
    let tenants = Table::new(req.tr("shares-tenants"), columns).rows(rows);
    let tenants = tenants.empty(Empty { title: req.tr("shares-none"), ..Empty::default() });
    let cards = [
        Card::new("limits", req.tr("shares-limits"), limits.html()).html(),
        Card::new("tenants", req.tr("shares-tenants"), tenants.html()).html(),
    ];
    req.page(req.head("nav-shares").lede(req.tr("shares-lede")), Html::join(cards)).await
}

fn limit_cells(req: &AdminRequest, share: Share, amounts: &Amounts) -> Vec<Cell> {
    let limits = req.panel.services.shares.limits(share);
    let used = amounts.iter().filter(|((of, _), _)| *of == share).map(|(_, (used, _))| used).sum();
    let numbers = [limits.record, limits.client, limits.tenant, limits.process, used];
    let name = Cell::with_sub(&name_of(req, share), share.as_str());
    std::iter::once(name).chain(numbers.map(|number| amount_cell(req, share, number))).collect()
}

fn name_of(req: &AdminRequest, share: Share) -> String {
    req.tr(&format!("share-{}", share.as_str().replace('_', "-")))
}

/// Bytes or a number; a dash without a limit.
fn amount_cell(req: &AdminRequest, share: Share, number: u64) -> Cell {
    match i64::try_from(number) {
        _ if number == u64::MAX => Cell::soft("–"),
        Ok(bytes) if share.is_in_bytes() => Cell::num(&format::bytes(req.translator.locale, bytes)),
        number => Cell::num(&req.number(number.unwrap_or(i64::MAX))),
    }
}
