//! Fixtures: an organization with users, spaces and components, for the conformance tests.

use crate::World;
use async_trait::async_trait;
use civitas_accounts::{ApiClient, Role, RoleKind, Secret, User};
use civitas_application::{ComponentAdmin, Ports};
use civitas_attachments::conformance as attachments;
use civitas_blogs::conformance as blogs;
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{
    Abilities, ClientId, ComponentId, Locale, Locales, OrganizationId, Result, Scopes, SpaceManifest,
    SpaceRef, Translated, UserId, clock,
};
use civitas_meetings::conformance as meetings;
use civitas_organizations::Organization;
use civitas_proposals::conformance as proposals;
use civitas_spaces::conformance as spaces;
use civitas_spaces::{Component, ComponentManifest, Space, Step, Visibility};
use civitas_surveys::conformance as surveys;
use serde_json::{Map, Value, json};

/// The public name of the first client.
const CLIENT: &str = "id_of_fixtures";

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
        let client = api_client(store, mine, CLIENT).await?;
        let other_client = api_client(store, mine, "id_of_another").await?;
        let process = space(store, mine, SpaceManifest::ParticipatoryProcesses, Visibility::Public).await?;
        let assembly = space(store, mine, SpaceManifest::Assemblies, Visibility::Transparent).await?;
        join(store, mine, assembly, nora, spaces::Role::Member).await?;
        join(store, mine, assembly, mona, spaces::Role::Moderator).await?;
        join(store, mine, assembly, ines, spaces::Role::Invited).await?;
        let step = store.steps().add(mine, &active_step(process)).await?;
        let of = |space, manifest| Component {
            published_at: Some(clock::now()),
            ..Component::new(space, manifest, title("Component"), clock::now())
        };
        let proposals_of = |space| Component {
            settings: object(json!({"vote_limit": 3})),
            step_settings: [(step, object(json!({"votes_enabled": true})))].into(),
            ..of(space, ComponentManifest::Proposals)
        };
        let ideas = proposals_of(process);
        let meetings = of(process, ComponentManifest::Meetings);
        let surveys = of(process, ComponentManifest::Surveys);
        let components = ComponentAdmin {
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
            blog: add(of(process, ComponentManifest::Blogs)).await?,
            agenda: add(meetings.clone()).await?,
            walks: add(meetings.clone()).await?,
            unpublished_meetings: add(Component { published_at: None, ..meetings }).await?,
            sessions: add(of(assembly, ComponentManifest::Meetings)).await?,
            results: add(of(process, ComponentManifest::Accountability)).await?,
            surveys: add(surveys.clone()).await?,
            more_surveys: add(surveys.clone()).await?,
            unpublished_surveys: add(Component { published_at: None, ..surveys }).await?,
        })
    }
}

async fn organization(store: &dyn Ports) -> Result<OrganizationId> {
    let fixtures =
        Organization::new("fixtures.example".to_owned(), title("Fixtures"), Locale::EN, clock::now());
    store.organizations().add(&fixtures).await
}

fn active_step(space: SpaceRef) -> Step {
    Step { space, title: title("Vote"), position: 0, active: true, starts_at: None, ends_at: None }
}

fn title(text: &str) -> Translated {
    [(Locale::EN, text.to_owned())].into()
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

async fn api_client(store: &dyn Ports, mine: OrganizationId, uid: &str) -> Result<ClientId> {
    let now = clock::now();
    let client = ApiClient {
        uid: uid.to_owned(),
        secret: Secret::new("secret").digest(),
        name: "A client".to_owned(),
        organization: Some(mine),
        scopes: Scopes::default(),
        permissions: Abilities::default(),
        created_at: now,
        updated_at: now,
    };
    store.clients().add(&client).await
}

async fn space(
    store: &dyn Ports,
    mine: OrganizationId,
    manifest: SpaceManifest,
    visibility: Visibility,
) -> Result<SpaceRef> {
    let now = clock::now();
    let space = Space::new(manifest, title("Space"), now);
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
        space,
        user: Some(user),
        email: None,
        kind,
        invited_at: invited.then_some(now),
        accepted_at: (role == spaces::Role::InvitedMember).then_some(now),
        created_at: now,
        updated_at: now,
    };
    ports.roles().add(organization, &role).await.map(drop)
}

#[async_trait]
impl spaces::People for World {
    async fn appoint(
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

impl<'a> From<&'a World> for attachments::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            attachments: ports.attachments(),
            collections: ports.collections(),
            files: ports.files(),
            uploads: ports.uploads(),
            parents: ports.parents(),
            mine: fixtures.mine,
            other: world.other,
            space: fixtures.process,
            client: fixtures.client,
        }
    }
}

impl<'a> From<&'a World> for blogs::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            posts: ports.posts(),
            lookup: ports.blogs(),
            mine: fixtures.mine,
            other: world.other,
            nora: fixtures.nora,
            otto: fixtures.otto,
            space: fixtures.process,
            blog: fixtures.blog,
            ideas: fixtures.ideas,
        }
    }
}

impl<'a> From<&'a World> for meetings::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            meetings: ports.meetings(),
            reminders: ports.reminders(),
            mine: fixtures.mine,
            other: world.other,
            nora: fixtures.nora,
            otto: fixtures.otto,
            mona: fixtures.mona,
            ines: fixtures.ines,
            admin: fixtures.admin,
            space: fixtures.process,
            agenda: fixtures.agenda,
            walks: fixtures.walks,
            unpublished: fixtures.unpublished_meetings,
            sessions: fixtures.sessions,
            blog: fixtures.blog,
        }
    }
}

impl<'a> From<&'a World> for proposals::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            proposals: ports.proposals(),
            components: ports.component_lookup(),
            states: ports.states(),
            votes: ports.votes(),
            mine: fixtures.mine,
            other: world.other,
            nora: fixtures.nora,
            otto: fixtures.otto,
            admin: fixtures.admin,
            client: fixtures.client,
            client_uid: CLIENT,
            other_client: fixtures.other_client,
            space: fixtures.process,
            ideas: fixtures.ideas,
            wishes: fixtures.wishes,
            unpublished: fixtures.unpublished,
            transparent: fixtures.transparent,
            blog: fixtures.blog,
        }
    }
}

impl<'a> From<&'a World> for surveys::World<'a> {
    fn from(world: &'a World) -> Self {
        let (ports, fixtures) = (world.ports(), &world.fixtures);
        Self {
            surveys: ports.surveys(),
            questionnaires: ports.questionnaires(),
            questions: ports.questions(),
            options: ports.answer_options(),
            conditions: ports.display_conditions(),
            responses: ports.responses(),
            lookup: ports.survey_lookup(),
            mine: fixtures.mine,
            other: world.other,
            nora: fixtures.nora,
            otto: fixtures.otto,
            component: fixtures.surveys,
            second: fixtures.more_surveys,
            unpublished: fixtures.unpublished_surveys,
        }
    }
}
