//! The proposals beside one in a list, found from its place in the order rather than by walking the list.
//!
//! The order has two stretches: published proposals by time, and drafts, which have none; within a time, and among
//! drafts, ids ascend. Ascending, the drafts are the end, descending the beginning (contract 06 §1.5).

use super::reading::{Drafts, Joined, joined, listed};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::schema::proposals;
use civitas_kernel::{Direction, Order, ProposalId, Result, Sight};
use civitas_proposals::{Neighbours, ProposalQuery};
use diesel::dsl::IntoBoxed;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// Where the search begins.
#[derive(Debug, Clone, Copy)]
struct From {
    id: i64,
    published_at: Option<OffsetDateTime>,
}

/// Which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Next,
    Prev,
}

/// What is searched: a list in its order.
struct Search<'a> {
    sight: Sight,
    query: &'a ProposalQuery,
    drafts: Drafts,
    direction: Direction,
}

type Found<'q> = IntoBoxed<'q, diesel::dsl::Select<Joined, proposals::id>, Db>;

impl Search<'_> {
    /// The members of the list.
    fn members<'q>(&self) -> Result<Found<'q>> {
        let mut members = joined().select(proposals::id).into_boxed::<Db>();
        for condition in listed(self.sight, self.query, self.drafts)? {
            members = members.filter(condition);
        }
        Ok(members)
    }

    /// The nearest member in the stretch of `from`.
    fn in_the_same_stretch<'q>(&self, from: From, way: Way) -> Result<Found<'q>> {
        let members = self.members()?;
        let Some(at) = from.published_at else {
            let drafts = members.filter(proposals::published_at.is_null());
            return Ok(match way {
                Way::Next => drafts.filter(proposals::id.gt(from.id)).order(proposals::id.asc()),
                Way::Prev => drafts.filter(proposals::id.lt(from.id)).order(proposals::id.desc()),
            });
        };
        // The outer bound is for the index; the inner ones say what comes at the same time.
        Ok(match (way, self.forwards(way)) {
            (Way::Next, true) => members
                .filter(proposals::published_at.ge(at))
                .filter(proposals::published_at.gt(at).or(proposals::id.nullable().gt(from.id)))
                .order((proposals::published_at.asc(), proposals::id.asc())),
            (Way::Prev, true) => members
                .filter(proposals::published_at.ge(at))
                .filter(proposals::published_at.gt(at).or(proposals::id.nullable().lt(from.id)))
                .order((proposals::published_at.asc(), proposals::id.desc())),
            (Way::Next, false) => members
                .filter(proposals::published_at.le(at))
                .filter(proposals::published_at.lt(at).or(proposals::id.nullable().gt(from.id)))
                .order((proposals::published_at.desc(), proposals::id.asc())),
            (Way::Prev, false) => members
                .filter(proposals::published_at.le(at))
                .filter(proposals::published_at.lt(at).or(proposals::id.nullable().lt(from.id)))
                .order((proposals::published_at.desc(), proposals::id.desc())),
        })
    }

    /// The nearest member in the other stretch.
    fn in_the_other_stretch<'q>(&self, from: From, way: Way) -> Result<Found<'q>> {
        let members = self.members()?;
        if from.published_at.is_some() {
            let drafts = members.filter(proposals::published_at.is_null());
            return Ok(match way {
                Way::Next => drafts.order(proposals::id.asc()),
                Way::Prev => drafts.order(proposals::id.desc()),
            });
        }
        let published = members.filter(proposals::published_at.is_not_null());
        Ok(match (way, self.forwards(way)) {
            (Way::Next, true) => published.order((proposals::published_at.asc(), proposals::id.asc())),
            (Way::Prev, true) => published.order((proposals::published_at.asc(), proposals::id.desc())),
            (Way::Next, false) => published.order((proposals::published_at.desc(), proposals::id.asc())),
            (Way::Prev, false) => published.order((proposals::published_at.desc(), proposals::id.desc())),
        })
    }

    /// Whether this way leads to later times.
    fn forwards(&self, way: Way) -> bool {
        (self.direction == Direction::Ascending) == (way == Way::Next)
    }

    /// Whether the other stretch lies this way, and may hold something.
    fn goes_on(&self, from: From, way: Way) -> bool {
        let drafts_come_last = self.direction == Direction::Ascending;
        let to_drafts = from.published_at.is_some();
        let there = (drafts_come_last == to_drafts) == (way == Way::Next);
        there && self.drafts != Drafts::No
    }

    async fn neighbours(&self, connection: &mut Conn, from: From) -> Result<Neighbours> {
        let next = self.in_the_same_stretch(from, Way::Next)?.single_value();
        let prev = self.in_the_same_stretch(from, Way::Prev)?.single_value();
        let (mut next, mut prev): (Option<i64>, Option<i64>) =
            diesel::select((next, prev)).get_result(connection).await.stored()?;
        for (place, way) in [(&mut next, Way::Next), (&mut prev, Way::Prev)] {
            if place.is_none() && self.goes_on(from, way) {
                let beyond = self.in_the_other_stretch(from, way)?;
                *place = beyond.first(connection).await.optional().stored()?;
            }
        }
        Ok(Neighbours { next: next.map(ProposalId), prev: prev.map(ProposalId) })
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
    let search = Search { sight, query, drafts: Drafts::seen(sight, &query.filters), direction };
    let here: Option<Option<OffsetDateTime>> = search
        .members()?
        .filter(proposals::id.eq(id.0))
        .select(proposals::published_at)
        .first(connection)
        .await
        .optional()
        .stored()?;
    let Some(published_at) = here else { return Ok(Neighbours::default()) };
    let found = search.neighbours(connection, From { id: id.0, published_at }).await?;
    Ok(match query.order {
        Order::Column(_) => found,
        Order::Random => Neighbours { next: found.next.or(found.prev), prev: None },
    })
}
