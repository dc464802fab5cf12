//! The list of routes, one entry for each operation. Router, command registry, rights tests and OpenAPI document are
//! generated from it.

use crate::document::Doc;
use crate::endpoints::Endpoints;
use crate::error::ApiError;
use crate::incoming::Incoming;
use crate::reply::Reply;
use crate::request::Request;
use crate::typed_body::{Body, Sent};
use actix_web::http::{Method, StatusCode};
use civitas_application::{CommandOutput, Ports, Registry, Transaction, View};
use civitas_kernel::{Access, Command, Handle, Result};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::future::Future;

/// The result of a handler.
pub(crate) type Answer = Result<Reply, ApiError>;
/// A handler of a request whose body was read.
type HandleMembers = Box<dyn Fn(Request) -> LocalBoxFuture<'static, Answer> + Send + Sync>;
/// A handler that reads the body itself. A body that is no file was read: then it is in the request.
type HandleBody = Box<dyn Fn(Request, Option<Incoming>) -> LocalBoxFuture<'static, Answer> + Send + Sync>;

/// A handler of any kind.
pub(crate) enum Handler {
    /// Gets requests whose body was read.
    Members(HandleMembers),
    /// Gets forms with files unread; other bodies are read.
    Forms(HandleBody),
    /// Gets all bodies unread.
    Bytes(HandleBody),
}

impl Handler {
    /// Whether it gets this body unread.
    pub(crate) fn reads(&self, is_multipart: bool) -> bool {
        match self {
            Self::Members(_) => false,
            Self::Forms(_) => is_multipart,
            Self::Bytes(_) => true,
        }
    }

    /// Handles a request.
    pub(crate) fn call(&self, request: Request, body: Option<Incoming>) -> LocalBoxFuture<'static, Answer> {
        match self {
            Self::Members(handle) => handle(request),
            Self::Forms(handle) | Self::Bytes(handle) => handle(request, body),
        }
    }
}
/// Reads a command: ids in the path, query and body, each in the order of its checks.
pub(crate) type ReadCommand<B, C> = fn(&Request, Sent<'_, B>) -> Result<C>;
/// Builds the use-case of a command over ports.
pub(crate) type BuildUseCase<C> = for<'p> fn(&'p dyn Ports, &Limits) -> Box<dyn Handle<C> + 'p>;

/// The rights a route requires. There is no default: every route must declare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// A token with these rights.
    Needs(Access),
    /// None: the handler checks permission itself.
    Open,
    /// None, and an unknown host is a 400: the token endpoint.
    Token,
    /// The route has no implementation.
    NoAction,
}

/// One operation at one path.
pub struct Route {
    /// Its id in the document; empty for aliases and undocumented routes.
    pub id: &'static str,
    /// The verb.
    pub method: Method,
    /// Its path below `{base}`, with parameters like `{id}`.
    pub path: String,
    /// The rights it requires.
    pub gate: Gate,
    /// The status of success.
    pub status: StatusCode,
    /// The name of the command it executes or enqueues; `None` for a route with its own handler.
    pub command: Option<&'static str>,
    pub(crate) doc: Doc,
    pub(crate) handler: Handler,
}

impl Route {
    /// Whether it changes something. A magic link is consumed by GET; the introspection of a token is a read.
    pub(crate) fn writes(&self) -> bool {
        match self.method {
            Method::GET | Method::HEAD => self.path.starts_with("/me/magic_links/"),
            _ => self.path != "/oauth/introspect",
        }
    }

    /// Whether it checks the credentials of clients or users.
    pub(crate) fn takes_credentials(&self) -> bool {
        self.path.starts_with("/oauth/")
    }
}

/// The settings of use-cases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    /// Whether hosts may be names without a dot.
    pub(crate) single_label_hosts: bool,
    /// The most extended data of one record, in bytes of compact JSON.
    pub(crate) extended_data: usize,
}

/// Collects the routes and the commands of all resources.
#[derive(Default)]
pub(crate) struct Routes {
    /// The routes, in the order they were added.
    pub(crate) list: Vec<Route>,
    /// The use-case and the view of each command.
    pub(crate) registry: Registry,
    limits: Limits,
}

/// A write: its paths, and the functions that read, execute, render and describe its command.
pub(crate) struct Write<B, C: Command> {
    /// The ids of the asynchronous and of the synchronous operation; if there is only one operation, its id is the
    /// first.
    pub(crate) ids: [&'static str; 2],
    /// The verb.
    pub(crate) method: Method,
    /// The path of the asynchronous operation; that of the synchronous one ends with `/sync`.
    pub(crate) path: &'static str,
    /// Reads the command. Its second argument names the type of the body.
    pub(crate) read: ReadCommand<B, C>,
    /// Executes the command.
    pub(crate) use_case: BuildUseCase<C>,
    /// Renders its result.
    pub(crate) view: View<C>,
    /// Describes both: status of success, parameters and answer of the synchronous operation.
    pub(crate) doc: Doc,
}

impl Routes {
    /// An empty list; use-cases get these limits.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A route with its own handler.
    pub(crate) fn on<F>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &str,
        gate: Gate,
        doc: Doc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Answer> + 'static,
    {
        let handler = Handler::Members(Box::new(move |request| Box::pin(handler(request))));
        self.add(id, method, path, gate, doc, handler);
    }

    fn add(&mut self, id: &'static str, method: Method, path: &str, gate: Gate, doc: Doc, handler: Handler) {
        let (path, status) = (path.to_owned(), doc.status);
        self.list.push(Route { id, method, path, gate, status, command: None, doc, handler });
    }

    /// A route whose body is one file.
    pub(crate) fn receive<F>(
        &mut self,
        id: &'static str,
        path: &str,
        doc: Doc,
        handler: impl Fn(Request, Option<Incoming>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Answer> + 'static,
    {
        let handler = Handler::Bytes(Box::new(move |request, body| Box::pin(handler(request, body))));
        self.add(id, Method::PUT, path, Gate::Open, doc, handler);
    }

    /// A command without a job, whose body may be a form with a file. The handler executes it.
    pub(crate) fn write_form<C, F>(
        &mut self,
        id: &'static str,
        path: &str,
        doc: Doc,
        (use_case, view): (BuildUseCase<C>, View<C>),
        handler: impl Fn(Request, Option<Incoming>) -> F + Send + Sync + 'static,
    ) where
        C: Command<Output: CommandOutput>,
        F: Future<Output = Answer> + 'static,
    {
        let handler = Handler::Forms(Box::new(move |request, body| Box::pin(handler(request, body))));
        self.add(id, Method::POST, path, Gate::Needs(C::ACCESS), doc, handler);
        self.name_command::<C>();
        self.register(use_case, view, view);
    }

    /// `GET` with these rights.
    pub(crate) fn read<F>(
        &mut self,
        id: &'static str,
        path: &str,
        access: Access,
        doc: Doc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Answer> + 'static,
    {
        self.on(id, Method::GET, path, Gate::Needs(access), doc, handler);
    }

    /// A command at two endpoints: the path answers 202 with a job, the path with `/sync` the result.
    pub(crate) fn write<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.write_to(write, Endpoints::common());
    }

    /// The same, with endpoints that answer in another way.
    pub(crate) fn write_to<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &Write<B, C>,
        endpoints: Endpoints<C>,
    ) {
        let [id, sync_id] = write.ids;
        self.later(id, write.method.clone(), write, endpoints);
        self.now(sync_id, &format!("{}/sync", write.path), write, endpoints);
        self.register(write.use_case, write.view, endpoints.job_view.unwrap_or(write.view));
    }

    /// The same for a `PUT`, whose asynchronous endpoint also accepts `PATCH` (contract 01 §2).
    pub(crate) fn write_or_patch<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.later("", Method::PATCH, write, Endpoints::common());
        self.write(write);
    }

    /// A command without a job; its one endpoint is the path.
    pub(crate) fn write_now<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.now(write.ids[0], write.path, write, Endpoints::common());
        self.register(write.use_case, write.view, write.view);
    }

    /// The same, also at the path with `/sync`.
    pub(crate) fn write_now_or_sync<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &Write<B, C>,
    ) {
        self.now("", &format!("{}/sync", write.path), write, Endpoints::common());
        self.write_now(write);
    }

    fn register<C: Command<Output: CommandOutput>>(
        &mut self,
        use_case: BuildUseCase<C>,
        view: View<C>,
        job_view: View<C>,
    ) {
        let limits = self.limits;
        let registry = std::mem::take(&mut self.registry);
        self.registry = registry.on_with_job_view(move |ports| use_case(ports, &limits), view, job_view);
    }

    /// The operation that stores the command as a job.
    fn later<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        id: &'static str,
        method: Method,
        write: &Write<B, C>,
        endpoints: Endpoints<C>,
    ) {
        let doc = (endpoints.describe_accepted)(write.doc.clone().takes::<B>());
        let (read, from) = (write.read, doc.language_parameter());
        self.on(id, method, write.path, Gate::Needs(C::ACCESS), doc, move |request| async move {
            let languages = request.languages(from)?;
            let command = read(&request, Sent::new(&request.body, false))?;
            let (commands, accepted) = (&request.backend.commands, endpoints.accepted);
            let keep = async |tx: &dyn Transaction, id| request.keep(tx, &accepted(&request, id)?).await;
            let keep = request.keyed.is_some().then_some(keep);
            let id = commands.enqueue(request.ctx()?, languages, command, keep).await?;
            Ok(accepted(&request, id)?)
        });
        self.name_command::<C>();
    }

    /// The operation that executes the command.
    fn now<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        id: &'static str,
        path: &str,
        write: &Write<B, C>,
        endpoints: Endpoints<C>,
    ) {
        let doc = write.doc.clone().takes::<B>();
        let (read, from) = (write.read, doc.language_parameter());
        let (status, is_secret) = (doc.status, doc.is_secret);
        let (method, gate) = (write.method.clone(), Gate::Needs(C::ACCESS));
        self.on(id, method, path, gate, doc, move |request| async move {
            let languages = request.languages(from)?;
            let command = read(&request, Sent::new(&request.body, true))?;
            let reply = |document: &Value| {
                if status == StatusCode::NO_CONTENT {
                    return Ok(Reply::empty(status));
                }
                let reply = (endpoints.complete)(Reply::json(status, document)?, document);
                Ok(if is_secret { reply.with("Cache-Control", "no-store") } else { reply })
            };
            request.execute(&languages, command, reply).await
        });
        self.name_command::<C>();
    }

    /// Sets the command of the newest route.
    fn name_command<C: Command>(&mut self) {
        if let Some(route) = self.list.last_mut() {
            route.command = Some(C::NAME);
        }
    }
}
