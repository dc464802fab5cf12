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
use super::kind::{
    Import, ImportResult, OrganizationRecordKind, RecordKind, RecordStore, Rows, StoredRecord,
};
use super::members::{Timestamp, required};
use super::output::PAGE;
use super::person::ExportedPerson;
use super::table::members;
use async_trait::async_trait;
use civitas_application::Ports;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, PatchField, Result, Translated};
use civitas_spaces::ComponentEntryKind;
use serde_json::{Map, Value};

/// The type that all others belong to.
pub(super) const ORGANIZATION: &str = "organization";

/// All types, parents before children: the order in which they are exported.
pub(super) fn all_record_types() -> Vec<Box<dyn RecordType>> {
    vec![
        Box::new(system_admin::SystemAdminRecordType),
        Box::new(organization::OrganizationRecordType),
        Box::new(user::UserRecordType),
        Box::new(api_client::ApiClientRecordType),
        Box::new(webhook_registration::WebhookRegistrationRecordType),
        Box::new(space::SpaceRecordType),
        Box::new(step::StepRecordType),
        Box::new(role::RoleRecordType),
        Box::new(component::ComponentRecordType),
        Box::new(proposal_state::ProposalStateRecordType),
        Box::new(proposal::ProposalRecordType::new()),
        Box::new(vote::VoteRecordType::new()),
        Box::new(meeting::MeetingRecordType),
        Box::new(post::PostRecordType),
        Box::new(survey::SurveyRecordType),
        Box::new(questionnaire::QuestionnaireRecordType),
        Box::new(question::QuestionRecordType),
        Box::new(answer_option::AnswerOptionRecordType),
        Box::new(display_condition::DisplayConditionRecordType),
        Box::new(questionnaire_response::ResponseRecordType::new()),
        Box::new(attachment_collection::CollectionRecordType),
        Box::new(attachment::AttachmentRecordType::new()),
        Box::new(entry::ComponentEntryRecordType(ComponentEntryKind::Page)),
        Box::new(entry::ComponentEntryRecordType(ComponentEntryKind::Budget)),
        Box::new(entry::ComponentEntryRecordType(ComponentEntryKind::Result)),
        Box::new(entry::ComponentEntryRecordType(ComponentEntryKind::Debate)),
    ]
}

/// The types with records of a person. Attachments come after the records that they belong to.
pub(super) fn person_record_types() -> Vec<Box<dyn RecordType>> {
    vec![
        Box::new(user::UserRecordType),
        Box::new(role::RoleRecordType),
        Box::new(proposal::ProposalRecordType::new()),
        Box::new(vote::VoteRecordType::new()),
        Box::new(meeting::MeetingRecordType),
        Box::new(post::PostRecordType),
        Box::new(questionnaire_response::ResponseRecordType::new()),
        Box::new(attachment::AttachmentRecordType::new()),
    ]
}

/// The type of this name.
pub(super) fn find_record_type<'a>(
    types: &'a mut [Box<dyn RecordType>],
    name: &str,
) -> Option<&'a mut dyn RecordType> {
    types.iter_mut().find(|kind| kind.name() == name).map(|kind| &mut **kind as &mut dyn RecordType)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_name() {
        let mut types = all_record_types();
        for kind in all_record_types() {
            assert_eq!(find_record_type(&mut types, kind.name()).map(|kind| kind.name()), Some(kind.name()));
        }
        assert!(find_record_type(&mut types, "access_token").is_none(), "tokens arise from use only");
    }
}
