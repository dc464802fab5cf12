//! The form of a record: a new one, and a change of one.

use super::{
    Components, FormInput, FormView, OpenedRecord, RecordPages, Saved, actions, change, components,
    head_below_list, list_path, save,
};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::pages::content::shared::{form_languages, open_organization_in_zone, title};
use crate::parts::{Form, FormError, FormErrors, Html};
use crate::reply::Reply;
use civitas_kernel::{Error, OrganizationId, Result};
use civitas_organizations::Organization;
use civitas_spaces::component_for_record;

/// The form with what was typed. `component`: the field for the component of a new record.
fn form<'a, E: RecordPages>(
    req: &'a AdminRequest,
    organization: &Organization,
    record: &E,
    problems: &[FormError],
    action: String,
    submit_key: &str,
    component: Option<Html>,
) -> Form<'a> {
    let locales = form_languages(organization, &record.texts());
    let is_new = component.is_some();
    let view = FormView { req, organization, name: E::NAME, locales: &locales, problems, is_new };
    let mut sections = record.sections(&view);
    if let (Some(first), Some(component)) = (sections.first_mut(), component) {
        first.fields.insert(0, component);
    }
    let form = Form::new(&req.translator, action, req.token(), &format!("{}-{submit_key}", E::NAME));
    sections.into_iter().fold(form, Form::section)
}

/// The name of the field for the component of a new record.
fn component_name<E: RecordPages>() -> String {
    format!("{}[component]", E::NAME)
}

/// A new record as the form shows it first.
fn blank<E: RecordPages>(req: &AdminRequest) -> E {
    E::blank(components::chosen_component_id(req, &component_name::<E>()), req.now)
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
    let (id, organization) = open_organization_in_zone(req).await?;
    show_new::<E>(req, id, &organization, &blank(req), Vec::new()).await
}

async fn show_new<E: RecordPages>(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    record: &E,
    problems: FormErrors,
) -> Result<Reply> {
    let components = Components::load(req, id, E::COMPONENT_KIND).await?;
    let component = components.field(req, &component_name::<E>(), &problems);
    let path = list_path::<E>(id);
    let form =
        form(req, organization, record, &problems, path.clone(), "create", Some(component)).cancel(path);
    let head = head_below_list::<E>(req, id, organization, req.tr(&format!("{}-new", E::NAME)));
    let head = head.lede(req.tr(&format!("{}-new-lede", E::NAME)));
    req.form_page(head, form.html(), problems).await
}

/// `POST` to the list.
pub(crate) async fn create<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization_in_zone(req).await?;
    let mut record = blank::<E>(req);
    let problems = read_form(req, &organization, &mut record, true);
    if !problems.is_empty() {
        return show_new(req, id, &organization, &record, problems).await;
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
    show_new(req, id, &organization, &record, problems).await
}

/// `GET .../edit`
pub(crate) async fn edit<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    show_edit(req, &opened, &opened.record, Vec::new()).await
}

/// The page of a record: its form and its actions.
async fn show_edit<E: RecordPages>(
    req: &AdminRequest,
    opened: &OpenedRecord<E>,
    record: &E,
    problems: FormErrors,
) -> Result<Reply> {
    let form = form(req, &opened.organization, record, &problems, opened.path(), "save", None)
        .method("put")
        .hidden("revision", req.revision(opened.record.revision()))
        .cancel(list_path::<E>(opened.organization_id));
    let head = E::complete_head(req, opened, opened.head_below_list(req, opened.title(req))).await?;
    req.form_page(head, Html::join([form.html(), actions::moderation_of_record(req, opened)]), problems).await
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
        Saved::Refused(record, problems) => show_edit(req, &opened, &record, problems).await,
    }
}

/// `POST .../{action}`: an action at once. Where it is refused, the page of the record says why.
pub(crate) async fn perform<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let action = actions::action_from_path::<E>(req)?;
    let edit = |record: &mut E| (action.edit)(record, req.now);
    match change(req, opened.target(), E::AUDIT_ACTIONS.updated, edit).await {
        Ok(record) => {
            let key = format!("{}-done", action.name);
            let undo = req.tr(&format!("{}-{key}-undo", E::NAME));
            let notice = success_notice(req, &key, &record).text(undo);
            req.redirect(format!("{}/edit", opened.path()), notice).await
        }
        Err(error) => {
            let problems = E::form_errors(req, &opened.organization, error)?;
            show_edit(req, &opened, &opened.record, problems).await
        }
    }
}
