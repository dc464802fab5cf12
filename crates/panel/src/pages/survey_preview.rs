//! A questionnaire as a participant sees it, with inputs that cannot be used.

use super::content::paragraphs;
use super::opened_question::length;
use super::survey_home::OpenedSurvey;
use crate::parts::{Choice, Field, Html, language_name, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
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
    words: &'a Words,
    path: String,
    /// The switch of languages.
    language: Html,
    locale: Locale,
    title: String,
    description: Vec<String>,
    tos: Vec<String>,
    questions: Vec<Question>,
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let visit = &*visit;
    let form = visit.panel.store().questionnaires().form(shown.organization, shown.id).await?;
    let (available, default) = (&shown.home.available_locales, shown.home.default_locale);
    let asked = visit.query.get("in").and_then(Locale::parse);
    let effective = asked.filter(|asked| available.iter().any(|known| known == *asked)).unwrap_or(default);
    let languages = TextLanguages { effective, default };
    let choices =
        available.iter().map(|locale| Choice::new(locale.to_string(), language_name(&visit.words, locale)));
    let language = Field::select("in", visit.say("language"), effective.to_string(), choices.collect());
    let questionnaire = &shown.summary.questionnaire;
    let preview = Preview {
        words: &visit.words,
        path: format!("{}/preview", shown.path()),
        language: language.html(&visit.words),
        locale: effective,
        title: languages.text(&questionnaire.title).unwrap_or_default().to_owned(),
        description: paragraphs(languages.text(&questionnaire.description)),
        tos: paragraphs(languages.text(&questionnaire.tos)),
        questions: form.questions().iter().map(|one| question(visit, one, languages)).collect(),
    };
    visit.page(shown.own_head(visit, "preview"), render(&preview)).await
}

fn question(visit: &Visit, one: &FormQuestion, languages: TextLanguages) -> Question {
    let own = &one.question;
    let say = |text: &Translated| languages.text(text).unwrap_or_default().to_owned();
    let limit = match own.max_choices {
        Some(most) => visit.words.count("question-at-most", most),
        None if own.max_characters > 0 => {
            visit.words.count("question-at-most-characters", own.max_characters)
        }
        None => String::new(),
    };
    let condition = match one.conditions.len() {
        0 => String::new(),
        number => visit.words.count("survey-preview-condition", length(number)),
    };
    Question {
        id: one.id.0,
        text: say(&own.body),
        description: own.description.as_ref().map(say).unwrap_or_default(),
        limit,
        condition,
        is_layout: own.kind.is_presentation(),
        is_mandatory: own.mandatory,
        is_matrix: own.kind.has_rows(),
        input: match own.kind {
            QuestionType::LongAnswer => "area",
            QuestionType::Files => "file",
            QuestionType::SingleOption | QuestionType::MatrixSingle => "radio",
            QuestionType::MultipleOption | QuestionType::MatrixMultiple => "checkbox",
            QuestionType::Sorting => "order",
            QuestionType::ShortAnswer | QuestionType::Separator | QuestionType::TitleAndDescription => "text",
        },
        options: one.options.iter().map(|option| say(&option.option.body)).collect(),
        rows: own.rows.iter().map(|row| say(&row.body)).collect(),
    }
}
