//! Shapes and parameters that the resources of questionnaires share.

use super::LISTS;
use crate::answers::last_modified;
use crate::document::OperationDoc;
use crate::links::base;
use crate::reply::{CollectionMeta, Reply};
use crate::request::Request;
use crate::route::HandlerResult;
use crate::shapes::QuestionnairesType;
use civitas_application::RenderContext;
use civitas_kernel::filter::{Comparison, FieldKind, FilterCondition, FilterField, RawFilter, read_filters};
use civitas_kernel::{Error, Page, QuestionId, QuestionnaireId, Result};
use civitas_surveys::TextLanguages;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

/// The language of the texts of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = forms_locale_meta)]
pub(crate) struct LocaleMeta {
    /// The language of the texts; a text without it is in another one.
    pub(super) locale: String,
    /// The language that was requested.
    pub(super) requested_locale: String,
    /// Always null at present.
    #[schema(required)]
    pub(super) fallback_from: Option<String>,
}

impl LocaleMeta {
    pub(super) fn new(context: &RenderContext<'_>) -> Self {
        let locale = context.language().to_string();
        Self { requested_locale: locale.clone(), locale, fallback_from: None }
    }
}

/// The position of a page in a list, and the language of its texts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = forms_collection_meta)]
pub(crate) struct ListMeta {
    /// The first page is 1.
    #[schema(minimum = 1)]
    page: i64,
    /// Rows on a page.
    #[schema(minimum = 1, maximum = 100)]
    per_page: i64,
    /// Whether another page follows.
    has_more: bool,
    /// Its address.
    #[schema(required)]
    next: Option<String>,
    /// The address of the page before.
    #[schema(required)]
    prev: Option<String>,
    /// The language of the texts; a text without it is in another one.
    locale: String,
    /// The language that was requested.
    requested_locale: String,
    /// Always null at present.
    #[schema(required)]
    fallback_from: Option<String>,
}

/// The answer to the read of a list, with the language in its `meta`.
pub(super) async fn list<T, V: Serialize>(
    request: &Request,
    context: &RenderContext<'_>,
    page: Page<T>,
    changed_at: OffsetDateTime,
    view: impl FnMut(T) -> V,
) -> HandlerResult {
    let changed_at = last_modified(request, LISTS, [changed_at].into_iter()).await?;
    let meta = |position: CollectionMeta| {
        let CollectionMeta { page, per_page, has_more, next, prev } = position;
        let LocaleMeta { locale, requested_locale, fallback_from } = LocaleMeta::new(context);
        ListMeta { page, per_page, has_more, next, prev, locale, requested_locale, fallback_from }
    };
    Ok(Reply::for_list(request, page.map(view), false, changed_at, meta)?.localized())
}

/// One record, with the language in its `meta`.
#[derive(Serialize)]
pub(super) struct LocalizedDocument<T> {
    pub(super) data: T,
    pub(super) meta: LocaleMeta,
}

/// A link of this area.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_hypermedia_link)]
pub(crate) struct FormsLink {
    /// The full address.
    href: String,
    /// Its title, for people.
    title: &'static str,
    /// The name of the link.
    rel: &'static str,
    /// How to follow it.
    meta: FormsLinkMeta,
}

/// How to follow a link.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_hypermedia_link_meta)]
pub(crate) struct FormsLinkMeta {
    /// The method.
    action_method: &'static str,
    /// The questionnaire to name in the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    questionnaire_id: Option<String>,
}

impl FormsLink {
    /// A link to read.
    pub(super) fn get(
        context: &RenderContext<'_>,
        path: std::fmt::Arguments<'_>,
        title: &'static str,
        rel: &'static str,
    ) -> Self {
        let meta = FormsLinkMeta { action_method: "GET", questionnaire_id: None };
        Self { href: base(context, path), title, rel, meta }
    }

    /// A link to submit to.
    pub(super) fn post(
        context: &RenderContext<'_>,
        path: &str,
        title: &'static str,
        rel: &'static str,
        questionnaire: Option<QuestionnaireId>,
    ) -> Self {
        let questionnaire_id = questionnaire.map(|id| id.to_string());
        let meta = FormsLinkMeta { action_method: "POST", questionnaire_id };
        Self { href: base(context, format_args!("{path}")), title, rel, meta }
    }

    pub(super) fn href(&self) -> &str {
        &self.href
    }
}

/// A relationship to a questionnaire.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = to_questionnaire)]
pub(crate) struct ToQuestionnaireRelationship {
    data: QuestionnaireIdentifier,
}

/// A questionnaire, by id and type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_relationship_identifier)]
pub(crate) struct QuestionnaireIdentifier {
    id: String,
    r#type: QuestionnairesType,
}

/// The questionnaire of a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = in_questionnaire)]
pub(crate) struct QuestionnaireRelationship {
    questionnaire: ToQuestionnaireRelationship,
}

impl QuestionnaireRelationship {
    pub(super) fn new(id: QuestionnaireId) -> Self {
        let data = QuestionnaireIdentifier { id: id.to_string(), r#type: QuestionnairesType };
        Self { questionnaire: ToQuestionnaireRelationship { data } }
    }
}

/// The languages of projected texts.
pub(super) fn texts(context: &RenderContext<'_>) -> TextLanguages {
    TextLanguages { effective: context.language(), default: context.tenant.default_locale }
}

/// A parent that a list is read from, as a filter or a parameter of the same name.
pub(super) struct Parent<I> {
    name: &'static str,
    fields: &'static [FilterField<()>],
    id_of: fn(i64) -> I,
}

/// The questionnaire of questions and answers.
pub(super) const QUESTIONNAIRE: Parent<QuestionnaireId> = Parent {
    name: "questionnaire_id",
    fields: &[FilterField::new("questionnaire_id", FieldKind::Integer, ())],
    id_of: QuestionnaireId,
};
/// The question of options.
pub(super) const QUESTION: Parent<QuestionId> = Parent {
    name: "question_id",
    fields: &[FilterField::new("question_id", FieldKind::Integer, ())],
    id_of: QuestionId,
};

impl<I> Parent<I> {
    /// Its id, for a request without other filters.
    ///
    /// # Errors
    /// As [`Self::id_and_filters`]; `Unknown filter` for another one.
    pub(super) fn id(&self, request: &Request) -> Result<I> {
        let (id, others) = self.id_and_filters(request)?;
        read_filters::<()>(&[], &others)?;
        Ok(id)
    }

    /// Its id, and the other filters.
    ///
    /// # Errors
    /// `filter[x] required`, `Unknown filter`, `Invalid value for filter`.
    pub(super) fn id_and_filters(&self, request: &Request) -> Result<(I, RawFilter)> {
        let RawFilter { values, time_zone } = request.filter()?;
        let (own, others): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|(key, _)| key.starts_with(self.name));
        let [own, others] = [own, others].map(|values| RawFilter { values, time_zone });
        let mut id = None;
        for filter in read_filters(self.fields, &own)? {
            let FilterCondition::Integer(Comparison::Eq(number)) = filter.condition else {
                return Err(Error::rejected(format!("Unknown filter: {}", own.values[0].0)));
            };
            id = Some(number);
        }
        let name = self.name;
        let invalid = |_| Error::rejected(format!("Invalid value for {name}"));
        let parameter = request.query.get(name).filter(|text| !text.is_empty());
        let parameter = parameter.map(str::parse).transpose().map_err(invalid)?;
        let id = id.or(parameter).ok_or_else(|| Error::rejected(format!("filter[{name}] required")))?;
        Ok(((self.id_of)(id), others))
    }

    pub(super) fn describe(&self, doc: OperationDoc) -> OperationDoc {
        use crate::document::ParameterType;
        let name = self.name;
        let doc = doc.with_required_parameter(&format!("filter[{name}]"), ParameterType::Integer);
        let doc = doc
            .with_parameter(&format!("filter[{name}_eq]"), ParameterType::Integer)
            .with_parameter(name, ParameterType::Integer)
            .with_failure(404);
        doc.with_schema::<ListMeta>().with_schema::<LocaleMeta>()
    }
}
