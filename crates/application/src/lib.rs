//! The application layer: all ports, the unit of work, the command registry and the workers. Independent of
//! database and web server.

pub mod audit;
pub mod backups;
mod body_timeout;
mod cleanup;
mod commands;
mod component_admin;
mod erasure_handler;
mod event_committer;
mod file_transfer;
mod files;
mod form_encoding;
mod health;
mod host_check_handler;
mod idempotency;
mod loaded;
mod mail_handler;
pub mod metrics;
mod one_time_links;
mod operations;
mod organization_removal;
mod panel_sign_in;
mod ports;
mod rate_limits;
mod reencryption;
mod render_context;
mod rules;
mod schema_state;
mod shares;
mod source_address;
pub mod sweeping;
mod tasks;
mod text_fill;
mod token_service;
pub mod traces;
mod user_states;
mod worker;
pub mod worker_loop;

pub use body_timeout::BodyTimeout;
pub use cleanup::CleanupWorker;
pub use commands::{CommandExecutor, CommandRegistry, ResultView, UseCase};
pub use component_admin::{ComponentAdministration, minimum_votes};
pub use erasure_handler::ErasureHandler;
pub use event_committer::{EventCommitter, EventViews};
pub use file_transfer::{FileCheck, FileDigest, FileDigests, FileFinding, FileTransfer, TransferResult};
pub use files::{Files, NewFile};
pub use form_encoding::{form_decoded, form_pairs};
pub use health::{Dependency, HealthChecks, HealthFinding};
pub use host_check_handler::HostCheckHandler;
pub use idempotency::{ANSWER_RETENTION, IdempotencyKey, IdempotencyStore, IdempotentAnswer};
pub use loaded::{CommandOutput, SavedRecord};
pub use mail_handler::{InvitationHandler, MailHandler};
pub use one_time_links::{OneTimeLinks, magic_links};
pub use operations::{
    Alert, AlertCount, AlertKind, Alerts, DatabaseLoad, DeploymentFigures, MAX_ALERT_COUNT, MAX_FIGURE,
    OldestWaiting, OperationsStore, QueueFigures,
};
pub use organization_removal::remove_organization;
pub use panel_sign_in::PanelSignIn;
pub use ports::{
    FillPosition, IdSpaces, ListChanges, MissingTextStore, Ports, RefStore, RemovalStore, Store, Transaction,
};
pub use rate_limits::{AuthenticationLimit, ClientLimit, KeyedLimit, RetryAfter, network_of};
pub use reencryption::{ReencryptText, Reencryption, ReencryptionResult};
pub use render_context::{RenderContext, SiteSettings};
pub use rules::{CurrentSettings, component_settings_error};
pub use schema_state::{BEFORE_FIRST_RELEASE, SchemaState};
pub use shares::{
    MAX_REGISTRATIONS, ShareCapacity, ShareHolder, ShareLimits, SharePermit, ShareStore, SharedResource,
    Shares, StoredUse, TenantUse,
};
pub use source_address::{forwarded_parameter, source_address};
pub use tasks::{TaskContext, TaskHandler, TaskWorker};
pub use text_fill::{fill_texts, index_texts, missing_texts, run_text_fill};
pub use token_service::TokenService;
pub use user_states::{UserStateChange, UserStates};
pub use worker::{JobWorker, reclaim_all_jobs};
