//! A database for the conformance tests of the ports.

use crate::{Database, Engine, Fixtures};
use civitas_accounts::{ApiClient, Secret};
use civitas_application::{Ports, Store, Transaction};
use civitas_kernel::{
    Ability, ClientId, EventName, Locale, OrganizationId, Scopes, SpaceManifest, SpaceRef, Translated, clock,
};
use civitas_organizations::{Organization, OrganizationStore};
use civitas_spaces::Space;

/// A database with two organizations, and a space in the first.
pub struct World {
    /// The database.
    pub database: Database,
    /// An organization.
    pub mine: OrganizationId,
    /// Another one.
    pub other: OrganizationId,
    /// A published process of the first.
    pub space: SpaceRef,
    /// A published assembly of the first.
    pub assembly: SpaceRef,
    /// A published conference of the first.
    pub conference: SpaceRef,
    /// A client of the other organization, with the event of new users.
    pub other_client: ClientId,
    /// A deployment-wide client, with the event of changed organizations.
    pub wide_client: ClientId,
    /// A third one, with users, spaces and components.
    pub fixtures: Fixtures,
    transaction: Option<Box<dyn Transaction>>,
}

impl World {
    /// A new one; `None` if the engine is not available and not required.
    ///
    /// # Panics
    /// When it cannot be created.
    pub async fn fresh(engine: Engine) -> Option<Self> {
        Some(Self::over(Database::fresh(engine).await?).await)
    }

    /// A new one in memory.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn in_memory() -> Self {
        Self::over(Database::in_memory().await).await
    }

    async fn over(database: Database) -> Self {
        let transaction = database.store.begin().await.expect("a transaction");
        let ports: &dyn Ports = &*transaction;
        let mine = organization(ports, "mine.example").await;
        let other = organization(ports, "other.example").await;
        let published = async |manifest| space(ports, mine, manifest).await;
        let space = published(SpaceManifest::ParticipatoryProcesses).await;
        let assembly = published(SpaceManifest::Assemblies).await;
        let conference = published(SpaceManifest::Conferences).await;
        let fixtures = Fixtures::fill(ports).await.expect("people, spaces and components");
        let other_client = client(ports, "id_of_other", Some(other), "oauth", Ability::UserCreated).await;
        let wide_client = client(ports, "id_of_all", None, "system", Ability::OrganizationUpdated).await;
        transaction.commit().await.expect("a commit");
        Self {
            database,
            mine,
            other,
            space,
            assembly,
            conference,
            other_client,
            wide_client,
            fixtures,
            transaction: None,
        }
    }

    /// Its store.
    pub fn store(&self) -> &dyn Store {
        &*self.database.store
    }

    /// The same: its ports are on the pool.
    #[expect(clippy::unused_async, reason = "beside `in_transaction`")]
    pub async fn on_the_pool(self) -> Self {
        self
    }

    /// The same, with its ports inside one transaction that is never committed.
    ///
    /// # Panics
    /// When the transaction does not begin.
    pub async fn in_transaction(self) -> Self {
        let transaction = self.database.store.begin().await.expect("a transaction");
        Self { transaction: Some(transaction), ..self }
    }

    /// Its ports.
    pub fn ports(&self) -> &dyn Ports {
        match &self.transaction {
            Some(transaction) => &**transaction,
            None => &*self.database.store,
        }
    }
}

async fn client(
    store: &dyn Ports,
    uid: &str,
    organization: Option<OrganizationId>,
    scope: &str,
    event: EventName,
) -> ClientId {
    let now = clock::now();
    let client = ApiClient {
        uid: uid.to_owned(),
        secret: Secret::new("secret").digest(),
        name: "A client".to_owned(),
        organization,
        scopes: Scopes::read(scope),
        permissions: [event].into_iter().collect(),
        created_at: now,
        updated_at: now,
    };
    store.clients().add(&client).await.expect("a client")
}

fn title(text: &str) -> Translated {
    Translated::from([(Locale::EN, text.to_owned())])
}

async fn space(store: &dyn Ports, mine: OrganizationId, manifest: SpaceManifest) -> SpaceRef {
    let now = clock::now();
    let mut space = Space::new(manifest, title("Streets"), now);
    space.slug = Some("streets".to_owned());
    space.published_at = Some(now);
    store.spaces().add(mine, &space).await.expect("a space")
}

async fn organization(store: &dyn Ports, host: &str) -> OrganizationId {
    let organization = Organization::new(host.to_owned(), title(host), Locale::EN, clock::now());
    store.organizations().add(&organization).await.expect("an organization")
}

impl<'a> From<&'a World> for &'a dyn OrganizationStore {
    fn from(world: &'a World) -> Self {
        world.ports().organizations()
    }
}

impl<'a> From<&'a World> for civitas_accounts::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        let ports = world.ports();
        Self {
            users: ports.users(),
            clients: ports.clients(),
            tokens: ports.tokens(),
            roles: ports.roles(),
            queue: ports.queue(),
            mine: world.mine,
            other: world.other,
            space: world.space,
            assembly: world.assembly,
            conference: world.conference,
        }
    }
}

impl<'a> From<&'a World> for civitas_accounts::conformance::PanelWorld<'a> {
    fn from(world: &'a World) -> Self {
        let ports = world.ports();
        Self {
            administrators: ports.administrators(),
            sessions: ports.panel_sessions(),
            ended: ports.ended_credentials(),
            mine: world.mine,
        }
    }
}

impl<'a> From<&'a World> for civitas_accounts::conformance::LinkWorld<'a> {
    fn from(world: &'a World) -> Self {
        let ports = world.ports();
        Self {
            users: ports.users(),
            organizations: ports.organization_lookup(),
            confirmations: ports.confirmations(),
            magic_links: ports.magic_links(),
            sessions: ports.sessions(),
            tokens: ports.tokens(),
            ended: ports.ended_credentials(),
            client: world.fixtures.client,
            mine: world.mine,
            other: world.other,
        }
    }
}

impl<'a> From<&'a World> for civitas_accounts::conformance::LoginWorld<'a> {
    fn from(world: &'a World) -> Self {
        let ports = world.ports();
        Self {
            failures: ports.login_failures(),
            counts: ports.mail_counts(),
            client: world.other_client,
            second_client: world.wide_client,
            mine: world.mine,
            other: world.other,
        }
    }
}

impl<'a> From<&'a World> for civitas_jobs::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        Self {
            jobs: world.ports().jobs(),
            log: world.ports().job_log(),
            client: world.fixtures.client,
            client_uid: "id_of_fixtures",
            user: world.fixtures.nora,
            nickname: "nora",
            mine: world.mine,
            other: world.other,
        }
    }
}

impl<'a> From<&'a World> for civitas_webhooks::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            outbox: ports.outbox(),
            registrations: ports.registrations(),
            deliveries: ports.deliveries(),
            log: ports.delivery_log(),
            mine: fixtures.mine,
            other: world.other,
            client: fixtures.client,
            second_client: fixtures.other_client,
            other_client: world.other_client,
            wide_client: world.wide_client,
        }
    }
}

impl<'a> From<&'a World> for civitas_audit::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        Self { log: world.ports().audit(), mine: world.mine, other: world.other }
    }
}

impl<'a> From<&'a World> for civitas_extended_data::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        let fixtures = &world.fixtures;
        Self {
            store: world.ports().extended_data(),
            mine: fixtures.mine,
            other: world.other,
            owners: vec![
                fixtures.mine.into(),
                fixtures.nora.into(),
                fixtures.process.into(),
                fixtures.ideas.into(),
            ],
            unseen: vec![fixtures.unpublished.into()],
        }
    }
}

impl<'a> From<&'a World> for civitas_tasks::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        let ports = world.ports();
        Self {
            queue: ports.queue(),
            tasks: ports.tasks(),
            log: ports.task_log(),
            mine: world.mine,
            other: world.other,
        }
    }
}
