//! A database for the conformance tests of the ports.

use crate::fixtures::api_client;
use crate::{Database, Engine, Fixtures};
use civitas_accounts::ApiClient;
use civitas_application::{Ports, Store, Transaction};
use civitas_kernel::testing::text;
use civitas_kernel::{
    Ability, ClientId, EventName, Locale, OrganizationId, Scopes, SpaceKind, SpaceRef, clock,
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

    /// A new one on each engine that is available.
    ///
    /// # Panics
    /// As [`World::fresh`].
    pub async fn on_both_engines() -> Vec<Self> {
        let mut worlds = Vec::new();
        for engine in Engine::BOTH {
            worlds.extend(Self::fresh(engine).await);
        }
        worlds
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
        let published = async |kind| space(ports, mine, kind).await;
        let space = published(SpaceKind::ParticipatoryProcesses).await;
        let assembly = published(SpaceKind::Assemblies).await;
        let conference = published(SpaceKind::Conferences).await;
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
    let client = ApiClient {
        scopes: Scopes::read(scope),
        permissions: [event].into_iter().collect(),
        ..api_client(uid, organization)
    };
    store.clients().add(&client).await.expect("a client")
}

async fn space(store: &dyn Ports, mine: OrganizationId, kind: SpaceKind) -> SpaceRef {
    let now = clock::now();
    let mut space = Space::new(kind, text("Streets"), now);
    space.slug = Some("streets".to_owned());
    space.published_at = Some(now);
    store.spaces().add(mine, &space).await.expect("a space")
}

async fn organization(store: &dyn Ports, host: &str) -> OrganizationId {
    let organization = Organization::new(host.to_owned(), text(host), Locale::EN, clock::now());
    store.organizations().add(&organization).await.expect("an organization")
}

impl<'a> From<&'a World> for &'a dyn OrganizationStore {
    fn from(world: &'a World) -> Self {
        world.ports().organizations()
    }
}
