//! The files of answers: attachments whose record is an answer.

use crate::session::Session;
use async_trait::async_trait;
use civitas_attachments::{AnswerUploads, AttachmentStore, Sender};
use civitas_kernel::{AnswerId, ClientId, Error, OrganizationId, Result, clock};
use civitas_organizations::OrganizationStore;
use civitas_surveys::AnswerFiles;

impl Session {
    fn answer_uploads(&self) -> AnswerUploads<'_> {
        AnswerUploads { store: self, files: self, uploads: self }
    }
}

#[async_trait]
impl AnswerFiles for Session {
    async fn unusable(
        &self,
        organization: OrganizationId,
        client: ClientId,
        signed_ids: &[String],
    ) -> Result<Vec<String>> {
        let sender = Sender { organization, client, now: clock::now() };
        let mut unusable = Vec::new();
        for signed in signed_ids {
            if !self.answer_uploads().is_usable(sender, signed).await? {
                unusable.push(signed.clone());
            }
        }
        Ok(unusable)
    }

    async fn attach(
        &self,
        organization: OrganizationId,
        client: ClientId,
        answer: AnswerId,
        signed_ids: &[String],
    ) -> Result<Vec<i64>> {
        let sender = Sender { organization, client, now: clock::now() };
        let tenant = self.tenant(organization).await?.ok_or(Error::NotFound)?;
        let mut attached = Vec::new();
        for signed in signed_ids {
            let id = self.answer_uploads().attach(sender, answer.0, tenant.default_locale, signed).await?;
            attached.push(id.0);
        }
        Ok(attached)
    }

    async fn detach(&self, organization: OrganizationId, answers: &[AnswerId]) -> Result<()> {
        let answers: Vec<i64> = answers.iter().map(|id| id.0).collect();
        self.remove_of_answers(organization, &answers).await
    }
}
