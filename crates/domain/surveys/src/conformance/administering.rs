//! What administrators read, and lookups.

use super::{ALL, NOW, World, new_response, text};
use crate::{
    ConditionType, DisplayCondition, QuestionType, Questionnaire, QuestionnaireParent, QuestionnaireSearch,
    QuestionnaireSort, Response, Survey, SurveyPeriod,
};
use civitas_kernel::{
    AnswerId, ComponentId, DisplayConditionId, Error, LogRequest, LogStart, PageRequest, QuestionId,
    QuestionnaireId, ResponseId, Result, UserId,
};
use time::{Duration, OffsetDateTime};

impl World<'_> {
    async fn found(&self, search: &QuestionnaireSearch) -> Result<Vec<QuestionnaireId>> {
        let page = self.questionnaires.search(self.mine, search, ALL).await?;
        Ok(page.items.into_iter().map(|summary| summary.id).collect())
    }

    /// A questionnaire of a survey with these dates, created at this time.
    async fn dated(
        &self,
        (component, title): (ComponentId, &str),
        (starts_at, ends_at): (Option<OffsetDateTime>, Option<OffsetDateTime>),
        created_at: OffsetDateTime,
    ) -> Result<QuestionnaireId> {
        let survey = Survey { starts_at, ends_at, ..Survey::new(component, NOW) };
        let survey = self.surveys.add(self.mine, &survey).await?;
        let new = Questionnaire::new(QuestionnaireParent::Survey(survey), component, text(title), created_at);
        self.questionnaires.add(self.mine, &Questionnaire { updated_at: NOW, ..new }).await
    }
}

/// Administrators find the questionnaires of all components, by title, period and component, in two orders.
pub async fn lists_all_for_administrators(world: World<'_>) -> Result<()> {
    let (before, after) = (Some(NOW - Duration::HOUR), Some(NOW + Duration::HOUR));
    let open = world.dated((world.component, "Buses"), (before, after), NOW + Duration::DAY).await?;
    let planned = world.dated((world.unpublished, "Trams"), (after, None), NOW).await?;
    let closed = world.dated((world.component, "100% bikes"), (None, before), NOW - Duration::DAY).await?;
    let deleted = world.dated((world.component, "Deleted"), (None, None), NOW).await?;
    let gone = world.questionnaires.find(world.mine, deleted).await?.ok_or(Error::NotFound)?;
    let QuestionnaireParent::Survey(survey) = gone.parent else { return Err(Error::internal("a survey")) };
    let stored = world.surveys.find(world.mine, survey).await?.ok_or(Error::NotFound)?;
    let stored = Survey { deleted_at: Some(NOW), ..stored };
    civitas_kernel::records::conformance::replace(world.surveys, world.mine, survey, &stored).await?;
    let all = QuestionnaireSearch::default();
    assert_eq!(world.found(&all).await?, [closed, planned, open]);
    let created = QuestionnaireSearch { sort: QuestionnaireSort::Created, ..all.clone() };
    assert_eq!(world.found(&created).await?, [open, planned, closed]);
    for (period, expected) in
        [(SurveyPeriod::Open, open), (SurveyPeriod::Planned, planned), (SurveyPeriod::Closed, closed)]
    {
        let search = QuestionnaireSearch { period: Some((period, NOW)), ..all.clone() };
        assert_eq!(world.found(&search).await?, [expected], "{period:?}");
    }
    let of = |text: &str| QuestionnaireSearch { text: Some(text.to_owned()), ..all.clone() };
    assert_eq!(world.found(&of("TRAM")).await?, [planned]);
    assert_eq!(world.found(&of("%")).await?, [closed]);
    let one = QuestionnaireSearch { component: Some(world.unpublished), ..all.clone() };
    assert_eq!(world.found(&one).await?, [planned]);
    let request = PageRequest::new(2, 2);
    let page = world.questionnaires.search(world.mine, &all, request).await?;
    assert_eq!((page.items.len(), page.has_more, page.items[0].id), (1, false, open));
    assert!(world.questionnaires.search(world.other, &all, ALL).await?.items.is_empty());
    assert!(world.questionnaires.summary(world.other, open).await?.is_none());
    assert!(world.questionnaires.summary(world.mine, deleted).await?.is_none());
    assert!(world.questionnaires.find_stored(world.mine, deleted).await?.is_none());
    assert!(world.questionnaires.find_stored(world.other, open).await?.is_none());
    let kept = world.questionnaires.find_stored(world.mine, planned).await?;
    assert_eq!(kept, world.questionnaires.find(world.mine, planned).await?);
    let question = world.question(open, 0, QuestionType::ShortAnswer).await?;
    world.responses.add(world.mine, &new_response(open, None, "a", &[question])).await?;
    let summary = world.questionnaires.summary(world.mine, open).await?.ok_or(Error::NotFound)?;
    assert_eq!((summary.questions, summary.responses, summary.period(NOW)), (1, 1, SurveyPeriod::Open));
    assert_eq!(summary.survey.and_then(|survey| survey.ends_at), after);
    assert_eq!(summary.context.component, world.component);
    Ok(())
}

/// Responses are read by time and id, the newest first, in pages that begin after a response.
pub async fn pages_responses(world: World<'_>) -> Result<()> {
    let of = world.questionnaire_in(world.component, NOW).await?;
    let question = world.question(of, 0, QuestionType::ShortAnswer).await?;
    let mut ids = Vec::new();
    for (token, hours) in [("a", 0), ("b", 1), ("c", 1)] {
        let response = new_response(of, None, token, &[question]);
        let response = Response { created_at: NOW + Duration::hours(hours), ..response };
        ids.push(world.responses.add(world.mine, &response).await?);
    }
    let read = async |start| {
        let page = world.responses.log(world.mine, of, &LogRequest { start, limit: 2 }).await?;
        let found = page.items.iter().map(|(id, _)| *id).collect::<Vec<ResponseId>>();
        Ok::<_, Error>((found, page.has_newer, page.has_older))
    };
    assert_eq!(read(LogStart::Newest).await?, (vec![ids[2], ids[1]], false, true));
    let second = NOW + Duration::HOUR;
    assert_eq!(read(LogStart::OlderThan(second, ids[2])).await?, (vec![ids[1], ids[0]], true, false));
    assert_eq!(read(LogStart::NewerThan(NOW, ids[0])).await?, (vec![ids[2], ids[1]], false, true));
    let request = LogRequest { start: LogStart::Newest, limit: 1 };
    let page = world.responses.log(world.mine, of, &request).await?;
    let (id, newest) = &page.items[0];
    let first = world.responses.answer_ids(world.mine, *id).await?;
    assert_eq!(Some(newest.id), first.first().map(|(_, id)| *id));
    assert_eq!(newest.response.answers.len(), 1);
    assert!(world.responses.log(world.other, of, &request).await?.items.is_empty());
    let (question, answer) = first[0];
    let moved = [(question, AnswerId(answer.0 + 1_000))];
    let refused = world.responses.set_answer_ids(world.other, *id, &moved).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    world.responses.set_answer_ids(world.mine, *id, &moved).await?;
    assert_eq!(world.responses.answer_ids(world.mine, *id).await?, moved);
    Ok(())
}

/// Answers of a question are counted, and conditions are removed, each in its organization.
pub async fn counts_and_removes_parts(world: World<'_>) -> Result<()> {
    let of = world.questionnaire_in(world.component, NOW).await?;
    let question = world.question(of, 0, QuestionType::SingleOption).await?;
    let shown = world.question(of, 1, QuestionType::ShortAnswer).await?;
    for token in ["a", "b"] {
        world.responses.add(world.mine, &new_response(of, None, token, &[question])).await?;
    }
    assert_eq!(world.questions.count_answers(world.mine, question).await?, 2);
    assert_eq!(world.questions.count_answers(world.mine, shown).await?, 0);
    assert_eq!(world.questions.count_answers(world.other, question).await?, 0);
    assert_eq!(world.questions.count_answers(world.mine, QuestionId(987_654)).await?, 0);
    let condition = DisplayCondition {
        question: shown,
        condition_question: question,
        kind: ConditionType::Answered,
        option: None,
        value: None,
        mandatory: false,
    };
    let id = world.conditions.add(world.mine, &condition).await?;
    let second = world.conditions.add(world.mine, &condition).await?;
    let found = world.conditions.list_of_question(world.mine, shown).await?;
    assert_eq!(found, [(id, condition.clone()), (second, condition)]);
    assert!(world.conditions.list_of_question(world.mine, question).await?.is_empty());
    assert!(world.conditions.list_of_question(world.other, shown).await?.is_empty());
    let refused = world.conditions.remove(world.other, id).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    world.conditions.remove(world.mine, id).await?;
    assert_eq!(world.conditions.find(world.mine, id).await?, None);
    let refused = world.conditions.remove(world.mine, DisplayConditionId(987_654)).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    Ok(())
}

/// A component for surveys is known in its organization alone.
pub async fn finds_components_for_surveys(world: World<'_>) -> Result<()> {
    assert!(world.lookup.has_surveys(world.mine, world.component).await?);
    assert!(world.lookup.has_surveys(world.mine, world.unpublished).await?);
    assert!(!world.lookup.has_surveys(world.other, world.component).await?);
    assert!(!world.lookup.has_surveys(world.mine, ComponentId(987_654)).await?);
    Ok(())
}

/// Users are respondents in their own organization alone.
pub async fn knows_respondents(world: World<'_>) -> Result<()> {
    let found = world.lookup.respondent(world.mine, world.nora).await?;
    assert_eq!(found.map(|respondent| respondent.blocked), Some(false));
    assert_eq!(world.lookup.respondent(world.other, world.nora).await?, None);
    assert_eq!(world.lookup.respondent(world.mine, UserId(987_654)).await?, None);
    assert!(world.questionnaires.find(world.mine, QuestionnaireId(1)).await?.is_none());
    Ok(())
}
