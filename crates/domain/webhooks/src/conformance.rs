//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

use crate::{Announcement, Outbox, envelope};
use civitas_kernel::{Ability, OrganizationId, Result, sortable_id};
use serde_json::json;
use time::macros::datetime;

/// An outbox, and two existing organizations.
pub struct World<'a> {
    /// Under test.
    pub outbox: &'a dyn Outbox,
    /// An organization.
    pub mine: OrganizationId,
    /// Another one.
    pub other: OrganizationId,
}

fn announcement(organization: OrganizationId, n: i64) -> Announcement {
    let name = Ability::ProposalCreation;
    Announcement {
        id: sortable_id(),
        organization,
        name,
        payload: envelope(name, &json!({"id": n.to_string(), "title": "Été", "list": [n, null]})),
        occurred_at: datetime!(2026-03-01 09:30:00.000001 UTC) + time::Duration::seconds(n),
    }
}

/// Stored events are read back with all members, in the order of the ids, in pages.
pub async fn pages_do_not_overlap(world: World<'_>) -> Result<()> {
    let mut all: Vec<_> = (0..5).map(|n| announcement(world.mine, n)).collect();
    world.outbox.append(&all).await?;
    world.outbox.append(&[]).await?;
    all.sort_by_key(|a| a.id);
    let mut seen = Vec::new();
    loop {
        let page = world.outbox.page_after(world.mine, seen.last().map(|a: &Announcement| a.id), 2).await?;
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, all);
    Ok(())
}

/// An organization does not see events of another one.
pub async fn keeps_organizations_apart(world: World<'_>) -> Result<()> {
    let both = [announcement(world.mine, 1), announcement(world.other, 2)];
    world.outbox.append(&both).await?;
    assert_eq!(world.outbox.page_after(world.mine, None, 9).await?, both[..1]);
    assert_eq!(world.outbox.page_after(world.other, None, 9).await?, both[1..]);
    Ok(())
}
