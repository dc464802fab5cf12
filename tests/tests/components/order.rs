//! Neighbours compared with the list, for random lists.

use civitas_kernel::testing::{in_component, viewer_read_context};
use civitas_kernel::{Direction, LocationFilter, Order, PageRequest, ProposalId, Viewer};
use civitas_proposals::{Proposal, ProposalNeighbours, ProposalQuery, ProposalStore};
use civitas_tests::{Fixtures, World, replace};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
const CASES: usize = 24;

/// One proposal of a list: when it was published (few times, so that many are equal), whether Nora joined it, and
/// whether it is hidden.
type Member = (Option<i64>, bool, bool);

fn lists() -> impl Strategy<Value = Vec<Member>> {
    vec((option::weighted(0.7, 0_i64..4), any::<bool>(), proptest::bool::weighted(0.15)), 0..14)
}

/// Adds the list to a component, and answers what Nora can see of it, in no order.
async fn add(
    fixtures: &Fixtures,
    proposals: &dyn ProposalStore,
    list: &[Member],
) -> Vec<(ProposalId, Option<i64>)> {
    let mut visible = Vec::new();
    for (hours, joined, hidden) in list {
        let proposal = Proposal {
            // No first author, or each could have one draft only.
            authors: Vec::new(),
            published_at: hours.map(|h| NOW + Duration::hours(h)),
            hidden_at: hidden.then_some(NOW),
            ..Proposal::draft(fixtures.ideas, NOW)
        };
        let id = proposals.add(fixtures.mine, &proposal).await.unwrap();
        let has_none = visible.iter().all(|(_, hours): &(_, Option<i64>)| hours.is_some());
        let own = *joined && !hidden && hours.is_none() && has_none;
        if own {
            let joined = Proposal { authors: vec![fixtures.nora], ..proposal };
            replace(proposals, fixtures.mine, id, &joined).await.unwrap();
        }
        if !hidden && (hours.is_some() || own) {
            visible.push((id, *hours));
        }
    }
    visible
}

fn in_order(mut visible: Vec<(ProposalId, Option<i64>)>, direction: Direction) -> Vec<ProposalId> {
    visible.sort_by_key(|(id, hours)| {
        let time = hours.unwrap_or(i64::from(u8::MAX));
        (if direction == Direction::Ascending { time } else { -time }, *id)
    });
    visible.into_iter().map(|(id, _)| id).collect()
}

async fn agree(
    fixtures: &Fixtures,
    proposals: &dyn ProposalStore,
    expected: &[ProposalId],
    direction: Direction,
) {
    let read_context = viewer_read_context(fixtures.mine, Viewer::Participant(fixtures.nora));
    for part in [LocationFilter::default(), in_component(fixtures.ideas)] {
        let query = ProposalQuery { within: part, filters: Vec::new(), order: Order::Column(direction) };
        let page = proposals.list(read_context, &query, PageRequest::new(1, 100)).await.unwrap();
        let listed: Vec<ProposalId> = page.items.iter().map(|detail| detail.id).collect();
        assert_eq!(listed, expected, "{query:?}");
        let mut before = None;
        for (i, detail) in page.items.iter().enumerate() {
            let (id, next) = (detail.id, expected.get(i + 1).copied());
            let found = proposals.neighbours(read_context, &query, detail.position()).await.unwrap();
            assert_eq!(
                found,
                ProposalNeighbours { next, prev: before },
                "of {id} in {expected:?}, {query:?}"
            );
            before = Some(id);
        }
    }
}

#[tokio::test]
async fn neighbours_agree_with_the_list_whatever_stands_in_it() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let (fixtures, proposals) = (&world.fixtures, world.ports().proposals());
        let mut runner = TestRunner::deterministic();
        for _ in 0..CASES {
            let list = lists().new_tree(&mut runner).unwrap().current();
            let visible = add(fixtures, proposals, &list).await;
            for direction in [Direction::Ascending, Direction::Descending] {
                agree(fixtures, proposals, &in_order(visible.clone(), direction), direction).await;
            }
            for (id, _) in proposals.page_after(fixtures.mine, None, 1000).await.unwrap() {
                proposals.remove(fixtures.mine, id).await.unwrap();
            }
        }
    }
}
