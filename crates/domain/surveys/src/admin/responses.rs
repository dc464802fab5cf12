//! Deletion of responses.

use crate::{AnswerFiles, ResponseStore};
use civitas_kernel::{AnswerId, OrganizationId, ResponseId, Result};

/// Deletes a response with its answers and their files.
///
/// # Errors
/// `NotFound` when there is none.
pub async fn remove_response(
    responses: &dyn ResponseStore,
    files: &dyn AnswerFiles,
    organization: OrganizationId,
    id: ResponseId,
) -> Result<()> {
    let answers = responses.answer_ids(organization, id).await?;
    let answers: Vec<AnswerId> = answers.into_iter().map(|(_, id)| id).collect();
    files.detach(organization, &answers).await?;
    responses.remove(organization, id).await
}
