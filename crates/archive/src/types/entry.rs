//! `page`, `budget`, `result`, `debate`: entries that a component only lists and counts (contract 05 §3.4).

use super::{Import, Imported, Moment, OrganizationKind, PAGE, RecordKind, Rows, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::ComponentId;
use civitas_kernel::records::Records;
use civitas_spaces::{Entry, EntryKind, EntryRef};

/// The entries of one kind.
pub(super) struct Entries(pub(super) EntryKind);

members! { Entries, kind.0.as_str(), OrganizationId, EntryFields, |kind, entry: Entry| {
    component: parent(ComponentId),
    title: required(Translated),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

#[async_trait]
impl OrganizationKind for Entries {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Entry> {
        ports.entries()
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<EntryRef>) -> Rows<Self> {
        ports.entries().page_of_kind_after(of, self.0, after.map(|after| after.id), PAGE).await
    }
}

#[async_trait]
impl RecordKind for Entries {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &EntryFields) -> Imported<Entry> {
        let (kind, plural) = (self.0, format!("{}s", self.0.as_str()));
        let component = import.component(&fields.component, kind.manifest(), &plural).await?;
        Ok(Entry::new(kind, component, required("title", &fields.title)?, import.context.options.now))
    }
}
