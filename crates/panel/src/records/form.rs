//! The form of a record: a new one, and a change of one.

use super::actions::moderation;
use super::{
    ComponentChoice, FormInput, FormView, OpenedRecord, RecordAction, RecordPages, Saved, change,
    chosen_component_id, list_path, list_subpage_head, save,
};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::pages::content::organization::open_organization;
use crate::parts::{Field, FormError, FormErrors, Html, Section};
use crate::reply::Reply;
use crate::translated::{form_languages, title};
use civitas_kernel::{ComponentId, Error, OrganizationId, Result};
use civitas_organizations::Organization;
use civitas_spaces::component_for_record;

/// The sections of the form with what was typed.
fn sections<E: RecordPages>(
    req: &AdminRequest,
    organization: &Organization,
    record: &E,
    problems: &[FormError],
    is_new: bool,
) -> Vec<Section> {
    let locales = form_languages(organization, &record.texts());
    record.sections(&FormView { req, organization, name: E::NAME, locales: &locales, problems, is_new })
}

/// The name of the field for the component of a new record.
fn component_name<E: RecordPages>() -> String {
    format!("{}[component]", E::NAME)
}

/// A new record as the form shows it first. No component has the id 0.
fn blank<E: RecordPages>(req: &AdminRequest) -> E {
    let component = chosen_component_id(req, &component_name::<E>()).unwrap_or(ComponentId(0));
    E::blank(component, req.now)
}

/// Writes what was typed into a record, and returns what cannot be read.
fn read_form<E: RecordPages>(
    req: &AdminRequest,
    organization: &Organization,
    record: &mut E,
    is_new: bool,
) -> FormErrors {
    let locales = form_languages(organization, &record.texts());
    let mut input = FormInput::new(req, E::NAME, &locales);
    input.is_new = is_new;
    record.read_form(&mut input);
    input.into_problems()
}

/// What was done with the record of this title. The key of its text begins with the name of the kind.
fn success_notice<E: RecordPages>(req: &AdminRequest, key: &str, record: &E) -> Notice {
    let name = title(req, (E::TITLE)(record));
    Notice::success(req.tr_with(&format!("{}-{key}", E::NAME), "title", name))
}

/// `GET .../new`
pub(crate) async fn new<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    new_page::<E>(req, id, &organization, &blank(req), Vec::new()).await
}

async fn new_page<E: RecordPages>(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    record: &E,
    problems: FormErrors,
) -> Result<Reply> {
    let components = ComponentChoice::load(req, id, E::COMPONENT_KIND).await?;
    let medium = |select: Field| select.class("medium");
    let component = components.field(req, &component_name::<E>(), "publication-choose", medium);
    let component = component.check(&problems).html(&req.translator);
    let path = list_path::<E>(id);
    let mut sections = sections(req, organization, record, &problems, true);
    if let Some(first) = sections.first_mut() {
        first.fields.insert(0, component);
    }
    let form = req.build_form(&path, &format!("{}-create", E::NAME)).sections(sections).cancel(path);
    let head = list_subpage_head::<E>(req, id, organization, req.tr(&format!("{}-new", E::NAME)));
    let head = head.lede(req.tr(&format!("{}-new-lede", E::NAME)));
    req.form_page(head, form.html(), problems).await
}

/// `POST` to the list.
pub(crate) async fn create<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let mut record = blank::<E>(req);
    let problems = read_form(req, &organization, &mut record, true);
    if !problems.is_empty() {
        return new_page(req, id, &organization, &record, problems).await;
    }
    let created = save::create(req, id, &organization, &record, E::AUDIT_ACTIONS.created, async |ports| {
        component_for_record(ports.components(), id, (E::COMPONENT)(&record), E::COMPONENT_KIND)
            .await
            .map(drop)
    });
    let problems = match created.await {
        Ok(record_id) => {
            let next = E::AFTER_CREATION.map(|next| req.tr(next)).unwrap_or_default();
            let notice = success_notice(req, "created", &record).text(next);
            return req.redirect(format!("{}/{record_id}/edit", list_path::<E>(id)), notice).await;
        }
        // The component does not exist, or has no records of this kind.
        Err(Error::NotFound) => vec![FormError::new(component_name::<E>(), req.tr("problem-choose"))],
        Err(error) => E::form_errors(req, &organization, error)?,
    };
    new_page(req, id, &organization, &record, problems).await
}

/// `GET .../edit`
pub(crate) async fn edit<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    edit_page(req, &opened, &opened.record, Vec::new()).await
}

/// The page of a record: its form and its actions.
async fn edit_page<E: RecordPages>(
    req: &AdminRequest,
    opened: &OpenedRecord<E>,
    record: &E,
    problems: FormErrors,
) -> Result<Reply> {
    let form = req
        .build_form(opened.path(), &format!("{}-save", E::NAME))
        .put(req.revision(opened.record.revision()))
        .sections(sections(req, &opened.organization, record, &problems, false))
        .cancel(list_path::<E>(opened.organization_id));
    let head = E::complete_head(req, opened, opened.list_subpage_head(req, opened.title(req))).await?;
    let actions = moderation(req, E::NAME, E::ACTIONS, &opened.record, &opened.path());
    req.form_page(head, Html::join([form.html(), actions]), problems).await
}

/// `PUT` to the record.
pub(crate) async fn update<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let saved = save(req, opened.target(), E::AUDIT_ACTIONS.updated, |record| {
        read_form(req, &opened.organization, record, false)
    });
    match saved.await? {
        Saved::Stored(record) => {
            req.redirect(format!("{}/edit", opened.path()), success_notice(req, "saved", &record)).await
        }
        Saved::Refused(record, problems) => edit_page(req, &opened, &record, problems).await,
    }
}

/// `POST .../{action}`: an action at once. Where it is refused, the page of the record says why.
pub(crate) async fn perform<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let action = RecordAction::from_path(req, E::ACTIONS)?;
    let edit = |record: &mut E| (action.edit)(record, req.now);
    match change(req, opened.target(), E::AUDIT_ACTIONS.updated, edit).await {
        Ok(record) => {
            let notice = action.notice(req, E::NAME, title(req, (E::TITLE)(&record)));
            req.redirect(format!("{}/edit", opened.path()), notice).await
        }
        Err(error) => {
            let problems = E::form_errors(req, &opened.organization, error)?;
            edit_page(req, &opened, &opened.record, problems).await
        }
    }
}
