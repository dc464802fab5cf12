//! The search for meetings and posts by administrators.

use super::{PAGE, check, filled, plans, scans, within};
use civitas_blogs::PostSearch;
use civitas_kernel::{Direction, clock};
use civitas_meetings::{MeetingSearch, MeetingState, MeetingTime};
use civitas_tests::Engine;

#[tokio::test]
async fn meetings_of_administrators_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (meetings, now) = (world.ports().meetings(), clock::now());
        let agenda = Some(world.fixtures.agenda);
        for direction in [Direction::Ascending, Direction::Descending] {
            for (component, state, index) in [
                (None, None, "meetings_administered"),
                (agenda, None, "meetings_administered"),
                (None, Some(MeetingState::Unpublished), "meetings_unpublished"),
                (None, Some(MeetingState::Withdrawn), "meetings_withdrawn"),
                (None, Some(MeetingState::Hidden), "meetings_hidden"),
            ] {
                for time in [None, Some(MeetingTime::Past)] {
                    let search =
                        MeetingSearch { text: None, within: within(component), time, state, direction };
                    let found = meetings.search(world.fixtures.mine, now, &search, PAGE);
                    let (page, steps) = plans(&world, "meetings", found).await;
                    check(&world, &format!("{search:?}"), &steps, "meetings", (index, 1));
                    assert_eq!(page.unwrap().has_more, state.is_none());
                }
            }
        }
    }
}

#[tokio::test]
async fn posts_of_administrators_are_read_by_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        for direction in [Direction::Ascending, Direction::Descending] {
            let within = within(Some(world.fixtures.blog));
            let search = PostSearch { text: None, within, state: None, direction };
            let found = world.ports().posts();
            let found = found.search(world.fixtures.mine, clock::now(), &search, PAGE);
            let (page, steps) = plans(&world, "posts", found).await;
            assert!(!steps.iter().any(|plan| scans(engine, plan, "posts")), "{engine:?}: {steps:#?}");
            assert!(page.unwrap().has_more);
        }
    }
}
