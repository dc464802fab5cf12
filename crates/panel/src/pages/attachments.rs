//! The attachments of an organization and of one record (contract 07 part B).

use super::content::{self, OpenedSpace, in_its_zone};
use super::organization::{self, LIST};
use super::proposals::OpenedProposal;
use crate::format::Zone;
use crate::parts::{Act, Cell, Column, Empty, Head, Html, RowAct, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_attachments::{
    Attachment, AttachmentDetail, AttachmentSearch, FileType, MOST_SEARCHED, Parent, ParentKind, StoredFile,
};
use civitas_kernel::{Direction, OrganizationId, Result, SpaceManifest, Translated};
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
        ParentKind::Space(SpaceManifest::ParticipatoryProcesses),
    ),
    ("assemblies", "space-assemblies", ParentKind::Space(SpaceManifest::Assemblies)),
    ("conferences", "space-conferences", ParentKind::Space(SpaceManifest::Conferences)),
    ("initiatives", "space-initiatives", ParentKind::Space(SpaceManifest::Initiatives)),
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

/// The name of a kind in addresses, and the key of its text.
fn names(kind: ParentKind) -> (&'static str, &'static str) {
    let known = KINDS.iter().find(|(.., known)| *known == kind);
    known.map_or(("answers", "attachment-of-post"), |(name, key, _)| (*name, *key))
}

/// A record as an address names it: `proposals/904`.
pub(crate) fn token(parent: Parent) -> String {
    format!("{}/{}", names(parent.kind).0, parent.id)
}

/// The record of such a name.
pub(crate) fn parent_of(token: &str) -> Option<Parent> {
    let (name, id) = token.split_once('/')?;
    let (.., kind) = KINDS.iter().find(|(known, ..)| *known == name)?;
    Some(Parent { kind: *kind, id: id.parse().ok()? })
}

/// The name of a kind: `Proposal`.
fn kind_name(visit: &Visit, kind: ParentKind) -> String {
    visit.say(names(kind).1)
}

/// The name of a type: `Image`.
pub(crate) fn type_name(visit: &Visit, file_type: FileType) -> String {
    visit.say(&format!("attachment-type-{}", file_type.as_str()))
}

/// A number of bytes: `340 KB`.
pub(crate) fn size(visit: &Visit, bytes: i64) -> String {
    const KIB: i64 = 1024;
    const MIB: i64 = KIB * KIB;
    match bytes {
        ..KIB => visit.tell("size-bytes", &[("number", bytes.into())]),
        KIB..MIB => visit.tell("size-kb", &[("number", ((bytes + KIB - 1) / KIB).into())]),
        _ => {
            let tenths = (bytes.saturating_mul(10) + MIB - 1) / MIB;
            visit.tell("size-mb", &[("whole", (tenths / 10).into()), ("tenth", (tenths % 10).into())])
        }
    }
}

/// The page of a record in the panel, where it has one.
fn page_of(organization: OrganizationId, parent: Parent) -> Option<String> {
    match parent.kind {
        ParentKind::Organization => Some(format!("{LIST}/{organization}")),
        ParentKind::Space(_) => parent.space().map(|space| content::path(organization, space)),
        ParentKind::Proposal => Some(format!("{LIST}/{organization}/proposals/{}", parent.id)),
        ParentKind::Meeting | ParentKind::Post | ParentKind::Answer => None,
    }
}

/// The list that shows the attachments of a record: its own, or that of the organization.
pub(crate) fn list_of(organization: OrganizationId, parent: Parent) -> String {
    match (parent.kind, page_of(organization, parent)) {
        (ParentKind::Space(_) | ParentKind::Proposal, Some(page)) => format!("{page}/attachments"),
        _ => list_path(organization),
    }
}

/// A record with its title; the kind with the number without one.
pub(crate) fn record_name(visit: &Visit, home: &Organization, parent: Parent, title: &Translated) -> String {
    if parent.kind == ParentKind::Organization {
        return organization::name(visit, home);
    }
    let title = title.title(visit.words.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| format!("{} {}", kind_name(visit, parent.kind), parent.id), str::to_owned)
}

/// The title of an attachment; the name of its file or its link without one.
pub(crate) fn title(visit: &Visit, attachment: &Attachment, file: Option<&StoredFile>) -> String {
    let title = attachment.title.title(visit.words.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| source(attachment, file), str::to_owned)
}

/// The name of the file, or the link.
pub(crate) fn source(attachment: &Attachment, file: Option<&StoredFile>) -> String {
    let link = || attachment.link.clone().unwrap_or_default();
    file.map_or_else(link, |file| file.filename.clone())
}

/// The address under which the file can be read, or the link.
pub(crate) fn address(
    visit: &Visit,
    home: &Organization,
    attachment: &Attachment,
    file: Option<&StoredFile>,
) -> Option<String> {
    let Some(file) = file else { return attachment.link.clone() };
    let mut url = Url::parse(&visit.panel.settings.site.origin(&home.host)).ok()?;
    url.path_segments_mut().ok()?.extend(["files", &file.key, &file.filename]);
    Some(url.to_string())
}

/// The head of a page below the list.
pub(crate) fn below(visit: &Visit, id: OrganizationId, home: &Organization, title: String) -> Head {
    organization::head(visit, id, home, title).crumb(visit.say("attachments"), list_path(id))
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let (visit, path, request) = (&*visit, list_path(id), visit.query.page(PER_PAGE));
    let mut filters = ListFilters::new(visit, &path);
    let search = AttachmentSearch {
        parent: None,
        text: filters.text("attachments-search"),
        kind: filters.choice("kind", "attachment-record", &KINDS),
        file_type: filters.choice("type", "attachment-type", &TYPES),
        oldest_first: filters.order("oldest", ["newest-first", "oldest-first"]) == Direction::Ascending,
    };
    let page = visit.panel.store().attachments().search(id, &search, request).await?;
    let chips = std::mem::take(&mut filters.chips);
    let empty = if chips.is_empty() {
        Empty { title: visit.say("attachments-none"), text: visit.say("attachments-lede"), act: None }
    } else {
        let text = visit.tell("attachments-search-hint", &[("number", MOST_SEARCHED.into())]);
        Empty { text, ..visit.no_match(&path, visit.say("attachments-no-match")) }
    };
    let rows = rows(visit, (id, &home), &page.items, true).await?;
    let table = Table::new(visit.say("attachments"), columns(visit, true)).rows(rows).empty(empty);
    let table = filters.sorted(table, 3);
    let pages = visit.pages(&path, request, page.has_more);
    let results = visit.results(&path, (visit.shown(page.items.len()), chips), &table, pages);
    let new = visit.query.with(&format!("{path}/new"), "parent", Some(&token(id.into())));
    let head = organization::head(visit, id, &home, visit.say("attachments"))
        .lede(visit.say("attachments-lede"))
        .act(Act::primary(new, visit.say("attachment-new-of-organization")));
    visit.page(head, Html::join([filters.html("attachments-filter"), results])).await
}

fn columns(visit: &Visit, has_record: bool) -> Vec<Column> {
    let mut columns = vec![Column::new(visit.say("column-title"))];
    if has_record {
        columns.push(Column::new(visit.say("attachment-record")));
    }
    columns.extend([
        Column::new(visit.say("attachment-type")),
        Column::new(visit.say(if has_record { "column-created" } else { "attachment-weight" })).low(),
        Column::acts(visit.say("column-acts")),
    ]);
    columns
}

/// The rows of some attachments; with their records in the list of all.
async fn rows(
    visit: &Visit,
    (id, home): (OrganizationId, &Organization),
    items: &[AttachmentDetail],
    has_record: bool,
) -> Result<Vec<Vec<Cell>>> {
    let mut titles: HashMap<Parent, Translated> = HashMap::new();
    if has_record {
        let mut parents: Vec<Parent> = items.iter().map(|found| found.attachment.parent).collect();
        parents.sort_unstable_by_key(|parent| (parent.kind.as_str(), parent.id));
        parents.dedup();
        titles = visit.panel.store().parents().titles(id, &parents).await?.into_iter().collect();
    }
    let row = |found: &AttachmentDetail| {
        let AttachmentDetail { id: own, attachment, file } = found;
        let path = format!("{}/{own}", list_path(id));
        let name = title(visit, attachment, file.as_ref());
        let source = source(attachment, file.as_ref());
        // Those of a deleted record are not read by anybody, and go with its row.
        let is_deleted = has_record && !titles.contains_key(&attachment.parent);
        let (mut acts, mut cells) = (Vec::new(), Vec::new());
        if is_deleted {
            cells.push(Cell::with_sub(&name, &source));
        } else {
            cells.push(Cell::link(&format!("{path}/edit"), &name, &source));
            if let Some(href) = address(visit, home, attachment, file.as_ref()) {
                acts.push(RowAct::link(href, visit.say("attachment-open"), name.clone()));
            }
            let (href, label) = (format!("{path}/delete"), visit.say("delete-link"));
            acts.push(RowAct::link(href, label, name.clone()));
        }
        if has_record {
            cells.push(record(visit, (id, home), attachment.parent, &titles));
        }
        let bytes = file.as_ref().map(|file| size(visit, file.byte_size)).unwrap_or_default();
        cells.push(Cell::with_sub(&type_name(visit, attachment.file_type), &bytes));
        cells.push(Cell::text(&if has_record {
            visit.date(attachment.created_at)
        } else {
            visit.number(attachment.weight)
        }));
        cells.push(Cell::acts(&acts));
        cells
    };
    Ok(items.iter().map(row).collect())
}

/// The cell with the record of an attachment.
fn record(
    visit: &Visit,
    (id, home): (OrganizationId, &Organization),
    parent: Parent,
    titles: &HashMap<Parent, Translated>,
) -> Cell {
    let kind = kind_name(visit, parent.kind);
    let Some(title) = titles.get(&parent) else {
        return Cell::with_sub(&visit.say("deleted"), &format!("{kind} {}", parent.id));
    };
    let name = record_name(visit, home, parent, title);
    match page_of(id, parent) {
        Some(page) => Cell::link(&page, &name, &kind),
        None => Cell::with_sub(&name, &kind),
    }
}

/// The attachments of one record, by weight.
async fn of_record(
    visit: &Visit,
    (id, home): (OrganizationId, &Organization),
    parent: Parent,
    name: String,
) -> Result<Html> {
    let path = list_of(id, parent);
    let search = AttachmentSearch { parent: Some(parent), ..AttachmentSearch::default() };
    let request = visit.query.page(PER_PAGE);
    let page = visit.panel.store().attachments().search(id, &search, request).await?;
    let new = visit.query.with(&format!("{}/new", list_path(id)), "parent", Some(&token(parent)));
    let new = (new, visit.say("attachment-new"));
    let empty = Empty {
        title: visit.say("attachments-none"),
        text: visit.say("attachments-order"),
        act: Some(new.clone()),
    };
    let caption = visit.tell("attachments-of", &[("name", name.into())]);
    let rows = rows(visit, (id, home), &page.items, false).await?;
    let table = Table::new(caption, columns(visit, false)).rows(rows).empty(empty);
    let mut body = Vec::new();
    if !page.items.is_empty() {
        body.push(Act::row(&[Act::link(new.0, new.1)]));
    }
    body.extend([table.html(), visit.pages(&path, request, page.has_more)]);
    Ok(Html::join(body))
}

pub(crate) async fn of_space(visit: &mut Visit) -> Result<Reply> {
    let here = OpenedSpace::of_path(visit).await?;
    visit.zone = Zone::named(&here.organization.time_zone);
    let visit = &*visit;
    let home = (here.id, &here.organization);
    let body = of_record(visit, home, here.own.into(), here.title(visit)).await?;
    visit.page(here.head(visit, "attachments"), body).await
}

pub(crate) async fn of_proposal(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    visit.open_organization(shown.organization).await?;
    visit.zone = Zone::named(&shown.home.time_zone);
    let visit = &*visit;
    let own = (shown.organization, &shown.home);
    let body = of_record(visit, own, shown.id.into(), shown.title(visit)).await?;
    visit.page(shown.tabbed_head(visit, "attachments"), body).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_as_kind_and_number() {
        for (name, _, kind) in KINDS {
            let parent = Parent { kind, id: 904 };
            assert_eq!(parent_of(&token(parent)), Some(parent));
            assert_eq!(ParentKind::named(name), Some(kind), "a name of the interface");
        }
        for wrong in ["", "proposals", "proposals/", "proposals/x", "answers/1", "organization"] {
            assert_eq!(parent_of(wrong), None, "{wrong}");
        }
    }
}
