//! The list of routes, one entry for each operation. Router, command registry, rights tests and OpenAPI document are
//! generated from it.

use crate::document::OperationDoc;
use crate::error::ApiError;
use crate::receipt::JobReceipt;
use crate::reply::Reply;
use crate::request::Request;
use crate::typed_body::{Body, RawBody};
use crate::unread_body::UnreadBody;
use actix_web::http::{Method, StatusCode};
use civitas_application::{CommandOutput, CommandRegistry, Ports, ResultView, Transaction};
use civitas_kernel::{Access, Command, CommandHandler, JobId, Result};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::future::Future;

pub(crate) type HandlerResult = Result<Reply, ApiError>;
/// Handles a request. A body that was read is in the request, another one is the second argument.
type HandlerFn =
    Box<dyn Fn(Request, Option<UnreadBody>) -> LocalBoxFuture<'static, HandlerResult> + Send + Sync>;

/// A handler, and which bodies it reads itself. Other bodies are read before it is called.
pub(crate) struct Handler {
    pub(crate) unread: UnreadBodies,
    pub(crate) call: HandlerFn,
}

impl Handler {
    /// A handler that reads these bodies itself.
    pub(crate) fn reading<F>(
        unread: UnreadBodies,
        handler: impl Fn(Request, Option<UnreadBody>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + 'static,
    {
        let call: HandlerFn = Box::new(move |request, body| Box::pin(handler(request, body)));
        Self { unread, call }
    }
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
pub(crate) type BuildUseCase<C> =
    for<'p> fn(&'p dyn Ports, &UseCaseLimits) -> Box<dyn CommandHandler<C> + 'p>;

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
    pub required_access: RequiredAccess,
    /// The status of success.
    pub status: StatusCode,
    /// The name of the command it executes or enqueues; `None` for a route with its own handler.
    pub command: Option<&'static str>,
    pub(crate) doc: OperationDoc,
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

    /// Whether it writes more than tokens: while the deployment is read-only it is refused.
    pub(crate) fn changes_content(&self) -> bool {
        self.writes() && !matches!(self.path.as_str(), "/oauth/token" | "/oauth/revoke")
    }

    /// Whether it checks the credentials of clients or users.
    pub(crate) fn takes_credentials(&self) -> bool {
        self.path.starts_with("/oauth/")
    }
}

/// The settings of use cases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UseCaseLimits {
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
    pub(crate) registry: CommandRegistry,
    limits: UseCaseLimits,
}

/// The operations of a write.
pub(crate) struct WriteOperations {
    /// The ids of the asynchronous and of the synchronous operation; if there is only one operation, its id is the
    /// first.
    pub(crate) ids: [&'static str; 2],
    pub(crate) method: Method,
    /// The path of the asynchronous operation; that of the synchronous one ends with `/sync`.
    pub(crate) path: &'static str,
}

pub(crate) fn post(ids: [&'static str; 2], path: &'static str) -> WriteOperations {
    WriteOperations { ids, method: Method::POST, path }
}

pub(crate) fn put(ids: [&'static str; 2], path: &'static str) -> WriteOperations {
    WriteOperations { ids, method: Method::PUT, path }
}

pub(crate) fn delete(ids: [&'static str; 2], path: &'static str) -> WriteOperations {
    WriteOperations { ids, method: Method::DELETE, path }
}

/// A write: its operations, and the functions that read, execute, render and describe its command.
pub(crate) struct WriteRoute<B, C: Command> {
    pub(crate) operations: WriteOperations,
    /// Reads the command. Its second argument names the type of the body.
    pub(crate) read: ReadCommand<B, C>,
    pub(crate) use_case: BuildUseCase<C>,
    pub(crate) view: ResultView<C>,
    /// Describes both: status of success, parameters and answer of the synchronous operation.
    pub(crate) doc: OperationDoc,
}

/// The answers of the two endpoints of a write.
pub(crate) struct EndpointAnswers<C: Command> {
    /// The answer of the asynchronous endpoint.
    pub(crate) accepted: fn(&Request, JobId) -> Result<Reply>,
    /// Describes that answer.
    pub(crate) describe_accepted: fn(OperationDoc) -> OperationDoc,
    /// Renders the result of a job; `None`: as the synchronous endpoint.
    pub(crate) job_view: Option<ResultView<C>>,
}

impl<C: Command> EndpointAnswers<C> {
    /// The asynchronous endpoint answers with the receipt of contract 09 A.2, the synchronous one with the document.
    pub(crate) fn with_job_receipt() -> Self {
        Self {
            accepted: |request, id| Reply::json(StatusCode::ACCEPTED, &JobReceipt::new(request, id)),
            describe_accepted: |doc| doc.with_accepted_answer::<JobReceipt>(),
            job_view: None,
        }
    }
}

impl Routes {
    /// An empty list; use cases get these limits.
    pub(crate) fn new(limits: UseCaseLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A route with its own handler.
    pub(crate) fn add_route<F>(
        &mut self,
        id: &'static str,
        method: Method,
        path: &str,
        required_access: RequiredAccess,
        doc: OperationDoc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = HandlerResult> + 'static,
    {
        let handler = Handler::reading(UnreadBodies::None, move |request, _| handler(request));
        self.add_with_handler(id, method, path, required_access, doc, handler);
    }

    /// The same for a handler that may read the body itself.
    pub(crate) fn add_with_handler(
        &mut self,
        id: &'static str,
        method: Method,
        path: &str,
        required_access: RequiredAccess,
        doc: OperationDoc,
        handler: Handler,
    ) {
        let (path, status) = (path.to_owned(), doc.status);
        self.list.push(Route { id, method, path, required_access, status, command: None, doc, handler });
    }

    /// A command without a job, whose body may be a form with a file. The handler executes it.
    pub(crate) fn write_form<C, F>(
        &mut self,
        id: &'static str,
        path: &str,
        doc: OperationDoc,
        (use_case, view): (BuildUseCase<C>, ResultView<C>),
        handler: impl Fn(Request, Option<UnreadBody>) -> F + Send + Sync + 'static,
    ) where
        C: Command<Output: CommandOutput>,
        F: Future<Output = HandlerResult> + 'static,
    {
        let handler = Handler::reading(UnreadBodies::Forms, handler);
        self.add_with_handler(id, Method::POST, path, RequiredAccess::Needs(C::ACCESS), doc, handler);
        self.name_command::<C>();
        self.register(use_case, view, view);
    }

    /// `GET` with these rights.
    pub(crate) fn read<F>(
        &mut self,
        id: &'static str,
        path: &str,
        access: Access,
        doc: OperationDoc,
        handler: impl Fn(Request) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = HandlerResult> + 'static,
    {
        self.add_route(id, Method::GET, path, RequiredAccess::Needs(access), doc, handler);
    }

    /// A command at two endpoints: the path answers 202 with a job, the path with `/sync` the result.
    pub(crate) fn write<B: Body, C: Command<Output: CommandOutput>>(&mut self, write: &WriteRoute<B, C>) {
        self.write_with_endpoints(write, &EndpointAnswers::with_job_receipt());
    }

    /// The same, with endpoints that answer in another way.
    pub(crate) fn write_with_endpoints<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &WriteRoute<B, C>,
        endpoints: &EndpointAnswers<C>,
    ) {
        let [id, sync_id] = write.operations.ids;
        self.add_async_route(id, write.operations.method.clone(), write, endpoints);
        self.add_sync_route(sync_id, &format!("{}/sync", write.operations.path), write);
        self.register(write.use_case, write.view, endpoints.job_view.unwrap_or(write.view));
    }

    /// The same for a `PUT`, whose asynchronous endpoint also accepts `PATCH` (contract 01 §2).
    pub(crate) fn write_or_patch<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &WriteRoute<B, C>,
    ) {
        self.add_async_route("", Method::PATCH, write, &EndpointAnswers::with_job_receipt());
        self.write(write);
    }

    /// A command without a job; its one endpoint is the path.
    pub(crate) fn write_without_job<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &WriteRoute<B, C>,
    ) {
        self.add_sync_route(write.operations.ids[0], write.operations.path, write);
        self.register(write.use_case, write.view, write.view);
    }

    /// The same, also at the path with `/sync`.
    pub(crate) fn write_without_job_and_sync_alias<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        write: &WriteRoute<B, C>,
    ) {
        self.add_sync_route("", &format!("{}/sync", write.operations.path), write);
        self.write_without_job(write);
    }

    fn register<C: Command<Output: CommandOutput>>(
        &mut self,
        use_case: BuildUseCase<C>,
        view: ResultView<C>,
        job_view: ResultView<C>,
    ) {
        let limits = self.limits;
        let registry = std::mem::take(&mut self.registry);
        self.registry =
            registry.with_command_and_job_view(move |ports| use_case(ports, &limits), view, job_view);
    }

    /// The operation that stores the command as a job.
    fn add_async_route<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        id: &'static str,
        method: Method,
        write: &WriteRoute<B, C>,
        endpoints: &EndpointAnswers<C>,
    ) {
        let doc = (endpoints.describe_accepted)(write.doc.clone().with_body::<B>());
        let (path, read, accepted) = (write.operations.path, write.read, endpoints.accepted);
        let from = doc.language_parameter();
        self.add_route(id, method, path, RequiredAccess::Needs(C::ACCESS), doc, move |request| async move {
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
    fn add_sync_route<B: Body, C: Command<Output: CommandOutput>>(
        &mut self,
        id: &'static str,
        path: &str,
        write: &WriteRoute<B, C>,
    ) {
        let doc = write.doc.clone().with_body::<B>();
        let (read, from, status) = (write.read, doc.language_parameter(), doc.status);
        let (is_secret, has_location) = (doc.is_secret, doc.has_location);
        let (method, required_access) = (write.operations.method.clone(), RequiredAccess::Needs(C::ACCESS));
        self.add_route(id, method, path, required_access, doc, move |request| async move {
            let languages = request.languages(from)?;
            let command = read(&request, RawBody::new(&request.body, true))?;
            let reply = |document: &Value| {
                if status == StatusCode::NO_CONTENT {
                    return Ok(Reply::empty(status));
                }
                let reply = Reply::json(status, document)?;
                let reply =
                    if has_location { reply.with_header("Location", address(document)) } else { reply };
                Ok(if is_secret { reply.with_header("Cache-Control", "no-store") } else { reply })
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

/// The address of the record of a document, from its links.
fn address(document: &Value) -> &str {
    document.pointer("/data/links/self/href").and_then(Value::as_str).unwrap_or_default()
}
