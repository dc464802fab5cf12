//! `/vote_proposals` (contract 06 §4).

use crate::answers;
use crate::document::{OperationDoc, ParameterType};
use crate::reply::Document;
use crate::request::Request;
use crate::resources::proposals;
use crate::route::{HandlerResult, Routes, WriteRoute, delete, post};
use crate::shapes::{CreationDate, EditionDate, ResourceIdentifier, ToOneRelationship, VoteType};
use crate::typed_body::{NoBody, RawBody};
use civitas_application::{Ports, RenderContext};
use civitas_kernel::{ProposalId, Result, VoteId};
use civitas_proposals::{CastResult, CastVote, READ_VOTES, RemoveVote, VOTE_FIELDS, Vote, Votes};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// The lists whose removals change `Last-Modified` of a list of votes.
const LISTS: &[&str] = &["votes", "proposals", "components", "spaces"];

/// A vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal, title = "Vote proposal")]
pub(crate) struct VoteView {
    id: String,
    r#type: VoteType,
    attributes: VoteAttributes,
    relationships: VoteRelationships,
}

/// The content of a vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal_attributes)]
struct VoteAttributes {
    /// 0 is an abstention.
    #[schema(minimum = 0)]
    weight: i64,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// The proposal and the user of a vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal_relationships)]
struct VoteRelationships {
    proposal: ToOneRelationship,
    author: ToOneRelationship,
}

/// A vote.
#[derive(Deserialize, ToSchema)]
#[schema(as = vote_proposal_create_body, title = "vote_proposal_create_body",
    examples(json!({"proposal_id": 901, "data": {"weight": 1}})))]
struct VoteToCast {
    proposal_id: i64,
    /// Read by the use case, after other checks (contract 06 §4.3).
    #[schema(schema_with = weight, required)]
    data: Option<Value>,
}

fn weight() -> ObjectBuilder {
    let says = "One of the weights in `meta.votes` of the component; 0 is an abstention.";
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(says));
    let number = number.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
    ObjectBuilder::new().property("weight", number).required("weight")
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<VoteView>("Lists the votes")
        .with_locales()
        .with_list_parameters()
        .with_space_parameters()
        .with_filters(VOTE_FIELDS);
    routes.read("listProposalVotes", "/vote_proposals", READ_VOTES, list.at_replicas(), index);
    let show = OperationDoc::item::<VoteView>("Shows a vote").with_locales().with_space_parameters();
    routes.read("getProposalVote", "/vote_proposals/{id}", READ_VOTES, show.at_replicas(), show_one);
    let doc = OperationDoc::new("Votes on a proposal", "vote_proposal_cast_response")
        .with_locales()
        .with_space_parameters();
    routes.write(&WriteRoute {
        operations: post(["castProposalVoteAsync", "castProposalVote"], "/vote_proposals"),
        read: cast,
        use_case: |ports, _| Box::new(votes(ports)),
        view: cast_view,
        doc: doc.with_parameter("include_proposal", ParameterType::Boolean).with_failure(404),
    });
    routes.write_without_job_and_sync_alias(&WriteRoute {
        operations: delete(["deleteProposalVote", ""], "/vote_proposals/{id}"),
        read: |request, _: RawBody<'_, NoBody>| {
            Ok(RemoveVote { id: VoteId(request.id()?), within: request.query.within_space()? })
        },
        use_case: |ports, _| Box::new(votes(ports)),
        view: |_, (id, vote)| json!(Document { data: view(id, &vote) }),
        doc: OperationDoc::item::<VoteView>("Takes a vote back").with_locales().with_space_parameters(),
    });
}

fn votes(ports: &dyn Ports) -> Votes<'_> {
    Votes { store: ports.votes(), proposals: ports.proposals() }
}

fn cast(request: &Request, sent: RawBody<'_, VoteToCast>) -> Result<CastVote> {
    let include_proposal = sent.is_sync && request.query.flag("include_proposal");
    let VoteToCast { proposal_id, data } = sent.read()?;
    let within = request.query.within_space()?;
    Ok(CastVote { proposal: ProposalId(proposal_id), within, data, include_proposal })
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let votes = votes(request.ports());
    let (within, filter) = (request.query.within_space()?, request.filter()?);
    let page = votes.list(context.ctx, within, &filter, request.page()?).await?;
    let view = |(id, vote): (VoteId, Vote)| view(id, &vote);
    answers::page_reply(&request, LISTS, page, false, |(_, vote)| vote.updated_at, view).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let (id, within) = (VoteId(request.id()?), request.query.within_space()?);
    let (id, vote) = votes(request.ports()).find(context.ctx, id, within).await?;
    answers::record_reply(&request, &[], vote.updated_at, view(id, &vote)).await
}

fn cast_view(context: &RenderContext<'_>, CastResult { id, vote, proposal }: CastResult) -> Value {
    match proposal {
        Some(proposal) => proposals::result(context, &proposal),
        None => json!(Document { data: view(id, &vote) }),
    }
}

fn view(id: VoteId, vote: &Vote) -> VoteView {
    VoteView {
        id: id.to_string(),
        r#type: VoteType,
        attributes: VoteAttributes {
            weight: vote.weight,
            created_at: CreationDate(vote.created_at),
            updated_at: EditionDate(vote.updated_at),
        },
        relationships: VoteRelationships {
            proposal: ToOneRelationship { data: ResourceIdentifier::new(vote.proposal, "proposals") },
            author: ToOneRelationship { data: ResourceIdentifier::new(vote.user, "users") },
        },
    }
}
