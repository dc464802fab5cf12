//! The extended data of a record as JSON (contract 01 §11.3).

use super::components::OpenedComponent;
use super::content::{OpenedSpace, number};
use super::organization;
use super::people::Person;
use super::proposals::OpenedProposal;
use crate::error;
use crate::format::Zone;
use crate::parts::{Field, Form, Head, Html, Json, Problem, Section};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_extended_data::{ExtendedDataAdmin, ExtendedDataStore, Owner, Replaced, StoredData, refusals};
use civitas_kernel::records::revision_at;
use civitas_kernel::{OrganizationId, Result, read_json};
use serde_json::{Map, Value};

const DATA: &str = "extended_data";
/// The longest text that a form shows, in bytes. Longer data is changed through the interface.
const LONGEST_SHOWN: usize = 256 * 1024;
/// The most bytes of a member that an entry of the audit trail has.
const MOST_RECORDED: usize = 1_000;

/// A record with extended data.
struct DataOwner {
    organization: OrganizationId,
    owner: Owner,
    /// Kind, id and name of the record, for the audit trail.
    record: (&'static str, String, String),
    /// The path of the page.
    path: String,
    head: Head,
}

impl DataOwner {
    /// The record of the path; the organization where it names no other one. Times of the page are in its zone.
    async fn of_path(visit: &mut Visit) -> Result<Self> {
        let named = ["uid", "sid", "cid", "pid"].into_iter().find(|name| visit.params.contains_key(*name));
        let (organization, zone, owner, record, path, head) = match named {
            Some("uid") => {
                let own = Person::of(visit).await?;
                let (path, head) = (own.path(), own.tabbed_head(visit, DATA));
                let record = ("user", own.id.to_string(), own.user.name);
                (own.organization, own.home.time_zone, Owner::from(own.id), record, path, head)
            }
            Some("sid") => {
                let own = OpenedSpace::of_path(visit).await?;
                let (path, head) = (own.path(), own.head(visit, DATA));
                let record = ("space", number(own.own), own.title(visit));
                (own.id, own.organization.time_zone, Owner::from(own.own), record, path, head)
            }
            Some("cid") => {
                let own = OpenedComponent::of_path(visit).await?;
                let (path, head) = (own.path(), own.head(visit, DATA));
                let record = ("component", own.id.to_string(), own.name(visit));
                (own.here.id, own.here.organization.time_zone, Owner::from(own.id), record, path, head)
            }
            Some(_) => {
                let own = OpenedProposal::of(visit).await?;
                let (path, head) = (own.path(), own.tabbed_head(visit, DATA));
                let record = ("proposal", own.id.to_string(), own.title(visit));
                (own.organization, own.home.time_zone, Owner::from(own.id), record, path, head)
            }
            None => {
                let (id, home) = organization::organization(visit).await?;
                let name = organization::name(visit, &home);
                let head = organization::settings_head(visit, id, &name, DATA);
                let path = format!("{}/{id}", organization::LIST);
                (id, home.time_zone, Owner::from(id), ("organization", id.to_string(), name), path, head)
            }
        };
        visit.open_organization(organization).await?;
        visit.zone = Zone::named(&zone);
        Ok(Self { organization, owner, record, path: format!("{path}/{DATA}"), head })
    }
}

fn admin<'a>(visit: &Visit, store: &'a dyn ExtendedDataStore) -> ExtendedDataAdmin<'a> {
    ExtendedDataAdmin { store, limit: visit.panel.settings.extended_data_limit }
}

/// The data, indented.
fn indented(data: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(data).unwrap_or_default()
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let own = DataOwner::of_path(visit).await?;
    page(visit, own, Vec::new()).await
}

async fn page(visit: &Visit, own: DataOwner, problems: Vec<Problem>) -> Result<Reply> {
    let store = visit.panel.store().extended_data();
    let StoredData { data, updated_at } = admin(visit, store).read(own.organization, own.owner).await?;
    let text = indented(&data);
    let words = &visit.words;
    if text.len() > LONGEST_SHOWN {
        let json = Json::new(words, "json", visit.say("extended-data-by"), &text);
        let note = Html::paragraph("soft", &visit.say("extended-data-large"));
        return visit.page(own.head, Html::join([note, json.html()])).await;
    }
    let typed = visit.form.get(DATA).map_or(text, str::to_owned);
    let limit = i64::try_from(visit.panel.settings.extended_data_limit).unwrap_or(i64::MAX);
    let size = super::attachments::size(visit, limit);
    let field = Field::area(DATA, visit.say("extended-data-json"), typed, 24)
        .hint(visit.tell("extended-data-hint", &[("size", size.into())]))
        .class("mono")
        .check(&problems);
    let section = Section::new("data", visit.say("extended-data"))
        .hint(visit.say("extended-data-lede"))
        .field(field.html(words));
    let form = Form::new(words, own.path.clone(), visit.token(), "extended-data-save")
        .method("put")
        .hidden("revision", visit.revision(revision_at(updated_at)))
        .section(section)
        .note(visit.tell("extended-data-changed", &[("time", visit.time(updated_at).into())]));
    visit.form_page(own.head, form.html(), problems).await
}

/// The object that was typed.
fn read(visit: &Visit) -> std::result::Result<Value, Problem> {
    let text = visit.form.text(DATA);
    let problem = |text: String| Problem::new(DATA, text);
    let data = read_json(if text.is_empty() { "{}" } else { text }).map_err(|fault| {
        if fault.is_data() {
            return problem(visit.say("problem-json-number"));
        }
        let number = |place: usize| i64::try_from(place).unwrap_or_default();
        let values = [("line", number(fault.line()).into()), ("column", number(fault.column()).into())];
        problem(visit.tell("problem-json", &values))
    })?;
    if data.is_object() { Ok(data) } else { Err(problem(visit.say("problem-json-object"))) }
}

pub(crate) async fn save(visit: &mut Visit) -> Result<Reply> {
    let own = DataOwner::of_path(visit).await?;
    let visit = &*visit;
    let data = match read(visit) {
        Ok(data) => data,
        Err(problem) => return page(visit, own, vec![problem]).await,
    };
    let (kind, id, name) = &own.record;
    let saved = visit.change(async |tx| {
        let admin = admin(visit, tx.extended_data());
        let replaced = admin
            .replace(own.organization, own.owner, (data.clone(), visit.form_revision()), visit.now)
            .await?;
        let changes = changes(&replaced);
        if changes.is_empty() {
            return Ok(());
        }
        let record = visit.record(Action::ExtendedDataUpdated).of(Some(own.organization)).on(kind, id, name);
        let record = changes
            .iter()
            .fold(record, |record, (field, old, new)| record.changed(field, old.as_deref(), new.as_deref()));
        visit.append(tx, &record).await
    });
    match saved.await {
        Ok(()) => visit.done("extended-data-saved", &[], own.path).await,
        Err(fault) => {
            let mut problems = error::problems(&visit.words, fault, |_| DATA.to_owned())?;
            let changed = visit.say("problem-changed-meanwhile");
            for problem in problems.iter_mut().filter(|problem| problem.text != changed) {
                refuse(visit, problem);
            }
            page(visit, own, problems).await
        }
    }
}

/// What a refusal says on the page, and where.
fn refuse(visit: &Visit, problem: &mut Problem) {
    DATA.clone_into(&mut problem.field);
    let known = [
        (refusals::NUL, "problem-nul"),
        ("exceeds maximum size", "problem-json-large"),
        ("nested deeper", "problem-json-deep"),
        ("is reserved", "problem-json-reserved"),
    ];
    if let Some((_, key)) = known.into_iter().find(|(part, _)| problem.text.contains(part)) {
        problem.text = visit.say(key);
    }
}

/// The members that differ, with their old and new values as JSON, for the audit trail. Long values are cut.
fn changes(Replaced { before, after }: &Replaced) -> Vec<(String, Option<String>, Option<String>)> {
    let text = |value: Option<&Value>| value.map(|value| cut(value.to_string()));
    let added = after.keys().filter(|key| !before.contains_key(*key));
    let keys = before.keys().chain(added).filter(|key| before.get(*key) != after.get(*key));
    keys.map(|key| (cut(key.clone()), text(before.get(key)), text(after.get(key)))).collect()
}

fn cut(mut text: String) -> String {
    if text.len() > MOST_RECORDED {
        let end = (0..=MOST_RECORDED).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_of_the_trail_names_the_members_that_differ() {
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        let replaced = Replaced {
            before: object(json!({"same": 1, "old": {"x": 1}, "gone": "é".repeat(1_000)})),
            after: object(json!({"same": 1, "old": {"x": 2}, "new": [1]})),
        };
        let changes = changes(&replaced);
        let text = |text: &str| Some(text.to_owned());
        assert!(changes.contains(&("old".to_owned(), text("{\"x\":1}"), text("{\"x\":2}"))));
        assert!(changes.contains(&("new".to_owned(), None, text("[1]"))));
        let gone = changes.iter().find(|(field, _, _)| field == "gone");
        assert!(
            gone.is_some_and(
                |(_, old, new)| old.as_ref().is_some_and(|old| old.len() < 1_010) && new.is_none()
            )
        );
        assert_eq!(changes.len(), 3);
    }
}
