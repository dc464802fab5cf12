//! The position of a component among those of its space (contract 05 §3).

use super::components::{MAX_SPACE_COMPONENTS, OpenedComponent, audit_entry};
use crate::admin_request::AdminRequest;
use crate::parts::{Choice, Field, FormError, FormErrors, Html, PageAction, Section};
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::Result;
use civitas_spaces::{ComponentMove, ComponentOrder, MovedComponent};

const POSITION_FIELD: &str = "place";
const DIRECTION_FIELD: &str = "way";

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    show_page(req, &opened, Vec::new()).await
}

async fn show_page(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let components = req
        .store()
        .components()
        .list_in_space(opened.space.organization_id, opened.space.space_ref, MAX_SPACE_COMPONENTS)
        .await?;
    let names: Vec<String> = components.iter().map(|(_, component)| title(req, &component.name)).collect();
    let position = components.iter().position(|(id, _)| *id == opened.id);
    let current = position.map(|position| (position + 1).to_string()).unwrap_or_default();
    let choices = (1..)
        .zip(&names)
        .map(|(position, name)| Choice::new(position.to_string(), format!("{position}. {name}")));
    let action = format!("{}/move", opened.path());
    let (label, chosen) = (req.tr("component-place"), req.form.get(POSITION_FIELD).unwrap_or(&current));
    let field = Field::select(POSITION_FIELD, label.clone(), chosen, choices.collect())
        .hint(req.tr("component-place-hint"))
        .check(&problems);
    let section = Section::new("place-of", label).field(field.html(&req.translator));
    let form = req.build_form(action.clone(), "component-move").section(section).cancel(opened.space.path());
    let step = |way: &str| PageAction::Post {
        action: action.clone(),
        label: req.tr(&format!("component-move-{way}")),
        class: "",
        fields: vec![(DIRECTION_FIELD.to_owned(), way.to_owned())],
        token: req.token(),
    };
    let up = position.filter(|position| *position > 0).map(|_| step("up"));
    let down = position.filter(|position| position + 1 < names.len()).map(|_| step("down"));
    let steps: Vec<PageAction> = up.into_iter().chain(down).collect();
    let title = req.tr_with("component-move-title", "name", opened.name(req));
    let head = opened.subpage_head(req, title).current(req.tr("component-move"));
    req.form_page(head, Html::join([PageAction::row(&steps), form.html()]), problems).await
}

/// Where the form moves the component.
fn read_form(req: &AdminRequest) -> Option<ComponentMove> {
    match req.form.text(DIRECTION_FIELD) {
        "up" => Some(ComponentMove::Up),
        "down" => Some(ComponentMove::Down),
        _ => {
            req.form.text(POSITION_FIELD).parse().ok().filter(|position| *position > 0).map(ComponentMove::To)
        }
    }
}

pub(crate) async fn reorder(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    let Some(way) = read_form(req) else {
        let problem = FormError::new(POSITION_FIELD, req.tr("problem-inclusion"));
        return show_page(req, &opened, vec![problem]).await;
    };
    let name = opened.name(req);
    let (organization, space) = (opened.space.organization_id, opened.space.space_ref);
    let moved = req
        .change_with_audit(
            async |tx| {
                let order = ComponentOrder { components: tx.components() };
                order.reorder(organization, space, opened.id, way, req.now).await
            },
            |MovedComponent { before, after }| {
                let entry = audit_entry(req, Action::ComponentUpdated, &opened, &name);
                let (old, new) = (before.to_string(), after.to_string());
                (before != after).then(|| entry.with_change("place", Some(&old), Some(&new)))
            },
        )
        .await?;
    req.redirect_done(
        "component-moved",
        &[("name", name.into()), ("place", moved.after.into())],
        opened.space.path(),
    )
    .await
}
