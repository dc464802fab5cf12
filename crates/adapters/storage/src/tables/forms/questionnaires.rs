//! Questionnaires.

use super::search::{is_in, is_kept, question_count, response_count};
use super::{form, surveys};
use crate::columns::{self, Condition, columns};
use crate::engine::{Conn, Db, dialect};
use crate::failure::DieselResultExt;
use crate::filter::{FilterColumn, column_condition, contains, translated};
use crate::list_pages::{count, in_order};
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::records::records;
use crate::schema::{components, questionnaires};
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
use crate::tables::component_contexts;
use crate::tables::components::ComponentInSpace;
use crate::tables::planner::CheckedRows;
use crate::tables::select::{TableColumn, on_page};
use crate::tables::visible_components::VisibleComponents;
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{
    ComponentId, Error, LocationFilter, MeetingId, OrganizationId, Page, PageRequest, QuestionnaireId,
    ReadContext, Result, SurveyId, Translated,
};
use civitas_spaces::ComponentKind;
use civitas_surveys::{
    Form, Questionnaire, QuestionnaireDetail, QuestionnaireField, QuestionnaireFilter, QuestionnaireParent,
    QuestionnaireSearch, QuestionnaireSort, QuestionnaireStore, QuestionnaireSummary, space_type,
};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A questionnaire as its row stores it.
    questionnaires as Questionnaire;
    read_only { id: i64, survey_id: Option<i64>, meeting_id: Option<i64> }
    fields {
        component as component_id: ComponentId,
        title: Translated,
        description: Translated,
        tos: Translated,
        salt: String,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { parent: QuestionnaireParent }
    write_only {
        survey_id: Option<i64> = |questionnaire| match questionnaire.parent {
            QuestionnaireParent::Survey(id) => Some(id.0),
            QuestionnaireParent::Meeting(_) => None,
        },
        meeting_id: Option<i64> = |questionnaire| match questionnaire.parent {
            QuestionnaireParent::Survey(_) => None,
            QuestionnaireParent::Meeting(id) => Some(id.0),
        },
    }
}

scoped! { questionnaires }

fn model(row: Row) -> Result<(QuestionnaireId, Questionnaire)> {
    let parent = match (row.survey_id, row.meeting_id) {
        (Some(id), None) => QuestionnaireParent::Survey(SurveyId(id)),
        (None, Some(id)) => QuestionnaireParent::Meeting(MeetingId(id)),
        _ => return Err(Error::internal("a questionnaire without a parent")),
    };
    Ok((QuestionnaireId(row.id), row.into_model(parent)))
}

async fn with_parents(_: &mut Conn, rows: Vec<Row>) -> Result<Vec<(QuestionnaireId, Questionnaire)>> {
    rows.into_iter().map(model).collect()
}

/// A row with the numbers of questions and responses.
type QuestionnaireColumns = (Row, i64, i64);

/// These questionnaires with their surveys and contexts, in the same order.
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
    let survey_ids = found.iter().filter_map(|(_, questionnaire, ..)| match questionnaire.parent {
        QuestionnaireParent::Survey(id) => Some(id.0),
        QuestionnaireParent::Meeting(_) => None,
    });
    let mut surveys_by_id =
        surveys::load_by_ids(connection, organization, &survey_ids.collect::<Vec<_>>()).await?;
    let components = found.iter().map(|(_, questionnaire, ..)| questionnaire.component.0).collect();
    let contexts = component_contexts::load_for_components(connection, organization, components).await?;
    let summaries = found.into_iter().filter_map(|(id, questionnaire, questions, responses)| {
        let context = contexts.get(&questionnaire.component.0)?.clone();
        let survey = match questionnaire.parent {
            QuestionnaireParent::Survey(id) => surveys_by_id.remove(&id.0),
            QuestionnaireParent::Meeting(_) => None,
        };
        Some(QuestionnaireSummary { id, questionnaire, context, survey, questions, responses })
    });
    Ok(summaries.collect())
}

records! {
    questionnaires: QuestionnaireId => Questionnaire;
    read with_parents;
}

/// The kind of the components of a parent.
fn kind(parent: QuestionnaireParent) -> ComponentKind {
    match parent {
        QuestionnaireParent::Survey(_) => ComponentKind::Surveys,
        QuestionnaireParent::Meeting(_) => ComponentKind::Meetings,
    }
}

/// Replaces class names of spaces by names of kinds.
fn by_kind(condition: &FilterCondition) -> FilterCondition {
    let name = |name: &String| space_type(name).map_or(name.clone(), |kind| kind.as_str().to_owned());
    let names = |list: &[String]| list.iter().map(name).collect();
    match condition {
        FilterCondition::Text(Comparison::Eq(one)) => FilterCondition::Text(Comparison::Eq(name(one))),
        FilterCondition::Text(Comparison::NotEq(one)) => FilterCondition::Text(Comparison::NotEq(name(one))),
        FilterCondition::Text(Comparison::In(list)) => FilterCondition::Text(Comparison::In(names(list))),
        FilterCondition::Text(Comparison::NotIn(list)) => {
            FilterCondition::Text(Comparison::NotIn(names(list)))
        }
        other => other.clone(),
    }
}

/// A condition on components; `None` for one on questionnaires.
fn component_condition(filter: &QuestionnaireFilter) -> Result<Option<Condition<ComponentInSpace>>> {
    let column: FilterColumn<ComponentInSpace> = match filter.field {
        QuestionnaireField::Id | QuestionnaireField::CreatedAt | QuestionnaireField::UpdatedAt => {
            return Ok(None);
        }
        QuestionnaireField::Component => FilterColumn::Integer(Box::new(components::id.nullable())),
        QuestionnaireField::Space => FilterColumn::Integer(Box::new(components::space_id.nullable())),
        QuestionnaireField::SpaceType => FilterColumn::Ascii(Box::new(components::space_manifest.nullable())),
    };
    column_condition(column, &by_kind(&filter.condition)).map(Some)
}

/// A condition on questionnaires; `None` for one on components.
fn questionnaire_condition(filter: &QuestionnaireFilter) -> Result<Option<Condition<questionnaires::table>>> {
    let column = match filter.field {
        QuestionnaireField::Id => FilterColumn::Integer(Box::new(questionnaires::id.nullable())),
        QuestionnaireField::CreatedAt => FilterColumn::Time(Box::new(questionnaires::created_at.nullable())),
        QuestionnaireField::UpdatedAt => FilterColumn::Time(Box::new(questionnaires::updated_at.nullable())),
        _ => return Ok(None),
    };
    column_condition(column, &filter.condition).map(Some)
}

/// One page of the list.
async fn page(
    connection: &mut Conn,
    read_context: ReadContext,
    filters: &[QuestionnaireFilter],
    page: PageRequest,
    bounds: RowReadLimits,
) -> Result<Page<(QuestionnaireId, Questionnaire)>> {
    let conditions: Vec<_> =
        filters.iter().filter_map(|filter| component_condition(filter).transpose()).collect::<Result<_>>()?;
    let visible =
        VisibleComponents::load_where(connection, read_context, LocationFilter::default(), conditions)
            .await?;
    if visible.is_empty() {
        return Ok(Page::new(Vec::new(), false).with_total(page.is_counted.then_some(0)));
    }
    let listed = || {
        let mut ids = questionnaires::table
            .select(questionnaires::id)
            .into_boxed::<Db>()
            .filter(visible.contain::<questionnaires::table>("questionnaires", CheckedRows::Many))
            .filter(VisibilityRule::QuestionnaireIsOpen(read_context.viewer));
        for filter in filters {
            if let Some(condition) = questionnaire_condition(filter)? {
                ids = ids.filter(condition);
            }
        }
        Result::<_>::Ok(ids)
    };
    let total = count(connection, page.is_counted.then(listed).transpose()?).await?;
    let changed = (questionnaires::updated_at.desc(), questionnaires::id.desc());
    let ids = in_order!(listed()?, page, questionnaires, changed);
    let rows = questionnaires::table
        .filter(on_page(questionnaires::id, ids, page.into()))
        .select(columns::all_columns::<Row>())
        .into_boxed::<Db>();
    let rows = in_order!(rows, page, questionnaires, changed).limit(page.rows_to_fetch());
    let rows: Vec<Row> = rows.load_page(connection, bounds).await.map_db_error()?;
    let page = Page::from_fetched(rows, page);
    let items = page.items.into_iter().map(model).collect::<Result<_>>()?;
    Ok(Page::new(items, page.has_more).with_total(total))
}

#[async_trait]
impl QuestionnaireStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        filters: &[QuestionnaireFilter],
        request: PageRequest,
    ) -> Result<Page<(QuestionnaireDetail, Form)>> {
        let connection = &mut *self.read_page(request, !filters.is_empty()).await?;
        let organization = read_context.organization;
        let found = page(connection, read_context, filters, request, self.bounds).await?;
        let ids: Vec<i64> = found.items.iter().map(|(id, _)| id.0).collect();
        let components = found.items.iter().map(|(_, questionnaire)| questionnaire.component.0).collect();
        let contexts = component_contexts::load_for_components(connection, organization, components).await?;
        let mut forms = form::load_for_questionnaires(connection, organization, &ids, self.bounds).await?;
        let items = found.items.into_iter().filter_map(|(id, questionnaire)| {
            let context = contexts.get(&questionnaire.component.0)?.clone();
            let form = forms.remove(&id.0).unwrap_or_default();
            Some((QuestionnaireDetail { id, questionnaire, context }, form))
        });
        Ok(Page::new(items.collect(), found.has_more).with_total(found.total))
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: QuestionnaireId,
    ) -> Result<Option<QuestionnaireDetail>> {
        let connection = &mut *self.read().await?;
        let row: Option<Row> = rows_of(read_context.organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(VisibilityRule::QuestionnaireIsOpen(read_context.viewer))
            .select(columns::all_columns::<Row>())
            .first_from(borrowed_connection(connection))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let (id, questionnaire) = model(row)?;
        let (component, kind) = (questionnaire.component, kind(questionnaire.parent));
        let within = LocationFilter::default();
        let context =
            component_contexts::load_visible(connection, read_context, within, component, kind).await?;
        Ok(context.map(|context| QuestionnaireDetail { id, questionnaire, context }))
    }

    async fn form(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<Form> {
        let connection = &mut *self.read().await?;
        let forms = form::load_for_questionnaires(connection, organization, &[id.0], self.bounds).await?;
        Ok(forms.into_values().next().unwrap_or_default())
    }

    async fn lock_for_submission(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<bool> {
        let row = rows_of(organization).filter(questionnaires::id.eq(id.0)).select(questionnaires::id);
        let found: Option<i64> = dialect::for_share!(row).row_from(self.for_update()).await?;
        Ok(found.is_some())
    }

    async fn search(
        &self,
        organization: OrganizationId,
        search: &QuestionnaireSearch,
        page: PageRequest,
    ) -> Result<Page<QuestionnaireSummary>> {
        let ids = questionnaires::table.select(questionnaires::id).filter(is_kept());
        let mut ids = ids.filter(questionnaires::organization_id.eq(organization.0)).into_boxed::<Db>();
        if let Some(component) = search.component {
            ids = ids.filter(questionnaires::component_id.eq(component.0));
        }
        if let Some((period, now)) = search.period {
            ids = ids.filter(is_in(period, now));
        }
        if let Some(text) = &search.text {
            ids = ids.filter(contains(translated!(questionnaires::title, self.locales()), text)?);
        }
        let at = match search.sort {
            QuestionnaireSort::Changed => "updated_at",
            QuestionnaireSort::Created => "created_at",
        };
        let order = (TableColumn::new("questionnaires", at).desc(), questionnaires::id.desc());
        let ids = on_page(questionnaires::id, ids.order(order), page.into());
        let rows = questionnaires::table
            .filter(ids)
            .select((columns::all_columns::<Row>(), question_count(), response_count()))
            .into_boxed::<Db>()
            .order(order)
            .limit(page.rows_to_fetch());
        let connection = &mut *self.read_long().await?;
        let rows: Vec<QuestionnaireColumns> = rows.rows_from(borrowed_connection(connection)).await?;
        let Page { items, has_more, .. } = Page::from_fetched(rows, page);
        Ok(Page::new(complete(connection, organization, items).await?, has_more))
    }

    async fn find_stored(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
    ) -> Result<Option<Questionnaire>> {
        let row: Option<Row> = rows_of(organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(is_kept())
            .select(columns::all_columns::<Row>())
            .first_from(self.read())
            .await?;
        Ok(row.map(model).transpose()?.map(|(_, questionnaire)| questionnaire))
    }

    async fn summary(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
    ) -> Result<Option<QuestionnaireSummary>> {
        let connection = &mut *self.read().await?;
        let row: Option<QuestionnaireColumns> = rows_of(organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(is_kept())
            .select((columns::all_columns::<Row>(), question_count(), response_count()))
            .first_from(borrowed_connection(connection))
            .await?;
        let found = complete(connection, organization, row.into_iter().collect()).await?;
        Ok(found.into_iter().next())
    }

    async fn touch(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
        now: OffsetDateTime,
    ) -> Result<()> {
        diesel::update(rows_of(organization).filter(questionnaires::id.eq(id.0)))
            .set(questionnaires::updated_at.eq(now))
            .change_on(self.write())
            .await
    }
}
