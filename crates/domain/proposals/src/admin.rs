//! Administration of proposals. The caller checks permission.

use crate::{Proposal, ProposalStore};
use async_trait::async_trait;
use civitas_kernel::records::{RecordAdmin, Records};
use civitas_kernel::{Error, OrganizationId, ProposalId, Result};

/// Administers the proposals of organizations. Checks that no user has two drafts in a component.
pub struct ProposalAdmin<'a> {
    /// The store, in a transaction.
    pub store: &'a dyn ProposalStore,
}

#[async_trait]
impl RecordAdmin<Proposal> for ProposalAdmin<'_> {
    fn records(&self) -> &dyn Records<Proposal> {
        self.store
    }

    /// Searches other drafts of all authors before the write: the store checks only the first author.
    async fn prepare(
        &self,
        organization: OrganizationId,
        before: Option<(ProposalId, &Proposal)>,
        after: &Proposal,
    ) -> Result<()> {
        if after.published_at.is_some() {
            return Ok(());
        }
        let own = before.map(|(_, old)| old).filter(|old| old.published_at.is_none());
        for author in &after.authors {
            let known = own.is_some_and(|old| old.authors.contains(author));
            if !known && self.store.has_draft(organization, *author, after.component).await? {
                return Err(Error::rejected("an author has another draft in the component"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockProposalStore;
    use civitas_kernel::records::{Change, Entity, edit};
    use civitas_kernel::{Ability, ComponentId, EventName, Locale, StateId, Subject, Translated, UserId};
    use time::OffsetDateTime;
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
        let events = Change::of(before.clone(), NOW, edit).events(TREES);
        events.into_iter().map(|event| event.name).collect()
    }

    fn news_of_new(proposal: &Proposal) -> Vec<EventName> {
        proposal.events(TREES, None).into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn a_draft_is_news_when_it_comes_and_when_its_texts_change() {
        assert_eq!(news_of_new(&draft()), [Ability::DraftProposalCreation]);
        assert_eq!(
            news(&draft(), |p| p.title.set(Locale::FR, "Arbres".into())),
            [Ability::DraftProposalUpdate]
        );
        assert_eq!(news(&draft(), |p| p.scope_id = Some(1)), []);
        assert_eq!(news(&draft(), |p| p.deleted_at = Some(NOW)), []);
    }

    #[test]
    fn a_publication_is_one_piece_of_news_whatever_comes_with_it() {
        assert_eq!(news_of_new(&published()), [Ability::ProposalCreation]);
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
            let state = &change.after;
            assert_eq!((id, state.state, state.state_published_at), (TREES, Some(StateId(9)), Some(NOW)));
            assert_eq!((state.updated_at, change.events(id)[0].subject), (NOW, Subject::Proposal(TREES)));
            Ok(())
        });
        let answer = |proposal: &mut Proposal| proposal.answer(Some(StateId(9)), true, NOW);
        edit(&ProposalAdmin { store: &store }, CITY, TREES, NOW, answer).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_withdrawn_stays_so_and_what_is_deleted_is_gone() {
        let mut store = MockProposalStore::new();
        let withdrawn = Proposal { withdrawn_at: Some(NOW), ..published() };
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(withdrawn.clone())));
        edit(&ProposalAdmin { store: &store }, CITY, TREES, NOW, |p| p.withdraw(NOW)).await.unwrap();
        let deleted = Proposal { deleted_at: Some(NOW), ..published() };
        store.expect_find_for_update().returning(move |_, _| Ok(Some(deleted.clone())));
        let refused = edit(&ProposalAdmin { store: &store }, CITY, TREES, NOW, |p| p.hide(NOW)).await;
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
