//! The one save of records, and the pages of records that belong to a component: list, form, acts. A kind of record with
//! such pages gives [`RecordPages`]; its routes name the functions of these modules: `list::show::<Meeting>`,
//! `form::update::<Meeting>`, `acts::ask::<Meeting>`.

pub(crate) mod acts;
mod components;
mod fields;
pub(crate) mod form;
pub(crate) mod list;
mod save;

pub(crate) use acts::RecordAct;
pub(crate) use components::Components;
pub(crate) use fields::{FormInput, FormView, TextField};
pub(crate) use list::{ListFilters, PER_PAGE, ShownList};
pub(crate) use save::{EditableRecord, Saved, Target, change, create, save};

use crate::pages::content::{in_its_zone, title};
use crate::pages::organization::{LIST, head};
use crate::parts::{Cell, Head, Section};
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{ComponentId, Error, OrganizationId, Page, PageRequest, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Component, ComponentManifest};
use time::OffsetDateTime;

/// A kind of record with pages. Its texts begin with [`Described::NAME`](civitas_kernel::records::Described::NAME):
/// `meeting-new`, `meeting-save`, `meeting-publish-done`; those of its list with [`Self::PATH`]: `meetings-lede`.
pub(crate) trait RecordPages: EditableRecord {
    /// The last part of the address of the list: `meetings`.
    const PATH: &'static str;
    /// The parameter of the path with the id of a record: `mid`.
    const PARAM: &'static str;
    /// The components it belongs to.
    const COMPONENTS: ComponentManifest;
    /// The actions of the audit trail: created, updated, deleted.
    const ACTIONS: [Action; 3];
    /// The text after the creation, besides that it is created.
    const AFTER_CREATION: Option<&'static str>;
    /// What can be done with a record, in the order of the page.
    const ACTS: &'static [RecordAct<Self>];
    /// The columns of the list, without that of the acts: label, and whether it is left out on a narrow page.
    const COLUMNS: &'static [(&'static str, bool)];
    /// The place of the column that the list is sorted by.
    const SORTED: usize;
    /// A record as its list reads it.
    type Summary;

    /// The id with this number.
    fn id(number: i64) -> Self::Id;

    /// A new record as its form shows it first.
    fn blank(component: ComponentId, now: OffsetDateTime) -> Self;

    /// The component it belongs to.
    fn component(&self) -> ComponentId;

    /// Its title.
    fn title(&self) -> &Translated;

    /// Declares the filters of the list, and reads one page of it.
    async fn search(
        filters: &mut ListFilters<'_>,
        components: &Components,
        organization: OrganizationId,
        page: PageRequest,
    ) -> Result<Page<Self::Summary>>;

    /// The rows of a page of the list.
    async fn rows(list: &ShownList<'_>, summaries: &[Self::Summary]) -> Result<Vec<Vec<Cell>>>;

    /// Writes what was typed into the record.
    fn read(&mut self, input: &mut FormInput<'_>);

    /// The sections of its form.
    fn sections(&self, form: &FormView<'_>) -> Vec<Section>;

    /// Adds the sentence, the badges and the links of its page to the head.
    async fn complete_head(visit: &Visit, own: &OpenedRecord<Self>, head: Head) -> Result<Head>;

    /// What an act that asks first ends, besides the effects that it names.
    fn more_effects(&self, _visit: &Visit, _act: &str) -> Vec<String> {
        Vec::new()
    }
}

/// A record of the path, with its organization.
pub(crate) struct OpenedRecord<E: Entity> {
    pub(crate) organization: OrganizationId,
    /// The organization's record.
    pub(crate) home: Organization,
    pub(crate) id: E::Id,
    pub(crate) record: E,
    pub(crate) component: Component,
}

impl<E: RecordPages> OpenedRecord<E> {
    /// The record of the path; neither it nor its component is deleted.
    pub(crate) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (organization, home) = in_its_zone(visit).await?;
        let (id, store) = (E::id(visit.id(E::PARAM)?), visit.panel.store());
        let found = E::admin(store, &home).records().find(organization, id).await?;
        let record = found.filter(|record| !record.is_deleted()).ok_or(Error::NotFound)?;
        let component = store.components().find(organization, record.component()).await?;
        let component = component.filter(|found| found.deleted_at.is_none()).ok_or(Error::NotFound)?;
        Ok(Self { organization, home, id, record, component })
    }

    /// The record, for a save.
    pub(crate) fn target(&self) -> Target<'_, E> {
        Target { organization: self.organization, home: &self.home, id: self.id }
    }

    /// The address of the record.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path::<E>(self.organization), self.id)
    }

    /// Its title.
    pub(crate) fn title(&self, visit: &Visit) -> String {
        title(visit, self.record.title())
    }

    /// The head of a page below the list.
    fn below(&self, visit: &Visit, title: String) -> Head {
        below::<E>(visit, self.organization, &self.home, title)
    }

    /// The head of a page below the page of the record.
    pub(crate) fn under(&self, visit: &Visit, title: String) -> Head {
        self.below(visit, title).crumb(self.title(visit), format!("{}/edit", self.path()))
    }
}

/// The address of the list.
fn list_path<E: RecordPages>(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/{}", E::PATH)
}

/// The head of a page below the list.
fn below<E: RecordPages>(visit: &Visit, id: OrganizationId, home: &Organization, title: String) -> Head {
    head(visit, id, home, title).crumb(visit.say(&format!("nav-{}", E::PATH)), list_path::<E>(id))
}
