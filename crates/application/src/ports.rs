//! All ports, on the connection pool or inside one transaction.

use crate::idempotency::IdempotencyStore;
use crate::operations::OperationsStore;
use crate::shares::ShareStore;
use async_trait::async_trait;
use civitas_accounts::login_failures::LoginFailureStore;
use civitas_accounts::magic_links::MagicLinkStore;
use civitas_accounts::mail_limits::MailCountStore;
use civitas_accounts::{
    AdministratorStore, ClientStore, ConfirmationStore, EndedCredentials, OrganizationLookup,
    PanelSessionStore, RoleStore, SessionStore, TokenStore, UserStore,
};
use civitas_attachments::{AttachmentStore, CollectionStore, FileRegistry, ParentLookup, UploadStore};
use civitas_audit::AuditLog;
use civitas_blogs::{BlogLookup, PostStore};
use civitas_extended_data::ExtendedDataStore;
use civitas_jobs::{JobLog, JobOwner, JobStore};
use civitas_kernel::{Event, OrganizationId, Result, TaskQueue};
use civitas_meetings::{MeetingStore, ReminderStore};
use civitas_organizations::OrganizationStore;
use civitas_proposals::{ComponentLookup, ProposalStore, StateStore, VoteStore};
use civitas_spaces::{ComponentEntryStore, ComponentStore, SpaceStore, StepStore};
use civitas_surveys::{
    AnswerFiles, AnswerOptionStore, DisplayConditionStore, QuestionStore, QuestionnaireStore, ResponseStore,
    SurveyLookup, SurveyStore,
};
use civitas_tasks::{TaskLog, TaskStore};
use civitas_webhooks::{DeliveryLog, DeliveryQueue, Outbox, RegistrationStore};
use std::sync::Arc;
use time::OffsetDateTime;

/// Makes [`Ports`], and implements it for what implements each port. The ports of a domain are in one paragraph.
macro_rules! ports {
    ($($(#[$doc:meta])* $port:ident: $Port:ident,)+) => {
        /// All ports. A use case takes those it needs, on the pool or in a transaction.
        pub trait Ports: Send + Sync {
            $($(#[$doc])* fn $port(&self) -> &dyn $Port;)+
        }

        impl<T: $($Port +)+ Send + Sync> Ports for T {
            $(fn $port(&self) -> &dyn $Port {
                self
            })+
        }
    };
}

ports! {
    /// Organizations.
    organizations: OrganizationStore,

    /// Accounts of users.
    users: UserStore,
    /// Organizations, for accounts.
    organization_lookup: OrganizationLookup,
    /// API clients.
    clients: ClientStore,
    /// Access tokens.
    tokens: TokenStore,
    /// Failed logins.
    login_failures: LoginFailureStore,
    /// Counts of mails to addresses that callers name.
    mail_counts: MailCountStore,
    /// Roles in spaces.
    roles: RoleStore,
    /// Accounts of the system panel.
    administrators: AdministratorStore,
    /// Sessions of the system panel.
    panel_sessions: PanelSessionStore,
    /// Links that confirm an address.
    confirmations: ConfirmationStore,
    /// Links that sign in.
    magic_links: MagicLinkStore,
    /// Sessions of participants.
    sessions: SessionStore,
    /// Tokens, links and sessions whose time is over.
    ended_credentials: EndedCredentials,

    /// Participatory spaces.
    spaces: SpaceStore,
    /// Steps of processes.
    steps: StepStore,
    /// Components.
    components: ComponentStore,
    /// Pages, budgets, results and debates.
    entries: ComponentEntryStore,

    /// Proposals and drafts.
    proposals: ProposalStore,
    /// Components, for proposals.
    component_lookup: ComponentLookup,
    /// States of proposals.
    states: StateStore,
    /// Votes.
    votes: VoteStore,

    /// Meetings.
    meetings: MeetingStore,
    /// Which reminders of meetings were sent.
    reminders: ReminderStore,

    /// Blog posts.
    posts: PostStore,
    /// Components and users, for blog posts.
    blogs: BlogLookup,

    /// Attachments.
    attachments: AttachmentStore,
    /// Collections of attachments.
    collections: CollectionStore,
    /// The rows of files.
    files: FileRegistry,
    /// Requested uploads.
    uploads: UploadStore,
    /// The records that files are attached to.
    parents: ParentLookup,

    /// Surveys.
    surveys: SurveyStore,
    /// Questionnaires.
    questionnaires: QuestionnaireStore,
    /// Questions.
    questions: QuestionStore,
    /// Answer options.
    answer_options: AnswerOptionStore,
    /// Display conditions of questions.
    display_conditions: DisplayConditionStore,
    /// Responses to questionnaires.
    responses: ResponseStore,
    /// Users, for questionnaires.
    survey_lookup: SurveyLookup,
    /// The files of answers.
    answer_files: AnswerFiles,

    /// Extended data: free JSON data of clients, for records of all kinds.
    extended_data: ExtendedDataStore,

    /// Jobs.
    jobs: JobStore,
    /// Jobs, for administrators.
    job_log: JobLog,

    /// The outbox of events.
    outbox: Outbox,
    /// Registrations for webhooks.
    registrations: RegistrationStore,
    /// Deliveries of webhooks, for the relay and the workers.
    deliveries: DeliveryQueue,
    /// Deliveries of webhooks, for administrators.
    delivery_log: DeliveryLog,

    /// The audit trail.
    audit: AuditLog,

    /// The queue that tasks are added to.
    queue: TaskQueue,
    /// Tasks, for workers.
    tasks: TaskStore,
    /// The log of waiting tasks.
    task_log: TaskLog,

    /// Answers to writes with an idempotency key.
    idempotency_keys: IdempotencyStore,
    /// Counts for administrators of the deployment.
    operations: OperationsStore,
    /// The records that the archive imported.
    refs: RefStore,
    /// The ids of new records.
    id_spaces: IdSpaces,
    /// The rows of removed organizations and API clients.
    removals: RemovalStore,
    /// The times of the last removals from lists.
    list_changes: ListChanges,
    /// The texts in which words are searched, of records that have none.
    missing_texts: MissingTextStore,
    /// What clients and organizations store.
    shares: ShareStore,
}

/// All ports outside of transactions; begins transactions. No method names a cache, a pool or an engine.
#[async_trait]
pub trait Store: Ports {
    /// Begins a transaction that may write. On SQLite it is the only one; those that wait for it are committed together.
    async fn begin(&self) -> Result<Box<dyn Transaction>>;
    /// The same, for a transaction that takes longer than some milliseconds: no other one waits for its commit.
    async fn begin_long(&self) -> Result<Box<dyn Transaction>>;
    /// Checks that the database answers and has the schema this build needs.
    async fn ready(&self) -> Result<()>;
    /// Checks that the database can be written, by a write, at most once in 5 s; in between as [`Self::ready`].
    async fn check_writable(&self) -> Result<()>;
    /// The same database for background work: requests that wait for connections do not delay it. What one adds, the
    /// other is notified of.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn for_background(&self) -> Result<Arc<dyn Store>>;
    /// The same database for the pages of an answer: a page whose rows have more bytes of JSON and long texts fails with
    /// `AnswerTooLong`, before all of them are read.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn with_page_byte_limit(&self, bytes: usize) -> Result<Arc<dyn Store>>;
    /// The same database for a caller who may not see extended data: the records of a page have none.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn without_extended_data(&self) -> Result<Arc<dyn Store>>;
    /// The same database, whose reads are those of one replica. It has what the caller wrote, and the log up to `position`;
    /// what is not found there may exist. A failed read may succeed here. `None`: no replica is configured, or none has it in
    /// time.
    async fn on_replica(&self, caller: JobOwner, position: i64) -> Option<Arc<dyn Store>>;
    /// From now on the writer reads at replicas what was committed before. Returns the position of the log; `None` without
    /// replicas, and when it is not known: then the writer reads here.
    async fn note_position(&self, writer: JobOwner) -> Option<i64>;
    /// Removes former states from the log beside the database, where there is one: after the deletion of what nobody may find
    /// any more. False while somebody reads such a state; try again later.
    async fn truncate_log(&self) -> Result<bool>;
    /// Updates the statistics of the query planner. Call it after writing many records at once.
    async fn analyze(&self) -> Result<()>;
}

/// All ports inside one transaction, which rolls back when dropped.
#[async_trait]
pub trait Transaction: Ports {
    /// Takes the events that stores have recorded since the last call.
    fn take_events(&self) -> Vec<(OrganizationId, Event)>;
    /// Commits.
    async fn commit(self: Box<Self>) -> Result<()>;
    /// Rolls back. Cheaper than dropping: the connection stays open.
    async fn rollback(self: Box<Self>);
}

/// The records that the archive imported: (organization, type, ref) and the id of the row
/// (contract 10 §1). Ids are text: a space's is `<kind>/<number>`.
#[async_trait]
pub trait RefStore: Send + Sync {
    /// The id of an imported record. Records without organization are stored under `None`.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
    ) -> Result<Option<String>> {
        Ok(self.find_many(organization, kind, &[reference]).await?.pop().map(|(_, id)| id))
    }
    /// Stores the row of a record; replaces the row of an earlier import.
    async fn add(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
        id: &str,
    ) -> Result<()> {
        self.add_many(organization, kind, &[(reference, id.to_owned())]).await
    }
    /// The ids of those of these records that were imported, with their refs.
    async fn find_many(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        references: &[&str],
    ) -> Result<Vec<(String, String)>>;
    /// The same as [`Self::add`] for several different refs, with their ids.
    async fn add_many(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        ids: &[(&str, String)],
    ) -> Result<()>;
    /// Removes the refs of a row: they may name a person. A later import of the same archive creates the record again.
    async fn remove(&self, organization: OrganizationId, kind: &str, id: &str) -> Result<()>;
}

/// The ids of new records, for imports that keep ids (contract 13 §3.1).
///
/// An id space has the name of its record type in an archive; spaces have one for each kind, the rows of matrices
/// `matrix_row`, and the answers of responses `questionnaire_response`. It is that of the whole deployment.
///
/// # Errors
/// `Rejected` when there is no such id space.
#[async_trait]
pub trait IdSpaces: Send + Sync {
    /// One of these ids that a record has, if there is one.
    async fn taken(&self, space: &str, ids: &[i64]) -> Result<Option<i64>>;
    /// The next call that adds records of the space gives them these ids, in their order; without ids, those that follow.
    /// Replaces what an earlier call has set. They must be free. `Internal` outside a transaction.
    async fn assign_next(&self, space: &str, ids: Vec<i64>) -> Result<()>;
    /// New records of the space get ids above this one. On PostgreSQL this stays when the transaction is rolled back,
    /// except for spaces, pages, budgets, results and debates.
    async fn raise(&self, space: &str, id: i64) -> Result<()>;
    /// The same for all id spaces.
    async fn raise_all(&self, id: i64) -> Result<()>;
}

/// Removes organizations, and deletes the rows of removed organizations and API clients ([`ClientStore::remove`]): nobody
/// finds them any more, but a single statement that deletes all of them would keep other writers waiting.
#[async_trait]
pub trait RemovalStore: Send + Sync {
    /// Removes an organization with its API clients: nobody finds it any more, and its hosts and names are free. The rows
    /// of what belongs to it are deleted later, in batches; past events stay. `NotFound` when it does not exist.
    async fn remove_organization(&self, id: OrganizationId) -> Result<()>;
    /// Deletes some rows below one removed organization or client, at most `limit`, in one statement; after the last of
    /// them the record itself. Returns how many rows were deleted or changed; 0: nothing is left.
    async fn remove_rows(&self, limit: i64) -> Result<u64>;
}

/// Where a fill of texts goes on: the number of a kind of records, and the last id that is done. The default is the
/// beginning.
pub type FillPosition = (usize, i64);

/// The texts in which words are searched (contract 01 §6.2): of records of before texts were stored, and those that are not
/// in the index of words yet.
#[async_trait]
pub trait MissingTextStore: Send + Sync {
    /// Stores the texts of some records of an organization that have none, in a transaction of its own. Texts that others
    /// store meanwhile stay. Returns where to go on, and how many were stored; `None` at the end of the organization.
    async fn fill(&self, id: OrganizationId, from: FillPosition) -> Result<Option<(FillPosition, u64)>>;
    /// Adds some texts to the index of words, in a transaction of its own, and returns their number. Where the database does so
    /// itself it is 0.
    async fn index(&self) -> Result<u64>;
    /// How many records of an organization, or of all, have no texts: words are not found in them. `Timeout` for all of a large
    /// deployment.
    async fn count(&self, organization: Option<OrganizationId>) -> Result<i64>;
    /// The statements that make the missing indexes of words, for an operator; without them words are searched by scanning.
    async fn index_statements(&self) -> Result<Vec<String>>;
}

/// The times of the last removals from lists: a record was deleted, unpublished or hidden from some viewers. The
/// `Last-Modified` of a list is never older (contract 01 §8).
#[async_trait]
pub trait ListChanges: Send + Sync {
    /// The latest removal from any of these lists. Names of lists are those of tables: `proposals`, `votes`, ...
    async fn last_removal(
        &self,
        organization: OrganizationId,
        lists: &[&str],
    ) -> Result<Option<OffsetDateTime>>;
    /// Sets the time of a removal from this list to now.
    async fn touch_list(&self, organization: OrganizationId, list: &str, now: OffsetDateTime) -> Result<()>;
}
