//! The attachments of an organization and of one record (contract 07 part B).

use super::content::{self, Here, kind as kind_of_space};
use super::organization::{self, LIST};
use super::people;
use super::proposals::Shown;
use crate::format::Zone;
use crate::parts::{Act, Cell, Chip, Choice, Column, Empty, Head, Html, RowAct, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_attachments::{
    Attachment, AttachmentDetail, AttachmentSearch, FileType, MOST_SEARCHED, Parent, ParentKind, StoredFile,
};
use civitas_kernel::{OrganizationId, PageRequest, Result, SpaceManifest, Translated};
use civitas_organizations::Organization;
use std::collections::HashMap;
use url::Url;

const PER_PAGE: i64 = 25;
/// The kinds of records that the panel attaches to.
const KINDS: [ParentKind; 8] = [
    ParentKind::Organization,
    ParentKind::Space(SpaceManifest::ParticipatoryProcesses),
    ParentKind::Space(SpaceManifest::Assemblies),
    ParentKind::Space(SpaceManifest::Conferences),
    ParentKind::Space(SpaceManifest::Initiatives),
    ParentKind::Proposal,
    ParentKind::Meeting,
    ParentKind::Post,
];
const TYPES: [FileType; 3] = [FileType::Image, FileType::Document, FileType::Link];

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/attachments")
}

/// The short name of a kind in addresses, one of those of the interface.
fn short(kind: ParentKind) -> &'static str {
    match kind {
        ParentKind::Organization => "organization",
        ParentKind::Space(manifest) => manifest.as_str(),
        ParentKind::Proposal => "proposals",
        ParentKind::Meeting => "meetings",
        ParentKind::Post => "blogs",
        ParentKind::Answer => "answers",
    }
}

/// A record as an address names it: `proposals/904`.
pub(crate) fn token(parent: Parent) -> String {
    format!("{}/{}", short(parent.kind), parent.id)
}

/// The record of such a name.
pub(crate) fn parent_of(token: &str) -> Option<Parent> {
    let (kind, id) = token.split_once('/')?;
    let kind = KINDS.into_iter().find(|known| short(*known) == kind)?;
    Some(Parent { kind, id: id.parse().ok()? })
}

/// The name of a kind: `Proposal`.
fn kind_name(visit: &Visit, kind: ParentKind) -> String {
    match kind {
        ParentKind::Organization => visit.say("organization"),
        ParentKind::Space(manifest) => kind_of_space(visit, manifest),
        ParentKind::Proposal => visit.say("proposal-one"),
        ParentKind::Meeting => visit.say("attachment-of-meeting"),
        ParentKind::Post | ParentKind::Answer => visit.say("attachment-of-post"),
    }
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

/// The organization of the path, with the time zone of the page.
pub(crate) async fn opened(visit: &mut Visit) -> Result<(OrganizationId, Organization)> {
    let (id, home) = content::opened(visit).await?;
    visit.zone = Zone::named(&home.time_zone);
    Ok((id, home))
}

/// The head of a page below the list.
pub(crate) fn below(visit: &Visit, id: OrganizationId, home: &Organization, title: String) -> Head {
    people::head(visit, id, home, title).crumb(visit.say("attachments"), list_path(id))
}

fn search(visit: &Visit) -> AttachmentSearch {
    let query = &visit.query;
    let kind = query.get("kind").and_then(|name| KINDS.into_iter().find(|kind| short(*kind) == name));
    AttachmentSearch {
        parent: None,
        kind,
        file_type: query.get("type").and_then(FileType::parse),
        text: query.get("q").map(str::to_owned),
        oldest_first: query.get("sort") == Some("oldest"),
    }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = opened(visit).await?;
    let visit = &*visit;
    let (path, search, request) = (list_path(id), search(visit), visit.query.page(PER_PAGE));
    let page = visit.panel.store().attachments().search(id, &search, request).await?;
    let is_filtered = search.text.is_some() || search.kind.is_some() || search.file_type.is_some();
    let empty = if is_filtered {
        let text = visit.tell("attachments-search-hint", &[("number", MOST_SEARCHED.into())]);
        Empty { text, ..visit.no_match(&path, visit.say("attachments-no-match")) }
    } else {
        Empty { title: visit.say("attachments-none"), text: visit.say("attachments-lede"), act: None }
    };
    let rows = rows(visit, (id, &home), &page.items, true).await?;
    let (other, direction) =
        if search.oldest_first { (None, "ascending") } else { (Some("oldest"), "descending") };
    let table = Table::new(visit.say("attachments"), columns(visit, true)).rows(rows).empty(empty).sorted(
        3,
        visit.query.with(&path, "sort", other),
        Some(direction),
    );
    let pages = visit.pages(&path, request, page.has_more);
    let found = (visit.shown(page.items.len()), chips(visit, &path));
    let results = visit.results(&path, found, &table, pages);
    let new = visit.query.with(&format!("{path}/new"), "parent", Some(&token(id.into())));
    let head = people::head(visit, id, &home, visit.say("attachments"))
        .lede(visit.say("attachments-lede"))
        .act(Act::primary(new, visit.say("attachment-new-of-organization")));
    visit.page(head, Html::join([filters(visit), results])).await
}

/// The filters in use.
fn chips(visit: &Visit, path: &str) -> Vec<Chip> {
    let chip = |name: &str, text: String| visit.chip(path, name, text);
    let query = &visit.query;
    let kind = query.get("kind").map(|name| {
        let known = KINDS.into_iter().find(|kind| short(*kind) == name);
        known.map_or_else(|| visit.say("unknown"), |kind| kind_name(visit, kind))
    });
    let file_type = query.get("type").map(|name| {
        FileType::parse(name).map_or_else(|| visit.say("unknown"), |file_type| type_name(visit, file_type))
    });
    let chips = [
        query.get("q").map(|text| chip("q", text.to_owned())),
        kind.map(|text| chip("kind", text)),
        file_type.map(|text| chip("type", text)),
    ];
    chips.into_iter().flatten().collect()
}

fn filters(visit: &Visit) -> Html {
    let kinds = KINDS.map(|kind| Choice::new(short(kind), kind_name(visit, kind)));
    let types = TYPES.map(|file_type| Choice::new(file_type.as_str(), type_name(visit, file_type)));
    visit
        .filters(visit.say("attachments-filter"))
        .search(visit.say("attachments-search"))
        .select("kind", visit.say("attachment-record"), kinds)
        .select("type", visit.say("attachment-type"), types)
        .sort(visit.say("newest-first"), "oldest", visit.say("oldest-first"))
        .html()
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
    let request: PageRequest = visit.query.page(PER_PAGE);
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
    let here = Here::of_path(visit).await?;
    visit.zone = Zone::named(&here.organization.time_zone);
    let visit = &*visit;
    let own = (here.id, &here.organization);
    let body = of_record(visit, own, here.own.into(), here.title(visit)).await?;
    visit.page(here.head(visit, "attachments"), body).await
}

pub(crate) async fn of_proposal(visit: &mut Visit) -> Result<Reply> {
    let shown = Shown::of(visit).await?;
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
        for kind in KINDS {
            let parent = Parent { kind, id: 904 };
            assert_eq!(parent_of(&token(parent)), Some(parent));
            assert_eq!(ParentKind::named(short(kind)), Some(kind), "a name of the interface");
        }
        for wrong in ["", "proposals", "proposals/", "proposals/x", "answers/1", "organization"] {
            assert_eq!(parent_of(wrong), None, "{wrong}");
        }
    }
}
