//! The form of a participatory space: texts, slug, visibility (contract 05 §2.5).

use super::content::{field_of, title, visibility};
use crate::error;
use crate::parts::{Choice, Form, Html, Problem};
use crate::records::{EditableRecord, FormInput, FormView, TextField};
use crate::visit::Visit;
use civitas_application::Ports;
use civitas_kernel::records::{Described, RecordAdmin};
use civitas_kernel::text::nfc;
use civitas_kernel::{Error, Result, SpaceManifest};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceAdmin, Visibility, check_title};

impl EditableRecord for Space {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(SpaceAdmin { spaces: ports.spaces() })
    }

    fn check(&self, before: Option<&Self>, home: &Organization) -> Result<()> {
        if before.is_some_and(|before| before.title == self.title) {
            return Ok(());
        }
        check_title("title", &self.title, home.default_locale)
    }

    fn label(&self, visit: &Visit) -> String {
        title(visit, &self.title)
    }

    fn problems(visit: &Visit, home: &Organization, fault: Error) -> Result<Vec<Problem>> {
        let mut problems = error::problems(&visit.words, fault, |f| field_of(Self::NAME, home, f))?;
        for problem in &mut problems {
            let (field, key) = match problem.text.as_str() {
                "slug has already been taken" => ("space[slug]", "problem-taken"),
                "an initiative has no slug of its own" => ("space[slug]", "problem-slug-of-initiative"),
                text if text.contains(" cannot be ") => ("space[visibility]", "problem-visibility"),
                _ => continue,
            };
            *problem = Problem::new(field, visit.say(key));
        }
        Ok(problems)
    }
}

/// Writes what was typed into the space, and returns what cannot be read.
pub(crate) fn read(visit: &Visit, space: &mut Space) -> Vec<Problem> {
    let mut input = FormInput::new(visit, Space::NAME, &visit.panel.settings.site.locales);
    input.texts("title", &mut space.title);
    input.texts("subtitle", &mut space.subtitle);
    input.texts("short_description", &mut space.short_description);
    input.texts("description", &mut space.description);
    if let Some(slug) = visit.form.get("space[slug]") {
        space.slug = Some(nfc(slug.trim()).into_owned()).filter(|slug| !slug.is_empty());
    }
    if let Some(visibility) = input.choice("visibility", &Visibility::ALL, Visibility::as_str) {
        space.visibility = visibility;
    }
    input.into_problems()
}

/// The form. `of_kind` chooses the kind of a new space.
pub(crate) fn form<'a>(
    visit: &'a Visit,
    home: &Organization,
    space: &Space,
    (action, save): (String, &str),
    problems: &[Problem],
    of_kind: Option<Html>,
) -> Form<'a> {
    let (locales, is_new) = (&visit.panel.settings.site.locales, of_kind.is_some());
    let view = FormView { visit, home, name: Space::NAME, locales, problems, is_new };
    let texts = view.texts(
        "space-texts",
        &[
            TextField::line("title", "column-title", &space.title),
            TextField::line("subtitle", "space-subtitle", &space.subtitle),
            TextField::html("short_description", "space-short-description", &space.short_description, 3),
            TextField::html("description", "description", &space.description, 6),
        ],
    );
    let mut identity = view.section("identity", "space-identity");
    identity.fields.extend(of_kind);
    identity = identity.field(texts);
    if is_new || space.manifest != SpaceManifest::Initiatives {
        let slug = view.line("slug", "space-slug", space.slug.as_deref().unwrap_or_default());
        let slug = slug.hint(visit.say("space-slug-hint")).class("mono").optional();
        identity = identity.field(view.html(slug));
    }
    let suits = |choice: &Visibility| is_new || choice.suits(space.manifest);
    let choices = Visibility::ALL.into_iter().filter(suits).map(|choice| {
        let hint = visit.say(&format!("visibility-{}-hint", choice.as_str()));
        Choice::new(choice.as_str(), visibility(visit, choice)).hint(hint)
    });
    let who = view.choice("visibility", "visibility", space.visibility.as_str(), choices.collect());
    let who = view.section("who", "space-who").hint(visit.say("space-who-hint")).field(who);
    Form::new(&visit.words, action, visit.token(), save).section(identity).section(who)
}
