//! The open question of a questionnaire: what its form and its acts share.

use super::survey_home::OpenedSurvey;
use crate::visit::Visit;
use civitas_application::Transaction;
use civitas_kernel::{Error, Locale, QuestionId, Result, Translated};
use civitas_surveys::{Form, FormQuestion, Question, QuestionAdmin, QuestionType};

pub(crate) const OPTIONS: &str = "options";
pub(crate) const ROWS: &str = "rows";
pub(crate) const CONDITIONS: &str = "conditions";
/// The most blank rows of a part.
const MOST_NEW: i64 = 20;

/// The question that is open.
pub(crate) struct OpenedQuestion {
    /// `None`: it is new.
    pub(crate) id: Option<QuestionId>,
    /// As it is stored; blank for a new one.
    pub(crate) own: FormQuestion,
    /// Whether its type cannot change, because it has answers.
    pub(crate) is_locked: bool,
}

impl OpenedQuestion {
    /// A stored question.
    pub(crate) async fn stored(visit: &Visit, shown: &OpenedSurvey, own: &FormQuestion) -> Result<Self> {
        let questions = visit.panel.store().questions();
        let is_locked = questions.has_answers(shown.organization, own.id).await?;
        Ok(Self { id: Some(own.id), own: own.clone(), is_locked })
    }

    /// A new question of this type.
    pub(crate) fn new(shown: &OpenedSurvey, kind: QuestionType) -> Self {
        let question = Question::new(shown.id, 0, kind, Translated::default());
        let own = FormQuestion { id: QuestionId(0), question, options: Vec::new(), conditions: Vec::new() };
        Self { id: None, own, is_locked: false }
    }
}

/// The use case, in a transaction.
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

/// A number of a list.
pub(crate) fn length(list: usize) -> i64 {
    i64::try_from(list).unwrap_or(i64::MAX)
}

/// A question of the questionnaire in the path, with the form it is in.
pub(crate) async fn of_path(visit: &mut Visit) -> Result<(OpenedSurvey, Form, QuestionId)> {
    let shown = OpenedSurvey::of(visit).await?;
    let id = QuestionId(visit.id("qid")?);
    let form = visit.panel.store().questionnaires().form(shown.organization, shown.id).await?;
    if form.question(id).is_none() {
        return Err(Error::NotFound);
    }
    Ok((shown, form, id))
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

/// The parts of the form: the stored ones with their keys, then blank ones: `new-1`, `new-2`, ... As many of these as
/// were sent, else as the address asks for.
pub(crate) fn keyed<'a, T>(
    visit: &Visit,
    part: &str,
    stored: impl Iterator<Item = (String, &'a T)>,
    usual: i64,
) -> Vec<(String, Option<&'a T>)> {
    let is_sent = |number: &i64| visit.form.has(&format!("{part}[new-{number}]["));
    let sent = (1..=MOST_NEW).take_while(is_sent).count();
    let number = match i64::try_from(sent) {
        Ok(sent) if sent > 0 => sent,
        _ if visit.form.has(&format!("{part}[")) => 0,
        _ => visit.query.number(part).map_or(usual, |asked| asked.clamp(usual, MOST_NEW)),
    };
    let new = (1..=number).map(|number| (format!("new-{number}"), None));
    stored.map(|(key, part)| (key, Some(part))).chain(new).collect()
}

pub(crate) fn is_sent(visit: &Visit, part: &str, key: &str) -> bool {
    visit.form.has(&format!("{part}[{key}]["))
}

/// The languages of the form, the main one first.
pub(crate) fn languages(shown: &OpenedSurvey) -> Vec<Locale> {
    let main = shown.home.default_locale;
    let others = shown.home.available_locales.iter().filter(|locale| *locale != main);
    std::iter::once(main).chain(others).collect()
}
