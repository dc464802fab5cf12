//! Answers of a response as people read them.

use crate::pages::content::attachments::file_address;
use civitas_kernel::{OrganizationId, Result};
use civitas_surveys::{
    AnswerFile, AnswerFiles, AnswerRow, Form, FormQuestion, QuestionType, Response, TextLanguages,
};
use serde_json::Value;
use std::collections::HashMap;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The question was displayed, and has no answer.
    Nothing,
    /// A text.
    Text(String),
    /// The texts of the chosen options, in their order.
    Chosen(Vec<String>),
    /// The rows of a matrix with the texts of the chosen options; a row without a choice has none.
    Rows(Vec<(String, Vec<String>)>),
    /// Names and addresses of files.
    Files(Vec<(String, String)>),
}

/// The files of some responses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    known: HashMap<String, AnswerFile>,
    /// Scheme and host of the organization.
    origin: String,
}

impl Files {
    /// The files of these responses: one statement at most.
    pub(crate) async fn load(
        store: &dyn AnswerFiles,
        (organization, origin): (OrganizationId, &str),
        form: &Form,
        responses: impl Iterator<Item = &Response>,
    ) -> Result<Self> {
        let is_files = |row: &&AnswerRow| {
            let question = form.question(row.question);
            question.is_some_and(|question| question.question.kind == QuestionType::Files)
        };
        let rows = responses.flat_map(|response| response.answers.iter().filter(is_files));
        let named: Vec<i64> =
            rows.flat_map(|row| texts(row.value.as_ref())).filter_map(|id| id.parse().ok()).collect();
        let files = store.stored(organization, &named).await?;
        let known = files.into_iter().map(|file| (file.attachment.to_string(), file)).collect();
        Ok(Self { known, origin: origin.to_owned() })
    }

    /// Name and address of a file.
    pub(crate) fn file_name_and_url(&self, id: &str) -> Option<(String, String)> {
        let file = self.known.get(id)?;
        Some((file.filename.clone(), file_address(&self.origin, &file.key, &file.filename)?))
    }
}

/// The texts of a list, or one text.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(other) => text(other).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Reads the answer to a question.
pub(crate) fn read_answer(
    question: &FormQuestion,
    row: &AnswerRow,
    languages: TextLanguages,
    files: &Files,
) -> Answer {
    let value = row.value.as_ref();
    // An option that was deleted is shown by its id.
    let option = |id: String| {
        let found = question.options.iter().find(|option| option.id.to_string() == id);
        found
            .and_then(|option| languages.text(&option.option.body))
            .map_or_else(|| format!("#{id}"), str::to_owned)
    };
    let kind = question.question.kind;
    if kind == QuestionType::Files {
        let names = texts(value)
            .into_iter()
            .map(|id| files.file_name_and_url(&id).unwrap_or_else(|| (format!("#{id}"), String::new())));
        let names: Vec<_> = names.collect();
        return if names.is_empty() { Answer::Nothing } else { Answer::Files(names) };
    }
    match value {
        Some(Value::Object(chosen)) => {
            let rows = question.question.rows.iter().map(|row| {
                let text = languages.text(&row.body).unwrap_or_default().to_owned();
                (text, texts(chosen.get(&row.id.to_string())).into_iter().map(option).collect())
            });
            Answer::Rows(rows.collect())
        }
        Some(list) => Answer::Chosen(texts(Some(list)).into_iter().map(option).collect()),
        None => match &row.body {
            Some(text) => Answer::Text(text.clone()),
            None => Answer::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{AnswerOptionId, Locale, MatrixRowId, QuestionId, QuestionnaireId, Translated};
    use civitas_surveys::{AnswerOption, FormOption, MatrixRow, Question};
    use serde_json::json;

    const LANGUAGES: TextLanguages = TextLanguages { effective: Locale::EN, default: Locale::EN };

    fn text(text: &str) -> Translated {
        [(Locale::EN, text.to_owned())].into()
    }

    fn question(kind: QuestionType) -> FormQuestion {
        let id = QuestionId(1);
        let row =
            MatrixRow { id: MatrixRowId(31), reference: String::new(), position: 0, body: text("Clean") };
        let question = Question::new(QuestionnaireId(1), 0, kind, text("Why?"));
        let option =
            FormOption { id: AnswerOptionId(5), option: AnswerOption { question: id, body: text("Bus") } };
        FormQuestion {
            id,
            question: Question { rows: vec![row], ..question },
            options: vec![option],
            conditions: Vec::new(),
        }
    }

    fn answer(kind: QuestionType, value: Option<Value>) -> Answer {
        let row = AnswerRow { question: QuestionId(1), body: None, value };
        read_answer(&question(kind), &row, LANGUAGES, &Files::default())
    }

    #[test]
    fn options_are_read_by_their_texts_and_deleted_ones_by_their_ids() {
        let chosen = answer(QuestionType::MultipleOption, Some(json!(["5", "9"])));
        assert_eq!(chosen, Answer::Chosen(vec!["Bus".to_owned(), "#9".to_owned()]));
        assert_eq!(answer(QuestionType::MultipleOption, None), Answer::Nothing);
        let rows = answer(QuestionType::MatrixSingle, Some(json!({"31": "5", "32": "5"})));
        assert_eq!(rows, Answer::Rows(vec![("Clean".to_owned(), vec!["Bus".to_owned()])]));
    }

    #[test]
    fn the_address_of_a_file_is_on_the_host_of_the_organization() {
        let file =
            AnswerFile {
                attachment: 7, key: "k".to_owned(), filename: "a b/é.pdf".to_owned(), byte_size: 1
            };
        assert_eq!(
            file_address("https://city.test", &file.key, &file.filename).unwrap(),
            "https://city.test/files/k/a%20b%2F%C3%A9.pdf"
        );
        let files = Files { known: [("7".to_owned(), file)].into(), origin: "https://city.test".to_owned() };
        let row = AnswerRow { question: QuestionId(1), body: None, value: Some(json!(["7", "8"])) };
        let Answer::Files(names) = read_answer(&question(QuestionType::Files), &row, LANGUAGES, &files)
        else {
            panic!("files")
        };
        assert_eq!(names[0].0, "a b/é.pdf");
        assert_eq!(names[1], ("#8".to_owned(), String::new()));
    }
}
