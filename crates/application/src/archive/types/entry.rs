//! `page`, `budget`, `result`, `debate`: what a component only names and counts (contract 05 §3.4).

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fixed, maybe, need, set};
use super::super::record::Record;
use super::RecordType;
use super::component::component_for;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{EntryId, Field, OrganizationId, Translated};
use civitas_spaces::{Entry, EntryKind};
use serde::Deserialize;

/// The entries of one kind.
pub(super) struct Entries(pub(super) EntryKind);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EntryRecord {
    component: Field<String>,
    title: Field<Translated>,
    hidden_at: Field<Moment>,
    deleted_at: Field<Moment>,
    created_at: Field<Moment>,
}

impl Entries {
    /// What a component that may hold them is said to hold.
    fn plural(&self) -> &'static str {
        match self.0 {
            EntryKind::Page => "pages",
            EntryKind::Budget => "budgets",
            EntryKind::Result => "results",
            EntryKind::Debate => "debates",
        }
    }

    async fn begin(
        &self,
        said: &EntryRecord,
        import: &mut Import<'_>,
        organization: OrganizationId,
    ) -> Result<Entry, Fault> {
        let (reference, manifest) = (need("component", &said.component)?, self.0.manifest());
        let component = component_for(import, organization, &reference, manifest, self.plural()).await?;
        Ok(Entry::new(component, need("title", &said.title)?, import.options.now))
    }
}

impl EntryRecord {
    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        entry: &mut Entry,
    ) -> Result<(), Fault> {
        if let Some(component) = self.component.as_value() {
            let component = import.refs.component(organization, component).await?;
            fixed("component", &Field::Value(component), &entry.component)?;
        }
        set("title", self.title, &mut entry.title)?;
        maybe(self.hidden_at, &mut entry.hidden_at);
        maybe(self.deleted_at, &mut entry.deleted_at);
        set("created_at", self.created_at, &mut entry.created_at)
    }
}

#[async_trait]
impl RecordType for Entries {
    fn name(&self) -> &'static str {
        match self.0 {
            EntryKind::Page => "page",
            EntryKind::Budget => "budget",
            EntryKind::Result => "result",
            EntryKind::Debate => "debate",
        }
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: EntryRecord = record.members()?;
        let store = import.ports.entries();
        let before = match record.seen_as(EntryId) {
            Some(id) => store.find(organization, id).await?.map(|entry| (id, entry)),
            None => None,
        };
        let mut entry = match &before {
            Some((_, entry)) => entry.clone(),
            None => self.begin(&said, import, organization).await?,
        };
        said.apply(import, organization, &mut entry).await?;
        match before {
            None => Ok(Put::created(store.add(organization, &entry).await?)),
            Some((id, old)) if old == entry => Ok(Put::unchanged(id)),
            Some((id, _)) => {
                entry.updated_at = import.options.now;
                store.save(organization, id, &entry).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.entries().after(organization, self.0, after, PAGE);
        every(page, |id, entry| {
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("component", entry.component.to_string())
                    .with("title", entry.title)
                    .time("hidden_at", entry.hidden_at)
                    .time("deleted_at", entry.deleted_at)
                    .time("created_at", Some(entry.created_at)),
            )
        })
        .await
    }
}
