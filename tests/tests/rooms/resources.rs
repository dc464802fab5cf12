//! What components name and count of the proposals in them.

use civitas_kernel::{ComponentId, Page, PageRequest, Sight, UserId, Viewer};
use civitas_proposals::{Proposal, Vote};
use civitas_spaces::ComponentDetail;
use civitas_tests::{Engine, Rooms, World};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2036-03-01 09:30 UTC);

fn sight(rooms: &Rooms, participant: Option<UserId>) -> Sight {
    let viewer = participant.map_or(Viewer::Public, Viewer::Participant);
    Sight { organization: rooms.mine, viewer, participant }
}

async fn detail(world: &World, participant: Option<UserId>, id: ComponentId) -> ComponentDetail {
    let sight = sight(&world.rooms, participant);
    let components = world.ports().components();
    let found = components.find_visible(sight, id).await.unwrap().unwrap();
    let Page { items, .. } = components.list(sight, None, &[], PageRequest::default()).await.unwrap();
    assert!(items.contains(&found), "the list tells the same");
    found
}

#[tokio::test]
async fn counts_are_uncapped_and_drafts_are_their_authors() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let Rooms { mine, nora, otto, ideas, wishes, .. } = world.rooms;
        let proposals = world.ports().proposals();
        let add = async |proposal: Proposal| proposals.add(mine, &proposal, &[]).await.unwrap().unwrap();
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(ideas, NOW) };
        let mut first = vec![add(published.clone()).await.0];
        let of_both = Proposal { authors: vec![nora, otto], ..Proposal::draft(ideas, NOW) };
        let draft = add(of_both).await;
        add(Proposal { hidden_at: Some(NOW), ..published.clone() }).await;
        add(Proposal { deleted_at: Some(NOW), ..published.clone() }).await;
        for _ in 0..54 {
            first.push(add(Proposal { withdrawn_at: Some(NOW), ..published.clone() }).await.0);
        }
        let everybody = detail(&world, None, ideas).await;
        assert_eq!((everybody.resources, everybody.resource_count), (first[..50].to_vec(), 55));
        first.insert(1, draft.0);
        for author in [nora, otto] {
            let own = detail(&world, Some(author), ideas).await;
            assert_eq!((own.resources, own.resource_count), (first[..50].to_vec(), 56));
        }
        let beside = detail(&world, Some(nora), wishes).await;
        assert_eq!((beside.resources, beside.resource_count), (vec![], 0));
        let blog = detail(&world, Some(nora), world.rooms.blog).await;
        assert_eq!(blog.resource_count, 0);
    }
}

#[tokio::test]
async fn a_component_changes_with_its_resources_and_the_readers_votes() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let Rooms { mine, nora, otto, ideas, wishes, .. } = world.rooms;
        let at = |days| NOW + Duration::days(days);
        let published =
            Proposal { published_at: Some(NOW), updated_at: at(1), ..Proposal::draft(ideas, NOW) };
        let id = world.ports().proposals().add(mine, &published, &[]).await.unwrap().unwrap();
        let changed = async |reader| detail(&world, reader, ideas).await.changed_at;
        assert_eq!((changed(None).await, changed(Some(nora)).await), (at(1), at(1)));
        let vote = Vote {
            proposal: id,
            user: nora,
            weight: 1,
            temporary: false,
            created_at: at(2),
            updated_at: at(2),
        };
        world.ports().votes().add(mine, &vote).await.unwrap().unwrap();
        assert_eq!(
            (changed(None).await, changed(Some(nora)).await, changed(Some(otto)).await),
            (at(1), at(2), at(1))
        );
        let draft = Proposal { authors: vec![otto], updated_at: at(3), ..Proposal::draft(ideas, NOW) };
        world.ports().proposals().add(mine, &draft, &[]).await.unwrap().unwrap();
        assert_eq!((changed(None).await, changed(Some(otto)).await), (at(1), at(3)));
        assert!(detail(&world, Some(nora), wishes).await.changed_at < at(1));
    }
}
