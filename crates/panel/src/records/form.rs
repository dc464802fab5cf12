//! The form of a record: a new one, and a change of one.

use super::{
    Components, FormInput, FormView, OpenedRecord, RecordPages, Saved, acts, below, change, components,
    list_path, save,
};
use crate::notice::Notice;
use crate::pages::content::{in_its_zone, languages, title};
use crate::parts::{Form, Html, Problem};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Error, OrganizationId, Result};
use civitas_organizations::Organization;
use civitas_spaces::component_for_record;

/// The form with what was typed. `component`: the field for the component of a new record.
fn form<'a, E: RecordPages>(
    visit: &'a Visit,
    home: &Organization,
    (record, problems): (&E, &[Problem]),
    (action, save): (String, &str),
    component: Option<Html>,
) -> Form<'a> {
    let locales = languages(home, &record.texts());
    let is_new = component.is_some();
    let view = FormView { visit, home, name: E::NAME, locales: &locales, problems, is_new };
    let mut sections = record.sections(&view);
    if let (Some(first), Some(component)) = (sections.first_mut(), component) {
        first.fields.insert(0, component);
    }
    let form = Form::new(&visit.words, action, visit.token(), &format!("{}-{save}", E::NAME));
    sections.into_iter().fold(form, Form::section)
}

/// The name of the field for the component of a new record.
fn component_name<E: RecordPages>() -> String {
    format!("{}[component]", E::NAME)
}

/// A new record as the form shows it first.
fn blank<E: RecordPages>(visit: &Visit) -> E {
    E::blank(components::component(visit, &component_name::<E>()), visit.now)
}

/// Writes what was typed into a record, and returns what cannot be read.
fn read<E: RecordPages>(visit: &Visit, home: &Organization, record: &mut E, is_new: bool) -> Vec<Problem> {
    let locales = languages(home, &record.texts());
    let mut input = FormInput::new(visit, E::NAME, &locales);
    input.is_new = is_new;
    record.read(&mut input);
    input.into_problems()
}

/// What was done with the record of this title. The key of its text begins with the name of the kind.
fn done<E: RecordPages>(visit: &Visit, key: &str, record: &E) -> Notice {
    let name = title(visit, record.title());
    Notice::good(visit.tell(&format!("{}-{key}", E::NAME), &[("title", name.into())]))
}

/// `GET .../new`
pub(crate) async fn new<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let visit = &*visit;
    show_new::<E>(visit, id, &home, &blank(visit), Vec::new()).await
}

async fn show_new<E: RecordPages>(
    visit: &Visit,
    id: OrganizationId,
    home: &Organization,
    record: &E,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let components = Components::load(visit, id, E::COMPONENTS).await?;
    let component = components.field(visit, &component_name::<E>(), &problems);
    let path = list_path::<E>(id);
    let action = (path.clone(), "create");
    let form = form(visit, home, (record, &problems), action, Some(component)).cancel(path);
    let head = below::<E>(visit, id, home, visit.say(&format!("{}-new", E::NAME)));
    let head = head.lede(visit.say(&format!("{}-new-lede", E::NAME)));
    visit.form_page(head, form.html(), problems).await
}

/// `POST` to the list.
pub(crate) async fn create<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let visit = &*visit;
    let mut record = blank::<E>(visit);
    let problems = read(visit, &home, &mut record, true);
    if !problems.is_empty() {
        return show_new(visit, id, &home, &record, problems).await;
    }
    let created = save::create(visit, id, &home, (&record, E::ACTIONS[0]), async |ports| {
        component_for_record(ports.components(), id, record.component(), E::COMPONENTS).await.map(drop)
    });
    let problems = match created.await {
        Ok(own) => {
            let next = E::AFTER_CREATION.map(|next| visit.say(next)).unwrap_or_default();
            let notice = done(visit, "created", &record).text(next);
            return visit.redirect(format!("{}/{own}/edit", list_path::<E>(id)), notice).await;
        }
        // The component does not exist, or has no records of this kind.
        Err(Error::NotFound) => vec![Problem::new(component_name::<E>(), visit.say("problem-choose"))],
        Err(fault) => E::problems(visit, &home, fault)?,
    };
    show_new(visit, id, &home, &record, problems).await
}

/// `GET .../edit`
pub(crate) async fn edit<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<E>::of_path(visit).await?;
    show_edit(visit, &own, &own.record, Vec::new()).await
}

/// The page of a record: its form and its acts.
async fn show_edit<E: RecordPages>(
    visit: &Visit,
    own: &OpenedRecord<E>,
    record: &E,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let form = form(visit, &own.home, (record, &problems), (own.path(), "save"), None)
        .method("put")
        .hidden("revision", visit.revision(own.record.revision()))
        .cancel(list_path::<E>(own.organization));
    let head = E::complete_head(visit, own, own.below(visit, own.title(visit))).await?;
    visit.form_page(head, Html::join([form.html(), acts::of_record(visit, own)]), problems).await
}

/// `PUT` to the record.
pub(crate) async fn update<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<E>::of_path(visit).await?;
    let visit = &*visit;
    let saved = save(visit, own.target(), E::ACTIONS[1], |record| read(visit, &own.home, record, false));
    match saved.await? {
        Saved::Stored(record) => {
            visit.redirect(format!("{}/edit", own.path()), done(visit, "saved", &record)).await
        }
        Saved::Refused(record, problems) => show_edit(visit, &own, &record, problems).await,
    }
}

/// `POST .../{act}`: an act at once. Where it is refused, the page of the record says why.
pub(crate) async fn act<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<E>::of_path(visit).await?;
    let visit = &*visit;
    let act = acts::of_path::<E>(visit)?;
    let edit = |record: &mut E| (act.edit)(record, visit.now);
    match change(visit, own.target(), E::ACTIONS[1], edit).await {
        Ok(record) => {
            let key = format!("{}-done", act.name);
            let undo = visit.say(&format!("{}-{key}-undo", E::NAME));
            let notice = done(visit, &key, &record).text(undo);
            visit.redirect(format!("{}/edit", own.path()), notice).await
        }
        Err(fault) => {
            let problems = E::problems(visit, &own.home, fault)?;
            show_edit(visit, &own, &own.record, problems).await
        }
    }
}
