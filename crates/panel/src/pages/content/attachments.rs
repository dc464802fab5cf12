//! The attachments of an organization and of one record (contract 07 part B).

use super::opened_space::{OpenedSpace, space_path};
use super::organization::{self, LIST, open_organization};
use super::proposals::OpenedProposal;
use crate::admin_request::AdminRequest;
use crate::format::Zone;
use crate::list::{List, PER_PAGE};
use crate::parts::{Cell, Column, EmptyState, Head, Html, PageAction, RowAction, Table};
use crate::reply::Reply;
use civitas_attachments::{
    Attachment, AttachmentDetail, AttachmentParent, AttachmentSearch, FileType, MAX_SEARCHED_ATTACHMENTS,
    ParentKind, StoredFile,
};
use civitas_kernel::{Direction, OrganizationId, Result, SpaceKind, Translated};
use civitas_organizations::Organization;
use std::collections::HashMap;
use url::Url;

/// The kinds of records that the panel attaches to, each with its name in addresses, one of those of the interface, and
/// the key of its text.
const KINDS: [(&str, &str, ParentKind); 8] = [
    ("organization", "organization", ParentKind::Organization),
    (
        "participatory_processes",
        "space-participatory-processes",
        ParentKind::Space(SpaceKind::ParticipatoryProcesses),
    ),
    ("assemblies", "space-assemblies", ParentKind::Space(SpaceKind::Assemblies)),
    ("conferences", "space-conferences", ParentKind::Space(SpaceKind::Conferences)),
    ("initiatives", "space-initiatives", ParentKind::Space(SpaceKind::Initiatives)),
    ("proposals", "proposal-one", ParentKind::Proposal),
    ("meetings", "attachment-of-meeting", ParentKind::Meeting),
    ("blogs", "attachment-of-post", ParentKind::Post),
];
const TYPES: [(&str, &str, FileType); 3] = [
    ("image", "attachment-type-image", FileType::Image),
    ("document", "attachment-type-document", FileType::Document),
    ("link", "attachment-type-link", FileType::Link),
];

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/attachments")
}

/// The token of a kind in addresses, and the key of its name.
fn kind_token_and_text_key(kind: ParentKind) -> (&'static str, &'static str) {
    let known = KINDS.iter().find(|(.., known)| *known == kind);
    known.map_or(("answers", "attachment-of-post"), |(name, key, _)| (*name, *key))
}

/// The token of a record in an address: `proposals/904`.
pub(crate) fn parent_token(parent: AttachmentParent) -> String {
    format!("{}/{}", kind_token_and_text_key(parent.kind).0, parent.id)
}

/// The record that a token names.
pub(crate) fn parse_parent(token: &str) -> Option<AttachmentParent> {
    let (name, id) = token.split_once('/')?;
    let (.., kind) = KINDS.iter().find(|(known, ..)| *known == name)?;
    Some(AttachmentParent { kind: *kind, id: id.parse().ok()? })
}

/// The name of a kind: `Proposal`.
fn kind_name(req: &AdminRequest, kind: ParentKind) -> String {
    req.tr(kind_token_and_text_key(kind).1)
}

/// The name of a type: `Image`.
pub(crate) fn type_name(req: &AdminRequest, file_type: FileType) -> String {
    req.tr(&format!("attachment-type-{}", file_type.as_str()))
}

/// A number of bytes: `340 KB`.
pub(crate) fn size_text(req: &AdminRequest, bytes: i64) -> String {
    const KIB: i64 = 1024;
    const MIB: i64 = KIB * KIB;
    match bytes {
        ..KIB => req.tr_with("size-bytes", "number", bytes),
        KIB..MIB => req.tr_with("size-kb", "number", (bytes + KIB - 1) / KIB),
        _ => {
            let tenths = (bytes.saturating_mul(10) + MIB - 1) / MIB;
            req.tr_args("size-mb", &[("whole", (tenths / 10).into()), ("tenth", (tenths % 10).into())])
        }
    }
}

/// The page of a record in the panel, where it has one.
fn record_page_path(organization: OrganizationId, parent: AttachmentParent) -> Option<String> {
    match parent.kind {
        ParentKind::Organization => Some(format!("{LIST}/{organization}")),
        ParentKind::Space(_) => parent.space().map(|space| space_path(organization, space)),
        ParentKind::Proposal => Some(format!("{LIST}/{organization}/proposals/{}", parent.id)),
        ParentKind::Meeting | ParentKind::Post | ParentKind::Answer => None,
    }
}

/// The list that shows the attachments of a record: its own, or that of the organization.
pub(crate) fn record_list_path(organization: OrganizationId, parent: AttachmentParent) -> String {
    match (parent.kind, record_page_path(organization, parent)) {
        (ParentKind::Space(_) | ParentKind::Proposal, Some(page)) => format!("{page}/attachments"),
        _ => list_path(organization),
    }
}

/// A record with its title; the kind with the number without one.
pub(crate) fn record_name(
    req: &AdminRequest,
    organization: &Organization,
    parent: AttachmentParent,
    title: &Translated,
) -> String {
    if parent.kind == ParentKind::Organization {
        return organization::name(req, organization);
    }
    let title = title.title(req.translator.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| format!("{} {}", kind_name(req, parent.kind), parent.id), str::to_owned)
}

/// The title of an attachment; the name of its file or its link without one.
pub(crate) fn title(req: &AdminRequest, attachment: &Attachment, file: Option<&StoredFile>) -> String {
    let title = attachment.title.title(req.translator.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| file_name_or_link(attachment, file), str::to_owned)
}

/// The name of the file, or the link.
pub(crate) fn file_name_or_link(attachment: &Attachment, file: Option<&StoredFile>) -> String {
    let link = || attachment.link.clone().unwrap_or_default();
    file.map_or_else(link, |file| file.filename.clone())
}

/// The address of a file below the origin of its organization. The key is the right to read it.
pub(crate) fn file_address(origin: &str, key: &str, filename: &str) -> Option<String> {
    let mut url = Url::parse(origin).ok()?;
    url.path_segments_mut().ok()?.extend(["files", key, filename]);
    Some(url.to_string())
}

/// The address under which the file can be read, or the link.
pub(crate) fn attachment_url(
    req: &AdminRequest,
    organization: &Organization,
    attachment: &Attachment,
    file: Option<&StoredFile>,
) -> Option<String> {
    let Some(file) = file else { return attachment.link.clone() };
    file_address(&req.panel.settings.site.origin(&organization.host), &file.key, &file.filename)
}

/// The head of a page below the list.
pub(crate) fn list_subpage_head(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    title: String,
) -> Head {
    organization::head(req, id, organization, title).crumb(req.tr("attachments"), list_path(id))
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let (path, request) = (list_path(id), req.query.page(PER_PAGE));
    let mut list = List::new(req, "attachments", &path);
    let search = AttachmentSearch {
        parent: None,
        text: list.search("attachments-search"),
        kind: list.choice("kind", "attachment-record", &KINDS),
        file_type: list.choice("type", "attachment-type", &TYPES),
        oldest_first: list.order("oldest", ["newest-first", "oldest-first"]) == Direction::Ascending,
    };
    let page = req.store().attachments().search(id, &search, request).await?;
    let none = EmptyState::new(req.tr("attachments-none"), req.tr("attachments-lede"));
    let hint = req.tr_with("attachments-search-hint", "number", MAX_SEARCHED_ATTACHMENTS);
    let rows = rows(req, id, &organization, &page.items, true).await?;
    let table = Table::new(req.tr("attachments"), columns(req, true)).rows(rows);
    let table = list.with_order_link(table.empty(list.empty_state(none, hint)), 3);
    let links = list.page_links(request, &page);
    let new = req.query.with(&format!("{path}/new"), "parent", Some(&parent_token(id.into())));
    let head = organization::head(req, id, &organization, req.tr("attachments"))
        .action(PageAction::primary(new, req.tr("attachment-new-of-organization")));
    list.reply(head, &table, &links).await
}

fn columns(req: &AdminRequest, has_record: bool) -> Vec<Column> {
    if has_record {
        req.columns("column-title attachment-record attachment-type column-created:low column-acts")
    } else {
        req.columns("column-title attachment-type attachment-weight:low column-acts")
    }
}

/// The rows of some attachments; with their records in the list of all.
async fn rows(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    items: &[AttachmentDetail],
    has_record: bool,
) -> Result<Vec<Vec<Cell>>> {
    let mut titles: HashMap<AttachmentParent, Translated> = HashMap::new();
    if has_record {
        let mut parents: Vec<AttachmentParent> = items.iter().map(|found| found.attachment.parent).collect();
        parents.sort_unstable_by_key(|parent| (parent.kind.as_str(), parent.id));
        parents.dedup();
        titles = req.store().parents().titles(id, &parents).await?.into_iter().collect();
    }
    let row = |found: &AttachmentDetail| {
        let AttachmentDetail { id: attachment_id, attachment, file } = found;
        let path = format!("{}/{attachment_id}", list_path(id));
        let name = title(req, attachment, file.as_ref());
        let source = file_name_or_link(attachment, file.as_ref());
        // Attachments of a deleted record cannot be read, and are deleted with its row.
        let is_deleted = has_record && !titles.contains_key(&attachment.parent);
        let (mut actions, mut cells) = (Vec::new(), Vec::new());
        if is_deleted {
            cells.push(Cell::with_subtext(&name, &source));
        } else {
            cells.push(Cell::link(&format!("{path}/edit"), &name, &source));
            if let Some(href) = attachment_url(req, organization, attachment, file.as_ref()) {
                actions.push(RowAction::link(href, req.tr("attachment-open"), name.clone()));
            }
            let (href, label) = (format!("{path}/delete"), req.tr("delete-link"));
            actions.push(RowAction::link(href, label, name.clone()));
        }
        if has_record {
            cells.push(record_cell(req, id, organization, attachment.parent, &titles));
        }
        let bytes = file.as_ref().map(|file| size_text(req, file.byte_size)).unwrap_or_default();
        cells.push(Cell::with_subtext(&type_name(req, attachment.file_type), &bytes));
        cells.push(Cell::text(&if has_record {
            req.date(attachment.created_at)
        } else {
            req.number(attachment.weight)
        }));
        cells.push(Cell::actions(&actions));
        cells
    };
    Ok(items.iter().map(row).collect())
}

/// The cell with the record of an attachment.
fn record_cell(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    parent: AttachmentParent,
    titles: &HashMap<AttachmentParent, Translated>,
) -> Cell {
    let kind = kind_name(req, parent.kind);
    let Some(title) = titles.get(&parent) else {
        return Cell::with_subtext(&req.tr("deleted"), &format!("{kind} {}", parent.id));
    };
    let name = record_name(req, organization, parent, title);
    match record_page_path(id, parent) {
        Some(page) => Cell::link(&page, &name, &kind),
        None => Cell::with_subtext(&name, &kind),
    }
}

/// The attachments of one record, by weight.
async fn list_of_record(
    req: &AdminRequest,
    (id, organization): (OrganizationId, &Organization),
    parent: AttachmentParent,
    name: String,
) -> Result<Html> {
    req.set_navigation_organization(id).await?;
    req.zone.set(Zone::named(&organization.time_zone));
    let path = record_list_path(id, parent);
    let search = AttachmentSearch { parent: Some(parent), ..AttachmentSearch::default() };
    let request = req.query.page(PER_PAGE);
    let page = req.store().attachments().search(id, &search, request).await?;
    let new = req.query.with(&format!("{}/new", list_path(id)), "parent", Some(&parent_token(parent)));
    let new = (new, req.tr("attachment-new"));
    let empty =
        EmptyState::new(req.tr("attachments-none"), req.tr("attachments-order")).with_new(new.clone());
    let caption = req.tr_with("attachments-of", "name", name);
    let rows = rows(req, id, organization, &page.items, false).await?;
    let table = Table::new(caption, columns(req, false)).rows(rows).empty(empty);
    let mut body = Vec::new();
    if !page.items.is_empty() {
        body.push(PageAction::row(&[PageAction::link(new.0, new.1)]));
    }
    let links = List::new(req, "attachments", &path).page_links(request, &page);
    body.extend([table.html(), links.html()]);
    Ok(Html::join(body))
}

pub(crate) async fn list_of_space(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    let organization = (opened.organization_id, &opened.organization);
    let body = list_of_record(req, organization, opened.space_ref.into(), opened.title(req)).await?;
    req.page(opened.tab_head(req, "attachments"), body).await
}

pub(crate) async fn list_of_proposal(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let organization = (opened.organization_id, &opened.organization);
    let body = list_of_record(req, organization, opened.id.into(), opened.title(req)).await?;
    req.page(opened.tab_head(req, "attachments"), body).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_as_kind_and_number() {
        for (name, _, kind) in KINDS {
            let parent = AttachmentParent { kind, id: 904 };
            assert_eq!(parse_parent(&parent_token(parent)), Some(parent));
            assert_eq!(ParentKind::from_name(name), Some(kind), "a name of the interface");
        }
        for wrong in ["", "proposals", "proposals/", "proposals/x", "answers/1", "organization"] {
            assert_eq!(parse_parent(wrong), None, "{wrong}");
        }
    }
}
