//! Reading and removing jobs.

use crate::{JOB_FIELDS, JobOwner, JobReport, JobStore, JobSummary};
use civitas_kernel::filter::{RawFilter, read};
use civitas_kernel::{Access, Ctx, Error, JobId, OrganizationId, Page, PageRequest, Result};

/// What listing and removing jobs asks.
pub const LIST_JOBS: Access = Access::ANY_TOKEN;

/// Reading and removing jobs.
pub struct Jobs<'a> {
    /// Where they are kept.
    pub store: &'a dyn JobStore,
}

impl Jobs<'_> {
    /// The job. Nobody is asked for a right: knowing the id is one.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn find(&self, organization: OrganizationId, id: JobId) -> Result<JobReport> {
        self.store.find(organization, id).await?.ok_or(Error::NotFound)
    }

    /// The jobs of the caller's client and user.
    ///
    /// # Errors
    /// `Unknown filter`, `Invalid value for filter`.
    pub async fn list(&self, ctx: &Ctx, filter: &RawFilter, page: PageRequest) -> Result<Page<JobSummary>> {
        ctx.require(&LIST_JOBS)?;
        self.store.list(ctx.organization, owner(ctx), &read(JOB_FIELDS, filter)?, page).await
    }

    /// Removes a job of the caller's client and user. A pending one never runs; one that is being processed still
    /// takes effect.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, ctx: &Ctx, id: JobId) -> Result<()> {
        ctx.require(&LIST_JOBS)?;
        let removed = self.store.remove(ctx.organization, owner(ctx), id).await?;
        if removed { Ok(()) } else { Err(Error::NotFound) }
    }
}

fn owner(ctx: &Ctx) -> JobOwner {
    JobOwner { client: ctx.caller.client, user: ctx.participant() }
}
