//! The ten kinds of components (contract 01 §2.1).

use serde::{Deserialize, Serialize};

civitas_kernel::named_enum! {
    /// The kind of a component.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ComponentKind {
        /// A page.
        Pages = "pages",
        /// Proposals.
        Proposals = "proposals",
        /// Meetings.
        Meetings = "meetings",
        /// Budgets.
        Budgets = "budgets",
        /// Surveys.
        Surveys = "surveys",
        /// Results of projects.
        Accountability = "accountability",
        /// Debates.
        Debates = "debates",
        /// Blog posts.
        Blogs = "blogs",
        /// A map.
        AwesomeMap = "awesome_map",
        /// A framed page.
        AwesomeIframe = "awesome_iframe",
    }
}

impl ComponentKind {
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
