//! The record in the result of a command, so that its events need not load it again.

use civitas_accounts::RoleDetail;
use civitas_accounts::magic_links::NewMagicLink;
use civitas_attachments::{AttachmentDetail, StagedUpload};
use civitas_blogs::PostDetail;
use civitas_kernel::VoteId;
use civitas_organizations::UpdatedOrganization;
use civitas_proposals::{CastResult, ProposalDetail, UpdatedDraft, Vote};
use civitas_surveys::{AnswerOptionDetail, Form, QuestionDetail, QuestionnaireDetail, ResponseDetail};
use serde_json::Value;

/// A record that was saved in this transaction, in its current state.
#[derive(Debug, Clone, Copy)]
pub enum SavedRecord<'a> {
    /// A proposal or a draft, as visible to the caller.
    Proposal(&'a ProposalDetail),
}

/// The result of a command.
pub trait CommandOutput: Send {
    /// The record of the command's events, if it is in the result. `None`: views load it.
    fn loaded(&self) -> Option<SavedRecord<'_>> {
        None
    }
}

impl CommandOutput for ProposalDetail {
    fn loaded(&self) -> Option<SavedRecord<'_>> {
        Some(SavedRecord::Proposal(self))
    }
}

impl CommandOutput for UpdatedDraft {
    fn loaded(&self) -> Option<SavedRecord<'_>> {
        Some(SavedRecord::Proposal(&self.draft))
    }
}

impl CommandOutput for CastResult {}
impl CommandOutput for (VoteId, Vote) {}
impl CommandOutput for PostDetail {}
impl CommandOutput for AttachmentDetail {}
impl CommandOutput for StagedUpload {}
impl CommandOutput for (QuestionnaireDetail, Form) {}
impl CommandOutput for QuestionDetail {}
impl CommandOutput for AnswerOptionDetail {}
impl CommandOutput for ResponseDetail {}
impl CommandOutput for RoleDetail {}
impl CommandOutput for NewMagicLink {}
impl CommandOutput for UpdatedOrganization {}
/// Extended data.
impl CommandOutput for Value {}
/// Commands without a result.
impl CommandOutput for () {}
