//! Stores the texts in which words are searched (contract 01 §6.2) of records of before texts were stored, and indexes those of
//! all records: in steps, while nodes serve. An interrupted fill begins again, and finds the first record without texts.

use crate::worker_loop::{is_running, pause};
use crate::{FillPosition, Store};
use civitas_kernel::{OrganizationId, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The pause between two steps that store texts, in which others write.
const BETWEEN: Duration = Duration::from_millis(50);
/// The time after which a server indexes new texts. Until then searches compare them.
const INTERVAL: Duration = Duration::from_secs(10);
/// The organizations that are read together.
const PAGE: i64 = 100;

/// The organizations with records without texts, and the number of these records. One statement counts those of one
/// organization: the rows of all are too many for its time limit.
///
/// # Errors
/// Those of the store.
pub async fn missing_texts(store: &dyn Store) -> Result<Vec<(OrganizationId, i64)>> {
    let (mut missing, mut last) = (Vec::new(), None);
    loop {
        let ids = store.organizations().ids(last, PAGE).await?;
        for id in &ids {
            missing.push((*id, store.missing_texts().count(Some(*id)).await?));
        }
        last = ids.last().copied();
        if last.is_none() {
            missing.retain(|(_, count)| *count > 0);
            return Ok(missing);
        }
    }
}

/// Stores all missing texts, until `stop` is true. Returns their number.
///
/// # Errors
/// Those of the store; the texts of former steps stay.
pub async fn fill_texts(store: &dyn Store, mut stop: watch::Receiver<bool>) -> Result<u64> {
    let mut filled = 0;
    let missing = tokio::select! {
        missing = missing_texts(store) => missing?,
        _ = stop.changed() => return Ok(filled),
    };
    for (organization, _) in missing {
        let mut from = FillPosition::default();
        while is_running(&stop)
            && let Some((next, stored)) = store.missing_texts().fill(organization, from).await?
        {
            from = next;
            filled += stored;
            if stored > 0 {
                pause(BETWEEN, &mut stop).await;
            }
        }
    }
    Ok(filled)
}

/// Indexes all texts, until `stop` is true. Each step is followed by a pause as long as the step, in which others write.
///
/// # Errors
/// Those of the store.
pub async fn index_texts(store: &dyn Store, mut stop: watch::Receiver<bool>) -> Result<()> {
    while is_running(&stop) {
        let begun = Instant::now();
        if store.missing_texts().index().await? == 0 {
            break;
        }
        pause(begun.elapsed(), &mut stop).await;
    }
    Ok(())
}

/// Both for a server: it fills once, after an error again, and indexes new texts every 10 s.
pub async fn run_text_fill(store: Arc<dyn Store>, mut stop: watch::Receiver<bool>) {
    let mut is_filled = false;
    while is_running(&stop) {
        if !is_filled {
            match fill_texts(&*store, stop.clone()).await {
                Ok(_) => is_filled = true,
                Err(error) => {
                    tracing::warn!(%error, "texts of records could not be stored: words are not found in them");
                }
            }
        }
        if let Err(error) = index_texts(&*store, stop.clone()).await {
            tracing::warn!(%error, "texts could not be indexed: searches compare them");
        }
        pause(INTERVAL, &mut stop).await;
    }
}
