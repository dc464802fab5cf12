//! The baseline server: the same HTTP library with as many workers, answering the bytes Civitas answered from one
//! prepared statement on one connection a worker. Without organizations, tokens, rights, validators, rules and jobs:
//! its speed is the limit of the machine and the libraries.
//!
//! Reads of other kinds are one recorded answer, read by its name. A write is one INSERT of the row Civitas writes, or of
//! the body of the request, in WAL mode with `synchronous = FULL`, and the recorded answer.

use crate::Outcome;
use crate::city::HOST;
use crate::client::BASE;
use crate::ledger::{self, Proposals, access_tokens, answers, jobs, votes, written};
use actix_web::rt::System;
use actix_web::web::{self, Bytes, Json, Path};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use diesel::prelude::*;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows on a page.
pub const PAGE: i64 = 20;
const JSON: &str = "application/json; charset=utf-8";
/// A time as the database keeps it.
const MOMENT: &str = "2026-03-02 10:00:00.123456+00:00";

/// The configuration of the baseline server.
#[derive(clap::Args)]
pub struct Args {
    /// The copied database with the recorded answers.
    #[arg(long)]
    database: PathBuf,
    /// Where to listen.
    #[arg(long)]
    listen: SocketAddr,
}

/// What all workers share.
struct Shared {
    /// SQLite has one writer.
    writer: Mutex<SqliteConnection>,
    proposals: Proposals,
    vote: Bytes,
    receipt: Bytes,
    token: Bytes,
}

impl Shared {
    fn open(args: &Args) -> Outcome<Self> {
        let mut writer = ledger::open(&args.database)?;
        let mut recorded = |name| ledger::recorded(&mut writer, name).map(Bytes::from);
        let (vote, receipt, token) = (recorded("vote")?, recorded("receipt")?, recorded("token")?);
        let proposals = ledger::proposals_of(&mut writer)?;
        Ok(Self { writer: Mutex::new(writer), proposals, vote, receipt, token })
    }

    fn writer(&self) -> MutexGuard<'_, SqliteConnection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker's own connection.
#[derive(Clone)]
struct Reader(Rc<RefCell<SqliteConnection>>);

type Answer = Result<HttpResponse, BaselineError>;

/// A statement failed: the comparison is void, and a 500 says so.
#[derive(Debug)]
struct BaselineError(diesel::result::Error);

impl std::fmt::Display for BaselineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl actix_web::ResponseError for BaselineError {}

impl From<diesel::result::Error> for BaselineError {
    fn from(error: diesel::result::Error) -> Self {
        Self(error)
    }
}

/// Serves until the process is killed.
pub fn serve(args: Args) -> Outcome {
    let shared = Arc::new(Shared::open(&args)?);
    System::new().block_on(async move {
        let database = args.database;
        let server = HttpServer::new(move || {
            let reader = ledger::open(&database).expect("the database that was opened a moment ago");
            let scope = web::scope(BASE)
                .route("/proposals/{id}", web::get().to(show))
                .route("/proposals", web::get().to(list))
                .route("/vote_proposals/sync", web::post().to(vote))
                .route("/vote_proposals", web::post().to(enqueue))
                .route("/jobs/{id}", web::get().to(job))
                .route("/stored/{name}", web::get().to(stored))
                .route("/written/{name}", web::post().to(write));
            App::new()
                .app_data(Reader(Rc::new(RefCell::new(reader))))
                .app_data(web::Data::from(shared.clone()))
                .route("/hello", web::get().to(hello))
                .route("/oauth/token", web::post().to(token))
                .service(scope)
        });
        Ok(server.bind(args.listen)?.run().await?)
    })
}

async fn hello() -> &'static str {
    "hello"
}

fn json(body: impl Into<Bytes>) -> HttpResponse {
    HttpResponse::Ok().content_type(JSON).body(body.into())
}

/// The worker's connection, for one statement.
fn read<T>(
    request: &HttpRequest,
    query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
) -> Result<T, BaselineError> {
    let reader = request.app_data::<Reader>().expect("a worker has a connection");
    Ok(query(&mut reader.0.borrow_mut())?)
}

async fn show(request: HttpRequest, id: Path<i64>) -> Answer {
    let body: Vec<u8> = read(&request, |c| answers::table.find(*id).select(answers::shown).first(c))?;
    Ok(json(body))
}

#[derive(Deserialize)]
struct Asked {
    page: i64,
}

async fn list(request: HttpRequest, asked: web::Query<Asked>, shared: web::Data<Shared>) -> Answer {
    let begin = shared.proposals.first + (asked.page - 1) * PAGE;
    let query = answers::table.filter(answers::id.ge(begin)).order(answers::id).limit(PAGE);
    let rows: Vec<Vec<u8>> = read(&request, |c| query.select(answers::listed).load(c))?;
    let has_more = begin + PAGE <= shared.proposals.last;
    let mut body = Vec::with_capacity(rows.iter().map(|row| row.len() + 1).sum::<usize>() + 256);
    body.extend_from_slice(b"{\"data\":[");
    body.extend_from_slice(&rows.join(&b','));
    body.extend_from_slice(envelope(asked.page, has_more).as_bytes());
    Ok(json(body))
}

/// The end of a list, as Civitas writes it.
fn envelope(page: i64, has_more: bool) -> String {
    let address = |page: i64| format!("\"http://{HOST}{BASE}/proposals?page={page}&per_page={PAGE}\"");
    let next = if has_more { address(page + 1) } else { "null".to_owned() };
    let prev = if page > 1 { address(page - 1) } else { "null".to_owned() };
    format!(
        "],\"meta\":{{\"page\":{page},\"per_page\":{PAGE},\"has_more\":{has_more},\"next\":{next},\"prev\":{prev}}}}}"
    )
}

#[derive(Deserialize)]
struct Ballot {
    proposal_id: i64,
}

/// Who votes: the baseline server takes their word for it.
fn user_of(request: &HttpRequest) -> i64 {
    let user = request.headers().get("x-user").and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok());
    user.unwrap_or_default()
}

async fn vote(request: HttpRequest, ballot: Json<Ballot>, shared: web::Data<Shared>) -> Answer {
    let row = (
        votes::organization_id.eq(shared.proposals.organization),
        votes::proposal_id.eq(ballot.proposal_id),
        votes::component_id.eq(shared.proposals.component),
        votes::user_id.eq(user_of(&request)),
        votes::weight.eq(1),
        votes::temporary.eq(false),
        votes::created_at.eq(MOMENT),
        votes::updated_at.eq(MOMENT),
    );
    diesel::insert_into(votes::table).values(row).execute(&mut *shared.writer())?;
    Ok(json(shared.vote.clone()))
}

async fn enqueue(request: HttpRequest, body: Bytes, shared: web::Data<Shared>) -> Answer {
    let payload = String::from_utf8_lossy(&body);
    let id: Vec<u8> = [0_u8, 1].iter().flat_map(|n| RandomState::new().hash_one(n).to_le_bytes()).collect();
    let row = (
        jobs::id.eq(id),
        jobs::organization_id.eq(shared.proposals.organization),
        jobs::api_client_id.eq(1),
        jobs::user_id.eq(user_of(&request)),
        jobs::access_token_id.eq(1),
        jobs::command_key.eq("vote_proposals#create"),
        jobs::status.eq("pending"),
        jobs::payload.eq(&*payload),
        jobs::attempts.eq(0),
        jobs::due_at.eq(MOMENT),
        jobs::created_at.eq(MOMENT),
        jobs::updated_at.eq(MOMENT),
    );
    diesel::insert_into(jobs::table).values(row).execute(&mut *shared.writer())?;
    Ok(HttpResponse::Accepted().content_type(JSON).body(shared.receipt.clone()))
}

async fn job(request: HttpRequest) -> Answer {
    Ok(json(read(&request, |c| ledger::recorded(c, "job"))?))
}

/// The recorded answer of a read.
async fn stored(request: HttpRequest, name: Path<String>) -> Answer {
    Ok(json(read(&request, |c| ledger::recorded(c, &name))?))
}

/// A write of another kind: its body is inserted, the recorded answer is sent.
async fn write(request: HttpRequest, name: Path<String>, body: Bytes, shared: web::Data<Shared>) -> Answer {
    let body = String::from_utf8_lossy(&body);
    diesel::insert_into(written::table).values(written::body.eq(&*body)).execute(&mut *shared.writer())?;
    stored(request, name).await
}

async fn token(shared: web::Data<Shared>, _: Json<serde_json::Value>) -> Answer {
    let row = (
        access_tokens::organization_id.eq(shared.proposals.organization),
        access_tokens::api_client_id.eq(1),
        access_tokens::digest.eq("0000000000000000000000000000000000000000000000000000000000000000"),
        access_tokens::scope.eq("public proposals"),
        access_tokens::issued_at.eq(MOMENT),
        access_tokens::expires_at.eq(MOMENT),
    );
    diesel::insert_into(access_tokens::table).values(row).execute(&mut *shared.writer())?;
    Ok(json(shared.token.clone()))
}
