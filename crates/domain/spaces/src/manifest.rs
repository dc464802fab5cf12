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

civitas_kernel::names! {
    ComponentManifest {
        Pages = "pages",
        Proposals = "proposals",
        Meetings = "meetings",
        Budgets = "budgets",
        Surveys = "surveys",
        Accountability = "accountability",
        Debates = "debates",
        Blogs = "blogs",
        AwesomeMap = "awesome_map",
        AwesomeIframe = "awesome_iframe",
    }
}

impl ComponentManifest {
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
}
