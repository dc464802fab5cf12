//! Creating, changing and deleting attachments (contract 07 B.5, B.7).

use crate::AttachmentDetail;
use crate::checks::{AttachmentPorts, WriteContext};
use crate::commands::{
    AttachFile, DESTROY_ATTACHMENTS, DestroyAttachment, UpdateAttachment, WRITE_ATTACHMENTS,
};
use crate::reading::reader;
use async_trait::async_trait;
use civitas_kernel::{CommandHandler, Ctx, Error, Result};

#[async_trait]
impl CommandHandler<AttachFile> for AttachmentPorts<'_> {
    async fn handle(&self, ctx: &Ctx, command: AttachFile) -> Result<AttachmentDetail> {
        let (attachment, found) = self.check_new(ctx, command, true).await?;
        self.add(ctx.organization, attachment, found).await
    }
}

#[async_trait]
impl CommandHandler<UpdateAttachment> for AttachmentPorts<'_> {
    async fn handle(&self, ctx: &Ctx, command: UpdateAttachment) -> Result<AttachmentDetail> {
        ctx.require(&WRITE_ATTACHMENTS)?;
        let UpdateAttachment { id, edit } = command;
        let found = self.store.find_visible(reader(ctx), id).await?.ok_or(Error::NotFound)?;
        let change = self.change(WriteContext::new(ctx), id, edit).await?;
        Ok(AttachmentDetail { attachment: change.after, ..found })
    }
}

#[async_trait]
impl CommandHandler<DestroyAttachment> for AttachmentPorts<'_> {
    async fn handle(&self, ctx: &Ctx, DestroyAttachment { id }: DestroyAttachment) -> Result<()> {
        ctx.require(&DESTROY_ATTACHMENTS)?;
        self.store.find_visible(reader(ctx), id).await?.ok_or(Error::NotFound)?;
        self.store.remove(ctx.organization, id).await
    }
}

#[cfg(test)]
mod tests;
