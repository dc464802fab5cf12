//! The baseline server's database: a copy of the city's, and beside it the bytes Civitas answered.

use crate::Outcome;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::path::Path;

diesel::table! {
    /// What Civitas answered for each proposal.
    #[sql_name = "load_answers"]
    answers (id) {
        id -> BigInt,
        /// To the read of the one.
        shown -> Binary,
        /// As a member of a list.
        listed -> Binary,
    }
}
diesel::table! {
    /// What Civitas answered to writes, by what they do.
    #[sql_name = "load_recorded"]
    recorded (name) {
        name -> Text,
        body -> Binary,
    }
}
diesel::table! {
    /// Bodies of writes of other kinds.
    #[sql_name = "load_written"]
    written (id) {
        id -> BigInt,
        body -> Text,
    }
}
diesel::table! {
    proposals (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
    }
}
diesel::table! {
    users (id) {
        id -> BigInt,
        nickname -> Text,
    }
}
diesel::table! {
    votes (id) {
        id -> BigInt,
        organization_id -> BigInt,
        proposal_id -> BigInt,
        component_id -> BigInt,
        user_id -> BigInt,
        weight -> BigInt,
        temporary -> Bool,
        created_at -> Text,
        updated_at -> Text,
    }
}
diesel::table! {
    access_tokens (id) {
        id -> BigInt,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        digest -> Text,
        scope -> Text,
        issued_at -> Text,
        expires_at -> Text,
    }
}
diesel::table! {
    jobs (id) {
        id -> Binary,
        organization_id -> BigInt,
        api_client_id -> BigInt,
        user_id -> BigInt,
        access_token_id -> BigInt,
        command_key -> Text,
        status -> Text,
        payload -> Text,
        attempts -> BigInt,
        due_at -> Text,
        created_at -> Text,
        updated_at -> Text,
    }
}

/// A proposal, and how it was answered.
pub struct Recorded {
    /// The proposal.
    pub id: i64,
    /// To the read of the one.
    pub shown: Vec<u8>,
    /// As a member of a list.
    pub listed: Vec<u8>,
}

/// The proposals of the city.
#[derive(Debug, Clone, Copy)]
pub struct Proposals {
    /// The first; the others follow without gaps.
    pub first: i64,
    /// The last.
    pub last: i64,
    /// Their organization.
    pub organization: i64,
    /// Their component.
    pub component: i64,
}

/// Copies a database, and makes room for the answers.
pub fn copy(from: &Path, to: &Path) -> Outcome {
    open(from)?.batch_execute(&format!("VACUUM INTO '{}'", to.display()))?;
    Ok(open(to)?.batch_execute(
        "CREATE TABLE load_answers (id INTEGER PRIMARY KEY, shown BLOB NOT NULL, listed BLOB NOT NULL);
         CREATE TABLE load_recorded (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
         CREATE TABLE load_written (id INTEGER PRIMARY KEY, body TEXT NOT NULL);",
    )?)
}

/// Opens it as Civitas does.
pub fn open(path: &Path) -> Outcome<SqliteConnection> {
    let mut connection = SqliteConnection::establish(&path.display().to_string())?;
    connection.batch_execute(
        "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON; PRAGMA mmap_size = 2147418112; PRAGMA cache_size = -16000;
         PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// Where the proposals of the city are, the first of which is given. An error if its ids have gaps.
pub fn proposals_from(connection: &mut SqliteConnection, first: i64) -> Outcome<Proposals> {
    let columns = (proposals::organization_id, proposals::component_id);
    let (organization, component): (i64, i64) =
        proposals::table.find(first).select(columns).first(connection)?;
    let all = proposals::table.filter(proposals::organization_id.eq(organization));
    let last: i64 = all.select(proposals::id).order(proposals::id.desc()).first(connection)?;
    let count: i64 = all.count().get_result(connection)?;
    if last - first + 1 != count {
        return Err("the ids of the proposals have gaps".into());
    }
    Ok(Proposals { first, last, organization, component })
}

/// Where the proposals of the city are, after their answers were kept.
pub fn proposals_of(connection: &mut SqliteConnection) -> Outcome<Proposals> {
    let first = answers::table.select(answers::id).order(answers::id.asc()).first(connection)?;
    proposals_from(connection, first)
}

/// The user of this nickname.
pub fn user_of(connection: &mut SqliteConnection, nickname: &str) -> Outcome<i64> {
    Ok(users::table.filter(users::nickname.eq(nickname)).select(users::id).first(connection)?)
}

/// Keeps how proposals were answered.
pub fn keep(connection: &mut SqliteConnection, all: &[Recorded]) -> Outcome {
    connection.transaction(|connection| {
        for one in all {
            let row =
                (answers::id.eq(one.id), answers::shown.eq(&one.shown), answers::listed.eq(&one.listed));
            diesel::insert_into(answers::table).values(row).execute(connection)?;
        }
        Ok(())
    })
}

/// Keeps how a write was answered.
pub fn keep_recorded(connection: &mut SqliteConnection, name: &str, body: &[u8]) -> Outcome {
    let row = (recorded::name.eq(name), recorded::body.eq(body));
    diesel::replace_into(recorded::table).values(row).execute(connection)?;
    Ok(())
}

/// How a write was answered.
pub fn recorded(connection: &mut SqliteConnection, name: &str) -> QueryResult<Vec<u8>> {
    recorded::table.find(name).select(recorded::body).first(connection)
}
