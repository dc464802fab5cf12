//! Roles in a space: who has which, give, take (contract 03 §4).

use super::content::{Here, number};
use super::people;
use super::person_roles::type_name;
use super::proposals::authors;
use crate::error;
use crate::format::Zone;
use crate::notice::Notice;
use crate::parts::{
    Act, Cell, Choice, Column, Empty, Field, Form, Group, Html, Problem, RowAct, Section, Table,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{
    RoleAdmin, RoleDetail, RoleField, RoleFilter, RoleGrant, RoleId, RoleKind, RoleType, SpaceRoleId, User,
    UserSearch, normal_email,
};
use civitas_audit::{Action, Record};
use civitas_kernel::filter::{Condition, Is};
use civitas_kernel::{Error, PageRequest, Result, SpaceManifest, UserId};
use std::collections::HashMap;

const PER_PAGE: i64 = 25;
const PERSON: &str = "role[person]";
const TYPE: &str = "role[type]";

/// The space of the path, which is of a kind that has roles.
async fn of_path(visit: &mut Visit) -> Result<Here> {
    let here = Here::of_path(visit).await?;
    visit.zone = Zone::named(&here.organization.time_zone);
    if here.own.manifest == SpaceManifest::Initiatives { Err(Error::NotFound) } else { Ok(here) }
}

fn path(here: &Here) -> String {
    format!("{}/roles", here.path())
}

/// The page of a person of the organization.
fn page_of(here: &Here, id: UserId) -> String {
    format!("{}/{id}", people::list_path(here.id))
}

fn person_name(visit: &Visit, user: Option<UserId>, people: &HashMap<UserId, User>) -> String {
    match user {
        None => visit.say("role-invitation"),
        Some(id) => people.get(&id).map_or_else(|| visit.say("deleted"), |user| user.name.clone()),
    }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let here = of_path(visit).await?;
    let visit = &*visit;
    let (own, request) = (path(&here), visit.query.page(PER_PAGE));
    let class = here.own.manifest.class().to_owned();
    let filters = [
        RoleFilter { field: RoleField::ResourceType, condition: Condition::Text(Is::Eq(class)) },
        RoleFilter { field: RoleField::ResourceId, condition: Condition::Integer(Is::Eq(here.own.id)) },
    ];
    let page = visit.panel.store().roles().list(here.id, &filters, request).await?;
    let ids = page.items.iter().filter_map(|role| role.id.user()).map(|user| user.0).collect();
    let people = authors(visit, here.id, ids).await?;
    let row = |role: &RoleDetail| {
        let kind = type_name(visit, role.id.role_type());
        let name = person_name(visit, role.id.user(), &people);
        let known = role.id.user().and_then(|id| people.get(&id).map(|user| (id, user)));
        let person = match known {
            Some((id, user)) => Cell::link(&page_of(&here, id), &name, &format!("@{}", user.nickname)),
            None => Cell::soft(&name),
        };
        let take = RowAct::link(
            format!("{own}/{}/delete", role.id.encode()),
            visit.say("role-take-link"),
            format!("{kind}, {name}"),
        );
        let invitation = if role.accepted_invite { String::new() } else { visit.say("role-pending") };
        vec![
            person,
            Cell::text(&kind),
            Cell::with_sub(&visit.date(role.created_at), &invitation),
            Cell::acts(&[take]),
        ]
    };
    let columns = vec![
        Column::new(visit.say("role-person")),
        Column::new(visit.say("role")),
        Column::new(visit.say("role-given")),
        Column::acts(visit.say("column-acts")),
    ];
    let new = (format!("{own}/new"), visit.say("role-give"));
    let empty =
        Empty { title: visit.say("roles-none"), text: visit.say("space-roles-lede"), act: Some(new.clone()) };
    let caption = visit.tell("roles-of", &[("name", here.title(visit).into())]);
    let table = Table::new(caption, columns).rows(page.items.iter().map(row)).empty(empty);
    let mut body = Vec::new();
    if !page.items.is_empty() {
        body.push(Act::row(&[Act::link(new.0, new.1)]));
    }
    body.extend([table.html(), visit.pages(&own, request, page.has_more)]);
    visit.page(here.head(visit, "roles"), Html::join(body)).await
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let here = of_path(visit).await?;
    show(visit, &here, Vec::new()).await
}

async fn show(visit: &Visit, here: &Here, problems: Vec<Problem>) -> Result<Reply> {
    let in_space = RoleType::ALL.into_iter().filter(|role| matches!(role, RoleType::InSpace(_)));
    let types = in_space.map(|role| {
        let hint = visit.say(&format!("role-{}-hint", role.as_str().replace('_', "-")));
        Choice::new(role.as_str(), type_name(visit, role)).hint(hint)
    });
    let kind = Group::radios(TYPE, visit.say("role"), types.collect(), visit.form.text(TYPE));
    let person = Field::text(PERSON, visit.say("role-person"), visit.form.get(PERSON).unwrap_or_default())
        .hint(visit.say("role-person-hint"))
        .class("medium")
        .required()
        .check(&problems);
    let section = Section::new("role", visit.say("role"))
        .hint(visit.say("space-roles-lede"))
        .field(person.html(&visit.words))
        .field(kind.check(&problems).html(&visit.words));
    let form =
        Form::new(&visit.words, path(here), visit.token(), "role-give").section(section).cancel(path(here));
    let title = visit.tell("role-give-in", &[("name", here.title(visit).into())]);
    let head = here.below(visit, title).crumb(visit.say("roles"), path(here)).here(visit.say("role-give"));
    visit.form_page(head, form.html(), problems).await
}

/// The account with this nickname, with or without `@`, with this address, or with this id.
async fn person(visit: &Visit, here: &Here, text: &str) -> Result<Option<(UserId, User)>> {
    let text = text.strip_prefix('@').unwrap_or(text);
    if text.is_empty() {
        return Ok(None);
    }
    let search = UserSearch { text: Some(text.to_owned()), ..UserSearch::default() };
    let request = PageRequest { page: 1, per_page: PageRequest::MAX_LENGTH };
    let page = visit.panel.store().users().search(here.id, &search, request).await?;
    let folded = normal_email(text);
    Ok(page.items.into_iter().find(|(id, user)| {
        user.nickname.to_lowercase() == folded || user.email == folded || id.to_string() == text
    }))
}

pub(crate) async fn give(visit: &mut Visit) -> Result<Reply> {
    let here = of_path(visit).await?;
    let visit = &*visit;
    let kind = match RoleType::parse(visit.form.text(TYPE)) {
        Some(RoleType::InSpace(kind)) => Ok(kind),
        _ => Err(Problem::new(TYPE, visit.say("problem-choose"))),
    };
    let found = person(visit, &here, visit.form.text(PERSON)).await?;
    let found = found.ok_or_else(|| Problem::new(PERSON, visit.say("problem-person")));
    let ((user, account), kind) = match (found, kind) {
        (Ok(found), Ok(kind)) => (found, kind),
        (found, kind) => {
            let problems = [found.err(), kind.err()].into_iter().flatten().collect();
            return show(visit, &here, problems).await;
        }
    };
    let given = visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            let grant = RoleGrant::InSpace(here.own, kind);
            let role = admin.give(here.id, user, grant, visit.now).await?;
            let record = record(visit, &here, Action::RoleCreated, (&role.id, kind), &account.nickname);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match given {
        Ok(()) => {
            let title = visit.tell("role-given-to", &[("name", account.name.into())]);
            visit.redirect(path(&here), Notice::good(title).text(visit.say("role-given-undo"))).await
        }
        Err(fault) => {
            let mut problems = error::problems(&visit.words, fault, |_| TYPE.to_owned())?;
            for problem in &mut problems {
                *problem = Problem::new(TYPE, visit.say("problem-role-taken"));
            }
            show(visit, &here, problems).await
        }
    }
}

/// The entry of the audit trail, as that of a role that is given on the page of a person.
fn record(
    visit: &Visit,
    here: &Here,
    action: Action,
    (id, kind): (&RoleId, RoleKind),
    nickname: &str,
) -> Record {
    let (kind, place) = (RoleType::InSpace(kind).as_str(), number(here.own));
    let record = visit.record(action).of(here.id).on("role", &id.encode(), kind);
    let fields = [("user", nickname), ("type", kind), ("space", place.as_str())];
    fields.into_iter().fold(record, |record, (field, value)| {
        if action == Action::RoleDeleted {
            record.changed(field, Some(value), None)
        } else {
            record.changed(field, None, Some(value))
        }
    })
}

/// The role of the path, which is one in the space.
async fn role(visit: &Visit, here: &Here) -> Result<SpaceRoleId> {
    let Some(RoleId::InSpace(id)) = RoleId::decode(visit.param("role")) else { return Err(Error::NotFound) };
    let is_here =
        id.space == here.own && visit.panel.store().roles().find_by_id(here.id, &id).await?.is_some();
    if is_here { Ok(id) } else { Err(Error::NotFound) }
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let here = of_path(visit).await?;
    let visit = &*visit;
    let id = role(visit, &here).await?;
    let people = authors(visit, here.id, id.user.map(|user| user.0).into_iter().collect()).await?;
    let values = [
        ("role", type_name(visit, RoleType::InSpace(id.kind)).into()),
        ("place", here.title(visit).into()),
        ("name", person_name(visit, id.user, &people).into()),
    ];
    let is_member = id.kind == RoleKind::SpacePrivateMember;
    let effect = if is_member { "role-take-member" } else { "role-take-effect" };
    let confirm = visit
        .confirm(
            format!("{}/{}", path(&here), RoleId::InSpace(id).encode()),
            visit.say("role-take"),
            path(&here),
        )
        .delete()
        .effects([visit.tell("role-take-what", &values), visit.say(effect)])
        .stays(visit.say("role-take-stays"));
    let title = visit.tell("role-take-title", &values[..1]);
    let head = here.below(visit, title).crumb(visit.say("roles"), path(&here)).here(visit.say("role-take"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn take(visit: &mut Visit) -> Result<Reply> {
    let here = of_path(visit).await?;
    let visit = &*visit;
    let id = role(visit, &here).await?;
    let people = authors(visit, here.id, id.user.map(|user| user.0).into_iter().collect()).await?;
    let user = id.user.and_then(|user| people.get(&user));
    let nickname = user.map(|user| user.nickname.as_str()).unwrap_or_default();
    visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            admin.take(here.id, &RoleId::InSpace(id), visit.now).await?;
            let role = (&RoleId::InSpace(id), id.kind);
            let record = record(visit, &here, Action::RoleDeleted, role, nickname);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await?;
    let title = visit.tell("role-taken", &[("name", person_name(visit, id.user, &people).into())]);
    visit.redirect(path(&here), Notice::good(title)).await
}
