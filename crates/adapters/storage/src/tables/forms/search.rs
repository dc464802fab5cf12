//! Questionnaires for administrators: also those of components that are not published.

use crate::engine::sql::Moment;
use crate::tables::planner::BoxedSql;
use crate::tables::select::SqlTemplate;
use civitas_surveys::{MAX_COUNTED, SurveyPeriod};
use diesel::IntoSql;
use diesel::dsl;
use diesel::expression::SqlLiteral;
use diesel::sql_types::{BigInt, Bool, Nullable};
use time::OffsetDateTime;

/// Whether the component and the survey or meeting are not deleted. Scalar subqueries: PostgreSQL reads all rows for
/// `EXISTS`, to hash them. Requires `questionnaires`.
pub(super) fn is_kept() -> SqlLiteral<Bool> {
    dsl::sql(
        "((SELECT components.id FROM components WHERE components.id = questionnaires.component_id \
         AND components.deleted_at IS NULL) IS NOT NULL \
         AND ((SELECT surveys.id FROM surveys WHERE surveys.id = questionnaires.survey_id \
         AND surveys.deleted_at IS NULL) IS NOT NULL \
         OR (SELECT meetings.id FROM meetings WHERE meetings.id = questionnaires.meeting_id \
         AND meetings.deleted_at IS NULL) IS NOT NULL))",
    )
}

/// The number of questions. Requires `questionnaires`.
pub(super) fn question_count() -> SqlLiteral<BigInt> {
    dsl::sql(
        "(SELECT count(*) FROM questions WHERE questions.questionnaire_id = questionnaires.id \
         AND questions.organization_id = questionnaires.organization_id)",
    )
}

/// The number of responses, at most [`MAX_COUNTED`]. Requires `questionnaires`.
pub(super) fn response_count() -> SqlLiteral<BigInt> {
    dsl::sql(&format!(
        "(SELECT count(*) FROM (SELECT 1 FROM responses WHERE responses.questionnaire_id = questionnaires.id \
         AND responses.organization_id = questionnaires.organization_id LIMIT {MAX_COUNTED}) AS counted)"
    ))
}

/// Whether a questionnaire is in this period. Requires `questionnaires`.
pub(super) fn is_in(period: SurveyPeriod, now: OffsetDateTime) -> SqlTemplate {
    let (or, survey) = match period {
        SurveyPeriod::Planned => ("", "surveys.starts_at > ?"),
        SurveyPeriod::Open => (
            "questionnaires.survey_id IS NULL OR ",
            "(surveys.starts_at IS NULL OR surveys.starts_at <= ?) AND (surveys.ends_at IS NULL OR surveys.ends_at >= ?)",
        ),
        SurveyPeriod::Closed => {
            ("", "surveys.ends_at < ? AND (surveys.starts_at IS NULL OR surveys.starts_at <= ?)")
        }
    };
    let survey = format!(
        "({or}(SELECT surveys.id FROM surveys WHERE surveys.id = questionnaires.survey_id AND {survey}) IS NOT NULL)"
    );
    let now = |_| -> BoxedSql { Box::new(now.into_sql::<Nullable<Moment>>()) };
    let times = survey.matches('?').map(now).collect();
    SqlTemplate::condition(survey, times)
}
