//! Drafts: create, update, publish, withdraw (contract 06 §2).

use crate::{ComponentLookup, DraftErrors, Proposal, ProposalDetail, ProposalStore, PublicState, plain_text};
use async_trait::async_trait;
use civitas_kernel::records::{Change, Entity};
use civitas_kernel::{
    Ability, Access, CommandHandler, ComponentId, Ctx, Error, FieldError, Locale, LocationFilter, ProposalId,
    Result, Scope, Translated, Wording, commands, limits,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The rights of every draft operation: a user token of a client that may draft.
pub const WRITE_DRAFTS: Access = Access::user(Scope::Proposals, &[Ability::ProposalsDraft]);

/// Creates a draft in a component.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreateDraft {
    /// The proposals component.
    pub component: ComponentId,
    /// The part of the organization to search for the component.
    #[serde(default)]
    pub within: LocationFilter,
}

/// Changes the texts of a draft.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateDraft {
    /// The draft.
    pub id: ProposalId,
    /// The part of the organization to search.
    pub within: LocationFilter,
    /// The new title: as sent, but texts are without markup. `None` when it was not sent; null is empty text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    title: Option<Value>,
    /// The new body, like the title.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    body: Option<Value>,
    /// The language to write in, as sent; `None` means the caller's.
    pub locale: Option<Value>,
}

impl UpdateDraft {
    /// Reads the texts as sent: checks their length, then removes their markup. Done here, so that it happens once,
    /// before a job is stored and before a transaction begins.
    ///
    /// # Errors
    /// `Invalid` with `too_long` for a text of more than [`limits::MAX_PROSE_CHARS`] characters, markup included.
    pub fn new(
        id: ProposalId,
        within: LocationFilter,
        [title, body]: [Option<Value>; 2],
        locale: Option<Value>,
    ) -> Result<Self> {
        let errors = [("title", &title), ("body", &body)].into_iter().filter_map(|(field, sent)| {
            limits::too_long(field, label(field), sent.as_ref()?.as_str()?, limits::MAX_PROSE_CHARS)
        });
        Error::unless_valid(Wording::InvalidRequest, errors.collect())?;
        let plain = |sent: Option<Value>| match sent {
            Some(Value::String(text)) => Some(Value::String(plain_text(&text))),
            other => other,
        };
        Ok(Self { id, within, title: plain(title), body: plain(body), locale })
    }
}

/// Deserializes null as a value; only an absent member is `None`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Publishes a draft.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PublishDraft {
    /// The draft.
    pub id: ProposalId,
    /// The part of the organization to search.
    pub within: LocationFilter,
}

/// Deletes a draft.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WithdrawDraft {
    /// The draft.
    pub id: ProposalId,
    /// The part of the organization to search.
    pub within: LocationFilter,
}

/// A draft, and the language it was last written in.
#[derive(Debug)]
pub struct UpdatedDraft {
    /// The draft.
    pub draft: ProposalDetail,
    /// The language of the update.
    pub locale: Locale,
}

commands! {
    CreateDraft: "draft_proposals#create", WRITE_DRAFTS => ProposalDetail;
    UpdateDraft: "draft_proposals#update", WRITE_DRAFTS => UpdatedDraft;
    PublishDraft: "draft_proposals#publish", WRITE_DRAFTS => ProposalDetail;
    WithdrawDraft: "draft_proposals#destroy", WRITE_DRAFTS => ProposalDetail;
}

/// Reads and writes drafts.
pub struct Drafts<'a> {
    /// The store of proposals.
    pub store: &'a dyn ProposalStore,
    /// The components they belong to.
    pub components: &'a dyn ComponentLookup,
}

impl Drafts<'_> {
    /// The caller's draft, created through the calling client.
    ///
    /// # Errors
    /// `Forbidden`, the user checks, `NotFound`.
    pub async fn find(&self, ctx: &Ctx, id: ProposalId, within: LocationFilter) -> Result<ProposalDetail> {
        ctx.require(&WRITE_DRAFTS)?;
        let found = self.store.find_draft(ctx.read_context(), ctx.caller.client, id, within).await?;
        found.ok_or(Error::NotFound)
    }

    /// The draft of [`Self::find`], locked until the transaction ends.
    async fn find_for_update(
        &self,
        ctx: &Ctx,
        id: ProposalId,
        within: LocationFilter,
    ) -> Result<ProposalDetail> {
        ctx.require(&WRITE_DRAFTS)?;
        let found =
            self.store.find_draft_for_update(ctx.read_context(), ctx.caller.client, id, within).await?;
        found.ok_or(Error::NotFound)
    }

    async fn has_none(&self, ctx: &Ctx, component: ComponentId) -> Result<()> {
        ctx.require(&WRITE_DRAFTS)?;
        let exists = self.store.has_draft(ctx.organization, ctx.user()?.id, component).await?;
        if exists { Err(Proposal::key_taken_error()) } else { Ok(()) }
    }

    async fn limit_allows(
        &self,
        ctx: &Ctx,
        component: ComponentId,
        rules: &crate::ComponentRules,
    ) -> Result<()> {
        if rules.proposal_limit == 0 {
            return Ok(());
        }
        let published = self.store.count_published(ctx.organization, ctx.user()?.id, component).await?;
        if rules.admits_proposal(published) { Ok(()) } else { Err(limit_exceeded()) }
    }
}

#[async_trait]
impl CommandHandler<CreateDraft> for Drafts<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &CreateDraft) -> Result<()> {
        self.has_none(ctx, command.component).await
    }

    async fn handle(&self, ctx: &Ctx, command: CreateDraft) -> Result<ProposalDetail> {
        let CreateDraft { component, within } = command;
        self.has_none(ctx, component).await?;
        let context = self.components.find(ctx.read_context(), component).await?;
        let context =
            context.filter(|context| within.includes(context.space, component)).ok_or(Error::NotFound)?;
        participation(context.participates)?;
        self.limit_allows(ctx, component, &context.rules).await?;
        let draft = Proposal {
            authors: vec![ctx.user()?.id],
            client: Some(ctx.caller.client),
            ..Proposal::draft(component, ctx.now)
        };
        let id = self.store.add(ctx.organization, &draft).await?;
        Ok(ProposalDetail {
            id,
            client_uid: Some(ctx.caller.client_uid.clone()),
            state: PublicState::None,
            voted: None,
            votes_count: 0,
            changed_at: context.changed_at.max(ctx.now),
            context: Arc::new(context),
            proposal: draft,
        })
    }
}

#[async_trait]
impl CommandHandler<UpdateDraft> for Drafts<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateDraft) -> Result<()> {
        self.find(ctx, command.id, command.within).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateDraft) -> Result<UpdatedDraft> {
        let mut draft = self.find_for_update(ctx, command.id, command.within).await?;
        let locale = match &command.locale {
            None => ctx.working_locale(),
            Some(sent) => {
                let locale = sent.as_str().and_then(|text| ctx.locales.find(text));
                locale.ok_or_else(|| strange_locale(sent))?
            }
        };
        let (title, body) = (read_text("title", command.title), read_text("body", command.body));
        let kinds = [title.as_ref().err(), body.as_ref().err()].into_iter().flatten().cloned().collect();
        Error::unless_valid(Wording::InvalidRequest, kinds)?;
        let (title, body) = (title.unwrap_or_default(), body.unwrap_or_default());
        if title.is_some() || body.is_some() {
            let rewrite = |draft: &mut Proposal| draft.rewrite(locale, title.as_deref(), body.as_deref());
            let change = Change::from_edit(draft.proposal.clone(), ctx.now, rewrite);
            let errors = DraftErrors::new(&change.after, locale, draft.context.rules.proposal_length);
            DraftErrors {
                title: if title.is_some() { errors.title } else { Vec::new() },
                body: if body.is_some() { errors.body } else { Vec::new() },
            }
            .refuse()?;
            if !change.is_empty() {
                self.store.save(ctx.organization, draft.id, &change).await?;
                draft = draft.with_proposal(change.after);
            }
        }
        Ok(UpdatedDraft { draft, locale })
    }
}

#[async_trait]
impl CommandHandler<PublishDraft> for Drafts<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &PublishDraft) -> Result<()> {
        self.find(ctx, command.id, command.within).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, PublishDraft { id, within }: PublishDraft) -> Result<ProposalDetail> {
        let draft = self.find_for_update(ctx, id, within).await?;
        participation(draft.context.participates)?;
        let rules = &draft.context.rules;
        DraftErrors::new(&draft.proposal, ctx.working_locale(), rules.proposal_length).refuse()?;
        self.limit_allows(ctx, draft.proposal.component, rules).await?;
        let change = Change::from_edit(draft.proposal.clone(), ctx.now, |draft| draft.publish(ctx.now));
        self.store.save(ctx.organization, id, &change).await?;
        Ok(draft.with_proposal(change.after))
    }
}

#[async_trait]
impl CommandHandler<WithdrawDraft> for Drafts<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &WithdrawDraft) -> Result<()> {
        self.find(ctx, command.id, command.within).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, WithdrawDraft { id, within }: WithdrawDraft) -> Result<ProposalDetail> {
        let draft = self.find_for_update(ctx, id, within).await?;
        self.store.remove(ctx.organization, id).await?;
        Ok(draft)
    }
}

impl Proposal {
    /// Writes the texts of a draft. A draft has one language: each field is moved to `locale` (its text there, else
    /// its first text), then the texts that were sent replace it (contract 06 §2.5).
    fn rewrite(&mut self, locale: Locale, title: Option<&str>, body: Option<&str>) {
        for (field, sent) in [(&mut self.title, title), (&mut self.body, body)] {
            let text = sent.or_else(|| field.title(locale)).map(str::to_owned);
            *field = text.into_iter().map(|text| (locale, text)).collect::<Translated>();
        }
    }
}

/// The text of a field; null is empty. `Ok(None)` when it was not sent.
fn read_text(field: &'static str, sent: Option<Value>) -> Result<Option<String>, FieldError> {
    match sent {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(String::new())),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(FieldError::new(field, "invalid", format!("{} is invalid", label(field)))),
    }
}

fn label(field: &str) -> &'static str {
    if field == "title" { "Title" } else { "Body" }
}

pub(crate) fn participation(participates: bool) -> Result<()> {
    if participates { Ok(()) } else { Err(Error::Forbidden) }
}

fn limit_exceeded() -> Error {
    Error::rejected("You cannot create new proposals since you have exceeded the limit.")
}

fn strange_locale(sent: &Value) -> Error {
    let text = sent.as_str().map_or_else(|| sent.to_string(), str::to_owned);
    Error::rejected(format!("Not allowed locales: {text}"))
}
