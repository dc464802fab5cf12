//! The people registered for a meeting (contract 06 §5.3): list, registration, its end.

use super::meetings::registrations;
use super::organization::LIST;
use super::proposals::authors;
use crate::notice::Notice;
use crate::parts::{Cell, Column, Empty, Field, Form, Html, Problem, RowAct, Section, Table};
use crate::records::{OpenedRecord, PER_PAGE, change};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::User;
use civitas_audit::Action;
use civitas_kernel::{Error, Result, UserId};
use civitas_meetings::Meeting;
use std::collections::HashMap;

const PERSON: &str = "registration[person]";

fn path(own: &OpenedRecord<Meeting>) -> String {
    format!("{}/registrations", own.path())
}

fn row(
    visit: &Visit,
    own: &OpenedRecord<Meeting>,
    user: UserId,
    accounts: &HashMap<UserId, User>,
) -> Vec<Cell> {
    let number = visit.tell("component-id", &[("id", user.to_string().into())]);
    let (name, person) = match accounts.get(&user) {
        Some(found) => {
            let href = format!("{LIST}/{}/users/{user}", own.organization);
            (found.name.clone(), Cell::link(&href, &found.name, &format!("@{}", found.nickname)))
        }
        None => (number.clone(), Cell::soft(&visit.say("deleted"))),
    };
    let end = RowAct::Post {
        action: format!("{}/{user}", path(own)),
        label: visit.say("registered-remove"),
        of: name,
        token: visit.token(),
        method: "delete",
    };
    vec![person, Cell::text(&number), Cell::acts(&[end])]
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<Meeting>::of_path(visit).await?;
    show(visit, &own, Vec::new()).await
}

async fn show(visit: &Visit, own: &OpenedRecord<Meeting>, problems: Vec<Problem>) -> Result<Reply> {
    let (path, request) = (path(own), visit.query.page(PER_PAGE));
    let page = visit.panel.store().meetings().registered(own.organization, own.id, request).await?;
    let ids = page.items.iter().map(|user| user.0).collect();
    let accounts = authors(visit, own.organization, ids).await?;
    let rows = page.items.iter().map(|user| row(visit, own, *user, &accounts));
    let columns = vec![
        Column::new(visit.say("column-name")),
        Column::new(visit.say("column-id")),
        Column::acts(visit.say("column-acts")),
    ];
    let empty = Empty { title: visit.say("registered-none"), ..Empty::default() };
    let table = Table::new(visit.say("registered-title"), columns).rows(rows).empty(empty);
    let found = (visit.words.count("registered-count", registrations(&own.record)), Vec::new());
    let results = visit.results(&path, found, &table, visit.pages(&path, request, page.has_more));
    let person = Field::text(PERSON, visit.say("registered-person"), visit.form.text(PERSON))
        .hint(visit.say("registered-person-hint"))
        .class("medium")
        .check(&problems)
        .html(&visit.words);
    let section = Section::new("add", visit.say("registered-add")).field(person);
    let form = Form::new(&visit.words, path.clone(), visit.token(), "registered-add-button").section(section);
    let head = own.under(visit, visit.say("registered-title")).lede(visit.say("registered-lede"));
    visit.form_page(head, Html::join([results, form.html()]), problems).await
}

/// The account of this id or nickname, which is not deleted.
async fn person(visit: &Visit, own: &OpenedRecord<Meeting>) -> Result<Option<(UserId, User)>> {
    let (typed, users) = (visit.form.text(PERSON), visit.panel.store().users());
    if let Ok(id) = typed.parse().map(UserId) {
        let found = users.find(own.organization, id).await?.filter(|user| user.deleted_at.is_none());
        if let Some(user) = found {
            return Ok(Some((id, user)));
        }
    }
    users.find_by_nickname(own.organization, typed.trim_start_matches('@')).await
}

pub(crate) async fn add(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<Meeting>::of_path(visit).await?;
    let visit = &*visit;
    let Some((id, user)) = person(visit, &own).await? else {
        let problem = Problem::new(PERSON, visit.say("problem-person-unknown"));
        return show(visit, &own, vec![problem]).await;
    };
    change(visit, own.target(), Action::MeetingUpdated, |meeting| meeting.register(id)).await?;
    visit.done("registered-added", &[("name", user.name.into())], path(&own)).await
}

pub(crate) async fn remove(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<Meeting>::of_path(visit).await?;
    let visit = &*visit;
    let id = UserId(visit.id("uid")?);
    if !own.record.registrations.contains(&id) {
        return Err(Error::NotFound);
    }
    change(visit, own.target(), Action::MeetingUpdated, |meeting| meeting.unregister(id)).await?;
    let name = authors(visit, own.organization, vec![id.0]).await?.remove(&id).map(|user| user.name);
    let name = name.unwrap_or_else(|| id.to_string());
    let notice = Notice::good(visit.tell("registered-removed", &[("name", name.into())]));
    visit.redirect(path(&own), notice.text(visit.say("registered-removed-undo"))).await
}
