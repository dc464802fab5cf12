//! API clients (contract 02 §1).

use crate::{Digest, Secret};
use civitas_kernel::records::Entity;
use civitas_kernel::{Abilities, Ability, ClientId, OrganizationId, Scope, Scopes};
use time::OffsetDateTime;

/// The scopes of a client that belongs to no organization.
pub const DEPLOYMENT_WIDE: [Scope; 1] = [Scope::System];

/// A program that calls the interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiClient {
    /// Its public name, unique in the deployment, at least 8 characters: the OAuth `client_id`.
    pub uid: String,
    /// The digest of its secret.
    pub secret: Digest,
    /// Its display name.
    pub name: String,
    /// Its organization; `None` for a deployment-wide client, whose scopes are exactly `system`.
    pub organization: Option<OrganizationId>,
    /// The scopes it owns; fixed at creation.
    pub scopes: Scopes,
    /// The abilities and event permissions it holds.
    pub permissions: Abilities,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When its permissions were last changed.
    pub updated_at: OffsetDateTime,
}

impl ApiClient {
    /// The shortest `client_id`, in characters.
    pub const MIN_UID: usize = 8;

    /// A new client without permissions.
    pub fn new(
        uid: String,
        secret: Digest,
        name: String,
        organization: Option<OrganizationId>,
        scopes: Scopes,
        now: OffsetDateTime,
    ) -> Self {
        let permissions = Abilities::default();
        Self { uid, secret, name, organization, scopes, permissions, created_at: now, updated_at: now }
    }

    /// Whether the client can get tokens on the host of this organization.
    pub fn serves(&self, organization: OrganizationId) -> bool {
        self.organization.is_none_or(|own| own == organization)
    }

    /// Whether the client may be granted this ability: it owns the scope of the ability (contract 04 §4).
    pub fn may_hold(&self, ability: Ability) -> bool {
        ability.scope().is_none_or(|scope| self.scopes.has(scope))
    }
}

impl Entity for ApiClient {
    type Id = ClientId;

    civitas_kernel::time_fields!(updated_at);

    /// A digest of the permissions: a form shows and sets nothing else.
    fn revision(&self) -> String {
        Secret::new(self.permissions.to_string()).digest().as_str().to_owned()
    }
}
