//! Lists of the proposals that the reader has voted on.

use super::{PAGE, filled, plans, scans, sights};
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{Direction, Order, PageRequest, clock};
use civitas_proposals::{ProposalField, ProposalFilter, ProposalQuery, Vote};
use civitas_tests::Engine;

fn voted(condition: Comparison<i64>) -> ProposalQuery {
    let filter =
        ProposalFilter { field: ProposalField::VotedWeight, condition: FilterCondition::Integer(condition) };
    ProposalQuery { filters: vec![filter], ..ProposalQuery::default() }
}

#[tokio::test]
async fn proposals_with_a_vote_of_the_reader_are_found_by_the_votes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let fixtures = &world.fixtures;
        let far = PageRequest::new(20, 30);
        let some =
            world.ports().proposals().list(sights(&world)[0], &ProposalQuery::default(), far).await.unwrap();
        let now = clock::now();
        let vote = |proposal| Vote {
            proposal,
            user: fixtures.nora,
            weight: 1,
            temporary: false,
            created_at: now,
            updated_at: now,
        };
        let votes: Vec<Vote> = some.items.iter().map(|found| vote(found.id)).collect();
        world.ports().votes().add_many(fixtures.mine, &votes).await.unwrap();
        let proposals = world.ports().proposals();
        let reader = sights(&world)[1];
        for condition in
            [Comparison::Blank(false), Comparison::Eq(1), Comparison::Gt(0), Comparison::NotEq(5)]
        {
            for order in
                [Order::Column(Direction::Ascending), Order::Column(Direction::Descending), Order::Random]
            {
                let query = ProposalQuery { order, ..voted(condition.clone()) };
                let (page, steps) = plans(&world, "proposals", proposals.list(reader, &query, PAGE)).await;
                let page = page.unwrap();
                assert!(page.items.len() == 20 && page.has_more, "{engine:?}, {condition:?}");
                assert!(page.items.iter().all(|found| found.voted == Some(1)));
                let text = steps.concat().join("\n");
                // The ids of the page are found by votes, and in no order of the list.
                let by_votes = match engine {
                    Engine::Sqlite => "INDEX votes_of_user",
                    // The table of votes is too small for an index.
                    Engine::Postgres => "using proposals_pkey",
                };
                assert!(text.contains(by_votes), "{engine:?}, {condition:?}:\n{text}");
                assert!(
                    !scans(engine, &steps.concat(), "proposals")
                        && !text.contains("proposals_listed")
                        && !text.contains("proposals_newest"),
                    "{engine:?}:\n{text}"
                );
                // For any values PostgreSQL expects an average component, and would read all of a large one for each vote.
                let has_unindexed = engine == Engine::Sqlite || text.contains("component_id + 0");
                assert!(has_unindexed, "{text}");
            }
        }
        let rest = PageRequest { page: 2, ..PAGE };
        let page = proposals.list(reader, &voted(Comparison::Blank(false)), rest).await.unwrap();
        assert!(page.items.len() == 10 && !page.has_more, "{engine:?}");
        let others = proposals.list(reader, &voted(Comparison::Blank(true)), PAGE).await.unwrap();
        assert!(others.items.iter().all(|found| found.voted.is_none()), "{engine:?}");
        let nobody = proposals.list(sights(&world)[0], &voted(Comparison::Eq(1)), PAGE).await.unwrap();
        assert!(nobody.items.is_empty(), "{engine:?}: a reader without votes");
    }
}
