//! The files of answers: attachments whose record is an answer.

use crate::columns;
use crate::schema::{attachments, files};
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_attachments::{AnswerUploads, AttachmentStore, UploadContext};
use civitas_kernel::{AnswerId, ClientId, Error, OrganizationId, Result, clock};
use civitas_organizations::OrganizationStore;
use civitas_surveys::{AnswerFile, AnswerFiles};
use diesel::prelude::*;

impl Session {
    fn answer_uploads(&self) -> AnswerUploads<'_> {
        AnswerUploads { store: self, files: self, uploads: self }
    }
}

#[async_trait]
impl AnswerFiles for Session {
    async fn list_unusable_ids(
        &self,
        organization: OrganizationId,
        client: ClientId,
        signed_ids: &[String],
    ) -> Result<Vec<String>> {
        let sender = UploadContext { organization, client, now: clock::now() };
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
        let sender = UploadContext { organization, client, now: clock::now() };
        let tenant = self.tenant(organization).await?.ok_or(Error::NotFound)?;
        let mut attached = Vec::new();
        for signed in signed_ids {
            let id = self.answer_uploads().attach(sender, answer.0, tenant.default_locale, signed).await?;
            attached.push(id.0);
        }
        Ok(attached)
    }

    async fn stored(&self, organization: OrganizationId, named: &[i64]) -> Result<Vec<AnswerFile>> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<(i64, String, String, i64)> = attachments::table
            .inner_join(files::table)
            .filter(attachments::organization_id.eq(organization.0))
            .filter(attachments::answer_id.is_not_null())
            .filter(columns::any_of(attachments::id.nullable(), named))
            .order(attachments::id)
            .select((attachments::id, files::key, files::filename, files::byte_size))
            .rows_from(self.read())
            .await?;
        let file =
            |(attachment, key, filename, byte_size)| AnswerFile { attachment, key, filename, byte_size };
        Ok(rows.into_iter().map(file).collect())
    }

    async fn detach(&self, organization: OrganizationId, answers: &[AnswerId]) -> Result<()> {
        let answers: Vec<i64> = answers.iter().map(|id| id.0).collect();
        self.remove_of_answers(organization, &answers).await
    }
}
