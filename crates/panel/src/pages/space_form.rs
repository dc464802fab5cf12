//! The form of a participatory space: texts, slug, visibility (contract 05 §2.5).

use super::content::{self, line};
use crate::parts::{Choice, Field, Form, Group, Html, Problem, Section, Texts};
use crate::visit::Visit;
use civitas_kernel::text::nfc;
use civitas_kernel::{SpaceManifest, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Space, Visibility};

const VISIBILITIES: [(Visibility, &str); 3] = [
    (Visibility::Public, "visibility-public-hint"),
    (Visibility::Transparent, "visibility-transparent-hint"),
    (Visibility::Private, "visibility-private-hint"),
];

/// The texts of the form, with their places.
type Text = (&'static str, fn(&mut Space) -> &mut Translated);
const TEXTS: [Text; 4] = [
    ("title", |s| &mut s.title),
    ("subtitle", |s| &mut s.subtitle),
    ("short_description", |s| &mut s.short_description),
    ("description", |s| &mut s.description),
];

/// The space with what was typed, and what cannot be read. What was not sent stays as it is.
pub(crate) fn read(visit: &Visit, mut space: Space) -> (Space, Vec<Problem>) {
    let (form, locales) = (&visit.form, &visit.panel.settings.site.locales);
    let mut problems = Vec::new();
    for (member, place) in TEXTS {
        if form.has(&format!("space[{member}][")) {
            *place(&mut space) = form.texts(&format!("space[{member}]"), locales);
        }
    }
    if let Some(slug) = form.get("space[slug]") {
        space.slug = Some(nfc(slug.trim()).into_owned()).filter(|slug| !slug.is_empty());
    }
    if form.has("space[visibility]") {
        let name = form.text("space[visibility]");
        match VISIBILITIES.iter().find(|(visibility, _)| visibility.as_str() == name) {
            Some((visibility, _)) => space.visibility = *visibility,
            None => problems.push(Problem::new("space[visibility]", visit.say("problem-inclusion"))),
        }
    }
    (space, problems)
}

/// The problems of a refused space, beside their fields.
pub(crate) fn refusal(visit: &Visit, mut problems: Vec<Problem>) -> Vec<Problem> {
    for problem in &mut problems {
        if problem.text == "slug has already been taken" {
            *problem = Problem::new("space[slug]", visit.say("problem-taken"));
        } else if problem.text == "an initiative has no slug of its own" {
            *problem = Problem::new("space[slug]", visit.say("problem-slug-of-initiative"));
        } else if problem.text.contains(" cannot be ") {
            *problem = Problem::new("space[visibility]", visit.say("problem-visibility"));
        }
    }
    problems
}

/// The form. `of_kind` chooses the kind of a new space.
pub(crate) fn form<'a>(
    visit: &'a Visit,
    organization: &Organization,
    space: &Space,
    action: String,
    save: &str,
    problems: &[Problem],
    of_kind: Option<Html>,
) -> Form<'a> {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let is_new = of_kind.is_some();
    let texts = Texts::new("space-texts", visit.say("texts"), locales, organization.default_locale)
        .text("space[title]", visit.say("column-title"), "", &space.title, 1)
        .text("space[subtitle]", visit.say("space-subtitle"), "", &space.subtitle, 1)
        .text(
            "space[short_description]",
            visit.say("space-short-description"),
            visit.say("html-hint"),
            &space.short_description,
            3,
        )
        .text("space[description]", visit.say("description"), visit.say("html-hint"), &space.description, 6);
    let mut identity = Section::new("identity", visit.say("space-identity"));
    if let Some(of_kind) = of_kind {
        identity = identity.field(of_kind);
    }
    identity = identity.field(texts.html(words, problems));
    if is_new || space.manifest != SpaceManifest::Initiatives {
        identity = identity.field(
            Field::text("space[slug]", visit.say("space-slug"), space.slug.clone().unwrap_or_default())
                .hint(visit.say("space-slug-hint"))
                .class("mono")
                .optional()
                .check(problems)
                .html(words),
        );
    }
    let suits = |(visibility, _): &&(Visibility, &str)| is_new || visibility.suits(space.manifest);
    let choices = VISIBILITIES.iter().filter(suits).map(|(visibility, hint)| {
        Choice::new(visibility.as_str(), content::visibility(visit, *visibility)).hint(visit.say(hint))
    });
    let who = Group::radios(
        "space[visibility]",
        visit.say("visibility"),
        choices.collect(),
        space.visibility.as_str(),
    )
    .check(problems)
    .html(words);
    let seen = Section::new("who", visit.say("space-who")).hint(visit.say("space-who-hint")).field(who);
    Form::new(words, action, visit.token(), save).section(identity).section(seen)
}

/// What differs, for the audit trail.
pub(crate) fn changes(before: &Space, after: &Space) -> Vec<(&'static str, String, String)> {
    let (mut old, mut new) = (before.clone(), after.clone());
    let mut list: Vec<_> =
        TEXTS.iter().map(|(member, place)| (*member, line(place(&mut old)), line(place(&mut new)))).collect();
    let slug = |space: &Space| space.slug.clone().unwrap_or_default();
    list.push(("slug", slug(before), slug(after)));
    let visibility = |space: &Space| space.visibility.as_str().to_owned();
    list.push(("visibility", visibility(before), visibility(after)));
    let published = |space: &Space| space.published_at.is_some().to_string();
    list.push(("published", published(before), published(after)));
    list
}
