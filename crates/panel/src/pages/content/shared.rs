//! What the pages of the content of an organization share.

use super::organization::{self, LIST};
use crate::admin_request::AdminRequest;
use crate::format::Zone;
use crate::parts::{Badge, Head, Html, PageAction, Tab, render};
use crate::translator::Translator;
use askama::Template;
use civitas_audit::NewAuditEntry;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{
    Error, FieldError, Locale, Locales, OrganizationId, PageRequest, Result, SpaceKind, SpaceRef, Translated,
};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceDetail, SpaceField, SpaceFilter, Visibility};
use url::Url;

/// Reads the organization of the path, and keeps it in the navigation.
pub(crate) async fn open_organization(req: &AdminRequest) -> Result<(OrganizationId, Organization)> {
    let (id, organization) = organization::find_from_path(req).await?;
    req.set_navigation_organization(id).await?;
    Ok((id, organization))
}

/// As [`open_organization`]; shows the times of the page in the time zone of the organization.
pub(crate) async fn open_organization_in_zone(req: &AdminRequest) -> Result<(OrganizationId, Organization)> {
    let (id, organization) = open_organization(req).await?;
    req.zone.set(Zone::named(&organization.time_zone));
    Ok((id, organization))
}

/// The path of the list of spaces.
pub(crate) fn spaces_path(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/spaces")
}

/// The path of a space.
pub(crate) fn space_path(organization: OrganizationId, space: SpaceRef) -> String {
    format!("{}/{}/{}", spaces_path(organization), space.kind.as_str(), space.id)
}

/// A title in the language of the page.
pub(crate) fn title(req: &AdminRequest, title: &Translated) -> String {
    title.title(req.translator.locale).map_or_else(|| req.tr("untitled"), str::to_owned)
}

/// The text of the name of a kind.
pub(crate) fn space_kind_key(kind: SpaceKind) -> String {
    format!("space-{}", kind.as_str().replace('_', "-"))
}

/// The name of a kind: `Process`.
pub(crate) fn space_kind_name(req: &AdminRequest, kind: SpaceKind) -> String {
    req.tr(&space_kind_key(kind))
}

/// The name of a visibility: `Public`.
pub(crate) fn visibility_name(req: &AdminRequest, visibility: Visibility) -> String {
    req.tr(&format!("visibility-{}", visibility.as_str()))
}

/// Whether something is published.
pub(crate) fn published_badge(req: &AdminRequest, is_published: bool) -> Badge {
    if is_published { Badge::good(req.tr("published")) } else { Badge::warn(req.tr("not-published")) }
}

/// The field that an error of the use case is about. `record` is the name of the form.
pub(crate) fn field_name(record: &str, organization: &Organization, field_error: &FieldError) -> String {
    match field_error.field.as_ref() {
        member @ ("title" | "name" | "description" | "body") => {
            format!("{record}[{member}][{}]", organization.default_locale)
        }
        member => format!("{record}[{member}]"),
    }
}

/// A count that stops at `most`, as a page writes it.
pub(crate) fn count_text(req: &AdminRequest, count: i64, most: i64) -> String {
    if count < most { req.number(count) } else { req.tr_with("more-than", "number", most - 1) }
}

/// The paragraphs of a text; markup is shown as it was typed.
pub(crate) fn paragraphs(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The texts of all languages in one line, for the audit trail.
pub(crate) fn audit_text(text: &Translated) -> String {
    text.iter().map(|(locale, text)| format!("{locale}: {text}")).collect::<Vec<_>>().join("; ")
}

/// The entry of the audit trail with what differs between two states: fields with the old and the new value.
pub(crate) fn with_changes<F: AsRef<str>>(
    entry: NewAuditEntry,
    changes: impl IntoIterator<Item = (F, String, String)>,
) -> NewAuditEntry {
    changes
        .into_iter()
        .fold(entry, |entry, (field, old, new)| entry.with_change(field.as_ref(), Some(&old), Some(&new)))
}

#[derive(Template)]
#[template(path = "pages/deletion_link.html")]
struct DeletionLink<'a> {
    translator: &'a Translator,
    lede: String,
    href: String,
    name: String,
}

/// The link below a form to the confirmation page of the deletion of a record. `name`: that of the record.
pub(crate) fn deletion_link(req: &AdminRequest, lede: String, href: String, name: String) -> Html {
    render(&DeletionLink { translator: &req.translator, lede, href, name })
}

/// A text with what was typed in these languages; those of other languages stay, and so does a text that is sent as it
/// is stored. A form changes the ends of lines only.
pub(crate) fn typed_texts(
    req: &AdminRequest,
    name: &str,
    locales: &Locales,
    stored: &Translated,
) -> Translated {
    let mut text = stored.clone();
    for locale in locales.iter() {
        let Some(typed) = req.form.get(&format!("{name}[{locale}]")) else { continue };
        if stored.get(locale).is_some_and(|old| old.replace("\r\n", "\n") == typed) {
            continue;
        }
        if typed.trim().is_empty() {
            text.remove(locale);
        } else {
            text.set(locale, typed.to_owned());
        }
    }
    text
}

/// The languages of a form: those of the organization, and those the texts have.
pub(crate) fn form_languages(organization: &Organization, texts: &[&Translated]) -> Locales {
    let used = texts.iter().flat_map(|text| text.iter().map(|(locale, _)| locale));
    let mut all: Vec<Locale> = organization.available_locales.iter().collect();
    for locale in used {
        if !all.contains(&locale) {
            all.push(locale);
        }
    }
    all.into_iter().collect()
}

/// The address of a file below the origin of its organization. The key is the right to read it.
pub(crate) fn file_address(origin: &str, key: &str, filename: &str) -> Option<String> {
    let mut url = Url::parse(origin).ok()?;
    url.path_segments_mut().ok()?.extend(["files", key, filename]);
    Some(url.to_string())
}

/// The space that a text such as `assemblies/7` names.
pub(crate) fn parse_space_ref(text: &str) -> Option<SpaceRef> {
    let (kind, id) = text.split_once('/')?;
    Some(SpaceRef { kind: SpaceKind::parse(kind)?, id: id.parse().ok()? })
}

/// The spaces with these numbers, of all kinds: spaces of each of the four kinds can have the same number. One read.
pub(crate) async fn spaces_by_ids(
    req: &AdminRequest,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<Vec<SpaceDetail>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let filter =
        SpaceFilter { field: SpaceField::Id, condition: FilterCondition::Integer(Comparison::In(ids)) };
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let reader = organization::admin_read_context(organization);
    Ok(req.store().spaces().list(reader, None, &[filter], request).await?.items)
}

/// A space of the path, with its organization.
pub(crate) struct OpenedSpace {
    pub(crate) organization_id: OrganizationId,
    pub(crate) organization: Organization,
    pub(crate) space_ref: SpaceRef,
    pub(crate) space: Space,
}

impl OpenedSpace {
    /// The space of the path.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let kind = SpaceKind::parse(req.path_param("manifest")).ok_or(Error::NotFound)?;
        let space_ref = SpaceRef { kind, id: req.path_id("sid")? };
        Self::find(req, space_ref).await
    }

    /// This space of the organization of the path.
    pub(crate) async fn find(req: &AdminRequest, space_ref: SpaceRef) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let found = req.store().spaces().find(organization_id, space_ref).await?;
        Ok(Self { organization_id, organization, space_ref, space: found.ok_or(Error::NotFound)? })
    }

    /// The path of the page of the space.
    pub(crate) fn path(&self) -> String {
        space_path(self.organization_id, self.space_ref)
    }

    /// The title of the space.
    pub(crate) fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.space.title)
    }

    /// The head of a page below the page of the space.
    pub(crate) fn head_below_space(&self, req: &AdminRequest, title: impl Into<String>) -> Head {
        organization::head(req, self.organization_id, &self.organization, title.into())
            .crumb(req.tr("spaces"), spaces_path(self.organization_id))
            .crumb(self.title(req), self.path())
    }

    /// The head of a page of the space.
    pub(crate) fn head(&self, req: &AdminRequest, tab: &str) -> Head {
        let path = self.path();
        let mut tabs = vec![("content", "space-tab-content"), ("edit", "space-tab-edit")];
        // Initiatives have no roles.
        if self.space_ref.kind != SpaceKind::Initiatives {
            tabs.push(("roles", "roles"));
        }
        tabs.extend([("attachments", "attachments"), ("extended_data", "extended-data")]);
        let tabs = tabs.into_iter().map(|(page, key)| Tab {
            href: if page == "content" { path.clone() } else { format!("{path}/{page}") },
            label: req.tr(key),
            is_current: page == tab,
        });
        let is_published = self.space.published_at.is_some();
        let (action, key) = if is_published { ("unpublish", "unpublish") } else { ("publish", "publish") };
        let lede = req.tr_args(
            "space-lede",
            &[
                ("kind", space_kind_name(req, self.space_ref.kind).into()),
                ("id", self.space_ref.id.to_string().into()),
            ],
        );
        organization::head(req, self.organization_id, &self.organization, self.title(req))
            .crumb(req.tr("spaces"), spaces_path(self.organization_id))
            .badge(published_badge(req, is_published))
            .badge(Badge::plain(visibility_name(req, self.space.visibility)))
            .lede(lede)
            .action(PageAction::post(format!("{path}/{action}"), req.tr(key), req.token()))
            .tabs(req.tr("space-tabs"), tabs.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_written_as_kind_and_number() {
        let youth = SpaceRef { kind: SpaceKind::Assemblies, id: 7 };
        assert_eq!(parse_space_ref("assemblies/7"), Some(youth));
        for wrong in ["assemblies", "councils/7", "assemblies/x"] {
            assert_eq!(parse_space_ref(wrong), None, "{wrong}");
        }
    }
}
