//! An association: an organization with one list of proposals, and its members.

use civitas_accounts::{ApiClient, Secret, User, UserAdministration};
use civitas_application::{ComponentAdministration, Store};
use civitas_kernel::records::RecordAdministration;
use civitas_kernel::{
    Abilities, ClientId, ComponentId, Ctx, Locale, Locales, OrganizationId, Result, Scopes, SpaceKind,
    Translated, UserId,
};
use civitas_organizations::{Organization, OrganizationAdministration};
use civitas_proposals::{READ_PROPOSALS, WRITE_DRAFTS};
use civitas_spaces::{Component, ComponentKind, Space, SpaceAdministration};
use time::OffsetDateTime;

/// An association.
#[derive(Debug, Clone, Copy)]
pub struct Association {
    /// Its organization.
    pub organization: OrganizationId,
    /// The API client this program acts as. A draft belongs to the client that creates it.
    pub client: ClientId,
    /// The component that keeps the proposals.
    pub component: ComponentId,
}

impl Association {
    /// Stores a new association in one transaction: organization, client, space and component.
    ///
    /// # Errors
    /// Those of the rules and of the store.
    pub async fn create(store: &dyn Store, name: &str, now: OffsetDateTime) -> Result<Self> {
        let tx = store.begin().await?;
        let organizations = OrganizationAdministration {
            store: tx.organizations(),
            queue: tx.queue(),
            single_label_hosts: true,
        };
        let host = "suggestions.localhost".to_owned();
        let mut new = Organization::new(host, text(name), Locale::EN, now);
        let organization = organizations.create(&mut new, now).await?;
        let client = tx.clients().add(&client(organization, now)).await?;

        let space = Space::new(SpaceKind::ParticipatoryProcesses, text("Suggestions"), now);
        let space = Space { slug: Some("suggestions".to_owned()), published_at: Some(now), ..space };
        let spaces = SpaceAdministration { spaces: tx.spaces() };
        let space = spaces.create(organization, &space).await?;

        let component = Component::new(space, ComponentKind::Proposals, text("Proposals"), now);
        let component = Component { published_at: Some(now), ..component };
        let locales = Locales::standard();
        let components = ComponentAdministration {
            components: tx.components(),
            states: tx.states(),
            votes: tx.votes(),
            locales: &locales,
        };
        let component = components.create(organization, &component).await?;
        tx.commit().await?;
        Ok(Self { organization, client, component })
    }

    /// Stores a new member.
    ///
    /// # Errors
    /// `Rejected` when the nickname is taken or not valid; those of the store.
    pub async fn add_member(&self, store: &dyn Store, nickname: &str, now: OffsetDateTime) -> Result<UserId> {
        let email = format!("{nickname}@suggestions.example");
        let member = User::new(nickname.to_owned(), email, nickname.to_owned(), now);
        let tx = store.begin().await?;
        let id = UserAdministration { store: tx.users(), tokens: tx.tokens(), queue: tx.queue() }
            .create(self.organization, &member)
            .await?;
        tx.commit().await?;
        Ok(id)
    }

    /// The context of a member, who may read and make proposals.
    pub fn member(&self, member: UserId, now: OffsetDateTime) -> Ctx {
        Ctx::for_user(self.organization, self.client, member, &[WRITE_DRAFTS, READ_PROPOSALS], now)
    }
}

/// An API client that gets no tokens: the permissions are those of the [`Ctx`].
fn client(organization: OrganizationId, now: OffsetDateTime) -> ApiClient {
    ApiClient {
        uid: "suggestion_box".to_owned(),
        secret: Secret::random("key_", 32).digest(),
        name: "Suggestion box".to_owned(),
        organization: Some(organization),
        scopes: Scopes::default(),
        permissions: Abilities::default(),
        created_at: now,
        updated_at: now,
    }
}

fn text(english: &str) -> Translated {
    [(Locale::EN, english.to_owned())].into()
}
