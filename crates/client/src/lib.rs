#![doc = include_str!("../README.md")]

mod answer;
mod cache;
mod client;
mod error;
mod filter;
mod request;
mod session;
mod webhook;

pub use answer::{Document, Job, JobStatus, Page, PageMeta, Record, Response};
pub use client::{Client, ClientBuilder};
pub use error::{ApiError, Error, ErrorDetail, Result};
pub use filter::FilterValue;
pub use futures_util::TryStreamExt;
pub use request::{Direction, Request};
pub use webhook::{TOLERANCE, WebhookError, WebhookEvent, verify_webhook, verify_webhook_at};
