//! The form of a meeting: texts, times, audience.

use super::content::{languages, title, typed};
use super::meeting::{Own, acts, refusal, save};
use super::meetings::{audience_key, list_path};
use super::publications::{Components, component, head, opened, read_time, time_field};
use crate::notice::Notice;
use crate::parts::{Choice, Field, Form, Group, Html, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdmin};
use civitas_kernel::{Error, OrganizationId, Result, Translated};
use civitas_meetings::{Audience, Meeting, MeetingAdmin};
use civitas_organizations::Organization;
use civitas_spaces::{ComponentManifest, component_for_record};

const TITLE: &str = "meeting[title]";
const DESCRIPTION: &str = "meeting[description]";
const START: &str = "meeting[start_time]";
const END: &str = "meeting[end_time]";
const AUDIENCE: &str = "meeting[audience]";
const COMPONENT: &str = "meeting[component]";
const AUDIENCES: [Audience; 3] = [Audience::Everybody, Audience::Transparent, Audience::Private];

/// The meeting with what was typed, and what cannot be read. What was not sent stays as it is.
fn read(visit: &Visit, organization: &Organization, mut meeting: Meeting) -> (Meeting, Vec<Problem>) {
    let locales = languages(organization, &[&meeting.title, &meeting.description]);
    let mut problems = Vec::new();
    meeting.title = typed(visit, TITLE, &locales, &meeting.title);
    meeting.description = typed(visit, DESCRIPTION, &locales, &meeting.description);
    let mut start = Some(meeting.start_time);
    read_time(visit, START, &mut start, &mut problems);
    match start {
        Some(start) => meeting.start_time = start,
        None => problems.push(Problem::new(START, visit.say("problem-time"))),
    }
    read_time(visit, END, &mut meeting.end_time, &mut problems);
    if let Some(name) = visit.form.get(AUDIENCE) {
        match AUDIENCES.into_iter().find(|audience| audience_key(*audience) == name) {
            Some(audience) => meeting.set_audience(audience),
            None => problems.push(Problem::new(AUDIENCE, visit.say("problem-inclusion"))),
        }
    }
    (meeting, problems)
}

/// The form. `of_new` has the fields of a new meeting only.
fn form<'a>(
    visit: &'a Visit,
    organization: &Organization,
    meeting: &Meeting,
    (action, save): (String, &str),
    problems: &[Problem],
    of_new: Option<Html>,
) -> Form<'a> {
    let words = &visit.words;
    let locales = languages(organization, &[&meeting.title, &meeting.description]);
    let texts = Texts::new("meeting-texts", visit.say("texts"), &locales, organization.default_locale)
        .text(TITLE, visit.say("column-title"), "", &meeting.title, 1)
        .text(DESCRIPTION, visit.say("description"), visit.say("html-hint"), &meeting.description, 8)
        .html(words, problems);
    // The time of a new meeting is not suggested.
    let start = of_new.is_none().then_some(meeting.start_time);
    let time = |field: Field| field.class("medium").check(problems).html(words);
    let mut identity = Section::new("meeting", visit.say("meeting-one"));
    if let Some(of_new) = of_new {
        identity = identity.field(of_new);
    }
    let when = Section::new("when", visit.say("meeting-when"))
        .hint(visit.say("meeting-when-hint"))
        .field(time(time_field(visit, START, "meeting-start", start).required()))
        .field(time(time_field(visit, END, "meeting-end", meeting.end_time).optional()));
    let choices = AUDIENCES.map(|audience| {
        let key = audience_key(audience);
        Choice::new(key, visit.say(&format!("audience-{key}")))
            .hint(visit.say(&format!("audience-{key}-hint")))
    });
    let chosen = visit.form.get(AUDIENCE).unwrap_or(audience_key(meeting.audience()));
    let audience = Group::radios(AUDIENCE, visit.say("meeting-audience"), choices.to_vec(), chosen);
    let who = Section::new("who", visit.say("meeting-audience")).field(audience.check(problems).html(words));
    Form::new(words, action, visit.token(), save).section(identity.field(texts)).section(when).section(who)
}

/// A new meeting as the form shows it first. Its start is typed.
fn blank(visit: &Visit) -> Meeting {
    Meeting::new(component(visit, COMPONENT), Translated::default(), visit.now, visit.now)
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    show_new(visit, id, &organization, &blank(visit), Vec::new()).await
}

async fn show_new(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    meeting: &Meeting,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let components = Components::load(visit, id, ComponentManifest::Meetings).await?;
    let of_new = components.field(visit, COMPONENT, &problems);
    let path = list_path(id);
    let form = form(visit, organization, meeting, (path.clone(), "meeting-create"), &problems, Some(of_new))
        .cancel(path.clone());
    let head = head(visit, id, organization, visit.say("meeting-new"))
        .crumb(visit.say("nav-meetings"), path)
        .lede(visit.say("meeting-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (meeting, mut problems) = read(visit, &organization, blank(visit));
    if visit.form.get(START).is_none() {
        problems.push(Problem::new(START, visit.say("problem-time")));
    }
    if !problems.is_empty() {
        return show_new(visit, id, &organization, &meeting, problems).await;
    }
    let name = title(visit, &meeting.title);
    let created = visit.change(async |tx| {
        let kind = ComponentManifest::Meetings;
        match component_for_record(tx.components(), id, meeting.component, kind).await {
            Err(Error::NotFound) => return Ok(None),
            found => found?,
        };
        let admin = MeetingAdmin { store: tx.meetings(), default_locale: organization.default_locale };
        let own = admin.create(id, &meeting).await?;
        let record = visit.record(Action::MeetingCreated).of(Some(id));
        tx.audit().append(&record.on("meeting", &own.to_string(), &name), visit.now).await?;
        Ok(Some(own))
    });
    let problems = match created.await {
        Ok(Some(own)) => {
            let notice = Notice::good(visit.tell("meeting-created", &[("title", name.into())]));
            let notice = notice.text(visit.say("meeting-created-next"));
            return visit.redirect(format!("{}/{own}/edit", list_path(id)), notice).await;
        }
        Ok(None) => vec![Problem::new(COMPONENT, visit.say("problem-choose"))],
        Err(fault) => refusal(visit, &organization, fault)?,
    };
    show_new(visit, id, &organization, &meeting, problems).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    show_edit(visit, &own, &own.meeting, Vec::new()).await
}

/// The page of a meeting: its form and its acts.
async fn show_edit(visit: &Visit, own: &Own, meeting: &Meeting, problems: Vec<Problem>) -> Result<Reply> {
    let form = form(visit, &own.organization, meeting, (own.path(), "meeting-save"), &problems, None)
        .method("put")
        .hidden("revision", visit.revision(own.meeting.revision()))
        .cancel(list_path(own.id));
    visit.form_page(own.head(visit), Html::join([form.html(), acts(visit, own)]), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let (meeting, problems) = read(visit, &own.organization, own.meeting.clone());
    if !problems.is_empty() {
        return show_edit(visit, &own, &meeting, problems).await;
    }
    let saved = save(visit, &own, Some(visit.seen()), Action::MeetingUpdated, |meeting| {
        *meeting = read(visit, &own.organization, meeting.clone()).0;
    });
    match saved.await {
        Ok(meeting) => {
            let name = title(visit, &meeting.title);
            let notice = Notice::good(visit.tell("meeting-saved", &[("title", name.into())]));
            visit.redirect(format!("{}/edit", own.path()), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &own.organization, fault)?;
            show_edit(visit, &own, &meeting, problems).await
        }
    }
}
