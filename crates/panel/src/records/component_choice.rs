//! The choice of a component: the filter of a list, and the field of a new record.

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::pages::content::opened_space::parse_space_ref;
use crate::pages::content::organization::admin_read_context;
use crate::parts::{Choice, Field};
use crate::translated::title;
use civitas_kernel::{ComponentId, LocationFilter, OrganizationId, Result, SpaceRef};
use civitas_spaces::{ComponentKind, ComponentWithSpaceTitle};

/// The most components that a page offers; above this, the number of the component is typed.
const MAX_COMPONENTS: i64 = 100;
/// The parameter of addresses with a component, `12`, or a space, `assemblies/3`.
const PARAMETER: &str = "in";

/// The components of one kind, with their spaces.
pub(crate) struct ComponentChoice {
    components: Vec<ComponentWithSpaceTitle>,
    /// Whether the number of the component is typed.
    is_typed: bool,
}

impl ComponentChoice {
    /// Any component, by its number.
    pub(crate) const BY_NUMBER: Self = Self { components: Vec::new(), is_typed: true };

    pub(crate) async fn load(
        req: &AdminRequest,
        organization: OrganizationId,
        kind: ComponentKind,
    ) -> Result<Self> {
        let (reader, store) = (admin_read_context(organization), req.store().components());
        let mut components = store.titled(reader, kind, MAX_COMPONENTS + 1).await?;
        let most = usize::try_from(MAX_COMPONENTS).unwrap_or(usize::MAX);
        let is_typed = components.len() > most;
        components.truncate(most);
        Ok(Self { components, is_typed })
    }

    /// The title of a space that has one of these components.
    pub(super) fn space_title(&self, req: &AdminRequest, space: SpaceRef) -> Option<String> {
        let found = self.components.iter().find(|found| found.component.space == space);
        found.map(|found| title(req, &found.space_title))
    }

    fn choices(&self, req: &AdminRequest) -> Vec<Choice> {
        let choice = |found: &ComponentWithSpaceTitle| {
            let (space, name) = (title(req, &found.space_title), title(req, &found.component.name));
            Choice::new(found.id.to_string(), format!("{space}: {name}"))
        };
        self.components.iter().map(choice).collect()
    }

    fn space_choices(&self, req: &AdminRequest) -> Vec<Choice> {
        let mut spaces: Vec<Choice> = Vec::new();
        for found in &self.components {
            let value = found.component.space.to_string();
            if spaces.iter().all(|choice| choice.value != value) {
                spaces.push(Choice::new(value, title(req, &found.space_title)));
            }
        }
        spaces
    }

    /// The field of a filter with this label: all, or one of these choices.
    fn filter_field(
        &self,
        req: &AdminRequest,
        label: &str,
        choices: impl IntoIterator<Item = Choice>,
    ) -> Field {
        let chosen = req.query.field_value(PARAMETER);
        if self.is_typed {
            return number_field(req, PARAMETER, chosen);
        }
        let all = std::iter::once(Choice::new("", req.tr("all")));
        Field::select(PARAMETER, req.tr(label), chosen, all.chain(choices).collect())
    }

    /// Adds the filter by component.
    pub(crate) fn component_filter(&self, list: &mut List<'_>) -> Option<ComponentId> {
        let req = list.req;
        let component = req.query.number(PARAMETER);
        let chip = component.map(|id| list.chip(PARAMETER, format!("{} {id}", req.tr("component-one"))));
        list.field_with_chip(&self.filter_field(req, "component-one", self.choices(req)), chip);
        component.map(ComponentId)
    }

    /// Adds the filter by space or component.
    pub(crate) fn location_filter(&self, list: &mut List<'_>) -> LocationFilter {
        let req = list.req;
        let chosen = req.query.get(PARAMETER);
        let choices = [self.space_choices(req), self.choices(req)].concat();
        let chip = chosen.map(|chosen| {
            let known = choices.iter().find(|choice| choice.value == chosen);
            let unknown = || format!("{} {chosen}", req.tr("component-one"));
            list.chip(PARAMETER, known.map_or_else(unknown, |choice| choice.label.clone()))
        });
        list.field_with_chip(&self.filter_field(req, "publication-place", choices), chip);
        match chosen.and_then(parse_space_ref) {
            Some(space) => {
                LocationFilter { space_kind: Some(space.kind), space_id: Some(space.id), component: None }
            }
            None => LocationFilter {
                component: req.query.number(PARAMETER).map(ComponentId),
                ..LocationFilter::default()
            },
        }
    }

    /// The field for the component of a new record. `choose`: the text of the choice of none; `complete`: adds what a select
    /// has besides.
    pub(crate) fn field(
        &self,
        req: &AdminRequest,
        name: &str,
        choose: &str,
        complete: impl FnOnce(Field) -> Field,
    ) -> Field {
        let chosen = chosen_component(req, name);
        if self.is_typed {
            return number_field(req, name, chosen);
        }
        let label = req.tr("component-one");
        let mut choices = vec![Choice::new("", req.tr(choose))];
        choices.extend(self.choices(req));
        // The components of unpublished conferences and initiatives are not listed.
        if choices.iter().all(|choice| choice.value != chosen) {
            choices.push(Choice::new(chosen.clone(), format!("{label} {chosen}")));
        }
        complete(Field::select(name, label, chosen, choices))
    }
}

/// The field for the number of a component.
fn number_field(req: &AdminRequest, name: &str, chosen: String) -> Field {
    Field::number(name, req.tr("component-one"), chosen).hint(req.tr("component-number"))
}

/// The component of a new record: that of the form, or of the address before it was sent.
fn chosen_component(req: &AdminRequest, name: &str) -> String {
    req.form.get(name).map_or_else(|| req.query.field_value(PARAMETER), |typed| typed.trim().to_owned())
}

/// The component that was chosen for a new record.
pub(crate) fn chosen_component_id(req: &AdminRequest, name: &str) -> Option<ComponentId> {
    chosen_component(req, name).parse().ok().map(ComponentId)
}
