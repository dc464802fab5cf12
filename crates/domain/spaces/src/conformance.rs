//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod entries;
mod filters;
mod storing;
mod visibility;

pub use entries::{entries, pages_of_entries_are_of_a_kind};
pub use filters::{filters_components, filters_spaces, negations_look_at_every_translation};
pub use storing::{
    at_most_one_step_is_active, components, finds_spaces_for_administrators, isolates_organizations,
    lists_and_counts_components_of_a_space, lists_and_deletes_steps, numbers_spaces_by_kind,
    refuses_a_slug_that_is_taken, spaces, steps,
};
pub use visibility::{
    counts_components_beyond_those_it_names, lists_in_order_without_overlap, shows_components_by_the_rules,
    space_visibility_matches_the_contract, tells_when_something_changed,
};

use crate::{
    Component, ComponentEntryStore, ComponentKind, ComponentStore, Space, SpaceStore, StepStore, Visibility,
};
use async_trait::async_trait;
use civitas_kernel::testing::{service_read_context, text, viewer_read_context};
use civitas_kernel::{
    ComponentId, OrganizationId, ReadContext, Result, SpaceKind, SpaceRef, UserId, Viewer, conformance_world,
};
use time::OffsetDateTime;
use time::macros::datetime;

conformance_world! {
    /// The stores, two existing organizations, and users of the first.
    pub struct World {
        ports(
            spaces: SpaceStore, steps: StepStore, components: ComponentStore, entries: ComponentEntryStore,
            people: RoleAssigner,
        )
        /// An anonymous viewer.
        nora: UserId,
        /// Another user.
        otto: UserId,
        /// An administrator.
        admin: UserId,
    }
}

/// Gives users roles in spaces.
#[async_trait]
pub trait RoleAssigner: Send + Sync {
    /// Gives a user of the organization a role in one of its spaces.
    async fn give_role(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        user: UserId,
        role: Role,
    ) -> Result<()>;
}

/// Roles with different visibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A private member, made by an administrator.
    Member,
    /// A private member who accepted an invitation.
    InvitedMember,
    /// A user with a pending invitation to be one.
    Invited,
    /// A moderator, who is not a member.
    Moderator,
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

/// A published space.
fn space(kind: SpaceKind, title: &str) -> Space {
    Space { published_at: Some(NOW), ..Space::new(kind, text(title), NOW) }
}

/// A published component.
fn component(space: SpaceRef, kind: ComponentKind, name: &str) -> Component {
    Component { published_at: Some(NOW), ..Component::new(space, kind, text(name), NOW) }
}

impl World<'_> {
    async fn add(&self, space: &Space) -> Result<SpaceRef> {
        self.spaces.add(self.mine, space).await
    }

    async fn add_assembly(&self, title: &str, visibility: Visibility) -> Result<SpaceRef> {
        self.add(&Space { visibility, ..space(SpaceKind::Assemblies, title) }).await
    }

    async fn add_component(&self, component: &Component) -> Result<ComponentId> {
        self.components.add(self.mine, component).await
    }

    fn viewer_read_context(&self, viewer: Viewer) -> ReadContext {
        match viewer {
            Viewer::Admin(_) => service_read_context(self.mine, viewer),
            Viewer::Public | Viewer::Participant(_) => viewer_read_context(self.mine, viewer),
        }
    }
}
