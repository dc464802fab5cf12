//! The command registry: the use-case and the view of each command. One command runs in one
//! transaction: the change, its events, and for a job its result and the switch to `completed` (contract 09 A.5).

use crate::announcing::tenant;
use crate::{Announcer, Ports, RenderContext, Site, Store, Transaction};
use civitas_accounts::{AuthContext, Callers, TokenSigner};
use civitas_jobs::{Finish, Job, JobOwner, JobPayload};
use civitas_kernel::{Command, Ctx, Error, FieldError, Handle, JobId, Result, Wording, clock, random_job_id};
use civitas_organizations::Tenant;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Builds the use-case of a command over ports.
pub type UseCase<C> = Box<dyn for<'p> Fn(&'p dyn Ports) -> Box<dyn Handle<C> + 'p> + Send + Sync>;
/// Shows the result of a command.
pub type View<C> = fn(&RenderContext<'_>, <C as Command>::Output) -> Value;

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A type-erased command.
trait Entry: Send + Sync {
    fn check_enqueue<'a>(&'a self, ctx: &'a Ctx, ports: &'a dyn Ports, command: Value) -> Work<'a, ()>;
    fn precheck<'a>(&'a self, ctx: &'a Ctx, ports: &'a dyn Ports, command: Value) -> Work<'a, ()>;
    fn run<'a>(&'a self, context: RenderContext<'a>, ports: &'a dyn Ports, command: Value)
    -> Work<'a, Value>;
}

struct Registered<C: Command> {
    use_case: UseCase<C>,
    view: View<C>,
}

impl<C: Command> Entry for Registered<C> {
    fn check_enqueue<'a>(&'a self, ctx: &'a Ctx, ports: &'a dyn Ports, command: Value) -> Work<'a, ()> {
        Box::pin(async move { (self.use_case)(ports).check_enqueue(ctx, &read(command)?).await })
    }

    fn precheck<'a>(&'a self, ctx: &'a Ctx, ports: &'a dyn Ports, command: Value) -> Work<'a, ()> {
        Box::pin(async move { (self.use_case)(ports).precheck(ctx, &read(command)?).await })
    }

    fn run<'a>(
        &'a self,
        context: RenderContext<'a>,
        ports: &'a dyn Ports,
        command: Value,
    ) -> Work<'a, Value> {
        Box::pin(async move {
            let output = (self.use_case)(ports).handle(context.ctx, read::<C>(command)?).await?;
            Ok((self.view)(&context, output))
        })
    }
}

fn read<C: Command>(command: Value) -> Result<C> {
    serde_json::from_value(command).map_err(Error::internal)
}

/// The commands of all domain crates, by name.
#[derive(Default)]
pub struct Registry(BTreeMap<&'static str, Box<dyn Entry>>);

impl Registry {
    /// Adds a command: its use-case and its view.
    #[must_use]
    pub fn on<C: Command>(
        mut self,
        use_case: impl for<'p> Fn(&'p dyn Ports) -> Box<dyn Handle<C> + 'p> + Send + Sync + 'static,
        view: View<C>,
    ) -> Self {
        self.0.insert(C::NAME, Box::new(Registered { use_case: Box::new(use_case), view }));
        self
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}

/// Runs commands now, or keeps them as jobs.
pub struct Commands {
    registry: Registry,
    store: Arc<dyn Store>,
    announcer: Announcer,
    signer: Arc<dyn TokenSigner>,
    /// The most bytes of a job's payload.
    payload_limit: Option<usize>,
}

impl Commands {
    /// Over this store. `payload_limit` is `max_async_api_job_payload_bytes`.
    pub fn new(
        registry: Registry,
        store: Arc<dyn Store>,
        announcer: Announcer,
        signer: Arc<dyn TokenSigner>,
        payload_limit: Option<usize>,
    ) -> Self {
        Self { registry, store, announcer, signer, payload_limit }
    }

    /// The ports on the pool.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Ends transactions.
    pub fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// How links are written.
    pub fn site(&self) -> &Site {
        self.announcer.site()
    }

    fn entry(&self, payload: &JobPayload) -> Result<&dyn Entry> {
        let entry = self.registry.0.get(payload.name.as_str()).map(AsRef::as_ref);
        entry.ok_or_else(|| Error::internal(format!("no command has the name {}", payload.name)))
    }

    /// Executes a command, now, and shows its result.
    #[tracing::instrument(name = "application.commands.execute", skip_all, fields(name = payload.name))]
    pub async fn execute(&self, ctx: &Ctx, tenant: &Tenant, payload: &JobPayload) -> Result<Value> {
        let entry = self.entry(payload)?;
        entry.precheck(ctx, as_store_ports(&*self.store), payload.command.clone()).await?;
        let work = self.announcer.in_transaction(&*self.store, ctx.now, async |tx| {
            let context = RenderContext { ctx, tenant, site: self.site(), asked: payload.locales.as_ref() };
            entry.run(context, as_ports(tx), payload.command.clone()).await
        });
        work.await
    }

    /// Checks what is checked before a job is accepted, and keeps the command as a job. It is committed before
    /// this returns.
    ///
    /// # Errors
    /// Those of the command's `check_enqueue`; `Payload exceeds maximum size of N bytes`.
    #[tracing::instrument(name = "application.commands.enqueue", skip_all, fields(key = key))]
    pub async fn enqueue(&self, ctx: &Ctx, key: &str, payload: JobPayload) -> Result<JobId> {
        let command = payload.command.clone();
        self.entry(&payload)?.check_enqueue(ctx, as_store_ports(&*self.store), command).await?;
        self.payload_fits(&payload)?;
        let job = Job {
            id: random_job_id(),
            organization: ctx.organization,
            owner: JobOwner { client: ctx.caller.client, user: ctx.participant() },
            token: ctx.caller.token,
            command_key: key.to_owned(),
            payload,
            attempts: 0,
            created_at: ctx.now,
        };
        self.store.jobs().add(&job).await?;
        Ok(job.id)
    }

    fn payload_fits(&self, payload: &JobPayload) -> Result<()> {
        let Some(limit) = self.payload_limit else { return Ok(()) };
        if serde_json::to_string(payload).map_err(Error::internal)?.len() <= limit {
            return Ok(());
        }
        let text = format!("Payload exceeds maximum size of {limit} bytes");
        let fields = vec![FieldError::new("payload", "too_long", text)];
        Err(Error::Invalid { wording: Wording::BadRequest, fields })
    }

    /// Carries a claimed job out. The write, its events, the result and the switch to `completed` are one
    /// transaction; when another worker has taken the job over, nothing is kept.
    #[tracing::instrument(name = "application.commands.perform", skip_all, fields(job = %job.id, key = job.command_key))]
    pub async fn perform(&self, worker: &str, job: &Job) -> Result<Finish> {
        let now = clock::now();
        let tx = self.store.begin().await?;
        let outcome = self.perform_in(&*tx, worker, job, now).await;
        match outcome {
            Ok(Finish::Lost) => {
                tx.rollback().await;
                Ok(Finish::Lost)
            }
            outcome => self.announcer.commit_with_events(tx, now, outcome).await,
        }
    }

    async fn perform_in(
        &self,
        tx: &dyn Transaction,
        worker: &str,
        job: &Job,
        now: time::OffsetDateTime,
    ) -> Result<Finish> {
        let tenant = tenant(tx, job.organization).await?;
        let auth = AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now };
        let callers = Callers { tokens: tx.tokens(), signer: &*self.signer, locales: &self.site().locales };
        let ctx = callers.resume(auth, job.token).await?;
        let context = RenderContext {
            ctx: &ctx,
            tenant: &tenant,
            site: self.site(),
            asked: job.payload.locales.as_ref(),
        };
        let entry = self.entry(&job.payload)?;
        let result = entry.run(context, as_ports(tx), job.payload.command.clone()).await?;
        tx.jobs().complete(worker, job.id, &result, now).await
    }
}

fn as_ports(tx: &dyn Transaction) -> &dyn Ports {
    tx
}

fn as_store_ports(store: &dyn Store) -> &dyn Ports {
    store
}
