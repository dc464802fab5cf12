//! The place of a component among those of its space (contract 05 §3).

use super::components::{MAX, OpenedComponent, audit_entry, components_path};
use super::shared::title;
use crate::admin_request::AdminRequest;
use crate::parts::{Choice, Field, Form, FormError, FormErrors, Html, PageAction, Section};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::Result;
use civitas_spaces::{ComponentOrder, Move, Moved};

const PLACE: &str = "place";
const WAY: &str = "way";

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    page(req, &opened, Vec::new()).await
}

async fn page(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let components = req
        .panel
        .store()
        .components()
        .in_space(opened.space.organization_id, opened.space.space_ref, MAX)
        .await?;
    let names: Vec<String> = components.iter().map(|(_, component)| title(req, &component.name)).collect();
    let place = components.iter().position(|(id, _)| *id == opened.id);
    let current = place.map(|place| (place + 1).to_string()).unwrap_or_default();
    let choices =
        (1..).zip(&names).map(|(place, name)| Choice::new(place.to_string(), format!("{place}. {name}")));
    let action = format!("{}/move", opened.path());
    let (label, chosen) = (req.tr("component-place"), req.form.get(PLACE).unwrap_or(&current));
    let field = Field::select(PLACE, label.clone(), chosen, choices.collect())
        .hint(req.tr("component-place-hint"))
        .check(&problems);
    let section = Section::new("place-of", label).field(field.html(&req.translator));
    let form = Form::new(&req.translator, action.clone(), req.token(), "component-move")
        .section(section)
        .cancel(opened.space.path());
    let step = |way: &str| PageAction::Post {
        action: action.clone(),
        label: req.tr(&format!("component-move-{way}")),
        class: "",
        fields: vec![(WAY.to_owned(), way.to_owned())],
        token: req.token(),
    };
    let up = place.filter(|place| *place > 0).map(|_| step("up"));
    let down = place.filter(|place| place + 1 < names.len()).map(|_| step("down"));
    let steps: Vec<PageAction> = up.into_iter().chain(down).collect();
    let name = opened.name(req);
    let head = opened
        .space
        .head_below_space(req, req.tr_with("component-move-title", "name", name.as_str()))
        .crumb(name, format!("{}/{}/edit", components_path(opened.space.organization_id), opened.id))
        .current(req.tr("component-move"));
    req.form_page(head, Html::join([PageAction::row(&steps), form.html()]), problems).await
}

/// Where the form moves the component.
fn read(req: &AdminRequest) -> Option<Move> {
    match req.form.text(WAY) {
        "up" => Some(Move::Up),
        "down" => Some(Move::Down),
        _ => req.form.text(PLACE).parse().ok().filter(|place| *place > 0).map(Move::To),
    }
}

pub(crate) async fn reorder(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    let Some(way) = read(req) else {
        let problem = FormError::new(PLACE, req.tr("problem-inclusion"));
        return page(req, &opened, vec![problem]).await;
    };
    let name = opened.name(req);
    let place = req
        .change(async |tx| {
            let order = ComponentOrder { components: tx.components() };
            let moved = order
                .reorder(opened.space.organization_id, opened.space.space_ref, opened.id, way, req.now)
                .await?;
            let Moved { before, after } = moved;
            if before != after {
                let entry = audit_entry(req, Action::ComponentUpdated, &opened, &name);
                let entry = entry.changed("place", Some(&before.to_string()), Some(&after.to_string()));
                req.append_audit_entry(tx, &entry).await?;
            }
            Ok(i64::try_from(after).unwrap_or_default())
        })
        .await?;
    req.done("component-moved", &[("name", name.into()), ("place", place.into())], opened.space.path()).await
}
