//! Participatory spaces, their steps and their components (contract 05). A space of one of four kinds has components of
//! ten kinds; a component has global settings and step settings for each step; the active step of its process
//! determines the current ones.
//!
//! ```
//! use civitas_spaces::{ComponentKind, SettingsSchema};
//!
//! let settings = SettingsSchema::for_manifest(ComponentKind::Proposals);
//! assert!(settings.get("vote_limit").is_some());
//! assert!(SettingsSchema::for_manifest(ComponentKind::Pages).get("vote_limit").is_none());
//! ```

mod admin;
mod component_kind;
mod component_order;
mod components;
#[cfg(feature = "conformance")]
pub mod conformance;
mod entries;
mod ports;
mod services;
mod settings;
mod space;

pub use admin::{SpaceAdministration, StepAdministration, component_for_record, remove_step};
pub use component_kind::ComponentKind;
pub use component_order::{ComponentMove, ComponentOrder, MovedComponent};
pub use components::{Component, ComponentDetail, ComponentWithSpaceTitle};
pub use entries::{ComponentEntry, ComponentEntryKind, ComponentEntryRef};
pub use ports::*;
pub use services::{COMPONENT_FIELDS_WITHOUT_KIND, Components, READ_COMPONENTS, READ_SPACES, Spaces};
pub use settings::{Setting, SettingDefault, SettingLevel, SettingsSchema, current_step_settings, value_of};
pub use space::{Space, SpaceDetail, Step, Visibility, check_title};
