//! [`Store`], [`Transaction`] and [`Ports`] on [`Session`].

use crate::engine;
use crate::failure::Stored;
use crate::migrate;
use crate::page_rows::Bounds;
use crate::pools::Settings;
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::login_failures::LoginFailureStore;
use civitas_accounts::magic_links::MagicLinkStore;
use civitas_accounts::mail_limits::MailCounts;
use civitas_accounts::{
    AdministratorStore, ClientStore, ConfirmationStore, EndedCredentials, OrganizationLookup,
    PanelSessionStore, RoleStore, SessionStore, TokenStore, UserStore,
};
use civitas_application::{
    IdempotencyStore, ListChanges, OperationsStore, Ports, RefStore, Removals, ShareStore, Store, Transaction,
};
use civitas_attachments::{AttachmentStore, CollectionStore, FileRegistry, ParentLookup, UploadStore};
use civitas_audit::AuditLog;
use civitas_blogs::{BlogLookup, PostStore};
use civitas_extended_data::ExtendedDataStore;
use civitas_jobs::{JobLog, JobStore};
use civitas_kernel::{Event, OrganizationId, Result, TaskQueue};
use civitas_meetings::{MeetingStore, ReminderStore};
use civitas_organizations::OrganizationStore;
use civitas_proposals::{ComponentLookup, ProposalStore, StateStore, VoteStore};
use civitas_spaces::{ComponentStore, EntryStore, SpaceStore, StepStore};
use civitas_surveys::{
    AnswerFiles, AnswerOptionStore, DisplayConditionStore, QuestionStore, QuestionnaireStore, ResponseStore,
    SurveyLookup, SurveyStore,
};
use civitas_tasks::{TaskLog, TaskStore};
use civitas_webhooks::{DeliveryLog, DeliveryQueue, Outbox, RegistrationStore};
use diesel_async::SimpleAsyncConnection;
use std::sync::Arc;
use time::OffsetDateTime;

/// Opens the database; creates the SQLite file if missing. Does not migrate or check the schema: see [`crate::migrate`]
/// and [`crate::schema`].
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` for invalid settings.
pub async fn open(settings: &Settings) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(Session::open(settings).await?))
}

/// The same, with another clock as that of the process: for tests of machines whose clocks differ.
///
/// # Errors
/// As [`open`].
pub async fn open_with_clock(settings: &Settings, clock: fn() -> OffsetDateTime) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(Session::open_with_clock(settings, clock).await?))
}

#[async_trait]
impl Store for Session {
    async fn begin(&self) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(self.begin_own().await?))
    }

    async fn begin_long(&self) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(Session::begin_long(self).await?))
    }

    async fn ready(&self) -> Result<()> {
        migrate::touch(&mut *self.read().await?).await.stored()
    }

    async fn check_writable(&self) -> Result<()> {
        if !self.is_write_check_due() {
            return self.ready().await;
        }
        migrate::write(&mut *self.write().await?).await.stored()?;
        self.note_write_check();
        Ok(())
    }

    fn epoch(&self) -> Option<u64> {
        Session::epoch(self)
    }

    fn for_background(&self) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::for_background(self)?))
    }

    fn begun_in(&self, epoch: u64) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::begun_in(self, epoch)?))
    }

    fn bounded(&self, bytes: usize) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::bounded(self, Bounds { bytes, ..self.bounds })?))
    }

    fn without_extended_data(&self) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::bounded(self, Bounds { with_data: false, ..self.bounds })?))
    }

    async fn empty_log(&self) -> Result<bool> {
        engine::empty_log(&mut *self.write_uncached().await?).await.stored()
    }

    async fn analyze(&self) -> Result<()> {
        SimpleAsyncConnection::batch_execute(&mut *self.write().await?, engine::ANALYZE).await.stored()
    }
}

#[async_trait]
impl Transaction for Session {
    fn announced(&self) -> Vec<(OrganizationId, Event)> {
        self.take_announced()
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        Session::commit(&self).await
    }

    async fn rollback(self: Box<Self>) {
        if let Err(error) = Session::rollback(&self).await {
            tracing::warn!(%error, "a transaction could not be rolled back; its connection is closed");
        }
    }
}

/// Implements [`Ports`]: each method returns the session.
macro_rules! ports {
    ($($port:ident: $Port:ident,)+) => {
        impl Ports for Session {
            $(fn $port(&self) -> &dyn $Port {
                self
            })+
        }
    };
}

ports! {
    organizations: OrganizationStore,
    users: UserStore,
    clients: ClientStore,
    tokens: TokenStore,
    login_failures: LoginFailureStore,
    mail_counts: MailCounts,
    idempotency_keys: IdempotencyStore,
    roles: RoleStore,
    administrators: AdministratorStore,
    panel_sessions: PanelSessionStore,
    extended_data: ExtendedDataStore,
    spaces: SpaceStore,
    steps: StepStore,
    components: ComponentStore,
    entries: EntryStore,
    proposals: ProposalStore,
    component_lookup: ComponentLookup,
    states: StateStore,
    votes: VoteStore,
    meetings: MeetingStore,
    reminders: ReminderStore,
    posts: PostStore,
    blogs: BlogLookup,
    attachments: AttachmentStore,
    collections: CollectionStore,
    files: FileRegistry,
    uploads: UploadStore,
    parents: ParentLookup,
    surveys: SurveyStore,
    questionnaires: QuestionnaireStore,
    questions: QuestionStore,
    answer_options: AnswerOptionStore,
    display_conditions: DisplayConditionStore,
    responses: ResponseStore,
    survey_lookup: SurveyLookup,
    answer_files: AnswerFiles,
    jobs: JobStore,
    job_log: JobLog,
    outbox: Outbox,
    registrations: RegistrationStore,
    deliveries: DeliveryQueue,
    delivery_log: DeliveryLog,
    audit: AuditLog,
    organization_lookup: OrganizationLookup,
    confirmations: ConfirmationStore,
    magic_links: MagicLinkStore,
    sessions: SessionStore,
    ended_credentials: EndedCredentials,
    queue: TaskQueue,
    tasks: TaskStore,
    task_log: TaskLog,
    operations: OperationsStore,
    refs: RefStore,
    removals: Removals,
    list_changes: ListChanges,
    shares: ShareStore,
}
