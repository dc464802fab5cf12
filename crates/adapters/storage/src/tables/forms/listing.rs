//! Questionnaires for administrators: also those of components that are not published.

use super::questionnaires::{Row, model, of};
use super::surveys;
use crate::columns::{self, Condition};
use crate::engine::{Conn, Db, sql};
use crate::filter::{holds, translated};
use crate::schema::questionnaires;
use crate::session::{Rows, Session, on};
use crate::tables::component_places;
use crate::tables::planner::OnPage;
use civitas_kernel::filter::Condition as FilterCondition;
use civitas_kernel::{OrganizationId, Page, PageRequest, QuestionnaireId, Result};
use civitas_surveys::{
    Host, MOST_COUNTED, Period, Questionnaire, QuestionnaireSearch, QuestionnaireSort, QuestionnaireSummary,
};
use diesel::dsl;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use time::OffsetDateTime;

/// A row with the numbers of questions and responses.
type QuestionnaireColumns = (Row, i64, i64);

/// Whether the component and the survey or meeting are not deleted. Scalar subqueries: PostgreSQL reads all rows for
/// `EXISTS`, to hash them. Requires `questionnaires`.
const IS_KEPT: &str = "((SELECT components.id FROM components WHERE components.id = questionnaires.component_id \
     AND components.deleted_at IS NULL) IS NOT NULL \
     AND ((SELECT surveys.id FROM surveys WHERE surveys.id = questionnaires.survey_id \
     AND surveys.deleted_at IS NULL) IS NOT NULL \
     OR (SELECT meetings.id FROM meetings WHERE meetings.id = questionnaires.meeting_id \
     AND meetings.deleted_at IS NULL) IS NOT NULL))";

/// Appends the survey of a questionnaire. Requires `questionnaires`.
const SURVEY: &str = "(SELECT surveys.id FROM surveys WHERE surveys.id = questionnaires.survey_id AND ";

fn is_kept() -> SqlLiteral<Bool> {
    dsl::sql(IS_KEPT)
}

/// The number of questions. Requires `questionnaires`.
fn question_count() -> SqlLiteral<BigInt> {
    dsl::sql(
        "(SELECT count(*) FROM questions WHERE questions.questionnaire_id = questionnaires.id \
         AND questions.organization_id = questionnaires.organization_id)",
    )
}

/// The number of responses, at most [`MOST_COUNTED`]. Requires `questionnaires`.
fn response_count() -> SqlLiteral<BigInt> {
    dsl::sql(&format!(
        "(SELECT count(*) FROM (SELECT 1 FROM responses WHERE responses.questionnaire_id = questionnaires.id \
         AND responses.organization_id = questionnaires.organization_id LIMIT {MOST_COUNTED}) AS counted)"
    ))
}

/// Whether a questionnaire is in this period. Requires `questionnaires`.
fn is_in(period: Period, now: OffsetDateTime) -> Condition<questionnaires::table> {
    match period {
        Period::Planned => Box::new(
            dsl::sql::<Nullable<Bool>>("(")
                .sql(SURVEY)
                .sql("surveys.starts_at > ")
                .bind::<sql::Moment, _>(now)
                .sql(") IS NOT NULL)"),
        ),
        Period::Open => Box::new(
            dsl::sql::<Nullable<Bool>>("(questionnaires.survey_id IS NULL OR ")
                .sql(SURVEY)
                .sql("(surveys.starts_at IS NULL OR surveys.starts_at <= ")
                .bind::<sql::Moment, _>(now)
                .sql(") AND (surveys.ends_at IS NULL OR surveys.ends_at >= ")
                .bind::<sql::Moment, _>(now)
                .sql(")) IS NOT NULL)"),
        ),
        Period::Closed => Box::new(
            dsl::sql::<Nullable<Bool>>("(")
                .sql(SURVEY)
                .sql("surveys.ends_at < ")
                .bind::<sql::Moment, _>(now)
                .sql(" AND (surveys.starts_at IS NULL OR surveys.starts_at <= ")
                .bind::<sql::Moment, _>(now)
                .sql(")) IS NOT NULL)"),
        ),
    }
}

/// These questionnaires with their surveys and places, in the same order.
async fn complete(
    connection: &mut Conn,
    organization: OrganizationId,
    rows: Vec<QuestionnaireColumns>,
) -> Result<Vec<QuestionnaireSummary>> {
    let mut found = Vec::new();
    for (row, questions, responses) in rows {
        let (id, questionnaire) = model(row)?;
        found.push((id, questionnaire, questions, responses));
    }
    let hosts = found.iter().filter_map(|(_, questionnaire, ..)| match questionnaire.host {
        Host::Survey(id) => Some(id.0),
        Host::Meeting(_) => None,
    });
    let mut of_hosts = surveys::of_ids(connection, organization, &hosts.collect::<Vec<_>>()).await?;
    let components = found.iter().map(|(_, questionnaire, ..)| questionnaire.component.0).collect();
    let places = component_places::of_components(connection, organization, components).await?;
    let summaries = found.into_iter().filter_map(|(id, questionnaire, questions, responses)| {
        let place = places.get(&questionnaire.component.0)?.clone();
        let survey = match questionnaire.host {
            Host::Survey(id) => of_hosts.remove(&id.0),
            Host::Meeting(_) => None,
        };
        Some(QuestionnaireSummary { id, questionnaire, place, survey, questions, responses })
    });
    Ok(summaries.collect())
}

impl Session {
    /// A page of the list, with at most three statements.
    pub(super) async fn search_questionnaires(
        &self,
        organization: OrganizationId,
        search: &QuestionnaireSearch,
        page: PageRequest,
    ) -> Result<Page<QuestionnaireSummary>> {
        let mut ids = questionnaires::table.select(questionnaires::id).filter(is_kept()).into_boxed::<Db>();
        ids = match search.component {
            Some(component) => ids
                .filter(questionnaires::component_id.eq(component.0))
                .filter(questionnaires::organization_id.eq(organization.0)),
            None => ids.filter(questionnaires::organization_id.eq(organization.0)),
        };
        if let Some((period, now)) = search.period {
            ids = ids.filter(is_in(period, now));
        }
        if let Some(text) = &search.text {
            let column = translated!(questionnaires::title, self.locales());
            ids = ids.filter(holds(column, &FilterCondition::Contains(text.clone()))?);
        }
        ids = match search.sort {
            QuestionnaireSort::Changed => {
                ids.order((questionnaires::updated_at.desc(), questionnaires::id.desc()))
            }
            QuestionnaireSort::Created => {
                ids.order((questionnaires::created_at.desc(), questionnaires::id.desc()))
            }
        };
        let mut rows = questionnaires::table
            .filter(OnPage::of(Box::new(questionnaires::id.nullable()), ids, page.into()))
            .select((columns::of::<Row>(), question_count(), response_count()))
            .into_boxed::<Db>();
        rows = match search.sort {
            QuestionnaireSort::Changed => {
                rows.order((questionnaires::updated_at.desc(), questionnaires::id.desc()))
            }
            QuestionnaireSort::Created => {
                rows.order((questionnaires::created_at.desc(), questionnaires::id.desc()))
            }
        };
        let connection = &mut *self.read_long().await?;
        let rows: Vec<QuestionnaireColumns> = rows.limit(page.fetch()).rows_from(on(connection)).await?;
        let Page { items, has_more, .. } = Page::cut(rows, page);
        Ok(Page::of(complete(connection, organization, items).await?, has_more))
    }

    /// The questionnaire alone.
    pub(super) async fn kept_questionnaire(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
    ) -> Result<Option<Questionnaire>> {
        let row: Option<Row> = of(organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(is_kept())
            .select(columns::of::<Row>())
            .first_from(self.read())
            .await?;
        Ok(row.map(model).transpose()?.map(|(_, questionnaire)| questionnaire))
    }

    /// One questionnaire of the list, with at most three statements.
    pub(super) async fn summary_of_questionnaire(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
    ) -> Result<Option<QuestionnaireSummary>> {
        let connection = &mut *self.read().await?;
        let row: Option<QuestionnaireColumns> = of(organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(is_kept())
            .select((columns::of::<Row>(), question_count(), response_count()))
            .first_from(on(connection))
            .await?;
        let found = complete(connection, organization, row.into_iter().collect()).await?;
        Ok(found.into_iter().next())
    }
}
