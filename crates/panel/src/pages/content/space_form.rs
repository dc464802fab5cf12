//! The form of a participatory space: texts, slug, visibility (contract 05 §2.5).

use super::opened_space::visibility_name;
use crate::admin_request::AdminRequest;
use crate::parts::{Choice, FormError, FormErrors, Section};
use crate::records::{EditableRecord, FormInput, FormView, TextField};
use crate::translated::title;
use civitas_application::Ports;
use civitas_kernel::records::{RecordAdministration, RecordFields};
use civitas_kernel::text::nfc;
use civitas_kernel::{FieldError, Result, SpaceKind};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceAdministration, Visibility, check_title};

impl EditableRecord for Space {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(SpaceAdministration { spaces: ports.spaces() })
    }

    fn check(&self, before: Option<&Self>, organization: &Organization) -> Result<()> {
        if before.is_some_and(|before| before.title == self.title) {
            return Ok(());
        }
        check_title("title", &self.title, organization.default_locale)
    }

    fn label(&self, req: &AdminRequest) -> String {
        title(req, &self.title)
    }

    fn error_key(field_error: &FieldError) -> Option<&'static str> {
        match (field_error.field.as_ref(), field_error.code.as_ref()) {
            ("slug", "not_allowed") => Some("problem-slug-of-initiative"),
            ("visibility", "not_allowed") => Some("problem-visibility"),
            _ => None,
        }
    }
}

/// Writes what was typed into the space, and returns what cannot be read.
pub(crate) fn read_form(req: &AdminRequest, space: &mut Space) -> FormErrors {
    let mut input = FormInput::new(req, Space::NAME, &req.panel.settings.site.locales);
    input.read_texts("title", &mut space.title);
    input.read_texts("subtitle", &mut space.subtitle);
    input.read_texts("short_description", &mut space.short_description);
    input.read_texts("description", &mut space.description);
    if let Some(slug) = req.form.get("space[slug]") {
        space.slug = Some(nfc(slug.trim()).into_owned()).filter(|slug| !slug.is_empty());
    }
    if let Some(visibility) = input.read_choice("visibility", &Visibility::ALL, Visibility::as_str) {
        space.visibility = visibility;
    }
    input.into_problems()
}

/// The sections of the form.
pub(crate) fn sections(
    req: &AdminRequest,
    organization: &Organization,
    space: &Space,
    problems: &[FormError],
    is_new: bool,
) -> [Section; 2] {
    let locales = &req.panel.settings.site.locales;
    let view = FormView { req, organization, name: Space::NAME, locales, problems, is_new };
    let texts = view.texts(
        "space-texts",
        &[
            TextField::line("title", "column-title", &space.title),
            TextField::line("subtitle", "space-subtitle", &space.subtitle),
            TextField::html("short_description", "space-short-description", &space.short_description, 3),
            TextField::html("description", "description", &space.description, 6),
        ],
    );
    let mut identity = view.section("identity", "space-identity").field(texts);
    if is_new || space.kind != SpaceKind::Initiatives {
        let slug = view.line("slug", "space-slug", space.slug.as_deref().unwrap_or_default());
        let slug = slug.hint(req.tr("space-slug-hint")).class("mono").optional();
        identity = identity.field(view.html(slug));
    }
    let suits = |choice: &Visibility| is_new || choice.is_allowed_for(space.kind);
    let choices = Visibility::ALL.into_iter().filter(suits).map(|choice| {
        let hint = req.tr(&format!("visibility-{}-hint", choice.as_str()));
        Choice::new(choice.as_str(), visibility_name(req, choice)).hint(hint)
    });
    let who = view.choice("visibility", "visibility", space.visibility.as_str(), choices.collect());
    let who = view.section("who", "space-who").hint(req.tr("space-who-hint")).field(who);
    [identity, who]
}
