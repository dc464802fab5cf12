use super::*;
use crate::{
    Form, FormQuestion, MockAnswerFiles, MockAnswerOptionStore, MockQuestionStore, MockQuestionnaireStore,
    MockResponseStore, MockSurveyLookup, MockSurveyStore, Question, QuestionType, Questionnaire, Respondent,
    Survey,
};
use civitas_kernel::{ComponentContext, ComponentId, MeetingId, SurveyId, Translated};
use serde_json::json;
use time::Duration;

const TEXT: QuestionId = QuestionId(1);
const UPLOAD: QuestionId = QuestionId(2);

/// The stores of one questionnaire.
struct Stores {
    surveys: MockSurveyStore,
    questionnaires: MockQuestionnaireStore,
    questions: MockQuestionStore,
    options: MockAnswerOptionStore,
    responses: MockResponseStore,
    lookup: MockSurveyLookup,
    files: MockAnswerFiles,
}

impl Stores {
    fn of(parent: QuestionnaireParent, survey: Survey) -> Self {
        let now = survey.created_at;
        let mut questionnaires = MockQuestionnaireStore::new();
        questionnaires.expect_find_visible().returning(move |_, id| {
            let questionnaire = Questionnaire {
                salt: "salt".to_owned(),
                ..Questionnaire::new(parent, ComponentId(3), Translated::default(), now)
            };
            Ok(Some(QuestionnaireDetail {
                id,
                questionnaire,
                context: ComponentContext::for_test(ComponentId(3), now),
            }))
        });
        questionnaires.expect_lock_for_submission().returning(|_, _| Ok(true));
        questionnaires.expect_form().returning(|_, _| {
            let of = |id, kind| FormQuestion {
                id,
                question: Question::new(QuestionnaireId(40), id.0, kind, Translated::default()),
                options: Vec::new(),
                conditions: Vec::new(),
            };
            Ok(Form::new(vec![of(TEXT, QuestionType::ShortAnswer), of(UPLOAD, QuestionType::Files)]))
        });
        let mut surveys = MockSurveyStore::new();
        surveys.expect_find().returning(move |_, _| Ok(Some(survey.clone())));
        let mut responses = MockResponseStore::new();
        responses.expect_add().returning(|_, _| Ok(ResponseId(5)));
        responses
            .expect_answer_ids()
            .returning(|_, _| Ok(vec![(TEXT, AnswerId(514)), (UPLOAD, AnswerId(515))]));
        let mut lookup = MockSurveyLookup::new();
        lookup.expect_respondent().returning(|_, user| {
            Ok([(17, false), (18, true)]
                .into_iter()
                .find(|(id, _)| *id == user.0)
                .map(|(_, blocked)| Respondent { blocked }))
        });
        lookup.expect_administers().returning(|_, _, _| Ok(false));
        let (questions, options) = (MockQuestionStore::new(), MockAnswerOptionStore::new());
        Self { surveys, questionnaires, questions, options, responses, lookup, files: MockAnswerFiles::new() }
    }

    fn survey() -> Self {
        Self::of(QuestionnaireParent::Survey(SurveyId(1)), Survey::new(ComponentId(3), service().now))
    }

    fn meeting() -> Self {
        Self::of(QuestionnaireParent::Meeting(MeetingId(1)), Survey::new(ComponentId(3), service().now))
    }

    fn writes(&self) -> Questionnaires<'_> {
        let Self { surveys, questionnaires, questions, options, responses, lookup, files } = self;
        Questionnaires { surveys, questionnaires, questions, options, responses, lookup, files }
    }

    async fn submit(&self, ctx: &Ctx, command: SubmitAnswers) -> Result<ResponseDetail> {
        self.writes().handle(ctx, command).await
    }
}

fn service() -> Ctx {
    Ctx::for_test().with_access(&SUBMIT_ANSWERS).with_access(&DESTROY_ANSWERS)
}

fn submission(user: Option<i64>, anonymous: bool) -> SubmitAnswers {
    let answers = json!({"1": "By bike"}).as_object().cloned().unwrap();
    let user = user.map(UserId);
    SubmitAnswers { questionnaire: QuestionnaireId(40), answers, anonymous, user, client_ip: None }
}

#[tokio::test]
async fn the_respondent_is_the_one_of_the_table() {
    let stores = Stores::survey();
    let respondent = async |ctx: &Ctx, user, anonymous| {
        let saved = stores.submit(ctx, submission(user, anonymous)).await;
        saved.map(|saved| saved.response.user).map_err(|error| error.description().into_owned())
    };
    let nora = service().with_user(7);
    assert_eq!(respondent(&nora, None, false).await, Ok(Some(UserId(7))));
    assert_eq!(respondent(&nora, Some(7), false).await, Ok(Some(UserId(7))));
    assert_eq!(respondent(&nora, Some(8), false).await, Err("Forbidden".to_owned()));
    assert_eq!(respondent(&nora, Some(8), true).await, Ok(None));
    assert_eq!(respondent(&service(), None, false).await, Ok(None));
    assert_eq!(respondent(&service(), Some(17), false).await, Ok(Some(UserId(17))));
    assert_eq!(respondent(&service(), Some(18), false).await, Err("User blocked".to_owned()));
    assert_eq!(respondent(&service(), Some(19), false).await, Err("Resource not found".to_owned()));
    let stores = Stores::meeting();
    let refused = stores.submit(&service(), submission(None, false)).await.unwrap_err();
    assert_eq!(refused.description(), "User required");
    let refused = stores.submit(&nora, submission(None, true)).await.unwrap_err();
    assert_eq!(refused.details()[0].code, "anonymous_not_allowed");
}

#[tokio::test]
async fn a_response_has_a_token_of_its_respondent_and_a_digest_of_the_address() {
    let stores = Stores::survey();
    let nora = service().with_user(7);
    let address = Some("203.0.113.42".parse().unwrap());
    let sent = || SubmitAnswers { client_ip: address, ..submission(None, false) };
    let (one, two) =
        (stores.submit(&nora, sent()).await.unwrap(), stores.submit(&nora, sent()).await.unwrap());
    assert_eq!(one.id, AnswerId(514));
    assert_eq!(one.response.session_token, two.response.session_token);
    assert_eq!(one.response.client_ip, two.response.client_ip);
    assert!(one.response.client_ip.is_some_and(|digest| !digest.contains("203")));
    let anonymous =
        async || stores.submit(&nora, submission(None, true)).await.unwrap().response.session_token;
    assert_ne!(anonymous().await, anonymous().await);
}

#[tokio::test]
async fn a_survey_is_answered_while_it_is_open() {
    let now = service().now;
    let survey = Survey { ends_at: Some(now - Duration::SECOND), ..Survey::new(ComponentId(3), now) };
    let stores = Stores::of(QuestionnaireParent::Survey(SurveyId(1)), survey);
    let refused = stores.submit(&service(), submission(None, true)).await.unwrap_err();
    assert_eq!(refused.details()[0].code, "closed");
}

#[tokio::test]
async fn files_are_checked_before_and_attached_after_the_response_is_stored() {
    let with_files = |names: &[&str]| {
        let answers = json!({"2": names}).as_object().cloned().unwrap();
        SubmitAnswers { answers, ..submission(None, true) }
    };
    let mut stores = Stores::survey();
    stores.files.expect_list_unusable_ids().returning(|_, _, signed| {
        Ok(signed.iter().filter(|name| name.starts_with("dead")).cloned().collect())
    });
    stores
        .files
        .expect_attach()
        .withf(|_, _, answer, _| *answer == AnswerId(515))
        .returning(|_, _, _, signed| Ok((90_i64..).take(signed.len()).collect()));
    stores.responses.expect_set_value().once().returning(|_, _, _| Ok(()));
    let saved = stores.submit(&service(), with_files(&["a", "b"])).await.unwrap();
    assert_eq!(saved.response.answers[1].read_back(), json!(["90", "91"]));
    let refused = stores.submit(&service(), with_files(&["a", "dead"])).await.unwrap_err();
    assert_eq!(refused.details()[0].field, "answers.2");
    assert_eq!(refused.details()[0].code, "invalid");
}

#[tokio::test]
async fn only_administrators_delete_responses() {
    let mut stores = Stores::survey();
    stores.responses.expect_find_by_answer().returning(|_, id| {
        let now = service().now;
        let questionnaire = Questionnaire::new(
            QuestionnaireParent::Survey(SurveyId(1)),
            ComponentId(3),
            Translated::default(),
            now,
        );
        let response = Response::new(QuestionnaireId(40), &questionnaire, Some(UserId(7)), now);
        Ok(Some((ResponseId(5), ResponseDetail { id, response, changed_at: now })))
    });
    stores.responses.expect_remove().once().returning(|_, _| Ok(()));
    stores.files.expect_detach().once().withf(|_, answers| answers.len() == 2).returning(|_, _| Ok(()));
    let writes = stores.writes();
    let destroy = || DestroyResponse { id: AnswerId(514) };
    assert!(matches!(writes.handle(&service().with_user(7), destroy()).await, Err(Error::Forbidden)));
    writes.handle(&service(), destroy()).await.unwrap();
}
