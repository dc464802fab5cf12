//! The files of answers.
//!
//! To be replaced by an implementation over the attachments: there are no uploads yet, so no signed id can be used.

use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{AnswerId, ClientId, Error, OrganizationId, Result};
use civitas_surveys::AnswerFiles;

#[async_trait]
impl AnswerFiles for Session {
    async fn unusable(&self, _: OrganizationId, _: ClientId, signed_ids: &[String]) -> Result<Vec<String>> {
        Ok(signed_ids.to_vec())
    }

    async fn attach(&self, _: OrganizationId, _: ClientId, _: AnswerId, _: &[String]) -> Result<Vec<i64>> {
        Err(Error::rejected("signed id is invalid"))
    }

    async fn detach(&self, _: OrganizationId, _: &[AnswerId]) -> Result<()> {
        Ok(())
    }
}
