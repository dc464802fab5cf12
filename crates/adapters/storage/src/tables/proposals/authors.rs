//! The authors of proposals.

use super::rows::Row;
use crate::columns;
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::insert::{insert_rows, inserted};
use crate::prepared::PrepareOnce;
use crate::schema::{proposal_authors, proposals};
use civitas_kernel::{OrganizationId, ProposalId, Result, UserId};
use civitas_proposals::Proposal;
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use std::collections::{HashMap, HashSet};

/// The proposals and drafts a user is an author of. Further conditions use [no index](crate::tables::planner::without_index).
#[auto_type(no_type_alias)]
pub(in crate::tables) fn written_by(user: i64) -> _ {
    proposals::table
        .inner_join(proposal_authors::table)
        .filter(proposal_authors::user_id.eq(user))
        .filter(proposals::deleted_at.is_null())
}

/// These rows with their authors, in their order.
pub(super) async fn with_authors(
    connection: &mut Conn,
    rows: Vec<Row>,
) -> Result<Vec<(ProposalId, Proposal)>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut authors: HashMap<i64, Vec<UserId>> = HashMap::new();
    if !ids.is_empty() {
        let of_proposals: Vec<(i64, i64)> = proposal_authors::table
            .filter(columns::any_of(proposal_authors::proposal_id.nullable(), &ids))
            .order((proposal_authors::proposal_id, proposal_authors::position))
            .select((proposal_authors::proposal_id, proposal_authors::user_id))
            .load(connection)
            .await
            .map_db_error()?;
        for (proposal, user) in of_proposals {
            authors.entry(proposal).or_default().push(UserId(user));
        }
    }
    let proposals = rows.into_iter().map(|row| {
        let authors = authors.remove(&row.id).unwrap_or_default();
        (ProposalId(row.id), row.into_model(authors))
    });
    Ok(proposals.collect())
}

#[derive(Insertable)]
#[diesel(table_name = proposal_authors)]
struct Author {
    proposal_id: i64,
    user_id: i64,
    position: i64,
}

/// Writes the authors, if they change. Duplicates are stored once.
pub(super) async fn write_authors(
    connection: &mut Conn,
    _: OrganizationId,
    id: ProposalId,
    before: Option<&Proposal>,
    after: &Proposal,
) -> Result<()> {
    if let Some(before) = before {
        if before.authors == after.authors {
            return Ok(());
        }
        let own = proposal_authors::table.filter(proposal_authors::proposal_id.eq(id.0));
        diesel::delete(own).execute(connection).await.map_db_error()?;
    }
    for (position, user) in (0..).zip(&after.authors) {
        diesel::insert_into(proposal_authors::table)
            .values(Author { proposal_id: id.0, user_id: user.0, position })
            .on_conflict_do_nothing()
            .prepare_once()
            .execute(connection)
            .await
            .map_db_error()?;
    }
    Ok(())
}

inserted! {
    Author as proposal_authors { proposal_id: BigInt, user_id: BigInt, position: BigInt }
}

/// Writes the authors of new proposals. Duplicates are stored once.
pub(super) async fn write_authors_of(
    connection: &mut Conn,
    _: OrganizationId,
    ids: &[ProposalId],
    proposals: &[Proposal],
) -> Result<()> {
    let mut authors: Vec<Author> = Vec::new();
    for (id, proposal) in ids.iter().zip(proposals) {
        let mut seen = HashSet::new();
        for (position, user) in (0..).zip(&proposal.authors) {
            if seen.insert(user.0) {
                authors.push(Author { proposal_id: id.0, user_id: user.0, position });
            }
        }
    }
    insert_rows(connection, &authors).await
}
