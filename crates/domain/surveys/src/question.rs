//! Questions, their options, rows and display conditions.

use civitas_kernel::limits::{MAX_PROSE_CHARS, text_error, translations_too_long};
use civitas_kernel::records::Entity;
use civitas_kernel::{
    AnswerOptionId, DisplayConditionId, Error, FieldError, Locale, MatrixRowId, QuestionId, QuestionnaireId,
    Result, Translated, Wording,
};
use serde::{Deserialize, Serialize};

civitas_kernel::named_enum! {
    /// The type of a question.
    #[derive(Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum QuestionType {
        /// A text of one line.
        ShortAnswer = "short_answer",
        /// A text of several lines.
        LongAnswer = "long_answer",
        /// One of the options.
        SingleOption = "single_option",
        /// Some of the options.
        MultipleOption = "multiple_option",
        /// All options in an order.
        Sorting = "sorting",
        /// Files.
        Files = "files",
        /// One option for each row.
        MatrixSingle = "matrix_single",
        /// Some options for each row.
        MatrixMultiple = "matrix_multiple",
        /// A heading; it has no answer.
        Separator = "separator",
        /// A text; it has no answer.
        TitleAndDescription = "title_and_description",
    }
}

/// The limit of a question type that authors can set, besides the members of all questions (contract 08 §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionLimit {
    /// `max_choices`
    Choice,
    /// `max_characters`
    LongText,
    /// None.
    Plain,
}

impl QuestionType {
    /// Whether questions of this type have no answer. They exist, and cannot be created through the interface.
    pub fn is_presentation(self) -> bool {
        matches!(self, Self::Separator | Self::TitleAndDescription)
    }

    /// Whether questions of this type have options.
    pub fn has_options(self) -> bool {
        self.variant() == QuestionLimit::Choice
    }

    /// Whether questions of this type have rows.
    pub fn has_rows(self) -> bool {
        matches!(self, Self::MatrixSingle | Self::MatrixMultiple)
    }

    /// The limit that authors can set.
    pub fn variant(self) -> QuestionLimit {
        match self {
            Self::SingleOption
            | Self::MultipleOption
            | Self::Sorting
            | Self::MatrixSingle
            | Self::MatrixMultiple => QuestionLimit::Choice,
            Self::LongAnswer => QuestionLimit::LongText,
            Self::ShortAnswer | Self::Files | Self::Separator | Self::TitleAndDescription => {
                QuestionLimit::Plain
            }
        }
    }
}

/// A row of a question with a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRow {
    /// Its id; 0 for a row that is not stored yet.
    pub id: MatrixRowId,
    /// Its name in archives, unique in the question.
    pub reference: String,
    /// Rows are ordered by position, then by id.
    pub position: i64,
    /// Its text.
    pub body: Translated,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The questionnaire.
    pub questionnaire: QuestionnaireId,
    /// Questions are ordered by position, then by id.
    pub position: i64,
    /// Its type.
    pub kind: QuestionType,
    /// Its text.
    pub body: Translated,
    /// A text below it.
    pub description: Option<Translated>,
    /// Whether it must be answered, if it is displayed.
    pub mandatory: bool,
    /// The most options of an answer, or of each row; at least 1.
    pub max_choices: Option<i64>,
    /// The most characters of an answer; 0 for no limit.
    pub max_characters: i64,
    /// The rows, in their order.
    pub rows: Vec<MatrixRow>,
}

/// The most questions of a questionnaire.
pub const MAX_QUESTIONS: i64 = 500;
/// The most options of a question.
pub const MAX_OPTIONS: i64 = 500;
/// The most rows of a question.
pub const MAX_ROWS: usize = 100;

impl Question {
    /// A question without limits, options and rows.
    pub fn new(questionnaire: QuestionnaireId, position: i64, kind: QuestionType, body: Translated) -> Self {
        Self {
            questionnaire,
            position,
            kind,
            body,
            description: None,
            mandatory: false,
            max_choices: None,
            max_characters: 0,
            rows: Vec::new(),
        }
    }

    /// Removes the limits that authors cannot set for its type. Call it when the type changes.
    pub fn reset_limits(&mut self) {
        let variant = self.kind.variant();
        if variant != QuestionLimit::Choice {
            self.max_choices = None;
        }
        if variant != QuestionLimit::LongText {
            self.max_characters = 0;
        }
    }

    /// Checks its members (contract 08 §5.2).
    ///
    /// # Errors
    /// `Invalid` with `blank` for a body that is blank in `locale`, the default one of the organization, with
    /// `too_long` and `greater_than`.
    pub fn check(&self, locale: Locale) -> Result<()> {
        let small = |field, is_small: bool, text: &str| {
            is_small.then(|| FieldError::new(field, "greater_than", format!("{field} must be {text}")))
        };
        let description = self.description.as_ref();
        let errors = [
            small("position", self.position < 0, "0 or more"),
            text_error("body", "Body", &self.body, MAX_PROSE_CHARS, Some(locale)),
            description
                .and_then(|text| translations_too_long("description", "Description", text, MAX_PROSE_CHARS)),
            small("max_choices", self.max_choices.is_some_and(|most| most < 1), "1 or more"),
            small("max_characters", self.max_characters < 0, "0 or more"),
        ];
        Error::unless_valid(Wording::InvalidRequest, errors.into_iter().flatten().collect())
    }
}

/// Changes of a question change the questionnaire (`updated_at`), not the question.
impl Entity for Question {
    type Id = QuestionId;
}

/// An answer option. Options are ordered by id.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerOption {
    /// The question.
    pub question: QuestionId,
    /// Its text.
    pub body: Translated,
}

impl AnswerOption {
    /// Checks its text.
    ///
    /// # Errors
    /// `Invalid` with `blank` for a body that is blank in `locale`, the default one of the organization, and with
    /// `too_long`.
    pub fn check(&self, locale: Locale) -> Result<()> {
        let error = text_error("body", "Body", &self.body, MAX_PROSE_CHARS, Some(locale));
        Error::unless_valid(Wording::InvalidRequest, error.into_iter().collect())
    }
}

impl Entity for AnswerOption {
    type Id = AnswerOptionId;
}

civitas_kernel::named_enum! {
    /// What a display condition compares.
    pub enum ConditionType {
        /// The condition question has an answer.
        Answered = "answered",
        /// It has none.
        NotAnswered = "not_answered",
        /// The option is chosen.
        Equal = "equal",
        /// The question has an answer, and the option is not chosen.
        NotEqual = "not_equal",
        /// The text, or the text of a chosen option, contains the value.
        Match = "match",
    }
}

/// A condition for the display of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayCondition {
    /// The question that is displayed.
    pub question: QuestionId,
    /// The question whose answer is compared.
    pub condition_question: QuestionId,
    /// What is compared.
    pub kind: ConditionType,
    /// The option of `equal` and `not_equal`; `None` when it was deleted: then the condition never holds.
    pub option: Option<AnswerOptionId>,
    /// The value of `match`.
    pub value: Option<Translated>,
    /// Whether it must hold; then conditions that need not are ignored.
    pub mandatory: bool,
}

impl Entity for DisplayCondition {
    type Id = DisplayConditionId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_the_contract() {
        for kind in QuestionType::ALL {
            assert_eq!(QuestionType::parse(kind.as_str()), Some(kind));
        }
        for kind in ConditionType::ALL {
            assert_eq!(ConditionType::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(QuestionType::parse("essay"), None);
    }

    #[test]
    fn a_limit_that_a_type_does_not_have_is_removed() {
        let body = Translated::from([(Locale::EN, "How?".to_owned())]);
        let question = Question::new(QuestionnaireId(1), 0, QuestionType::LongAnswer, body);
        let full = Question { max_choices: Some(2), max_characters: 9, ..question };
        let reset = |kind| {
            let mut question = Question { kind, ..full.clone() };
            question.reset_limits();
            (question.max_choices, question.max_characters)
        };
        assert_eq!(reset(QuestionType::LongAnswer), (None, 9));
        assert_eq!(reset(QuestionType::ShortAnswer), (None, 0));
        assert_eq!(reset(QuestionType::Sorting), (Some(2), 0));
        assert_eq!(reset(QuestionType::Files), (None, 0));
    }

    #[test]
    fn members_are_checked_together() {
        let body = Translated::from([(Locale::EN, " ".to_owned())]);
        let question = Question::new(QuestionnaireId(1), -1, QuestionType::Sorting, body);
        let refused = Question { max_choices: Some(0), ..question }.check(Locale::EN).unwrap_err();
        let fields: Vec<&str> = refused.details().iter().map(|error| error.field.as_ref()).collect();
        assert_eq!(fields, ["position", "body", "max_choices"]);
    }
}
