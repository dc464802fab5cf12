//! The record types, one file each.

mod answer_option;
mod api_client;
mod attachment;
mod attachment_collection;
mod component;
mod display_condition;
mod entry;
mod meeting;
mod organization;
mod password;
mod post;
mod proposal;
mod proposal_state;
mod question;
mod questionnaire;
mod questionnaire_response;
mod role;
mod space;
mod step;
mod survey;
mod system_admin;
mod user;
mod vote;
mod webhook_registration;

use super::context::{ExportSource, ImportContext, RecordType};
use super::kind::{Import, Imported, KindStore, OrganizationKind, RecordKind, Rows, StoredRecord};
use super::members::{Moment, required};
use super::output::PAGE;
use super::person::Person;
use super::table::members;
use async_trait::async_trait;
use civitas_application::Ports;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::records::Change;
use civitas_kernel::{Field, OrganizationId, Result, Translated};
use civitas_spaces::EntryKind;
use serde_json::{Map, Value};

/// The type that all others belong to.
pub(super) const ORGANIZATION: &str = "organization";

/// All types, parents before children: the order in which they are exported.
pub(super) fn all() -> Vec<Box<dyn RecordType>> {
    vec![
        Box::new(system_admin::SystemAdmins),
        Box::new(organization::Organizations),
        Box::new(user::Users),
        Box::new(api_client::ApiClients),
        Box::new(webhook_registration::WebhookRegistrations),
        Box::new(space::Spaces),
        Box::new(step::Steps),
        Box::new(role::Roles),
        Box::new(component::Components),
        Box::new(proposal_state::ProposalStates),
        Box::new(proposal::Proposals::new()),
        Box::new(vote::Votes::new()),
        Box::new(meeting::Meetings),
        Box::new(post::Posts),
        Box::new(survey::Surveys),
        Box::new(questionnaire::Questionnaires),
        Box::new(question::Questions),
        Box::new(answer_option::AnswerOptions),
        Box::new(display_condition::DisplayConditions),
        Box::new(questionnaire_response::Responses::new()),
        Box::new(attachment_collection::Collections),
        Box::new(attachment::Attachments::new()),
        Box::new(entry::Entries(EntryKind::Page)),
        Box::new(entry::Entries(EntryKind::Budget)),
        Box::new(entry::Entries(EntryKind::Result)),
        Box::new(entry::Entries(EntryKind::Debate)),
    ]
}

/// The types with records of a person. Attachments come after the records that they belong to.
pub(super) fn of_person() -> Vec<Box<dyn RecordType>> {
    vec![
        Box::new(user::Users),
        Box::new(role::Roles),
        Box::new(proposal::Proposals::new()),
        Box::new(vote::Votes::new()),
        Box::new(meeting::Meetings),
        Box::new(post::Posts),
        Box::new(questionnaire_response::Responses::new()),
        Box::new(attachment::Attachments::new()),
    ]
}

/// The type of this name.
pub(super) fn find<'a>(types: &'a mut [Box<dyn RecordType>], name: &str) -> Option<&'a mut dyn RecordType> {
    types.iter_mut().find(|kind| kind.name() == name).map(|kind| &mut **kind as &mut dyn RecordType)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_name() {
        let mut types = all();
        for kind in all() {
            assert_eq!(find(&mut types, kind.name()).map(|kind| kind.name()), Some(kind.name()));
        }
        assert!(find(&mut types, "access_token").is_none(), "tokens arise from use only");
    }
}
