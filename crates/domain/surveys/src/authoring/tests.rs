use super::*;
use crate::{
    MockAnswerFiles, MockAnswerOptionStore, MockQuestionStore, MockQuestionnaireStore, MockResponseStore,
    MockSurveyLookup, MockSurveyStore, QuestionType, Questionnaire, QuestionnaireParent,
};
use civitas_kernel::testing::text;
use civitas_kernel::{ComponentContext, ComponentId, SurveyId};

fn questionnaire(ctx: &Ctx) -> Questionnaire {
    Questionnaire::new(QuestionnaireParent::Survey(SurveyId(1)), ComponentId(3), text("Title"), ctx.now)
}

fn ctx() -> Ctx {
    Ctx::for_test().with_access(&MANAGE_QUESTIONS)
}

/// Stores with one questionnaire and a long answer in it; the time of the questionnaire is set as often.
fn stores(touched: usize) -> (MockQuestionnaireStore, MockQuestionStore) {
    let mut questionnaires = MockQuestionnaireStore::new();
    let found = questionnaire(&ctx());
    let locked = found.clone();
    questionnaires.expect_find_visible().returning(move |_, id| {
        let context = ComponentContext::for_test(ComponentId(3), found.created_at);
        Ok((id.0 == 40).then(|| QuestionnaireDetail { id, questionnaire: found.clone(), context }))
    });
    questionnaires.expect_find_for_update().returning(move |_, _| Ok(Some(locked.clone())));
    questionnaires.expect_touch().times(touched).returning(|_, _, _| Ok(()));
    let mut questions = MockQuestionStore::new();
    questions.expect_find().returning(|_, _| {
        let question = Question::new(QuestionnaireId(40), 0, QuestionType::LongAnswer, text("Why?"));
        Ok(Some(Question { max_characters: 9, ..question }))
    });
    (questionnaires, questions)
}

fn update() -> UpdateQuestion {
    UpdateQuestion {
        id: QuestionId(1),
        questionnaire: None,
        position: None,
        mandatory: None,
        kind: None,
        body: None,
        description: None,
        max_choices: None,
        max_characters: None,
    }
}

async fn updated(
    ctx: &Ctx,
    stores: (MockQuestionnaireStore, MockQuestionStore),
    command: UpdateQuestion,
) -> Result<Question> {
    let (options, files) = (MockAnswerOptionStore::new(), MockAnswerFiles::new());
    let mut lookup = MockSurveyLookup::new();
    lookup.expect_administers().returning(|_, user, _| Ok(user.0 == 8));
    let (questionnaires, questions) = &stores;
    let writes = Questionnaires {
        surveys: &MockSurveyStore::new(),
        questionnaires,
        questions,
        options: &options,
        responses: &MockResponseStore::new(),
        lookup: &lookup,
        files: &files,
    };
    Ok(writes.handle(ctx, command).await?.question)
}

#[tokio::test]
async fn users_write_if_they_administer_the_space_or_the_organization() {
    for (ctx, may) in [
        (ctx(), true),
        (ctx().with_user(7), false),
        (ctx().with_user(8), true),
        (ctx().with_user(7).with_admin_viewer(7), true),
    ] {
        let outcome = updated(&ctx, stores(0), update()).await;
        assert_eq!(outcome.is_ok(), may);
        assert!(may || matches!(outcome, Err(Error::Forbidden)));
    }
    let refused = updated(&Ctx::for_test(), stores(0), update()).await;
    assert!(matches!(refused, Err(Error::Forbidden)), "without the ability");
}

#[tokio::test]
async fn a_new_type_resets_limits_and_is_refused_once_there_are_answers() {
    let switch = || UpdateQuestion { kind: Some(QuestionType::Sorting), ..update() };
    let mut fresh = stores(1);
    fresh.1.expect_has_answers().returning(|_, _| Ok(false));
    fresh.1.expect_save().once().returning(|_, _, _| Ok(()));
    let question = updated(&ctx(), fresh, switch()).await.unwrap();
    assert_eq!((question.kind, question.max_characters), (QuestionType::Sorting, 0));
    let mut answered = stores(0);
    answered.1.expect_has_answers().returning(|_, _| Ok(true));
    let refused = updated(&ctx(), answered, switch()).await.unwrap_err();
    assert_eq!(
        (refused.details()[0].code.as_ref(), refused.details()[0].field.as_ref()),
        ("locked", "question_type")
    );
}

#[tokio::test]
async fn a_limit_of_another_variant_and_another_questionnaire_are_refused() {
    let limit = UpdateQuestion { max_choices: Some(NullableValue { value: None }), ..update() };
    let refused = updated(&ctx(), stores(0), limit).await.unwrap_err();
    assert_eq!(refused.description(), "Unknown key: data.attributes.max_choices");
    let moved = UpdateQuestion { questionnaire: Some(QuestionnaireId(41)), ..update() };
    let refused = updated(&ctx(), stores(0), moved).await.unwrap_err();
    assert_eq!(refused.description(), "relationships.questionnaire does not match");
}

#[tokio::test]
async fn a_change_that_changes_nothing_leaves_the_questionnaire_as_it_is() {
    let same = UpdateQuestion { body: Some(text("Why?")), ..update() };
    assert_eq!(updated(&ctx(), stores(0), same).await.unwrap().body, text("Why?"));
}
