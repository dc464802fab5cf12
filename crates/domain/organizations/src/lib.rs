//! Organizations: the tenants of a deployment, chosen by the host of a request (contract 01 §1, 03 §1).
//!
//! ```
//! use civitas_organizations::{Feature, Features};
//!
//! let mut features = Features::default();
//! assert!(features.is_on(Feature::Blogs), "everything is on until it is switched off");
//! features.enabled = false;
//! assert!(!features.is_on(Feature::Blogs), "the master switch wins");
//! ```

mod admin;
mod authority;
#[cfg(feature = "conformance")]
pub mod conformance;
mod features;
mod host_check;
mod model;
mod ports;
mod rules;
mod service;
mod time_zones;
mod update;

pub use admin::OrganizationAdministration;
pub use authority::{host_in_address, host_of, split_authority};
pub use features::{Feature, Features};
pub use host_check::{CheckHost, HOST_CHECK_INTERVAL, HostCheck, MAX_HOST_CHECK_ATTEMPTS, confirm};
pub use model::{MoveState, Organization, RegistrationMode, Tenant, is_host};
pub use ports::*;
pub use service::{
    Organizations, READ_ORGANIZATIONS, UPDATE_ORGANIZATIONS, UpdateOrganization, UpdatedOrganization,
};
pub use time_zones::TIME_ZONES;
