//! A suggestion box: turns short messages into published proposals.

use civitas_application::Store;
use civitas_kernel::filter::RawFilter;
use civitas_kernel::{
    CommandHandler, ComponentId, Ctx, Direction, Error, LocationFilter, Order, PageRequest, ProposalId,
    Result,
};
use civitas_proposals::{CreateDraft, Drafts, Proposals, PublishDraft, UpdateDraft};
use std::sync::Arc;

/// What a member suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The title of the proposal.
    pub title: String,
    /// The text of the proposal.
    pub body: String,
}

impl Suggestion {
    /// Reads a message: the first line is the title, the rest the text. A message of one line is both.
    pub fn read(message: &str) -> Self {
        let (title, rest) = message.split_once('\n').unwrap_or((message, ""));
        let body = if rest.trim().is_empty() { title } else { rest };
        Self { title: title.trim().to_owned(), body: body.trim().to_owned() }
    }
}

/// Publishes a suggestion as a proposal of the context's user: creates a draft, writes its texts, publishes it.
///
/// It writes three times: pass the ports of one transaction.
///
/// # Errors
/// `Forbidden` when the context lacks the right, `Invalid` when a text breaks a rule, `NotFound` when the user does not
/// see the component.
pub async fn publish(
    drafts: &Drafts<'_>,
    ctx: &Ctx,
    component: ComponentId,
    suggestion: Suggestion,
) -> Result<ProposalId> {
    let id = drafts.handle(ctx, CreateDraft { component, within: LocationFilter::default() }).await?.id;
    let within = LocationFilter { component: Some(component), ..LocationFilter::default() };
    let texts = [Some(suggestion.title.into()), Some(suggestion.body.into())];
    drafts.handle(ctx, UpdateDraft::new(id, within, texts, None)?).await?;
    drafts.handle(ctx, PublishDraft { id, within }).await?;
    Ok(id)
}

/// The suggestions of one component.
pub struct SuggestionBox {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The component that keeps the proposals.
    pub component: ComponentId,
}

impl SuggestionBox {
    /// Publishes a message in one transaction. After an error nothing is stored: the transaction is dropped, which
    /// rolls it back.
    ///
    /// # Errors
    /// Those of [`publish`] and of the store.
    pub async fn submit(&self, ctx: &Ctx, message: &str) -> Result<ProposalId> {
        let tx = self.store.begin().await?;
        let drafts = Drafts { store: tx.proposals(), components: tx.component_lookup() };
        let id = publish(&drafts, ctx, self.component, Suggestion::read(message)).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// The titles of the newest 20 suggestions, newest first, in the language of the context's user.
    ///
    /// # Errors
    /// `Forbidden` when the context lacks the right; those of the store.
    pub async fn titles(&self, ctx: &Ctx) -> Result<Vec<String>> {
        let within = LocationFilter { component: Some(self.component), ..LocationFilter::default() };
        let (filter, order) = (RawFilter::default(), Order::Column(Direction::Descending));
        let proposals = Proposals { store: self.store.proposals() };
        let page = proposals.list(ctx, within, &filter, order, PageRequest::default()).await?;
        let title = |title: Option<&str>| title.unwrap_or_default().to_owned();
        Ok(page.items.iter().map(|found| title(found.proposal.title.title(ctx.working_locale()))).collect())
    }
}

/// An error as a sentence for the member.
pub fn explain(error: &Error) -> String {
    match error {
        Error::Forbidden => "You may not do this here.".to_owned(),
        Error::NotFound => "There is no list of suggestions here.".to_owned(),
        Error::Invalid { fields, .. } => {
            fields.iter().map(|field| format!("{}.", field.description)).collect::<Vec<_>>().join(" ")
        }
        error if error.is_transient() => "Please try again later.".to_owned(),
        error => format!("{}.", error.description().trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests;
