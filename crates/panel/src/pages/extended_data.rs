//! The extended data of a record as JSON (contract 01 §11.3).

use super::components::Own;
use super::content::{self, Here, number};
use super::organization;
use super::people::Person;
use super::proposals::Shown;
use crate::error;
use crate::format::Zone;
use crate::notice::Notice;
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
struct Place {
    organization: OrganizationId,
    owner: Owner,
    /// Kind, id and name of the record, for the audit trail.
    record: (&'static str, String, String),
    /// The path of the page.
    path: String,
    head: Head,
}

impl Place {
    async fn of_organization(visit: &mut Visit) -> Result<Self> {
        let (id, home) = content::opened(visit).await?;
        visit.zone = Zone::named(&home.time_zone);
        let name = organization::name(visit, &home);
        let head = organization::settings_head(visit, id, &name, DATA);
        Ok(Self {
            organization: id,
            owner: id.into(),
            record: ("organization", id.to_string(), name),
            path: format!("{}/{id}/{DATA}", organization::LIST),
            head,
        })
    }

    async fn of_person(visit: &mut Visit) -> Result<Self> {
        let person = Person::of(visit).await?;
        visit.open_organization(person.organization).await?;
        visit.zone = Zone::named(&person.home.time_zone);
        Ok(Self {
            organization: person.organization,
            owner: person.id.into(),
            record: ("user", person.id.to_string(), person.user.name.clone()),
            path: format!("{}/{DATA}", person.path()),
            head: person.tabbed_head(visit, DATA),
        })
    }

    async fn of_space(visit: &mut Visit) -> Result<Self> {
        let here = Here::of_path(visit).await?;
        visit.zone = Zone::named(&here.organization.time_zone);
        Ok(Self {
            organization: here.id,
            owner: here.own.into(),
            record: ("space", number(here.own), here.title(visit)),
            path: format!("{}/{DATA}", here.path()),
            head: here.head(visit, DATA),
        })
    }

    async fn of_component(visit: &mut Visit) -> Result<Self> {
        let own = Own::of_path(visit).await?;
        visit.zone = Zone::named(&own.here.organization.time_zone);
        let name = own.name(visit);
        Ok(Self {
            organization: own.here.id,
            owner: own.id.into(),
            record: ("component", own.id.to_string(), name),
            path: format!("{}/{DATA}", own.path()),
            head: own.head(visit, DATA),
        })
    }

    async fn of_proposal(visit: &mut Visit) -> Result<Self> {
        let shown = Shown::of(visit).await?;
        visit.open_organization(shown.organization).await?;
        visit.zone = Zone::named(&shown.home.time_zone);
        Ok(Self {
            organization: shown.organization,
            owner: shown.id.into(),
            record: ("proposal", shown.id.to_string(), shown.title(visit)),
            path: format!("{}/{DATA}", shown.path()),
            head: shown.tabbed_head(visit, DATA),
        })
    }
}

fn admin<'a>(visit: &Visit, store: &'a dyn ExtendedDataStore) -> ExtendedDataAdmin<'a> {
    ExtendedDataAdmin { store, limit: visit.panel.settings.extended_data_limit }
}

/// The data, indented.
fn indented(data: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(data).unwrap_or_default()
}

async fn show(visit: &Visit, place: Place, problems: Vec<Problem>) -> Result<Reply> {
    let store = visit.panel.store().extended_data();
    let StoredData { data, updated_at } = admin(visit, store).read(place.organization, place.owner).await?;
    let text = indented(&data);
    let words = &visit.words;
    if text.len() > LONGEST_SHOWN {
        let json = Json::new(words, "json", visit.say("extended-data-by"), &text);
        let note = Html::paragraph("soft", &visit.say("extended-data-large"));
        return visit.page(place.head, Html::join([note, json.html()])).await;
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
    let form = Form::new(words, place.path.clone(), visit.token(), "extended-data-save")
        .method("put")
        .hidden("revision", visit.revision(revision_at(updated_at)))
        .section(section)
        .note(visit.tell("extended-data-changed", &[("time", visit.time(updated_at).into())]));
    visit.form_page(place.head, form.html(), problems).await
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

async fn save(visit: &Visit, place: Place) -> Result<Reply> {
    let data = match read(visit) {
        Ok(data) => data,
        Err(problem) => return show(visit, place, vec![problem]).await,
    };
    let (kind, id, name) = &place.record;
    let saved = visit
        .change(async |tx| {
            let admin = admin(visit, tx.extended_data());
            let replaced = admin
                .replace(place.organization, place.owner, (data.clone(), visit.seen()), visit.now)
                .await?;
            let changes = changes(&replaced);
            if changes.is_empty() {
                return Ok(());
            }
            let record =
                visit.record(Action::ExtendedDataUpdated).of(Some(place.organization)).on(kind, id, name);
            let record = changes.iter().fold(record, |record, (field, old, new)| {
                record.changed(field, old.as_deref(), new.as_deref())
            });
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match saved {
        Ok(()) => {
            let notice = Notice::good(visit.say("extended-data-saved"));
            visit.redirect(place.path.clone(), notice).await
        }
        Err(fault) => {
            let mut problems = error::problems(&visit.words, fault, |_| DATA.to_owned())?;
            let changed = visit.say("problem-changed-meanwhile");
            for problem in problems.iter_mut().filter(|problem| problem.text != changed) {
                refuse(visit, problem);
            }
            show(visit, place, problems).await
        }
    }
}

/// What a refusal says on the page, and where.
fn refuse(visit: &Visit, problem: &mut Problem) {
    DATA.clone_into(&mut problem.field);
    problem.text = if problem.text == refusals::NUL {
        visit.say("problem-nul")
    } else if problem.text.contains("exceeds maximum size") {
        visit.say("problem-json-large")
    } else if problem.text.contains("nested deeper") {
        visit.say("problem-json-deep")
    } else if problem.text.contains("is reserved") {
        visit.say("problem-json-reserved")
    } else {
        std::mem::take(&mut problem.text)
    };
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

pub(crate) async fn organization(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_organization(visit).await?;
    show(visit, place, Vec::new()).await
}

pub(crate) async fn save_organization(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_organization(visit).await?;
    save(visit, place).await
}

pub(crate) async fn person(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_person(visit).await?;
    show(visit, place, Vec::new()).await
}

pub(crate) async fn save_person(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_person(visit).await?;
    save(visit, place).await
}

pub(crate) async fn space(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_space(visit).await?;
    show(visit, place, Vec::new()).await
}

pub(crate) async fn save_space(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_space(visit).await?;
    save(visit, place).await
}

pub(crate) async fn component(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_component(visit).await?;
    show(visit, place, Vec::new()).await
}

pub(crate) async fn save_component(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_component(visit).await?;
    save(visit, place).await
}

pub(crate) async fn proposal(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_proposal(visit).await?;
    show(visit, place, Vec::new()).await
}

pub(crate) async fn save_proposal(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_proposal(visit).await?;
    save(visit, place).await
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
