//! Shares: the limits, and what organizations use.

use super::client;
use super::log::organization_name;
use crate::format;
use crate::parts::{Card, Cell, Column, Empty, Html, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::Share;
use civitas_kernel::{OrganizationId, Result};
use std::collections::BTreeMap;

/// The most organizations that are shown for each stored share.
const MOST: i64 = 25;

/// Number in use, and number of refusals, of organizations.
type Amounts = BTreeMap<(Share, i64), (u64, u64)>;

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let (shares, store) = (&visit.panel.services.shares, visit.panel.store());
    let used = shares.by_tenant().into_iter();
    let mut amounts: Amounts =
        used.map(|of| ((of.share, of.organization.0), (of.used, of.refused))).collect();
    for share in Share::ALL.into_iter().filter(|share| share.is_stored()) {
        // A sum that takes too long is left out.
        let stored = store.shares().stored_by_tenant(share, MOST).await.unwrap_or_default();
        for (OrganizationId(organization), used) in stored {
            amounts.entry((share, organization)).or_default().0 = used;
        }
    }
    let organizations = client::organizations(visit).await?;
    let numbers = ["shares-record", "client-one", "organization", "shares-process", "shares-used"];
    let limits = Table::new(visit.say("shares-limits"), columns(visit, &["shares-one"], &numbers));
    let limits = limits.rows(Share::ALL.map(|share| limits_of(visit, share, &amounts)));
    let (texts, numbers) = (["organization", "shares-one"], ["shares-used", "shares-refused"]);
    let rows = amounts.iter().map(|((share, organization), (used, refused))| {
        let name = match organization_name(&organizations, OrganizationId(*organization)) {
            // Clients of the whole deployment, and the panel.
            "" => Cell::soft("–"),
            name => Cell::link(&format!("/system/organizations/{organization}"), name, ""),
        };
        vec![
            name,
            Cell::text(&name_of(visit, *share)),
            amount(visit, *share, *used),
            Cell::num(&visit.number(i64::try_from(*refused).unwrap_or(i64::MAX))),
        ]
    });
    let tenants = Table::new(visit.say("shares-tenants"), columns(visit, &texts, &numbers)).rows(rows);
    let tenants = tenants.empty(Empty { title: visit.say("shares-none"), ..Empty::default() });
    let cards = [
        Card::new("limits", visit.say("shares-limits"), limits.html()).html(),
        Card::new("tenants", visit.say("shares-tenants"), tenants.html()).html(),
    ];
    visit.page(visit.head("nav-shares").lede(visit.say("shares-lede")), Html::join(cards)).await
}

/// Columns of texts, then columns of numbers.
fn columns(visit: &Visit, texts: &[&str], numbers: &[&str]) -> Vec<Column> {
    let column = |key: &&str| Column::new(visit.say(key));
    texts.iter().map(column).chain(numbers.iter().map(|key| column(key).num())).collect()
}

fn limits_of(visit: &Visit, share: Share, amounts: &Amounts) -> Vec<Cell> {
    let limits = visit.panel.services.shares.limits(share);
    let used = amounts.iter().filter(|((of, _), _)| *of == share).map(|(_, (used, _))| used).sum();
    let numbers = [limits.record, limits.client, limits.tenant, limits.process, used];
    let name = Cell::with_sub(&name_of(visit, share), share.name());
    std::iter::once(name).chain(numbers.map(|number| amount(visit, share, number))).collect()
}

fn name_of(visit: &Visit, share: Share) -> String {
    visit.say(&format!("share-{}", share.name().replace('_', "-")))
}

/// Bytes or a number; a dash without a limit.
fn amount(visit: &Visit, share: Share, number: u64) -> Cell {
    match i64::try_from(number) {
        _ if number == u64::MAX => Cell::soft("–"),
        Ok(bytes) if share.is_in_bytes() => Cell::num(&format::bytes(visit.words.locale, bytes)),
        number => Cell::num(&visit.number(number.unwrap_or(i64::MAX))),
    }
}
