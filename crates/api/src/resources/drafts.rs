//! `/draft_proposals` (contract 06 §2).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::ProposalLinks;
use crate::reply::Document;
use crate::request::Request;
use crate::resources::proposals::{self, ProposalRelationships, ProposalView};
use crate::route::{HandlerResult, RequiredAccess, Routes, WriteRoute, delete, post, put};
use crate::shapes::{CreationDate, DraftType, EditionDate, LocaleName, TranslatedProp};
use crate::typed_body::{DataBody, NoBody, RawBody};
use actix_web::http::Method;
use civitas_application::{Ports, RenderContext};
use civitas_kernel::{ComponentId, Locale, ProposalId, Result};
use civitas_proposals::{
    CreateDraft, DraftErrors, Drafts, ProposalDetail, ProposalNeighbours, PublishDraft, UpdateDraft,
    UpdatedDraft, WRITE_DRAFTS, WithdrawDraft, draft_texts,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A draft: a proposal that only its author sees, until it is published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal)]
pub(crate) struct DraftView {
    id: String,
    r#type: DraftType,
    attributes: DraftAttributes,
    relationships: ProposalRelationships,
    links: ProposalLinks,
    meta: DraftMeta,
}

/// The content of a draft, and its validation errors.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_attributes)]
struct DraftAttributes {
    created_at: CreationDate,
    updated_at: EditionDate,
    title: TranslatedProp,
    body: TranslatedProp,
    errors: ErrorsView,
}

/// Full sentences, by field.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_errors)]
struct ErrorsView {
    title: Vec<String>,
    body: Vec<String>,
}

/// Whether a draft can be published, and through which client it was created.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_meta)]
struct DraftMeta {
    /// There are no validation errors.
    publishable: bool,
    /// The public name of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The members that can be written.
    fields: [&'static str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<i64>,
}

/// The component of a new draft.
#[derive(Deserialize, ToSchema)]
#[schema(as = draft_proposal_create_body, examples(json!({"data": {"component_id": 101}})))]
struct DraftToCreate {
    /// A proposals component.
    component_id: i64,
}

/// The new content of a draft. An absent member keeps its value.
#[derive(Deserialize, ToSchema)]
#[schema(as = draft_proposal_update_body, examples(json!({"data": {
    "title": "More trees along Main Street", "body": "Two trees per block, watered by the city.",
    "locale": "en"}})))]
struct DraftToUpdate {
    /// Plain text; markup is taken out.
    #[schema(value_type = Option<String>)]
    title: Option<Value>,
    /// Plain text; markup is taken out.
    #[schema(value_type = Option<String>)]
    body: Option<Value>,
    /// The language of both; that of the user when absent.
    #[schema(value_type = Option<LocaleName>)]
    locale: Option<Value>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = |summary| OperationDoc::item::<DraftView>(summary).with_space_parameters().with_locales();
    routes.write(&WriteRoute {
        operations: post(["createDraftProposal", "createDraftProposalSync"], "/draft_proposals"),
        read: create,
        use_case: |ports, _| Box::new(drafts(ports)),
        view: |context, draft| result(context, &draft, context.ctx.working_locale(), true),
        doc: doc("Begins a draft").with_failure(404),
    });
    routes.add_route("", Method::GET, "/draft_proposals", RequiredAccess::NoAction, doc("No list"), show_one);
    routes.read("getDraftProposal", "/draft_proposals/{id}", WRITE_DRAFTS, doc("Shows a draft"), show_one);
    routes.write(&WriteRoute {
        operations: put(["updateDraftProposalAsync", "updateDraftProposal"], "/draft_proposals/{id}"),
        read: update,
        use_case: |ports, _| Box::new(drafts(ports)),
        view: |context, UpdatedDraft { draft, locale }| result(context, &draft, locale, true),
        doc: doc("Writes a draft"),
    });
    routes.write(&WriteRoute {
        operations: delete(["withdrawDraftProposalAsync", "withdrawDraftProposal"], "/draft_proposals/{id}"),
        read: |request, _: RawBody<'_, NoBody>| {
            Ok(WithdrawDraft { id: ProposalId(request.id()?), within: request.query.within_space()? })
        },
        use_case: |ports, _| Box::new(drafts(ports)),
        view: |context, draft| result(context, &draft, context.ctx.working_locale(), false),
        doc: doc("Throws a draft away"),
    });
    routes.write(&WriteRoute {
        operations: post(
            ["publishDraftProposalAsync", "publishDraftProposal"],
            "/draft_proposals/{id}/publish",
        ),
        read: |request, _: RawBody<'_, NoBody>| {
            Ok(PublishDraft { id: ProposalId(request.id()?), within: request.query.within_space()? })
        },
        use_case: |ports, _| Box::new(drafts(ports)),
        view: |context, proposal| proposals::result(context, &proposal),
        doc: OperationDoc::item::<ProposalView>("Makes a draft public")
            .with_space_parameters()
            .with_locales(),
    });
}

fn drafts(ports: &dyn Ports) -> Drafts<'_> {
    Drafts { store: ports.proposals(), components: ports.component_lookup() }
}

fn create(request: &Request, sent: RawBody<'_, DataBody<DraftToCreate>>) -> Result<CreateDraft> {
    let component = ComponentId(sent.read()?.data.component_id);
    Ok(CreateDraft { component, within: request.query.within_space()? })
}

fn update(request: &Request, sent: RawBody<'_, DataBody<DraftToUpdate>>) -> Result<UpdateDraft> {
    let id = ProposalId(request.id()?);
    let DraftToUpdate { title, body, locale } = sent.read()?.data;
    let locale = locale.filter(|locale| !locale.is_null());
    UpdateDraft::new(id, request.query.within_space()?, [title, body], locale)
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let (id, within) = (ProposalId(request.id()?), request.query.within_space()?);
    let draft = drafts(request.ports()).find(context.ctx, id, within).await?;
    let view = view(&context, &draft, context.ctx.working_locale(), true);
    answers::record_reply(&request, &[], draft.changed_at, view).await
}

fn result(context: &RenderContext<'_>, draft: &ProposalDetail, working: Locale, exists: bool) -> Value {
    json!(Document { data: view(context, draft, working, exists) })
}

/// A draft as an anonymous viewer sees it, in the languages of the context.
pub(crate) fn event_view(context: &RenderContext<'_>, draft: &ProposalDetail) -> DraftView {
    view(context, draft, context.tenant.default_locale, true)
}

/// `working`: the language of fields that were not requested in other languages.
fn view(context: &RenderContext<'_>, draft: &ProposalDetail, working: Locale, exists: bool) -> DraftView {
    let ProposalDetail { id, proposal, context: proposal_context, client_uid, .. } = draft;
    let errors = DraftErrors::new(proposal, working, proposal_context.rules.proposal_length);
    let record = proposals::record(context, *id, proposal_context);
    let publishable = exists && errors.is_empty();
    let sentences =
        |faults: Vec<civitas_kernel::FieldError>| faults.into_iter().map(|f| f.description).collect();
    let part = |text| TranslatedProp(draft_texts(text, context.asked, working));
    DraftView {
        id: id.to_string(),
        r#type: DraftType,
        attributes: DraftAttributes {
            created_at: CreationDate(proposal.created_at),
            updated_at: EditionDate(proposal.updated_at),
            title: part(&proposal.title),
            body: part(&proposal.body),
            errors: ErrorsView { title: sentences(errors.title), body: sentences(errors.body) },
        },
        relationships: proposals::relationships(&record, &proposal.authors, None),
        links: proposals::links(&record, ProposalNeighbours::default()),
        meta: DraftMeta {
            publishable,
            client_id: client_uid.clone(),
            fields: ["title", "body"],
            scope: proposal_context.scope,
        },
    }
}
