//! The feature switches of an organization (contract 01 §4).

use serde::{Deserialize, Serialize};

/// The switches of one organization. All are on by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "ten independent switches, named as in the contract")]
pub struct Features {
    /// The master switch: off, every route of the interface answers 501.
    pub enabled: bool,
    /// Proposals, drafts, votes, proposal components.
    pub proposals_enabled: bool,
    /// Blog posts and blog components.
    pub blogs_enabled: bool,
    /// Debates.
    pub debates_enabled: bool,
    /// Surveys.
    pub surveys_enabled: bool,
    /// Questionnaires, questions, options, answers, responses.
    pub forms_enabled: bool,
    /// Meetings.
    pub meetings_enabled: bool,
    /// Attachments.
    pub attachments_enabled: bool,
    /// Budgets.
    pub budgets_enabled: bool,
    /// Accountability.
    pub accountabilities_enabled: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            enabled: true,
            proposals_enabled: true,
            blogs_enabled: true,
            debates_enabled: true,
            surveys_enabled: true,
            forms_enabled: true,
            meetings_enabled: true,
            attachments_enabled: true,
            budgets_enabled: true,
            accountabilities_enabled: true,
        }
    }
}

/// A part of the interface that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `proposals`
    Proposals,
    /// `blogs`
    Blogs,
    /// `debates`
    Debates,
    /// `surveys`
    Surveys,
    /// `forms`
    Forms,
    /// `meetings`
    Meetings,
    /// `attachments`
    Attachments,
    /// `budgets`
    Budgets,
    /// `accountabilities`
    Accountabilities,
}

impl Feature {
    /// The feature a path below `{base}` belongs to, by its first segments.
    pub fn from_path(path: &str) -> Option<Self> {
        let mut segments = path.trim_start_matches('/').split('/');
        Some(match (segments.next()?, segments.next()) {
            ("proposals" | "draft_proposals" | "vote_proposals", _)
            | ("components", Some("proposal_components")) => Self::Proposals,
            ("blogs", _) | ("components", Some("blog_components")) => Self::Blogs,
            ("meetings", _) => Self::Meetings,
            ("attachments", _) => Self::Attachments,
            (
                "questionnaires"
                | "questions"
                | "answers"
                | "answer_options"
                | "questionnaire_responses"
                | "submission_requests",
                _,
            ) => Self::Forms,
            ("surveys", _) => Self::Surveys,
            ("debates", _) => Self::Debates,
            ("budgets", _) => Self::Budgets,
            ("accountability" | "accountabilities", _) => Self::Accountabilities,
            _ => return None,
        })
    }
}

impl Features {
    /// Whether a feature is available: it and the master switch are on.
    pub fn is_on(&self, feature: Feature) -> bool {
        self.enabled
            && match feature {
                Feature::Proposals => self.proposals_enabled,
                Feature::Blogs => self.blogs_enabled,
                Feature::Debates => self.debates_enabled,
                Feature::Surveys => self.surveys_enabled,
                Feature::Forms => self.forms_enabled,
                Feature::Meetings => self.meetings_enabled,
                Feature::Attachments => self.attachments_enabled,
                Feature::Budgets => self.budgets_enabled,
                Feature::Accountabilities => self.accountabilities_enabled,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_its_feature_and_search_to_none() {
        assert_eq!(Feature::from_path("/vote_proposals/3"), Some(Feature::Proposals));
        assert_eq!(Feature::from_path("/components/blog_components/3"), Some(Feature::Blogs));
        assert_eq!(Feature::from_path("/components/search"), None);
        assert_eq!(Feature::from_path("/jobs"), None);
    }
}
