//! Blog posts: texts of a component, by a user or by the organization (contract 07 part A).
//!
//! A post without a publication time is a draft, one with a later time is scheduled; both are shown to their author
//! only. A scheduled post is published at its time without a write.
//!
//! ```
//! use civitas_blogs::Post;
//! use civitas_kernel::{ComponentId, Translated};
//! use time::macros::datetime;
//!
//! let now = datetime!(2026-03-01 09:30 UTC);
//! let draft = Post::new(ComponentId(1), Translated::default(), Translated::default(), now);
//! assert!(!draft.is_published(now));
//! assert!(Post { published_at: Some(now), ..draft }.is_published(now));
//! ```

mod admin;
#[cfg(feature = "conformance")]
pub mod conformance;
mod model;
mod ports;
mod reading;
mod writing;

pub use admin::PostAdministration;
pub use model::{Post, PostDetail, PostNeighbours, PostState};
pub use ports::*;
pub use reading::{Posts, READ_POSTS};
pub use writing::{CreatePost, DESTROY_POSTS, DestroyPost, PostWrites, Publication, UpdatePost, WRITE_POSTS};
