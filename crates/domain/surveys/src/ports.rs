//! Ports: what this crate needs from outside.

use crate::{
    AnswerDetail, AnswerOption, DisplayCondition, Form, Question, Questionnaire, QuestionnaireDetail,
    QuestionnaireSearch, QuestionnaireSummary, Response, ResponseDetail, Survey,
};
use async_trait::async_trait;
use civitas_kernel::filter::{FieldKind, RawFilter, RawValue};
use civitas_kernel::records::Records;
use civitas_kernel::{
    AnswerId, AnswerOptionId, ClientId, ComponentId, DisplayConditionId, LogPage, LogRequest, OrganizationId,
    Page, PageRequest, QuestionId, QuestionnaireId, ReadContext, ResponseId, Result, SpaceKind, SpaceRef,
    UserId, filter_fields, store,
};
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of questionnaires (contract 08 §4.1, 01 §6.2).
    pub enum QuestionnaireField = QUESTIONNAIRE_FIELDS, QuestionnaireFilter {
        Id: "questionnaire_id" | "id", FieldKind::Integer;
        Component: "component_id", FieldKind::Integer;
        /// The number of the space; spaces of each kind have their own numbers.
        Space: "participatory_space_id", FieldKind::Integer;
        /// The kind of the space, by its name or class name.
        SpaceType: "participatory_space_type", FieldKind::Enum(SPACE_TYPES);
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

filter_fields! {
    /// The fields for filters of questions and answer options (contract 01 §6.2), which have no times.
    pub enum FormField = FORM_FIELDS, FormFilter {
        Id: "id", FieldKind::Integer;
    }
}

filter_fields! {
    /// The fields for filters of answers (contract 01 §6.2).
    pub enum AnswerField = ANSWER_FIELDS, AnswerFilter {
        Id: "id", FieldKind::Integer;
        /// The time of the submission: answers do not change.
        CreatedAt: "created_at" | "updated_at", FieldKind::Time;
    }
}

/// The kinds of spaces in filters: names, class names, and class names of an older product.
const SPACE_TYPES: &[&str] = &[
    "participatory_processes",
    "assemblies",
    "conferences",
    "initiatives",
    "Platform::ParticipatoryProcess",
    "Platform::Assembly",
    "Platform::Conference",
    "Platform::Initiative",
    "Decidim::ParticipatoryProcess",
    "Decidim::Assembly",
    "Decidim::Conference",
    "Decidim::Initiative",
];

/// The kind of space of one of [`SPACE_TYPES`].
pub fn space_type(name: &str) -> Option<SpaceKind> {
    let class = name.rsplit("::").next().unwrap_or(name);
    let is_class = |kind: &SpaceKind| kind.class().rsplit("::").next() == Some(class);
    SpaceKind::parse(name).or_else(|| SpaceKind::ALL.into_iter().find(is_class))
}

/// Parses the filters of the list. A list without a predicate, `filter[component_id][]=1`, means `_in`.
///
/// # Errors
/// Those of [`civitas_kernel::filter::read_filters`].
pub(crate) fn read_questionnaire_filters(raw: &RawFilter) -> Result<Vec<QuestionnaireFilter>> {
    let is_bare = |key: &str| QUESTIONNAIRE_FIELDS.iter().any(|field| field.name == key);
    let filters = raw.values.iter().map(|(key, value)| match value {
        RawValue::Many(_) if is_bare(key) => (format!("{key}_in"), value.clone()),
        _ => (key.clone(), value.clone()),
    });
    civitas_kernel::filter::read_filters(
        QUESTIONNAIRE_FIELDS,
        &RawFilter { values: filters.collect(), ..*raw },
    )
}

store! {
    /// Stores surveys.
    pub trait SurveyStore: Records<Survey> {}
}

store! {
    /// Stores questionnaires.
    pub trait QuestionnaireStore: Records<Questionnaire> {
        /// The visible questionnaires, last changed first, each with its form (contract 08 §4.1).
        async fn list(&self, read_context: ReadContext, filters: &[QuestionnaireFilter], page: PageRequest)
        -> Result<Page<(QuestionnaireDetail, Form)>>;

        /// The questionnaire, if it is visible: its component is, and the survey or meeting it belongs to.
        async fn find_visible(&self, read_context: ReadContext, id: QuestionnaireId)
        -> Result<Option<QuestionnaireDetail>>;

        /// The form of the questionnaire; an empty one without questions.
        async fn form(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<Form>;

        /// Locks the questionnaire and its questions against changes until the transaction ends. Submissions do not
        /// exclude each other. Whether there is a questionnaire.
        async fn lock_for_submission(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<bool>;

        /// The questionnaires of the organization that satisfy the search, visible or not. Those of deleted surveys,
        /// meetings and components are left out. For administrators.
        async fn search(&self, organization: OrganizationId, search: &QuestionnaireSearch, page: PageRequest)
        -> Result<Page<QuestionnaireSummary>>;

        /// The questionnaire, visible or not, unless its survey, its meeting or its component is deleted. For
        /// administrators.
        async fn find_stored(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<Option<Questionnaire>>;

        /// One questionnaire as [`Self::search`] lists it.
        async fn summary(&self, organization: OrganizationId, id: QuestionnaireId)
        -> Result<Option<QuestionnaireSummary>>;

        /// Sets the time of the last change: a question, an option, a row or a condition changed.
        async fn touch(&self, organization: OrganizationId, id: QuestionnaireId, now: OffsetDateTime) -> Result<()>;
    }
}

store! {
    /// Stores questions, with their rows.
    pub trait QuestionStore: Records<Question> {
        /// The questions of a questionnaire, in their order. The order of a time is that of ids: they have no times.
        async fn list(
            &self,
            organization: OrganizationId,
            questionnaire: QuestionnaireId,
            filters: &[FormFilter],
            page: PageRequest,
        ) -> Result<Page<(QuestionId, Question)>>;

        /// How many questions a questionnaire has.
        async fn count(&self, organization: OrganizationId, questionnaire: QuestionnaireId) -> Result<i64>;

        /// Whether the question has answers, also empty ones.
        async fn has_answers(&self, organization: OrganizationId, id: QuestionId) -> Result<bool>;

        /// How many answers the question has, also empty ones; at most [`crate::MAX_COUNTED`].
        async fn count_answers(&self, organization: OrganizationId, id: QuestionId) -> Result<i64>;

        /// The ids of its answers that have files.
        async fn answers_with_files(&self, organization: OrganizationId, id: QuestionId) -> Result<Vec<AnswerId>>;

        /// Deletes the question with its options, rows and answers, all conditions that refer to it, and responses
        /// that have no answers then.
        ///
        /// # Errors
        /// `NotFound` when there is none.
        async fn remove(&self, organization: OrganizationId, id: QuestionId) -> Result<()>;
    }
}

store! {
    /// Stores answer options.
    pub trait AnswerOptionStore: Records<AnswerOption> {
        /// The options of a question, in the order of ids. The order of a time is the same: they have no times.
        async fn list(
            &self,
            organization: OrganizationId,
            question: QuestionId,
            filters: &[FormFilter],
            page: PageRequest,
        ) -> Result<Page<(AnswerOptionId, AnswerOption)>>;

        /// How many options a question has.
        async fn count(&self, organization: OrganizationId, question: QuestionId) -> Result<i64>;

        /// Deletes the option; conditions that refer to it lose it.
        ///
        /// # Errors
        /// `NotFound` when there is none.
        async fn remove(&self, organization: OrganizationId, id: AnswerOptionId) -> Result<()>;
    }
}

store! {
    /// Stores display conditions.
    pub trait DisplayConditionStore: Records<DisplayCondition> {
        /// The conditions of a question, in the order of ids: as in its form.
        async fn list_of_question(&self, organization: OrganizationId, question: QuestionId)
        -> Result<Vec<(DisplayConditionId, DisplayCondition)>>;

        /// Deletes the condition.
        ///
        /// # Errors
        /// `NotFound` when there is none.
        async fn remove(&self, organization: OrganizationId, id: DisplayConditionId) -> Result<()>;
    }
}

store! {
    /// Stores responses, with their answers. To add a second response with the same session token is
    /// [`crate::already_answered_error`].
    pub trait ResponseStore: Records<Response> {
        /// The response that has an answer of this id.
        async fn find_by_answer(&self, organization: OrganizationId, id: AnswerId)
        -> Result<Option<(ResponseId, ResponseDetail)>>;

        /// The ids of the answers of a response, by question, in ascending order of the ids.
        async fn answer_ids(&self, organization: OrganizationId, id: ResponseId) -> Result<Vec<(QuestionId, AnswerId)>>;

        /// Gives answers of a response these ids, by question. They must be free, and the answers without files.
        ///
        /// # Errors
        /// `NotFound` when the response has no answer to one of the questions.
        async fn set_answer_ids(&self, organization: OrganizationId, id: ResponseId, ids: &[(QuestionId, AnswerId)])
        -> Result<()>;

        /// Sets the value of an answer.
        async fn set_value(&self, organization: OrganizationId, id: AnswerId, value: &serde_json::Value) -> Result<()>;

        /// The answers to a questionnaire, newest first. `user`: only those of this user.
        async fn list_answers(
            &self,
            organization: OrganizationId,
            questionnaire: QuestionnaireId,
            user: Option<UserId>,
            filters: &[AnswerFilter],
            page: PageRequest,
        ) -> Result<Page<AnswerDetail>>;

        /// The responses to a questionnaire with their answers, by time and id, the newest first.
        async fn log(
            &self,
            organization: OrganizationId,
            questionnaire: QuestionnaireId,
            request: &LogRequest<ResponseId>,
        ) -> Result<LogPage<(ResponseId, ResponseDetail)>>;

        /// Deletes the response with its answers.
        ///
        /// # Errors
        /// `NotFound` when there is none.
        async fn remove(&self, organization: OrganizationId, id: ResponseId) -> Result<()>;
    }
}

/// The state of an account that may be a respondent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Respondent {
    /// Whether it is blocked.
    pub blocked: bool,
}

/// Reads users for questionnaires.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SurveyLookup: Send + Sync {
    /// Whether the user administers the space by a role in it.
    async fn administers(&self, organization: OrganizationId, user: UserId, space: SpaceRef) -> Result<bool>;
    /// The account; `None` if there is none or it is deleted.
    async fn respondent(&self, organization: OrganizationId, user: UserId) -> Result<Option<Respondent>>;
    /// Whether the organization has a component of this id that is of the kind `surveys` and not deleted.
    async fn has_surveys(&self, organization: OrganizationId, component: ComponentId) -> Result<bool>;
}

/// A file of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFile {
    /// The id of the attachment, as the value of the answer names it.
    pub attachment: i64,
    /// The name of the file in addresses.
    pub key: String,
    /// Its name for people.
    pub filename: String,
    /// Its length in bytes.
    pub byte_size: i64,
}

/// The files of answers. Uploads are named by their signed ids (contract 07 B.6).
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait AnswerFiles: Send + Sync {
    /// Those of these signed ids that cannot be attached to an answer: unknown, of another client or organization, not
    /// uploaded, expired, consumed, or of a type that participants may not upload. Consumes none.
    async fn list_unusable_ids(
        &self,
        organization: OrganizationId,
        client: ClientId,
        signed_ids: &[String],
    ) -> Result<Vec<String>>;

    /// Attaches uploads to an answer, in the open transaction, and consumes their signed ids. Returns the ids of the
    /// attachments, in the order of the signed ids.
    ///
    /// # Errors
    /// `Rejected` when one became unusable since [`Self::list_unusable_ids`].
    async fn attach(
        &self,
        organization: OrganizationId,
        client: ClientId,
        answer: AnswerId,
        signed_ids: &[String],
    ) -> Result<Vec<i64>>;

    /// The files of these attachments of answers, by attachment; those that do not exist are left out.
    async fn stored(&self, organization: OrganizationId, attachments: &[i64]) -> Result<Vec<AnswerFile>>;

    /// Deletes the attachments of answers that are deleted.
    async fn detach(&self, organization: OrganizationId, answers: &[AnswerId]) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_list_means_in_and_other_lists_are_as_everywhere() {
        let raw = |key: &str| {
            RawFilter::new(vec![(key.to_owned(), RawValue::Many(vec!["1".to_owned(), "2".to_owned()]))])
        };
        assert_eq!(
            read_questionnaire_filters(&raw("component_id")).unwrap(),
            read_questionnaire_filters(&raw("component_id_in")).unwrap()
        );
        assert!(read_questionnaire_filters(&raw("component_id_eq")).is_err());
        assert!(read_questionnaire_filters(&raw("title")).is_err());
    }

    #[test]
    fn each_space_type_is_known_by_name_and_class() {
        for name in SPACE_TYPES {
            assert!(space_type(name).is_some(), "{name}");
        }
        assert_eq!(space_type("Platform::Assembly"), Some(SpaceKind::Assemblies));
        assert_eq!(space_type("Platform::Component"), None);
    }
}
