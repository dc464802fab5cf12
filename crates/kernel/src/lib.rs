//! Types that all domain crates share: caller ([`Ctx`]), errors ([`Error`]), pages, filters, translated text, and writes
//! ([`Command`], [`CommandHandler`]).
//!
//! Depends on no database, web server or other crate of the workspace.
//!
//! ```
//! use civitas_kernel::{Locale, Locales, Translated};
//!
//! let title: Translated = [(Locale::EN, "Ideas".to_owned()), (Locale::FR, "Idées".to_owned())].into();
//! let shown = title.in_locales(&"fr".parse::<Locales>()?);
//! assert_eq!(shown.get(Locale::FR), Some("Idées"));
//! assert_eq!(shown.get(Locale::EN), None);
//! # Ok::<(), civitas_kernel::Error>(())
//! ```

mod access;
mod class_names;
pub mod clock;
mod command;
mod component_context;
#[cfg(feature = "conformance")]
pub mod conformance;
mod ctx;
mod error;
mod event;
pub mod extended_data;
pub mod filter;
mod ids;
mod integers;
mod json;
mod languages;
pub mod limits;
mod locale;
mod location_filter;
mod names;
mod page;
mod patch;
pub mod records;
mod space_ref;
mod task;
#[cfg(any(test, feature = "mocks", feature = "conformance"))]
pub mod testing;
pub mod text;
mod time_zone;

pub use access::{Abilities, Ability, Access, RequiredAbilities, Scope, Scopes};
pub use class_names::ClassNames;
pub use command::{Command, CommandHandler};
pub use component_context::ComponentContext;
pub use ctx::{Caller, Ctx, ReadContext, TokenUser, UserState, Viewer};
pub use error::{BoxError, Error, FieldError, Result, Wording};
pub use event::{Event, EventName, Subject};
pub use ids::{
    AdministratorId, AnswerId, AnswerOptionId, AttachmentId, ClientId, CollectionId, ComponentId,
    DisplayConditionId, FileId, JobId, MagicLinkId, MatrixRowId, MeetingId, OrganizationId, PostId,
    ProposalId, QuestionId, QuestionnaireId, RegistrationId, ResponseId, StateId, StepId, SurveyId, TaskId,
    TokenId, UploadId, UserId, VoteId, random_job_id, random_key, sortable_id,
};
pub use integers::{integer, whole};
pub use json::read_json;
pub use languages::{AnswerLanguages, choose_language};
pub use locale::{Locale, Locales, Translated};
pub use location_filter::LocationFilter;
pub use page::{Direction, LogPage, LogRequest, LogStart, Order, Page, PageRequest, Sort, SortColumn};
pub use patch::{PatchField, set_given};
pub use space_ref::{SpaceKind, SpaceRef};
#[cfg(any(test, feature = "mocks"))]
pub use task::MockTaskQueue;
pub use task::{NewTask, TaskPayload, TaskQueue};
pub use time_zone::TimeZone;
