//! Participatory spaces, their steps and their components (contract 05). A space of one of four kinds has components of
//! ten kinds; a component has global settings and step settings for each step; the active step of its process
//! determines the current ones.
//!
//! ```
//! use civitas_spaces::{ComponentManifest, SettingsSchema};
//!
//! let settings = SettingsSchema::of(ComponentManifest::Proposals);
//! assert!(settings.get("vote_limit").is_some());
//! assert!(SettingsSchema::of(ComponentManifest::Pages).get("vote_limit").is_none());
//! ```

mod admin;
mod component_order;
mod components;
#[cfg(feature = "conformance")]
pub mod conformance;
mod entries;
mod manifest;
mod ports;
pub mod refusals;
mod services;
mod settings;
mod space;

pub use admin::{SpaceAdmin, StepAdmin, component_for_record, remove_step};
pub use component_order::{ComponentOrder, Move, Moved};
pub use components::{Component, ComponentDetail, TitledComponent};
pub use entries::{Entry, EntryKind, EntryRef};
pub use manifest::ComponentManifest;
pub use ports::*;
pub use services::{Components, READ_COMPONENTS, READ_SPACES, Spaces, TYPED_COMPONENT_FIELDS};
pub use settings::{
    Default as SettingDefault, Level, Setting, SettingsSchema, current_step_settings, value_of,
};
pub use space::{Space, SpaceDetail, Step, Visibility, check_title};
