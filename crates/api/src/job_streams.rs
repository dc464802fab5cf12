//! Limits the streams of jobs: in this process, and of each organization, so that one cannot take all of them.

use civitas_kernel::OrganizationId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most streams at once in this process.
const STREAMS: usize = 1_000;
/// The most streams of an organization at once in this process.
const STREAMS_OF_ORGANIZATION: usize = 200;

/// The number of open streams of each organization.
#[derive(Debug, Default)]
pub(crate) struct JobStreams {
    open: Mutex<HashMap<OrganizationId, usize>>,
}

/// An open stream; counted until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenJobStream {
    streams: Arc<JobStreams>,
    organization: OrganizationId,
}

impl JobStreams {
    /// Counts another stream; `None` when the organization or the process has too many.
    pub(crate) fn try_open(self: &Arc<Self>, organization: OrganizationId) -> Option<OpenJobStream> {
        let mut open = self.open();
        let own = open.get(&organization).copied().unwrap_or_default();
        if own >= STREAMS_OF_ORGANIZATION || open.values().sum::<usize>() >= STREAMS {
            return None;
        }
        open.insert(organization, own + 1);
        Some(OpenJobStream { streams: self.clone(), organization })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenJobStream {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        if let Some(number) = open.get_mut(&self.organization) {
            *number -= 1;
            if *number == 0 {
                open.remove(&self.organization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_has_a_limit_and_each_organization_a_lower_one() {
        let streams = Arc::new(JobStreams::default());
        let mut held: Vec<_> =
            (0..STREAMS_OF_ORGANIZATION).map(|_| streams.try_open(OrganizationId(1)).unwrap()).collect();
        assert!(streams.try_open(OrganizationId(1)).is_none(), "one more of the organization");
        for organization in 2.. {
            let more: Vec<_> =
                (0..100).map_while(|_| streams.try_open(OrganizationId(organization))).collect();
            let is_full = more.is_empty();
            held.extend(more);
            if is_full {
                break;
            }
        }
        assert_eq!(held.len(), STREAMS);
        held.pop();
        assert!(streams.try_open(OrganizationId(2)).is_some(), "an ended stream is free again");
        held.clear();
        assert!(streams.open().is_empty());
    }
}
