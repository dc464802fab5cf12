//! `/draft_proposals` (contract 06 §2).

use crate::document::Doc;
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::proposals::{self, ProposalLinks, ProposalRelationships};
use crate::resources::{data, integer, newest};
use crate::route::{Answer, Gate, Routes, Write};
use crate::shapes::{CreationDate, EditionDate, TranslatedProp};
use actix_web::http::{Method, StatusCode};
use civitas_application::{Registry, RenderContext};
use civitas_kernel::{ComponentId, Locale, ProposalId, Result};
use civitas_proposals::{
    CreateDraft, DRAFT, DraftErrors, Drafts, Neighbours, ProposalDetail, PublishDraft, UpdateDraft,
    UpdatedDraft, WithdrawDraft, shown,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A draft: a proposal of its author's alone, until it is published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftView {
    id: String,
    #[serde(rename = "type")]
    kind: DraftType,
    attributes: DraftAttributes,
    relationships: ProposalRelationships,
    links: ProposalLinks,
    meta: DraftMeta,
}

/// The type of a draft.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_object_type)]
#[serde(rename_all = "snake_case")]
enum DraftType {
    /// `draft_proposal`
    DraftProposal,
}

/// What a draft says, and what is wrong with it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_attributes)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
struct ErrorsView {
    title: Vec<String>,
    body: Vec<String>,
}

/// Whether a draft can be published, and through which client it was created.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = draft_proposal_meta)]
#[serde(deny_unknown_fields)]
struct DraftMeta {
    /// Nothing is wrong with it.
    publishable: bool,
    /// The public name of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// What can be written.
    fields: [&'static str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<i64>,
}

/// How a draft is shown.
struct Showing {
    /// The language of fields that were not asked for in others.
    working: Locale,
    /// Whether it still exists.
    living: bool,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = |summary| {
        Doc::new(summary, "draft_proposal_item_response").within_space().locales().fails(400).fails(404)
    };
    routes.write(Write {
        ids: ["createDraftProposal", "createDraftProposalSync"],
        method: Method::POST,
        paths: ["/draft_proposals", "/draft_proposals/sync"],
        status: StatusCode::OK,
        read: |r| Ok(CreateDraft { component: ComponentId(integer(data(&r.body)?, "component_id")?) }),
        doc: || {
            let doc = Doc::new("Begins a draft", "draft_proposal_item_response").within_space().locales();
            doc.takes("draft_proposal_create_body").fails(400).fails(404)
        },
    });
    routes.on("", Method::GET, "/draft_proposals", Gate::NoAction, doc("No list"), show_one);
    routes.read("getDraftProposal", "/draft_proposals/{id}", DRAFT, doc("Shows a draft"), show_one);
    routes.write(Write {
        ids: ["updateDraftProposalAsync", "updateDraftProposal"],
        method: Method::PUT,
        paths: ["/draft_proposals/{id}", "/draft_proposals/{id}/sync"],
        status: StatusCode::OK,
        read: read_update,
        doc: || {
            let doc = Doc::new("Writes a draft", "draft_proposal_item_response").within_space().locales();
            doc.takes("draft_proposal_update_body").fails(400).fails(404)
        },
    });
    routes.write(Write {
        ids: ["withdrawDraftProposalAsync", "withdrawDraftProposal"],
        method: Method::DELETE,
        paths: ["/draft_proposals/{id}", "/draft_proposals/{id}/sync"],
        status: StatusCode::OK,
        read: |r| Ok(WithdrawDraft { id: ProposalId(r.id()?), within: r.query.within_space()? }),
        doc: || {
            let doc =
                Doc::new("Throws a draft away", "draft_proposal_item_response").within_space().locales();
            doc.fails(400).fails(404)
        },
    });
    routes.write(Write {
        ids: ["publishDraftProposalAsync", "publishDraftProposal"],
        method: Method::POST,
        paths: ["/draft_proposals/{id}/publish", "/draft_proposals/{id}/publish/sync"],
        status: StatusCode::OK,
        read: |r| Ok(PublishDraft { id: ProposalId(r.id()?), within: r.query.within_space()? }),
        doc: || {
            let doc = Doc::new("Makes a draft public", "proposal_item_response").within_space().locales();
            doc.fails(400).fails(404)
        },
    });
}

pub(crate) fn commands(to: Registry) -> Registry {
    to.on::<CreateDraft>(
        |p| Box::new(Drafts { store: p.proposals(), components: p.component_lookup() }),
        |context, draft| result(context, &draft, context.ctx.working_locale(), true),
    )
    .on::<UpdateDraft>(
        |p| Box::new(Drafts { store: p.proposals(), components: p.component_lookup() }),
        |context, UpdatedDraft { draft, locale }| result(context, &draft, locale, true),
    )
    .on::<PublishDraft>(
        |p| Box::new(Drafts { store: p.proposals(), components: p.component_lookup() }),
        |context, proposal| proposals::result(context, &proposal),
    )
    .on::<WithdrawDraft>(
        |p| Box::new(Drafts { store: p.proposals(), components: p.component_lookup() }),
        |context, draft| result(context, &draft, context.ctx.working_locale(), false),
    )
}

fn read_update(request: &Request) -> Result<UpdateDraft> {
    let id = ProposalId(request.id()?);
    let sent = data(&request.body)?;
    let member = |name: &str| sent.get(name).cloned();
    let locale = member("locale").filter(|l| !l.is_null());
    UpdateDraft::new(id, request.query.within_space()?, [member("title"), member("body")], locale)
}

async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let drafts =
        Drafts { store: request.ports().proposals(), components: request.ports().component_lookup() };
    let draft = drafts.find(context.ctx, ProposalId(request.id()?), request.query.within_space()?).await?;
    let changed_at = newest(&request, &[], [draft.changed_at].into_iter()).await?;
    let showing = Showing { working: context.ctx.working_locale(), living: true };
    Ok(Reply::read(&request, &Document { data: view(&context, &draft, &showing) }, changed_at)?)
}

fn result(context: &RenderContext<'_>, draft: &ProposalDetail, working: Locale, living: bool) -> Value {
    json!(Document { data: view(context, draft, &Showing { working, living }) })
}

/// A draft as an anonymous viewer sees it, in the languages of the context.
pub(crate) fn announced(context: &RenderContext<'_>, draft: &ProposalDetail) -> DraftView {
    view(context, draft, &Showing { working: context.tenant.default_locale, living: true })
}

fn view(context: &RenderContext<'_>, draft: &ProposalDetail, showing: &Showing) -> DraftView {
    let ProposalDetail { id, proposal, place, client_uid, .. } = draft;
    let errors = DraftErrors::of(proposal, showing.working, place.rules.proposal_length);
    let publishable = showing.living && errors.is_empty();
    let sentences =
        |faults: Vec<civitas_kernel::FieldError>| faults.into_iter().map(|f| f.description).collect();
    let part = |text| TranslatedProp(shown(text, context.asked, showing.working));
    DraftView {
        id: id.to_string(),
        kind: DraftType::DraftProposal,
        attributes: DraftAttributes {
            created_at: CreationDate(proposal.created_at),
            updated_at: EditionDate(proposal.updated_at),
            title: part(&proposal.title),
            body: part(&proposal.body),
            errors: ErrorsView { title: sentences(errors.title), body: sentences(errors.body) },
        },
        relationships: proposals::relationships(place, &proposal.authors, None),
        links: proposals::links(context, *id, place, Neighbours::default()),
        meta: DraftMeta {
            publishable,
            client_id: client_uid.clone(),
            fields: ["title", "body"],
            scope: place.scope,
        },
    }
}
