//! Reading and removing jobs.

use crate::{JOB_FIELDS, JobAnswer, JobOwner, JobStore, JobSummary};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{Access, Ctx, Error, JobId, OrganizationId, Page, PageRequest, Result};

/// The rights to list and remove jobs.
pub const LIST_JOBS: Access = Access::ANY_TOKEN;

/// Reads and removes jobs.
pub struct Jobs<'a> {
    /// The store of jobs.
    pub store: &'a dyn JobStore,
}

impl Jobs<'_> {
    /// The job. No right is required except its id.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn find(&self, organization: OrganizationId, id: JobId) -> Result<JobAnswer> {
        self.store.find(organization, id).await?.ok_or(Error::NotFound)
    }

    /// The jobs of the caller's client and user.
    ///
    /// # Errors
    /// `Unknown filter`, `Invalid value for filter`.
    pub async fn list(&self, ctx: &Ctx, filter: &RawFilter, page: PageRequest) -> Result<Page<JobSummary>> {
        ctx.require(&LIST_JOBS)?;
        let filters = read_filters(JOB_FIELDS, filter)?;
        self.store.list(ctx.organization, JobOwner::of_caller(ctx), &filters, page).await
    }

    /// Removes a job of the caller's client and user. A pending one never runs; one that is being processed still
    /// takes effect.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, ctx: &Ctx, id: JobId) -> Result<()> {
        ctx.require(&LIST_JOBS)?;
        let removed = self.store.remove(ctx.organization, JobOwner::of_caller(ctx), id).await?;
        if removed { Ok(()) } else { Err(Error::NotFound) }
    }
}
