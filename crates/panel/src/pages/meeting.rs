//! The acts on a meeting: publication, moderation, withdrawal, deletion.

use super::content::{field_of, line, title};
use super::meetings::{audience_key, badges, list_path};
use super::publications::{head, moment, opened, with_changes};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Confirm, Head, Html, Problem, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::Action;
use civitas_kernel::records::{Change, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Error, MeetingId, OrganizationId, Result};
use civitas_meetings::{Meeting, MeetingAdmin};
use civitas_organizations::Organization;
use civitas_spaces::Component;
use time::OffsetDateTime;

/// A meeting of the path, with its organization.
pub(super) struct Own {
    pub(super) id: OrganizationId,
    pub(super) organization: Organization,
    pub(super) number: MeetingId,
    pub(super) meeting: Meeting,
    component: Component,
}

impl Own {
    /// The meeting of the path; neither it nor its component is deleted.
    pub(super) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (id, organization) = opened(visit).await?;
        let (own, store) = (MeetingId(visit.id("mid")?), visit.panel.store());
        let found = store.meetings().find(id, own).await?;
        let meeting = found.filter(|meeting| meeting.deleted_at.is_none()).ok_or(Error::NotFound)?;
        let component = store.components().find(id, meeting.component).await?;
        let component = component.filter(|found| found.deleted_at.is_none()).ok_or(Error::NotFound)?;
        Ok(Self { id, organization, number: own, meeting, component })
    }

    /// The address of the meeting.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", list_path(self.id), self.number)
    }

    /// Its title.
    pub(super) fn title(&self, visit: &Visit) -> String {
        title(visit, &self.meeting.title)
    }

    /// The head of the page of the meeting.
    pub(super) fn head(&self, visit: &Visit) -> Head {
        let meeting = &self.meeting;
        let facts = [
            ("id", self.number.to_string().into()),
            ("component", title(visit, &self.component.name).into()),
            ("registrations", count(meeting.registrations.len()).into()),
        ];
        let registrations = format!("{}/registrations", self.path());
        let mut head = self
            .below(visit, self.title(visit))
            .lede(visit.tell("meeting-lede", &facts))
            .act(Act::link(registrations, visit.say("registered-title")));
        for badge in badges(visit, meeting.published_at, meeting.withdrawn_at, meeting.hidden_at) {
            head = head.badge(badge);
        }
        head
    }

    /// The head of a page below the list.
    fn below(&self, visit: &Visit, title: String) -> Head {
        head(visit, self.id, &self.organization, title).crumb(visit.say("nav-meetings"), list_path(self.id))
    }

    /// The head of a page below the page of the meeting.
    pub(super) fn under(&self, visit: &Visit, title: String) -> Head {
        self.below(visit, title).crumb(self.title(visit), format!("{}/edit", self.path()))
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    words: &'a Words,
    /// Buttons with what they do.
    acts: Vec<(Html, String)>,
}

/// The acts, each with what it does.
pub(super) fn acts(visit: &Visit, own: &Own) -> Html {
    let meeting = &own.meeting;
    let post = |act: &str, class: &'static str| {
        let (action, label) = (format!("{}/{act}", own.path()), visit.say(&format!("meeting-{act}")));
        let button = Act::Post { action, label, class, fields: Vec::new(), token: visit.token() }.html();
        (button, visit.say(&format!("meeting-{act}-hint")))
    };
    let link = |act: &str| {
        let link = Act::danger(format!("{}/{act}", own.path()), visit.say(&format!("meeting-{act}-link")));
        (link.html(), visit.say(&format!("meeting-{act}-hint")))
    };
    let mut acts = vec![
        if meeting.published_at.is_some() { post("unpublish", "") } else { post("publish", "primary") },
        if meeting.hidden_at.is_some() { post("show", "primary") } else { post("hide", "") },
    ];
    if meeting.withdrawn_at.is_none() {
        acts.push(link("withdraw"));
    }
    acts.push(link("delete"));
    render(&Moderation { words: &visit.words, acts })
}

/// The problems of a refused meeting, beside their fields.
pub(super) fn refusal(visit: &Visit, organization: &Organization, fault: Error) -> Result<Vec<Problem>> {
    error::problems(&visit.words, fault, |fault| field_of("meeting", organization, fault))
}

/// What differs, for the audit trail.
fn changes(before: &Meeting, after: &Meeting) -> Vec<(&'static str, String, String)> {
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

/// Changes the meeting, with an entry in the audit trail. A change without effect is not recorded.
pub(super) async fn save(
    visit: &Visit,
    own: &Own,
    seen: Option<&str>,
    action: Action,
    edit: impl Fn(&mut Meeting),
) -> Result<Meeting> {
    visit
        .change(async |tx| {
            let before = find_revision_for_update::<Meeting>(tx.meetings(), own.id, own.number, seen).await?;
            let change = Change::of(before, visit.now, |meeting| edit(meeting));
            if change.is_empty() {
                return Ok(change.after);
            }
            let default_locale = own.organization.default_locale;
            MeetingAdmin { store: tx.meetings(), default_locale }.change(own.id, own.number, &change).await?;
            let label = title(visit, &change.after.title);
            let record = visit.record(action).of(Some(own.id));
            let record = record.on("meeting", &own.number.to_string(), &label);
            let record = with_changes(record, changes(&change.before, &change.after));
            tx.audit().append(&record, visit.now).await?;
            Ok(change.after)
        })
        .await
}

/// An act that can be undone, or that was asked for.
async fn act(visit: &mut Visit, key: &str, edit: fn(&mut Meeting, OffsetDateTime)) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    save(visit, &own, None, Action::MeetingUpdated, |meeting| edit(meeting, now)).await?;
    let done = visit.tell(&format!("meeting-{key}-done"), &[("title", own.title(visit).into())]);
    let notice = Notice::good(done).text(visit.say(&format!("meeting-{key}-done-undo")));
    visit.redirect(format!("{}/edit", own.path()), notice).await
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "publish", Meeting::publish).await
}

pub(crate) async fn unpublish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "unpublish", |meeting, _| meeting.unpublish()).await
}

pub(crate) async fn hide(visit: &mut Visit) -> Result<Reply> {
    act(visit, "hide", Meeting::hide).await
}

pub(crate) async fn unhide(visit: &mut Visit) -> Result<Reply> {
    act(visit, "show", |meeting, _| meeting.show()).await
}

pub(crate) async fn withdraw(visit: &mut Visit) -> Result<Reply> {
    act(visit, "withdraw", Meeting::withdraw).await
}

/// A page that asks.
async fn ask(
    visit: &mut Visit,
    key: &str,
    address: &str,
    method: &'static str,
    effects: &[&str],
) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let part_of = |part: &str| visit.say(&format!("meeting-{key}-{part}"));
    let mut effects: Vec<String> = effects.iter().map(|part| part_of(part)).collect();
    let registrations = count(own.meeting.registrations.len());
    effects.push(visit.words.count(&format!("meeting-{key}-registrations"), registrations));
    let confirm = Confirm {
        words: &visit.words,
        action: format!("{}{address}", own.path()),
        method,
        token: visit.token(),
        effects,
        stays: part_of("stays"),
        name: String::new(),
        name_label: String::new(),
        button: part_of("button"),
        cancel: format!("{}/edit", own.path()),
    };
    let title = visit.tell(&format!("meeting-{key}-title"), &[("title", own.title(visit).into())]);
    visit.page(own.under(visit, title).here(part_of("button")), confirm.html(&[])).await
}

pub(crate) async fn ask_withdraw(visit: &mut Visit) -> Result<Reply> {
    ask(visit, "withdraw", "/withdraw", "", &["shown", "reminder"]).await
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    ask(visit, "delete", "", "delete", &["gone", "attachments"]).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    save(visit, &own, None, Action::MeetingDeleted, |meeting| meeting.delete(now)).await?;
    let notice = Notice::good(visit.tell("meeting-deleted", &[("title", own.title(visit).into())]));
    visit.redirect(list_path(own.id), notice).await
}
