//! The command registry: the use case and the view of each command. One command runs in one
//! transaction: the change, its events, and for a job its result and the switch to `completed` (contract 09 A.5).

use crate::audit::command_entries;
use crate::event_committer::tenant;
use crate::{
    CommandOutput, EventCommitter, Ports, RenderContext, SharedResource, Shares, SiteSettings, Store,
    Transaction,
};
use civitas_accounts::{AuthContext, TokenAuthenticator, TokenSigner};
use civitas_jobs::{Job, JobEndOutcome, JobOwner, JobPayload};
use civitas_kernel::{
    AnswerLanguages, Command, CommandHandler, Ctx, Error, FieldError, JobId, Result, Wording, clock,
    random_job_id,
};
use civitas_organizations::Tenant;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use time::OffsetDateTime;

/// Builds the use case of a command over ports.
pub type UseCase<C> = Box<dyn for<'p> Fn(&'p dyn Ports) -> Box<dyn CommandHandler<C> + 'p> + Send + Sync>;
/// Renders the result of a command.
pub type ResultView<C> = fn(&RenderContext<'_>, <C as Command>::Output) -> Value;

type CommandFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// One run of a command in a transaction.
#[derive(Clone, Copy)]
struct Run<'a> {
    tx: &'a dyn Transaction,
    context: RenderContext<'a>,
    committer: &'a EventCommitter,
    now: OffsetDateTime,
}

/// A type-erased command.
trait ErasedCommand: Any + Send + Sync {
    /// Runs the command of a job's payload.
    fn run_payload<'a>(&'a self, run: Run<'a>, command: Value) -> CommandFuture<'a, Value>;
}

/// The use case and the views of a command.
struct RegisteredCommand<C: Command> {
    use_case: UseCase<C>,
    view: ResultView<C>,
    /// Renders the result of a job.
    job_view: ResultView<C>,
}

impl<C: Command<Output: CommandOutput>> RegisteredCommand<C> {
    /// Executes the command, renders its events and its result.
    async fn run(&self, run: Run<'_>, command: C, view: ResultView<C>) -> Result<Value> {
        let Run { tx, context, committer, now } = run;
        let audit_entry = if command_entries::is_recorded(C::KEY) {
            let sent = serde_json::to_value(&command).map_err(Error::internal)?;
            command_entries::build_audit_entry(C::KEY, context.ctx, &sent)
        } else {
            None
        };
        let output = (self.use_case)(tx).handle(context.ctx, command).await?;
        committer.render_events_of_command(tx, context.tenant, output.loaded(), now).await?;
        if let Some(entry) = audit_entry {
            tx.audit().append(&entry, now).await?;
        }
        Ok(view(&context, output))
    }
}

impl<C: Command<Output: CommandOutput>> ErasedCommand for RegisteredCommand<C> {
    fn run_payload<'a>(&'a self, run: Run<'a>, command: Value) -> CommandFuture<'a, Value> {
        Box::pin(async move {
            let command = serde_json::from_value(command).map_err(Error::internal)?;
            self.run(run, command, self.job_view).await
        })
    }
}

/// The commands of all domain crates, by name.
#[derive(Default)]
pub struct CommandRegistry(BTreeMap<&'static str, Box<dyn ErasedCommand>>);

impl CommandRegistry {
    /// The registry with this command: its use case and its view.
    #[must_use]
    pub fn with_command<C: Command<Output: CommandOutput>>(
        self,
        use_case: impl for<'p> Fn(&'p dyn Ports) -> Box<dyn CommandHandler<C> + 'p> + Send + Sync + 'static,
        view: ResultView<C>,
    ) -> Self {
        self.with_command_and_job_view(use_case, view, view)
    }

    /// The same, with another view for the results of jobs.
    #[must_use]
    pub fn with_command_and_job_view<C: Command<Output: CommandOutput>>(
        mut self,
        use_case: impl for<'p> Fn(&'p dyn Ports) -> Box<dyn CommandHandler<C> + 'p> + Send + Sync + 'static,
        view: ResultView<C>,
        job_view: ResultView<C>,
    ) -> Self {
        self.0.insert(C::NAME, Box::new(RegisteredCommand { use_case: Box::new(use_case), view, job_view }));
        self
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    fn entry(&self, name: &str) -> Result<&dyn ErasedCommand> {
        let entry = self.0.get(name).map(AsRef::as_ref);
        entry.ok_or_else(|| Error::internal(format!("no command has the name {name}")))
    }

    fn find<C: Command>(&self) -> Result<&RegisteredCommand<C>> {
        let entry: &dyn Any = self.entry(C::NAME)?;
        entry
            .downcast_ref()
            .ok_or_else(|| Error::internal(format!("another command has the name {}", C::NAME)))
    }
}

/// Runs commands, or stores them as jobs.
#[derive(Clone)]
pub struct CommandExecutor {
    registry: Arc<CommandRegistry>,
    store: Arc<dyn Store>,
    committer: EventCommitter,
    signer: Arc<dyn TokenSigner>,
    shares: Arc<Shares>,
    /// The most bytes of a job's payload.
    payload_limit: Option<usize>,
}

impl CommandExecutor {
    /// Builds it on this store. `payload_limit` is `max_async_api_job_payload_bytes`.
    pub fn new(
        registry: CommandRegistry,
        store: Arc<dyn Store>,
        committer: EventCommitter,
        signer: Arc<dyn TokenSigner>,
        shares: Arc<Shares>,
        payload_limit: Option<usize>,
    ) -> Self {
        Self { registry: Arc::new(registry), store, committer, signer, shares, payload_limit }
    }

    /// The same commands, on the connections of background work.
    ///
    /// # Errors
    /// As [`Store::for_background`].
    pub fn for_background(&self) -> Result<Self> {
        Ok(Self { store: self.store.for_background()?, ..self.clone() })
    }

    /// The ports on the pool.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Ends transactions.
    pub fn committer(&self) -> &EventCommitter {
        &self.committer
    }

    /// Scheme and port of links, and languages.
    pub fn site(&self) -> &SiteSettings {
        self.committer.site()
    }

    /// Executes a command synchronously, and renders its result in these languages. `finish` turns the result into the
    /// answer, in the transaction of the command.
    #[tracing::instrument(name = "application.commands.execute", skip_all, fields(name = C::NAME))]
    pub async fn execute<C: Command<Output: CommandOutput>, T>(
        &self,
        ctx: &Ctx,
        tenant: &Tenant,
        languages: &AnswerLanguages,
        command: C,
        finish: impl AsyncFn(&dyn Transaction, Value) -> Result<T>,
    ) -> Result<T> {
        let registered = self.registry.find::<C>()?;
        (registered.use_case)(as_store_ports(&*self.store)).precheck(ctx, &command).await?;
        let work = self.committer.in_transaction(&*self.store, ctx.now, async |tx| {
            let context = RenderContext::new(ctx, tenant, self.site(), languages);
            let run = Run { tx, context, committer: &self.committer, now: ctx.now };
            finish(tx, registered.run(run, command.clone(), registered.view).await?).await
        });
        work.await
    }

    /// Runs the checks before a job, stores the command as a job, and commits. The result will be rendered in
    /// these languages. `finish` is as in [`Self::execute`]; `None`: the job is stored without a transaction, which costs less.
    ///
    /// # Errors
    /// Those of the command's `check_enqueue`; `Payload exceeds maximum size of N bytes`; `TooManyRequests` when the client or
    /// the organization has used up its share of [`SharedResource::Jobs`].
    #[tracing::instrument(name = "application.commands.enqueue", skip_all, fields(key = C::KEY))]
    pub async fn enqueue<C: Command>(
        &self,
        ctx: &Ctx,
        languages: AnswerLanguages,
        command: C,
        finish: Option<impl AsyncFn(&dyn Transaction, JobId) -> Result<()>>,
    ) -> Result<JobId> {
        let use_case = (self.registry.find::<C>()?.use_case)(as_store_ports(&*self.store));
        use_case.check_enqueue(ctx, &command).await?;
        let command = serde_json::to_value(command).map_err(Error::internal)?;
        let payload = JobPayload { name: C::NAME.to_owned(), command, languages };
        let (bytes, holder) = (self.payload_bytes(&payload)?, (ctx.organization, Some(ctx.caller.client)));
        self.shares.check_stored(self.store.shares(), SharedResource::Jobs, holder, bytes).await?;
        let id = random_job_id();
        let job = Job {
            id,
            organization: ctx.organization,
            owner: JobOwner::of_caller(ctx),
            token: ctx.caller.token,
            command_key: C::KEY.to_owned(),
            payload,
            attempts: 0,
            created_at: ctx.now,
        };
        match finish {
            None => self.store.jobs().add(&job).await?,
            Some(finish) => {
                let work = self.committer.in_transaction(&*self.store, ctx.now, async |tx| {
                    tx.jobs().add(&job).await?;
                    finish(tx, id).await
                });
                work.await?;
            }
        }
        Ok(id)
    }

    /// The length of a payload, if it may be stored.
    fn payload_bytes(&self, payload: &JobPayload) -> Result<u64> {
        let bytes = serde_json::to_string(payload).map_err(Error::internal)?.len();
        let Some(limit) = self.payload_limit.filter(|limit| bytes > *limit) else { return Ok(bytes as u64) };
        let text = format!("Payload exceeds maximum size of {limit} bytes");
        let fields = vec![FieldError::new("payload", "too_long", text)];
        Err(Error::Invalid { wording: Wording::BadRequest, fields })
    }

    /// Executes a claimed job. Its token, client and user are checked as those of a request are, before the transaction. The
    /// write, its events, the result and the switch to `completed` are one transaction; when another worker owns the job, the
    /// transaction rolls back.
    #[tracing::instrument(name = "application.commands.perform", skip_all, fields(job = %job.id, key = job.command_key))]
    pub async fn execute_job(&self, worker: &str, job: &Job) -> Result<JobEndOutcome> {
        let now = clock::now();
        let store = as_store_ports(&*self.store);
        let tenant = tenant(store, job.organization).await?;
        let auth = AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now };
        let callers = TokenAuthenticator {
            tokens: store.tokens(),
            signer: &*self.signer,
            locales: &self.site().locales,
        };
        let ctx = callers.resume(auth, job.token).await?;
        let context = RenderContext::new(&ctx, &tenant, self.site(), &job.payload.languages);
        let tx = self.store.begin().await?;
        let outcome = self.execute_job_in(&*tx, context, worker, job).await;
        match outcome {
            Ok(JobEndOutcome::Lost) => {
                tx.rollback().await;
                Ok(JobEndOutcome::Lost)
            }
            outcome => self.committer.commit_with_events(tx, now, outcome).await,
        }
    }

    async fn execute_job_in(
        &self,
        tx: &dyn Transaction,
        context: RenderContext<'_>,
        worker: &str,
        job: &Job,
    ) -> Result<JobEndOutcome> {
        let now = context.ctx.now;
        let run = Run { tx, context, committer: &self.committer, now };
        let entry = self.registry.entry(&job.payload.name)?;
        let result = entry.run_payload(run, job.payload.command.clone()).await?;
        tx.jobs().end(worker, job.id, Ok(&result), now).await
    }
}

fn as_store_ports(store: &dyn Store) -> &dyn Ports {
    store
}
