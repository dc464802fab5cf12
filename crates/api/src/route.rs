//! The list of routes, one entry for each operation. Router, rights tests and OpenAPI document are generated from it.

use crate::document::Doc;
use crate::error::ApiError;
use crate::pipeline::Request;
use crate::reply::Reply;
use crate::resources::jobs;
use actix_web::http::{Method, StatusCode};
use civitas_jobs::JobPayload;
use civitas_kernel::{Access, Command, Error, Result};
use futures_util::future::LocalBoxFuture;
use std::future::Future;

/// What a handler answers.
pub(crate) type Answer = Result<Reply, ApiError>;
/// A handler of any kind.
pub(crate) type Handler = Box<dyn Fn(Request) -> LocalBoxFuture<'static, Answer> + Send + Sync>;

/// What a route asks of the caller. There is no default: a route without a rule cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// A token with these rights.
    Needs(Access),
    /// None: the handler checks permission itself.
    Open,
    /// Nothing, and an unknown host is a 400: the token endpoint.
    Token,
    /// It is routed, and has no implementation.
    NoAction,
}

/// One operation at one path.
pub struct Route {
    /// Its id in the document; empty for aliases and for what is not documented.
    pub id: &'static str,
    /// The verb.
    pub method: Method,
    /// Below `{base}`, with `{id}` where a number stands.
    pub path: &'static str,
    /// What it asks of the caller.
    pub gate: Gate,
    /// The status of success.
    pub status: StatusCode,
    pub(crate) doc: Doc,
    pub(crate) handler: Handler,
}

impl Route {
    /// Whether its answers name or count blog posts.
    pub(crate) fn shows_posts(&self) -> bool {
        ["/blogs", "/components"].iter().any(|path| self.path.starts_with(path))
    }
}

/// Gathers the routes of all resources.
#[derive(Default)]
pub(crate) struct Routes(pub(crate) Vec<Route>);

/// How a command comes from a request, and what it is called.
pub(crate) struct Write<C> {
    /// The ids of the asynchronous operation and of its `/sync` twin.
    pub(crate) ids: [&'static str; 2],
    /// The verb.
    pub(crate) method: Method,
    /// The paths of both.
    pub(crate) paths: [&'static str; 2],
    /// The status of the twin.
    pub(crate) status: StatusCode,
    /// Reads the command: path ids, required members and their JSON types.
    pub(crate) read: fn(&Request) -> Result<C>,
    /// Of both: parameters and body. The answer is the twin's.
    pub(crate) doc: fn() -> Doc,
}

impl Routes {
    /// A read, or anything else that is answered at once by its own handler.
    pub(crate) fn on<F>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &'static str,
        gate: Gate,
        doc: Doc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Answer> + 'static,
    {
        let handler: Handler = Box::new(move |request| Box::pin(handler(request)));
        self.0.push(Route { id, method, path, gate, status: doc.status, doc, handler });
    }

    /// `GET` with these rights.
    pub(crate) fn read<F>(
        &mut self,
        id: &'static str,
        path: &'static str,
        access: Access,
        doc: Doc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Answer> + 'static,
    {
        self.on(id, Method::GET, path, Gate::Needs(access), doc, handler);
    }

    /// A command at two endpoints: the path answers 202 with a job, the path with `/sync` the result.
    pub(crate) fn write<C: Command>(&mut self, write: Write<C>) {
        let Write { ids: [later_id, now_id], method, paths: [later_path, now_path], status, read, doc } =
            write;
        self.later(later_id, method.clone(), later_path, read, doc().accepted());
        self.now(now_id, method, now_path, status, read, doc());
    }

    /// The same for a `PUT`, whose asynchronous endpoint answers to `PATCH` as well (contract 01 §2).
    pub(crate) fn write_or_patch<C: Command>(&mut self, write: Write<C>) {
        let (path, read, doc) = (write.paths[0], write.read, (write.doc)().accepted());
        self.write(write);
        self.later("", Method::PATCH, path, read, doc);
    }

    /// A command that is kept as a job.
    fn later<C: Command>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &'static str,
        read: fn(&Request) -> Result<C>,
        doc: Doc,
    ) {
        let speaks = doc.takes_locales();
        self.on(id, method, path, Gate::Needs(C::ACCESS), doc, move |request| later(request, read, speaks));
    }

    /// A command that is executed at once.
    pub(crate) fn now<C: Command>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &'static str,
        status: StatusCode,
        read: fn(&Request) -> Result<C>,
        doc: Doc,
    ) {
        let doc = Doc { status, ..doc };
        let speaks = doc.takes_locales();
        self.on(id, method, path, Gate::Needs(C::ACCESS), doc, move |request| {
            now(request, read, speaks, status)
        });
    }
}

/// Executes a command, and answers with its result. `speaks`: whether the operation takes languages.
pub(crate) async fn now<C: Command>(
    request: Request,
    read: fn(&Request) -> Result<C>,
    speaks: bool,
    status: StatusCode,
) -> Answer {
    let payload = payload(&request, read, speaks)?;
    let commands = request.api.commands();
    let document = commands.execute(request.ctx()?, &request.tenant, &payload).await?;
    if status == StatusCode::NO_CONTENT {
        return Ok(Reply::empty(status));
    }
    Ok(Reply::json(status, &document)?)
}

async fn later<C: Command>(request: Request, read: fn(&Request) -> Result<C>, speaks: bool) -> Answer {
    let payload = payload(&request, read, speaks)?;
    let id = request.api.commands().enqueue(request.ctx()?, C::KEY, payload).await?;
    Ok(Reply::json(StatusCode::ACCEPTED, &jobs::accepted(&request, id))?)
}

/// The command of a request, and the languages of its response if the operation has them. Otherwise `locales` is an
/// unknown parameter.
fn payload<C: Command>(
    request: &Request,
    read: fn(&Request) -> Result<C>,
    speaks: bool,
) -> Result<JobPayload> {
    let locales = if speaks { request.locales()?.cloned() } else { None };
    let command = serde_json::to_value(read(request)?).map_err(Error::internal)?;
    Ok(JobPayload { name: C::NAME.to_owned(), command, locales })
}
