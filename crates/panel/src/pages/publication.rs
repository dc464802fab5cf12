//! The pages of one meeting or post: a new one, its form, its acts, its deletion.

use super::content::{field_of, title, with_changes};
use super::organization::LIST;
use super::publications::{Components, component, head, opened};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Form, Head, Html, Problem, Section, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, RecordAdmin, find_revision_for_update};
use civitas_kernel::{ComponentId, Error, Locale, OrganizationId, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{ComponentManifest, component_for_record};
use std::fmt::Display;
use time::OffsetDateTime;

/// What the pages know of a kind of record.
pub(super) trait Publication: Entity<Id: Display> {
    /// Its name in fields and in the audit trail, with which the names of its texts begin.
    const NAME: &'static str;
    /// The name of its list, in addresses and texts.
    const LIST: &'static str;
    /// The parameter of the path with its number.
    const PARAMETER: &'static str;
    /// The components that have such records.
    const COMPONENTS: ComponentManifest;
    /// The audit trail's names of creation, change and deletion.
    const ACTIONS: [Action; 3];
    /// The text that says what to do after creation.
    const NEXT: Option<&'static str>;

    fn id(number: i64) -> Self::Id;

    /// A new one as the form shows it first.
    fn blank(component: ComponentId, now: OffsetDateTime) -> Self;

    /// The record with the name of its component, if neither is deleted.
    async fn find(
        visit: &Visit,
        organization: OrganizationId,
        id: Self::Id,
    ) -> Result<Option<(Self, Translated)>>;

    fn admin<'a>(tx: &'a dyn Transaction, default_locale: Locale) -> Box<dyn RecordAdmin<Self> + 'a>;

    fn title(&self) -> &Translated;

    fn component(&self) -> ComponentId;

    /// Marks it as deleted.
    fn remove(&mut self, now: OffsetDateTime);

    /// The record with what was typed, and what cannot be read. What was not sent stays as it is.
    fn read(self, visit: &Visit, organization: &Organization, is_new: bool) -> (Self, Vec<Problem>);

    /// The form. `of_new` has the fields of a new record only.
    fn sections(
        &self,
        visit: &Visit,
        organization: &Organization,
        problems: &[Problem],
        of_new: Option<Html>,
    ) -> Vec<Section>;

    /// What differs, for the audit trail.
    fn changes(before: &Self, after: &Self) -> Vec<(&'static str, String, String)>;

    /// The head of its page.
    async fn head(own: &Own<Self>, visit: &Visit) -> Result<Head>;

    /// The acts: buttons with their class, and links to a page that asks.
    fn acts(&self, now: OffsetDateTime) -> Vec<(&'static str, Option<&'static str>)>;
}

/// A record of the path, with its organization.
pub(super) struct Own<P: Publication> {
    pub(super) id: OrganizationId,
    pub(super) organization: Organization,
    pub(super) number: P::Id,
    pub(super) record: P,
    /// The name of its component.
    pub(super) component: Translated,
}

impl<P: Publication> Own<P> {
    pub(super) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (id, organization) = opened(visit).await?;
        let number = P::id(visit.id(P::PARAMETER)?);
        let (record, component) = P::find(visit, id, number).await?.ok_or(Error::NotFound)?;
        Ok(Self { id, organization, number, record, component })
    }

    /// The address of its page.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", list_path::<P>(self.id), self.number)
    }

    pub(super) fn title(&self, visit: &Visit) -> String {
        title(visit, self.record.title())
    }

    /// The head of a page below the list.
    pub(super) fn below(&self, visit: &Visit, title: String) -> Head {
        let list = visit.say(&format!("nav-{}", P::LIST));
        head(visit, self.id, &self.organization, title).crumb(list, list_path::<P>(self.id))
    }

    /// The head of a page below the page of the record.
    pub(super) fn under(&self, visit: &Visit, title: String) -> Head {
        self.below(visit, title).crumb(self.title(visit), format!("{}/edit", self.path()))
    }
}

/// The address of the list.
pub(super) fn list_path<P: Publication>(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/{}", P::LIST)
}

/// A text whose name begins with that of the kind.
fn say<P: Publication>(visit: &Visit, key: &str) -> String {
    visit.say(&format!("{}-{key}", P::NAME))
}

/// What was done with the record of this title.
fn done<P: Publication>(visit: &Visit, key: &str, title: String) -> Notice {
    Notice::good(visit.tell(&format!("{}-{key}", P::NAME), &[("title", title.into())]))
}

fn form<'a, P: Publication>(
    visit: &'a Visit,
    organization: &Organization,
    record: &P,
    (action, save): (String, &str),
    problems: &[Problem],
    of_new: Option<Html>,
) -> Form<'a> {
    let form = Form::new(&visit.words, action, visit.token(), &format!("{}-{save}", P::NAME));
    record.sections(visit, organization, problems, of_new).into_iter().fold(form, Form::section)
}

fn blank<P: Publication>(visit: &Visit) -> P {
    P::blank(component(visit, &format!("{}[component]", P::NAME)), visit.now)
}

pub(super) async fn new<P: Publication>(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    show_new(visit, id, &organization, &blank::<P>(visit), Vec::new()).await
}

async fn show_new<P: Publication>(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    record: &P,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let components = Components::load(visit, id, P::COMPONENTS).await?;
    let of_new = components.field(visit, &format!("{}[component]", P::NAME), &problems);
    let path = list_path::<P>(id);
    let form = form(visit, organization, record, (path.clone(), "create"), &problems, Some(of_new))
        .cancel(path.clone());
    let head = head(visit, id, organization, say::<P>(visit, "new"))
        .crumb(visit.say(&format!("nav-{}", P::LIST)), path)
        .lede(say::<P>(visit, "new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(super) async fn create<P: Publication>(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (record, problems) = blank::<P>(visit).read(visit, &organization, true);
    if !problems.is_empty() {
        return show_new(visit, id, &organization, &record, problems).await;
    }
    let name = title(visit, record.title());
    let created = visit.change(async |tx| {
        match component_for_record(tx.components(), id, record.component(), P::COMPONENTS).await {
            Err(Error::NotFound) => return Ok(None),
            found => found?,
        };
        let own = P::admin(tx, organization.default_locale).create(id, &record).await?;
        let entry = visit.record(P::ACTIONS[0]).of(Some(id));
        tx.audit().append(&entry.on(P::NAME, &own.to_string(), &name), visit.now).await?;
        Ok(Some(own))
    });
    let problems = match created.await {
        Ok(Some(own)) => {
            let notice = done::<P>(visit, "created", name);
            let notice = P::NEXT.map(|next| visit.say(next)).into_iter().fold(notice, Notice::text);
            return visit.redirect(format!("{}/{own}/edit", list_path::<P>(id)), notice).await;
        }
        Ok(None) => {
            vec![Problem::new(format!("{}[component]", P::NAME), visit.say("problem-choose"))]
        }
        Err(fault) => refusal::<P>(visit, &organization, fault)?,
    };
    show_new(visit, id, &organization, &record, problems).await
}

pub(super) async fn edit<P: Publication>(visit: &mut Visit) -> Result<Reply> {
    let own = Own::<P>::of_path(visit).await?;
    show_edit(visit, &own, &own.record, Vec::new()).await
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    words: &'a Words,
    /// Buttons with what they do.
    acts: Vec<(Html, String)>,
}

/// The page of a record: its form and its acts.
async fn show_edit<P: Publication>(
    visit: &Visit,
    own: &Own<P>,
    record: &P,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let form = form(visit, &own.organization, record, (own.path(), "save"), &problems, None)
        .method("put")
        .hidden("revision", visit.revision(own.record.revision()))
        .cancel(list_path::<P>(own.id));
    let act = |(act, class): (&str, Option<&'static str>)| {
        let action = format!("{}/{act}", own.path());
        let act_of = match class {
            Some(class) => {
                let (label, token) = (say::<P>(visit, act), visit.token());
                Act::Post { action, label, class, fields: Vec::new(), token }
            }
            None => Act::danger(action, say::<P>(visit, &format!("{act}-link"))),
        };
        (act_of.html(), say::<P>(visit, &format!("{act}-hint")))
    };
    let acts = own.record.acts(visit.now).into_iter().map(act).collect();
    let acts = render(&Moderation { words: &visit.words, acts });
    visit.form_page(P::head(own, visit).await?, Html::join([form.html(), acts]), problems).await
}

/// The problems of a refused record, beside their fields.
fn refusal<P: Publication>(visit: &Visit, organization: &Organization, fault: Error) -> Result<Vec<Problem>> {
    error::problems(&visit.words, fault, |fault| field_of(P::NAME, organization, fault))
}

/// Changes the record, with an entry in the audit trail. A change without effect is not recorded.
pub(super) async fn save<P: Publication>(
    visit: &Visit,
    own: &Own<P>,
    seen: Option<&str>,
    action: Action,
    edit: impl Fn(&mut P),
) -> Result<P> {
    visit
        .change(async |tx| {
            let admin = P::admin(tx, own.organization.default_locale);
            let before = find_revision_for_update(admin.records(), own.id, own.number, seen).await?;
            let change = Change::of(before, visit.now, |record| edit(record));
            if change.is_empty() {
                return Ok(change.after);
            }
            admin.change(own.id, own.number, &change).await?;
            let label = title(visit, change.after.title());
            let entry = visit.record(action).of(Some(own.id)).on(P::NAME, &own.number.to_string(), &label);
            let entry = with_changes(entry, P::changes(&change.before, &change.after));
            tx.audit().append(&entry, visit.now).await?;
            Ok(change.after)
        })
        .await
}

pub(super) async fn update<P: Publication>(visit: &mut Visit) -> Result<Reply> {
    let own = Own::<P>::of_path(visit).await?;
    let visit = &*visit;
    let read = |record: &P| record.clone().read(visit, &own.organization, false);
    let (record, problems) = read(&own.record);
    if !problems.is_empty() {
        return show_edit(visit, &own, &record, problems).await;
    }
    let saved = save(visit, &own, Some(visit.seen()), P::ACTIONS[1], |record| *record = read(record).0);
    match saved.await {
        Ok(record) => {
            let notice = done::<P>(visit, "saved", title(visit, record.title()));
            visit.redirect(format!("{}/edit", own.path()), notice).await
        }
        Err(fault) => {
            let problems = refusal::<P>(visit, &own.organization, fault)?;
            show_edit(visit, &own, &record, problems).await
        }
    }
}

/// An act that can be undone, or that was asked for. Where a text is missing, the form says so.
pub(super) async fn act<P: Publication>(
    visit: &mut Visit,
    key: &str,
    edit: fn(&mut P, OffsetDateTime),
) -> Result<Reply> {
    let own = Own::<P>::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    let saved = save(visit, &own, None, P::ACTIONS[1], |record| edit(record, now)).await;
    if let Err(fault) = saved {
        let problems = refusal::<P>(visit, &own.organization, fault)?;
        return show_edit(visit, &own, &own.record, problems).await;
    }
    let notice = done::<P>(visit, &format!("{key}-done"), own.title(visit));
    let notice = notice.text(say::<P>(visit, &format!("{key}-done-undo")));
    visit.redirect(format!("{}/edit", own.path()), notice).await
}

pub(super) async fn delete<P: Publication>(visit: &mut Visit) -> Result<Reply> {
    let own = Own::<P>::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    save(visit, &own, None, P::ACTIONS[2], |record| record.remove(now)).await?;
    visit.redirect(list_path::<P>(own.id), done::<P>(visit, "deleted", own.title(visit))).await
}
