use super::*;
use crate::{
    AnswerOption, ConditionType, DisplayCondition, Form, FormOption, FormQuestion, MatrixRow,
    MockAnswerFiles, MockAnswerOptionStore, MockDisplayConditionStore, MockQuestionStore,
    MockQuestionnaireStore, MockResponseStore, MockSurveyLookup, MockSurveyStore, Question, QuestionType,
    Questionnaire, QuestionnaireParent, Survey,
};
use civitas_kernel::records::revision_at;
use civitas_kernel::testing::text;
use civitas_kernel::{
    AnswerId, AnswerOptionId, ComponentId, DisplayConditionId, Locale, MatrixRowId, OrganizationId,
    QuestionId, QuestionnaireId, ResponseId, SurveyId,
};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
const LATER: OffsetDateTime = datetime!(2026-03-02 09:30 UTC);
const HERE: OrganizationId = OrganizationId(1);
const POLL: QuestionnaireId = QuestionnaireId(40);
const FIRST: QuestionId = QuestionId(201);
const SECOND: QuestionId = QuestionId(202);
const BUS: AnswerOptionId = AnswerOptionId(301);

fn question(position: i64, kind: QuestionType) -> Question {
    Question::new(POLL, position, kind, text("Why?"))
}

fn condition() -> DisplayCondition {
    DisplayCondition {
        question: SECOND,
        condition_question: FIRST,
        kind: ConditionType::Equal,
        option: Some(BUS),
        value: None,
        mandatory: false,
    }
}

/// A choice with one option, then a matrix without condition, then a long answer; all at position 0.
fn form() -> Form {
    let option = AnswerOption { question: FIRST, body: text("Bus") };
    let of =
        |id, kind, options| FormQuestion { id, question: question(0, kind), options, conditions: Vec::new() };
    Form::new(vec![
        of(FIRST, QuestionType::SingleOption, vec![FormOption { id: BUS, option }]),
        of(SECOND, QuestionType::MatrixSingle, Vec::new()),
        of(QuestionId(203), QuestionType::LongAnswer, Vec::new()),
    ])
}

/// The stores of a questionnaire that was last changed at [`NOW`].
struct Stores {
    questionnaires: MockQuestionnaireStore,
    questions: MockQuestionStore,
    options: MockAnswerOptionStore,
    conditions: MockDisplayConditionStore,
    files: MockAnswerFiles,
}

impl Stores {
    /// The time of the last change is set as often as `touched` says.
    fn of(form: Form, touched: usize) -> Self {
        let mut questionnaires = MockQuestionnaireStore::new();
        questionnaires.expect_find_for_update().returning(|_, id| {
            let parent = QuestionnaireParent::Survey(SurveyId(1));
            Ok((id == POLL).then(|| Questionnaire::new(parent, ComponentId(3), text("Title"), NOW)))
        });
        questionnaires.expect_form().returning(move |_, _| Ok(form.clone()));
        questionnaires.expect_touch().times(touched).returning(|_, _, _| Ok(()));
        let mut questions = MockQuestionStore::new();
        questions.expect_count().returning(|_, _| Ok(3));
        Self {
            questionnaires,
            questions,
            options: MockAnswerOptionStore::new(),
            conditions: MockDisplayConditionStore::new(),
            files: MockAnswerFiles::new(),
        }
    }

    fn admin(&self) -> QuestionAdministration<'_> {
        let Self { questionnaires, questions, options, conditions, files } = self;
        QuestionAdministration { questionnaires, questions, options, conditions, files }
    }

    async fn update(&self, id: QuestionId, edit: QuestionEdit) -> Result<bool> {
        self.admin().update(HERE, (id, &revision_at(NOW)), edit, (Locale::EN, LATER)).await
    }
}

fn plain(question: Question) -> QuestionEdit {
    QuestionEdit { question, options: Vec::new(), conditions: Vec::new() }
}

fn fields(error: &Error) -> Vec<(String, String)> {
    error.details().iter().map(|one| (one.field.to_string(), one.code.to_string())).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect()
}

#[tokio::test]
async fn a_new_question_is_the_last_one_and_has_its_options_and_conditions() {
    let mut stores = Stores::of(form(), 1);
    stores.questions.expect_add().once().returning(|_, question| {
        assert_eq!(question.position, 1);
        Ok(QuestionId(204))
    });
    stores.options.expect_count().returning(|_, _| Ok(0));
    stores.options.expect_add().once().returning(|_, option| {
        assert_eq!((option.question, &option.body), (QuestionId(204), &text("Tram")));
        Ok(AnswerOptionId(302))
    });
    stores.conditions.expect_list_of_question().returning(|_, _| Ok(Vec::new()));
    stores.conditions.expect_add().once().returning(|_, condition| {
        assert_eq!(condition.question, QuestionId(204));
        Ok(DisplayConditionId(9))
    });
    let edit = QuestionEdit {
        question: question(0, QuestionType::Sorting),
        options: vec![QuestionPartEdit { name: "new-1".to_owned(), id: None, value: Some(text("Tram")) }],
        conditions: vec![QuestionPartEdit { name: "new-1".to_owned(), id: None, value: Some(condition()) }],
    };
    let created = stores.admin().create(HERE, Some(&revision_at(NOW)), edit, (Locale::EN, LATER)).await;
    assert_eq!(created.unwrap(), QuestionId(204));
}

#[tokio::test]
async fn all_errors_of_a_question_are_found_together() {
    let stores = Stores::of(form(), 0);
    let row = MatrixRow { id: MatrixRowId(0), reference: String::new(), position: 0, body: text(" ") };
    let question = Question { rows: vec![row], body: text(""), ..question(0, QuestionType::MatrixSingle) };
    let option = QuestionPartEdit { name: "new-1".to_owned(), id: None, value: Some(text("")) };
    let edit = QuestionEdit { options: vec![option], ..plain(question) };
    let refused = stores.update(SECOND, edit).await.unwrap_err();
    let expected = [("body", "blank"), ("rows[0]", "blank"), ("options[new-1]", "blank")];
    assert_eq!(fields(&refused), pairs(&expected));
}

#[tokio::test]
async fn a_questionnaire_that_changed_meanwhile_is_not_overwritten() {
    let stores = Stores::of(form(), 0);
    let seen = revision_at(NOW - Duration::SECOND);
    let edit = plain(question(0, QuestionType::LongAnswer));
    let refused = stores.admin().update(HERE, (FIRST, &seen), edit, (Locale::EN, LATER)).await.unwrap_err();
    assert_eq!(fields(&refused), pairs(&[("revision", "changed_meanwhile")]));
}

#[tokio::test]
async fn new_rows_get_references_of_their_own() {
    let mut stores = Stores::of(form(), 1);
    stores.questions.expect_save().once().returning(|_, _, change| {
        let names: Vec<&str> = change.after.rows.iter().map(|row| row.reference.as_str()).collect();
        assert_eq!(names, ["row-1", "row-2", "row-3"]);
        Ok(())
    });
    let row = |reference: &str| MatrixRow {
        id: MatrixRowId(0),
        reference: reference.to_owned(),
        position: 0,
        body: text("Row"),
    };
    let rows = vec![row("row-1"), row(""), row("")];
    let question = Question { rows, ..question(0, QuestionType::MatrixSingle) };
    assert!(stores.update(SECOND, plain(question)).await.unwrap());
}

#[tokio::test]
async fn a_question_without_a_change_is_not_stored() {
    let stores = Stores::of(form(), 0);
    assert!(!stores.update(SECOND, plain(question(7, QuestionType::MatrixSingle))).await.unwrap());
}

#[tokio::test]
async fn the_type_is_locked_once_there_are_answers() {
    let mut stores = Stores::of(form(), 0);
    stores.questions.expect_has_answers().returning(|_, _| Ok(true));
    let refused = stores.update(SECOND, plain(question(0, QuestionType::Files))).await.unwrap_err();
    assert_eq!(fields(&refused), pairs(&[("question_type", "locked")]));
}

#[tokio::test]
async fn options_of_a_question_are_changed_and_removed() {
    let mut stores = Stores::of(form(), 1);
    stores.options.expect_find_for_update().returning(|_, id| {
        let question = if id.0 < 400 { FIRST } else { SECOND };
        Ok(Some(AnswerOption { question, body: text("Bus") }))
    });
    stores.options.expect_save().once().returning(|_, _, _| Ok(()));
    stores.options.expect_remove().once().returning(|_, _| Ok(()));
    let part =
        |id: i64, value| QuestionPartEdit { name: id.to_string(), id: Some(AnswerOptionId(id)), value };
    let options = vec![part(301, Some(text("Tram"))), part(302, None), part(303, Some(text("Bus")))];
    let edit = QuestionEdit { options, ..plain(question(0, QuestionType::SingleOption)) };
    assert!(stores.update(FIRST, edit).await.unwrap());
    let foreign =
        QuestionEdit { options: vec![part(400, None)], ..plain(question(0, QuestionType::SingleOption)) };
    assert!(matches!(stores.update(FIRST, foreign).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn a_condition_names_an_earlier_question_and_one_of_its_options() {
    for (change, expected) in [
        (DisplayCondition { condition_question: SECOND, ..condition() }, ("question", "inclusion")),
        (DisplayCondition { condition_question: QuestionId(203), ..condition() }, ("question", "inclusion")),
        (DisplayCondition { option: None, ..condition() }, ("option", "inclusion")),
        (DisplayCondition { option: Some(AnswerOptionId(9)), ..condition() }, ("option", "inclusion")),
        (DisplayCondition { kind: ConditionType::Match, ..condition() }, ("value", "blank")),
    ] {
        let mut stores = Stores::of(form(), 0);
        stores.conditions.expect_list_of_question().returning(|_, _| Ok(Vec::new()));
        let edit = QuestionPartEdit { name: "new-1".to_owned(), id: None, value: Some(change) };
        let edit = QuestionEdit { conditions: vec![edit], ..plain(question(0, QuestionType::MatrixSingle)) };
        let refused = stores.update(SECOND, edit).await.unwrap_err();
        let field = format!("conditions[new-1][{}]", expected.0);
        assert_eq!(fields(&refused), [(field, expected.1.to_owned())]);
    }
}

#[tokio::test]
async fn a_condition_loses_what_its_type_does_not_have_and_stays_when_it_does_not_change() {
    let lost = DisplayCondition { option: None, ..condition() };
    let kept = lost.clone();
    let mut stores = Stores::of(form(), 1);
    stores
        .conditions
        .expect_list_of_question()
        .returning(move |_, _| Ok(vec![(DisplayConditionId(9), kept.clone())]));
    stores.conditions.expect_save().once().returning(|_, _, change| {
        assert_eq!((change.after.kind, change.after.option), (ConditionType::Answered, None));
        Ok(())
    });
    let part = |value| QuestionPartEdit { name: "0".to_owned(), id: Some(0), value: Some(value) };
    let edit = |value| QuestionEdit {
        conditions: vec![part(value)],
        ..plain(question(0, QuestionType::MatrixSingle))
    };
    assert!(!stores.update(SECOND, edit(lost)).await.unwrap(), "its option was deleted before");
    let answered = DisplayCondition { kind: ConditionType::Answered, ..condition() };
    assert!(stores.update(SECOND, edit(answered)).await.unwrap());
}

#[tokio::test]
async fn a_question_moves_by_one_place_also_among_equal_positions() {
    let mut stores = Stores::of(form(), 1);
    let moved = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let saved = moved.clone();
    stores.questions.expect_save().returning(move |_, id, change| {
        saved.lock().unwrap().push((id.0, change.after.position));
        Ok(())
    });
    let admin = stores.admin();
    assert!(admin.reorder(HERE, (POLL, FIRST), QuestionMove::Down, LATER).await.unwrap());
    assert_eq!(*moved.lock().unwrap(), [(201, 1), (203, 2)]);
    assert!(!admin.reorder(HERE, (POLL, FIRST), QuestionMove::Up, LATER).await.unwrap());
    assert!(!admin.reorder(HERE, (POLL, QuestionId(203)), QuestionMove::Down, LATER).await.unwrap());
    let missing = admin.reorder(HERE, (POLL, QuestionId(9)), QuestionMove::Up, LATER).await;
    assert!(matches!(missing, Err(Error::NotFound)));
}

#[tokio::test]
async fn a_question_does_not_move_before_the_one_that_its_condition_names() {
    let mut questions = form().questions().to_vec();
    questions[1].conditions.push(condition());
    let form = Form::new(questions);
    assert_eq!(form.conditions_on(FIRST).len(), 1);
    assert_eq!(form.conditions_on_option(BUS)[0].0.id, SECOND);
    assert_eq!(form.comparable(Some(SECOND)).len(), 1);
    assert_eq!(form.comparable(None).len(), 3);
    let stores = Stores::of(form, 0);
    for (id, direction) in [(SECOND, QuestionMove::Up), (FIRST, QuestionMove::Down)] {
        let refused = stores.admin().reorder(HERE, (POLL, id), direction, LATER).await.unwrap_err();
        assert_eq!(fields(&refused), pairs(&[("position", "before_condition")]));
    }
}

#[tokio::test]
async fn a_question_of_another_questionnaire_is_not_removed() {
    let mut stores = Stores::of(form(), 1);
    stores.questions.expect_find().returning(|_, id| {
        let other = Question { questionnaire: QuestionnaireId(41), ..question(0, QuestionType::Files) };
        Ok(Some(if id == FIRST { question(0, QuestionType::Files) } else { other }))
    });
    stores.questions.expect_answers_with_files().returning(|_, _| Ok(vec![AnswerId(5)]));
    stores.questions.expect_remove().once().returning(|_, _| Ok(()));
    stores.files.expect_detach().withf(|_, answers| answers == [AnswerId(5)]).once().returning(|_, _| Ok(()));
    stores.admin().remove(HERE, (POLL, FIRST), LATER).await.unwrap();
    let other = stores.admin().remove(HERE, (POLL, SECOND), LATER).await;
    assert!(matches!(other, Err(Error::NotFound)));
}

struct SurveyStores {
    surveys: MockSurveyStore,
    questionnaires: MockQuestionnaireStore,
    lookup: MockSurveyLookup,
}

impl SurveyStores {
    fn of(parent: QuestionnaireParent) -> Self {
        let mut questionnaires = MockQuestionnaireStore::new();
        questionnaires
            .expect_find_for_update()
            .returning(move |_, _| Ok(Some(Questionnaire::new(parent, ComponentId(3), text("Title"), NOW))));
        let mut surveys = MockSurveyStore::new();
        surveys.expect_find_for_update().returning(|_, _| Ok(Some(Survey::new(ComponentId(3), NOW))));
        let mut lookup = MockSurveyLookup::new();
        lookup.expect_has_surveys().returning(|_, component| Ok(component.0 == 3));
        Self { surveys, questionnaires, lookup }
    }

    fn admin(&self) -> SurveyAdministration<'_> {
        SurveyAdministration {
            surveys: &self.surveys,
            questionnaires: &self.questionnaires,
            lookup: &self.lookup,
        }
    }
}

#[tokio::test]
async fn a_survey_is_created_with_its_questionnaire_in_a_component_for_surveys() {
    let mut stores = SurveyStores::of(QuestionnaireParent::Survey(SurveyId(1)));
    stores.surveys.expect_add().once().returning(|_, survey| {
        assert_eq!(survey.ends_at, Some(LATER));
        Ok(SurveyId(7))
    });
    stores.questionnaires.expect_add().once().returning(|_, questionnaire| {
        assert_eq!(
            (questionnaire.parent, &questionnaire.tos),
            (QuestionnaireParent::Survey(SurveyId(7)), &text("Terms"))
        );
        Ok(POLL)
    });
    let settings =
        SurveySettings { title: text("Poll"), tos: text("Terms"), ends_at: Some(LATER), ..<_>::default() };
    let create = async |component, settings: &SurveySettings| {
        stores.admin().create(HERE, ComponentId(component), settings, (Locale::EN, NOW)).await
    };
    assert_eq!(create(3, &settings).await.unwrap(), POLL);
    let refused = create(4, &settings).await.unwrap_err();
    assert_eq!(fields(&refused), pairs(&[("component", "inclusion")]));
    let wrong = SurveySettings { title: text(""), starts_at: Some(LATER + Duration::DAY), ..settings };
    let refused = create(3, &wrong).await.unwrap_err();
    assert_eq!(fields(&refused), pairs(&[("title", "blank"), ("ends_at", "before_start")]));
}

#[tokio::test]
async fn other_dates_change_the_survey_and_the_revision_of_its_questionnaire() {
    let mut stores = SurveyStores::of(QuestionnaireParent::Survey(SurveyId(1)));
    stores.surveys.expect_save().once().returning(|_, _, _| Ok(()));
    stores.questionnaires.expect_save().once().returning(|_, _, change| {
        assert_eq!(change.after.updated_at, LATER);
        Ok(())
    });
    let settings = SurveySettings { title: text("Title"), ..SurveySettings::default() };
    let update = async |settings: &SurveySettings| {
        stores.admin().update(HERE, (POLL, &revision_at(NOW)), settings, (Locale::EN, LATER)).await.unwrap()
    };
    assert!(update(&settings).await.is_empty());
    assert!(!update(&SurveySettings { starts_at: Some(NOW), ..settings }).await.is_empty());
}

#[tokio::test]
async fn a_response_is_deleted_with_its_files() {
    let mut responses = MockResponseStore::new();
    responses.expect_answer_ids().returning(|_, _| Ok(vec![(FIRST, AnswerId(5))]));
    responses.expect_remove().once().returning(|_, _| Ok(()));
    let mut files = MockAnswerFiles::new();
    files.expect_detach().withf(|_, answers| answers == [AnswerId(5)]).once().returning(|_, _| Ok(()));
    remove_response(&responses, &files, HERE, ResponseId(1)).await.unwrap();
}
