//! Concurrent writes: one draft, one vote, one number, one active step.

use civitas_application::Store;
use civitas_kernel::records::{AdminWithoutRules, Change, RecordAdministration, edit};
use civitas_kernel::testing::{text, viewer_read_context};
use civitas_kernel::{Error, LocationFilter, Result, SpaceKind, UserId, Viewer, clock};
use civitas_meetings::Meeting;
use civitas_proposals::{Proposal, Vote};
use civitas_spaces::{Space, Step, StepAdministration};
use civitas_tests::{Fixtures, World, commit};
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

/// Runs something this number of times at once, and collects the results.
async fn at_once<T, F>(times: usize, work: impl Fn(usize) -> F) -> Vec<Result<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let tasks: Vec<_> = (0..times).map(|i| tokio::spawn(work(i))).collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

/// `None` where another record has the key.
fn unless_taken<T>(added: Result<T>) -> Result<Option<T>> {
    match added {
        Err(Error::Rejected(_)) => Ok(None),
        added => added.map(Some),
    }
}

fn made<T>(outcomes: Vec<Result<Option<T>>>) -> usize {
    outcomes.into_iter().filter_map(Result::unwrap).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_that_begin_one_draft_make_one() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, ideas, .. } = world.fixtures;
        let store = world.database.store();
        let outcomes = at_once(50, |_| {
            let store = store.clone();
            async move {
                let draft = Proposal { authors: vec![nora], ..Proposal::draft(ideas, NOW) };
                let tx = store.begin().await?;
                let added = unless_taken(tx.proposals().add(mine, &draft).await)?;
                tx.commit().await.map(|()| added)
            }
        });
        assert_eq!(made(outcomes.await), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_that_cast_one_vote_cast_one() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, ideas, .. } = world.fixtures;
        let store = world.database.store();
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(ideas, NOW) };
        let added = commit(&*store, async |tx| tx.proposals().add(mine, &published).await);
        let proposal = added.await.unwrap();
        let outcomes = at_once(50, |_| {
            let store = store.clone();
            async move {
                let vote = Vote {
                    proposal,
                    user: nora,
                    weight: 1,
                    temporary: false,
                    created_at: NOW,
                    updated_at: NOW,
                };
                unless_taken(store.votes().add(mine, &vote).await)
            }
        });
        assert_eq!(made(outcomes.await), 1);
        let detail = world.ports().proposals().detail(mine, proposal).await.unwrap().unwrap();
        assert_eq!(detail.votes_count, 1);
    }
}

/// Each vote changes the number of votes of both proposals.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_whose_votes_become_final_at_once_take_turns() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, ideas, .. } = world.fixtures;
        let minimum = r#"UPDATE components SET settings = '{"minimum_votes_per_user": 2}' WHERE id = "#;
        world.database.execute(&format!("{minimum}{ideas}")).await;
        let store = world.database.store();
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(ideas, NOW) };
        let vote = |proposal, user| Vote {
            proposal,
            user,
            weight: 1,
            temporary: true,
            created_at: NOW,
            updated_at: NOW,
        };
        let mut proposals = Vec::new();
        for user in [nora, otto] {
            let added = commit(&*store, async |tx| tx.proposals().add(mine, &published).await);
            let proposal = added.await.unwrap();
            store.votes().add(mine, &vote(proposal, user)).await.unwrap();
            proposals.push(proposal);
        }
        let outcomes = at_once(2, |i| {
            let (store, vote) = (store.clone(), vote(proposals[1 - i], [nora, otto][i]));
            async move {
                let tx = store.begin().await?;
                tx.votes().lock(mine, vote.proposal, vote.user).await?;
                tokio::time::sleep(Duration::from_millis(100)).await;
                tx.votes().cast(mine, &vote, ideas).await?;
                tx.votes().set_temporary(mine, vote.user, ideas, false).await?;
                tx.commit().await
            }
        });
        for outcome in outcomes.await {
            outcome.unwrap();
        }
        for proposal in proposals {
            let detail = world.ports().proposals().detail(mine, proposal).await.unwrap().unwrap();
            assert_eq!(detail.votes_count, 2);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_holds_a_proposal_lets_others_wait() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, ideas, .. } = world.fixtures;
        let store = world.database.store();
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(ideas, NOW) };
        let added = commit(&*store, async |tx| tx.proposals().add(mine, &published).await);
        let proposal = added.await.unwrap();
        let first = store.begin().await.unwrap();
        first.votes().lock(mine, proposal, nora).await.unwrap();
        let second = tokio::spawn({
            let store = store.clone();
            async move {
                let waiting = Instant::now();
                let second = store.begin().await?;
                second.votes().lock(mine, proposal, otto).await?;
                second.rollback().await;
                Ok::<_, Error>(waiting.elapsed())
            }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!second.is_finished(), "the second waits for the first");
        first.commit().await.unwrap();
        assert!(second.await.unwrap().unwrap() >= Duration::from_millis(250));
        let outside = store.votes().lock(mine, proposal, nora).await;
        assert!(matches!(outside, Err(Error::Internal(_))), "nothing is held without a transaction");
    }
}

/// On PostgreSQL one vote becomes final while the import is open, and one is cast when it has ended; on SQLite both wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn votes_that_others_change_during_an_import_are_counted() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, mona, ines, ideas, .. } = world.fixtures;
        let store = world.database.store();
        let published = Proposal { published_at: Some(NOW), ..Proposal::draft(ideas, NOW) };
        let added = commit(&*store, async |tx| tx.proposals().add(mine, &published).await);
        let proposal = added.await.unwrap();
        let vote =
            |user, temporary| Vote { proposal, user, weight: 1, temporary, created_at: NOW, updated_at: NOW };
        store.votes().add(mine, &vote(otto, true)).await.unwrap();
        let import = store.begin().await.unwrap();
        import.votes().add_uncounted(mine, &[vote(nora, false), vote(mona, false)]).await.unwrap();
        let others = at_once(2, |i| {
            let (store, vote) = (store.clone(), vote(ines, false));
            async move {
                let tx = store.begin().await?;
                if i == 0 {
                    tx.votes().set_temporary(mine, otto, ideas, false).await?;
                    tokio::time::sleep(Duration::from_millis(300)).await;
                } else {
                    tx.votes().lock(mine, vote.proposal, vote.user).await?;
                    tx.votes().cast(mine, &vote, ideas).await?;
                }
                tx.commit().await
            }
        });
        let ended = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            import.votes().settle(mine, &[]).await?;
            import.commit().await
        };
        let (outcomes, ended) = tokio::join!(others, ended);
        ended.unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let detail = world.ports().proposals().detail(mine, proposal).await.unwrap().unwrap();
        assert_eq!(detail.votes_count, 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_draft_found_in_a_transaction_is_published_once() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, client, ideas, .. } = world.fixtures;
        let store = world.database.store();
        let draft = Proposal { authors: vec![nora], client: Some(client), ..Proposal::draft(ideas, NOW) };
        let id = commit(&*store, async |tx| tx.proposals().add(mine, &draft).await).await.unwrap();
        let read_context = viewer_read_context(mine, Viewer::Participant(nora));
        let outcomes = at_once(8, |_| {
            let store = store.clone();
            async move {
                let tx = store.begin().await?;
                let found = tx
                    .proposals()
                    .find_draft_for_update(read_context, client, id, LocationFilter::default())
                    .await?;
                let Some(found) = found else { return Ok(None) };
                let change = Change::from_edit(found.proposal, NOW, |draft| draft.publish(NOW));
                tx.proposals().save(mine, id, &change).await?;
                tx.commit().await.map(Some)
            }
        });
        assert_eq!(made(outcomes.await), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spaces_made_at_once_have_different_numbers() {
    for world in World::on_both_engines().await {
        let (mine, store) = (world.fixtures.mine, world.database.store());
        let outcomes = at_once(20, |_| add_conference(store.clone(), mine)).await;
        let mut numbers: Vec<i64> = outcomes.into_iter().map(Result::unwrap).collect();
        numbers.sort_unstable();
        let first = numbers[0];
        assert_eq!(numbers, (first..first + 20).collect::<Vec<_>>());
    }
}

/// Tries again where two met, as the commands do.
async fn add_conference(store: Arc<dyn Store>, mine: civitas_kernel::OrganizationId) -> Result<i64> {
    loop {
        let title = text("Conference");
        let space = Space::new(SpaceKind::Conferences, title, NOW);
        match store.spaces().add(mine, &space).await {
            Err(error) if error.is_transient() => {}
            added => return added.map(|space| space.id),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_steps_activated_at_once_one_is_active() {
    for world in World::on_both_engines().await {
        let (mine, process, store) = (world.fixtures.mine, world.fixtures.process, world.database.store());
        let outcomes = at_once(12, |i| {
            let store = store.clone();
            async move {
                let position = i64::try_from(i).unwrap_or_default();
                let step = Step { active: true, ..Step::new(process, text("Step"), position, clock::now()) };
                let tx = store.begin().await?;
                StepAdministration { spaces: tx.spaces(), steps: tx.steps() }.create(mine, &step).await?;
                tx.commit().await
            }
        });
        assert!(outcomes.await.iter().all(Result::is_ok), "those that wait activate theirs after");
        let steps = world.ports().steps().page_after(mine, None, 100).await.unwrap();
        let active = steps.iter().filter(|(_, step)| step.active && step.space == process).count();
        assert_eq!((steps.len(), active), (13, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_of_one_meeting_at_once_are_all_kept() {
    for world in World::on_both_engines().await {
        let Fixtures { mine, nora, otto, mona, ines, agenda, .. } = world.fixtures;
        let title = text("Kick-off");
        let meeting = Meeting::new(agenda, title, NOW, NOW);
        let id = world.ports().meetings().add(mine, &meeting).await.unwrap();
        let people: [UserId; 4] = [nora, otto, mona, ines];
        let store = world.database.store();
        let outcomes = at_once(people.len(), |i| {
            let store = store.clone();
            async move {
                let tx = store.begin().await?;
                let admin = AdminWithoutRules(tx.meetings());
                let register = |meeting: &mut Meeting| {
                    meeting.registrations.insert(people[i]);
                };
                edit(&admin, mine, id, clock::now(), register).await?;
                tx.commit().await
            }
        });
        for outcome in outcomes.await {
            outcome.unwrap();
        }
        let kept = world.ports().meetings().find(mine, id).await.unwrap().unwrap();
        assert_eq!(kept.registrations, people.into());
    }
}
