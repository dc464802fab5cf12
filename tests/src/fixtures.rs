//! Fixtures: an organization with users, spaces and components, for the conformance tests.

use crate::World;
use async_trait::async_trait;
use civitas_accounts::{ApiClient, Role, RoleKind, Secret, User};
use civitas_application::{ComponentAdministration, Ports};
use civitas_kernel::records::RecordAdministration;
use civitas_kernel::testing::text;
use civitas_kernel::{
    ClientId, ComponentId, Locale, Locales, OrganizationId, Result, Scopes, SpaceKind, SpaceRef, UserId,
    clock,
};
use civitas_organizations::Organization;
use civitas_spaces::conformance as spaces;
use civitas_spaces::{Component, ComponentKind, Space, Step, Visibility};
use serde_json::{Map, Value, json};

/// The public name of the first client.
pub(crate) const CLIENT: &str = "id_of_fixtures";

/// The records of an organization.
pub struct Fixtures {
    /// An organization that other tests do not use.
    pub mine: OrganizationId,
    /// A participant.
    pub nora: UserId,
    /// Another one.
    pub otto: UserId,
    /// A moderator of the transparent assembly.
    pub mona: UserId,
    /// A user with a pending invitation to moderate there.
    pub ines: UserId,
    /// An administrator.
    pub admin: UserId,
    /// A client of the organization.
    pub client: ClientId,
    /// Another one.
    pub other_client: ClientId,
    /// A public, published process of scope 7 with an active step.
    pub process: SpaceRef,
    /// A proposals component of it, in which the step allows votes.
    pub ideas: ComponentId,
    /// Another one, of scope 9.
    pub wishes: ComponentId,
    /// An unpublished one.
    pub unpublished: ComponentId,
    /// One of a transparent assembly of which Nora is a member.
    pub transparent: ComponentId,
    /// A component of the process of another kind.
    pub blog: ComponentId,
    /// A meetings component of the process.
    pub agenda: ComponentId,
    /// Another one.
    pub walks: ComponentId,
    /// An unpublished one.
    pub unpublished_meetings: ComponentId,
    /// One of the transparent assembly.
    pub sessions: ComponentId,
    /// An accountability component of the process.
    pub results: ComponentId,
    /// A surveys component of the process.
    pub surveys: ComponentId,
    /// Another one.
    pub more_surveys: ComponentId,
    /// An unpublished one.
    pub unpublished_surveys: ComponentId,
}

impl Fixtures {
    /// Creates and fills it, in a transaction.
    ///
    /// # Errors
    /// Those of the stores.
    pub async fn fill(store: &dyn Ports) -> Result<Self> {
        let mine = organization(store).await?;
        let nora = user(store, mine, "nora").await?;
        let otto = user(store, mine, "otto").await?;
        let mona = user(store, mine, "mona").await?;
        let ines = user(store, mine, "ines").await?;
        let admin = user(store, mine, "ada_admin").await?;
        let client = store.clients().add(&api_client(CLIENT, Some(mine))).await?;
        let other_client = store.clients().add(&api_client("id_of_another", Some(mine))).await?;
        let process = space(store, mine, SpaceKind::ParticipatoryProcesses, Visibility::Public).await?;
        let assembly = space(store, mine, SpaceKind::Assemblies, Visibility::Transparent).await?;
        join(store, mine, assembly, nora, spaces::Role::Member).await?;
        join(store, mine, assembly, mona, spaces::Role::Moderator).await?;
        join(store, mine, assembly, ines, spaces::Role::Invited).await?;
        let step = store.steps().add(mine, &active_step(process)).await?;
        let of = |space, kind| Component {
            published_at: Some(clock::now()),
            ..Component::new(space, kind, text("Component"), clock::now())
        };
        let proposals_of = |space| Component {
            settings: object(json!({"vote_limit": 3})),
            step_settings: [(step, object(json!({"votes_enabled": true})))].into(),
            ..of(space, ComponentKind::Proposals)
        };
        let ideas = proposals_of(process);
        let meetings = of(process, ComponentKind::Meetings);
        let surveys = of(process, ComponentKind::Surveys);
        let components = ComponentAdministration {
            components: store.components(),
            states: store.states(),
            votes: store.votes(),
            locales: &Locales::standard(),
        };
        let add = async |component: Component| components.create(mine, &component).await;
        Ok(Self {
            mine,
            nora,
            otto,
            mona,
            ines,
            admin,
            client,
            other_client,
            process,
            ideas: add(ideas.clone()).await?,
            wishes: add(Component { scope_id: Some(9), ..ideas.clone() }).await?,
            unpublished: add(Component { published_at: None, ..ideas }).await?,
            transparent: add(proposals_of(assembly)).await?,
            blog: add(of(process, ComponentKind::Blogs)).await?,
            agenda: add(meetings.clone()).await?,
            walks: add(meetings.clone()).await?,
            unpublished_meetings: add(Component { published_at: None, ..meetings }).await?,
            sessions: add(of(assembly, ComponentKind::Meetings)).await?,
            results: add(of(process, ComponentKind::Accountability)).await?,
            surveys: add(surveys.clone()).await?,
            more_surveys: add(surveys.clone()).await?,
            unpublished_surveys: add(Component { published_at: None, ..surveys }).await?,
        })
    }
}

async fn organization(store: &dyn Ports) -> Result<OrganizationId> {
    let fixtures =
        Organization::new("fixtures.example".to_owned(), text("Fixtures"), Locale::EN, clock::now());
    store.organizations().add(&fixtures).await
}

fn active_step(space: SpaceRef) -> Step {
    Step { active: true, ..Step::new(space, text("Vote"), 0, clock::now()) }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

async fn user(store: &dyn Ports, mine: OrganizationId, nickname: &str) -> Result<UserId> {
    let now = clock::now();
    let email = format!("{nickname}@fixtures.example");
    let user = User::new(nickname.to_owned(), email, "Somebody".to_owned(), now);
    let admin = nickname.ends_with("admin");
    store.users().add(mine, &User { admin, ..user }).await
}

/// A client without scopes and permissions.
pub(crate) fn api_client(uid: &str, organization: Option<OrganizationId>) -> ApiClient {
    let (secret, name) = (Secret::new("secret").digest(), "A client".to_owned());
    ApiClient::new(uid.to_owned(), secret, name, organization, Scopes::default(), clock::now())
}

async fn space(
    store: &dyn Ports,
    mine: OrganizationId,
    kind: SpaceKind,
    visibility: Visibility,
) -> Result<SpaceRef> {
    let now = clock::now();
    let space = Space::new(kind, text("Space"), now);
    let space = Space { visibility, published_at: Some(now), scope_id: Some(7), ..space };
    store.spaces().add(mine, &space).await
}

async fn join(
    ports: &(impl Ports + ?Sized),
    organization: OrganizationId,
    space: SpaceRef,
    user: UserId,
    role: spaces::Role,
) -> Result<()> {
    let now = clock::now();
    let kind = match role {
        spaces::Role::Moderator => RoleKind::SpaceModerator,
        _ => RoleKind::SpacePrivateMember,
    };
    let invited = matches!(role, spaces::Role::Invited | spaces::Role::InvitedMember);
    let role = Role {
        invited_at: invited.then_some(now),
        accepted_at: (role == spaces::Role::InvitedMember).then_some(now),
        ..Role::new(space, Some(user), kind, now)
    };
    ports.roles().add(organization, &role).await.map(drop)
}

#[async_trait]
impl spaces::RoleAssigner for World {
    async fn give_role(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        user: UserId,
        role: spaces::Role,
    ) -> Result<()> {
        join(self.ports(), organization, space, user, role).await
    }
}

impl<'a> From<&'a World> for spaces::World<'a> {
    fn from(world: &'a World) -> Self {
        let Fixtures { mine, nora, otto, admin, .. } = world.fixtures;
        Self {
            spaces: world.ports().spaces(),
            steps: world.ports().steps(),
            components: world.ports().components(),
            entries: world.ports().entries(),
            people: world,
            mine,
            other: world.other,
            nora,
            otto,
            admin,
        }
    }
}
