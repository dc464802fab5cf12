//! `/proposals` (contract 06 §1).

use crate::answers;
use crate::document::OperationDoc;
use crate::links::{ComponentRecord, ProposalLinks, RecordNames};
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{
    CreationDate, EditionDate, ProposalType, PublicationDate, RelationshipCount, ResourceIdentifier,
    SpaceAndComponent, ToComponentRelationship, ToManyRelationship, ToOneRelationship, TranslatedProp,
};
use civitas_application::RenderContext;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{Ability, Order, ProposalId, SortColumn, UserId};
use civitas_proposals::{
    PROPOSAL_FIELDS, ProposalContext, ProposalDetail, ProposalNeighbours, Proposals, PublicState,
    READ_PROPOSALS,
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
    component_kind: "proposals",
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
    space: ToOneRelationship,
    component: ToComponentRelationship,
    /// Only with a public answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateRelationship>,
    /// Absent for official proposals.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<ToOneRelationship>,
    coauthors: ToManyRelationship,
}

/// The state of a public answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_state_relationship)]
struct StateRelationship {
    data: ResourceIdentifier,
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
    voted: Option<OwnVote>,
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
struct OwnVote {
    /// 0 is an abstention.
    weight: i64,
}

pub(crate) fn routes(routes: &mut Routes) {
    const ORDERS: &[&str] = &["published_at", "id", "created_at", "updated_at", "votes_count", "rand"];
    let read = |doc: OperationDoc| doc.with_component_read_parameters(ORDERS).with_filters(PROPOSAL_FIELDS);
    let list = read(OperationDoc::page::<ProposalView>("Lists the proposals").with_page_parameters());
    routes.read("listProposals", "/proposals", READ_PROPOSALS, list.at_replicas(), index);
    let show = read(OperationDoc::item::<ProposalView>("Shows a proposal"));
    routes.read("getProposal", "/proposals/{id}", READ_PROPOSALS, show.at_replicas(), show_one);
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at", &SORTS)?);
    let store = request.list_store(Ability::ProposalsExtendedDataRead)?;
    let proposals = Proposals { store: store.proposals() };
    let page =
        proposals.list(context.ctx, within, &request.filter()?, order, request.page_in_own_order()).await?;
    let view = |found| view(&context, &found, ProposalNeighbours::default());
    answers::page_reply(&request, LISTS, page, order == Order::Random, |found| found.changed_at, view).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at", &SORTS)?);
    let proposals = Proposals { store: request.ports().proposals() };
    let id = ProposalId(request.id()?);
    let (found, beside) = proposals.find(context.ctx, id, within, &request.filter()?, order).await?;
    answers::record_reply(&request, LISTS, found.changed_at, view(&context, &found, beside)).await
}

/// A proposal as the result of a command: in the requested languages, without neighbours.
pub(crate) fn result(context: &RenderContext<'_>, detail: &ProposalDetail) -> Value {
    json!(Document { data: view(context, detail, ProposalNeighbours::default()) })
}

/// A proposal as visible to the caller.
pub(crate) fn view(
    context: &RenderContext<'_>,
    detail: &ProposalDetail,
    beside: ProposalNeighbours,
) -> ProposalView {
    let ProposalDetail { id, proposal, state, context: proposal_context, voted, .. } = detail;
    let locales = context.locales();
    let record = record(context, *id, proposal_context);
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
            scope: proposal_context.scope,
            client_id: proposal.client.map(|c| c.0),
            voted: voted.filter(|_| proposal.published_at.is_some()).map(|weight| OwnVote { weight }),
            withdrawn: (*state == PublicState::Withdrawn).then_some(true),
            votes_count: detail.shown_votes(),
        },
    }
}

/// A proposal or draft in its component.
pub(crate) fn record<'a>(
    context: &'a RenderContext<'a>,
    id: ProposalId,
    proposal_context: &'a ProposalContext,
) -> ComponentRecord<'a> {
    let (space, component, component_name) =
        (proposal_context.space, proposal_context.component, &proposal_context.name);
    ComponentRecord { context, names: NAMES, id: id.0, space, component, component_name }
}

/// The links of a proposal or draft, and those to its neighbours.
pub(crate) fn links(record: &ComponentRecord<'_>, beside: ProposalNeighbours) -> ProposalLinks {
    ProposalLinks(record.links_with_neighbours(beside.next.map(|id| id.0), beside.prev.map(|id| id.0)))
}

/// The space, the component and the authors of a proposal or draft; `state` only if its answer is public.
pub(crate) fn relationships(
    record: &ComponentRecord<'_>,
    authors: &[UserId],
    state: Option<&PublicState>,
) -> ProposalRelationships {
    let user = |id: &UserId| ResourceIdentifier::new(id, "user");
    let answer = |state: &PublicState| match state {
        PublicState::Answered(id, token) => Some(StateRelationship {
            data: ResourceIdentifier::new(id, "proposal_state"),
            meta: StateToken { token: token.clone() },
        }),
        PublicState::None | PublicState::Withdrawn => None,
    };
    let count = i64::try_from(authors.len()).unwrap_or(i64::MAX);
    let SpaceAndComponent { space, component } = record.relationships();
    ProposalRelationships {
        space,
        component,
        state: state.and_then(answer),
        author: authors.first().map(|id| ToOneRelationship { data: user(id) }),
        coauthors: ToManyRelationship {
            data: authors.iter().map(user).collect(),
            meta: RelationshipCount { count },
        },
    }
}
