//! Questionnaires, their questions, and the responses to them (contract 08).
//!
//! A questionnaire belongs to a survey or to a meeting. A [`Form`] is a questionnaire with everything that belongs to
//! it; from this one model come the projection to JSON Forms ([`Form::project`]) and the validation of answers
//! ([`Form::validate`]).
//!
//! ```
//! use civitas_kernel::{Locale, QuestionId, QuestionnaireId, Translated};
//! use civitas_surveys::{Form, FormQuestion, Question, QuestionType};
//! use serde_json::json;
//!
//! let body = Translated::from([(Locale::EN, "How do you travel?".to_owned())]);
//! let question = Question::new(QuestionnaireId(40), 0, QuestionType::ShortAnswer, body);
//! let question = Question { mandatory: true, ..question };
//! let form = Form::new(vec![FormQuestion { id: QuestionId(201), question, options: vec![], conditions: vec![] }]);
//! let sent = |answer| json!({"201": answer}).as_object().cloned().unwrap_or_default();
//! assert!(form.validate(&sent("By bike")).into_answers().is_ok());
//! assert_eq!(form.validate(&sent(" ")).into_answers().unwrap_err().description(), "Answer cannot be blank");
//! ```

mod access;
mod admin;
mod answer;
mod authoring;
#[cfg(feature = "conformance")]
pub mod conformance;
mod digest;
mod display;
mod form;
mod model;
mod ports;
mod projection;
mod question;
mod reading;
mod response;
mod search;
mod submitting;
mod validation;

pub use access::{
    DESTROY_ANSWERS, MANAGE_QUESTIONS, READ_ANSWERS, READ_QUESTIONNAIRES, READ_SUBMISSIONS, SUBMIT_ANSWERS,
};
pub use admin::{
    MAX_CONDITIONS, QuestionAdministration, QuestionEdit, QuestionMove, QuestionPartEdit,
    SurveyAdministration, SurveyChange, SurveySettings, remove_response,
};
pub use answer::Answer;
pub use authoring::{
    AnswerOptionDetail, CreateAnswerOption, CreateQuestion, DestroyAnswerOption, DestroyQuestion,
    NullableValue, QuestionDetail, UpdateAnswerOption, UpdateQuestion, UpdateQuestionnaire,
};
pub use form::{Form, FormOption, FormQuestion, TextLanguages};
pub use model::{Questionnaire, QuestionnaireParent, Survey, SurveyPeriod};
pub use ports::*;
pub use projection::{Projection, Schema};
pub use question::{
    AnswerOption, ConditionType, DisplayCondition, MAX_OPTIONS, MAX_QUESTIONS, MAX_ROWS, MatrixRow, Question,
    QuestionType,
};
pub use reading::{QuestionnaireDetail, QuestionnaireRecordPage, Questionnaires};
pub use response::{AnswerDetail, AnswerRow, Response, ResponseDetail, already_answered_error};
pub use search::{MAX_COUNTED, QuestionnaireSearch, QuestionnaireSort, QuestionnaireSummary};
pub use submitting::{DestroyResponse, SubmitAnswers};
pub use validation::CheckedAnswers;
