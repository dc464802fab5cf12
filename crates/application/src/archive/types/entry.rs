//! `page`, `budget`, `result`, `debate`: entries that a component only lists and counts (contract 05 §3.4).

use super::{Found, Import, Imported, Moment, PAGE, RecordKind, Rows, members, required};
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
        ports.entries().page_after(of, self.0, after, PAGE).await
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &EntryFields) -> Imported<Entry> {
        let (manifest, plural) = (self.0.manifest(), self.names().1);
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, plural).await?;
        Ok(Entry::new(component, required("title", &fields.title)?, import.context.options.now))
    }

    async fn add(&mut self, import: &Import<'_, '_, Self>, entry: &Entry) -> Imported<EntryId> {
        Ok(import.context.ports.entries().add(import.owner, entry).await?)
    }

    async fn save(&self, import: &Import<'_, '_, Self>, (id, _): &Found<Self>, mut entry: Entry) -> Imported {
        entry.updated_at = import.context.options.now;
        Ok(import.context.ports.entries().save(import.owner, *id, &entry).await?)
    }
}
