//! Roles of a person and roles in a space (contract 03 §4): list, assign, revoke.

use super::persons::{self, OpenedPerson, accounts};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::list::{List, PER_PAGE};
use crate::notice::Notice;
use crate::pages::content::opened_space::{OpenedSpace, parse_space_ref, spaces_by_ids};
use crate::pages::content::organization;
use crate::parts::{
    Card, Cell, Choice, ChoiceGroup, EmptyState, Field, FormError, FormErrors, Head, Html, PageAction,
    RowAction, Section, Table,
};
use crate::reply::Reply;
use civitas_accounts::{
    RoleDetail, RoleField, RoleFilter, RoleGrant, RoleId, RoleKind, RoleType, Roles, User, UserSearch,
    normal_email,
};
use civitas_application::Transaction;
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{Error, OrganizationId, PageRequest, Result, SpaceKind, SpaceRef, UserId};
use civitas_spaces::Space;
use std::collections::HashMap;

/// The most spaces that the form lists; above this, the number of the space is typed.
const MAX_LISTED: i64 = 50;
const PERSON_FIELD: &str = "role[person]";
const SPACE_FIELD: &str = "role[space]";
const TYPE_FIELD: &str = "role[type]";

/// The person or the space whose roles a page shows.
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

/// What a row names beside the role: the organization or space on the pages of a person, the account on the pages of a space.
struct Counterpart {
    name: String,
    /// The nickname of the account; empty where there is none.
    nickname: String,
    cell: Cell,
}

impl RolePages {
    async fn from_path(req: &AdminRequest) -> Result<Self> {
        if req.params.contains_key("uid") {
            Ok(Self::for_person(req, &OpenedPerson::from_path(req).await?))
        } else {
            let space = space_from_path(req).await?;
            Ok(Self::for_space(req, &space))
        }
    }

    fn for_person(req: &AdminRequest, person: &OpenedPerson) -> Self {
        Self {
            owner: RoleOwner::Person(person.id, person.user.nickname.clone()),
            organization: person.organization_id,
            organization_name: organization::name(req, &person.organization),
            name: person.user.name.clone(),
            list: person.path(),
            path: format!("{}/roles", person.path()),
            lede: "roles-lede",
            head: person.subpage_head(req, String::new()),
        }
    }

    fn for_space(req: &AdminRequest, space: &OpenedSpace) -> Self {
        let list = format!("{}/roles", space.path());
        Self {
            owner: RoleOwner::Space(space.space_ref),
            organization: space.organization_id,
            organization_name: organization::name(req, &space.organization),
            name: space.title(req),
            path: list.clone(),
            lede: "space-roles-lede",
            head: space.subpage_head(req, "").crumb(req.tr("roles"), list.clone()),
            list,
        }
    }

    fn head(&self, title: String, current: String) -> Head {
        Head { title, ..self.head.clone() }.current(current)
    }

    /// The counterparts of these roles, in their order; one read.
    async fn counterparts(&self, req: &AdminRequest, roles: &[RoleId]) -> Result<Vec<Counterpart>> {
        let side =
            |name: String, nickname: &str, cell: Cell| Counterpart { name, nickname: nickname.into(), cell };
        let RoleOwner::Space(_) = self.owner else {
            let titles = titles(req, self.organization, roles).await?;
            let resource = |role: &RoleId| match role {
                RoleId::GeneralAdmin { .. } => self.organization_name.clone(),
                RoleId::InSpace(role) => {
                    titles.get(&role.space).cloned().unwrap_or_else(|| role.space.to_string())
                }
            };
            let resources = roles.iter().map(resource).map(|name| (Cell::text(&name), name));
            return Ok(resources.map(|(cell, name)| side(name, "", cell)).collect());
        };
        let ids = roles.iter().filter_map(RoleId::user).map(|user| user.0).collect();
        let accounts = accounts(req, self.organization, ids).await?;
        let account = |role: &RoleId| {
            let id = role.user();
            if let Some((id, user)) = id.and_then(|id| accounts.get_key_value(&id)) {
                let href = format!("{}/{id}", persons::list_path(self.organization));
                let cell = Cell::link(&href, &user.name, &format!("@{}", user.nickname));
                return side(user.name.clone(), &user.nickname, cell);
            }
            let name = req.tr(if id.is_none() { "role-invitation" } else { "deleted" });
            let cell = Cell::muted(&name);
            side(name, "", cell)
        };
        Ok(roles.iter().map(account).collect())
    }

    async fn counterpart(&self, req: &AdminRequest, role: RoleId) -> Result<Counterpart> {
        self.counterparts(req, &[role]).await?.pop().ok_or(Error::NotFound)
    }

    fn row(&self, req: &AdminRequest, role: &RoleDetail, other: Counterpart) -> Vec<Cell> {
        let kind = type_name(req, role.id.role_type());
        let href = format!("{}/{}/delete", self.path, role.id.encode());
        let revoke = RowAction::link(href, req.tr("role-take-link"), format!("{kind}, {}", other.name));
        let invitation = if role.accepted_invite { String::new() } else { req.tr("role-pending") };
        let given = Cell::with_subtext(&req.date(role.created_at), &invitation);
        let (kind, actions) = (Cell::text(&kind), Cell::actions(&[revoke]));
        match self.owner {
            RoleOwner::Person(..) => vec![kind, other.cell, given, actions],
            RoleOwner::Space(_) => vec![other.cell, kind, given, actions],
        }
    }

    /// The table with the links to its pages, and the link to assign a role. A table without rows has that link itself.
    async fn table(&self, req: &AdminRequest) -> Result<(Html, Html)> {
        let integer =
            |field, number| RoleFilter { field, condition: FilterCondition::Integer(Comparison::Eq(number)) };
        let (filters, columns) = match &self.owner {
            RoleOwner::Person(id, _) => (vec![integer(RoleField::User, id.0)], "role role-place"),
            RoleOwner::Space(space) => {
                let class = FilterCondition::Text(Comparison::Eq(space.kind.class().to_owned()));
                let class = RoleFilter { field: RoleField::ResourceType, condition: class };
                (vec![class, integer(RoleField::ResourceId, space.id)], "role-person role")
            }
        };
        let request = req.query.page(PER_PAGE);
        let page = req.store().roles().list(self.organization, &filters, request).await?;
        let ids: Vec<RoleId> = page.items.iter().map(|role| role.id).collect();
        let others = self.counterparts(req, &ids).await?;
        let rows = page.items.iter().zip(others).map(|(role, other)| self.row(req, role, other));
        let new = (format!("{}/new", self.path), req.tr("role-give"));
        let empty = EmptyState::new(req.tr("roles-none"), req.tr(self.lede)).with_new(new.clone());
        let columns = req.columns(&format!("{columns} role-given column-acts"));
        let table =
            Table::new(req.tr_with("roles-of", "name", self.name.as_str()), columns).rows(rows).empty(empty);
        let links = List::new(req, "roles", &self.list).page_links(request, &page);
        let table = Html::join([table.html(), links.html()]);
        let new_link = if page.items.is_empty() {
            Html::default()
        } else {
            PageAction::row(&[PageAction::link(new.0, new.1)])
        };
        Ok((table, new_link))
    }

    /// The role of the path, which is one of the person, or one in the space.
    async fn role_from_path(&self, req: &AdminRequest) -> Result<RoleId> {
        let id = RoleId::decode(req.path_param("role")).ok_or(Error::NotFound)?;
        let is_listed = match (&self.owner, &id) {
            (RoleOwner::Person(user, _), _) => id.user() == Some(*user),
            (RoleOwner::Space(space), RoleId::InSpace(role)) if role.space == *space => {
                req.store().roles().find_by_id(self.organization, role).await?.is_some()
            }
            (RoleOwner::Space(_), _) => false,
        };
        if is_listed { Ok(id) } else { Err(Error::NotFound) }
    }

    /// The entry of the audit trail.
    fn audit_entry(&self, req: &AdminRequest, action: Action, id: &RoleId, nickname: &str) -> NewAuditEntry {
        let kind = id.role_type().as_str();
        let space = match id {
            RoleId::GeneralAdmin { .. } => None,
            RoleId::InSpace(role) => Some(role.space.to_string()),
        };
        let entry = req.audit_entry(action).in_organization(self.organization).with_object(
            "role",
            &id.encode(),
            kind,
        );
        let fields = [("user", Some(nickname)), ("type", Some(kind)), ("space", space.as_deref())];
        fields.into_iter().fold(entry, |entry, (field, value)| {
            if action == Action::RoleDeleted {
                entry.with_change(field, value, None)
            } else {
                entry.with_change(field, None, value)
            }
        })
    }
}

/// The space of the path, which is of a kind that has roles.
async fn space_from_path(req: &AdminRequest) -> Result<OpenedSpace> {
    let space = OpenedSpace::from_path(req).await?;
    if space.space_ref.kind == SpaceKind::Initiatives { Err(Error::NotFound) } else { Ok(space) }
}

/// The title of a space; its number where it has none.
fn title(req: &AdminRequest, space: &Space, id: i64) -> String {
    space.title.title(req.translator.locale).map_or_else(|| id.to_string(), str::to_owned)
}

fn type_name(req: &AdminRequest, role: RoleType) -> String {
    req.tr(&format!("role-{}", role.as_str().replace('_', "-")))
}

/// The titles of the spaces of these roles, and of those of other kinds with the same numbers; one read.
async fn titles(
    req: &AdminRequest,
    organization: OrganizationId,
    roles: &[RoleId],
) -> Result<HashMap<SpaceRef, String>> {
    let in_space = roles.iter().filter(|role| matches!(role, RoleId::InSpace(_)));
    let spaces = spaces_by_ids(req, organization, in_space.map(RoleId::resource_id).collect()).await?;
    Ok(spaces.into_iter().map(|found| (found.id, title(req, &found.space, found.id.id))).collect())
}

/// The card with the roles of a person, on the page of the account.
pub(crate) async fn card(req: &AdminRequest, person: &OpenedPerson) -> Result<Html> {
    let (table, new_link) = RolePages::for_person(req, person).table(req).await?;
    Ok(Card::new("roles", req.tr("roles"), Html::join([table, new_link])).html())
}

/// The roles in a space.
pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let space = space_from_path(req).await?;
    let (table, new_link) = RolePages::for_space(req, &space).table(req).await?;
    req.page(space.tab_head(req, "roles"), Html::join([new_link, table])).await
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let pages = RolePages::from_path(req).await?;
    new_page(req, &pages, Vec::new()).await
}

/// The field for the space: a list, or where there are many, a text such as `assemblies/7`.
async fn space_field(req: &AdminRequest, organization: OrganizationId) -> Result<Field> {
    let reader = organization::admin_read_context(organization);
    let request = PageRequest::new(1, MAX_LISTED);
    let page = req.store().spaces().list(reader, None, &[], request).await?;
    let typed = req.form.get(SPACE_FIELD).unwrap_or_default();
    let label = req.tr("role-space");
    if page.has_more {
        let hint = req.tr("role-space-typed-hint");
        return Ok(Field::text(SPACE_FIELD, label, typed).hint(hint).class("mono"));
    }
    let with_roles = page.items.iter().filter(|found| found.id.kind != SpaceKind::Initiatives);
    let choices = with_roles.map(|found| {
        let kind = req.tr(&format!("space-one-{}", found.id.kind.as_str().replace('_', "-")));
        Choice::new(found.id.to_string(), format!("{} ({kind})", title(req, &found.space, found.id.id)))
    });
    let choices = std::iter::once(Choice::new("", req.tr("choose"))).chain(choices);
    Ok(Field::select(SPACE_FIELD, label, typed, choices.collect()).hint(req.tr("role-space-hint")))
}

async fn new_page(req: &AdminRequest, pages: &RolePages, problems: FormErrors) -> Result<Reply> {
    let is_of_person = matches!(pages.owner, RoleOwner::Person(..));
    let types = RoleType::ALL.into_iter().filter(|role| is_of_person || *role != RoleType::GeneralAdmin);
    let types = types.map(|role| {
        let hint = req.tr(&format!("role-{}-hint", role.as_str().replace('_', "-")));
        Choice::new(role.as_str(), type_name(req, role)).hint(hint)
    });
    let kind = ChoiceGroup::radios(TYPE_FIELD, req.tr("role"), types.collect(), req.form.text(TYPE_FIELD));
    let kind = kind.check(&problems).html(&req.translator);
    let (fields, title) = if is_of_person {
        let space = space_field(req, pages.organization).await?.check(&problems);
        ([kind, space.html(&req.translator)], "role-give-to")
    } else {
        let nickname = req.form.get(PERSON_FIELD).unwrap_or_default();
        let person = Field::text(PERSON_FIELD, req.tr("role-person"), nickname)
            .hint(req.tr("role-person-hint"))
            .class("medium")
            .required()
            .check(&problems);
        ([person.html(&req.translator), kind], "role-give-in")
    };
    let section = Section::new("role", req.tr("role")).hint(req.tr(pages.lede));
    let form = req
        .build_form(pages.path.clone(), "role-give")
        .section(fields.into_iter().fold(section, Section::field))
        .cancel(pages.list.clone());
    let title = req.tr_with(title, "name", pages.name.as_str());
    req.form_page(pages.head(title, req.tr("role-give")), form.html(), problems).await
}

/// The account with this nickname, with or without `@`, with this address, or with this id.
async fn find_person(req: &AdminRequest, pages: &RolePages, text: &str) -> Result<Option<(UserId, User)>> {
    let text = text.strip_prefix('@').unwrap_or(text);
    if text.is_empty() {
        return Ok(None);
    }
    let search = UserSearch { text: Some(text.to_owned()), ..UserSearch::default() };
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let page = req.store().users().search(pages.organization, &search, request).await?;
    let folded = normal_email(text);
    Ok(page.items.into_iter().find(|(id, user)| {
        user.nickname.to_lowercase() == folded || user.email == folded || id.to_string() == text
    }))
}

/// The use case, in a transaction.
fn admin(tx: &dyn Transaction) -> Roles<'_> {
    Roles { store: tx.roles(), users: tx.users() }
}

pub(crate) async fn assign(req: &AdminRequest) -> Result<Reply> {
    let pages = RolePages::from_path(req).await?;
    let (account, space) = match &pages.owner {
        RoleOwner::Person(id, nickname) => {
            (Some((*id, pages.name.clone(), nickname.clone())), parse_space_ref(req.form.text(SPACE_FIELD)))
        }
        RoleOwner::Space(space) => {
            let found = find_person(req, &pages, req.form.text(PERSON_FIELD)).await?;
            (found.map(|(id, user)| (id, user.name, user.nickname)), Some(*space))
        }
    };
    let is_of_person = matches!(pages.owner, RoleOwner::Person(..));
    let grant = match (RoleType::parse(req.form.text(TYPE_FIELD)), space) {
        (Some(RoleType::GeneralAdmin), _) if is_of_person => Ok(RoleGrant::GeneralAdmin),
        (Some(RoleType::InSpace(kind)), Some(space)) => Ok(RoleGrant::InSpace(space, kind)),
        (Some(RoleType::InSpace(_)), None) => Err((SPACE_FIELD, "problem-choose")),
        _ => Err((TYPE_FIELD, "problem-choose")),
    };
    let ((user, name, nickname), grant) = match (account.ok_or((PERSON_FIELD, "problem-person")), grant) {
        (Ok(account), Ok(grant)) => (account, grant),
        (account, grant) => {
            let faults = account.err().into_iter().chain(grant.err());
            let problems = faults.map(|(field, key)| FormError::new(field, req.tr(key))).collect();
            return new_page(req, &pages, problems).await;
        }
    };
    let given = req
        .change_with_audit(
            async |tx| admin(tx).assign(pages.organization, user, grant, req.now).await,
            |role| Some(pages.audit_entry(req, Action::RoleCreated, &role.id, &nickname)),
        )
        .await;
    let problem = match given {
        Ok(_) => {
            let title = req.tr_with("role-given-to", "name", name);
            return req.redirect(pages.list, Notice::success(title).text(req.tr("role-given-undo"))).await;
        }
        Err(Error::NotFound) if is_of_person && matches!(grant, RoleGrant::InSpace(..)) => {
            FormError::new(SPACE_FIELD, req.tr("problem-space-missing"))
        }
        Err(error) => {
            // The only fault of the form is that the person has the role.
            error::form_errors(&req.translator, error, |_| TYPE_FIELD.to_owned())?;
            FormError::new(TYPE_FIELD, req.tr("problem-role-taken"))
        }
    };
    new_page(req, &pages, vec![problem]).await
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let pages = RolePages::from_path(req).await?;
    let id = pages.role_from_path(req).await?;
    let other = pages.counterpart(req, id).await?;
    let (resource, name) = match pages.owner {
        RoleOwner::Person(..) => (other.name, pages.name.clone()),
        RoleOwner::Space(_) => (pages.name.clone(), other.name),
    };
    let role = type_name(req, id.role_type());
    let values = [("role", role.into()), ("place", resource.into()), ("name", name.into())];
    let is_member = matches!(id, RoleId::InSpace(role) if role.kind == RoleKind::SpacePrivateMember);
    let effect = if is_member { "role-take-member" } else { "role-take-effect" };
    let confirm = req
        .confirmation(format!("{}/{}", pages.path, id.encode()), req.tr("role-take"), pages.list.clone())
        .delete()
        .effects([req.tr_args("role-take-what", &values), req.tr(effect)])
        .stays(req.tr("role-take-stays"));
    let head = pages.head(req.tr_args("role-take-title", &values[..1]), req.tr("role-take"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn revoke(req: &AdminRequest) -> Result<Reply> {
    let pages = RolePages::from_path(req).await?;
    let id = pages.role_from_path(req).await?;
    let (name, nickname) = match &pages.owner {
        RoleOwner::Person(_, nickname) => (pages.name.clone(), nickname.clone()),
        RoleOwner::Space(_) => {
            let other = pages.counterpart(req, id).await?;
            (other.name, other.nickname)
        }
    };
    req.change_with_audit(
        async |tx| admin(tx).revoke(pages.organization, &id, req.now).await,
        |()| Some(pages.audit_entry(req, Action::RoleDeleted, &id, &nickname)),
    )
    .await?;
    req.redirect_done("role-taken", &[("name", name.into())], pages.list).await
}
