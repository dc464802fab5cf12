//! Questionnaires.

use super::search::{is_in, is_kept, question_count, response_count};
use super::{form, surveys};
use crate::columns::{self, Condition, columns};
use crate::engine::{Conn, Db, dialect};
use crate::failure::DieselResultExt;
use crate::filter::{FilterColumn, column_condition, contains, translated};
use crate::list_pages::{count, in_order};
use crate::page_rows::{LoadPage, PageBounds};
use crate::records::records;
use crate::schema::{components, questionnaires};
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed};
use crate::tables::component_places;
use crate::tables::components::ComponentInSpace;
use crate::tables::planner::Checked;
use crate::tables::select::{TableColumn, on_page};
use crate::tables::visible_components::VisibleComponents;
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::filter::{Comparison, Condition as FilterCondition};
use civitas_kernel::{
    ComponentId, Error, MeetingId, OrganizationId, Page, PageRequest, QuestionnaireId, ReadContext, Result,
    SurveyId, Translated, Within,
};
use civitas_spaces::ComponentManifest;
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
    let survey_ids = found.iter().filter_map(|(_, questionnaire, ..)| match questionnaire.parent {
        QuestionnaireParent::Survey(id) => Some(id.0),
        QuestionnaireParent::Meeting(_) => None,
    });
    let mut surveys_by_id =
        surveys::of_ids(connection, organization, &survey_ids.collect::<Vec<_>>()).await?;
    let components = found.iter().map(|(_, questionnaire, ..)| questionnaire.component.0).collect();
    let places = component_places::of_components(connection, organization, components).await?;
    let summaries = found.into_iter().filter_map(|(id, questionnaire, questions, responses)| {
        let place = places.get(&questionnaire.component.0)?.clone();
        let survey = match questionnaire.parent {
            QuestionnaireParent::Survey(id) => surveys_by_id.remove(&id.0),
            QuestionnaireParent::Meeting(_) => None,
        };
        Some(QuestionnaireSummary { id, questionnaire, place, survey, questions, responses })
    });
    Ok(summaries.collect())
}

records! {
    questionnaires: QuestionnaireId => Questionnaire;
    read with_parents;
}

/// The kind of the components of a parent.
fn manifest(parent: QuestionnaireParent) -> ComponentManifest {
    match parent {
        QuestionnaireParent::Survey(_) => ComponentManifest::Surveys,
        QuestionnaireParent::Meeting(_) => ComponentManifest::Meetings,
    }
}

/// Replaces class names of spaces by manifests.
fn by_manifest(condition: &FilterCondition) -> FilterCondition {
    let name = |name: &String| space_type(name).map_or(name.clone(), |manifest| manifest.as_str().to_owned());
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
fn of_component(filter: &QuestionnaireFilter) -> Result<Option<Condition<ComponentInSpace>>> {
    let column: FilterColumn<ComponentInSpace> = match filter.field {
        QuestionnaireField::Id | QuestionnaireField::CreatedAt | QuestionnaireField::UpdatedAt => {
            return Ok(None);
        }
        QuestionnaireField::Component => FilterColumn::Integer(Box::new(components::id.nullable())),
        QuestionnaireField::Space => FilterColumn::Integer(Box::new(components::space_id.nullable())),
        QuestionnaireField::SpaceType => FilterColumn::Ascii(Box::new(components::space_manifest.nullable())),
    };
    column_condition(column, &by_manifest(&filter.condition)).map(Some)
}

/// A condition on questionnaires; `None` for one on components.
fn of_questionnaire(filter: &QuestionnaireFilter) -> Result<Option<Condition<questionnaires::table>>> {
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
    bounds: PageBounds,
) -> Result<Page<(QuestionnaireId, Questionnaire)>> {
    let conditions: Vec<_> =
        filters.iter().filter_map(|filter| of_component(filter).transpose()).collect::<Result<_>>()?;
    let visible =
        VisibleComponents::load_where(connection, read_context, Within::default(), conditions).await?;
    if visible.is_empty() {
        return Ok(Page::of(Vec::new(), false).with_total(page.is_counted.then_some(0)));
    }
    let listed = || {
        let mut ids = questionnaires::table
            .select(questionnaires::id)
            .into_boxed::<Db>()
            .filter(visible.contain::<questionnaires::table>("questionnaires", Checked::Many))
            .filter(VisibilityRule::QuestionnaireIsOpen(read_context.viewer));
        for filter in filters {
            if let Some(condition) = of_questionnaire(filter)? {
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
        .select(columns::of::<Row>())
        .into_boxed::<Db>();
    let rows = in_order!(rows, page, questionnaires, changed).limit(page.fetch());
    let rows: Vec<Row> = rows.load_page(connection, bounds).await.map_db_error()?;
    let page = Page::cut(rows, page);
    let items = page.items.into_iter().map(model).collect::<Result<_>>()?;
    Ok(Page::of(items, page.has_more).with_total(total))
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
        let places = component_places::of_components(connection, organization, components).await?;
        let mut forms = form::of_questionnaires(connection, organization, &ids, self.bounds).await?;
        let items = found.items.into_iter().filter_map(|(id, questionnaire)| {
            let place = places.get(&questionnaire.component.0)?.clone();
            let form = forms.remove(&id.0).unwrap_or_default();
            Some((QuestionnaireDetail { id, questionnaire, place }, form))
        });
        Ok(Page::of(items.collect(), found.has_more).with_total(found.total))
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: QuestionnaireId,
    ) -> Result<Option<QuestionnaireDetail>> {
        let connection = &mut *self.read().await?;
        let row: Option<Row> = of(read_context.organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(VisibilityRule::QuestionnaireIsOpen(read_context.viewer))
            .select(columns::of::<Row>())
            .first_from(borrowed(connection))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let (id, questionnaire) = model(row)?;
        let (component, manifest) = (questionnaire.component, manifest(questionnaire.parent));
        let within = Within::default();
        let place = component_places::visible(connection, read_context, within, component, manifest).await?;
        Ok(place.map(|place| QuestionnaireDetail { id, questionnaire, place }))
    }

    async fn form(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<Form> {
        let connection = &mut *self.read().await?;
        let forms = form::of_questionnaires(connection, organization, &[id.0], self.bounds).await?;
        Ok(forms.into_values().next().unwrap_or_default())
    }

    async fn lock_for_submission(&self, organization: OrganizationId, id: QuestionnaireId) -> Result<bool> {
        let row = of(organization).filter(questionnaires::id.eq(id.0)).select(questionnaires::id);
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
        let order = (TableColumn::of("questionnaires", at).desc(), questionnaires::id.desc());
        let ids = on_page(questionnaires::id, ids.order(order), page.into());
        let rows = questionnaires::table
            .filter(ids)
            .select((columns::of::<Row>(), question_count(), response_count()))
            .into_boxed::<Db>()
            .order(order)
            .limit(page.fetch());
        let connection = &mut *self.read_long().await?;
        let rows: Vec<QuestionnaireColumns> = rows.rows_from(borrowed(connection)).await?;
        let Page { items, has_more, .. } = Page::cut(rows, page);
        Ok(Page::of(complete(connection, organization, items).await?, has_more))
    }

    async fn find_kept(
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

    async fn summary(
        &self,
        organization: OrganizationId,
        id: QuestionnaireId,
    ) -> Result<Option<QuestionnaireSummary>> {
        let connection = &mut *self.read().await?;
        let row: Option<QuestionnaireColumns> = of(organization)
            .filter(questionnaires::id.eq(id.0))
            .filter(is_kept())
            .select((columns::of::<Row>(), question_count(), response_count()))
            .first_from(borrowed(connection))
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
        diesel::update(of(organization).filter(questionnaires::id.eq(id.0)))
            .set(questionnaires::updated_at.eq(now))
            .change_on(self.write())
            .await
    }
}
