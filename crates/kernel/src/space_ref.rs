//! The reference to a participatory space: kind and number.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The four kinds of participatory spaces (contract 05 §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpaceKind {
    /// `assemblies`
    Assemblies,
    /// `conferences`
    Conferences,
    /// `initiatives`
    Initiatives,
    /// `participatory_processes`
    ParticipatoryProcesses,
}

crate::named_enum! {
    SpaceKind {
        ParticipatoryProcesses = "participatory_processes",
        Assemblies = "assemblies",
        Conferences = "conferences",
        Initiatives = "initiatives",
    }
}

impl SpaceKind {
    /// The class name on the wire: `Platform::ParticipatoryProcess`, ...
    pub fn class(self) -> &'static str {
        match self {
            Self::Assemblies => "Platform::Assembly",
            Self::Conferences => "Platform::Conference",
            Self::Initiatives => "Platform::Initiative",
            Self::ParticipatoryProcesses => "Platform::ParticipatoryProcess",
        }
    }

    /// The kind with this class name, case-sensitive.
    pub fn from_class(class: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.class() == class)
    }
}

/// One participatory space. Numbers are unique per kind only: an assembly 1 and a process 1 are two spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpaceRef {
    /// The kind: `manifest` in stored commands.
    #[serde(rename = "manifest")]
    pub kind: SpaceKind,
    /// The number among the spaces of that kind.
    pub id: i64,
}

/// `assemblies/3`
impl fmt::Display for SpaceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.as_str(), self.id)
    }
}
