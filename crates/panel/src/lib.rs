//! The administration panel: server-rendered pages under `/system` for system administrators (contract 04). Every page
//! works without scripts. A form calls a use case of a domain crate; pages have no rules of their own.
//!
//! ```text
//! request -> mount (session, token of the form) -> pages (handlers) -> use cases
//!                                                     |
//!                                                  parts (table, form, field, ...) -> layout
//! ```

mod admin_request;
mod assets;
mod error;
mod form;
mod form_tokens;
mod format;
mod instrumentation;
mod list;
mod mount;
mod notice;
mod pages;
mod panel;
mod parts;
mod query;
mod records;
mod reply;
mod request;
mod request_headers;
mod translated;
mod translator;
mod upload;

pub use panel::{Panel, Services, Settings};
