//! The votes on a proposal (contract 06 §4).

use super::people;
use super::proposals::{OpenedProposal, authors};
use crate::format::Zone;
use crate::parts::{Badge, Cell, Column, Empty, Html, Table};
use crate::records::PER_PAGE;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::Result;
use time::format_description::well_known::Rfc3339;

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    visit.open_organization(shown.organization).await?;
    visit.zone = Zone::named(&shown.home.time_zone);
    let visit = &*visit;
    let (path, request) = (format!("{}/votes", shown.path()), visit.query.page(PER_PAGE));
    let page = visit.panel.store().votes();
    let page = page.of_proposal(shown.organization, shown.id, request).await?;
    let ids = page.items.iter().map(|(_, vote)| vote.user.0).collect();
    let people = authors(visit, shown.organization, ids).await?;
    let rows = page.items.iter().map(|(_, vote)| {
        let person = match people.get(&vote.user) {
            Some(user) => {
                let href = format!("{}/{}", people::list_path(shown.organization), vote.user);
                Cell::link(&href, &user.name, &format!("@{}", user.nickname))
            }
            None => Cell::soft(&visit.say("deleted")),
        };
        let state = if vote.temporary {
            Badge::warn(visit.say("vote-temporary"))
        } else {
            Badge::good(visit.say("vote-final"))
        };
        let iso = vote.created_at.format(&Rfc3339).unwrap_or_default();
        vec![
            person,
            Cell::time(&iso, &visit.time(vote.created_at)),
            Cell::num(&visit.number(vote.weight)),
            Cell::badge(&state),
        ]
    });
    let columns = vec![
        Column::new(visit.say("role-person")),
        Column::new(visit.say("vote-cast")),
        Column::new(visit.say("vote-weight")).num(),
        Column::new(visit.say("column-state")),
    ];
    let empty = Empty { title: visit.say("votes-none"), text: visit.say("votes-none-lede"), act: None };
    let caption = visit.tell("votes-of", &[("title", shown.title(visit).into())]);
    let table = Table::new(caption, columns).rows(rows).empty(empty);
    let lede = visit.say("votes-lede");
    let pages = visit.pages(&path, request, page.has_more);
    visit.page(shown.tabbed_head(visit, "votes").lede(lede), Html::join([table.html(), pages])).await
}
