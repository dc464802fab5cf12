//! Builds answers to reads: documents and pages, with the time of their last change (contract 01 §7, §8).

use crate::reply::{Document, Reply};
use crate::request::Request;
use crate::route::HandlerResult;
use civitas_kernel::{Page, Result};
use serde::Serialize;
use time::OffsetDateTime;

/// One record as the answer to a read. `Last-Modified` is the later of its last change and the last removal from one of
/// `lists`.
pub(crate) async fn record_reply(
    request: &Request,
    lists: &[&str],
    changed_at: OffsetDateTime,
    data: impl Serialize,
) -> HandlerResult {
    let changed_at = last_modified(request, lists, [changed_at].into_iter()).await?;
    Ok(Reply::for_read(request, &Document { data }, changed_at)?)
}

/// A page as the answer to a read, each record rendered by `view`. `Last-Modified` is the latest of the `changed_at` of
/// its records and the last removal from one of `lists`. `shuffled`: whether the order is random for each request.
pub(crate) async fn page_reply<T, V: Serialize>(
    request: &Request,
    lists: &[&str],
    page: Page<T>,
    shuffled: bool,
    changed_at: impl Fn(&T) -> OffsetDateTime,
    view: impl FnMut(T) -> V,
) -> HandlerResult {
    let changed_at = last_modified(request, lists, page.items.iter().map(changed_at)).await?;
    Ok(Reply::for_list(request, page.map(view), shuffled, changed_at, |meta| meta)?)
}

/// The latest of these times and of the last removal from one of these lists (contract 01 §8).
pub(crate) async fn last_modified(
    request: &Request,
    lists: &[&str],
    times: impl Iterator<Item = OffsetDateTime>,
) -> Result<OffsetDateTime> {
    let lost = request.ports().list_changes().last_removal(request.tenant.id, lists).await?;
    Ok(times.chain(lost).max().unwrap_or(OffsetDateTime::UNIX_EPOCH))
}
