//! Roles of a person and roles in a space (contract 03 §4): list, give, take.

use super::content::{OpenedSpace, number};
use super::organization;
use super::people::{self, Person};
use super::proposals::authors;
use crate::error;
use crate::format::Zone;
use crate::notice::Notice;
use crate::parts::{
    Act, Card, Cell, Choice, Column, Empty, Field, Form, Group, Head, Html, Problem, RowAct, Section, Table,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{
    RoleAdmin, RoleDetail, RoleField, RoleFilter, RoleGrant, RoleId, RoleKind, RoleType, User, UserSearch,
    normal_email,
};
use civitas_audit::{Action, Record};
use civitas_kernel::filter::{Condition, Is};
use civitas_kernel::{Error, OrganizationId, PageRequest, Result, SpaceManifest, SpaceRef, UserId};
use civitas_spaces::{Space, SpaceField, SpaceFilter};
use std::collections::HashMap;

const PER_PAGE: i64 = 25;
/// The most spaces that the form lists; above this, the number of the space is typed.
const MOST_LISTED: i64 = 50;
const PERSON: &str = "role[person]";
const SPACE: &str = "role[space]";
const TYPE: &str = "role[type]";

/// What the roles of a page have in common.
enum RoleOwner {
    /// The account, and its nickname.
    Person(UserId, String),
    Space(SpaceRef),
}

/// The pages of the roles of one person, or in one space.
struct RolePages {
    owner: RoleOwner,
    organization: OrganizationId,
    organization_name: String,
    /// The name of the person, or the title of the space.
    name: String,
    /// The page with the list.
    list: String,
    /// The address below which roles are.
    path: String,
    /// The key of the text that says what a role is.
    lede: &'static str,
    /// The head of a page below the list, without title.
    head: Head,
}

/// The other side of a role: its place on the pages of a person, the account on the pages of a space.
struct OtherSide {
    name: String,
    /// The nickname of the account; empty where there is none.
    nickname: String,
    cell: Cell,
}

impl RolePages {
    async fn of_path(visit: &mut Visit) -> Result<Self> {
        if visit.params.contains_key("uid") {
            Ok(Self::of_person(visit, &Person::of(visit).await?))
        } else {
            let space = space_of_path(visit).await?;
            Ok(Self::of_space(visit, &space))
        }
    }

    fn of_person(visit: &Visit, person: &Person) -> Self {
        Self {
            owner: RoleOwner::Person(person.id, person.user.nickname.clone()),
            organization: person.organization,
            organization_name: organization::name(visit, &person.home),
            name: person.user.name.clone(),
            list: person.path(),
            path: format!("{}/roles", person.path()),
            lede: "roles-lede",
            head: person.head(visit, String::new()),
        }
    }

    fn of_space(visit: &Visit, space: &OpenedSpace) -> Self {
        let list = format!("{}/roles", space.path());
        Self {
            owner: RoleOwner::Space(space.own),
            organization: space.id,
            organization_name: organization::name(visit, &space.organization),
            name: space.title(visit),
            path: list.clone(),
            lede: "space-roles-lede",
            head: space.below(visit, "").crumb(visit.say("roles"), list.clone()),
            list,
        }
    }

    fn head(&self, title: String, here: String) -> Head {
        Head { title, ..self.head.clone() }.here(here)
    }

    /// The other sides of these roles, in their order; one read.
    async fn other_sides(&self, visit: &Visit, roles: &[RoleId]) -> Result<Vec<OtherSide>> {
        let side =
            |name: String, nickname: &str, cell: Cell| OtherSide { name, nickname: nickname.into(), cell };
        let RoleOwner::Space(_) = self.owner else {
            let titles = titles(visit, self.organization, roles).await?;
            let place = |role: &RoleId| match role {
                RoleId::GeneralAdmin { .. } => self.organization_name.clone(),
                RoleId::InSpace(role) => {
                    titles.get(&role.space).cloned().unwrap_or_else(|| number(role.space))
                }
            };
            let places = roles.iter().map(place).map(|place| (Cell::text(&place), place));
            return Ok(places.map(|(cell, place)| side(place, "", cell)).collect());
        };
        let ids = roles.iter().filter_map(RoleId::user).map(|user| user.0).collect();
        let accounts = authors(visit, self.organization, ids).await?;
        let account = |role: &RoleId| {
            let id = role.user();
            if let Some((id, user)) = id.and_then(|id| accounts.get_key_value(&id)) {
                let href = format!("{}/{id}", people::list_path(self.organization));
                let cell = Cell::link(&href, &user.name, &format!("@{}", user.nickname));
                return side(user.name.clone(), &user.nickname, cell);
            }
            let name = visit.say(if id.is_none() { "role-invitation" } else { "deleted" });
            let cell = Cell::soft(&name);
            side(name, "", cell)
        };
        Ok(roles.iter().map(account).collect())
    }

    async fn other_side(&self, visit: &Visit, role: RoleId) -> Result<OtherSide> {
        self.other_sides(visit, &[role]).await?.pop().ok_or(Error::NotFound)
    }

    fn row(&self, visit: &Visit, role: &RoleDetail, other: OtherSide) -> Vec<Cell> {
        let kind = type_name(visit, role.id.role_type());
        let href = format!("{}/{}/delete", self.path, role.id.encode());
        let take = RowAct::link(href, visit.say("role-take-link"), format!("{kind}, {}", other.name));
        let invitation = if role.accepted_invite { String::new() } else { visit.say("role-pending") };
        let given = Cell::with_sub(&visit.date(role.created_at), &invitation);
        let (kind, acts) = (Cell::text(&kind), Cell::acts(&[take]));
        match self.owner {
            RoleOwner::Person(..) => vec![kind, other.cell, given, acts],
            RoleOwner::Space(_) => vec![other.cell, kind, given, acts],
        }
    }

    /// The table with the links to its pages, and the link to give a role. A table without rows has that link itself.
    async fn table(&self, visit: &Visit) -> Result<(Html, Html)> {
        let integer = |field, number| RoleFilter { field, condition: Condition::Integer(Is::Eq(number)) };
        let (filters, columns) = match &self.owner {
            RoleOwner::Person(id, _) => (vec![integer(RoleField::User, id.0)], ["role", "role-place"]),
            RoleOwner::Space(space) => {
                let class = Condition::Text(Is::Eq(space.manifest.class().to_owned()));
                let class = RoleFilter { field: RoleField::ResourceType, condition: class };
                (vec![class, integer(RoleField::ResourceId, space.id)], ["role-person", "role"])
            }
        };
        let request = visit.query.page(PER_PAGE);
        let page = visit.panel.store().roles().list(self.organization, &filters, request).await?;
        let ids: Vec<RoleId> = page.items.iter().map(|role| role.id).collect();
        let others = self.other_sides(visit, &ids).await?;
        let rows = page.items.iter().zip(others).map(|(role, other)| self.row(visit, role, other));
        let new = (format!("{}/new", self.path), visit.say("role-give"));
        let empty =
            Empty { title: visit.say("roles-none"), text: visit.say(self.lede), act: Some(new.clone()) };
        let columns = columns.into_iter().chain(["role-given"]).map(|key| Column::new(visit.say(key)));
        let columns = columns.chain([Column::acts(visit.say("column-acts"))]).collect();
        let table = Table::new(visit.tell("roles-of", &[("name", self.name.as_str().into())]), columns)
            .rows(rows)
            .empty(empty);
        let table = Html::join([table.html(), visit.pages(&self.list, request, page.has_more)]);
        let give = if page.items.is_empty() { Html::default() } else { Act::row(&[Act::link(new.0, new.1)]) };
        Ok((table, give))
    }

    /// The role of the path, which is one of the person, or one in the space.
    async fn role(&self, visit: &Visit) -> Result<RoleId> {
        let id = RoleId::decode(visit.param("role")).ok_or(Error::NotFound)?;
        let is_listed = match (&self.owner, &id) {
            (RoleOwner::Person(user, _), _) => id.user() == Some(*user),
            (RoleOwner::Space(space), RoleId::InSpace(role)) if role.space == *space => {
                visit.panel.store().roles().find_by_id(self.organization, role).await?.is_some()
            }
            (RoleOwner::Space(_), _) => false,
        };
        if is_listed { Ok(id) } else { Err(Error::NotFound) }
    }

    /// The entry of the audit trail.
    fn record(&self, visit: &Visit, action: Action, id: &RoleId, nickname: &str) -> Record {
        let kind = id.role_type().as_str();
        let place = match id {
            RoleId::GeneralAdmin { .. } => None,
            RoleId::InSpace(role) => Some(number(role.space)),
        };
        let record = visit.record(action).of(self.organization).on("role", &id.encode(), kind);
        let fields = [("user", Some(nickname)), ("type", Some(kind)), ("space", place.as_deref())];
        fields.into_iter().fold(record, |record, (field, value)| {
            if action == Action::RoleDeleted {
                record.changed(field, value, None)
            } else {
                record.changed(field, None, value)
            }
        })
    }
}

/// The space of the path, which is of a kind that has roles.
async fn space_of_path(visit: &mut Visit) -> Result<OpenedSpace> {
    let space = OpenedSpace::of_path(visit).await?;
    visit.zone = Zone::named(&space.organization.time_zone);
    if space.own.manifest == SpaceManifest::Initiatives { Err(Error::NotFound) } else { Ok(space) }
}

/// The title of a space; its number where it has none.
fn title(visit: &Visit, space: &Space, id: i64) -> String {
    space.title.title(visit.words.locale).map_or_else(|| id.to_string(), str::to_owned)
}

fn type_name(visit: &Visit, role: RoleType) -> String {
    visit.say(&format!("role-{}", role.as_str().replace('_', "-")))
}

/// The titles of the spaces of these roles, and of those of other kinds with the same numbers; one read.
async fn titles(
    visit: &Visit,
    organization: OrganizationId,
    roles: &[RoleId],
) -> Result<HashMap<SpaceRef, String>> {
    let in_space = roles.iter().filter(|role| matches!(role, RoleId::InSpace(_)));
    let mut ids: Vec<i64> = in_space.map(RoleId::resource_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = SpaceFilter { field: SpaceField::Id, condition: Condition::Integer(Is::In(ids)) };
    let request = PageRequest::of(1, PageRequest::MAX_LENGTH);
    let reader = organization::as_administrator(organization);
    let page = visit.panel.store().spaces().list(reader, None, &[filter], request).await?;
    Ok(page.items.into_iter().map(|found| (found.id, title(visit, &found.space, found.id.id))).collect())
}

/// The card with the roles of a person, on the page of the account.
pub(crate) async fn card(visit: &Visit, person: &Person) -> Result<Html> {
    let (table, give) = RolePages::of_person(visit, person).table(visit).await?;
    Ok(Card::new("roles", visit.say("roles"), Html::join([table, give])).html())
}

/// The roles in a space.
pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let space = space_of_path(visit).await?;
    let (table, give) = RolePages::of_space(visit, &space).table(visit).await?;
    visit.page(space.head(visit, "roles"), Html::join([give, table])).await
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let pages = RolePages::of_path(visit).await?;
    show(visit, &pages, Vec::new()).await
}

/// The field for the space: a list, or where there are many, a text such as `assemblies/7`.
async fn space_field(visit: &Visit, organization: OrganizationId) -> Result<Field> {
    let reader = organization::as_administrator(organization);
    let request = PageRequest::of(1, MOST_LISTED);
    let page = visit.panel.store().spaces().list(reader, None, &[], request).await?;
    let typed = visit.form.get(SPACE).unwrap_or_default();
    let label = visit.say("role-space");
    if page.has_more {
        let hint = visit.say("role-space-typed-hint");
        return Ok(Field::text(SPACE, label, typed).hint(hint).class("mono"));
    }
    let with_roles = page.items.iter().filter(|found| found.id.manifest != SpaceManifest::Initiatives);
    let choices = with_roles.map(|found| {
        let kind = visit.say(&format!("space-one-{}", found.id.manifest.as_str().replace('_', "-")));
        Choice::new(number(found.id), format!("{} ({kind})", title(visit, &found.space, found.id.id)))
    });
    let choices = std::iter::once(Choice::new("", visit.say("choose"))).chain(choices);
    Ok(Field::select(SPACE, label, typed, choices.collect()).hint(visit.say("role-space-hint")))
}

async fn show(visit: &Visit, pages: &RolePages, problems: Vec<Problem>) -> Result<Reply> {
    let is_of_person = matches!(pages.owner, RoleOwner::Person(..));
    let types = RoleType::ALL.into_iter().filter(|role| is_of_person || *role != RoleType::GeneralAdmin);
    let types = types.map(|role| {
        let hint = visit.say(&format!("role-{}-hint", role.as_str().replace('_', "-")));
        Choice::new(role.as_str(), type_name(visit, role)).hint(hint)
    });
    let kind = Group::radios(TYPE, visit.say("role"), types.collect(), visit.form.text(TYPE));
    let kind = kind.check(&problems).html(&visit.words);
    let (fields, title) = if is_of_person {
        let space = space_field(visit, pages.organization).await?.check(&problems);
        ([kind, space.html(&visit.words)], "role-give-to")
    } else {
        let nickname = visit.form.get(PERSON).unwrap_or_default();
        let person = Field::text(PERSON, visit.say("role-person"), nickname)
            .hint(visit.say("role-person-hint"))
            .class("medium")
            .required()
            .check(&problems);
        ([person.html(&visit.words), kind], "role-give-in")
    };
    let section = Section::new("role", visit.say("role")).hint(visit.say(pages.lede));
    let form = Form::new(&visit.words, pages.path.clone(), visit.token(), "role-give")
        .section(fields.into_iter().fold(section, Section::field))
        .cancel(pages.list.clone());
    let title = visit.tell(title, &[("name", pages.name.as_str().into())]);
    visit.form_page(pages.head(title, visit.say("role-give")), form.html(), problems).await
}

/// The space of a text such as `assemblies/7`.
fn space(text: &str) -> Option<SpaceRef> {
    let (manifest, id) = text.split_once('/')?;
    Some(SpaceRef { manifest: SpaceManifest::parse(manifest)?, id: id.parse().ok()? })
}

/// The account with this nickname, with or without `@`, with this address, or with this id.
async fn person(visit: &Visit, organization: OrganizationId, text: &str) -> Result<Option<(UserId, User)>> {
    let text = text.strip_prefix('@').unwrap_or(text);
    if text.is_empty() {
        return Ok(None);
    }
    let search = UserSearch { text: Some(text.to_owned()), ..UserSearch::default() };
    let request = PageRequest::of(1, PageRequest::MAX_LENGTH);
    let page = visit.panel.store().users().search(organization, &search, request).await?;
    let folded = normal_email(text);
    Ok(page.items.into_iter().find(|(id, user)| {
        user.nickname.to_lowercase() == folded || user.email == folded || id.to_string() == text
    }))
}

pub(crate) async fn give(visit: &mut Visit) -> Result<Reply> {
    let pages = RolePages::of_path(visit).await?;
    let visit = &*visit;
    let (account, space) = match &pages.owner {
        RoleOwner::Person(id, nickname) => {
            (Some((*id, pages.name.clone(), nickname.clone())), space(visit.form.text(SPACE)))
        }
        RoleOwner::Space(space) => {
            let found = person(visit, pages.organization, visit.form.text(PERSON)).await?;
            (found.map(|(id, user)| (id, user.name, user.nickname)), Some(*space))
        }
    };
    let is_of_person = matches!(pages.owner, RoleOwner::Person(..));
    let grant = match (RoleType::parse(visit.form.text(TYPE)), space) {
        (Some(RoleType::GeneralAdmin), _) if is_of_person => Ok(RoleGrant::GeneralAdmin),
        (Some(RoleType::InSpace(kind)), Some(space)) => Ok(RoleGrant::InSpace(space, kind)),
        (Some(RoleType::InSpace(_)), None) => Err((SPACE, "problem-choose")),
        _ => Err((TYPE, "problem-choose")),
    };
    let ((user, name, nickname), grant) = match (account.ok_or((PERSON, "problem-person")), grant) {
        (Ok(account), Ok(grant)) => (account, grant),
        (account, grant) => {
            let faults = account.err().into_iter().chain(grant.err());
            let problems = faults.map(|(field, key)| Problem::new(field, visit.say(key))).collect();
            return show(visit, &pages, problems).await;
        }
    };
    let given = visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            let role = admin.give(pages.organization, user, grant, visit.now).await?;
            visit.append(tx, &pages.record(visit, Action::RoleCreated, &role.id, &nickname)).await
        })
        .await;
    let problem = match given {
        Ok(()) => {
            let title = visit.tell("role-given-to", &[("name", name.into())]);
            return visit.redirect(pages.list, Notice::good(title).text(visit.say("role-given-undo"))).await;
        }
        Err(Error::NotFound) if is_of_person && matches!(grant, RoleGrant::InSpace(..)) => {
            Problem::new(SPACE, visit.say("problem-space-missing"))
        }
        Err(fault) => {
            // The only fault of the form is that the person has the role.
            error::problems(&visit.words, fault, |_| TYPE.to_owned())?;
            Problem::new(TYPE, visit.say("problem-role-taken"))
        }
    };
    show(visit, &pages, vec![problem]).await
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let pages = RolePages::of_path(visit).await?;
    let visit = &*visit;
    let id = pages.role(visit).await?;
    let other = pages.other_side(visit, id).await?;
    let (place, name) = match pages.owner {
        RoleOwner::Person(..) => (other.name, pages.name.clone()),
        RoleOwner::Space(_) => (pages.name.clone(), other.name),
    };
    let role = type_name(visit, id.role_type());
    let values = [("role", role.into()), ("place", place.into()), ("name", name.into())];
    let is_member = matches!(id, RoleId::InSpace(role) if role.kind == RoleKind::SpacePrivateMember);
    let effect = if is_member { "role-take-member" } else { "role-take-effect" };
    let confirm = visit
        .confirm(format!("{}/{}", pages.path, id.encode()), visit.say("role-take"), pages.list.clone())
        .delete()
        .effects([visit.tell("role-take-what", &values), visit.say(effect)])
        .stays(visit.say("role-take-stays"));
    let head = pages.head(visit.tell("role-take-title", &values[..1]), visit.say("role-take"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn take(visit: &mut Visit) -> Result<Reply> {
    let pages = RolePages::of_path(visit).await?;
    let visit = &*visit;
    let id = pages.role(visit).await?;
    let (name, nickname) = match &pages.owner {
        RoleOwner::Person(_, nickname) => (pages.name.clone(), nickname.clone()),
        RoleOwner::Space(_) => {
            let other = pages.other_side(visit, id).await?;
            (other.name, other.nickname)
        }
    };
    visit
        .change(async |tx| {
            let admin = RoleAdmin { store: tx.roles(), users: tx.users() };
            admin.take(pages.organization, &id, visit.now).await?;
            visit.append(tx, &pages.record(visit, Action::RoleDeleted, &id, &nickname)).await
        })
        .await?;
    visit.done("role-taken", &[("name", name.into())], pages.list).await
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
