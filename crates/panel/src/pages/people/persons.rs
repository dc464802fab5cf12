//! The accounts of an organization: the list, and what the pages of one account share.

use crate::admin_request::AdminRequest;
use crate::format::saturating_i64;
use crate::list::{List, PER_PAGE};
use crate::pages::content::organization;
use crate::parts::{Badge, Cell, Head, Table};
use crate::reply::Reply;
use civitas_accounts::{MAX_COUNTED, User, UserField, UserFilter, UserSearch, UserSort, UserStateFilter};
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{Direction, Error, OrganizationId, PageRequest, Result, UserId, UserState};
use civitas_organizations::Organization;
use std::collections::HashMap;

const STATES: [(&str, &str, UserStateFilter); 5] = [
    ("active", "person-active", UserStateFilter::Active),
    ("blocked", "person-blocked", UserStateFilter::Blocked),
    ("locked", "person-locked", UserStateFilter::Locked),
    ("unconfirmed", "person-unconfirmed", UserStateFilter::Unconfirmed),
    ("admin", "person-admin", UserStateFilter::Admin),
];

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{}/{organization}/users", organization::LIST)
}

/// An account of the organization in the path.
pub(crate) struct OpenedPerson {
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: Organization,
    pub(crate) id: UserId,
    pub(crate) user: User,
}

impl OpenedPerson {
    /// The account of the path, which is not deleted.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = organization::find_from_path(req).await?;
        let id = UserId(req.path_id("uid")?);
        let found = req.store().users().find(organization_id, id).await?;
        let user = found.filter(|user| user.deleted_at.is_none()).ok_or(Error::NotFound)?;
        Ok(Self { organization_id, organization, id, user })
    }

    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path(self.organization_id), self.id)
    }

    /// The head of the page of the account, without tabs.
    fn head(&self, req: &AdminRequest) -> Head {
        organization::head(req, self.organization_id, &self.organization, self.user.name.clone())
            .crumb(req.tr("nav-people"), list_path(self.organization_id))
    }

    /// The head of one of the tabs of the account.
    pub(crate) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let tabs = [("", req.tr("person-account")), ("extended_data", req.tr("extended-data"))];
        let values = [("nickname", self.user.nickname.as_str().into()), ("id", self.id.to_string().into())];
        self.head(req).lede(req.tr_args("person-lede", &values)).badges(badges(req, &self.user)).record_tabs(
            req.tr("person-tabs"),
            &self.path(),
            tabs,
            tab,
        )
    }

    /// The head of a page below the page of the account.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        Head { title, ..self.head(req).crumb(&self.user.name, self.path()) }
    }
}

/// The states of an account: whether it may act, and whether its address is confirmed.
pub(crate) fn badges(req: &AdminRequest, user: &User) -> Vec<Badge> {
    let mut badges = vec![match user.state() {
        UserState::Blocked => Badge::bad(req.tr("person-blocked")),
        UserState::Locked => Badge::warn(req.tr("person-locked")),
        UserState::Active => Badge::good(req.tr("person-active")),
    }];
    if user.confirmed_at.is_none() {
        badges.push(Badge::plain(req.tr("person-unconfirmed")));
    }
    if user.admin {
        badges.push(Badge::plain(req.tr("person-admin")));
    }
    badges
}

/// Accounts by their ids.
pub(crate) type Accounts = HashMap<UserId, User>;

/// The accounts with these ids; those of deleted people are left out.
pub(crate) async fn accounts(
    req: &AdminRequest,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<Accounts> {
    ids.sort_unstable();
    ids.dedup();
    ids.truncate(usize::try_from(PageRequest::MAX_LENGTH).unwrap_or_default());
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter =
        UserFilter { field: UserField::Id, condition: FilterCondition::Integer(Comparison::In(ids)) };
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let page = req.store().users().list(organization, &[filter], request).await?;
    Ok(page.items.into_iter().collect())
}

/// The page asked for; the last one when it is past the end.
pub(crate) fn page_within(req: &AdminRequest, per_page: i64, count: i64) -> PageRequest {
    let request = req.query.page(per_page);
    let last = (count + per_page - 1) / per_page;
    PageRequest { page: request.page.min(last.max(1)), ..request }
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = organization::open_organization(req).await?;
    let path = list_path(id);
    let (users, mut list) = (req.store().users(), List::new(req, "people", &path));
    let text = list.search("people-search");
    let state = list.choice("state", "column-state", &STATES);
    let by_nickname = list.order("nickname", ["newest-first", "person-nickname"]) == Direction::Ascending;
    let sort = if by_nickname { UserSort::Nickname } else { UserSort::Newest };
    let search = UserSearch { text, state, sort };
    let count = users.count_found(id, &search).await?;
    let request =
        if count < MAX_COUNTED { page_within(req, PER_PAGE, count) } else { req.query.page(PER_PAGE) };
    let page = users.search(id, &search, request).await?;
    let rows = page.items.iter().map(|(uid, user)| {
        vec![
            Cell::link(&format!("{path}/{uid}"), &user.name, &format!("@{}", user.nickname)),
            Cell::text(&user.email),
            Cell::badges(&badges(req, user)),
            Cell::text(&req.date(user.created_at)),
            Cell::text(&req.date(user.updated_at)),
        ]
    });
    let columns = req.columns("column-name email column-state column-created:low column-changed:low");
    let new = (format!("{path}/new"), req.tr("person-new"));
    let sort = |value: Option<&str>| req.query.with(&path, "sort", value);
    let table = Table::new(req.tr("nav-people"), columns)
        .rows(rows)
        .with_sort_link(0, sort(Some("nickname")), by_nickname.then_some("ascending"))
        .with_sort_link(3, sort(None), (!by_nickname).then_some("descending"));
    let links = list.page_links(request, &page);
    let found = found_text(req, count, request, saturating_i64(page.items.len()));
    let head = organization::head(req, id, &organization, req.tr("nav-people"));
    list.with_summary(found).reply_with_new(head, table, &links, new).await
}

/// How many accounts were found, and which ones are on the page.
fn found_text(req: &AdminRequest, count: i64, request: PageRequest, on_page: i64) -> String {
    let many = req.tr_with("more-than-title", "title", req.number(count));
    let first = (request.page - 1) * request.per_page;
    let values = [
        ("total", if count < MAX_COUNTED { req.number(count) } else { many }.into()),
        ("count", count.into()),
        ("first", (first + 1).into()),
        ("last", (first + on_page).into()),
    ];
    if on_page == 0 { req.tr("people-found-none") } else { req.tr_args("people-found", &values) }
}
