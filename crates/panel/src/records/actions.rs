//! The actions on a record: publication, moderation, deletion. Those that cannot be undone have a confirmation page.

use super::{OpenedRecord, RecordPages, change, list_path};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{Confirmation, Html, PageAction, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{Error, Result};
use time::OffsetDateTime;

/// An action on a record. Its texts are `{record}-{action}`, the button, and `{record}-{action}-hint`.
pub(crate) struct RecordAction<E: 'static> {
    /// The last part of its address.
    pub(crate) name: &'static str,
    pub(crate) edit: fn(&mut E, OffsetDateTime),
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

    /// The action of the path, which is one of these.
    pub(crate) fn from_path(req: &AdminRequest, actions: &'static [Self]) -> Result<&'static Self> {
        actions.iter().find(|action| action.name == req.action).ok_or(Error::NotFound)
    }

    /// A text of the action: `{record}-{action}-{part}`.
    pub(crate) fn text(&self, req: &AdminRequest, record: &str, part: &str) -> String {
        req.tr(&format!("{record}-{}-{part}", self.name))
    }

    /// The notice after the action on a record of this kind and title: `{record}-{action}-done`, then
    /// `{record}-{action}-done-undo`.
    pub(crate) fn notice(&self, req: &AdminRequest, record: &str, title: String) -> Notice {
        let done = req.tr_with(&format!("{record}-{}-done", self.name), "title", title);
        Notice::success(done).text(self.text(req, record, "done-undo"))
    }

    /// The title of the confirmation page, for a record of this kind and title: `{record}-{action}-title`.
    pub(crate) fn confirmation_title(&self, req: &AdminRequest, record: &str, title: String) -> String {
        req.tr_with(&format!("{record}-{}-title", self.name), "title", title)
    }

    /// The confirmation page for the record with this address: `{record}-{action}-button`, the effects,
    /// `{record}-{action}-stays`.
    ///
    /// # Errors
    /// `NotFound` when the action has no such page.
    pub(crate) fn confirmation<'a>(
        &self,
        req: &'a AdminRequest,
        record: &str,
        path: &str,
        cancel: String,
    ) -> Result<Confirmation<'a>> {
        let effects = self.effects.ok_or(Error::NotFound)?;
        let is_deletion = self.name == DELETE;
        let url = if is_deletion { path.to_owned() } else { format!("{path}/{}", self.name) };
        let confirm = req
            .confirmation(url, self.text(req, record, "button"), cancel)
            .effects(effects.iter().map(|effect| self.text(req, record, effect)))
            .stays(self.text(req, record, "stays"));
        Ok(if is_deletion { confirm.delete() } else { confirm })
    }
}

/// The action that publishes a record, or unpublishes a published one.
pub(crate) fn publication_action(is_published: bool) -> &'static str {
    if is_published { "unpublish" } else { "publish" }
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    translator: &'a Translator,
    /// Buttons with what they do.
    actions: Vec<(Html, String)>,
}

/// The actions that can be done with a record of this kind and address, each with what it does.
pub(crate) fn moderation<E>(
    req: &AdminRequest,
    name: &str,
    actions: &[RecordAction<E>],
    record: &E,
    path: &str,
) -> Html {
    let offered = actions.iter().filter(|action| (action.is_offered)(record, req.now));
    let actions = offered.map(|action| {
        let url = format!("{path}/{}", action.name);
        let button = if action.effects.is_some() {
            PageAction::danger(url, action.text(req, name, "link"))
        } else {
            let (label, class) = (req.tr(&format!("{name}-{}", action.name)), action.class);
            PageAction::Post { action: url, label, class, fields: Vec::new(), token: req.token() }
        };
        (button.html(), action.text(req, name, "hint"))
    });
    render(&Moderation { translator: &req.translator, actions: actions.collect() })
}

/// `GET .../{action}`: the confirmation page.
pub(crate) async fn confirm<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedRecord::<E>::from_path(req).await?;
    let action = RecordAction::from_path(req, E::ACTIONS)?;
    let path = opened.path();
    let confirm = action
        .confirmation(req, E::NAME, &path, format!("{path}/edit"))?
        .effects(opened.record.more_effects(req, action.name));
    let title = action.confirmation_title(req, E::NAME, opened.title(req));
    let head = opened.subpage_head(req, title).current(action.text(req, E::NAME, "here"));
    req.page(head, confirm.html(&[])).await
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
