//! Sheet 13 §5.9: `proposal_state`, `proposal`, `vote`.

use super::{
    ExtractionRun, Result, Row, each_row, join_moderation, reference, select_data, user_loss_code,
    write_row_record,
};
use serde_json::{Value, json};
use std::collections::HashSet;

const STATES: &str = "SELECT t.* FROM decidim_proposals_proposal_states t ORDER BY t.id";

/// Drafts come last, and of the drafts those first that are kept: those of clients, then the newest.
fn proposals_statement() -> String {
    let class = "Decidim::Proposals::Proposal";
    let (data, join_moderation) = (select_data(class), join_moderation(class));
    format!(
        "SELECT t.*, s.token AS state, m.hidden_at, c.authors, c.author_meeting, a.clients, \
             d.state AS amendment_state, d.updated_at AS amended_at, d.decidim_amendable_id AS amended_proposal, \
             {data} AS extended_data \
         FROM decidim_proposals_proposals t \
         LEFT JOIN decidim_proposals_proposal_states s ON s.id = t.decidim_proposals_proposal_state_id \
             AND s.decidim_component_id = t.decidim_component_id \
         {join_moderation} \
         LEFT JOIN (SELECT coauthorable_id, \
                 json_agg(json_build_object('id', id, 'decidim_author_id', decidim_author_id) ORDER BY id) \
                     FILTER (WHERE decidim_author_type = 'Decidim::UserBaseEntity') AS authors, \
                 min(decidim_author_id) FILTER (WHERE decidim_author_type = 'Decidim::Meetings::Meeting') \
                     AS author_meeting \
             FROM decidim_coauthorships WHERE coauthorable_type = '{class}' \
             GROUP BY coauthorable_id) c ON c.coauthorable_id = t.id \
         LEFT JOIN (SELECT proposal_id, json_agg(api_client_id ORDER BY id) AS clients \
             FROM proposal_application_ids GROUP BY proposal_id) a ON a.proposal_id = t.id \
         LEFT JOIN (SELECT DISTINCT ON (decidim_emendation_id) decidim_emendation_id, decidim_amendable_id, state, \
                 updated_at FROM decidim_amendments \
             WHERE decidim_emendation_type = '{class}' AND decidim_amendable_type = '{class}' \
             ORDER BY decidim_emendation_id, id DESC) d ON d.decidim_emendation_id = t.id \
         ORDER BY t.published_at IS NULL, CASE WHEN t.published_at IS NULL THEN a.clients IS NULL END, \
             CASE WHEN t.published_at IS NULL THEN t.created_at END DESC, \
             CASE WHEN t.published_at IS NULL THEN -t.id ELSE t.id END"
    )
}

/// `votes`: the votes of the user in the component that are not on drafts.
const VOTES: &str = "SELECT t.*, w.weight, p.decidim_component_id, p.published_at IS NULL AS is_of_draft, \
         count(*) FILTER (WHERE p.published_at IS NOT NULL) \
             OVER (PARTITION BY p.decidim_component_id, t.decidim_author_id) AS votes \
     FROM decidim_proposals_proposal_votes t \
     LEFT JOIN decidim_proposals_proposals p ON p.id = t.decidim_proposal_id \
     LEFT JOIN (SELECT DISTINCT ON (proposal_vote_id) proposal_vote_id, weight FROM decidim_awesome_vote_weights \
         ORDER BY proposal_vote_id, id) w ON w.proposal_vote_id = t.id \
     ORDER BY t.id";

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    each_row(run, "decidim_proposals_proposal_states", STATES, state).await?;
    let (statement, mut drafts) = (proposals_statement(), HashSet::new());
    each_row(run, "decidim_proposals_proposals", &statement, |run, row| proposal(run, row, &mut drafts))
        .await?;
    each_row(run, "decidim_proposals_proposal_votes", VOTES, vote).await
}

fn state(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, _)) = run.organization_and_component("proposal_state", row, "proposals")? else {
        return Ok(());
    };
    write_row_record(run, "proposal_state", row, of, Value::Null)
}

/// `drafts`: component and authors of the drafts that were imported; an author has one in a component.
fn proposal(run: &mut ExtractionRun<'_>, row: &Row, drafts: &mut HashSet<(i64, i64)>) -> Result {
    let Some((of, component)) = run.organization_and_component("proposal", row, "proposals")? else {
        return Ok(());
    };
    let is_draft = row.time("published_at").is_null();
    if is_draft && row.int("amendment_state") == Some(0) {
        return run.drop_to_residue("proposal", row, Some(of), "W-DRAFT");
    }
    let authors = authors(run, row, of)?;
    if is_draft {
        if authors.is_empty() {
            return run.drop_to_residue("proposal", row, Some(of), "W-ORPHAN");
        }
        if row.get("deleted_at").is_null() {
            if authors.iter().any(|author| drafts.contains(&(component, *author))) {
                return run.drop_to_residue("proposal", row, Some(of), "W-DRAFT");
            }
            drafts.extend(authors.iter().map(|author| (component, *author)));
        }
    }
    let state = ProposalState::of(row);
    if state.token.is_none() && row.int("decidim_proposals_proposal_state_id").is_some() {
        run.write_loss(row, Some(of), "W-ORPHAN")?;
    }
    let clients = row.get("clients").as_array().into_iter().flatten().map(Value::as_i64);
    let client = clients.flatten().find(|client| run.is_imported("api_client", Some(*client), of));
    let members = json!({
        "authors": authors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "api_client": reference(client),
        "state": state.public_token(),
        "state_published_at": state.published_at,
        "withdrawn_at": state.withdrawn_at,
    });
    write_row_record(run, "proposal", row, of, members)
}

/// The accounts among the coauthors, in their order.
fn authors(run: &mut ExtractionRun<'_>, row: &Row, of: i64) -> Result<Vec<i64>> {
    let mut authors = Vec::new();
    for coauthorship in row.children("authors", "decidim_coauthorships") {
        let author = coauthorship.int("decidim_author_id");
        match user_loss_code(run, author, of) {
            Some(code) => run.write_loss(&coauthorship, Some(of), code)?,
            None => authors.extend(author.filter(|author| !authors.contains(author))),
        }
    }
    Ok(authors)
}

/// The state of a proposal, and when it was withdrawn.
#[derive(Debug, PartialEq)]
struct ProposalState {
    token: Option<String>,
    published_at: Value,
    withdrawn_at: Value,
}

impl ProposalState {
    fn of(row: &Row) -> Self {
        let withdrawn_at = row.time("withdrawn_at");
        let amended = |token: &str| (Some(token.to_owned()), row.time("amended_at"));
        let stored = || (row.filled("state").map(str::to_owned), row.time("state_published_at"));
        let (token, published_at) = match row.int("amendment_state") {
            Some(10) => amended("evaluating"),
            Some(20) => amended("accepted"),
            Some(30) => amended("rejected"),
            _ => stored(),
        };
        let is_withdrawn = row.int("amendment_state") == Some(-1) && withdrawn_at.is_null();
        let withdrawn_at = if is_withdrawn { row.time("amended_at") } else { withdrawn_at };
        Self { token, published_at, withdrawn_at }
    }

    /// The token of the record: an answer without a state is public as `not_answered`.
    fn public_token(&self) -> Option<&str> {
        self.token.as_deref().or((!self.published_at.is_null()).then_some("not_answered"))
    }
}

fn vote(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let (proposal, user) = (row.int("decidim_proposal_id"), row.int("decidim_author_id"));
    let Some(of) = run.organization_of("vote", row, "proposal", proposal)? else { return Ok(()) };
    let loss_code = if row.flag("is_of_draft") { Some("W-ORPHAN") } else { user_loss_code(run, user, of) };
    if let Some(code) = loss_code {
        return run.drop_to_residue("vote", row, Some(of), code);
    }
    let component = row.int("decidim_component_id").and_then(|id| run.components.get(&id));
    let setting = |name: &str| component.and_then(|component| component.settings.get(name));
    let minimum = setting("minimum_votes_per_user").and_then(Value::as_i64).unwrap_or_default();
    let manifest = setting("awesome_voting_manifest").and_then(Value::as_str).unwrap_or_default();
    let weight = weight(row.int("weight"), !manifest.is_empty());
    let kept = weight.clamp(0, 3);
    if kept != weight {
        run.codes.count_loss_with_example("W-JSON", row.table, row.id(), &weight.into(), &kept.into());
    }
    if (row.int("votes") < Some(minimum)) != row.flag("temporary") {
        run.codes.count_loss("W-TEMPORARY", row.table, row.id());
    }
    write_row_record(run, "vote", row, of, json!({ "weight": kept }))
}

/// The weight of a vote. `stored`: that of the voting module, in components that may have a voting manifest.
fn weight(stored: Option<i64>, has_manifest: bool) -> i64 {
    match stored {
        Some(0) => 0,
        Some(weight) if has_manifest => weight,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(columns: &Value) -> ProposalState {
        let columns = columns.as_object().unwrap().clone();
        ProposalState::of(&Row { table: "decidim_proposals_proposals", columns })
    }

    #[test]
    fn a_public_answer_without_a_state_is_not_answered() {
        let answered = state(&json!({"state_published_at": "2025-06-05T00:00:00"}));
        assert_eq!(answered.public_token(), Some("not_answered"));
        assert_eq!(state(&json!({})).public_token(), None);
        let secret = state(&json!({"state": "evaluating"}));
        assert_eq!((secret.public_token(), &secret.published_at), (Some("evaluating"), &Value::Null));
    }

    #[test]
    fn an_amendment_gives_its_proposal_the_state() {
        let amended = |state: i64| json!({"amendment_state": state, "amended_at": "2025-04-05T00:00:00"});
        let accepted = state(&amended(20));
        assert_eq!(accepted.token.as_deref(), Some("accepted"));
        assert_eq!(
            (accepted.published_at, accepted.withdrawn_at),
            (json!("2025-04-05T00:00:00Z"), Value::Null)
        );
        let withdrawn = state(&amended(-1));
        assert_eq!((withdrawn.token, withdrawn.withdrawn_at), (None, json!("2025-04-05T00:00:00Z")));
        assert_eq!(state(&amended(0)).public_token(), None);
    }

    #[test]
    fn only_a_voting_manifest_gives_votes_other_weights_than_one_and_none() {
        assert_eq!([None, Some(0), Some(3)].map(|stored| weight(stored, true)), [1, 0, 3]);
        assert_eq!([None, Some(0), Some(3)].map(|stored| weight(stored, false)), [1, 0, 1]);
    }
}
