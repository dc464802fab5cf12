//! The ten kinds of components (contract 01 §2.1).

use serde::{Deserialize, Serialize};

/// The kind of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentManifest {
    /// Results of projects.
    Accountability,
    /// A framed page.
    AwesomeIframe,
    /// A map.
    AwesomeMap,
    /// Blog posts.
    Blogs,
    /// Budgets.
    Budgets,
    /// Debates.
    Debates,
    /// Meetings.
    Meetings,
    /// A page.
    Pages,
    /// Proposals.
    Proposals,
    /// Surveys.
    Surveys,
}

impl ComponentManifest {
    /// All ten, in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::Pages,
        Self::Proposals,
        Self::Meetings,
        Self::Budgets,
        Self::Surveys,
        Self::Accountability,
        Self::Debates,
        Self::Blogs,
        Self::AwesomeMap,
        Self::AwesomeIframe,
    ];

    /// The names of all ten, for filters.
    pub const NAMES: &'static [&'static str] = &[
        "pages",
        "proposals",
        "meetings",
        "budgets",
        "surveys",
        "accountability",
        "debates",
        "blogs",
        "awesome_map",
        "awesome_iframe",
    ];

    /// `manifest_name` on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accountability => "accountability",
            Self::AwesomeIframe => "awesome_iframe",
            Self::AwesomeMap => "awesome_map",
            Self::Blogs => "blogs",
            Self::Budgets => "budgets",
            Self::Debates => "debates",
            Self::Meetings => "meetings",
            Self::Pages => "pages",
            Self::Proposals => "proposals",
            Self::Surveys => "surveys",
        }
    }

    /// `component_type` on the wire: `proposal_component`, ...
    pub fn component_type(self) -> &'static str {
        match self {
            Self::Accountability => "accountability_component",
            Self::AwesomeIframe => "awesome_iframe_component",
            Self::AwesomeMap => "awesome_map_component",
            Self::Blogs => "blog_component",
            Self::Budgets => "budget_component",
            Self::Debates => "debate_component",
            Self::Meetings => "meeting_component",
            Self::Pages => "page_component",
            Self::Proposals => "proposal_component",
            Self::Surveys => "survey_component",
        }
    }

    /// The kind with this manifest name, case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.as_str() == name)
    }
}
