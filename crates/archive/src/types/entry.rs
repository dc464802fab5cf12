//! `page`, `budget`, `result`, `debate`: entries that a component only lists and counts (contract 05 §3.4).

use super::{
    Import, ImportResult, OrganizationRecordKind, PAGE, RecordKind, Rows, Timestamp, members, required,
};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::ComponentId;
use civitas_kernel::records::Records;
use civitas_spaces::{ComponentEntry, ComponentEntryKind, ComponentEntryRef};

/// The entries of one kind.
pub(super) struct ComponentEntryRecordType(pub(super) ComponentEntryKind);

members! { ComponentEntryRecordType, kind.0.as_str(), OrganizationId, EntryFields, |kind, entry: ComponentEntry| {
    component: parent(ComponentId),
    title: required(Translated),
    hidden_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

#[async_trait]
impl OrganizationRecordKind for ComponentEntryRecordType {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<ComponentEntry> {
        ports.entries()
    }

    async fn page(
        &mut self,
        ports: &dyn Ports,
        of: OrganizationId,
        after: Option<ComponentEntryRef>,
    ) -> Rows<Self> {
        ports.entries().page_of_kind_after(of, self.0, after.map(|after| after.id), PAGE).await
    }
}

#[async_trait]
impl RecordKind for ComponentEntryRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &EntryFields,
    ) -> ImportResult<ComponentEntry> {
        let (kind, plural) = (self.0, format!("{}s", self.0.as_str()));
        let component = import.component(&fields.component, kind.component_kind(), &plural).await?;
        Ok(ComponentEntry::new(
            kind,
            component,
            required("title", &fields.title)?,
            import.context.options.now,
        ))
    }
}
