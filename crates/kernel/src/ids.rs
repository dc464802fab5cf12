//! Typed ids, so that ids of different tables cannot be confused.

use uuid::Uuid;

/// Declares types of ids: `ids! { i64: /// A blog post. PostId, }`. The crate that uses it depends on `serde`.
#[macro_export]
macro_rules! ids {
    ($inner:ty: $($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
    )+};
}

ids! { i64:
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
    /// A step of a participatory process.
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
    /// An upload that a client requested.
    UploadId,
    /// A file or a link attached to a record.
    AttachmentId,
    /// A collection of attachments of one record.
    CollectionId,
    /// An address of a client that receives events.
    RegistrationId,
}

ids! { Uuid:
    /// A job: a random UUID, because the id gives the right to read the job (contract 09 A.2).
    JobId,
    /// A task of the platform. A task that replaces another one has a new id.
    TaskId,
}

/// A new job's id, from a cryptographic random source.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn random_job_id() -> JobId {
    JobId(Uuid::new_v4())
}

/// 244 random bits from a cryptographic source, as 64 hexadecimal digits. The text itself gives a right.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn random_key() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// An id that sorts by time of creation: for internal rows, not for secrets.
#[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
pub fn sortable_id() -> Uuid {
    Uuid::now_v7()
}
