//! What the pages of questions share: the question that is open, names and texts.

use super::surveys::Shown;
use crate::visit::Visit;
use civitas_application::Transaction;
use civitas_kernel::{QuestionId, Result, Translated};
use civitas_surveys::{Form, FormQuestion, Question, QuestionAdmin, QuestionType};

/// The question that is open.
pub(crate) struct Opened {
    /// `None`: it is new.
    pub(crate) id: Option<QuestionId>,
    /// As it is stored; blank for a new one.
    pub(crate) own: FormQuestion,
    /// Whether its type cannot change, because it has answers.
    pub(crate) is_locked: bool,
}

impl Opened {
    /// A stored question.
    pub(crate) async fn stored(visit: &Visit, shown: &Shown, own: &FormQuestion) -> Result<Self> {
        let questions = visit.panel.store().questions();
        let is_locked = questions.has_answers(shown.organization, own.id).await?;
        Ok(Self { id: Some(own.id), own: own.clone(), is_locked })
    }

    /// A new question of this type.
    pub(crate) fn new(shown: &Shown, kind: QuestionType) -> Self {
        let question = Question::new(shown.id, 0, kind, Translated::default());
        let own = FormQuestion { id: QuestionId(0), question, options: Vec::new(), conditions: Vec::new() };
        Self { id: None, own, is_locked: false }
    }
}

/// The use-case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> QuestionAdmin<'_> {
    QuestionAdmin {
        questionnaires: tx.questionnaires(),
        questions: tx.questions(),
        options: tx.answer_options(),
        conditions: tx.display_conditions(),
        files: tx.answer_files(),
    }
}

/// The name of a type: `One choice`.
pub(crate) fn type_name(visit: &Visit, kind: QuestionType) -> String {
    visit.say(&format!("question-{}", kind.as_str().replace('_', "-")))
}

/// All types with their names.
pub(crate) fn types(visit: &Visit) -> Vec<(&'static str, String)> {
    QuestionType::ALL.into_iter().map(|kind| (kind.as_str(), type_name(visit, kind))).collect()
}

/// A text of a questionnaire in the language of the page.
pub(crate) fn text(visit: &Visit, text: &Translated) -> String {
    super::content::title(visit, text)
}

/// A number of a list.
pub(crate) fn length(list: usize) -> i64 {
    i64::try_from(list).unwrap_or(i64::MAX)
}

/// The label of a question in the audit trail.
pub(crate) fn described(question: &Question) -> String {
    let body = super::content::line(&question.body);
    let mandatory = if question.mandatory { "; mandatory" } else { "" };
    format!("{}{mandatory}; {body}", question.kind.as_str())
}

/// A sentence that names questions by their numbers in the list.
pub(crate) fn loss(visit: &Visit, form: &Form, key: &str, named: &[(&FormQuestion, usize)]) -> String {
    let place = |id: QuestionId| form.questions().iter().position(|question| question.id == id);
    let numbers: Vec<String> =
        named.iter().filter_map(|(question, _)| Some((place(question.id)? + 1).to_string())).collect();
    let count = length(numbers.len());
    visit.tell(key, &[("count", count.into()), ("questions", numbers.join(", ").into())])
}
