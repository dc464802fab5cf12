//! Commit and rollback of transactions, and their connections.

use civitas_accounts::{Role, RoleKind, User};
use civitas_application::{Ports, Store};
use civitas_kernel::records::Change;
use civitas_kernel::{
    Ability, ClientId, Error, Event, Locale, LocationFilter, MeetingId, OrganizationId, PostId, ProposalId,
    ReadContext, SpaceRef, StateId, StepId, Subject, UserId, Viewer, VoteId, clock,
};
use civitas_organizations::{Organization, OrganizationFigures};
use civitas_spaces::{ComponentEntryKind, ComponentEntryRef};
use civitas_tests::{Engine, World, commit, job, replace};
use std::time::Duration;
use time::macros::datetime;

fn user(nickname: &str) -> User {
    let now = datetime!(2026-03-01 09:30 UTC);
    User::new(nickname.to_owned(), format!("{nickname}@example.org"), "Nora".to_owned(), now)
}

/// Writes to two fixtures.
async fn write(ports: &dyn Ports, organization: OrganizationId, nickname: &str) -> UserId {
    ports.refs().add(Some(organization), "user", nickname, "1").await.unwrap();
    ports.users().add(organization, &user(nickname)).await.unwrap()
}

/// The same, in a transaction of its own.
async fn write_and_commit(store: &dyn Store, organization: OrganizationId, nickname: &str) -> UserId {
    commit(store, async |tx| Ok(write(tx, organization, nickname).await)).await.unwrap()
}

async fn is_kept(world: &World, nickname: &str) -> bool {
    let ports = world.ports();
    let user = ports.users().find_by_nickname(world.mine, nickname).await.unwrap();
    let reference = ports.refs().find(Some(world.mine), "user", nickname).await.unwrap();
    assert_eq!(user.is_some(), reference.is_some(), "all or nothing");
    user.is_some()
}

#[tokio::test]
async fn a_transaction_is_kept_by_its_commit_alone() {
    for world in World::on_both_engines().await {
        let transaction = world.store().begin().await.unwrap();
        let id = write(&*transaction, world.mine, "kept").await;
        assert_eq!(transaction.users().find(world.mine, id).await.unwrap(), Some(user("kept")));
        assert!(!is_kept(&world, "kept").await, "others see nothing before the commit");
        transaction.commit().await.unwrap();
        assert!(is_kept(&world, "kept").await);

        let transaction = world.store().begin().await.unwrap();
        write(&*transaction, world.mine, "dropped").await;
        drop(transaction);
        assert!(!is_kept(&world, "dropped").await);

        let transaction = world.store().begin().await.unwrap();
        write(&*transaction, world.mine, "rolled_back").await;
        transaction.rollback().await;
        assert!(!is_kept(&world, "rolled_back").await);
        write_and_commit(world.store(), world.mine, "after").await;
    }
}

#[tokio::test]
async fn events_are_taken_once_and_in_transactions_only() {
    for world in World::on_both_engines().await {
        let refused = world.ports().users().add(world.mine, &user("nora")).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "on the pool an event would be lost");
        assert_eq!(world.ports().users().find_by_nickname(world.mine, "nora").await.unwrap(), None);

        let transaction = world.store().begin().await.unwrap();
        let id = transaction.users().add(world.mine, &user("nora")).await.unwrap();
        let renamed = Change::new(user("nora"), User { name: "Nora B.".to_owned(), ..user("nora") });
        transaction.users().save(world.mine, id, &renamed).await.unwrap();
        let created = Event { name: Ability::UserCreated, subject: Subject::User(id) };
        let updated = Event { name: Ability::UserUpdated, subject: Subject::User(id) };
        let both = [(world.mine, created), (world.mine, updated)];
        assert_eq!(transaction.take_events(), both);
        assert_eq!(transaction.take_events(), [], "each is told once");
        transaction.commit().await.unwrap();

        let back = Change::new(renamed.after, renamed.before);
        let refused = world.ports().users().save(world.mine, id, &back).await;
        assert!(matches!(refused, Err(Error::Internal(_))));
        let stored = world.ports().users().find(world.mine, id).await.unwrap();
        assert_eq!(stored, Some(back.before), "nothing is stored without its event");
    }
}

#[tokio::test]
async fn a_job_wakes_workers_when_it_is_committed_and_not_before() {
    for world in World::on_both_engines().await {
        let transaction = world.store().begin().await.unwrap();
        transaction
            .jobs()
            .add(&job(world.mine, ClientId(1), serde_json::Value::Null, clock::now()))
            .await
            .unwrap();
        let early = tokio::time::timeout(Duration::from_millis(50), world.ports().jobs().wait(Duration::MAX));
        assert!(early.await.is_err(), "nobody is woken for a job that may never be");
        let jobs = world.ports().jobs();
        let (woken, ()) = tokio::join!(
            tokio::time::timeout(Duration::from_secs(20), jobs.wait(Duration::from_secs(60))),
            async { transaction.commit().await.unwrap() }
        );
        woken.expect("the commit wakes who waits");
    }
}

#[tokio::test]
async fn a_statement_refused_by_the_server_spoils_the_commit() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let nora = write_and_commit(world.store(), world.mine, "nora").await;
    let [first, second] =
        [RoleKind::SpaceModerator, RoleKind::SpaceValuator].map(|k| role(world.space, nora, k));
    world.ports().roles().add(world.mine, &first).await.unwrap();
    let row = world.ports().roles().add(world.mine, &second).await.unwrap();
    let transaction = world.store().begin().await.unwrap();
    write(&*transaction, world.mine, "lost").await;
    let refused = replace(transaction.roles(), world.mine, row, &first).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })));
    assert!(transaction.commit().await.is_err(), "PostgreSQL would answer COMMIT with a silent rollback");
    assert!(!is_kept(&world, "lost").await);
}

#[tokio::test]
async fn an_organization_that_is_refused_leaves_nothing() {
    for world in World::on_both_engines().await {
        let named = |host: &str| {
            let name = [(Locale::EN, "Milltown".to_owned())].into();
            Organization::new(host.to_owned(), name, Locale::EN, clock::now())
        };
        let add = async |host: &str| {
            commit(world.store(), async |tx| tx.organizations().add(&named(host)).await).await
        };
        add("one.example").await.unwrap();
        assert!(matches!(add("two.example").await, Err(Error::Rejected(_))), "the name is taken");
        assert_eq!(world.ports().organizations().find_by_host("two.example").await.unwrap(), None);
    }
}

fn role(space: SpaceRef, user: UserId, kind: RoleKind) -> Role {
    Role::new(space, Some(user), kind, clock::now())
}

#[tokio::test]
async fn a_rollback_keeps_the_connection_and_a_drop_closes_it() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let narrow = Engine::Postgres.open_with(world.database.url(), 1, Duration::from_secs(20)).await.unwrap();
    let pid = async |store: &dyn Store| {
        let transaction = store.begin().await.unwrap();
        let pid = world.database.writers().await;
        transaction.rollback().await;
        pid
    };
    let first = pid(&*narrow).await;
    assert_eq!(first.len(), 1, "one connection is in a transaction");
    assert_eq!(pid(&*narrow).await, first, "it was used again after the rollback");
    drop(narrow.begin().await.unwrap());
    assert_ne!(pid(&*narrow).await, first, "it was closed by the drop");
}

#[tokio::test]
async fn lists_remember_when_they_last_lost_something() {
    let [early, late] = [datetime!(2026-03-01 09:30 UTC), datetime!(2026-03-01 09:30:00.5 UTC)];
    for world in World::on_both_engines().await {
        let lists = world.ports().list_changes();
        assert_eq!(lists.last_removal(world.mine, &["votes", "proposals"]).await.unwrap(), None);
        lists.touch_list(world.mine, "votes", late).await.unwrap();
        lists.touch_list(world.mine, "votes", early).await.unwrap();
        lists.touch_list(world.mine, "proposals", early).await.unwrap();
        assert_eq!(lists.last_removal(world.mine, &["proposals"]).await.unwrap(), Some(early));
        assert_eq!(lists.last_removal(world.mine, &["proposals", "votes"]).await.unwrap(), Some(late));
        assert_eq!(lists.last_removal(world.mine, &[]).await.unwrap(), None);
        assert_eq!(lists.last_removal(world.other, &["votes"]).await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_archive_remembers_records_by_organization_kind_and_reference() {
    for world in World::on_both_engines().await {
        let refs = world.ports().refs();
        refs.add(Some(world.mine), "space", "a", "participatory_processes/1").await.unwrap();
        refs.add(None, "system_admin", "a", "7").await.unwrap();
        let space = refs.find(Some(world.mine), "space", "a").await.unwrap();
        assert_eq!(space.as_deref(), Some("participatory_processes/1"));
        assert_eq!(refs.find(None, "system_admin", "a").await.unwrap().as_deref(), Some("7"));
        for (organization, kind, reference) in [
            (Some(world.other), "space", "a"),
            (None, "space", "a"),
            (Some(world.mine), "step", "a"),
            (Some(world.mine), "space", "b"),
        ] {
            assert_eq!(refs.find(organization, kind, reference).await.unwrap(), None);
        }
        refs.add(Some(world.mine), "space", "a", "assemblies/2").await.unwrap();
        let space = refs.find(Some(world.mine), "space", "a").await.unwrap();
        assert_eq!(space.as_deref(), Some("assemblies/2"), "another row stands for the reference");
    }
}

/// A lock that ends with its statement locks nothing. Every port that has a locking read refuses it on the pool.
#[tokio::test]
async fn a_locking_read_outside_a_transaction_is_refused() {
    for world in World::on_both_engines().await {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        let (organization, read_context) = (
            fixtures.mine,
            ReadContext { organization: fixtures.mine, viewer: Viewer::Public, participant: None },
        );
        let within = LocationFilter::default();
        let name = role(world.space, UserId(1), RoleKind::SpaceModerator).id();
        let draft = ports.proposals().find_draft_for_update(read_context, ClientId(1), ProposalId(1), within);
        let refused = [
            ports.organizations().find_for_update(organization).await.map(drop),
            ports.users().find_for_update(organization, UserId(1)).await.map(drop),
            ports.roles().find_for_update(organization, 1).await.map(drop),
            ports.roles().find_by_id_for_update(organization, &name).await.map(drop),
            ports.spaces().find_for_update(organization, world.space).await.map(drop),
            ports.steps().find_for_update(organization, StepId(1)).await.map(drop),
            ports.components().find_for_update(organization, fixtures.ideas).await.map(drop),
            ports.proposals().find_for_update(organization, ProposalId(1)).await.map(drop),
            draft.await.map(drop),
            ports.states().find_for_update(organization, StateId(1)).await.map(drop),
            ports
                .entries()
                .find_for_update(organization, ComponentEntryRef { kind: ComponentEntryKind::Page, id: 1 })
                .await
                .map(drop),
            ports.votes().find_for_update(organization, VoteId(1)).await.map(drop),
            ports.votes().lock(organization, ProposalId(1), UserId(1)).await,
            ports.posts().find_for_update(organization, PostId(1)).await.map(drop),
            ports.meetings().find_for_update(organization, MeetingId(1)).await.map(drop),
            ports.extended_data().find_for_update(read_context, fixtures.ideas.into()).await.map(drop),
        ];
        for (number, outcome) in refused.into_iter().enumerate() {
            assert!(matches!(outcome, Err(Error::Internal(_))), "{number}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn the_figures_of_an_organization_are_those_of_its_records() {
    for world in World::on_both_engines().await {
        let ids = [world.mine, world.other, OrganizationId(i64::MAX)];
        let mut figures = world.ports().operations().organization_figures(&ids).await.unwrap();
        figures.sort_by_key(|(id, _)| *id);
        let of = |spaces, clients| OrganizationFigures { spaces, clients, ..OrganizationFigures::default() };
        assert_eq!(figures, [(world.mine, of(3, 0)), (world.other, of(0, 1))]);
        let filled = world.ports().operations().organization_figures(&[world.fixtures.mine]).await.unwrap();
        assert!(filled[0].1.users > 0 && filled[0].1.components > 0, "{filled:?}");
    }
}
