//! The accounts of an organization: the list, and what the pages of one account share.

use super::{content, organization};
use crate::parts::{Act, Badge, Cell, Column, Empty, Head, Html, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{ListedState, MOST_COUNTED, User, UserSearch, UserSort};
use civitas_kernel::{Direction, Error, OrganizationId, PageRequest, Result, UserId, UserState};
use civitas_organizations::Organization;

const STATES: [(&str, &str, ListedState); 5] = [
    ("active", "person-active", ListedState::Active),
    ("blocked", "person-blocked", ListedState::Blocked),
    ("locked", "person-locked", ListedState::Locked),
    ("unconfirmed", "person-unconfirmed", ListedState::Unconfirmed),
    ("admin", "person-admin", ListedState::Admin),
];

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{}/{organization}/users", organization::LIST)
}

/// An account of the organization in the path.
pub(crate) struct Person {
    pub(crate) organization: OrganizationId,
    /// The organization's record.
    pub(crate) home: Organization,
    pub(crate) id: UserId,
    pub(crate) user: User,
}

impl Person {
    /// The account of the path, which is not deleted.
    pub(crate) async fn of(visit: &Visit) -> Result<Self> {
        let (organization, home) = organization::organization(visit).await?;
        let id = UserId(visit.id("uid")?);
        let found = visit.panel.store().users().find(organization, id).await?;
        let user = found.filter(|user| user.deleted_at.is_none()).ok_or(Error::NotFound)?;
        Ok(Self { organization, home, id, user })
    }

    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path(self.organization), self.id)
    }

    /// The head of the page of the account.
    pub(crate) fn own_head(&self, visit: &Visit) -> Head {
        organization::head(visit, self.organization, &self.home, self.user.name.clone())
            .crumb(visit.say("nav-people"), list_path(self.organization))
    }

    /// The head of one of the pages of the account.
    pub(crate) fn tabbed_head(&self, visit: &Visit, tab: &str) -> Head {
        let tabs = [("", visit.say("person-account")), ("extended_data", visit.say("extended-data"))];
        let values = [("nickname", self.user.nickname.as_str().into()), ("id", self.id.to_string().into())];
        self.own_head(visit)
            .lede(visit.tell("person-lede", &values))
            .badges(badges(visit, &self.user))
            .tabs_of(visit.say("person-tabs"), &self.path(), tabs, tab)
    }

    /// The head of a page below the page of the account.
    pub(crate) fn head(&self, visit: &Visit, title: String) -> Head {
        Head { title, ..self.own_head(visit).crumb(&self.user.name, self.path()) }
    }
}

/// The states of an account: whether it may act, and whether its address is confirmed.
pub(crate) fn badges(visit: &Visit, user: &User) -> Vec<Badge> {
    let mut badges = vec![match user.state() {
        UserState::Blocked => Badge::bad(visit.say("person-blocked")),
        UserState::Locked => Badge::warn(visit.say("person-locked")),
        UserState::Active => Badge::good(visit.say("person-active")),
    }];
    if user.confirmed_at.is_none() {
        badges.push(Badge::plain(visit.say("person-unconfirmed")));
    }
    if user.admin {
        badges.push(Badge::plain(visit.say("person-admin")));
    }
    badges
}

/// The page asked for; the last one when it is past the end.
pub(crate) fn page_within(visit: &Visit, per_page: i64, count: i64) -> PageRequest {
    let request = visit.query.page(per_page);
    let last = (count + per_page - 1) / per_page;
    PageRequest { page: request.page.min(last.max(1)), ..request }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = content::opened(visit).await?;
    let (visit, path) = (&*visit, list_path(id));
    let (users, mut filters) = (visit.panel.store().users(), ListFilters::new(visit, &path));
    let text = filters.text("people-search");
    let state = filters.choice("state", "column-state", &STATES);
    let by_nickname = filters.order("nickname", ["newest-first", "person-nickname"]) == Direction::Ascending;
    let sort = if by_nickname { UserSort::Nickname } else { UserSort::Newest };
    let search = UserSearch { text, state, sort };
    let count = users.count_found(id, &search).await?;
    let request =
        if count < MOST_COUNTED { page_within(visit, PER_PAGE, count) } else { visit.query.page(PER_PAGE) };
    let page = users.search(id, &search, request).await?;
    let rows = page.items.iter().map(|(uid, user)| {
        vec![
            Cell::link(&format!("{path}/{uid}"), &user.name, &format!("@{}", user.nickname)),
            Cell::text(&user.email),
            Cell::badges(&badges(visit, user)),
            Cell::text(&visit.date(user.created_at)),
            Cell::text(&visit.date(user.updated_at)),
        ]
    });
    let columns = vec![
        Column::new(visit.say("column-name")),
        Column::new(visit.say("email")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("column-created")).low(),
        Column::new(visit.say("column-changed")).low(),
    ];
    let new = (format!("{path}/new"), visit.say("person-new"));
    let empty = if filters.chips.is_empty() {
        Empty { title: visit.say("people-none"), text: visit.say("people-lede"), act: Some(new.clone()) }
    } else {
        visit.no_match(&path, visit.say("people-no-match"))
    };
    let sort = |value: Option<&str>| visit.query.with(&path, "sort", value);
    let table = Table::new(visit.say("nav-people"), columns)
        .rows(rows)
        .empty(empty)
        .sorted(0, sort(Some("nickname")), by_nickname.then_some("ascending"))
        .sorted(3, sort(None), (!by_nickname).then_some("descending"));
    let shown = i64::try_from(page.items.len()).unwrap_or_default();
    let found = (found(visit, count, request, shown), std::mem::take(&mut filters.chips));
    let results = visit.results(&path, found, &table, visit.pages(&path, request, page.has_more));
    let head = organization::head(visit, id, &home, visit.say("nav-people"))
        .lede(visit.say("people-lede"))
        .act(Act::primary(new.0, new.1));
    visit.page(head, Html::join([filters.html("people-filter"), results])).await
}

/// How many accounts were found, and which ones are shown.
fn found(visit: &Visit, count: i64, request: PageRequest, shown: i64) -> String {
    let many = visit.tell("more-than-title", &[("title", visit.number(count).into())]);
    let first = (request.page - 1) * request.per_page;
    let place = [
        ("total", if count < MOST_COUNTED { visit.number(count) } else { many }.into()),
        ("count", count.into()),
        ("first", (first + 1).into()),
        ("last", (first + shown).into()),
    ];
    if shown == 0 { visit.say("people-found-none") } else { visit.tell("people-found", &place) }
}
