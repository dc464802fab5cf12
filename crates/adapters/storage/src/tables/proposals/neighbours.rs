//! The proposals beside one in a list, found from its place in the order rather than by walking the list.
//!
//! The order has two stretches: published proposals by time, and the reader's drafts, which have none; within a time,
//! and among drafts, ids ascend. Ascending, the drafts are the end, descending the beginning (contract 06 §1.5).

use super::listing::{Ids, List};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::schema::proposals;
use crate::tables::visible_components::Seek;
use civitas_kernel::{Direction, Order, ProposalId, Result, Sight};
use civitas_proposals::{Neighbours, ProposalQuery};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// Which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Next,
    Prev,
}

/// What is searched: a list in its order.
struct Search<'a> {
    list: List<'a>,
    direction: Direction,
}

impl Search<'_> {
    /// The members at this time that lie this way of an id, nearest first.
    fn at_the_same_time(&self, id: i64, at: OffsetDateTime, way: Way) -> Result<Ids> {
        let members = self.list.published()?.filter(proposals::published_at.eq(at));
        Ok(match way {
            Way::Next => members.filter(proposals::id.gt(id)).order(proposals::id.asc()),
            Way::Prev => members.filter(proposals::id.lt(id)).order(proposals::id.desc()),
        })
    }

    /// The published members this way of a time, or all of them, nearest first.
    fn at_other_times(&self, at: Option<OffsetDateTime>, way: Way) -> Result<Ids> {
        let members = self.list.published()?;
        let forwards = self.forwards(way);
        let members = match at {
            Some(at) if forwards => members.filter(proposals::published_at.gt(at)),
            Some(at) => members.filter(proposals::published_at.lt(at)),
            None => members,
        };
        Ok(match (way, forwards) {
            (Way::Next, true) => members.order((proposals::published_at.asc(), proposals::id.asc())),
            (Way::Prev, true) => members.order((proposals::published_at.asc(), proposals::id.desc())),
            (Way::Next, false) => members.order((proposals::published_at.desc(), proposals::id.asc())),
            (Way::Prev, false) => members.order((proposals::published_at.desc(), proposals::id.desc())),
        })
    }

    /// Whether this way leads to later times.
    fn forwards(&self, way: Way) -> bool {
        (self.direction == Direction::Ascending) == (way == Way::Next)
    }

    /// The way that leads from published proposals to drafts.
    fn to_drafts(&self) -> Way {
        if self.direction == Direction::Ascending { Way::Next } else { Way::Prev }
    }

    /// The neighbours of a published proposal.
    async fn of_published(
        &self,
        connection: &mut Conn,
        id: i64,
        at: OffsetDateTime,
    ) -> Result<(Option<i64>, Option<i64>)> {
        let seek = |way| -> Result<_> {
            Ok(Seek(vec![self.at_the_same_time(id, at, way)?, self.at_other_times(Some(at), way)?]))
        };
        let (mut next, mut prev): (Option<i64>, Option<i64>) =
            diesel::select((seek(Way::Next)?, seek(Way::Prev)?)).get_result(connection).await.stored()?;
        match self.to_drafts() {
            Way::Next if next.is_none() => next = self.list.drafts(connection).await?.into_iter().next(),
            Way::Prev if prev.is_none() => prev = self.list.drafts(connection).await?.pop(),
            Way::Next | Way::Prev => {}
        }
        Ok((next, prev))
    }

    /// The neighbours of a draft.
    async fn of_draft(&self, connection: &mut Conn, id: i64) -> Result<(Option<i64>, Option<i64>)> {
        let drafts = self.list.drafts(connection).await?;
        let mut next = drafts.iter().copied().find(|draft| *draft > id);
        let mut prev = drafts.iter().copied().rev().find(|draft| *draft < id);
        let (beyond, way) = match self.to_drafts() {
            Way::Next => (&mut prev, Way::Prev),
            Way::Prev => (&mut next, Way::Next),
        };
        if beyond.is_none() {
            let seek = Seek(vec![self.at_other_times(None, way)?]);
            *beyond = diesel::select(seek).get_result(connection).await.stored()?;
        }
        Ok((next, prev))
    }
}

/// The neighbours of a proposal in the list a query makes; none when it is not in that list. In random order the
/// next one is any other, and there is none before.
pub(super) async fn neighbours(
    connection: &mut Conn,
    sight: Sight,
    query: &ProposalQuery,
    id: ProposalId,
) -> Result<Neighbours> {
    let direction = match query.order {
        Order::Column(direction) => direction,
        Order::Random => Direction::Ascending,
    };
    let list = List::open(connection, sight, query).await?;
    if list.is_empty() {
        return Ok(Neighbours::default());
    }
    let Some(published_at) = list.time_of(connection, id).await? else { return Ok(Neighbours::default()) };
    let search = Search { list, direction };
    let (next, prev) = match published_at {
        Some(at) => search.of_published(connection, id.0, at).await?,
        None => search.of_draft(connection, id.0).await?,
    };
    let (next, prev) = (next.map(ProposalId), prev.map(ProposalId));
    Ok(match query.order {
        Order::Column(_) => Neighbours { next, prev },
        Order::Random => Neighbours { next: next.or(prev), prev: None },
    })
}
