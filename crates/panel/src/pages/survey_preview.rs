//! A questionnaire as a participant sees it, with inputs that cannot be used.

use super::survey_open::length;
use super::surveys::Shown;
use crate::parts::{Choice, Field, Html, language_name, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::{Locale, Result, Translated};
use civitas_surveys::{FormQuestion, QuestionType, TextLanguages};

/// What a participant fills in.
enum Input {
    Line,
    Area,
    Files,
    /// `kind`: `radio` or `checkbox`.
    Choices {
        kind: &'static str,
        options: Vec<String>,
    },
    Order {
        options: Vec<String>,
    },
    Matrix {
        kind: &'static str,
        rows: Vec<String>,
        options: Vec<String>,
    },
}

struct Question {
    id: i64,
    text: String,
    description: String,
    limit: String,
    condition: String,
    is_layout: bool,
    is_mandatory: bool,
    input: Input,
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

/// The paragraphs of a text; markup is shown as it was typed.
fn paragraphs(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = Shown::of(visit).await?;
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
    let options = || one.options.iter().map(|option| say(&option.option.body)).collect();
    let rows = || own.rows.iter().map(|row| say(&row.body)).collect();
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
        input: match own.kind {
            QuestionType::LongAnswer => Input::Area,
            QuestionType::Files => Input::Files,
            QuestionType::SingleOption => Input::Choices { kind: "radio", options: options() },
            QuestionType::MultipleOption => Input::Choices { kind: "checkbox", options: options() },
            QuestionType::Sorting => Input::Order { options: options() },
            QuestionType::MatrixSingle => Input::Matrix { kind: "radio", rows: rows(), options: options() },
            QuestionType::MatrixMultiple => {
                Input::Matrix { kind: "checkbox", rows: rows(), options: options() }
            }
            QuestionType::ShortAnswer | QuestionType::Separator | QuestionType::TitleAndDescription => {
                Input::Line
            }
        },
    }
}
