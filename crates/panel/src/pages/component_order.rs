//! The place of a component among those of its space (contract 05 §3).

use super::components::{MOST, OpenedComponent, base, record};
use super::content::title;
use crate::parts::{Act, Choice, Field, Form, Html, Problem, Section};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::Result;
use civitas_spaces::{ComponentOrder, Move, Moved};

const PLACE: &str = "place";
const WAY: &str = "way";

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    page(visit, &own, Vec::new()).await
}

async fn page(visit: &Visit, own: &OpenedComponent, problems: Vec<Problem>) -> Result<Reply> {
    let components = visit.panel.store().components().in_space(own.here.id, own.here.own, MOST).await?;
    let names: Vec<String> = components.iter().map(|(_, component)| title(visit, &component.name)).collect();
    let place = components.iter().position(|(id, _)| *id == own.id);
    let current = place.map(|place| (place + 1).to_string()).unwrap_or_default();
    let choices =
        (1..).zip(&names).map(|(place, name)| Choice::new(place.to_string(), format!("{place}. {name}")));
    let action = format!("{}/move", own.path());
    let (label, chosen) = (visit.say("component-place"), visit.form.get(PLACE).unwrap_or(&current));
    let field = Field::select(PLACE, label.clone(), chosen, choices.collect())
        .hint(visit.say("component-place-hint"))
        .check(&problems);
    let section = Section::new("place-of", label).field(field.html(&visit.words));
    let form = Form::new(&visit.words, action.clone(), visit.token(), "component-move")
        .section(section)
        .cancel(own.here.path());
    let step = |way: &str| Act::Post {
        action: action.clone(),
        label: visit.say(&format!("component-move-{way}")),
        class: "",
        fields: vec![(WAY.to_owned(), way.to_owned())],
        token: visit.token(),
    };
    let up = place.filter(|place| *place > 0).map(|_| step("up"));
    let down = place.filter(|place| place + 1 < names.len()).map(|_| step("down"));
    let steps: Vec<Act> = up.into_iter().chain(down).collect();
    let name = own.name(visit);
    let head = own
        .here
        .below(visit, visit.tell("component-move-title", &[("name", name.as_str().into())]))
        .crumb(name, format!("{}/{}/edit", base(own.here.id), own.id))
        .here(visit.say("component-move"));
    visit.form_page(head, Html::join([Act::row(&steps), form.html()]), problems).await
}

/// Where the form moves the component.
fn read(visit: &Visit) -> Option<Move> {
    match visit.form.text(WAY) {
        "up" => Some(Move::Up),
        "down" => Some(Move::Down),
        _ => visit.form.text(PLACE).parse().ok().filter(|place| *place > 0).map(Move::To),
    }
}

pub(crate) async fn shift(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    let visit = &*visit;
    let Some(way) = read(visit) else {
        let problem = Problem::new(PLACE, visit.say("problem-inclusion"));
        return page(visit, &own, vec![problem]).await;
    };
    let name = own.name(visit);
    let place = visit
        .change(async |tx| {
            let order = ComponentOrder { components: tx.components() };
            let moved = order.shift(own.here.id, own.here.own, own.id, way, visit.now).await?;
            let Moved { before, after } = moved;
            if before != after {
                let entry = record(visit, Action::ComponentUpdated, &own, &name);
                let entry = entry.changed("place", Some(&before.to_string()), Some(&after.to_string()));
                visit.append(tx, &entry).await?;
            }
            Ok(i64::try_from(after).unwrap_or_default())
        })
        .await?;
    visit.done("component-moved", &[("name", name.into()), ("place", place.into())], own.here.path()).await
}
