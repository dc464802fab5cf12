//! A questionnaire as a form: its questions with their options, rows and conditions. The projection for clients, the
//! display of questions and the validation of answers are computed from the same [`AnswerShape`] of each question.

use crate::{AnswerOption, DisplayCondition, MatrixRow, Question, QuestionType};
use civitas_kernel::{AnswerOptionId, Locale, QuestionId, Translated};

/// The questions of a questionnaire, in their order: position, then id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Form {
    questions: Vec<FormQuestion>,
}

/// A question with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct FormQuestion {
    /// Its id.
    pub id: QuestionId,
    /// The question, with its rows.
    pub question: Question,
    /// Its options, ordered by id.
    pub options: Vec<FormOption>,
    /// Its display conditions.
    pub conditions: Vec<DisplayCondition>,
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FormOption {
    /// Its id.
    pub id: AnswerOptionId,
    /// The option.
    pub option: AnswerOption,
}

/// What answers to a question consist of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerShape<'a> {
    /// A text of at most this many characters.
    Text { max: Option<usize> },
    /// One of the options.
    One { options: &'a [FormOption] },
    /// Some of the options, at most this many.
    Many { options: &'a [FormOption], max: Option<usize> },
    /// Each option once.
    Sorting { options: &'a [FormOption] },
    /// For each row, one of the options.
    MatrixSingle { rows: &'a [MatrixRow], options: &'a [FormOption] },
    /// For each row, some of the options, at most this many.
    MatrixMultiple { rows: &'a [MatrixRow], options: &'a [FormOption], max: Option<usize> },
    /// Files.
    Files,
}

/// The language of texts: the first one with a text counts.
#[derive(Debug, Clone, Copy)]
pub struct TextLanguages {
    /// The language of the request.
    pub effective: Locale,
    /// The default language of the organization.
    pub default: Locale,
}

impl TextLanguages {
    /// The text in the language of the request, else in the default one, else in any (contract 08 §3).
    pub fn text(self, text: &Translated) -> Option<&str> {
        let in_one = |locale| text.get(locale).filter(|text| !text.is_empty());
        let any = || text.first_text().map(|(_, text)| text);
        in_one(self.effective).or_else(|| in_one(self.default)).or_else(any)
    }
}

impl Form {
    /// A form with these questions, in any order.
    pub fn new(mut questions: Vec<FormQuestion>) -> Self {
        for question in &mut questions {
            question.options.sort_by_key(|option| option.id);
            question.question.rows.sort_by_key(|row| (row.position, row.id));
        }
        questions.sort_by_key(|question| (question.question.position, question.id));
        Self { questions }
    }

    /// The questions, in their order.
    pub fn questions(&self) -> &[FormQuestion] {
        &self.questions
    }

    /// The question of this id.
    pub fn question(&self, id: QuestionId) -> Option<&FormQuestion> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// The questions that have answers.
    pub(crate) fn data_questions(&self) -> impl Iterator<Item = (&FormQuestion, AnswerShape<'_>)> {
        self.questions.iter().filter_map(|question| Some((question, question.shape()?)))
    }
}

impl FormQuestion {
    /// The shape of its answers; `None` if it has none.
    pub(crate) fn shape(&self) -> Option<AnswerShape<'_>> {
        let (options, rows) = (&self.options[..], &self.question.rows[..]);
        let limit = |number: i64| usize::try_from(number).ok().filter(|limit| *limit > 0);
        let max = self.question.max_choices.and_then(limit);
        Some(match self.question.kind {
            QuestionType::ShortAnswer | QuestionType::LongAnswer => {
                AnswerShape::Text { max: limit(self.question.max_characters) }
            }
            QuestionType::SingleOption => AnswerShape::One { options },
            QuestionType::MultipleOption => AnswerShape::Many { options, max },
            QuestionType::Sorting => AnswerShape::Sorting { options },
            QuestionType::MatrixSingle => AnswerShape::MatrixSingle { rows, options },
            QuestionType::MatrixMultiple => AnswerShape::MatrixMultiple { rows, options, max },
            QuestionType::Files => AnswerShape::Files,
            QuestionType::Separator | QuestionType::TitleAndDescription => return None,
        })
    }

    /// Whether it must be answered if it is displayed. A question without options or rows cannot be answered, and
    /// need not be (contract 08 §6.3).
    pub(crate) fn must_be_answered(&self) -> bool {
        let kind = self.question.kind;
        let lacks_options = kind.has_options() && self.options.is_empty();
        let lacks_rows = kind.has_rows() && self.question.rows.is_empty();
        self.question.mandatory && !lacks_options && !lacks_rows && !kind.is_presentation()
    }
}

impl AnswerShape<'_> {
    /// Whether answers are lists.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::Many { .. } | Self::Sorting { .. } | Self::Files)
    }

    /// Whether answers are objects, with rows as members.
    pub(crate) fn is_object(self) -> bool {
        matches!(self, Self::MatrixSingle { .. } | Self::MatrixMultiple { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_falls_back_to_the_default_language_and_then_to_any() {
        let text = |texts: &[(Locale, &str)]| -> Translated {
            texts.iter().map(|(locale, text)| (*locale, (*text).to_owned())).collect()
        };
        let languages = TextLanguages { effective: Locale::FR, default: Locale::EN };
        assert_eq!(languages.text(&text(&[(Locale::FR, "f"), (Locale::EN, "e")])), Some("f"));
        assert_eq!(languages.text(&text(&[(Locale::FR, ""), (Locale::EN, "e")])), Some("e"));
        assert_eq!(languages.text(&text(&[(Locale::ES, "s")])), Some("s"));
        assert_eq!(languages.text(&text(&[])), None);
    }
}
