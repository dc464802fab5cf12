//! The components that records belong to: the filter of a list, and the field of a new record.

use crate::admin_request::AdminRequest;
use crate::pages::content::organization;
use crate::pages::content::shared;
use crate::parts::{Chip, Choice, Field, FormError, Html};
use civitas_kernel::{ComponentId, LocationFilter, OrganizationId, Result, SpaceRef};
use civitas_spaces::{ComponentKind, TitledComponent};

/// The most components that a page offers; above this, the number of the component is typed.
const MAX_COMPONENTS: i64 = 50;
/// The parameter with a component, `12`, or a space, `assemblies/3`.
const WITHIN: &str = "in";

/// The space or component that the address names; the whole organization for any other value.
pub(super) fn within_from_query(req: &AdminRequest) -> LocationFilter {
    let text = req.query.get(WITHIN).unwrap_or_default();
    match shared::parse_space_ref(text) {
        Some(space) => {
            LocationFilter { space_kind: Some(space.kind), space_id: Some(space.id), component: None }
        }
        None => LocationFilter { component: text.parse().ok().map(ComponentId), ..LocationFilter::default() },
    }
}

/// The components of one kind, with their spaces.
pub(crate) struct Components {
    items: Vec<TitledComponent>,
    has_more: bool,
}

impl Components {
    pub(crate) async fn load(
        req: &AdminRequest,
        organization: OrganizationId,
        kind: ComponentKind,
    ) -> Result<Self> {
        let reader = organization::admin_read_context(organization);
        let components = req.store().components();
        let mut items = components.titled(reader, kind, MAX_COMPONENTS + 1).await?;
        let most = usize::try_from(MAX_COMPONENTS).unwrap_or(usize::MAX);
        let has_more = items.len() > most;
        items.truncate(most);
        Ok(Self { items, has_more })
    }

    /// The title of a space that has one of these components.
    pub(super) fn space_title(&self, req: &AdminRequest, space: SpaceRef) -> Option<String> {
        let found = self.items.iter().find(|found| found.component.space == space);
        found.map(|found| shared::title(req, &found.space_title))
    }

    fn choices(&self, req: &AdminRequest) -> Vec<Choice> {
        let choice = |found: &TitledComponent| {
            let space = shared::title(req, &found.space_title);
            let name = shared::title(req, &found.component.name);
            Choice::new(found.id.to_string(), format!("{space}: {name}"))
        };
        self.items.iter().map(choice).collect()
    }

    fn spaces(&self, req: &AdminRequest) -> Vec<Choice> {
        let mut spaces: Vec<Choice> = Vec::new();
        for found in &self.items {
            let value = found.component.space.to_string();
            if spaces.iter().all(|choice| choice.value != value) {
                spaces.push(Choice::new(value, shared::title(req, &found.space_title)));
            }
        }
        spaces
    }

    /// The filter of a list.
    pub(super) fn filter(&self, req: &AdminRequest) -> Field {
        let chosen = req.query.field_value(WITHIN);
        if self.has_more {
            let label = req.tr("component-one");
            return Field::number(WITHIN, label, chosen).hint(req.tr("component-number"));
        }
        let mut choices = vec![Choice::new("", req.tr("all"))];
        choices.extend(self.spaces(req));
        choices.extend(self.choices(req));
        Field::select(WITHIN, req.tr("publication-place"), chosen, choices)
    }

    /// The filter in use, as text.
    pub(super) fn chip(&self, req: &AdminRequest, path: &str) -> Option<Chip> {
        let chosen = req.query.get(WITHIN)?;
        let known = self.spaces(req).into_iter().chain(self.choices(req));
        let label = known.into_iter().find(|choice| choice.value == chosen).map(|choice| choice.label);
        let text = label.unwrap_or_else(|| format!("{} {chosen}", req.tr("component-one")));
        Some(req.chip(path, WITHIN, text))
    }

    /// The component of a new record.
    pub(super) fn field(&self, req: &AdminRequest, name: &str, problems: &[FormError]) -> Html {
        let chosen = chosen_component_text(req, name);
        let label = req.tr("component-one");
        let field = if self.has_more {
            Field::number(name, label, chosen).hint(req.tr("component-number"))
        } else {
            let mut choices = vec![Choice::new("", req.tr("publication-choose"))];
            choices.extend(self.choices(req));
            // The components of unpublished conferences and initiatives are not listed.
            if choices.iter().all(|choice| choice.value != chosen) {
                choices.push(Choice::new(chosen.clone(), format!("{label} {chosen}")));
            }
            Field::select(name, label, chosen, choices).class("medium")
        };
        field.check(problems).html(&req.translator)
    }
}

fn chosen_component_text(req: &AdminRequest, name: &str) -> String {
    req.form.get(name).map_or_else(|| req.query.field_value("component"), |typed| typed.trim().to_owned())
}

/// The component that was chosen for a new record; 0, which none has, without a number.
pub(super) fn chosen_component_id(req: &AdminRequest, name: &str) -> ComponentId {
    ComponentId(chosen_component_text(req, name).parse().unwrap_or_default())
}
