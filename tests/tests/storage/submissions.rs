//! Concurrent submissions to one questionnaire, at the level of the stores.

use civitas_application::{Store, Transaction};
use civitas_kernel::{Error, Locale, OrganizationId, QuestionId, QuestionnaireId, Result, Translated};
use civitas_surveys::{
    AnswerRow, Question, QuestionType, Questionnaire, QuestionnaireParent, Response, Survey,
};
use civitas_tests::{Engine, World, commit};
use std::sync::Arc;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

fn text() -> Translated {
    [(Locale::EN, "Words".to_owned())].into()
}

fn response(questionnaire: QuestionnaireId, question: QuestionId, token: &str) -> Response {
    let answer = AnswerRow { question, body: Some("Yes".to_owned()), value: None };
    Response {
        questionnaire,
        user: None,
        session_token: token.to_owned(),
        client_ip: None,
        created_at: NOW,
        answers: vec![answer],
    }
}

/// A questionnaire with one question.
async fn questionnaire(world: &World) -> (QuestionnaireId, QuestionId) {
    let (mine, component) = (world.fixtures.mine, world.fixtures.surveys);
    let added = commit(world.store(), async |tx| {
        let survey = tx.surveys().add(mine, &Survey::new(component, NOW)).await?;
        let questionnaire = Questionnaire::new(QuestionnaireParent::Survey(survey), component, text(), NOW);
        let id = tx.questionnaires().add(mine, &questionnaire).await?;
        let question = Question::new(id, 0, QuestionType::ShortAnswer, text());
        Ok((id, tx.questions().add(mine, &question).await?))
    });
    added.await.unwrap()
}

/// The writes of a submission: lock the questionnaire, check that the question is there, store the response.
async fn submit(store: &Arc<dyn Store>, mine: OrganizationId, response: Response) -> Result<()> {
    let transaction: Box<dyn Transaction> = store.begin().await?;
    let question = response.answers[0].question;
    if !transaction.questionnaires().lock_for_submission(mine, response.questionnaire).await? {
        return Err(Error::NotFound);
    }
    tokio::task::yield_now().await;
    transaction.questions().find(mine, question).await?.ok_or(Error::NotFound)?;
    transaction.responses().add(mine, &response).await?;
    transaction.commit().await
}

/// The number of answers to the questionnaire.
async fn answers(world: &World, of: QuestionnaireId) -> usize {
    let page = civitas_kernel::PageRequest::new(1, 100);
    world
        .ports()
        .responses()
        .list_answers(world.fixtures.mine, of, None, &[], page)
        .await
        .unwrap()
        .items
        .len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_responses_of_one_respondent_one_is_stored() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (id, question) = questionnaire(&world).await;
        let attempts = (0..8).map(|_| {
            let (store, mine) = (world.database.store(), world.fixtures.mine);
            tokio::spawn(async move { submit(&store, mine, response(id, question, "one")).await })
        });
        let mut stored = 0;
        for attempt in attempts.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                Ok(()) => stored += 1,
                Err(error) => assert_eq!(error.details()[0].code, "already_answered", "{engine:?}: {error}"),
            }
        }
        assert_eq!((stored, answers(&world, id).await), (1, 1), "{engine:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_response_keeps_an_answer_to_a_question_that_is_removed_meanwhile() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (id, question) = questionnaire(&world).await;
        let mine = world.fixtures.mine;
        let attempts = (0..8).map(|number| {
            let store = world.database.store();
            let sent = response(id, question, &format!("respondent {number}"));
            tokio::spawn(async move { submit(&store, mine, sent).await })
        });
        let attempts: Vec<_> = attempts.collect();
        commit(world.store(), async |tx| {
            tx.questionnaires().find_for_update(mine, id).await?;
            tx.questions().remove(mine, question).await
        })
        .await
        .unwrap();
        for attempt in attempts {
            match attempt.await.unwrap() {
                Ok(()) | Err(Error::NotFound) => {}
                Err(error) => panic!("{engine:?}: {error}"),
            }
        }
        assert_eq!(answers(&world, id).await, 0, "{engine:?}");
    }
}
