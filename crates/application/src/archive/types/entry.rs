//! `page`, `budget`, `result`, `debate`: entries that a component only lists and counts (contract 05 §3.4).

use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::{ComponentId, EntryId};
use civitas_spaces::{Entry, EntryKind};

/// The entries of one kind.
pub(super) struct Entries(pub(super) EntryKind);

members! { Entries, kind.names().0, OrganizationId, EntryFields, |kind, entry: Entry| {
    component: parent(ComponentId),
    title: required(Translated),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
}}

impl Entries {
    /// The record type, and the plural in errors.
    fn names(&self) -> (&'static str, &'static str) {
        match self.0 {
            EntryKind::Page => ("page", "pages"),
            EntryKind::Budget => ("budget", "budgets"),
            EntryKind::Result => ("result", "results"),
            EntryKind::Debate => ("debate", "debates"),
        }
    }
}

#[async_trait]
impl RecordKind for Entries {
    type Id = EntryId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: EntryId) -> Result<Option<Entry>> {
        ports.entries().find(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<EntryId>) -> Rows<Self> {
        ports.entries().after(of, self.0, after, PAGE).await
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        fields: &EntryFields,
    ) -> Result<Entry, RecordError> {
        let (manifest, plural) = (self.0.manifest(), self.names().1);
        let component = context.refs.component_for(of, &fields.component, manifest, plural).await?;
        Ok(Entry::new(component, required("title", &fields.title)?, context.options.now))
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        entry: &Entry,
    ) -> Result<EntryId, RecordError> {
        Ok(context.ports.entries().add(of, entry).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (id, _): &Found<Self>,
        mut entry: Entry,
    ) -> Result<(), RecordError> {
        entry.updated_at = context.options.now;
        Ok(context.ports.entries().save(of, *id, &entry).await?)
    }
}
