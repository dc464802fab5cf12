//! Roles of a person: list, give, take (contract 03 §4).

use super::organization;
use super::people::Person;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Act, Card, Cell, Choice, Column, Empty, Field, Form, Group, Html, Problem, RowAct, Section, Table,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{RoleAdmin, RoleDetail, RoleField, RoleFilter, RoleGrant, RoleId, RoleKind, RoleType};
use civitas_audit::Action;
use civitas_kernel::filter::{Condition, Is};
use civitas_kernel::{Error, OrganizationId, PageRequest, Result, SpaceManifest, SpaceRef};
use civitas_spaces::{SpaceField, SpaceFilter};
use std::collections::HashMap;

const PER_PAGE: i64 = 25;
/// The most spaces that the form lists; above this, the number of the space is typed.
const MOST_LISTED: i64 = 50;
const TYPE: &str = "role[type]";
const SPACE: &str = "role[space]";

/// The title of a space.
fn title(visit: &Visit, space: &civitas_spaces::Space, id: i64) -> String {
    space.title.title(visit.words.locale).map_or_else(|| id.to_string(), str::to_owned)
}

pub(crate) fn type_name(visit: &Visit, role: RoleType) -> String {
    visit.say(&format!("role-{}", role.as_str().replace('_', "-")))
}

/// The titles of the spaces of these numbers, of all kinds; one read.
async fn titles(
    visit: &Visit,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<HashMap<SpaceRef, String>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = SpaceFilter { field: SpaceField::Id, condition: Condition::Integer(Is::In(ids)) };
    let request = PageRequest { page: 1, per_page: PageRequest::MAX_LENGTH };
    let reader = organization::as_administrator(organization);
    let page = visit.panel.store().spaces().list(reader, None, &[filter], request).await?;
    Ok(page.items.into_iter().map(|found| (found.id, title(visit, &found.space, found.id.id))).collect())
}

/// The place of a role: the organization, or the title of the space.
fn place(visit: &Visit, person: &Person, titles: &HashMap<SpaceRef, String>, id: &RoleId) -> String {
    match id {
        RoleId::GeneralAdmin { .. } => organization::name(visit, &person.home),
        RoleId::InSpace(role) => titles
            .get(&role.space)
            .cloned()
            .unwrap_or_else(|| format!("{}/{}", role.space.manifest.as_str(), role.space.id)),
    }
}

fn space_number(id: &RoleId) -> Option<i64> {
    match id {
        RoleId::GeneralAdmin { .. } => None,
        RoleId::InSpace(role) => Some(role.space.id),
    }
}

/// The card with the roles of a person, on the page of the account.
pub(crate) async fn card(visit: &Visit, person: &Person) -> Result<Html> {
    let filter = RoleFilter { field: RoleField::User, condition: Condition::Integer(Is::Eq(person.id.0)) };
    let request = visit.query.page(PER_PAGE);
    let page = visit.panel.store().roles().list(person.organization, &[filter], request).await?;
    let numbers = page.items.iter().filter_map(|role| space_number(&role.id)).collect();
    let titles = titles(visit, person.organization, numbers).await?;
    let row = |role: &RoleDetail| {
        let (name, place) = (type_name(visit, role.id.role_type()), place(visit, person, &titles, &role.id));
        let take = RowAct::link(
            format!("{}/roles/{}/delete", person.path(), role.id.encode()),
            visit.say("role-take-link"),
            format!("{name}, {place}"),
        );
        let invitation = if role.accepted_invite { String::new() } else { visit.say("role-pending") };
        vec![
            Cell::text(&name),
            Cell::text(&place),
            Cell::with_sub(&visit.date(role.created_at), &invitation),
            Cell::acts(&[take]),
        ]
    };
    let columns = vec![
        Column::new(visit.say("role")),
        Column::new(visit.say("role-place")),
        Column::new(visit.say("role-given")),
        Column::acts(visit.say("column-acts")),
    ];
    let new = (format!("{}/roles/new", person.path()), visit.say("role-give"));
    let empty =
        Empty { title: visit.say("roles-none"), text: visit.say("roles-lede"), act: Some(new.clone()) };
    let caption = visit.tell("roles-of", &[("name", person.user.name.as_str().into())]);
    let table = Table::new(caption, columns).rows(page.items.iter().map(row)).empty(empty);
    let mut body = vec![table.html(), visit.pages(&person.path(), request, page.has_more)];
    if !page.items.is_empty() {
        body.push(Act::row(&[Act::link(new.0, new.1)]));
    }
    Ok(Card::new("roles", visit.say("roles"), Html::join(body)).html())
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    show(visit, &Person::of(visit).await?, Vec::new()).await
}

/// The field for the space: a list, or where there are many, a text such as `assemblies/7`.
async fn space_field(visit: &Visit, organization: OrganizationId, problems: &[Problem]) -> Result<Html> {
    let reader = organization::as_administrator(organization);
    let request = PageRequest { page: 1, per_page: MOST_LISTED };
    let page = visit.panel.store().spaces().list(reader, None, &[], request).await?;
    let typed = visit.form.get(SPACE).unwrap_or_default();
    let label = visit.say("role-space");
    let field = if page.has_more {
        Field::text(SPACE, label, typed).hint(visit.say("role-space-typed-hint")).class("mono")
    } else {
        let with_roles = page.items.iter().filter(|found| found.id.manifest != SpaceManifest::Initiatives);
        let choices = with_roles.map(|found| {
            let value = format!("{}/{}", found.id.manifest.as_str(), found.id.id);
            let kind = visit.say(&format!("space-one-{}", found.id.manifest.as_str().replace('_', "-")));
            Choice::new(value, format!("{} ({kind})", title(visit, &found.space, found.id.id)))
        });
        let choices = std::iter::once(Choice::new("", visit.say("choose"))).chain(choices);
        Field::select(SPACE, label, typed, choices.collect()).hint(visit.say("role-space-hint"))
    };
    Ok(field.check(problems).html(&visit.words))
}

async fn show(visit: &Visit, person: &Person, problems: Vec<Problem>) -> Result<Reply> {
    let types = RoleType::ALL.map(|role| {
        let hint = visit.say(&format!("role-{}-hint", role.as_str().replace('_', "-")));
        Choice::new(role.as_str(), type_name(visit, role)).hint(hint)
    });
    let kind = Group::radios(TYPE, visit.say("role"), types.to_vec(), visit.form.text(TYPE)).check(&problems);
    let section = Section::new("role", visit.say("role"))
        .hint(visit.say("roles-lede"))
        .field(kind.html(&visit.words))
        .field(space_field(visit, person.organization, &problems).await?);
    let form = Form::new(&visit.words, format!("{}/roles", person.path()), visit.token(), "role-give")
        .section(section)
        .cancel(person.path());
    let title = visit.tell("role-give-to", &[("name", person.user.name.as_str().into())]);
    let head = person.head(visit, title).here(visit.say("role-give"));
    visit.form_page(head, form.html(), problems).await
}

/// The role that the form names.
fn read(visit: &Visit) -> std::result::Result<RoleGrant, Problem> {
    let choose = |field: &str| Problem::new(field, visit.say("problem-choose"));
    match RoleType::parse(visit.form.text(TYPE)) {
        None => Err(choose(TYPE)),
        Some(RoleType::GeneralAdmin) => Ok(RoleGrant::GeneralAdmin),
        Some(RoleType::InSpace(kind)) => {
            Ok(RoleGrant::InSpace(space(visit.form.text(SPACE)).ok_or_else(|| choose(SPACE))?, kind))
        }
    }
}

/// The space of a text such as `assemblies/7`.
fn space(text: &str) -> Option<SpaceRef> {
    let (manifest, id) = text.split_once('/')?;
    Some(SpaceRef { manifest: SpaceManifest::parse(manifest)?, id: id.parse().ok()? })
}

pub(crate) async fn give(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let person = Person::of(visit).await?;
    let grant = match read(visit) {
        Ok(grant) => grant,
        Err(problem) => return show(visit, &person, vec![problem]).await,
    };
    let given = visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            let role = admin.give(person.organization, person.id, grant, visit.now).await?;
            let record = record(visit, &person, Action::RoleCreated, &role.id);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match given {
        Ok(()) => {
            let title = visit.tell("role-given-to", &[("name", person.user.name.as_str().into())]);
            visit.redirect(person.path(), Notice::good(title).text(visit.say("role-given-undo"))).await
        }
        Err(Error::NotFound) if matches!(grant, RoleGrant::InSpace(..)) => {
            let problem = Problem::new(SPACE, visit.say("problem-space-missing"));
            show(visit, &person, vec![problem]).await
        }
        Err(fault) => {
            let mut problems = error::problems(&visit.words, fault, |_| TYPE.to_owned())?;
            if let Some(problem) = problems.first_mut() {
                problem.text = visit.say("problem-role-taken");
            }
            show(visit, &person, problems).await
        }
    }
}

fn record(visit: &Visit, person: &Person, action: Action, id: &RoleId) -> civitas_audit::Record {
    let place = match id {
        RoleId::GeneralAdmin { .. } => None,
        RoleId::InSpace(role) => Some(format!("{}/{}", role.space.manifest.as_str(), role.space.id)),
    };
    let (kind, nickname) = (id.role_type().as_str(), person.user.nickname.as_str());
    let record = visit.record(action).of(person.organization).on("role", &id.encode(), kind);
    let fields = [("user", Some(nickname)), ("type", Some(kind)), ("space", place.as_deref())];
    fields.into_iter().fold(record, |record, (field, value)| {
        if action == Action::RoleDeleted {
            record.changed(field, value, None)
        } else {
            record.changed(field, None, value)
        }
    })
}

/// The role of the path, which is one of the person.
fn role(visit: &Visit, person: &Person) -> Result<RoleId> {
    let id = RoleId::decode(visit.param("role")).ok_or(Error::NotFound)?;
    if id.user() == Some(person.id) { Ok(id) } else { Err(Error::NotFound) }
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let person = Person::of(visit).await?;
    let id = role(visit, &person)?;
    let titles = titles(visit, person.organization, space_number(&id).into_iter().collect()).await?;
    let values = || {
        [
            ("role", type_name(visit, id.role_type()).into()),
            ("place", place(visit, &person, &titles, &id).into()),
            ("name", person.user.name.as_str().into()),
        ]
    };
    let is_member = matches!(id, RoleId::InSpace(role) if role.kind == RoleKind::SpacePrivateMember);
    let effect = if is_member { "role-take-member" } else { "role-take-effect" };
    let confirm = visit
        .confirm(format!("{}/roles/{}", person.path(), id.encode()), visit.say("role-take"), person.path())
        .delete()
        .effects([visit.tell("role-take-what", &values()), visit.say(effect)])
        .stays(visit.say("role-take-stays"));
    let head = person.head(visit, visit.tell("role-take-title", &values()[..1])).here(visit.say("role-take"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn take(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let person = Person::of(visit).await?;
    let id = role(visit, &person)?;
    visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            admin.take(person.organization, &id, visit.now).await?;
            let record = record(visit, &person, Action::RoleDeleted, &id);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await?;
    let title = visit.tell("role-taken", &[("name", person.user.name.as_str().into())]);
    visit.redirect(person.path(), Notice::good(title)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_written_as_kind_and_number() {
        let youth = SpaceRef { manifest: SpaceManifest::Assemblies, id: 7 };
        assert_eq!(space("assemblies/7"), Some(youth));
        assert_eq!((space("assemblies"), space("councils/7"), space("assemblies/x")), (None, None, None));
    }
}
