//! `/proposals` (contract 06 §1).

use crate::answers;
use crate::document::Doc;
use crate::links::{ComponentRecord, ProposalLinks, RecordNames};
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{
    Count, CreationDate, EditionDate, Identifier, InComponent, ProposalType, PublicationDate, ToComponent,
    ToMany, ToOne, TranslatedProp,
};
use civitas_application::RenderContext;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{Ability, Order, ProposalId, SortColumn, UserId};
use civitas_proposals::{
    Neighbours, PROPOSAL_FIELDS, ProposalDetail, ProposalPlace, Proposals, PublicState, READ_PROPOSALS,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of proposals.
const LISTS: &[&str] = &["proposals", "votes", "components", "spaces"];
/// The columns that proposals can be sorted by besides `published_at`.
const SORTS: [SortColumn; 4] =
    [SortColumn::Id, SortColumn::CreatedAt, SortColumn::UpdatedAt, SortColumn::Votes];
const NAMES: RecordNames = RecordNames {
    path: "proposals",
    manifest: "proposals",
    component_type: "proposal_component",
    label: "Proposals",
    neighbour: "Proposal",
};

/// A proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal)]
pub(crate) struct ProposalView {
    id: String,
    r#type: ProposalType,
    attributes: ProposalAttributes,
    relationships: ProposalRelationships,
    links: ProposalLinks,
    meta: ProposalMeta,
}

/// The content of a proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_attributes)]
struct ProposalAttributes {
    created_at: CreationDate,
    updated_at: EditionDate,
    title: TranslatedProp,
    body: TranslatedProp,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<ExtendedDataValue>,
}

/// Relationships of a proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_relationships)]
pub(crate) struct ProposalRelationships {
    space: ToOne,
    component: ToComponent,
    /// Only with a public answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateRelationship>,
    /// Absent for official proposals.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<ToOne>,
    coauthors: ToMany,
}

/// The state of a public answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_state_relationship)]
struct StateRelationship {
    data: Identifier,
    meta: StateToken,
}

/// The name of a state in filters.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_state_token)]
struct StateToken {
    token: String,
}

/// Whether a proposal accepts votes, and the caller's own vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_meta)]
struct ProposalMeta {
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<PublicationDate>,
    /// Whether votes are accepted at all.
    can_vote: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<i64>,
    /// The internal number of the client it was created through.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<i64>,
    /// The caller's own vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    voted: Option<Voted>,
    /// `true` when it was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<bool>,
    /// The number of votes, without those that do not count yet. Only of published proposals, unless the phase hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    votes_count: Option<i64>,
}

/// The caller's own vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_voted)]
struct Voted {
    /// 0 is an abstention.
    weight: i64,
}

pub(crate) fn routes(routes: &mut Routes) {
    const ORDERS: &[&str] = &["published_at", "id", "created_at", "updated_at", "votes_count", "rand"];
    let read = |doc: Doc| doc.in_component(ORDERS).filters(PROPOSAL_FIELDS);
    let list = read(Doc::page::<ProposalView>("Lists the proposals").pages());
    routes.read("listProposals", "/proposals", READ_PROPOSALS, list, index);
    let show = read(Doc::item::<ProposalView>("Shows a proposal"));
    routes.read("getProposal", "/proposals/{id}", READ_PROPOSALS, show, show_one);
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at", &SORTS)?);
    let store = request.list_store(Ability::ProposalsExtendedDataRead)?;
    let proposals = Proposals { store: store.proposals() };
    let page =
        proposals.list(context.ctx, within, &request.filter()?, order, request.page_in_own_order()).await?;
    let view = |found| view(&context, &found, Neighbours::default());
    answers::page(&request, LISTS, page, order == Order::Random, |found| found.changed_at, view).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at", &SORTS)?);
    let proposals = Proposals { store: request.ports().proposals() };
    let id = ProposalId(request.id()?);
    let (found, beside) = proposals.find(context.ctx, id, within, &request.filter()?, order).await?;
    answers::item(&request, LISTS, found.changed_at, view(&context, &found, beside)).await
}

/// A proposal as the result of a command: in the requested languages, without neighbours.
pub(crate) fn result(context: &RenderContext<'_>, detail: &ProposalDetail) -> Value {
    json!(Document { data: view(context, detail, Neighbours::default()) })
}

/// A proposal as visible to the caller.
pub(crate) fn view(context: &RenderContext<'_>, detail: &ProposalDetail, beside: Neighbours) -> ProposalView {
    let ProposalDetail { id, proposal, state, place, voted, .. } = detail;
    let locales = context.locales();
    let record = record(context, *id, place);
    let may_read_data = context.ctx.may(Ability::ProposalsExtendedDataRead);
    ProposalView {
        id: id.to_string(),
        r#type: ProposalType,
        attributes: ProposalAttributes {
            created_at: CreationDate(proposal.created_at),
            updated_at: EditionDate(proposal.updated_at),
            title: TranslatedProp(proposal.title.in_locales(locales)),
            body: TranslatedProp(proposal.body.in_locales(locales)),
            extended_data: may_read_data.then(|| proposal.extended_data.clone()),
        },
        relationships: relationships(&record, &proposal.authors, Some(state)),
        links: links(&record, beside),
        meta: ProposalMeta {
            published: proposal.published_at.is_some(),
            published_at: proposal.published_at.map(PublicationDate),
            can_vote: detail.can_vote(),
            scope: place.scope,
            client_id: proposal.client.map(|c| c.0),
            voted: voted.filter(|_| proposal.published_at.is_some()).map(|weight| Voted { weight }),
            withdrawn: (*state == PublicState::Withdrawn).then_some(true),
            votes_count: detail.shown_votes(),
        },
    }
}

/// A proposal or draft in its component.
pub(crate) fn record<'a>(
    context: &'a RenderContext<'a>,
    id: ProposalId,
    place: &'a ProposalPlace,
) -> ComponentRecord<'a> {
    let (space, component, component_name) = (place.space, place.component, &place.name);
    ComponentRecord { context, names: NAMES, id: id.0, space, component, component_name }
}

/// The links of a proposal or draft, and those to its neighbours.
pub(crate) fn links(record: &ComponentRecord<'_>, beside: Neighbours) -> ProposalLinks {
    ProposalLinks(record.links_beside(beside.next.map(|id| id.0), beside.prev.map(|id| id.0)))
}

/// The space, the component and the authors of a proposal or draft; `state` only if its answer is public.
pub(crate) fn relationships(
    record: &ComponentRecord<'_>,
    authors: &[UserId],
    state: Option<&PublicState>,
) -> ProposalRelationships {
    let user = |id: &UserId| Identifier::new(id, "user");
    let answer = |state: &PublicState| match state {
        PublicState::Answered(id, token) => Some(StateRelationship {
            data: Identifier::new(id, "proposal_state"),
            meta: StateToken { token: token.clone() },
        }),
        PublicState::None | PublicState::Withdrawn => None,
    };
    let count = i64::try_from(authors.len()).unwrap_or(i64::MAX);
    let InComponent { space, component } = record.relationships();
    ProposalRelationships {
        space,
        component,
        state: state.and_then(answer),
        author: authors.first().map(|id| ToOne { data: user(id) }),
        coauthors: ToMany { data: authors.iter().map(user).collect(), meta: Count { count } },
    }
}
