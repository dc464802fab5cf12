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

#[cfg(feature = "contract")]
pub mod contract;
mod features;
mod model;
mod ports;
mod rules;
mod time_zones;

pub use features::{Feature, Features};
pub use model::{Organization, RegistrationMode, Tenant, is_host};
#[cfg(any(test, feature = "mocks"))]
pub use ports::MockOrganizationStore;
pub use ports::{Located, OrganizationStore};
pub use time_zones::TIME_ZONES;
