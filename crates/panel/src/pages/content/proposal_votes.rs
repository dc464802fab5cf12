//! The votes on a proposal (contract 06 §4).

use super::proposals::OpenedProposal;
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::pages::people::persons;
use crate::parts::{Badge, Cell, EmptyState, Html, Table};
use crate::reply::Reply;
use civitas_kernel::Result;
use time::format_description::well_known::Rfc3339;

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let (path, request) = (format!("{}/votes", opened.path()), req.query.page(PER_PAGE));
    let page = req.store().votes();
    let page = page.list_of_proposal(opened.organization_id, opened.id, request).await?;
    let ids = page.items.iter().map(|(_, vote)| vote.user.0).collect();
    let people = persons::accounts(req, opened.organization_id, ids).await?;
    let rows = page.items.iter().map(|(_, vote)| {
        let person = match people.get(&vote.user) {
            Some(user) => {
                let href = format!("{}/{}", persons::list_path(opened.organization_id), vote.user);
                Cell::link(&href, &user.name, &format!("@{}", user.nickname))
            }
            None => Cell::muted(&req.tr("deleted")),
        };
        let state = if vote.temporary {
            Badge::warn(req.tr("vote-temporary"))
        } else {
            Badge::good(req.tr("vote-final"))
        };
        let iso = vote.created_at.format(&Rfc3339).unwrap_or_default();
        vec![
            person,
            Cell::time(&iso, &req.time(vote.created_at)),
            Cell::text(&req.number(vote.weight)),
            Cell::badge(&state),
        ]
    });
    let columns = req.columns("role-person vote-cast vote-weight:num column-state");
    let empty = EmptyState::new(req.tr("votes-none"), req.tr("votes-none-lede"));
    let caption = req.tr_with("votes-of", "title", opened.title(req));
    let table = Table::new(caption, columns).rows(rows).empty(empty);
    let lede = req.tr("votes-lede");
    let links = List::new(req, "votes", &path).page_links(request, &page);
    req.page(opened.tab_head(req, "votes").lede(lede), Html::join([table.html(), links.html()])).await
}
