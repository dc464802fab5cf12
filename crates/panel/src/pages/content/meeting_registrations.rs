//! The people registered for a meeting (contract 06 §5.3): list, registration, removal.

use super::organization::LIST;
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::notice::Notice;
use crate::pages::people::persons::{Accounts, accounts};
use crate::parts::{Cell, EmptyState, Field, FormError, FormErrors, Html, RowAction, Section, Table};
use crate::records::{OpenedRecord, change};
use crate::reply::Reply;
use civitas_accounts::User;
use civitas_audit::Action;
use civitas_kernel::{Error, Result, UserId};
use civitas_meetings::Meeting;

const PERSON_FIELD: &str = "registration[person]";

fn path(opened: &OpenedRecord<Meeting>) -> String {
    format!("{}/registrations", opened.path())
}

fn row(req: &AdminRequest, opened: &OpenedRecord<Meeting>, user: UserId, accounts: &Accounts) -> Vec<Cell> {
    let number = req.tr_with("component-id", "id", user.to_string());
    let (name, person) = match accounts.get(&user) {
        Some(found) => {
            let href = format!("{LIST}/{}/users/{user}", opened.organization_id);
            (found.name.clone(), Cell::link(&href, &found.name, &format!("@{}", found.nickname)))
        }
        None => (number.clone(), Cell::muted(&req.tr("deleted"))),
    };
    let end = RowAction::Post {
        action: format!("{}/{user}", path(opened)),
        label: req.tr("registered-remove"),
        row_name: name,
        token: req.token(),
        method: "delete",
    };
    vec![person, Cell::text(&number), Cell::actions(&[end])]
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<Meeting>::from_path(req).await?;
    list_page(req, &opened, Vec::new()).await
}

async fn list_page(
    req: &AdminRequest,
    opened: &OpenedRecord<Meeting>,
    problems: FormErrors,
) -> Result<Reply> {
    let (path, request) = (path(opened), req.query.page(PER_PAGE));
    let page = req.store().meetings().registered(opened.organization_id, opened.id, request).await?;
    let ids = page.items.iter().map(|user| user.0).collect();
    let accounts = accounts(req, opened.organization_id, ids).await?;
    let rows = page.items.iter().map(|user| row(req, opened, *user, &accounts));
    let columns = req.columns("column-name column-id column-acts");
    let empty = EmptyState::new(req.tr("registered-none"), "");
    let table = Table::new(req.tr("registered-title"), columns).rows(rows).empty(empty);
    let found = req.tr_count("registered-count", opened.record.registrations.len());
    let list = List::new(req, "registered", &path).with_summary(found);
    let links = list.page_links(request, &page);
    let results = list.results(&table, &links);
    let person = Field::text(PERSON_FIELD, req.tr("registered-person"), req.form.text(PERSON_FIELD))
        .hint(req.tr("registered-person-hint"))
        .class("medium")
        .check(&problems)
        .html(&req.translator);
    let section = Section::new("add", req.tr("registered-add")).field(person);
    let form = req.build_form(path.clone(), "registered-add-button").section(section);
    let head = opened.subpage_head(req, req.tr("registered-title")).lede(req.tr("registered-lede"));
    req.form_page(head, Html::join([results, form.html()]), problems).await
}

/// The account of this id or nickname, which is not deleted.
async fn find_person(req: &AdminRequest, opened: &OpenedRecord<Meeting>) -> Result<Option<(UserId, User)>> {
    let (typed, users) = (req.form.text(PERSON_FIELD), req.store().users());
    if let Ok(id) = typed.parse().map(UserId) {
        let found = users.find(opened.organization_id, id).await?.filter(|user| user.deleted_at.is_none());
        if let Some(user) = found {
            return Ok(Some((id, user)));
        }
    }
    users.find_by_nickname(opened.organization_id, typed.trim_start_matches('@')).await
}

pub(crate) async fn add(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<Meeting>::from_path(req).await?;
    let Some((id, user)) = find_person(req, &opened).await? else {
        let problem = FormError::new(PERSON_FIELD, req.tr("problem-person-unknown"));
        return list_page(req, &opened, vec![problem]).await;
    };
    change(req, opened.target(), Action::MeetingUpdated, |meeting| meeting.register(id)).await?;
    req.redirect_done("registered-added", &[("name", user.name.into())], path(&opened)).await
}

pub(crate) async fn remove(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<Meeting>::from_path(req).await?;
    let id = UserId(req.path_id("uid")?);
    if !opened.record.registrations.contains(&id) {
        return Err(Error::NotFound);
    }
    change(req, opened.target(), Action::MeetingUpdated, |meeting| meeting.unregister(id)).await?;
    let name = accounts(req, opened.organization_id, vec![id.0]).await?.remove(&id).map(|user| user.name);
    let name = name.unwrap_or_else(|| id.to_string());
    let notice = Notice::success(req.tr_with("registered-removed", "name", name));
    req.redirect(path(&opened), notice.text(req.tr("registered-removed-undo"))).await
}
