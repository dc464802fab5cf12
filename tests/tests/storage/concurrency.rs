//! Concurrent transactions: conflicts, waits, and dropped ones.

use civitas_accounts::administrators::{PasswordCheck, SOURCE_REFUSAL_DURATION, SignInError, SignInPorts};
use civitas_accounts::{Administrator, PanelSession, Secret, User};
use civitas_application::Store;
use civitas_jobs::LEASE;
use civitas_kernel::records::Change;
use civitas_kernel::{ClientId, Error, OrganizationId, Result, UserId};
use civitas_proposals::Proposal;
use civitas_tests::{Engine, Fixtures, World, commit, job};
use civitas_tokens::{Argon2Passwords, PurposeCipher, SecretKeys, TotpCodes};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

fn user(nickname: &str) -> User {
    User::new(nickname.to_owned(), format!("{nickname}@example.org"), "Nora".to_owned(), NOW)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_job_is_claimed_once_by_sixteen_workers() {
    for world in World::on_both_engines().await {
        for _ in 0..100 {
            world
                .ports()
                .jobs()
                .add(&job(world.mine, ClientId(1), serde_json::Value::Null, NOW))
                .await
                .unwrap();
        }
        let workers = (0..16).map(|worker| {
            let store = world.database.store();
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                loop {
                    let jobs = store.jobs().claim(&worker.to_string(), NOW, NOW + LEASE, 3).await.unwrap();
                    if jobs.is_empty() {
                        return claimed;
                    }
                    claimed.extend(jobs.into_iter().map(|job| job.id));
                }
            })
        });
        let mut all = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            all.extend(worker.await.unwrap());
        }
        // Jobs that another worker locked for a moment can still be claimed.
        let rest = world.ports().jobs().claim("last", NOW, NOW + LEASE, 100).await.unwrap();
        all.extend(rest.into_iter().map(|job| job.id));
        assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (100, 100));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_accounts_with_one_nickname_one_is_made() {
    for world in World::on_both_engines().await {
        let attempts = (0..8).map(|_| {
            let (store, mine) = (world.database.store(), world.mine);
            tokio::spawn(async move {
                let tx = store.begin().await?;
                tx.users().add(mine, &user("nora")).await?;
                tx.commit().await
            })
        });
        let mut made = 0;
        for attempt in attempts.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                Ok(()) => made += 1,
                Err(error) => assert!(matches!(error, Error::Conflict(_)), "{error}"),
            }
        }
        assert_eq!(made, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_account_that_is_held_loses_no_change() {
    for world in World::on_both_engines().await {
        let added = commit(world.store(), async |tx| tx.users().add(world.mine, &user("nora")).await);
        let id = added.await.unwrap();
        let writers = (0..12).map(|_| {
            let (store, mine) = (world.database.store(), world.mine);
            tokio::spawn(async move { count(&store, mine, id).await })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap().unwrap();
        }
        let user = world.ports().users().find(world.mine, id).await.unwrap().unwrap();
        assert_eq!(user.name, format!("{}{}", self::user("nora").name, "+".repeat(12)));
    }
}

/// Reads, decides, writes.
async fn count(store: &Arc<dyn Store>, organization: OrganizationId, id: UserId) -> Result<()> {
    let transaction = store.begin().await?;
    let user = transaction.users().find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
    tokio::task::yield_now().await;
    let change = Change::from_edit(user, NOW, |user| user.name.push('+'));
    transaction.users().save(organization, id, &change).await?;
    transaction.commit().await
}

#[tokio::test]
async fn who_goes_away_in_the_middle_leaves_the_pool_whole() {
    for world in World::on_both_engines().await {
        let store =
            Engine::open_with(world.database.engine, world.database.url(), 2, Duration::from_secs(20));
        let store = store.await.unwrap();
        let (mut finished, mut attempts) = (0, 0_u64);
        while finished < 5 || attempts < 200 {
            let work = async {
                let nickname = format!("user{attempts}");
                let transaction = store.begin().await?;
                let id = transaction.users().add(world.mine, &user(&nickname)).await?;
                transaction.refs().add(Some(world.mine), "user", &nickname, &id.to_string()).await?;
                transaction.commit().await
            };
            // From far too short to long enough: each place of the work is met by some.
            let patience = Duration::from_micros(attempts * 40 * (1 + attempts / 100));
            if let Ok(done) = tokio::time::timeout(patience, work).await {
                done.unwrap();
                finished += 1;
            }
            attempts += 1;
        }
        let users = store.users().page_after(world.mine, None, 1000).await.unwrap();
        assert!(users.len() >= finished, "what was acknowledged is kept");
        for (id, user) in users {
            let reference = store.refs().find(Some(world.mine), "user", &user.nickname).await.unwrap();
            assert_eq!(reference, Some(id.to_string()), "all or nothing");
        }
        for _ in 0..4 {
            let transaction = store.begin().await.unwrap();
            transaction.users().find_for_update(world.mine, UserId(1)).await.unwrap();
            transaction.commit().await.unwrap();
        }
    }
}

#[tokio::test]
async fn waiting_too_long_for_a_connection_is_unavailable() {
    for world in World::on_both_engines().await {
        let wait = Duration::from_millis(100);
        let narrow = Engine::open_with(world.database.engine, world.database.url(), 1, wait).await.unwrap();
        let held = narrow.begin().await.unwrap();
        let begun = Instant::now();
        let refused = narrow.begin().await;
        assert!(matches!(refused, Err(Error::Unavailable(_))));
        assert!(begun.elapsed() >= wait && begun.elapsed() < Duration::from_secs(10));
        held.rollback().await;
        narrow.begin().await.unwrap().rollback().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_wrong_passwords_at_once_each_counts_until_their_source_is_refused() {
    for world in World::on_both_engines().await {
        let ada = Administrator {
            password: Some("no hash".to_owned()),
            ..Administrator::new("ada@city.example".to_owned(), NOW)
        };
        let id = world.ports().administrators().add(&ada).await.unwrap();
        let attempts = (0..25).map(|_| {
            let store = world.database.store();
            tokio::spawn(async move {
                let passwords = Argon2Passwords::new();
                let wrong = Secret::new("wrong");
                let checked = PasswordCheck::compare_by_email(
                    store.administrators(),
                    &passwords,
                    "ada@city.example",
                    wrong,
                )
                .await;
                let tx = store.begin().await.unwrap();
                let attempt = SignInPorts {
                    administrators: tx.administrators(),
                    sessions: tx.panel_sessions(),
                    cipher: &PurposeCipher::for_panel(&SecretKeys::single([7; 32])),
                    codes: &TotpCodes,
                };
                let decided = attempt.decide(&checked.unwrap(), None, "home", NOW).await.unwrap();
                tx.commit().await.unwrap();
                match decided {
                    Err(SignInError::Refused { is_locked, locks, .. }) => (is_locked, locks),
                    other => panic!("{other:?}"),
                }
            })
        });
        let mut outcomes = Vec::new();
        for attempt in attempts.collect::<Vec<_>>() {
            outcomes.push(attempt.await.unwrap());
        }
        let number = |outcome| outcomes.iter().filter(|own| **own == outcome).count();
        assert_eq!((number((false, false)), number((true, true)), number((true, false))), (19, 1, 5));
        let ada = world.ports().administrators().find(id).await.unwrap().unwrap();
        assert_eq!(ada.sources.refused_until(NOW), Some(NOW + SOURCE_REFUSAL_DURATION));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_administrators_who_delete_each_other_one_stays() {
    for world in World::on_both_engines().await {
        let mut ids = Vec::new();
        for name in ["ada", "bo"] {
            let added = Administrator::new(format!("{name}@city.example"), NOW);
            ids.push(world.ports().administrators().add(&added).await.unwrap());
        }
        let [ada, bo] = [ids[0], ids[1]].map(|id| {
            let store = world.database.store();
            tokio::spawn(async move { store.administrators().remove(id).await })
        });
        let outcomes = [ada.await.unwrap(), bo.await.unwrap()];
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        assert_eq!(world.ports().administrators().count().await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_notice_and_a_form_belong_to_one_of_many_requests() {
    for world in World::on_both_engines().await {
        let ada = Administrator::new("ada@city.example".to_owned(), NOW);
        let id = world.ports().administrators().add(&ada).await.unwrap();
        let (session, _) = PanelSession::begin(id, NOW);
        world.ports().panel_sessions().add(&session).await.unwrap();
        world.ports().panel_sessions().set_notice(&session.digest, Some("sealed")).await.unwrap();
        let requests = (0..8).map(|_| {
            let (store, digest) = (world.database.store(), session.digest.clone());
            tokio::spawn(async move {
                let notice = store.panel_sessions().take_notice(&digest).await.unwrap();
                (notice.is_some(), store.panel_sessions().use_form(&digest, "nonce", NOW).await.unwrap())
            })
        });
        let (mut notices, mut forms) = (0, 0);
        for request in requests.collect::<Vec<_>>() {
            let (notice, form) = request.await.unwrap();
            notices += usize::from(notice);
            forms += usize::from(form);
        }
        assert_eq!((notices, forms), (1, 1));
    }
}

/// On SQLite the whole database is locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_rules_of_voting_do_not_change_during_a_vote() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let Fixtures { mine, nora, otto, ideas, .. } = world.fixtures;
    let proposal =
        commit(world.store(), async |tx| tx.proposals().add(mine, &Proposal::draft(ideas, NOW)).await);
    let proposal = proposal.await.unwrap();
    let casting = world.store().begin().await.unwrap();
    casting.votes().lock(mine, proposal, nora).await.unwrap();
    let changing = world.store().begin().await.unwrap();
    let change = changing.components().find_for_update(mine, ideas);
    let waited = tokio::time::timeout(Duration::from_millis(300), change).await;
    assert!(waited.is_err(), "the settings can be changed during a vote");
    casting.commit().await.unwrap();
    // Its statement has the lock now.
    drop(changing);
    let another = world.store().begin().await.unwrap();
    another.votes().lock(mine, proposal, otto).await.unwrap();
}
