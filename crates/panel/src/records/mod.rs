//! Creates and changes records ([`save()`]), and serves the pages of records that belong to a component: list, form, actions. A
//! kind of record with such pages implements [`RecordPages`]; its routes name the functions of these modules:
//! `rows::list::<Meeting>`, `form::update::<Meeting>`, `actions::confirm::<Meeting>`.

pub(crate) mod actions;
mod component_choice;
mod fields;
pub(crate) mod form;
pub(crate) mod rows;
mod save;

pub(crate) use actions::{RecordAction, publication_action};
pub(crate) use component_choice::{ComponentChoice, chosen_component_id};
pub(crate) use fields::{FormInput, FormView, TextField};
pub(crate) use rows::RowContext;
pub(crate) use save::{EditableRecord, Saved, Target, change, create, field_name, save, with_changes};

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::pages::content::organization::{LIST, head, open_organization};
use crate::parts::{Cell, Head, Section};
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{ComponentId, Error, OrganizationId, Page, PageRequest, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Component, ComponentKind};
use time::OffsetDateTime;

/// A kind of record with pages. Its texts begin with [`RecordFields::NAME`](civitas_kernel::records::RecordFields::NAME):
/// `meeting-new`, `meeting-save`, `meeting-publish-done`; those of its list with [`Self::PATH`]: `meetings-lede`.
pub(crate) trait RecordPages: EditableRecord {
    /// The last part of the address of the list: `meetings`.
    const PATH: &'static str;
    /// The parameter of the path with the id of a record: `mid`.
    const PARAM: &'static str;
    /// The components it belongs to.
    const COMPONENT_KIND: ComponentKind;
    /// The actions of the audit trail.
    const AUDIT_ACTIONS: AuditActions;
    /// The text after the creation, besides that it is created.
    const AFTER_CREATION: Option<&'static str>;
    /// What can be done with a record, in the order of the page.
    const ACTIONS: &'static [RecordAction<Self>];
    /// The columns of the list ([`AdminRequest::columns`]).
    const COLUMNS: &'static str;
    /// The position of the column that the list is sorted by.
    const SORTED: usize;
    /// The id with this number.
    const ID: fn(i64) -> Self::Id;
    /// The component of a record.
    const COMPONENT: fn(&Self) -> ComponentId;
    /// The title of a record.
    const TITLE: fn(&Self) -> &Translated;
    /// A record as its list reads it.
    type Summary;

    /// A new record as its form shows it first.
    fn blank(component: ComponentId, now: OffsetDateTime) -> Self;

    /// Declares the filters of the list, and reads one page of it.
    async fn search(
        list: &mut List<'_>,
        components: &ComponentChoice,
        organization: OrganizationId,
        request: PageRequest,
    ) -> Result<Page<Self::Summary>>;

    /// The rows of a page of the list.
    async fn rows(context: &RowContext<'_>, summaries: &[Self::Summary]) -> Result<Vec<Vec<Cell>>>;

    /// Writes what was typed into the record.
    fn read_form(&mut self, input: &mut FormInput<'_>);

    /// The sections of its form.
    fn sections(&self, form: &FormView<'_>) -> Vec<Section>;

    /// Adds the sentence, the badges and the links of its page to the head.
    async fn complete_head(req: &AdminRequest, opened: &OpenedRecord<Self>, head: Head) -> Result<Head>;

    /// Further effects of an action, for its confirmation page.
    fn more_effects(&self, _req: &AdminRequest, _action: &str) -> Vec<String> {
        Vec::new()
    }
}

/// The actions of the audit trail on a kind of record.
pub(crate) struct AuditActions {
    pub(crate) created: Action,
    pub(crate) updated: Action,
    pub(crate) deleted: Action,
}

/// A record of the path, with its organization.
pub(crate) struct OpenedRecord<E: Entity> {
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: Organization,
    pub(crate) id: E::Id,
    pub(crate) record: E,
    pub(crate) component: Component,
}

impl<E: RecordPages> OpenedRecord<E> {
    /// The record of the path; neither it nor its component is deleted.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let (id, store) = ((E::ID)(req.path_id(E::PARAM)?), req.store());
        let found = E::admin(store, &organization).records().find(organization_id, id).await?;
        let record = found.filter(|record| !record.is_deleted()).ok_or(Error::NotFound)?;
        let component = store.components().find(organization_id, (E::COMPONENT)(&record)).await?;
        let component = component.filter(|found| found.deleted_at.is_none()).ok_or(Error::NotFound)?;
        Ok(Self { organization_id, organization, id, record, component })
    }

    /// The record, for a save.
    pub(crate) fn target(&self) -> Target<'_, E> {
        Target { organization_id: self.organization_id, organization: &self.organization, id: self.id }
    }

    /// The address of the record.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path::<E>(self.organization_id), self.id)
    }

    /// The title of the record.
    pub(crate) fn title(&self, req: &AdminRequest) -> String {
        title(req, (E::TITLE)(&self.record))
    }

    /// The head of a page below the list.
    fn list_subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        list_subpage_head::<E>(req, self.organization_id, &self.organization, title)
    }

    /// The head of a page below the page of the record.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        self.list_subpage_head(req, title).crumb(self.title(req), format!("{}/edit", self.path()))
    }
}

/// The address of the list.
fn list_path<E: RecordPages>(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/{}", E::PATH)
}

/// The head of a page below the list.
fn list_subpage_head<E: RecordPages>(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    title: String,
) -> Head {
    head(req, id, organization, title).crumb(req.tr(&format!("nav-{}", E::PATH)), list_path::<E>(id))
}
