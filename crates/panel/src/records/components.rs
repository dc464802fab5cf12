//! The components that records belong to: the filter of a list, and the field of a new record.

use crate::pages::content;
use crate::pages::organization;
use crate::parts::{Chip, Choice, Field, Html, Problem};
use crate::visit::Visit;
use civitas_kernel::{ComponentId, OrganizationId, Result, SpaceManifest, SpaceRef, Within};
use civitas_spaces::{ComponentManifest, TitledComponent};

/// The most components that a page offers; above this, the number of the component is typed.
const MOST_COMPONENTS: i64 = 50;
/// The parameter with a component, `12`, or a space, `assemblies/3`.
const PLACE: &str = "in";

/// The part of the organization that is asked for. Other values are left out.
pub(super) fn within(visit: &Visit) -> Within {
    let text = visit.query.get(PLACE).unwrap_or_default();
    match text.split_once('/') {
        Some((manifest, id)) => match (SpaceManifest::parse(manifest), id.parse().ok()) {
            (Some(manifest), Some(id)) => {
                Within { space_manifest: Some(manifest), space_id: Some(id), component: None }
            }
            _ => Within::default(),
        },
        None => Within { component: text.parse().ok().map(ComponentId), ..Within::default() },
    }
}

/// The components of one kind, with their spaces.
pub(crate) struct Components {
    items: Vec<TitledComponent>,
    has_more: bool,
}

impl Components {
    pub(crate) async fn load(
        visit: &Visit,
        organization: OrganizationId,
        kind: ComponentManifest,
    ) -> Result<Self> {
        let reader = organization::as_administrator(organization);
        let components = visit.panel.store().components();
        let mut items = components.titled(reader, kind, MOST_COMPONENTS + 1).await?;
        let most = usize::try_from(MOST_COMPONENTS).unwrap_or(usize::MAX);
        let has_more = items.len() > most;
        items.truncate(most);
        Ok(Self { items, has_more })
    }

    /// The title of a space that has one of them.
    pub(super) fn space(&self, visit: &Visit, space: SpaceRef) -> Option<String> {
        let found = self.items.iter().find(|found| found.component.space == space);
        found.map(|found| content::title(visit, &found.space_title))
    }

    fn choices(&self, visit: &Visit) -> Vec<Choice> {
        let choice = |found: &TitledComponent| {
            let space = content::title(visit, &found.space_title);
            let name = content::title(visit, &found.component.name);
            Choice::new(found.id.to_string(), format!("{space}: {name}"))
        };
        self.items.iter().map(choice).collect()
    }

    fn spaces(&self, visit: &Visit) -> Vec<Choice> {
        let mut spaces: Vec<Choice> = Vec::new();
        for found in &self.items {
            let value = found.component.space.to_string();
            if spaces.iter().all(|choice| choice.value != value) {
                spaces.push(Choice::new(value, content::title(visit, &found.space_title)));
            }
        }
        spaces
    }

    /// The filter of a list.
    pub(super) fn filter(&self, visit: &Visit) -> Field {
        let chosen = visit.query.shown(PLACE);
        if self.has_more {
            let label = visit.say("component-one");
            return Field::number(PLACE, label, chosen).hint(visit.say("component-number"));
        }
        let mut choices = vec![Choice::new("", visit.say("all"))];
        choices.extend(self.spaces(visit));
        choices.extend(self.choices(visit));
        Field::select(PLACE, visit.say("publication-place"), chosen, choices)
    }

    /// The filter in use, as text.
    pub(super) fn chip(&self, visit: &Visit, path: &str) -> Option<Chip> {
        let chosen = visit.query.get(PLACE)?;
        let known = self.spaces(visit).into_iter().chain(self.choices(visit));
        let label = known.into_iter().find(|choice| choice.value == chosen).map(|choice| choice.label);
        let text = label.unwrap_or_else(|| format!("{} {chosen}", visit.say("component-one")));
        Some(visit.chip(path, PLACE, text))
    }

    /// The component of a new record.
    pub(super) fn field(&self, visit: &Visit, name: &str, problems: &[Problem]) -> Html {
        let chosen = chosen_component(visit, name);
        let label = visit.say("component-one");
        let field = if self.has_more {
            Field::number(name, label, chosen).hint(visit.say("component-number"))
        } else {
            let mut choices = vec![Choice::new("", visit.say("publication-choose"))];
            choices.extend(self.choices(visit));
            // The components of unpublished conferences and initiatives are not listed.
            if choices.iter().all(|choice| choice.value != chosen) {
                choices.push(Choice::new(chosen.clone(), format!("{label} {chosen}")));
            }
            Field::select(name, label, chosen, choices).class("medium")
        };
        field.check(problems).html(&visit.words)
    }
}

fn chosen_component(visit: &Visit, name: &str) -> String {
    visit.form.get(name).map_or_else(|| visit.query.shown("component"), |typed| typed.trim().to_owned())
}

/// The component that was chosen for a new record; 0, which none has, without a number.
pub(super) fn component(visit: &Visit, name: &str) -> ComponentId {
    ComponentId(chosen_component(visit, name).parse().unwrap_or_default())
}
