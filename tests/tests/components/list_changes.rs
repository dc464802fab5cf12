//! A removal from a list sets the time of its last removal; other changes do not.

use civitas_accounts::{Role, RoleKind, User};
use civitas_application::Ports;
use civitas_kernel::{ProposalId, Translated, clock};
use civitas_meetings::Meeting;
use civitas_proposals::{Proposal, Vote};
use civitas_spaces::{ComponentEntry, ComponentEntryKind, Visibility};
use civitas_tests::{Fixtures, World, replace};
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

/// Watches one list of the fixtures.
struct Watch<'a> {
    ports: &'a dyn Ports,
    fixtures: &'a Fixtures,
    list: &'static str,
    seen: Option<OffsetDateTime>,
}

impl<'a> Watch<'a> {
    fn over(world: &'a World, list: &'static str) -> Self {
        Self { ports: world.ports(), fixtures: &world.fixtures, list, seen: None }
    }

    /// Whether the list was noted since the last question, now and not at the time a record names.
    async fn noted(&mut self) -> bool {
        let newest = self.ports.list_changes().last_removal(self.fixtures.mine, &[self.list]).await.unwrap();
        let noted = newest > self.seen;
        assert!(newest.is_none_or(|at| (clock::now() - at).whole_minutes() < 5), "{newest:?}");
        self.seen = newest;
        noted
    }

    async fn save(&mut self, id: ProposalId, proposal: &Proposal) -> bool {
        replace(self.ports.proposals(), self.fixtures.mine, id, proposal).await.unwrap();
        self.noted().await
    }
}

#[tokio::test]
async fn proposals_that_are_hidden_deleted_withdrawn_or_unpublished_leave_their_list() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let mut watch = Watch::over(&world, "proposals");
        let (mine, nora, proposals) = (world.fixtures.mine, world.fixtures.nora, world.ports().proposals());
        let draft = Proposal { authors: vec![nora], ..Proposal::draft(world.fixtures.ideas, NOW) };
        let id = proposals.add(mine, &draft).await.unwrap();
        let published = Proposal { published_at: Some(NOW), ..draft.clone() };
        let hidden = Proposal { hidden_at: Some(NOW), ..published.clone() };
        let withdrawn = Proposal { withdrawn_at: Some(NOW), ..published.clone() };
        let deleted = Proposal { deleted_at: Some(NOW), ..withdrawn.clone() };
        let rewritten = Proposal { scope_id: Some(1), ..draft.clone() };
        for (state, leaves) in [
            (&rewritten, false),
            (&published, false),
            (&hidden, true),
            (&Proposal { scope_id: Some(2), ..hidden.clone() }, false),
            (&published, false),
            (&withdrawn, true),
            (&deleted, true),
            (&published, false),
            (&draft, true),
        ] {
            assert_eq!(watch.save(id, state).await, leaves, "{state:?}");
        }
        proposals.remove(mine, id).await.unwrap();
        assert!(watch.noted().await);
        proposals.remove(mine, id).await.unwrap();
        assert!(!watch.noted().await, "nothing was there to leave");
    }
}

#[tokio::test]
async fn votes_components_and_spaces_leave_theirs() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let (ports, Fixtures { mine, nora, ideas, process, .. }) = (world.ports(), &world.fixtures);
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(*ideas, NOW) };
        let proposal = ports.proposals().add(*mine, &published).await.unwrap();
        let vote =
            Vote { proposal, user: *nora, weight: 1, temporary: false, created_at: NOW, updated_at: NOW };
        let mut votes = Watch::over(&world, "votes");
        let cast = ports.votes().add(*mine, &vote).await.unwrap();
        assert!(!votes.noted().await);
        ports.votes().remove(*mine, cast).await.unwrap();
        assert!(votes.noted().await);

        let mut components = Watch::over(&world, "components");
        let mut part = ports.components().find(*mine, *ideas).await.unwrap().unwrap();
        for (published_at, deleted_at, leaves) in [
            (Some(NOW), None, false),
            (None, None, true),
            (None, Some(NOW), true),
            (Some(NOW), Some(NOW), false),
        ] {
            (part.published_at, part.deleted_at) = (published_at, deleted_at);
            replace(ports.components(), *mine, *ideas, &part).await.unwrap();
            assert_eq!(components.noted().await, leaves, "{published_at:?} {deleted_at:?}");
        }

        let mut spaces = Watch::over(&world, "spaces");
        spaces.noted().await; // of the members and administrators the fixtures began with
        let mut space = ports.spaces().find(*mine, *process).await.unwrap().unwrap();
        for (published_at, visibility, leaves) in [
            (Some(NOW), Visibility::Public, false),
            (Some(NOW), Visibility::Private, true),
            (None, Visibility::Private, true),
            (Some(NOW), Visibility::Private, false),
        ] {
            (space.published_at, space.visibility) = (published_at, visibility);
            replace(ports.spaces(), *mine, *process, &space).await.unwrap();
            assert_eq!(spaces.noted().await, leaves, "{published_at:?} {visibility:?}");
        }
    }
}

#[tokio::test]
async fn meetings_and_entries_that_somebody_may_not_see_any_more_leave_their_lists() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let (ports, Fixtures { mine, nora, otto, agenda, results, .. }) = (world.ports(), &world.fixtures);
        let mut watch = Watch::over(&world, "meetings");
        let new = Meeting::new(*agenda, Translated::default(), NOW, NOW);
        let id = ports.meetings().add(*mine, &new).await.unwrap();
        let open = Meeting { published_at: Some(NOW), registrations: [*nora, *otto].into(), ..new.clone() };
        let closed = Meeting { private: true, ..open.clone() };
        for (state, leaves) in [
            (&open, false),
            (&Meeting { withdrawn_at: Some(NOW), ..open.clone() }, false),
            (&closed, true),
            (&Meeting { registrations: [*nora].into(), ..closed.clone() }, true),
            (&Meeting { registrations: [*nora].into(), transparent: true, ..closed.clone() }, false),
            (&open, false),
            (&Meeting { hidden_at: Some(NOW), ..open.clone() }, true),
            (&open, false),
            (&Meeting { deleted_at: Some(NOW), ..open.clone() }, true),
            (&open, false),
            (&new, true),
        ] {
            replace(ports.meetings(), *mine, id, state).await.unwrap();
            assert_eq!(watch.noted().await, leaves, "{state:?}");
        }

        let mut entries = Watch::over(&world, "entries");
        let entry = ComponentEntry::new(ComponentEntryKind::Result, *results, Translated::default(), NOW);
        let id = ports.entries().add(*mine, &entry).await.unwrap();
        for (hidden_at, deleted_at, leaves) in [
            (None, None, false),
            (Some(NOW), None, true),
            (Some(NOW), Some(NOW), false),
            (None, None, false),
            (None, Some(NOW), true),
        ] {
            let entry = ComponentEntry { hidden_at, deleted_at, ..entry.clone() };
            replace(ports.entries(), *mine, id, &entry).await.unwrap();
            assert_eq!(entries.noted().await, leaves, "{hidden_at:?} {deleted_at:?}");
        }
    }
}

#[tokio::test]
async fn a_membership_changes_what_others_see_of_spaces() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let (ports, Fixtures { mine, otto, process, .. }) = (world.ports(), &world.fixtures);
        let (mut roles, mut spaces) = (Watch::over(&world, "roles"), Watch::over(&world, "spaces"));
        spaces.noted().await;
        let moderator = Role::new(*process, Some(*otto), RoleKind::SpaceModerator, NOW);
        let row = ports.roles().add(*mine, &moderator).await.unwrap();
        assert_eq!((roles.noted().await, spaces.noted().await), (false, false));
        let member = Role { kind: RoleKind::SpacePrivateMember, ..moderator.clone() };
        let invited = Role { invited_at: Some(NOW), ..member.clone() };
        let accepted = Role { accepted_at: Some(NOW), ..invited.clone() };
        for (role, renamed, seen) in [
            (&Role { updated_at: NOW + time::Duration::SECOND, ..moderator.clone() }, false, false),
            (&member, true, true),
            (&invited, true, true),
            (&accepted, false, true),
            (&moderator, true, true),
            (&member, true, true),
        ] {
            replace(ports.roles(), *mine, row, role).await.unwrap();
            assert_eq!((roles.noted().await, spaces.noted().await), (renamed, seen), "{role:?}");
        }
        ports.roles().remove(*mine, row).await.unwrap();
        assert_eq!((roles.noted().await, spaces.noted().await), (true, true));
        let row = ports.roles().add(*mine, &member).await.unwrap();
        assert_eq!((roles.noted().await, spaces.noted().await), (false, true));
        replace(ports.roles(), *mine, row, &moderator).await.unwrap();
        assert_eq!((roles.noted().await, spaces.noted().await), (true, true));
        ports.roles().remove(*mine, row).await.unwrap();
        assert_eq!((roles.noted().await, spaces.noted().await), (true, false));
    }
}

#[tokio::test]
async fn an_administrator_changes_what_others_see_of_spaces() {
    for world in World::on_both_engines().await {
        let world = world.in_transaction().await;
        let (ports, Fixtures { mine, otto, .. }) = (world.ports(), &world.fixtures);
        let (mut roles, mut spaces) = (Watch::over(&world, "roles"), Watch::over(&world, "spaces"));
        roles.noted().await;
        spaces.noted().await;
        let mut users = Watch::over(&world, "users");
        let plain = ports.users().find(*mine, *otto).await.unwrap().unwrap();
        let admin = User { admin: true, ..plain.clone() };
        let eligible = User { confirmed_at: Some(NOW), ..admin.clone() };
        let blocked = User { blocked_at: Some(NOW), ..eligible.clone() };
        let deleted = User { deleted_at: Some(NOW), ..eligible.clone() };
        for (user, noted) in [
            (&User { about: Some("me".to_owned()), ..plain.clone() }, [false, false, false]),
            (&admin, [false, true, false]),
            (&eligible, [false, true, false]),
            (&blocked, [false, true, false]),
            (&plain, [true, true, false]),
            (&eligible, [false, true, false]),
            (&deleted, [true, true, true]),
        ] {
            replace(ports.users(), *mine, *otto, user).await.unwrap();
            let seen = [roles.noted().await, spaces.noted().await, users.noted().await];
            assert_eq!(seen, noted, "{user:?}");
        }
    }
}
