//! Creating, changing and deleting attachments (contract 07 B.5, B.7).

use crate::AttachmentDetail;
use crate::checks::{AttachmentPorts, Terms};
use crate::commands::{
    AttachFile, DESTROY_ATTACHMENTS, DestroyAttachment, UpdateAttachment, WRITE_ATTACHMENTS,
};
use crate::reading::reader;
use async_trait::async_trait;
use civitas_kernel::{Ctx, Error, Handle, Result};

/// Writes attachments.
pub struct AttachmentWrites<'a>(pub AttachmentPorts<'a>);

#[async_trait]
impl Handle<AttachFile> for AttachmentWrites<'_> {
    async fn handle(&self, ctx: &Ctx, command: AttachFile) -> Result<AttachmentDetail> {
        let (attachment, found) = self.0.check_new(ctx, command, true).await?;
        self.0.add(ctx.organization, attachment, found).await
    }
}

#[async_trait]
impl Handle<UpdateAttachment> for AttachmentWrites<'_> {
    async fn handle(&self, ctx: &Ctx, command: UpdateAttachment) -> Result<AttachmentDetail> {
        ctx.require(&WRITE_ATTACHMENTS)?;
        let (ports, UpdateAttachment { id, edit }) = (&self.0, command);
        let found = ports.store.find_visible(reader(ctx), id).await?.ok_or(Error::NotFound)?;
        let change = ports.change(Terms::of(ctx), id, edit).await?;
        Ok(AttachmentDetail { attachment: change.after, ..found })
    }
}

#[async_trait]
impl Handle<DestroyAttachment> for AttachmentWrites<'_> {
    async fn handle(&self, ctx: &Ctx, DestroyAttachment { id }: DestroyAttachment) -> Result<()> {
        ctx.require(&DESTROY_ATTACHMENTS)?;
        self.0.store.find_visible(reader(ctx), id).await?.ok_or(Error::NotFound)?;
        self.0.store.remove(ctx.organization, id).await
    }
}

#[cfg(test)]
mod tests;
