//! `page`, `budget`, `result`, `debate`: entries that a component only lists and counts (contract 05 §3.4).

use super::{Import, Imported, Moment, OrganizationKind, PAGE, RecordKind, Rows, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::records::Records;
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
impl OrganizationKind for Entries {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Entry> {
        ports.entries()
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<EntryId>) -> Rows<Self> {
        ports.entries().page_of_kind_after(of, self.0, after, PAGE).await
    }
}

#[async_trait]
impl RecordKind for Entries {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &EntryFields) -> Imported<Entry> {
        let (manifest, plural) = (self.0.manifest(), self.names().1);
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, plural).await?;
        Ok(Entry::new(component, required("title", &fields.title)?, import.context.options.now))
    }
}
