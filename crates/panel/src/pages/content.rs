//! What the pages of the content of an organization share.

use super::organization::{self, LIST};
use crate::format::Zone;
use crate::parts::{Act, Badge, Head, Html, Tab, render};
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::Record;
use civitas_kernel::{
    Error, FieldError, Locale, Locales, OrganizationId, Result, SpaceManifest, SpaceRef, Translated,
};
use civitas_organizations::Organization;
use civitas_spaces::{Space, Visibility};

/// The organization of the path, which the navigation keeps.
pub(crate) async fn opened(visit: &mut Visit) -> Result<(OrganizationId, Organization)> {
    let (id, organization) = organization::organization(visit).await?;
    visit.open_organization(id).await?;
    Ok((id, organization))
}

/// As [`opened`]. Times of the page are in the zone of the organization.
pub(crate) async fn in_its_zone(visit: &mut Visit) -> Result<(OrganizationId, Organization)> {
    let (id, organization) = opened(visit).await?;
    visit.zone = Zone::named(&organization.time_zone);
    Ok((id, organization))
}

/// The path of the list.
pub(crate) fn base(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/spaces")
}

/// The path of a space.
pub(crate) fn path(organization: OrganizationId, space: SpaceRef) -> String {
    format!("{}/{}/{}", base(organization), space.manifest.as_str(), space.id)
}

/// A title in the language of the page.
pub(crate) fn title(visit: &Visit, title: &Translated) -> String {
    title.title(visit.words.locale).map_or_else(|| visit.say("untitled"), str::to_owned)
}

/// The text of the name of a kind.
pub(crate) fn kind_key(manifest: SpaceManifest) -> String {
    format!("space-{}", manifest.as_str().replace('_', "-"))
}

/// The name of a kind: `Process`.
pub(crate) fn kind(visit: &Visit, manifest: SpaceManifest) -> String {
    visit.say(&kind_key(manifest))
}

/// The name of a visibility: `Public`.
pub(crate) fn visibility(visit: &Visit, visibility: Visibility) -> String {
    visit.say(&format!("visibility-{}", visibility.as_str()))
}

/// Whether something is published.
pub(crate) fn published(visit: &Visit, is_published: bool) -> Badge {
    if is_published { Badge::good(visit.say("published")) } else { Badge::warn(visit.say("not-published")) }
}

/// The field that an error of the use case is about. `record` is the name of the form.
pub(crate) fn field_of(record: &str, organization: &Organization, fault: &FieldError) -> String {
    match fault.field.as_ref() {
        member @ ("title" | "name" | "description" | "body") => {
            format!("{record}[{member}][{}]", organization.default_locale)
        }
        member => format!("{record}[{member}]"),
    }
}

/// A count that stops at `most`, as a page writes it.
pub(crate) fn counted(visit: &Visit, count: i64, most: i64) -> String {
    if count < most { visit.number(count) } else { visit.tell("more-than", &[("number", (most - 1).into())]) }
}

/// The paragraphs of a text; markup is shown as it was typed.
pub(crate) fn paragraphs(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The texts of all languages in one line, for the audit trail.
pub(crate) fn line(text: &Translated) -> String {
    text.iter().map(|(locale, text)| format!("{locale}: {text}")).collect::<Vec<_>>().join("; ")
}

/// The entry of the audit trail with what differs between two states: fields with the old and the new value.
pub(crate) fn with_changes<F: AsRef<str>>(
    entry: Record,
    changes: impl IntoIterator<Item = (F, String, String)>,
) -> Record {
    changes
        .into_iter()
        .fold(entry, |entry, (field, old, new)| entry.changed(field.as_ref(), Some(&old), Some(&new)))
}

#[derive(Template)]
#[template(path = "pages/end.html")]
struct End<'a> {
    words: &'a Words,
    lede: String,
    href: String,
    name: String,
}

/// The link below a form to the page that asks before the record of this name is deleted.
pub(crate) fn end(visit: &Visit, lede: String, href: String, name: String) -> Html {
    render(&End { words: &visit.words, lede, href, name })
}

/// A text with what was typed in these languages; those of other languages stay, and so does a text that is sent as it
/// is stored. A form changes the ends of lines only.
pub(crate) fn typed(visit: &Visit, name: &str, locales: &Locales, stored: &Translated) -> Translated {
    let mut text = stored.clone();
    for locale in locales.iter() {
        let Some(typed) = visit.form.get(&format!("{name}[{locale}]")) else { continue };
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
pub(crate) fn languages(organization: &Organization, texts: &[&Translated]) -> Locales {
    let own = texts.iter().flat_map(|text| text.iter().map(|(locale, _)| locale));
    let mut all: Vec<Locale> = organization.available_locales.iter().collect();
    for locale in own {
        if !all.contains(&locale) {
            all.push(locale);
        }
    }
    all.into_iter().collect()
}

/// Kind and number of a space, for the audit trail.
pub(crate) fn number(space: SpaceRef) -> String {
    space.to_string()
}

/// A space of the path, with its organization.
pub(crate) struct OpenedSpace {
    pub(crate) id: OrganizationId,
    pub(crate) organization: Organization,
    pub(crate) own: SpaceRef,
    pub(crate) space: Space,
}

impl OpenedSpace {
    /// The space of the path.
    pub(crate) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let manifest = SpaceManifest::parse(visit.param("manifest")).ok_or(Error::NotFound)?;
        let own = SpaceRef { manifest, id: visit.id("sid")? };
        Self::find(visit, own).await
    }

    /// This space of the organization of the path.
    pub(crate) async fn find(visit: &mut Visit, own: SpaceRef) -> Result<Self> {
        let (id, organization) = opened(visit).await?;
        let found = visit.panel.store().spaces().find(id, own).await?;
        Ok(Self { id, organization, own, space: found.ok_or(Error::NotFound)? })
    }

    /// The path of its page.
    pub(crate) fn path(&self) -> String {
        path(self.id, self.own)
    }

    /// Its title.
    pub(crate) fn title(&self, visit: &Visit) -> String {
        title(visit, &self.space.title)
    }

    /// The head of a page below the page of the space.
    pub(crate) fn below(&self, visit: &Visit, title: impl Into<String>) -> Head {
        organization::head(visit, self.id, &self.organization, title.into())
            .crumb(visit.say("spaces"), base(self.id))
            .crumb(self.title(visit), self.path())
    }

    /// The head of a page of the space.
    pub(crate) fn head(&self, visit: &Visit, tab: &str) -> Head {
        let path = self.path();
        let mut tabs = vec![("content", "space-tab-content"), ("edit", "space-tab-edit")];
        // Initiatives have no roles.
        if self.own.manifest != SpaceManifest::Initiatives {
            tabs.push(("roles", "roles"));
        }
        tabs.extend([("attachments", "attachments"), ("extended_data", "extended-data")]);
        let tabs = tabs.into_iter().map(|(page, key)| Tab {
            href: if page == "content" { path.clone() } else { format!("{path}/{page}") },
            label: visit.say(key),
            is_current: page == tab,
        });
        let is_published = self.space.published_at.is_some();
        let (act, key) = if is_published { ("unpublish", "unpublish") } else { ("publish", "publish") };
        let lede = visit.tell(
            "space-lede",
            &[("kind", kind(visit, self.own.manifest).into()), ("id", self.own.id.to_string().into())],
        );
        organization::head(visit, self.id, &self.organization, self.title(visit))
            .crumb(visit.say("spaces"), base(self.id))
            .badge(published(visit, is_published))
            .badge(Badge::plain(visibility(visit, self.space.visibility)))
            .lede(lede)
            .act(Act::post(format!("{path}/{act}"), visit.say(key), visit.token()))
            .tabs(visit.say("space-tabs"), tabs.collect())
    }
}
