//! A questionnaire as a participant sees it, with inputs that cannot be used.

use super::opened_survey::OpenedSurvey;
use crate::admin_request::AdminRequest;
use crate::format::paragraphs;
use crate::parts::{Choice, Field, Html, language_name, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{Locale, Result, Translated};
use civitas_surveys::{FormQuestion, QuestionType, TextLanguages};

struct Question {
    id: i64,
    text: String,
    description: String,
    limit: String,
    condition: String,
    is_layout: bool,
    is_mandatory: bool,
    is_matrix: bool,
    /// What a participant fills in: `text`, `area`, `file`, `radio`, `checkbox` or `order`.
    input: &'static str,
    options: Vec<String>,
    rows: Vec<String>,
}

#[derive(Template)]
#[template(path = "pages/preview.html")]
struct Preview<'a> {
    translator: &'a Translator,
    path: String,
    /// The switch of languages.
    language: Html,
    locale: Locale,
    title: String,
    description: Vec<String>,
    tos: Vec<String>,
    questions: Vec<Question>,
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::from_path(req).await?;
    let form = req.store().questionnaires().form(survey.organization_id, survey.id).await?;
    let (available, default) = (&survey.organization.available_locales, survey.organization.default_locale);
    let asked = req.query.get("in").and_then(Locale::parse);
    let effective = asked.filter(|asked| available.iter().any(|known| known == *asked)).unwrap_or(default);
    let languages = TextLanguages { effective, default };
    let choices = available
        .iter()
        .map(|locale| Choice::new(locale.to_string(), language_name(&req.translator, locale)));
    let language = Field::select("in", req.tr("language"), effective.to_string(), choices.collect());
    let questionnaire = &survey.summary.questionnaire;
    let preview = Preview {
        translator: &req.translator,
        path: format!("{}/preview", survey.path()),
        language: language.html(&req.translator),
        locale: effective,
        title: languages.text(&questionnaire.title).unwrap_or_default().to_owned(),
        description: paragraphs(languages.text(&questionnaire.description)),
        tos: paragraphs(languages.text(&questionnaire.tos)),
        questions: form.questions().iter().map(|one| question(req, one, languages)).collect(),
    };
    req.page(survey.tab_head(req, "preview"), render(&preview)).await
}

fn question(req: &AdminRequest, one: &FormQuestion, languages: TextLanguages) -> Question {
    let definition = &one.question;
    let text = |text: &Translated| languages.text(text).unwrap_or_default().to_owned();
    let limit = match definition.max_choices {
        Some(most) => req.tr_count("question-at-most", most),
        None if definition.max_characters > 0 => {
            req.tr_count("question-at-most-characters", definition.max_characters)
        }
        None => String::new(),
    };
    let condition = match one.conditions.len() {
        0 => String::new(),
        number => req.tr_count("survey-preview-condition", number),
    };
    Question {
        id: one.id.0,
        text: text(&definition.body),
        description: definition.description.as_ref().map(text).unwrap_or_default(),
        limit,
        condition,
        is_layout: definition.kind.is_presentation(),
        is_mandatory: definition.mandatory,
        is_matrix: definition.kind.has_rows(),
        input: match definition.kind {
            QuestionType::LongAnswer => "area",
            QuestionType::Files => "file",
            QuestionType::SingleOption | QuestionType::MatrixSingle => "radio",
            QuestionType::MultipleOption | QuestionType::MatrixMultiple => "checkbox",
            QuestionType::Sorting => "order",
            QuestionType::ShortAnswer | QuestionType::Separator | QuestionType::TitleAndDescription => "text",
        },
        options: one.options.iter().map(|option| text(&option.option.body)).collect(),
        rows: definition.rows.iter().map(|row| text(&row.body)).collect(),
    }
}
