//! Deletion of responses.

use crate::{AnswerFiles, ResponseStore};
use civitas_kernel::{AnswerId, OrganizationId, ResponseId, Result};

/// Deletes responses.
pub struct ResponseAdmin<'a> {
    /// The store of responses.
    pub responses: &'a dyn ResponseStore,
    /// The files of answers.
    pub files: &'a dyn AnswerFiles,
}

impl ResponseAdmin<'_> {
    /// Deletes a response with its answers and their files.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn remove(&self, organization: OrganizationId, id: ResponseId) -> Result<()> {
        let answers = self.responses.answer_ids(organization, id).await?;
        let answers: Vec<AnswerId> = answers.into_iter().map(|(_, id)| id).collect();
        self.files.detach(organization, &answers).await?;
        self.responses.remove(organization, id).await
    }
}
