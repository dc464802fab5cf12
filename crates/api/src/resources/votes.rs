//! `/vote_proposals` (contract 06 §4).

use crate::document::{Doc, Holds};
use crate::pipeline::Request;
use crate::reply::{Document, Reply};
use crate::resources::{integer, newest, proposals};
use crate::route::{Answer, Routes, Write};
use crate::shapes::{CreationDate, EditionDate, Identifier, ToOne};
use actix_web::http::{Method, StatusCode};
use civitas_application::{Registry, RenderContext};
use civitas_kernel::{Access, ProposalId, Result, VoteId};
use civitas_proposals::{Cast, CastVote, READ_VOTES, RemoveVote, VOTE_FIELDS, Vote, Votes};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The lists whose losses age a list of votes.
const LISTS: &[&str] = &["votes", "proposals", "components", "spaces"];

/// A vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoteView {
    id: String,
    #[serde(rename = "type")]
    kind: VoteType,
    attributes: VoteAttributes,
    relationships: VoteRelationships,
}

/// The type of a vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal_object_type)]
#[serde(rename_all = "snake_case")]
enum VoteType {
    /// `vote_proposals`
    VoteProposals,
}

/// What a vote says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal_attributes)]
#[serde(deny_unknown_fields)]
struct VoteAttributes {
    /// 0 is an abstention.
    #[schema(minimum = 0)]
    weight: i64,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// On what a vote was cast, and by whom.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = vote_proposal_relationships)]
#[serde(deny_unknown_fields)]
struct VoteRelationships {
    proposal: ToOne,
    author: ToOne,
}

/// Reading is open to who may read proposals and to who may vote.
const READ: Access = READ_VOTES;

pub(crate) fn routes(routes: &mut Routes) {
    let list = Doc::new("Lists the votes", "vote_proposal_index_response").locales().pages().within_space();
    routes.read("listProposalVotes", "/vote_proposals", READ, list.filters(VOTE_FIELDS).fails(400), index);
    let show = Doc::new("Shows a vote", "vote_proposal_item_response").locales().within_space();
    routes.read("getProposalVote", "/vote_proposals/{id}", READ, show.fails(400).fails(404), show_one);
    routes.write(Write {
        ids: ["castProposalVoteAsync", "castProposalVote"],
        method: Method::POST,
        paths: ["/vote_proposals", "/vote_proposals/sync"],
        status: StatusCode::OK,
        read: read_cast,
        doc: || {
            let doc = Doc::new("Votes on a proposal", "vote_proposal_cast_response").locales().within_space();
            doc.with("include_proposal", Holds::Boolean)
                .takes("vote_proposal_create_body")
                .fails(400)
                .fails(404)
        },
    });
    let doc = || {
        let doc = Doc::new("Takes a vote back", "vote_proposal_item_response").locales().within_space();
        doc.fails(400).fails(404)
    };
    for (id, path) in [("deleteProposalVote", "/vote_proposals/{id}"), ("", "/vote_proposals/{id}/sync")] {
        routes.now(id, Method::DELETE, path, StatusCode::OK, read_removal, doc());
    }
}

pub(crate) fn commands(to: Registry) -> Registry {
    to.on::<CastVote>(|p| Box::new(Votes { store: p.votes(), proposals: p.proposals() }), cast_view)
        .on::<RemoveVote>(
            |p| Box::new(Votes { store: p.votes(), proposals: p.proposals() }),
            |_, (id, vote)| json!(Document { data: view(id, &vote) }),
        )
}

fn read_cast(request: &Request) -> Result<CastVote> {
    let sync = request.path.ends_with("/sync");
    Ok(CastVote {
        proposal: ProposalId(integer(&request.body, "proposal_id")?),
        within: request.query.within_space()?,
        data: request.body.get("data").cloned(),
        include_proposal: sync && request.query.flag("include_proposal"),
    })
}

fn read_removal(request: &Request) -> Result<RemoveVote> {
    Ok(RemoveVote { id: VoteId(request.id()?), within: request.query.within_space()? })
}

async fn index(request: Request) -> Answer {
    let context = request.render_context()?;
    let votes = Votes { store: request.ports().votes(), proposals: request.ports().proposals() };
    let (within, filter) = (request.query.within_space()?, request.query.filter()?);
    let page = votes.list(context.ctx, within, &filter, request.query.page()).await?;
    let changed_at = newest(&request, LISTS, page.items.iter().map(|(_, v)| v.updated_at)).await?;
    Ok(Reply::list(&request, page.map(|(id, vote)| view(id, &vote)), false, changed_at)?)
}

async fn show_one(request: Request) -> Answer {
    let context = request.render_context()?;
    let votes = Votes { store: request.ports().votes(), proposals: request.ports().proposals() };
    let (id, vote) = votes.find(context.ctx, VoteId(request.id()?), request.query.within_space()?).await?;
    let changed_at = newest(&request, &[], [vote.updated_at].into_iter()).await?;
    Ok(Reply::read(&request, &Document { data: view(id, &vote) }, changed_at)?)
}

fn cast_view(context: &RenderContext<'_>, Cast { id, vote, proposal }: Cast) -> Value {
    match proposal {
        Some(proposal) => proposals::result(context, &proposal),
        None => json!(Document { data: view(id, &vote) }),
    }
}

fn view(id: VoteId, vote: &Vote) -> VoteView {
    VoteView {
        id: id.to_string(),
        kind: VoteType::VoteProposals,
        attributes: VoteAttributes {
            weight: vote.weight,
            created_at: CreationDate(vote.created_at),
            updated_at: EditionDate(vote.updated_at),
        },
        relationships: VoteRelationships {
            proposal: ToOne { data: Identifier::new(vote.proposal, "proposals") },
            author: ToOne { data: Identifier::new(vote.user, "users") },
        },
    }
}
