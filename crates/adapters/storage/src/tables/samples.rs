//! Random members of a list without sorting the list (docs/decisions/0050).
//!
//! A member is in the bucket `id % 65521`, which an index holds, and in a place of it, by its id. A draw is a random bucket and a
//! random group of its places, with so many places that it gives about one member: all places where there are fewer members
//! than buckets. Each member has the same chance in each position of a page: it follows the one before it in its group, or, as
//! the first of its group, the last one of any other. The first position would favour members that are alone in their group;
//! there the draw is a single place, and the members behind it in its group follow.

#[cfg(test)]
mod tests;

use super::pages::Rows;
use crate::columns::{Condition, Expr};
use crate::engine::{Conn, Db, dialect};
use crate::failure::Stored;
use async_trait::async_trait;
use civitas_kernel::{Error, Result};
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel_async::RunQueryDsl;
use std::collections::{HashMap, HashSet};

/// The number of buckets: a prime, so that ids with a fixed distance are in different buckets. The migrations have it too.
const BUCKETS: i64 = 65_521;
/// Read to estimate how many members a bucket has: these at first, and more while they have fewer members than wanted.
const MEASURED_FIRST: usize = 8;
const MEASURED: usize = 64;
const WANTED_MEASURED: usize = 16;
/// With fewer members in the measured buckets, the list is short enough to be sorted.
const LEAST_MEASURED: usize = 4;
/// How often buckets are read before the list is sorted after all.
const ROUNDS: usize = 4;

/// Whether a record is in the bucket that [`InBuckets`] is at. A literal, as in the indexes.
struct InBucket<QS>(Expr<QS, BigInt>);

/// The same, for a select that [`read`] gets.
pub(super) fn in_bucket<QS: 'static>(id: Expr<QS, BigInt>) -> Condition<QS> {
    Box::new(InBucket(id))
}

/// The ids that a select has in some buckets, as one text; null without any. Bucket by bucket: with `IN` the planners may
/// read all members instead, because in a city with large and small components they expect few members in each. One text,
/// because most buckets of a short list are empty, and a row for each of them costs more than to search it.
struct InBuckets<Q> {
    buckets: dialect::BoundIds,
    ids: Q,
}

/// The ids of a select in these buckets. It has the condition [`in_bucket`].
pub(super) async fn read<Q>(connection: &mut Conn, buckets: &[i64], ids: Q) -> Result<Vec<i64>>
where
    Q: QueryFragment<Db> + Send + 'static,
{
    let found = InBuckets { buckets: dialect::BoundIds::of(buckets), ids };
    let found: Option<String> = found.get_result(connection).await.stored()?;
    let ids = found.as_deref().unwrap_or_default().split_terminator(',');
    ids.map(|id| id.parse().map_err(Error::internal)).collect()
}

/// A list of which random members are read.
#[async_trait]
pub(super) trait Sampled: Sync {
    /// The ids of the members in these buckets: of those in the index, read by [`read`].
    async fn in_buckets(&self, connection: &mut Conn, buckets: &[i64]) -> Result<Vec<i64>>;
}

/// The ids of a page in random order; `None` if the list has to be sorted. `others`: members that the index does not have.
pub(super) async fn draw(
    list: &dyn Sampled,
    connection: &mut Conn,
    rows: Rows,
    others: &[i64],
) -> Result<Option<Vec<i64>>> {
    let mut sample = Sample::new(rows, others);
    while let Some(buckets) = sample.buckets() {
        let ids = list.in_buckets(connection, &buckets).await?;
        sample.take(ids);
    }
    Ok(sample.ids())
}

/// Rows in the order of these ids.
pub(super) fn in_order_of<R>(ids: &[i64], mut rows: Vec<R>, id: impl Fn(&R) -> i64) -> Vec<R> {
    let places: HashMap<i64, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|row| places.get(&id(row)).copied());
    rows
}

#[derive(Debug)]
enum State {
    /// The number of members is unknown. So many buckets are read, and have so many members.
    Measuring { read: usize, members: usize },
    /// `share`: how many members a draw gives; `places`: those of a bucket, a multiple of those of a `group`; `draws`: buckets and
    /// places in them.
    Drawing { share: f64, places: usize, group: usize, draws: Vec<(i64, usize)>, rounds: usize },
    /// All are drawn.
    Complete,
    /// The list has too few members, or uneven buckets.
    Impossible,
}

/// Draws different members of a list at random.
#[derive(Debug)]
struct Sample<'a> {
    rows: Rows,
    /// Members that are not in the index.
    others: &'a [i64],
    drawn: Vec<i64>,
    state: State,
    random: fastrand::Rng,
}

impl<'a> Sample<'a> {
    /// A page of members in random order. `others`: members that the buckets do not have, as drafts.
    fn new(rows: Rows, others: &'a [i64]) -> Self {
        Self {
            rows,
            others,
            drawn: Vec::new(),
            state: State::Measuring { read: 0, members: 0 },
            random: fastrand::Rng::new(),
        }
    }

    /// The buckets to read next; `None` at the end.
    fn buckets(&mut self) -> Option<Vec<i64>> {
        let random = &mut self.random;
        let mut buckets: Vec<i64> = match &mut self.state {
            State::Measuring { read, members } => {
                let more = match *read {
                    0 => MEASURED_FIRST,
                    // As many again probably have enough.
                    read if *members * 2 >= WANTED_MEASURED => read,
                    read => MEASURED - read,
                };
                *read += more;
                (0..more).map(|_| random.i64(0..BUCKETS)).collect()
            }
            State::Drawing { share, places, group, draws, .. } => {
                let missing = to_usize(self.rows.limit).saturating_sub(self.drawn.len());
                let count = draws_for(missing, *share, if self.drawn.is_empty() { *group } else { 0 });
                *draws = (0..count).map(|_| (random.i64(0..BUCKETS), random.usize(0..*places))).collect();
                draws.iter().map(|(bucket, _)| *bucket).collect()
            }
            State::Complete | State::Impossible => return None,
        };
        buckets.sort_unstable();
        buckets.dedup();
        Some(buckets)
    }

    /// Takes the ids of the members in the buckets of the last [`Self::buckets`].
    fn take(&mut self, ids: Vec<i64>) {
        match &mut self.state {
            State::Measuring { read, members } => {
                *members += ids.len();
                if *members >= WANTED_MEASURED || *read == MEASURED {
                    self.state = plan(self.rows, *members, *read);
                }
            }
            State::Drawing { places, group, draws, rounds, .. } => {
                let mut members: HashMap<i64, Vec<i64>> = HashMap::new();
                for id in ids.into_iter().chain(self.others.iter().copied()) {
                    members.entry(id.rem_euclid(BUCKETS)).or_default().push(id);
                }
                let mut known: HashSet<i64> = self.drawn.iter().copied().collect();
                let wanted = to_usize(self.rows.limit);
                let is_uneven = members.values().any(|members| members.len() > *places);
                for (bucket, place) in draws.iter() {
                    let members = members.get(bucket).map(Vec::as_slice).unwrap_or_default();
                    let begin = place - place % *group;
                    let end = members.len().min(begin + *group);
                    let from = if self.drawn.is_empty() { *place } else { begin };
                    for id in members.get(from..end).unwrap_or_default() {
                        if self.drawn.len() < wanted && known.insert(*id) {
                            self.drawn.push(*id);
                        }
                    }
                }
                *rounds += 1;
                let is_last = *rounds == ROUNDS;
                if is_uneven || (is_last && self.drawn.len() < wanted) {
                    self.state = State::Impossible;
                } else if self.drawn.len() == wanted {
                    self.state = State::Complete;
                }
            }
            State::Complete | State::Impossible => {}
        }
    }

    /// The drawn members, in random order. `None`: the list has to be sorted.
    fn ids(mut self) -> Option<Vec<i64>> {
        self.random.shuffle(&mut self.drawn);
        matches!(self.state, State::Complete).then_some(self.drawn)
    }
}

/// How to draw, by the number of members in so many measured buckets.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates"
)]
fn plan(rows: Rows, measured: usize, buckets: usize) -> State {
    let density = measured as f64 / buckets as f64;
    let members = density * BUCKETS as f64;
    // Nearly no bucket of a random distribution has more members; that would be found.
    let places = (density + 5.0 * density.sqrt() + 1.0).ceil() as usize;
    let group = if density < 1.0 { places } else { ((places as f64 / density) as usize).max(1) };
    let places = places.next_multiple_of(group);
    let share = density * group as f64 / places as f64;
    let draws = draws_for(to_usize(rows.limit), share, group) as f64;
    // A page far behind may be the last one, or empty: only all members tell. The estimate is hardly ever four times too
    // large.
    let is_far = rows.offset.saturating_add(rows.limit) as f64 > members / 4.0;
    if measured < LEAST_MEASURED || is_far || draws > members / 2.0 {
        return State::Impossible;
    }
    State::Drawing { share, places, group, draws: Vec::new(), rounds: 0 }
}

/// How many draws give so many members in most cases, if a draw gives this share of one. `group`: the places of a group while
/// the first member is missing, which needs one of them; 0 after it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates"
)]
fn draws_for(members: usize, share: f64, group: usize) -> usize {
    let (members, first) = (members as f64, 2.0 * group as f64);
    ((members + 2.0 * members.sqrt() + 1.0 + first) / share).ceil() as usize
}

fn to_usize(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

impl<QS> QueryFragment<Db> for InBucket<QS> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(" % 65521 = bucket.value");
        Ok(())
    }
}

impl<Q: QueryFragment<Db>> QueryFragment<Db> for InBuckets<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let (ids, of_member) = (dialect::joined("found.ids"), dialect::joined("member.id"));
        pass.push_sql(&format!("SELECT {ids} FROM (SELECT (SELECT {of_member} FROM ("));
        self.ids.walk_ast(pass.reborrow())?;
        pass.push_sql(") AS member) AS ids FROM ");
        self.buckets.push_table("bucket", &mut pass)?;
        pass.push_sql(") AS found");
        Ok(())
    }
}

impl<QS> Expression for InBucket<QS> {
    type SqlType = Nullable<Bool>;
}

impl<QS> AppearsOnTable<QS> for InBucket<QS> {}
impl<QS> SelectableExpression<QS> for InBucket<QS> {}

impl<QS, GB> ValidGrouping<GB> for InBucket<QS> {
    type IsAggregate = is_aggregate::No;
}

impl<Q> Query for InBuckets<Q> {
    type SqlType = Nullable<Text>;
}

/// Statements are cached by their text.
impl<QS> QueryId for InBucket<QS> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> QueryId for InBuckets<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
