//! Typed ids, so that ids of different tables cannot be confused.

use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

macro_rules! integer_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

integer_ids! {
    /// An organization: one tenant of the deployment.
    OrganizationId,
    /// An account in one organization.
    UserId,
    /// An account of the system panel, which belongs to no organization.
    AdministratorId,
    /// An API client, by its internal number (its public name is the text `client_id`).
    ClientId,
    /// An access token; the `sub` of its JWT.
    TokenId,
    /// A component of a participatory space.
    ComponentId,
    /// A step (phase) of a participatory process.
    StepId,
    /// A state a proposals component owns (`accepted`, ...).
    StateId,
    /// A proposal, draft or public.
    ProposalId,
    /// A vote on a proposal.
    VoteId,
    /// A meeting.
    MeetingId,
    /// A blog post.
    PostId,
    /// A survey: the record of a component that has questionnaires.
    SurveyId,
    /// A questionnaire of a survey or a meeting.
    QuestionnaireId,
    /// A question of a questionnaire.
    QuestionId,
    /// An answer option of a question.
    AnswerOptionId,
    /// A row of a question with a matrix.
    MatrixRowId,
    /// A display condition of a question.
    DisplayConditionId,
    /// A submission to a questionnaire. Clients see the lowest id of its answers instead.
    ResponseId,
    /// An answer to one question, a row of a submission.
    AnswerId,
    /// A link that signs a user in once.
    MagicLinkId,
    /// A file in the file store.
    FileId,
    /// An upload that a client announced.
    UploadId,
    /// A file or a link attached to a record.
    AttachmentId,
    /// A collection of attachments of one record.
    CollectionId,
    /// An address of a client that receives events.
    RegistrationId,
}

/// A job: a random UUID, because the id gives the right to read the job (contract 09 A.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub Uuid);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task of the platform. A task that replaces another one has a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub Uuid);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A new job's id, from a cryptographic random source.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn random_job_id() -> JobId {
    JobId(Uuid::new_v4())
}

/// 244 random bits from a cryptographic source, as 64 hexadecimal digits: whoever has the text has a right.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn random_key() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// An id that sorts by time of creation: for internal rows, not for secrets.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn sortable_id() -> Uuid {
    Uuid::now_v7()
}
