//! The resources that components list and count.

use civitas_kernel::{ComponentId, Page, PageRequest, ReadContext, Translated, UserId, Viewer};
use civitas_meetings::Meeting;
use civitas_proposals::{Proposal, Vote};
use civitas_spaces::{ComponentDetail, ComponentEntry, ComponentEntryKind};
use civitas_tests::{Fixtures, World, commit, replace};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2036-03-01 09:30 UTC);

fn read_context(fixtures: &Fixtures, participant: Option<UserId>) -> ReadContext {
    let viewer = match participant {
        Some(admin) if admin == fixtures.admin => Viewer::Admin(admin),
        Some(user) => Viewer::Participant(user),
        None => Viewer::Public,
    };
    ReadContext { organization: fixtures.mine, viewer, participant }
}

async fn detail(world: &World, participant: Option<UserId>, id: ComponentId) -> ComponentDetail {
    let read_context = read_context(&world.fixtures, participant);
    let components = world.ports().components();
    let found = components.find_visible(read_context, id).await.unwrap().unwrap();
    let Page { items, .. } = components.list(read_context, None, &[], PageRequest::default()).await.unwrap();
    assert!(items.contains(&found), "the list tells the same");
    found
}

#[tokio::test]
async fn counts_are_uncapped_and_drafts_are_their_authors() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, ideas, wishes, .. } = world.fixtures;
        let add = async |proposal: Proposal| {
            commit(world.store(), async |tx| tx.proposals().add(mine, &proposal).await).await.unwrap()
        };
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
        let blog = detail(&world, Some(nora), world.fixtures.blog).await;
        assert_eq!(blog.resource_count, 0);
    }
}

#[tokio::test]
async fn a_component_changes_with_its_resources_and_the_readers_votes() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, ideas, wishes, .. } = world.fixtures;
        let at = |days| NOW + Duration::days(days);
        let published =
            Proposal { published_at: Some(NOW), updated_at: at(1), ..Proposal::draft(ideas, NOW) };
        let add = async |proposal: &Proposal| {
            commit(world.store(), async |tx| tx.proposals().add(mine, proposal).await).await.unwrap()
        };
        let id = add(&published).await;
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
        world.ports().votes().add(mine, &vote).await.unwrap();
        assert_eq!(
            (changed(None).await, changed(Some(nora)).await, changed(Some(otto)).await),
            (at(1), at(2), at(1))
        );
        let draft = Proposal { authors: vec![otto], updated_at: at(3), ..Proposal::draft(ideas, NOW) };
        add(&draft).await;
        assert_eq!((changed(None).await, changed(Some(otto)).await), (at(1), at(3)));
        assert!(detail(&world, Some(nora), wishes).await.changed_at < at(1));
    }
}

#[tokio::test]
async fn a_component_names_the_meetings_its_reader_sees_and_counts_those_beyond() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, mona, admin, agenda, sessions, walks, .. } = world.fixtures;
        let meetings = world.ports().meetings();
        let add = async |meeting: Meeting| meetings.add(mine, &meeting).await.unwrap().0;
        let new = |component| Meeting::new(component, Translated::default(), NOW, NOW);
        let open = |component| Meeting { published_at: Some(NOW), ..new(component) };
        let closed = |component| Meeting { private: true, ..open(component) };
        let secret = add(Meeting { registrations: [otto].into(), ..closed(agenda) }).await;
        let mut first = Vec::new();
        for _ in 0..55 {
            first.push(add(open(agenda)).await);
            // What is closed to a reader takes no place among those named.
            add(closed(agenda)).await;
        }
        add(new(agenda)).await;
        add(Meeting { hidden_at: Some(NOW), ..open(agenda) }).await;
        add(Meeting { deleted_at: Some(NOW), ..open(agenda) }).await;
        let inside = add(closed(sessions)).await;

        let named = async |reader, component| {
            let found = detail(&world, reader, component).await;
            (found.resources, found.resource_count)
        };
        assert_eq!(named(None, agenda).await, (first[..50].to_vec(), 55));
        assert_eq!(named(Some(nora), agenda).await, (first[..50].to_vec(), 55));
        let with_secret = [vec![secret], first[..49].to_vec()].concat();
        assert_eq!(named(Some(otto), agenda).await, (with_secret, 56));
        let (all, count) = named(Some(admin), agenda).await;
        assert_eq!((all.len(), count), (50, 111));
        for (reader, seen) in [(None, false), (Some(otto), false), (Some(nora), true), (Some(mona), true)] {
            let expected = if seen { (vec![inside], 1) } else { (vec![], 0) };
            assert_eq!(named(reader, sessions).await, expected, "{reader:?}");
        }
        assert_eq!(named(Some(otto), walks).await, (vec![], 0));
    }
}

#[tokio::test]
async fn a_component_names_its_entries_unless_they_are_hidden_or_deleted_and_changes_with_them() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, results, .. } = world.fixtures;
        let entries = world.ports().entries();
        let at = |days| NOW + Duration::days(days);
        let entry =
            |now| ComponentEntry::new(ComponentEntryKind::Result, results, Translated::default(), now);
        let mut all = Vec::new();
        for _ in 0..52 {
            all.push(entries.add(mine, &entry(at(1))).await.unwrap());
        }
        entries.add(mine, &ComponentEntry { hidden_at: Some(NOW), ..entry(at(9)) }).await.unwrap();
        entries.add(mine, &ComponentEntry { deleted_at: Some(NOW), ..entry(at(9)) }).await.unwrap();
        let found = detail(&world, None, results).await;
        let ids: Vec<i64> = all.iter().map(|id| id.id).collect();
        assert_eq!((found.resources, found.resource_count), (ids[..50].to_vec(), 52));
        assert_eq!(found.changed_at, at(1));

        let hidden = ComponentEntry { hidden_at: Some(NOW), ..entry(at(1)) };
        replace(entries, mine, all[0], &hidden).await.unwrap();
        replace(entries, mine, all[51], &entry(at(3))).await.unwrap();
        let found = detail(&world, None, results).await;
        assert_eq!((found.resources, found.resource_count), (ids[1..51].to_vec(), 51));
        assert_eq!(found.changed_at, at(3), "also by one that is counted and not named");
    }
}

#[tokio::test]
async fn a_component_changes_with_the_meetings_its_reader_sees() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, agenda, .. } = world.fixtures;
        let at = |days| NOW + Duration::days(days);
        let new = Meeting::new(agenda, Translated::default(), NOW, NOW);
        let open = Meeting { published_at: Some(NOW), updated_at: at(1), ..new };
        let closed =
            Meeting { private: true, registrations: [nora].into(), updated_at: at(2), ..open.clone() };
        world.ports().meetings().add(mine, &open).await.unwrap();
        world.ports().meetings().add(mine, &closed).await.unwrap();
        let changed = async |reader| detail(&world, reader, agenda).await.changed_at;
        assert_eq!(
            (changed(None).await, changed(Some(nora)).await, changed(Some(otto)).await),
            (at(1), at(2), at(1))
        );
    }
}
