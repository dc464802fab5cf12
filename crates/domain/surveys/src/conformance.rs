//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod administering;

pub use administering::{
    counts_and_removes_parts, finds_components_for_surveys, knows_respondents, lists_all_for_administrators,
    pages_responses,
};

use crate::{
    ANSWER_FIELDS, AnswerOption, AnswerOptionStore, AnswerRow, ConditionType, DisplayCondition,
    DisplayConditionStore, MatrixRow, QUESTIONNAIRE_FIELDS, Question, QuestionStore, QuestionType,
    Questionnaire, QuestionnaireParent, QuestionnaireStore, Response, ResponseStore, Survey, SurveyLookup,
    SurveyStore,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::read_filters;
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::testing::{ALL, text, viewer_read_context};
use civitas_kernel::{
    AnswerId, AnswerOptionId, ComponentId, DisplayConditionId, Error, MatrixRowId, Page, PageRequest,
    QuestionId, QuestionnaireId, ReadContext, ResponseId, Result, SurveyId, UserId, Viewer,
    conformance_world,
};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two existing organizations, and records of the first.
    pub struct World {
        ports(
            surveys: SurveyStore, questionnaires: QuestionnaireStore, questions: QuestionStore,
            options: AnswerOptionStore, conditions: DisplayConditionStore, responses: ResponseStore,
            lookup: SurveyLookup,
        )
        /// A user.
        nora: UserId,
        /// Another user.
        otto: UserId,
        /// A published surveys component of a public process.
        component: ComponentId,
        /// Another one.
        second: ComponentId,
        /// An unpublished one.
        unpublished: ComponentId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

fn new_response(of: QuestionnaireId, user: Option<UserId>, token: &str, answers: &[QuestionId]) -> Response {
    let row =
        |question: &QuestionId| AnswerRow { question: *question, body: Some("Yes".to_owned()), value: None };
    Response {
        questionnaire: of,
        user,
        session_token: token.to_owned(),
        client_ip: None,
        created_at: NOW,
        answers: answers.iter().map(row).collect(),
    }
}

impl World<'_> {
    fn public(&self) -> ReadContext {
        viewer_read_context(self.mine, Viewer::Public)
    }

    async fn questionnaire_in(
        &self,
        component: ComponentId,
        updated_at: OffsetDateTime,
    ) -> Result<QuestionnaireId> {
        let survey = self.surveys.add(self.mine, &Survey::new(component, NOW)).await?;
        let questionnaire =
            Questionnaire::new(QuestionnaireParent::Survey(survey), component, text("Title"), NOW);
        self.questionnaires.add(self.mine, &Questionnaire { updated_at, ..questionnaire }).await
    }

    async fn question(&self, of: QuestionnaireId, position: i64, kind: QuestionType) -> Result<QuestionId> {
        self.questions.add(self.mine, &Question::new(of, position, kind, text("Question"))).await
    }

    async fn option(&self, of: QuestionId) -> Result<AnswerOptionId> {
        self.options.add(self.mine, &AnswerOption { question: of, body: text("Option") }).await
    }

    async fn listed(&self, page: PageRequest) -> Result<Page<QuestionnaireId>> {
        Ok(self.questionnaires.list(self.public(), &[], page).await?.map(|(found, _)| found.id))
    }
}

/// Surveys for the conformance tests of [`Records`](civitas_kernel::records::Records).
#[expect(clippy::unused_async, reason = "the samples of other stores are added first")]
pub async fn surveys(world: World<'_>) -> Result<Samples<'_, Survey>> {
    let late = NOW + Duration::DAY;
    let full = Survey { starts_at: Some(NOW), ends_at: Some(late), ..Survey::new(world.component, late) };
    let deleted = Survey { deleted_at: Some(NOW), ..Survey::new(world.second, NOW - Duration::DAY) };
    let plain = Survey { ends_at: Some(NOW), ..Survey::new(world.unpublished, NOW) };
    Ok(Samples::new(world.surveys, [world.mine, world.other], [full, deleted, plain], SurveyId(987_654)))
}

/// Questionnaires for the same tests.
pub async fn questionnaires(world: World<'_>) -> Result<Samples<'_, Questionnaire>> {
    let mut samples = Vec::new();
    for (hours, component) in [(1, world.component), (2, world.second), (3, world.unpublished)] {
        let survey = world.surveys.add(world.mine, &Survey::new(component, NOW)).await?;
        let at = NOW + Duration::hours(hours);
        let questionnaire =
            Questionnaire::new(QuestionnaireParent::Survey(survey), component, text(&format!("{hours}")), at);
        let (description, tos) = (text(&format!("d{hours}")), text(&format!("t{hours}")));
        samples.push(Questionnaire { description, tos, ..questionnaire });
    }
    Ok(Samples::new(world.questionnaires, [world.mine, world.other], samples, QuestionnaireId(987_654)))
}

/// Questions for the same tests.
pub async fn questions(world: World<'_>) -> Result<Samples<'_, Question>> {
    let first = world.questionnaire_in(world.component, NOW).await?;
    let second = world.questionnaire_in(world.component, NOW).await?;
    let third = world.questionnaire_in(world.component, NOW).await?;
    let new = |of, position, kind, body| Question::new(of, position, kind, text(body));
    let samples = [
        Question { max_choices: Some(2), mandatory: true, ..new(first, 1, QuestionType::Sorting, "A") },
        Question {
            max_characters: 9,
            description: Some(text("D")),
            ..new(second, 2, QuestionType::LongAnswer, "B")
        },
        Question { max_choices: Some(3), ..new(third, 3, QuestionType::MultipleOption, "C") },
    ];
    Ok(Samples::new(world.questions, [world.mine, world.other], samples, QuestionId(987_654)))
}

/// Options for the same tests.
pub async fn options(world: World<'_>) -> Result<Samples<'_, AnswerOption>> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let mut samples = Vec::new();
    for body in ["A", "B", "C"] {
        let question = world.question(questionnaire, 0, QuestionType::Sorting).await?;
        samples.push(AnswerOption { question, body: text(body) });
    }
    Ok(Samples::new(world.options, [world.mine, world.other], samples, AnswerOptionId(987_654)))
}

/// Display conditions for the same tests.
pub async fn conditions(world: World<'_>) -> Result<Samples<'_, DisplayCondition>> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let mut samples = Vec::new();
    for (kind, mandatory) in
        [(ConditionType::Equal, true), (ConditionType::Match, false), (ConditionType::NotEqual, false)]
    {
        let condition_question = world.question(questionnaire, 0, QuestionType::Sorting).await?;
        let question = world.question(questionnaire, 1, QuestionType::Files).await?;
        let option = world.option(condition_question).await?;
        let has_option = kind != ConditionType::Match;
        samples.push(DisplayCondition {
            question,
            condition_question,
            kind,
            option: has_option.then_some(option),
            value: (!mandatory).then(|| text(kind.as_str())),
            mandatory,
        });
    }
    Ok(Samples::new(world.conditions, [world.mine, world.other], samples, DisplayConditionId(987_654)))
}

/// Responses for the same tests.
pub async fn responses(world: World<'_>) -> Result<Samples<'_, Response>> {
    let mut samples = Vec::new();
    for (user, token) in [(Some(world.nora), "a"), (Some(world.otto), "b"), (None, "c")] {
        let questionnaire = world.questionnaire_in(world.component, NOW).await?;
        let one = world.question(questionnaire, 0, QuestionType::ShortAnswer).await?;
        let two = world.question(questionnaire, 1, QuestionType::Sorting).await?;
        let mut response = new_response(questionnaire, user, token, &[one, two]);
        response.answers[1] = AnswerRow { question: two, body: None, value: Some(json!([token])) };
        let hours = i64::try_from(samples.len()).unwrap_or_default();
        response.created_at = NOW + Duration::hours(hours);
        response.client_ip = Some(format!("digest {token}"));
        samples.push(response);
    }
    Ok(Samples::new(world.responses, [world.mine, world.other], samples, ResponseId(987_654)))
}

/// Visible questionnaires are listed once, last changed first, with their forms; others are not found.
pub async fn lists_what_is_visible(world: World<'_>) -> Result<()> {
    let first = world.questionnaire_in(world.component, NOW).await?;
    let hidden = world.questionnaire_in(world.unpublished, NOW).await?;
    let second = world.questionnaire_in(world.second, NOW + Duration::HOUR).await?;
    let third = world.questionnaire_in(world.component, NOW).await?;
    let question = world.question(first, 0, QuestionType::Sorting).await?;
    let option = world.option(question).await?;
    assert_eq!(world.listed(ALL).await?.items, [second, third, first]);
    for (page, expected, has_more) in [(1, vec![second, third], true), (2, vec![first], false)] {
        let found = world.listed(PageRequest::new(page, 2)).await?;
        assert_eq!((found.items, found.has_more), (expected, has_more));
    }
    check_list(async |raw, page| {
        let filters = read_filters(QUESTIONNAIRE_FIELDS, &raw)?;
        let page = world.questionnaires.list(world.public(), &filters, page).await?;
        Ok(page.map(|(found, _)| (found.id, found.questionnaire.created_at, found.questionnaire.updated_at)))
    })
    .await?;
    let all = world.questionnaires.list(world.public(), &[], ALL).await?.items;
    let form = &all[2].1;
    assert_eq!(form.questions()[0].options[0].id, option);
    assert_eq!(*form, world.questionnaires.form(world.mine, first).await?);
    assert!(world.questionnaires.find_visible(world.public(), first).await?.is_some());
    assert!(world.questionnaires.find_visible(world.public(), hidden).await?.is_none());
    let elsewhere = ReadContext { organization: world.other, ..world.public() };
    assert!(world.questionnaires.find_visible(elsewhere, first).await?.is_none());
    assert!(world.questionnaires.form(world.other, first).await?.questions().is_empty());
    world.questionnaires.touch(world.mine, first, NOW + Duration::DAY).await?;
    assert_eq!(world.listed(ALL).await?.items[0], first);
    let touched = world.questionnaires.touch(world.other, first, NOW).await;
    assert!(matches!(touched, Err(Error::NotFound)));
    Ok(())
}

/// The rows of a question keep their ids, are ordered by position, and go with their question.
pub async fn keeps_the_rows_of_a_question(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let row = |id, reference: &str, position| MatrixRow {
        id: MatrixRowId(id),
        reference: reference.to_owned(),
        position,
        body: text(reference),
    };
    let question = Question::new(questionnaire, 0, QuestionType::MatrixSingle, text("Q"));
    let question = Question { rows: vec![row(0, "b", 1), row(0, "a", 0)], ..question };
    let id = world.questions.add(world.mine, &question).await?;
    let stored = world.questions.find(world.mine, id).await?.ok_or(Error::NotFound)?;
    let names: Vec<&str> = stored.rows.iter().map(|row| row.reference.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let kept = stored.rows[1].id;
    let changed = Question { rows: vec![row(kept.0, "b", 5), row(0, "c", 2)], ..stored };
    civitas_kernel::records::conformance::replace(world.questions, world.mine, id, &changed).await?;
    let stored = world.questions.find(world.mine, id).await?.ok_or(Error::NotFound)?;
    let found: Vec<_> = stored.rows.iter().map(|row| (row.reference.as_str(), row.position)).collect();
    assert_eq!((found, stored.rows[1].id), (vec![("c", 2), ("b", 5)], kept));
    world.questions.remove(world.mine, id).await?;
    let removed = world.questions.remove(world.mine, id).await;
    assert!(matches!(removed, Err(Error::NotFound)));
    Ok(())
}

/// Questions are listed by position, options by id, each of its parent alone.
pub async fn lists_questions_and_options_in_order(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let last = world.question(questionnaire, 2, QuestionType::Sorting).await?;
    let first = world.question(questionnaire, 1, QuestionType::Sorting).await?;
    let second = world.question(questionnaire, 1, QuestionType::Files).await?;
    let elsewhere = world.questionnaire_in(world.component, NOW).await?;
    world.question(elsewhere, 0, QuestionType::Files).await?;
    let listed = world.questions.list(world.mine, questionnaire, &[], ALL).await?.map(|(id, _)| id);
    assert_eq!(listed.items, [first, second, last]);
    assert_eq!(world.questions.count(world.mine, questionnaire).await?, 3);
    assert_eq!(world.questions.count(world.other, questionnaire).await?, 0);
    let (a, b) = (world.option(first).await?, world.option(first).await?);
    let options = world.options.list(world.mine, first, &[], ALL).await?.map(|(id, _)| id);
    assert_eq!(options.items, [a, b]);
    assert_eq!(world.options.count(world.mine, first).await?, 2);
    world.options.remove(world.mine, a).await?;
    let removed = world.options.remove(world.other, b).await;
    assert!(matches!(removed, Err(Error::NotFound)));
    assert_eq!(world.options.count(world.mine, first).await?, 1);
    Ok(())
}

/// A respondent has one response to a questionnaire; the transaction continues after the second attempt.
pub async fn stores_one_response_of_a_respondent(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let question = world.question(questionnaire, 0, QuestionType::ShortAnswer).await?;
    let response = new_response(questionnaire, Some(world.nora), "token", &[question]);
    let id = world.responses.add(world.mine, &response).await?;
    let again = world.responses.add(world.mine, &response).await.expect_err("a second response");
    assert_eq!(again.details()[0].code, "already_answered");
    world.responses.remove(world.mine, id).await?;
    world.responses.add(world.mine, &response).await?;
    Ok(())
}

/// A response is found by each of its answers under the lowest id; answers are listed newest first.
pub async fn finds_responses_by_their_answers(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let one = world.question(questionnaire, 0, QuestionType::ShortAnswer).await?;
    let two = world.question(questionnaire, 1, QuestionType::ShortAnswer).await?;
    let first = new_response(questionnaire, Some(world.nora), "a", &[one, two]);
    let second = new_response(questionnaire, None, "b", &[one]);
    let second = Response { created_at: NOW + Duration::HOUR, ..second };
    let first_id = world.responses.add(world.mine, &first).await?;
    let second_id = world.responses.add(world.mine, &second).await?;
    let ids: Vec<AnswerId> =
        world.responses.answer_ids(world.mine, first_id).await?.into_iter().map(|(_, id)| id).collect();
    for id in &ids {
        let (response, found) =
            world.responses.find_by_answer(world.mine, *id).await?.ok_or(Error::NotFound)?;
        assert_eq!((response, found.id, &found.response), (first_id, ids[0], &first));
        assert!(world.responses.find_by_answer(world.other, *id).await?.is_none());
    }
    let listed = async |user| {
        let page = world.responses.list_answers(world.mine, questionnaire, user, &[], ALL).await?;
        Ok::<_, Error>(page.items.into_iter().map(|answer| answer.id).collect::<Vec<_>>())
    };
    let newest = world.responses.answer_ids(world.mine, second_id).await?[0].1;
    assert_eq!(listed(None).await?, [newest, ids[1], ids[0]]);
    assert_eq!(listed(Some(world.nora)).await?, [ids[1], ids[0]]);
    check_list(async |raw, page| {
        let filters = read_filters(ANSWER_FIELDS, &raw)?;
        let page = world.responses.list_answers(world.mine, questionnaire, None, &filters, page).await?;
        Ok(page.map(|answer| (answer.id, answer.created_at, answer.created_at)))
    })
    .await?;
    world.responses.set_value(world.mine, ids[0], &json!(["90"])).await?;
    let (_, found) = world.responses.find_by_answer(world.mine, ids[1]).await?.ok_or(Error::NotFound)?;
    assert_eq!(found.response.answers[0].read_back(), json!(["90"]));
    assert_eq!(world.questions.answers_with_files(world.mine, one).await?, [ids[0]]);
    Ok(())
}

/// The deletion of a question takes its answers, and responses without another answer.
pub async fn removes_answers_with_their_question(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let one = world.question(questionnaire, 0, QuestionType::ShortAnswer).await?;
    let two = world.question(questionnaire, 1, QuestionType::ShortAnswer).await?;
    let both = world.responses.add(world.mine, &new_response(questionnaire, None, "a", &[one, two])).await?;
    let only = world.responses.add(world.mine, &new_response(questionnaire, None, "b", &[one])).await?;
    assert!(world.questions.has_answers(world.mine, one).await?);
    world.questions.remove(world.mine, one).await?;
    assert_eq!(world.responses.find(world.mine, only).await?, None);
    let left = world.responses.find(world.mine, both).await?.ok_or(Error::NotFound)?;
    assert_eq!(left.answers.iter().map(|row| row.question).collect::<Vec<_>>(), [two]);
    assert!(world.questions.has_answers(world.mine, two).await?);
    Ok(())
}

/// Conditions go with either question, and lose an option that is deleted.
pub async fn keeps_conditions_consistent(world: World<'_>) -> Result<()> {
    let questionnaire = world.questionnaire_in(world.component, NOW).await?;
    let compared = world.question(questionnaire, 0, QuestionType::SingleOption).await?;
    let shown = world.question(questionnaire, 1, QuestionType::Files).await?;
    let option = world.option(compared).await?;
    let condition = DisplayCondition {
        question: shown,
        condition_question: compared,
        kind: ConditionType::Equal,
        option: Some(option),
        value: None,
        mandatory: false,
    };
    let id = world.conditions.add(world.mine, &condition).await?;
    world.options.remove(world.mine, option).await?;
    let stored = world.conditions.find(world.mine, id).await?.ok_or(Error::NotFound)?;
    assert_eq!(stored.option, None);
    world.questions.remove(world.mine, compared).await?;
    assert_eq!(world.conditions.find(world.mine, id).await?, None);
    Ok(())
}
