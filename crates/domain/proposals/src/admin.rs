//! What administrators do with proposals. The caller checks permission.

use crate::{Proposal, ProposalStore};
use civitas_kernel::{
    Ability, Change, Error, EventName, OrganizationId, ProposalId, Result, StateId, Subject, Translated,
};
use time::OffsetDateTime;

impl Proposal {
    /// What this state announces after that one, or of a new proposal (contract 09 C.1). Deleted ones announce
    /// nothing.
    pub fn announcements(&self, before: Option<&Self>) -> Vec<EventName> {
        if self.deleted_at.is_some() {
            return Vec::new();
        }
        let rewritten = before.is_some_and(|old| (&old.title, &old.body) != (&self.title, &self.body));
        match (before.map(|old| old.published_at.is_some()), self.published_at.is_some()) {
            (None, false) => vec![Ability::DraftProposalCreation],
            (Some(false) | None, true) => vec![Ability::ProposalCreation],
            (Some(_), false) if rewritten => vec![Ability::DraftProposalUpdate],
            (Some(_), false) => Vec::new(),
            (Some(true), true) => {
                let answered = before.is_some_and(|old| old.public_answer() != self.public_answer());
                let edited = rewritten.then_some(Ability::ProposalUpdate);
                edited.into_iter().chain(answered.then_some(Ability::ProposalStateChange)).collect()
            }
        }
    }

    /// This state in place of that one, with what it announces.
    pub fn after(self, id: ProposalId, before: &Self) -> Change<Self> {
        let subject = if self.published_at.is_some() { Subject::Proposal(id) } else { Subject::Draft(id) };
        let names = self.announcements(Some(before));
        names.into_iter().fold(Change::quiet(self), |change, name| change.announcing(name, subject))
    }

    /// What everybody may know of its state: withdrawn, or the answer that is public.
    fn public_answer(&self) -> (bool, Option<StateId>) {
        let withdrawn = self.withdrawn_at.is_some();
        (withdrawn, self.state.filter(|_| !withdrawn && self.state_published_at.is_some()))
    }
}

/// Administers the proposals of organizations.
pub struct ProposalAdmin<'a> {
    /// Where they are kept.
    pub store: &'a dyn ProposalStore,
}

impl ProposalAdmin<'_> {
    /// Makes a proposal, or a draft.
    ///
    /// # Errors
    /// `Rejected` when one of its authors has another draft in the component.
    pub async fn create(&self, organization: OrganizationId, proposal: &Proposal) -> Result<ProposalId> {
        self.check(organization, None, proposal).await?;
        let added = self.store.add(organization, proposal, &proposal.announcements(None)).await?;
        added.ok_or_else(two_drafts)
    }

    /// Stores a new state of a proposal whose state was `before`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn change(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        before: &Proposal,
        proposal: Proposal,
    ) -> Result<()> {
        self.check(organization, Some(before), &proposal).await?;
        self.store.save(organization, id, proposal.after(id, before)).await
    }

    /// Changes a proposal under its lock. An edit that changes nothing leaves its time alone.
    ///
    /// # Errors
    /// `NotFound` for one that is not there or deleted; as [`Self::create`].
    pub async fn edit(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        now: OffsetDateTime,
        edit: impl FnOnce(&mut Proposal) + Send,
    ) -> Result<Proposal> {
        let before =
            self.store.find_for_update(organization, id).await?.filter(|kept| kept.deleted_at.is_none());
        let before = before.ok_or(Error::NotFound)?;
        let mut proposal = before.clone();
        edit(&mut proposal);
        if proposal != before {
            proposal.updated_at = now;
            self.change(organization, id, &before, proposal.clone()).await?;
        }
        Ok(proposal)
    }

    /// Writes new texts.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn rewrite(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        now: OffsetDateTime,
        (title, body): (Translated, Translated),
    ) -> Result<Proposal> {
        let edit = |proposal: &mut Proposal| {
            proposal.title = title;
            proposal.body = body;
        };
        self.edit(organization, id, now, edit).await
    }

    /// Answers: a state of its component, or none, which everybody may know of or not yet.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn answer(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        now: OffsetDateTime,
        (state, is_public): (Option<StateId>, bool),
    ) -> Result<Proposal> {
        let edit = |proposal: &mut Proposal| {
            proposal.state = state;
            proposal.state_published_at =
                if is_public { proposal.state_published_at.or(Some(now)) } else { None };
        };
        self.edit(organization, id, now, edit).await
    }

    /// Withdraws it on behalf of its author.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn withdraw(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        now: OffsetDateTime,
    ) -> Result<Proposal> {
        self.edit(organization, id, now, |kept| kept.withdrawn_at = kept.withdrawn_at.or(Some(now))).await
    }

    /// Hides it from everybody, as moderation does.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn hide(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        now: OffsetDateTime,
    ) -> Result<Proposal> {
        self.edit(organization, id, now, |kept| kept.hidden_at = kept.hidden_at.or(Some(now))).await
    }

    /// Nobody has two drafts in a component. Asked before the row is written, for the store tells only that the
    /// first author has one.
    async fn check(
        &self,
        organization: OrganizationId,
        before: Option<&Proposal>,
        proposal: &Proposal,
    ) -> Result<()> {
        if proposal.published_at.is_some() {
            return Ok(());
        }
        let own = before.filter(|old| old.published_at.is_none());
        for author in &proposal.authors {
            let known = own.is_some_and(|old| old.authors.contains(author));
            if !known && self.store.has_draft(organization, *author, proposal.component).await? {
                return Err(two_drafts());
            }
        }
        Ok(())
    }
}

fn two_drafts() -> Error {
    Error::rejected("an author has another draft in the component")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockProposalStore;
    use civitas_kernel::{ComponentId, Locale, UserId};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const TREES: ProposalId = ProposalId(7);

    fn draft() -> Proposal {
        let text = |text: &str| Translated::from([(Locale::EN, text.to_owned())]);
        let draft = Proposal::draft(ComponentId(3), datetime!(2026-01-01 0:00 UTC));
        Proposal {
            title: text("More trees"),
            body: text("Along Main Street"),
            authors: vec![UserId(5)],
            ..draft
        }
    }

    fn published() -> Proposal {
        Proposal { published_at: Some(NOW), ..draft() }
    }

    fn news(before: &Proposal, edit: fn(&mut Proposal)) -> Vec<EventName> {
        let mut after = before.clone();
        edit(&mut after);
        after.announcements(Some(before))
    }

    #[test]
    fn a_draft_is_news_when_it_comes_and_when_its_texts_change() {
        assert_eq!(draft().announcements(None), [Ability::DraftProposalCreation]);
        assert_eq!(
            news(&draft(), |p| p.title.set(Locale::FR, "Arbres".into())),
            [Ability::DraftProposalUpdate]
        );
        assert_eq!(news(&draft(), |p| p.scope_id = Some(1)), []);
        assert_eq!(news(&draft(), |p| p.deleted_at = Some(NOW)), []);
    }

    #[test]
    fn a_publication_is_one_piece_of_news_whatever_comes_with_it() {
        assert_eq!(published().announcements(None), [Ability::ProposalCreation]);
        let publish = |p: &mut Proposal| {
            p.published_at = Some(NOW);
            p.title.set(Locale::EN, "Many more trees".into());
        };
        assert_eq!(news(&draft(), publish), [Ability::ProposalCreation]);
    }

    #[test]
    fn a_state_is_news_when_everybody_may_know_of_it() {
        let answer = |p: &mut Proposal| p.state = Some(StateId(9));
        assert_eq!(news(&published(), answer), [], "not public yet");
        let mut answered = published();
        answer(&mut answered);
        assert_eq!(news(&answered, |p| p.state_published_at = Some(NOW)), [Ability::ProposalStateChange]);
        assert_eq!(news(&published(), |p| p.withdrawn_at = Some(NOW)), [Ability::ProposalStateChange]);
        let both = |p: &mut Proposal| {
            p.withdrawn_at = Some(NOW);
            p.body.set(Locale::EN, "Or not".into());
        };
        assert_eq!(news(&published(), both), [Ability::ProposalUpdate, Ability::ProposalStateChange]);
        assert_eq!(news(&published(), |p| p.hidden_at = Some(NOW)), []);
    }

    #[tokio::test]
    async fn an_answer_is_kept_dated_and_announced() {
        let mut store = MockProposalStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(published())));
        store.expect_save().once().returning(|_, id, change| {
            let state = &change.state;
            assert_eq!((id, state.state, state.state_published_at), (TREES, Some(StateId(9)), Some(NOW)));
            assert_eq!((state.updated_at, change.events[0].subject), (NOW, Subject::Proposal(TREES)));
            Ok(())
        });
        ProposalAdmin { store: &store }.answer(CITY, TREES, NOW, (Some(StateId(9)), true)).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_withdrawn_stays_so_and_what_is_deleted_is_gone() {
        let mut store = MockProposalStore::new();
        let withdrawn = Proposal { withdrawn_at: Some(NOW), ..published() };
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(withdrawn.clone())));
        ProposalAdmin { store: &store }.withdraw(CITY, TREES, NOW).await.unwrap();
        let deleted = Proposal { deleted_at: Some(NOW), ..published() };
        store.expect_find_for_update().returning(move |_, _| Ok(Some(deleted.clone())));
        let refused = ProposalAdmin { store: &store }.hide(CITY, TREES, NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn nobody_gets_a_second_draft() {
        let mut store = MockProposalStore::new();
        store.expect_has_draft().returning(|_, _, _| Ok(true));
        let refused = ProposalAdmin { store: &store }.create(CITY, &draft()).await.unwrap_err();
        assert_eq!(refused.description(), "an author has another draft in the component");
    }
}
