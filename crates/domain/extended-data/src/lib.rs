//! Free data of clients for organizations, users, spaces, components, proposals and meetings (contract 01 §11): one
//! algorithm, one use case, one port.
//!
//! ```
//! use civitas_extended_data::ObjectPath;
//! use serde_json::{Value, json};
//!
//! let kept = json!({"phone": {"home": "+33"}}).as_object().cloned().unwrap_or_default();
//! let path = ObjectPath::parse("phone.work").unwrap();
//! let written = path.write(kept, json!("+41")).unwrap();
//! assert_eq!(Value::Object(written), json!({"phone": {"home": "+33", "work": "+41"}}));
//! ```

mod admin;
#[cfg(feature = "conformance")]
pub mod conformance;
mod owner;
mod path;
mod ports;
mod service;

pub use admin::DataReplacement;
pub use owner::{
    ComponentExtendedData, ExtendedDataKind, ExtendedDataOwner, MeetingExtendedData,
    OrganizationExtendedData, ProposalExtendedData, SpaceExtendedData, UserExtendedData,
};
pub use path::ObjectPath;
pub use ports::*;
pub use service::{ExtendedDataService, SetExtendedData};
