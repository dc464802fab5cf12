//! `/proposals` (contract 06 §1).

use crate::document::{Doc, Holds};
use crate::links::{LinkMeta, ResourceLink, base, origin};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::newest;
use crate::route::{Answer, Routes};
use crate::shapes::{
    ComponentIdentifier, Count, CreationDate, EditionDate, Identifier, PublicationDate, ToComponent, ToMany,
    ToOne, TranslatedProp,
};
use civitas_application::RenderContext;
use civitas_kernel::{Ability, Order, ProposalId, UserId};
use civitas_proposals::{
    Neighbours, PROPOSAL_FIELDS, Place, ProposalDetail, Proposals, PublicState, READ_PROPOSALS,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The lists whose losses age a list of proposals.
const LISTS: &[&str] = &["proposals", "votes", "components", "spaces"];

/// A proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposalView {
    id: String,
    #[serde(rename = "type")]
    kind: ProposalType,
    attributes: ProposalAttributes,
    relationships: ProposalRelationships,
    links: ProposalLinks,
    meta: ProposalMeta,
}

/// The type of a proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_object_type)]
#[serde(rename_all = "snake_case")]
enum ProposalType {
    /// `proposal`
    Proposal,
}

/// What a proposal says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_attributes)]
#[serde(deny_unknown_fields)]
struct ProposalAttributes {
    created_at: CreationDate,
    updated_at: EditionDate,
    title: TranslatedProp,
    body: TranslatedProp,
    /// Only for clients that may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    extended_data: Option<Map<String, Value>>,
}

/// What a proposal belongs to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_relationships)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
struct StateRelationship {
    data: Identifier,
    meta: StateToken,
}

/// The name of a state in filters.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_state_token)]
#[serde(deny_unknown_fields)]
struct StateToken {
    token: String,
}

/// Where to go on from a proposal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_links)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposalLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
    collection: ResourceLink,
    related: ResourceLink,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<ResourceLink>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<ResourceLink>,
}

/// What can be done with a proposal, and what the caller did.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_meta)]
#[serde(deny_unknown_fields)]
struct ProposalMeta {
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<PublicationDate>,
    /// Whether votes are accepted, by anybody.
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
}

/// The caller's own vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = proposal_voted)]
#[serde(deny_unknown_fields)]
struct Voted {
    /// 0 is an abstention.
    weight: i64,
}

pub(crate) fn routes(routes: &mut Routes) {
    let context = |doc: Doc| {
        let doc = doc.locales().within_space().with("component_id", Holds::Integer);
        doc.order(&["published_at", "rand"]).filters(PROPOSAL_FIELDS).fails(400)
    };
    let list = context(Doc::new("Lists the proposals", "proposal_index_response").pages());
    routes.read("listProposals", "/proposals", READ_PROPOSALS, list, index);
    let show = context(Doc::new("Shows a proposal", "proposal_item_response")).fails(404);
    routes.read("getProposal", "/proposals/{id}", READ_PROPOSALS, show, show_one);
}

async fn index(request: Request) -> Answer {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at")?);
    let proposals = Proposals { store: request.ports().proposals() };
    let page = proposals.list(context.ctx, within, &query.filter()?, order, query.page()).await?;
    let changed_at = newest(&request, LISTS, page.items.iter().map(|p| p.changed_at)).await?;
    let page = page.map(|p| view(&context, &p, Neighbours::default()));
    Ok(Reply::list(&request, page, order == Order::Random, changed_at)?)
}

async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let query = &request.query;
    let (within, order) = (query.within()?, query.order("published_at")?);
    let proposals = Proposals { store: request.ports().proposals() };
    let id = ProposalId(request.id()?);
    let (found, beside) = proposals.find(context.ctx, id, within, &query.filter()?, order).await?;
    let changed_at = newest(&request, LISTS, [found.changed_at].into_iter()).await?;
    Ok(Reply::read(&request, &Document { data: view(&context, &found, beside) }, changed_at)?)
}

/// A proposal as the result of a command: in the requested languages, without neighbours.
pub(crate) fn result(context: &RenderContext<'_>, detail: &ProposalDetail) -> Value {
    json!(Document { data: view(context, detail, Neighbours::default()) })
}

/// A proposal as its caller reads it.
pub(crate) fn view(context: &RenderContext<'_>, detail: &ProposalDetail, beside: Neighbours) -> ProposalView {
    let ProposalDetail { id, proposal, state, place, voted, .. } = detail;
    let locales = context.locales();
    let may_read_data = context.ctx.may(Ability::ProposalsExtendedDataRead);
    ProposalView {
        id: id.to_string(),
        kind: ProposalType::Proposal,
        attributes: ProposalAttributes {
            created_at: CreationDate(proposal.created_at),
            updated_at: EditionDate(proposal.updated_at),
            title: TranslatedProp(proposal.title.only(locales)),
            body: TranslatedProp(proposal.body.only(locales)),
            extended_data: may_read_data.then(|| proposal.extended_data.clone()),
        },
        relationships: relationships(place, &proposal.authors, Some(state)),
        links: links(context, *id, place, beside),
        meta: ProposalMeta {
            published: proposal.published_at.is_some(),
            published_at: proposal.published_at.map(PublicationDate),
            can_vote: detail.can_vote(),
            scope: place.scope,
            client_id: proposal.client.map(|c| c.0),
            voted: voted.filter(|_| proposal.published_at.is_some()).map(|weight| Voted { weight }),
            withdrawn: (*state == PublicState::Withdrawn).then_some(true),
        },
    }
}

pub(crate) fn relationships(
    place: &Place,
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
    ProposalRelationships {
        space: ToOne { data: Identifier::new(place.space.id, place.space.manifest.as_str()) },
        component: ToComponent { data: ComponentIdentifier::new(place.component, "proposal_component") },
        state: state.and_then(answer),
        author: authors.first().map(|id| ToOne { data: user(id) }),
        coauthors: ToMany { data: authors.iter().map(user).collect(), meta: Count { count } },
    }
}

pub(crate) fn links(
    context: &RenderContext<'_>,
    id: ProposalId,
    place: &Place,
    beside: Neighbours,
) -> ProposalLinks {
    let meta = LinkMeta::of_component(place.space, place.component, "proposals");
    let to = |id: ProposalId, title: &str| {
        ResourceLink::new(base(context, format_args!("/proposals/{id}")), title, meta.about(id))
    };
    let component = origin(context, format_args!("/public/components/{}", place.component));
    let name = place.name.title(context.tenant.default_locale).unwrap_or("Related component");
    ProposalLinks {
        this: to(id, "Proposals Details"),
        collection: ResourceLink::new(
            base(context, format_args!("/proposals")),
            "Proposals List",
            meta.about(id),
        ),
        related: ResourceLink::new(component, name, meta.clone()),
        next: beside.next.map(|id| to(id, "Next Proposal")),
        prev: beside.prev.map(|id| to(id, "Previous Proposal")),
    }
}
