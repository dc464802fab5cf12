//! The actions on a record: publication, moderation, deletion. Those that cannot be undone have a confirmation page.

use super::{OpenedRecord, RecordPages, change, list_path};
use crate::admin_request::AdminRequest;
use crate::parts::{Html, PageAction, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{Error, Result};
use time::OffsetDateTime;

/// An action on a record. Its texts are `{record}-{action}`, the button, and `{record}-{action}-hint`.
pub(crate) struct RecordAction<E: 'static> {
    /// The last part of its address.
    pub(super) name: &'static str,
    pub(super) edit: fn(&mut E, OffsetDateTime),
    /// Whether it can be done with this record.
    is_offered: fn(&E, OffsetDateTime) -> bool,
    /// The class of its button: `primary` or nothing.
    class: &'static str,
    /// The effects that its confirmation page lists: `{record}-{action}-{effect}`. `None`: it has no such page.
    effects: Option<&'static [&'static str]>,
}

/// The action that deletes; its address is that of the record.
const DELETE: &str = "delete";

impl<E: 'static> RecordAction<E> {
    /// An action that can be undone. The notice says how: `{record}-{action}-done-undo`.
    pub(crate) const fn new(
        name: &'static str,
        edit: fn(&mut E, OffsetDateTime),
        is_offered: fn(&E, OffsetDateTime) -> bool,
    ) -> Self {
        Self { name, edit, is_offered, class: "", effects: None }
    }

    /// With the button of the suggested action.
    pub(crate) const fn primary(mut self) -> Self {
        self.class = "primary";
        self
    }

    /// With a confirmation page that lists these effects.
    pub(crate) const fn with_confirmation(mut self, effects: &'static [&'static str]) -> Self {
        self.effects = Some(effects);
        self
    }

    /// The deletion, with a confirmation page that lists these effects.
    pub(crate) const fn deletion(edit: fn(&mut E, OffsetDateTime), effects: &'static [&'static str]) -> Self {
        Self::new(DELETE, edit, |_, _| true).with_confirmation(effects)
    }
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    translator: &'a Translator,
    /// Buttons with what they do.
    actions: Vec<(Html, String)>,
}

/// Buttons of actions, each with what it does.
pub(crate) fn moderation(req: &AdminRequest, actions: Vec<(Html, String)>) -> Html {
    render(&Moderation { translator: &req.translator, actions })
}

/// The actions that can be done with a record, each with what it does.
pub(super) fn moderation_of_record<E: RecordPages>(req: &AdminRequest, opened: &OpenedRecord<E>) -> Html {
    let offered = E::ACTIONS.iter().filter(|action| (action.is_offered)(&opened.record, req.now));
    let actions = offered.map(|action| {
        let (key, url) =
            (format!("{}-{}", E::NAME, action.name), format!("{}/{}", opened.path(), action.name));
        let button = if action.effects.is_some() {
            PageAction::danger(url, req.tr(&format!("{key}-link")))
        } else {
            let (label, class, token) = (req.tr(&key), action.class, req.token());
            PageAction::Post { action: url, label, class, fields: Vec::new(), token }
        };
        (button.html(), req.tr(&format!("{key}-hint")))
    });
    moderation(req, actions.collect())
}

/// The action of the path.
pub(super) fn action_from_path<E: RecordPages>(req: &AdminRequest) -> Result<&'static RecordAction<E>> {
    E::ACTIONS.iter().find(|action| action.name == req.action).ok_or(Error::NotFound)
}

/// `GET .../{action}`: the confirmation page.
pub(crate) async fn confirm<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let action = action_from_path::<E>(req)?;
    let effects = action.effects.ok_or(Error::NotFound)?;
    let text = |part: &str| req.tr(&format!("{}-{}-{part}", E::NAME, action.name));
    let (is_deletion, path) = (action.name == DELETE, opened.path());
    let url = if is_deletion { path.clone() } else { format!("{path}/{}", action.name) };
    let confirm = req
        .confirmation(url, text("button"), format!("{path}/edit"))
        .effects(effects.iter().map(|part| text(part)))
        .effects(opened.record.more_effects(req, action.name))
        .stays(text("stays"));
    let confirm = if is_deletion { confirm.delete() } else { confirm };
    let key = format!("{}-{}-title", E::NAME, action.name);
    let title = req.tr_with(&key, "title", opened.title(req));
    req.page(opened.head_below_record(req, title).current(text("here")), confirm.html(&[])).await
}

/// `DELETE` of the record.
pub(crate) async fn delete<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let action = E::ACTIONS.iter().find(|action| action.name == DELETE).ok_or(Error::NotFound)?;
    change(req, opened.target(), E::AUDIT_ACTIONS.deleted, |record| (action.edit)(record, req.now)).await?;
    let key = format!("{}-deleted", E::NAME);
    req.redirect_done(&key, &[("title", opened.title(req).into())], list_path::<E>(opened.organization_id))
        .await
}
