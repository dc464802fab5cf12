//! Commands confine their transactions, and requests their reads, to the organization of the caller (setting
//! `row_level_security`).

use async_trait::async_trait;
use civitas_accounts::{AccessToken, READ_USERS, Secret, User};
use civitas_application::{Announcer, Commands, Ports, Registry, RenderContext, Site};
use civitas_jobs::{Finish, Job, JobOwner, JobPayload};
use civitas_kernel::{
    Access, AnswerLanguages, Command, Ctx, Handle, OrganizationId, Result, UserId, clock, random_job_id,
};
use civitas_tests::{Database, Engine, Fixtures, NoViews, World, commit};
use civitas_tokens::{SecretKeys, Signer};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Whether the transaction of a command finds a user of another organization. No condition of its statement excludes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FindForeignUser {
    organization: OrganizationId,
    user: UserId,
}

impl Command for FindForeignUser {
    const KEY: &'static str = "test#find_foreign_user";
    const ACCESS: Access = READ_USERS;
    type Output = Value;
}

struct FindForeignUserCase<'a>(&'a dyn Ports);

#[async_trait]
impl Handle<FindForeignUser> for FindForeignUserCase<'_> {
    async fn handle(&self, _: &Ctx, command: FindForeignUser) -> Result<Value> {
        let found = self.0.users().find(command.organization, command.user).await?;
        Ok(json!(found.is_some()))
    }
}

fn found(_: &RenderContext<'_>, found: Value) -> Value {
    found
}

fn commands(world: &World) -> Commands {
    let registry =
        Registry::default().on::<FindForeignUser>(|ports| Box::new(FindForeignUserCase(ports)), found);
    let announcer = Announcer::new(Arc::new(NoViews), Site::default());
    let signer = Arc::new(Signer::of(&SecretKeys::one([7; 32])));
    Commands::new(registry, world.database.store(), announcer, signer, None)
}

/// A user of another organization than the one of the fixtures.
async fn foreign_user(world: &World) -> FindForeignUser {
    let user = User::new("nora".to_owned(), "nora@example.org".to_owned(), "Nora".to_owned(), clock::now());
    let user = commit(world.store(), async |tx| tx.users().add(world.other, &user).await).await.unwrap();
    FindForeignUser { organization: world.other, user }
}

#[tokio::test]
async fn a_command_does_not_find_rows_of_other_organizations_unless_its_client_serves_all() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let (commands, command) = (commands(&world), foreign_user(&world).await);
    let Fixtures { mine, nora, client, .. } = world.fixtures;
    let tenant = world.ports().organizations().tenant(mine).await.unwrap().unwrap();
    let mut ctx = Ctx::for_user(mine, client, nora, &[READ_USERS], clock::now());
    for (deployment_wide, expected) in [(false, false), (true, true)] {
        ctx.caller.deployment_wide = deployment_wide;
        let answer = commands
            .execute(&ctx, &tenant, &AnswerLanguages::default(), command.clone(), async |_, found| Ok(found))
            .await;
        assert_eq!(answer.unwrap(), json!(expected), "deployment-wide: {deployment_wide}");
    }
}

#[tokio::test]
async fn a_job_does_not_find_rows_of_other_organizations() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let (commands, command) = (commands(&world), foreign_user(&world).await);
    let Fixtures { mine, nora, client, .. } = world.fixtures;
    let (ports, now) = (world.ports(), clock::now());
    let token = AccessToken {
        organization: mine,
        client,
        user: Some(nora),
        digest: Secret::new("token").digest(),
        scope: "oauth".to_owned(),
        issued_at: now,
        expires_at: now + time::Duration::DAY,
        revoked_at: None,
    };
    let job = Job {
        id: random_job_id(),
        organization: mine,
        owner: JobOwner { client, user: Some(nora) },
        token: ports.tokens().add(&token).await.unwrap(),
        command_key: FindForeignUser::KEY.to_owned(),
        payload: JobPayload {
            name: FindForeignUser::NAME.to_owned(),
            command: serde_json::to_value(&command).unwrap(),
            languages: AnswerLanguages::default(),
        },
        attempts: 0,
        created_at: now,
    };
    ports.jobs().add(&job).await.unwrap();
    let claimed = ports.jobs().claim("worker", now, now + time::Duration::MINUTE, 1).await.unwrap();
    assert_eq!(commands.perform("worker", &claimed[0]).await.unwrap(), Finish::Recorded);
    let report = ports.jobs().find(mine, job.id).await.unwrap().unwrap();
    assert_eq!(report.result.as_deref(), Some("false"));
}

/// Waits until no connection is in a transaction: its end is sent, and not waited for, when a connection is returned.
async fn transactions_have_ended(database: &Database) {
    for _ in 0..100 {
        if database.writers().await.is_empty() {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("a connection stays in a transaction");
}

/// One request after the other has the same connection of the pool.
#[tokio::test]
async fn a_confined_read_does_not_find_rows_of_other_organizations_and_the_next_user_of_its_connection_does()
{
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let Fixtures { mine, nora, .. } = world.fixtures;
    let FindForeignUser { organization, user } = foreign_user(&world).await;
    let confined = world.store().confined_to(mine).unwrap().unwrap();
    let foreign = world.store().confined_to(organization).unwrap().unwrap();
    for round in 0..3 {
        assert!(confined.users().find(organization, user).await.unwrap().is_none(), "{round}");
        assert!(confined.users().find(mine, nora).await.unwrap().is_some(), "{round}");
        assert!(foreign.users().find(organization, user).await.unwrap().is_some(), "{round}");
        assert!(foreign.users().find(mine, nora).await.unwrap().is_none(), "{round}");
        assert!(world.ports().users().find(organization, user).await.unwrap().is_some(), "{round}");
        assert!(world.ports().users().find(mine, nora).await.unwrap().is_some(), "{round}");
    }
    transactions_have_ended(&world.database).await;
}

/// A request whose client leaves is dropped wherever it is.
#[tokio::test]
async fn a_confined_read_that_is_dropped_leaves_no_transaction() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let FindForeignUser { organization, user } = foreign_user(&world).await;
    let confined = world.store().confined_to(world.mine).unwrap().unwrap();
    // Opens the connection.
    assert!(confined.users().find(organization, user).await.unwrap().is_none());
    for micros in (0..2000).step_by(50) {
        let find = confined.users().find(organization, user);
        if micros == 0 {
            assert!(find.now_or_never().is_none(), "the first poll waits for the database");
        } else {
            let _ = tokio::time::timeout(Duration::from_micros(micros), find).await;
        }
        let found = world.ports().users().find(organization, user).await.unwrap();
        assert!(found.is_some(), "after {micros} us");
    }
    transactions_have_ended(&world.database).await;
}

/// Also after a statement that failed.
#[tokio::test]
async fn a_confined_read_that_fails_leaves_no_transaction() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let FindForeignUser { organization, user } = foreign_user(&world).await;
    let confined = world.store().confined_to(world.mine).unwrap().unwrap();
    world.database.execute("ALTER TABLE users RENAME TO hidden_users").await;
    assert!(confined.users().find(organization, user).await.is_err());
    world.database.execute("ALTER TABLE hidden_users RENAME TO users").await;
    assert!(world.ports().users().find(organization, user).await.unwrap().is_some());
    assert!(confined.users().find(organization, user).await.unwrap().is_none());
    transactions_have_ended(&world.database).await;
}
