//! All ports, on the connection pool or inside one transaction.

use crate::idempotency::IdempotencyStore;
use crate::operations::OperationsStore;
use crate::shares::ShareStore;
use async_trait::async_trait;
use civitas_accounts::login_failures::LoginFailureStore;
use civitas_accounts::magic_links::MagicLinkStore;
use civitas_accounts::mail_limits::MailCounts;
use civitas_accounts::{
    AdministratorStore, ClientStore, ConfirmationStore, EndedCredentials, OrganizationLookup,
    PanelSessionStore, RoleStore, SessionStore, TokenStore, UserStore,
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
use std::sync::Arc;
use time::OffsetDateTime;

/// All ports. A use-case takes those it needs, on the pool or in a transaction.
pub trait Ports: Send + Sync {
    /// Organizations.
    fn organizations(&self) -> &dyn OrganizationStore;
    /// Accounts of users.
    fn users(&self) -> &dyn UserStore;
    /// API clients.
    fn clients(&self) -> &dyn ClientStore;
    /// Access tokens.
    fn tokens(&self) -> &dyn TokenStore;
    /// Failed logins.
    fn login_failures(&self) -> &dyn LoginFailureStore;
    /// Counts of mails to addresses that callers name.
    fn mail_counts(&self) -> &dyn MailCounts;
    /// Answers to writes with an idempotency key.
    fn idempotency_keys(&self) -> &dyn IdempotencyStore;
    /// Roles in spaces.
    fn roles(&self) -> &dyn RoleStore;
    /// Accounts of the system panel.
    fn administrators(&self) -> &dyn AdministratorStore;
    /// Sessions of the system panel.
    fn panel_sessions(&self) -> &dyn PanelSessionStore;
    /// Extended data: free JSON data of clients, for records of all kinds.
    fn extended_data(&self) -> &dyn ExtendedDataStore;
    /// Participatory spaces.
    fn spaces(&self) -> &dyn SpaceStore;
    /// Steps of processes.
    fn steps(&self) -> &dyn StepStore;
    /// Components.
    fn components(&self) -> &dyn ComponentStore;
    /// Pages, budgets, results and debates.
    fn entries(&self) -> &dyn EntryStore;
    /// Proposals and drafts.
    fn proposals(&self) -> &dyn ProposalStore;
    /// Components, for proposals.
    fn component_lookup(&self) -> &dyn ComponentLookup;
    /// States of proposals.
    fn states(&self) -> &dyn StateStore;
    /// Votes.
    fn votes(&self) -> &dyn VoteStore;
    /// Meetings.
    fn meetings(&self) -> &dyn MeetingStore;
    /// Which reminders of meetings were sent.
    fn reminders(&self) -> &dyn ReminderStore;
    /// Blog posts.
    fn posts(&self) -> &dyn PostStore;
    /// Components and users, for blog posts.
    fn blogs(&self) -> &dyn BlogLookup;
    /// Attachments.
    fn attachments(&self) -> &dyn AttachmentStore;
    /// Collections of attachments.
    fn collections(&self) -> &dyn CollectionStore;
    /// The rows of files.
    fn files(&self) -> &dyn FileRegistry;
    /// Announced uploads.
    fn uploads(&self) -> &dyn UploadStore;
    /// The records that files are attached to.
    fn parents(&self) -> &dyn ParentLookup;
    /// Surveys.
    fn surveys(&self) -> &dyn SurveyStore;
    /// Questionnaires.
    fn questionnaires(&self) -> &dyn QuestionnaireStore;
    /// Questions.
    fn questions(&self) -> &dyn QuestionStore;
    /// Answer options.
    fn answer_options(&self) -> &dyn AnswerOptionStore;
    /// Display conditions of questions.
    fn display_conditions(&self) -> &dyn DisplayConditionStore;
    /// Responses to questionnaires.
    fn responses(&self) -> &dyn ResponseStore;
    /// Users, for questionnaires.
    fn survey_lookup(&self) -> &dyn SurveyLookup;
    /// The files of answers.
    fn answer_files(&self) -> &dyn AnswerFiles;
    /// Jobs.
    fn jobs(&self) -> &dyn JobStore;
    /// Jobs, for administrators.
    fn job_log(&self) -> &dyn JobLog;
    /// The outbox of events.
    fn outbox(&self) -> &dyn Outbox;
    /// Registrations for webhooks.
    fn registrations(&self) -> &dyn RegistrationStore;
    /// Deliveries of webhooks, for the relay and the workers.
    fn deliveries(&self) -> &dyn DeliveryQueue;
    /// Deliveries of webhooks, for administrators.
    fn delivery_log(&self) -> &dyn DeliveryLog;
    /// The audit trail.
    fn audit(&self) -> &dyn AuditLog;
    /// Organizations, for accounts.
    fn organization_lookup(&self) -> &dyn OrganizationLookup;
    /// Links that confirm an address.
    fn confirmations(&self) -> &dyn ConfirmationStore;
    /// Links that sign in.
    fn magic_links(&self) -> &dyn MagicLinkStore;
    /// Sessions of participants.
    fn sessions(&self) -> &dyn SessionStore;
    /// Tokens, links and sessions whose time is over.
    fn ended_credentials(&self) -> &dyn EndedCredentials;
    /// The queue that tasks are added to.
    fn queue(&self) -> &dyn TaskQueue;
    /// Tasks, for workers.
    fn tasks(&self) -> &dyn TaskStore;
    /// The log of waiting tasks.
    fn task_log(&self) -> &dyn TaskLog;
    /// Counts for administrators of the deployment.
    fn operations(&self) -> &dyn OperationsStore;
    /// The records that the archive imported.
    fn refs(&self) -> &dyn RefStore;
    /// The rows of removed organizations and API clients.
    fn removals(&self) -> &dyn Removals;
    /// The times of the last removals from lists.
    fn list_changes(&self) -> &dyn ListChanges;
    /// What clients and organizations store.
    fn shares(&self) -> &dyn ShareStore;
}

/// All ports on the pool; begins transactions.
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
    /// A number that changes with every commit of any process; `None` where the engine has no cheap one. While it is
    /// the same, every read has the same result.
    fn epoch(&self) -> Option<u64>;
    /// The same database for background work: requests that wait for connections do not delay it. What one adds, the
    /// other is notified of.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn for_background(&self) -> Result<Arc<dyn Store>>;
    /// The same database for a request that only reads, and began in this epoch: what it looks up in caches is of this
    /// epoch or newer.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn begun_in(&self, epoch: u64) -> Result<Arc<dyn Store>>;
    /// The same database for the pages of an answer: a page whose rows have more bytes of JSON and long texts fails with
    /// `AnswerTooLong`, before all of them are read.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn bounded(&self, bytes: usize) -> Result<Arc<dyn Store>>;
    /// The same database for a caller who may not see extended data: the records of a page have none.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    fn without_extended_data(&self) -> Result<Arc<dyn Store>>;
    /// Removes former states from the log beside the database, where there is one: after the deletion of what nobody may find
    /// any more. False while somebody reads such a state; try again later.
    async fn empty_log(&self) -> Result<bool>;
    /// Updates the statistics of the query planner. Call it after writing many records at once.
    async fn analyze(&self) -> Result<()>;
}

/// All ports inside one transaction, which rolls back when dropped.
#[async_trait]
pub trait Transaction: Ports {
    /// The events that stores have recorded since the last call.
    fn announced(&self) -> Vec<(OrganizationId, Event)>;
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
    ) -> Result<Option<String>>;
    /// Stores the row of a record; replaces the row of an earlier import.
    async fn add(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
        id: &str,
    ) -> Result<()>;
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

/// Deletes the rows of organizations and API clients that were removed
/// ([`OrganizationStore::remove`], [`ClientStore::remove`]): nobody finds them any more, but a single statement that
/// deletes all of them would keep other writers waiting.
#[async_trait]
pub trait Removals: Send + Sync {
    /// Deletes some rows below one removed organization or client, at most `limit`, in one statement; after the last of
    /// them the record itself. Returns how many rows were deleted or changed; 0: nothing is left.
    async fn remove_rows(&self, limit: i64) -> Result<u64>;
}

/// The times of the last removals from lists: a record was deleted, unpublished or hidden from some viewers. The
/// `Last-Modified` of a list is never older (contract 01 §8).
#[async_trait]
pub trait ListChanges: Send + Sync {
    /// The latest removal from any of these lists. Names of lists are those of tables: `proposals`, `votes`, ...
    async fn newest(&self, organization: OrganizationId, lists: &[&str]) -> Result<Option<OffsetDateTime>>;
    /// Sets the time of a removal from this list to now.
    async fn touch_list(&self, organization: OrganizationId, list: &str, now: OffsetDateTime) -> Result<()>;
}
