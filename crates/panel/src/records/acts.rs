//! The acts on a record: publication, moderation, deletion. Those that cannot be undone ask first.

use super::{OpenedRecord, RecordPages, change, list_path};
use crate::parts::{Act, Html, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::{Error, Result};
use time::OffsetDateTime;

/// Something that can be done with a record. Its texts are `{record}-{act}`, the button, and `{record}-{act}-hint`.
pub(crate) struct RecordAct<E: 'static> {
    /// The last part of its address.
    pub(super) name: &'static str,
    pub(super) edit: fn(&mut E, OffsetDateTime),
    /// Whether it can be done with this record.
    is_offered: fn(&E, OffsetDateTime) -> bool,
    /// The class of its button: `primary` or nothing.
    class: &'static str,
    /// The effects on the page that asks first: `{record}-{act}-{effect}`. `None`: it is done at once.
    effects: Option<&'static [&'static str]>,
}

/// The act that deletes; its address is that of the record.
const DELETE: &str = "delete";

impl<E: 'static> RecordAct<E> {
    /// An act that can be undone. The notice says how: `{record}-{act}-done-undo`.
    pub(crate) const fn new(
        name: &'static str,
        edit: fn(&mut E, OffsetDateTime),
        is_offered: fn(&E, OffsetDateTime) -> bool,
    ) -> Self {
        Self { name, edit, is_offered, class: "", effects: None }
    }

    /// Its button is the one that is suggested.
    pub(crate) const fn primary(mut self) -> Self {
        self.class = "primary";
        self
    }

    /// It asks first, and names these effects.
    pub(crate) const fn asks(mut self, effects: &'static [&'static str]) -> Self {
        self.effects = Some(effects);
        self
    }

    /// The deletion. It asks first, and names these effects.
    pub(crate) const fn deletion(edit: fn(&mut E, OffsetDateTime), effects: &'static [&'static str]) -> Self {
        Self::new(DELETE, edit, |_, _| true).asks(effects)
    }
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    words: &'a Words,
    /// Buttons with what they do.
    acts: Vec<(Html, String)>,
}

/// The acts that can be done with a record, each with what it does.
pub(super) fn of_record<E: RecordPages>(visit: &Visit, own: &OpenedRecord<E>) -> Html {
    let offered = E::ACTS.iter().filter(|act| (act.is_offered)(&own.record, visit.now));
    let acts = offered.map(|act| {
        let (key, action) = (format!("{}-{}", E::NAME, act.name), format!("{}/{}", own.path(), act.name));
        let button = if act.effects.is_some() {
            Act::danger(action, visit.say(&format!("{key}-link")))
        } else {
            let (label, class, token) = (visit.say(&key), act.class, visit.token());
            Act::Post { action, label, class, fields: Vec::new(), token }
        };
        (button.html(), visit.say(&format!("{key}-hint")))
    });
    render(&Moderation { words: &visit.words, acts: acts.collect() })
}

/// The act of the path.
pub(super) fn of_path<E: RecordPages>(visit: &Visit) -> Result<&'static RecordAct<E>> {
    E::ACTS.iter().find(|act| act.name == visit.act).ok_or(Error::NotFound)
}

/// `GET .../{act}`: the page that asks.
pub(crate) async fn ask<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<E>::of_path(visit).await?;
    let visit = &*visit;
    let act = of_path::<E>(visit)?;
    let effects = act.effects.ok_or(Error::NotFound)?;
    let text = |part: &str| visit.say(&format!("{}-{}-{part}", E::NAME, act.name));
    let (is_deletion, path) = (act.name == DELETE, own.path());
    let action = if is_deletion { path.clone() } else { format!("{path}/{}", act.name) };
    let confirm = visit
        .confirm(action, text("button"), format!("{path}/edit"))
        .effects(effects.iter().map(|part| text(part)))
        .effects(own.record.more_effects(visit, act.name))
        .stays(text("stays"));
    let confirm = if is_deletion { confirm.delete() } else { confirm };
    let key = format!("{}-{}-title", E::NAME, act.name);
    let title = visit.tell(&key, &[("title", own.title(visit).into())]);
    visit.page(own.under(visit, title).here(text("here")), confirm.html(&[])).await
}

/// `DELETE` of the record.
pub(crate) async fn delete<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedRecord::<E>::of_path(visit).await?;
    let visit = &*visit;
    let act = E::ACTS.iter().find(|act| act.name == DELETE).ok_or(Error::NotFound)?;
    change(visit, own.target(), E::ACTIONS[2], |record| (act.edit)(record, visit.now)).await?;
    let key = format!("{}-deleted", E::NAME);
    visit.done(&key, &[("title", own.title(visit).into())], list_path::<E>(own.organization)).await
}
