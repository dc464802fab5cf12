//! A meeting: its form, publication, moderation, withdrawal, deletion.

use super::content::{languages, line, title, typed};
use super::meetings::{audience_key, badges};
use super::publication::{Own, Publication, act};
use super::publications::{moment, read_time, time_field};
use crate::parts::{Act, Choice, Field, Group, Head, Html, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{ComponentId, Locale, MeetingId, OrganizationId, Result, Translated};
use civitas_meetings::{Audience, Meeting, MeetingAdmin};
use civitas_organizations::Organization;
use civitas_spaces::ComponentManifest;
use time::OffsetDateTime;

const TITLE: &str = "meeting[title]";
const DESCRIPTION: &str = "meeting[description]";
const START: &str = "meeting[start_time]";
const END: &str = "meeting[end_time]";
const AUDIENCE: &str = "meeting[audience]";
const AUDIENCES: [Audience; 3] = [Audience::Everybody, Audience::Transparent, Audience::Private];

impl Publication for Meeting {
    const NAME: &'static str = "meeting";
    const LIST: &'static str = "meetings";
    const PARAMETER: &'static str = "mid";
    const COMPONENTS: ComponentManifest = ComponentManifest::Meetings;
    const ACTIONS: [Action; 3] = [Action::MeetingCreated, Action::MeetingUpdated, Action::MeetingDeleted];
    const NEXT: Option<&'static str> = Some("meeting-created-next");

    fn id(number: i64) -> MeetingId {
        MeetingId(number)
    }

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), now, now)
    }

    async fn find(
        visit: &Visit,
        organization: OrganizationId,
        id: MeetingId,
    ) -> Result<Option<(Self, Translated)>> {
        let store = visit.panel.store();
        let found = store.meetings().find(organization, id).await?;
        let Some(meeting) = found.filter(|meeting| meeting.deleted_at.is_none()) else { return Ok(None) };
        let component = store.components().find(organization, meeting.component).await?;
        let component = component.filter(|component| component.deleted_at.is_none());
        Ok(component.map(|component| (meeting, component.name)))
    }

    fn admin<'a>(tx: &'a dyn Transaction, default_locale: Locale) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(MeetingAdmin { store: tx.meetings(), default_locale })
    }

    fn title(&self) -> &Translated {
        &self.title
    }

    fn component(&self) -> ComponentId {
        self.component
    }

    fn remove(&mut self, now: OffsetDateTime) {
        self.delete(now);
    }

    fn read(mut self, visit: &Visit, organization: &Organization, is_new: bool) -> (Self, Vec<Problem>) {
        let locales = languages(organization, &[&self.title, &self.description]);
        let mut problems = Vec::new();
        self.title = typed(visit, TITLE, &locales, &self.title);
        self.description = typed(visit, DESCRIPTION, &locales, &self.description);
        // The start of a new meeting is typed.
        let mut start = (!is_new || visit.form.get(START).is_some()).then_some(self.start_time);
        read_time(visit, START, &mut start, &mut problems);
        match start {
            Some(start) => self.start_time = start,
            None => problems.push(Problem::new(START, visit.say("problem-time"))),
        }
        read_time(visit, END, &mut self.end_time, &mut problems);
        if let Some(name) = visit.form.get(AUDIENCE) {
            match AUDIENCES.into_iter().find(|audience| audience_key(*audience) == name) {
                Some(audience) => self.set_audience(audience),
                None => problems.push(Problem::new(AUDIENCE, visit.say("problem-inclusion"))),
            }
        }
        (self, problems)
    }

    fn sections(
        &self,
        visit: &Visit,
        organization: &Organization,
        problems: &[Problem],
        of_new: Option<Html>,
    ) -> Vec<Section> {
        let words = &visit.words;
        let locales = languages(organization, &[&self.title, &self.description]);
        let texts = Texts::new("meeting-texts", visit.say("texts"), &locales, organization.default_locale)
            .text(TITLE, visit.say("column-title"), "", &self.title, 1)
            .text(DESCRIPTION, visit.say("description"), visit.say("html-hint"), &self.description, 8)
            .html(words, problems);
        // The time of a new meeting is not suggested.
        let start = of_new.is_none().then_some(self.start_time);
        let time = |field: Field| field.class("medium").check(problems).html(words);
        let identity = Section::new("meeting", visit.say("meeting-one"));
        let identity = of_new.into_iter().chain([texts]).fold(identity, Section::field);
        let when = Section::new("when", visit.say("meeting-when"))
            .hint(visit.say("meeting-when-hint"))
            .field(time(time_field(visit, START, "meeting-start", start).required()))
            .field(time(time_field(visit, END, "meeting-end", self.end_time).optional()));
        let choices = AUDIENCES.map(|audience| {
            let key = audience_key(audience);
            Choice::new(key, visit.say(&format!("audience-{key}")))
                .hint(visit.say(&format!("audience-{key}-hint")))
        });
        let chosen = visit.form.get(AUDIENCE).unwrap_or(audience_key(self.audience()));
        let audience = Group::radios(AUDIENCE, visit.say("meeting-audience"), choices.to_vec(), chosen);
        let who =
            Section::new("who", visit.say("meeting-audience")).field(audience.check(problems).html(words));
        vec![identity, when, who]
    }

    fn changes(before: &Self, after: &Self) -> Vec<(&'static str, String, String)> {
        let of = |one: &Meeting, other: &Meeting| {
            let users = one.registrations.difference(&other.registrations).map(ToString::to_string);
            users.collect::<Vec<_>>().join(", ")
        };
        let audience = |meeting: &Meeting| audience_key(meeting.audience()).to_owned();
        vec![
            ("title", line(&before.title), line(&after.title)),
            ("description", line(&before.description), line(&after.description)),
            ("start_time", moment(Some(before.start_time)), moment(Some(after.start_time))),
            ("end_time", moment(before.end_time), moment(after.end_time)),
            ("audience", audience(before), audience(after)),
            ("published_at", moment(before.published_at), moment(after.published_at)),
            ("withdrawn_at", moment(before.withdrawn_at), moment(after.withdrawn_at)),
            ("hidden_at", moment(before.hidden_at), moment(after.hidden_at)),
            ("registrations", of(before, after), of(after, before)),
        ]
    }

    async fn head(own: &Own<Self>, visit: &Visit) -> Result<Head> {
        let meeting = &own.record;
        let facts = [
            ("id", own.number.to_string().into()),
            ("component", title(visit, &own.component).into()),
            ("registrations", count(meeting.registrations.len()).into()),
        ];
        let registrations = format!("{}/registrations", own.path());
        let head = own
            .below(visit, own.title(visit))
            .lede(visit.tell("meeting-lede", &facts))
            .act(Act::link(registrations, visit.say("registered-title")));
        let badges = badges(visit, meeting.published_at, meeting.withdrawn_at, meeting.hidden_at);
        Ok(badges.into_iter().fold(head, Head::badge))
    }

    fn acts(&self, _: OffsetDateTime) -> Vec<(&'static str, Option<&'static str>)> {
        let mut acts = vec![
            if self.published_at.is_some() { ("unpublish", Some("")) } else { ("publish", Some("primary")) },
            if self.hidden_at.is_some() { ("show", Some("primary")) } else { ("hide", Some("")) },
        ];
        acts.extend(self.withdrawn_at.is_none().then_some(("withdraw", None)));
        acts.push(("delete", None));
        acts
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "publish", Meeting::publish).await
}

pub(crate) async fn unpublish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "unpublish", |meeting: &mut Meeting, _| meeting.unpublish()).await
}

pub(crate) async fn hide(visit: &mut Visit) -> Result<Reply> {
    act(visit, "hide", Meeting::hide).await
}

pub(crate) async fn unhide(visit: &mut Visit) -> Result<Reply> {
    act(visit, "show", |meeting: &mut Meeting, _| meeting.show()).await
}

pub(crate) async fn withdraw(visit: &mut Visit) -> Result<Reply> {
    act(visit, "withdraw", Meeting::withdraw).await
}

/// A page that asks.
async fn ask(visit: &mut Visit, key: &str, address: &str, effects: &[&str]) -> Result<Reply> {
    let own = Own::<Meeting>::of_path(visit).await?;
    let visit = &*visit;
    let part_of = |part: &str| visit.say(&format!("meeting-{key}-{part}"));
    let mut effects: Vec<String> = effects.iter().map(|part| part_of(part)).collect();
    let registrations = count(own.record.registrations.len());
    effects.push(visit.words.count(&format!("meeting-{key}-registrations"), registrations));
    let confirm = visit
        .confirm(format!("{}{address}", own.path()), part_of("button"), format!("{}/edit", own.path()))
        .effects(effects)
        .stays(part_of("stays"));
    let confirm = if address.is_empty() { confirm.delete() } else { confirm };
    let title = visit.tell(&format!("meeting-{key}-title"), &[("title", own.title(visit).into())]);
    visit.page(own.under(visit, title).here(part_of("button")), confirm.html(&[])).await
}

pub(crate) async fn ask_withdraw(visit: &mut Visit) -> Result<Reply> {
    ask(visit, "withdraw", "/withdraw", &["shown", "reminder"]).await
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    ask(visit, "delete", "", &["gone", "attachments"]).await
}
