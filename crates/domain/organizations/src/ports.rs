//! Ports: what this crate needs from outside.

use crate::{MoveState, Organization, Tenant};
use async_trait::async_trait;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, Page, PageRequest, Result, filter_fields};
use std::net::IpAddr;

/// The meaning of a host.
#[derive(Debug, Clone, PartialEq)]
pub enum HostMatch {
    /// It is the primary host of this organization.
    Primary(Tenant),
    /// It is a secondary host; requests belong to this primary one.
    Secondary {
        /// The primary host to redirect to.
        primary: String,
    },
}

/// What an organization has. Each is counted up to [`Self::MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrganizationFigures {
    /// Participatory spaces.
    pub spaces: i64,
    /// Components; not deleted ones.
    pub components: i64,
    /// Users; not deleted ones.
    pub users: i64,
    /// API clients.
    pub clients: i64,
}

impl OrganizationFigures {
    /// Counting stops at this number, which means: more than 10,000.
    pub const MAX_COUNT: i64 = 10_001;
}

filter_fields! {
    /// The fields for filters of organizations (contract 01 §6.2).
    pub enum OrganizationField = ORGANIZATION_FIELDS, OrganizationFilter {
        Id: "id", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

/// Which organizations a list has, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrganizationQuery {
    /// By ascending id: all, or only this one, that satisfy these filters.
    ById(Option<OrganizationId>, Vec<OrganizationFilter>),
    /// By the name in the main language of each, then by id: all, or those with a name, in any language, or a primary host
    /// that contains this text, in any case. No index serves it: it reads all organizations, some thousands at most.
    ByName(Option<String>),
}

/// The store of organizations.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OrganizationStore: Send + Sync {
    /// Looks up a host (lower case, no port). A host that is not confirmed is not found.
    async fn locate(&self, host: &str) -> Result<Option<HostMatch>>;
    /// The part of an organization that requests need.
    async fn tenant(&self, id: OrganizationId) -> Result<Option<Tenant>>;
    /// The organization.
    async fn find(&self, id: OrganizationId) -> Result<Option<Organization>>;
    /// The organization, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(&self, id: OrganizationId) -> Result<Option<Organization>>;
    /// Organizations, in the order of the query.
    async fn list(
        &self,
        query: &OrganizationQuery,
        page: PageRequest,
    ) -> Result<Page<(OrganizationId, Organization)>>;
    /// Those of these hosts (lower case) that another organization has, of any kind: not those whose checks have ended
    /// without success ([`Self::release_hosts`]).
    async fn taken_hosts(&self, own: Option<OrganizationId>, hosts: &[String]) -> Result<Vec<String>>;
    /// Those of these texts that are another organization's name in some language, case-insensitively.
    async fn taken_names(&self, own: Option<OrganizationId>, texts: &[String]) -> Result<Vec<String>>;
    /// The organization with this primary host.
    async fn find_by_host(&self, host: &str) -> Result<Option<OrganizationId>>;
    /// Stores a new one, and records its event. `Rejected` when one of its hosts or names is taken. Hosts that another
    /// organization has released are taken from it; that changes it.
    async fn add(&self, organization: &Organization) -> Result<OrganizationId>;
    /// Stores a new state, and records its event; as [`Self::add`].
    async fn save(&self, id: OrganizationId, change: &Change<Organization>) -> Result<()>;
    /// Lets other organizations take those of these hosts that are not confirmed: their checks have ended without success.
    /// They stay its own until then, and released until it is stored without them.
    async fn release_hosts(&self, id: OrganizationId, hosts: &[String]) -> Result<()>;
    /// Sets the state of a move; `None`: it is served here. `NotFound` when there is no such organization.
    async fn set_move_state(&self, id: OrganizationId, state: Option<MoveState>) -> Result<()>;
    /// The confirmed hosts of the organizations that are served here, in their order, at most `limit` after `after`.
    async fn served_hosts(&self, after: &str, limit: i64) -> Result<Vec<String>>;
    /// All ids in ascending order, at most `limit` after `after`.
    async fn ids(&self, after: Option<OrganizationId>, limit: i64) -> Result<Vec<OrganizationId>>;
}

/// Resolves host names and addresses.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait HostResolver: Send + Sync {
    /// The addresses (A and AAAA) of a name; none where there is no such name.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>>;
    /// The names (PTR) of an address, in lower case, without the last dot.
    async fn names(&self, address: IpAddr) -> Result<Vec<String>>;
}
