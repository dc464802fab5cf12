//! Lists in descending order: read in the order of an index too, also where many records have one time.

use super::{PAGE, check, filled, plans, sights, within};
use civitas_blogs::PostQuery;
use civitas_kernel::{Direction, Order, ReadContext, clock};
use civitas_meetings::MeetingQuery;
use civitas_proposals::ProposalQuery;
use civitas_tests::{Engine, World};

const ORDER: Order = Order::Column(Direction::Descending);

/// Checks a list: a range of the index, and no sort of its ids.
fn check_list(world: &World, steps: &[Vec<String>], table: &str, index: &str) {
    check(world, "newest first", steps, table, (index, 1));
    let sorts = |step: &&String| {
        step.starts_with(' ') && step.contains("TEMP B-TREE") && !step.contains("json_group_array")
    };
    assert_eq!(steps.iter().flatten().find(sorts), None, "{index}");
}

#[tokio::test]
async fn lists_in_descending_order_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (ports, fixtures, order) = (world.ports(), &world.fixtures, ORDER);
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "proposals_newest"), (Some(fixtures.ideas), "proposals_newest_in_component")]
            {
                // Drafts come first in this order; they are read by author.
                let read_context = ReadContext { participant: None, ..read_context };
                let query = ProposalQuery { within: within(component), order, ..ProposalQuery::default() };
                let list = ports.proposals().list(read_context, &query, PAGE);
                check_list(&world, &plans(&world, "proposals", list).await.1, "proposals", index);
            }
            for (component, index) in
                [(None, "meetings_newest"), (Some(fixtures.agenda), "meetings_newest_in_component")]
            {
                let query = MeetingQuery { within: within(component), order, ..MeetingQuery::default() };
                let list = ports.meetings().list(read_context, &query, PAGE);
                check_list(&world, &plans(&world, "meetings", list).await.1, "meetings", index);
            }
            for (component, index) in
                [(None, "posts_newest"), (Some(fixtures.blog), "posts_newest_in_component")]
            {
                let read_context = ReadContext { participant: None, ..read_context };
                let query = PostQuery { within: within(component), order, ..PostQuery::default() };
                let list = ports.posts().list(read_context, clock::now(), &query, PAGE);
                check_list(&world, &plans(&world, "posts", list).await.1, "posts", index);
            }
        }
    }
}
