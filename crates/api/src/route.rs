//! The list of routes, one entry for each operation. Router, command registry, rights tests and OpenAPI document are
//! generated from it.

use crate::document::Doc;
use crate::error::ApiError;
use crate::incoming::Incoming;
use crate::receipt::Accepted;
use crate::reply::Reply;
use crate::request::Request;
use crate::typed_body::{Body, RawBody};
use actix_web::http::{Method, StatusCode};
use civitas_application::{CommandOutput, Ports, Registry, Transaction, View};
use civitas_kernel::{Access, Command, Handle, JobId, Result};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::future::Future;

pub(crate) type HandlerResult = Result<Reply, ApiError>;
/// Handles a request. A body that was read is in the request, another one is the second argument.
type HandlerFn =
    Box<dyn Fn(Request, Option<Incoming>) -> LocalBoxFuture<'static, HandlerResult> + Send + Sync>;

/// A handler, and which bodies it reads itself. Other bodies are read before it is called.
pub(crate) struct Handler {
    pub(crate) unread: UnreadBodies,
    pub(crate) call: HandlerFn,
}

/// The bodies that a handler reads itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadBodies {
    None,
    /// Forms with files.
    Forms,
    All,
}

/// Reads a command: ids in the path, query and body, each in the order of its checks.
pub(crate) type ReadCommand<B, C> = fn(&Request, RawBody<'_, B>) -> Result<C>;
/// Builds the use case of a command over ports.
pub(crate) type BuildUseCase<C> = for<'p> fn(&'p dyn Ports, &Limits) -> Box<dyn Handle<C> + 'p>;

/// The rights a route requires. There is no default: every route must declare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredAccess {
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
    pub gate: RequiredAccess,
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

/// The settings of use cases.
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
    /// The use case and the view of each command.
    pub(crate) registry: Registry,
    limits: Limits,
}

/// A write: its paths, and the functions that read, execute, render and describe its command.
pub(crate) struct Write<B, C: Command> {
    /// The ids of the asynchronous and of the synchronous operation; if there is only one operation, its id is the
    /// first.
    pub(crate) ids: [&'static str; 2],
    pub(crate) method: Method,
    /// The path of the asynchronous operation; that of the synchronous one ends with `/sync`.
    pub(crate) path: &'static str,
    /// Reads the command. Its second argument names the type of the body.
    pub(crate) read: ReadCommand<B, C>,
    pub(crate) use_case: BuildUseCase<C>,
    pub(crate) view: View<C>,
    /// Describes both: status of success, parameters and answer of the synchronous operation.
    pub(crate) doc: Doc,
}

/// The answers of the two endpoints of a write.
pub(crate) struct Endpoints<C: Command> {
    /// The answer of the asynchronous endpoint.
    pub(crate) accepted: fn(&Request, JobId) -> Result<Reply>,
    /// Describes that answer.
    pub(crate) describe_accepted: fn(Doc) -> Doc,
    /// Adds headers to the answer of the synchronous endpoint, with this document.
    pub(crate) complete: fn(Reply, &Value) -> Reply,
    /// Renders the result of a job; `None`: as the synchronous endpoint.
    pub(crate) job_view: Option<View<C>>,
}

impl<C: Command> Endpoints<C> {
    /// The asynchronous endpoint answers with the receipt of contract 09 A.2, the synchronous one with the document.
    pub(crate) fn common() -> Self {
        Self {
            accepted: |request, id| Reply::json(StatusCode::ACCEPTED, &Accepted::of(request, id)),
            describe_accepted: |doc| doc.accepted::<Accepted>(),
            complete: |reply, _| reply,
            job_view: None,
        }
    }
}

impl Routes {
    /// An empty list; use cases get these limits.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A route with its own handler.
    pub(crate) fn on<F>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &str,
        gate: RequiredAccess,
        doc: Doc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = HandlerResult> + 'static,
    {
        let call: HandlerFn = Box::new(move |request, _| Box::pin(handler(request)));
        self.add(id, method, path, gate, doc, Handler { unread: UnreadBodies::None, call });
    }

    fn add(
        &mut self,
        id: &'static str,
        method: Method,
        path: &str,
        gate: RequiredAccess,
        doc: Doc,
        handler: Handler,
    ) {
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
        F: Future<Output = HandlerResult> + 'static,
    {
        let call: HandlerFn = Box::new(move |request, body| Box::pin(handler(request, body)));
        self.add(
            id,
            Method::PUT,
            path,
            RequiredAccess::Open,
            doc,
            Handler { unread: UnreadBodies::All, call },
        );
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
        F: Future<Output = HandlerResult> + 'static,
    {
        let call: HandlerFn = Box::new(move |request, body| Box::pin(handler(request, body)));
        let handler = Handler { unread: UnreadBodies::Forms, call };
        self.add(id, Method::POST, path, RequiredAccess::Needs(C::ACCESS), doc, handler);
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
        F: Future<Output = HandlerResult> + 'static,
    {
        self.on(id, Method::GET, path, RequiredAccess::Needs(access), doc, handler);
    }

    /// A command at two endpoints: the path answers 202 with a job, the path with `/sync` the result.
    pub(crate) fn write<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.write_to(write, &Endpoints::common());
    }

    /// The same, with endpoints that answer in another way.
    pub(crate) fn write_to<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &Write<B, C>,
        endpoints: &Endpoints<C>,
    ) {
        let [id, sync_id] = write.ids;
        self.later(id, write.method.clone(), write, endpoints);
        self.now(sync_id, &format!("{}/sync", write.path), write, endpoints);
        self.register(write.use_case, write.view, endpoints.job_view.unwrap_or(write.view));
    }

    /// The same for a `PUT`, whose asynchronous endpoint also accepts `PATCH` (contract 01 §2).
    pub(crate) fn write_or_patch<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.later("", Method::PATCH, write, &Endpoints::common());
        self.write(write);
    }

    /// A command without a job; its one endpoint is the path.
    pub(crate) fn write_now<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &Write<B, C>) {
        self.now(write.ids[0], write.path, write, &Endpoints::common());
        self.register(write.use_case, write.view, write.view);
    }

    /// The same, also at the path with `/sync`.
    pub(crate) fn write_now_or_sync<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &Write<B, C>,
    ) {
        self.now("", &format!("{}/sync", write.path), write, &Endpoints::common());
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
        endpoints: &Endpoints<C>,
    ) {
        let doc = (endpoints.describe_accepted)(write.doc.clone().takes::<B>());
        let (read, accepted, from) = (write.read, endpoints.accepted, doc.language_parameter());
        self.on(id, method, write.path, RequiredAccess::Needs(C::ACCESS), doc, move |request| async move {
            let languages = request.languages(from)?;
            let command = read(&request, RawBody::new(&request.body, false))?;
            let store =
                async |tx: &dyn Transaction, id| request.store_reply(tx, &accepted(&request, id)?).await;
            let store = request.keyed.is_some().then_some(store);
            let id = request.backend.commands.enqueue(request.ctx()?, languages, command, store).await?;
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
        endpoints: &Endpoints<C>,
    ) {
        let doc = write.doc.clone().takes::<B>();
        let (read, complete, from) = (write.read, endpoints.complete, doc.language_parameter());
        let (status, is_secret) = (doc.status, doc.is_secret);
        let (method, gate) = (write.method.clone(), RequiredAccess::Needs(C::ACCESS));
        self.on(id, method, path, gate, doc, move |request| async move {
            let languages = request.languages(from)?;
            let command = read(&request, RawBody::new(&request.body, true))?;
            let reply = |document: &Value| {
                if status == StatusCode::NO_CONTENT {
                    return Ok(Reply::empty(status));
                }
                let reply = complete(Reply::json(status, document)?, document);
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
