//! Administration of proposals. The caller checks permission.

use crate::{DraftErrors, Proposal, ProposalStore, StateStore, plain_text};
use async_trait::async_trait;
use civitas_kernel::records::{Change, RecordAdministration, Records, find_for_update};
use civitas_kernel::{Error, Locale, OrganizationId, ProposalId, Result, Translated};
use std::collections::HashSet;
use time::OffsetDateTime;

/// Administers the proposals of organizations. Checks that no user has two drafts in a component.
pub struct ProposalAdministration<'a> {
    /// The store, in a transaction.
    pub store: &'a dyn ProposalStore,
}

impl ProposalAdministration<'_> {
    /// Answers a published proposal with the state of this token of its component, or with none. An answer without
    /// state is not public.
    ///
    /// # Errors
    /// `NotFound`; `Rejected` for a draft, and for a state that its component does not have.
    pub async fn answer(
        &self,
        states: &dyn StateStore,
        organization: OrganizationId,
        id: ProposalId,
        (token, is_public): (Option<&str>, bool),
        now: OffsetDateTime,
    ) -> Result<Change<Proposal>> {
        let before = find_for_update(self.store, organization, id).await?;
        if before.published_at.is_none() {
            return Err(Error::rejected_field("published", "is_draft", "a draft cannot be answered"));
        }
        let state = match token {
            None => None,
            Some(token) => {
                let found = states.find_by_token(organization, before.component, token).await?;
                let unknown =
                    || Error::rejected_field("state", "inclusion", "the component has no such state");
                Some(found.ok_or_else(unknown)?.0)
            }
        };
        let is_public = is_public && state.is_some();
        let change = Change::from_edit(before, now, |proposal| proposal.answer(state, is_public, now));
        self.change(organization, id, &change).await?;
        Ok(change)
    }

    /// Makes a draft public. Its texts follow the rules of drafts (contract 06 §2.6), in this language or in the first
    /// that has text; `longest_body` is in characters, 0 for no limit.
    ///
    /// # Errors
    /// `NotFound`; `Rejected` when it is published; `Invalid` for texts that break a rule.
    pub async fn publish(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        locale: Locale,
        longest_body: i64,
        now: OffsetDateTime,
    ) -> Result<Change<Proposal>> {
        let before = find_for_update(self.store, organization, id).await?;
        if before.published_at.is_some() {
            let text = "the proposal is published already";
            return Err(Error::rejected_field("published", "is_published", text));
        }
        DraftErrors::new(&before, locale, longest_body).refuse()?;
        let change = Change::from_edit(before, now, |proposal| proposal.publish(now));
        self.change(organization, id, &change).await?;
        Ok(change)
    }

    /// Replaces title and body, without markup. Changed texts follow the rules of drafts (contract 06 §2.6) in each
    /// language; `longest_body` is in characters, 0 for no limit.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with fields such as `title[fr]`.
    pub async fn rewrite(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        (title, body): (&Translated, &Translated),
        longest_body: i64,
        now: OffsetDateTime,
    ) -> Result<Change<Proposal>> {
        let before = find_for_update(self.store, organization, id).await?;
        // A text that is sent as it is stored stays so, markup of an imported one included.
        let replaced = |old: &Translated, new: &Translated| -> Translated {
            let plain = |(locale, text): (Locale, &str)| {
                let is_same = old.get(locale) == Some(text);
                (locale, if is_same { text.to_owned() } else { plain_text(text) })
            };
            new.iter().map(plain).collect()
        };
        let title = replaced(&before.title, title);
        let body = replaced(&before.body, body);
        let change = Change::from_edit(before, now, |proposal| {
            proposal.title = title;
            proposal.body = body;
        });
        DraftErrors::for_change(&change.before, &change.after, longest_body).refuse()?;
        self.change(organization, id, &change).await?;
        Ok(change)
    }
}

#[async_trait]
impl RecordAdministration<Proposal> for ProposalAdministration<'_> {
    fn records(&self) -> &dyn Records<Proposal> {
        self.store
    }

    /// Searches other drafts of all authors before the write: the store checks only the first author.
    async fn before_store(
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

    /// Compares the drafts with each other too.
    async fn create_many(
        &self,
        organization: OrganizationId,
        proposals: &[Proposal],
    ) -> Result<Option<Vec<ProposalId>>> {
        let mut drafts = HashSet::new();
        for draft in proposals.iter().filter(|proposal| proposal.published_at.is_none()) {
            if draft.authors.iter().any(|author| !drafts.insert((*author, draft.component))) {
                return Ok(None);
            }
            match self.before_store(organization, None, draft).await {
                Ok(()) => {}
                Err(Error::Rejected(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        self.store.add_many(organization, proposals).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockProposalStore, MockStateStore, ProposalState};
    use civitas_kernel::records::{Entity, edit};
    use civitas_kernel::testing::text;
    use civitas_kernel::{Ability, ComponentId, EventName, StateId, Subject, UserId};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const TREES: ProposalId = ProposalId(7);

    fn draft() -> Proposal {
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
        let events = Change::from_edit(before.clone(), NOW, edit).events(TREES);
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
    async fn an_answer_is_kept_and_dated_with_an_event() {
        let mut store = MockProposalStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(published())));
        store.expect_save().once().returning(|_, id, change| {
            let state = &change.after;
            assert_eq!((id, state.state, state.state_published_at), (TREES, Some(StateId(9)), Some(NOW)));
            assert_eq!((state.updated_at, change.events(id)[0].subject), (NOW, Subject::Proposal(TREES)));
            Ok(())
        });
        let answer = |proposal: &mut Proposal| proposal.answer(Some(StateId(9)), true, NOW);
        edit(&ProposalAdministration { store: &store }, CITY, TREES, NOW, answer).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_withdrawn_stays_so_and_what_is_deleted_is_gone() {
        let mut store = MockProposalStore::new();
        let withdrawn = Proposal { withdrawn_at: Some(NOW), ..published() };
        store.expect_find_for_update().once().returning(move |_, _| Ok(Some(withdrawn.clone())));
        edit(&ProposalAdministration { store: &store }, CITY, TREES, NOW, |p| p.withdraw(NOW)).await.unwrap();
        let deleted = Proposal { deleted_at: Some(NOW), ..published() };
        store.expect_find_for_update().returning(move |_, _| Ok(Some(deleted.clone())));
        let refused =
            edit(&ProposalAdministration { store: &store }, CITY, TREES, NOW, |p| p.hide(NOW)).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn nobody_gets_a_second_draft() {
        let mut store = MockProposalStore::new();
        store.expect_has_draft().returning(|_, _, _| Ok(true));
        let refused = ProposalAdministration { store: &store }.create(CITY, &draft()).await.unwrap_err();
        assert_eq!(refused.description(), "an author has another draft in the component");
    }

    /// A store with this proposal, which is saved so many times.
    fn stored(proposal: Proposal, saves: usize) -> MockProposalStore {
        let mut store = MockProposalStore::new();
        store.expect_find_for_update().returning(move |_, _| Ok(Some(proposal.clone())));
        store.expect_has_draft().returning(|_, _, _| Ok(false));
        store.expect_save().times(saves).returning(|_, _, _| Ok(()));
        store
    }

    fn states() -> MockStateStore {
        let mut states = MockStateStore::new();
        states.expect_find_by_token().returning(|_, component, token| {
            let state = ProposalState::built_in(component, NOW)[2].clone();
            Ok((component == ComponentId(3) && token == "accepted").then_some((StateId(9), state)))
        });
        states
    }

    #[tokio::test]
    async fn an_answer_is_a_state_of_the_component() {
        let (store, states) = (stored(published(), 2), states());
        let admin = ProposalAdministration { store: &store };
        let answer =
            async |token, is_public| admin.answer(&states, CITY, TREES, (token, is_public), NOW).await;
        let accepted = answer(Some("accepted"), false).await.unwrap().after;
        assert_eq!((accepted.state, accepted.state_published_at), (Some(StateId(9)), None));
        let public = answer(Some("accepted"), true).await.unwrap().after;
        assert_eq!(public.state_published_at, Some(NOW));
        let none = answer(None, true).await.unwrap();
        assert!(none.is_empty(), "an answer without state is not public");
        let refused = answer(Some("adopted"), true).await.unwrap_err();
        assert_eq!(refused.description(), "the component has no such state");
        let store = stored(draft(), 0);
        let refused =
            ProposalAdministration { store: &store }.answer(&states, CITY, TREES, (None, false), NOW).await;
        assert_eq!(refused.unwrap_err().description(), "a draft cannot be answered");
    }

    #[tokio::test]
    async fn a_draft_is_published_once_and_by_the_rules_of_drafts() {
        let publish = async |proposal: Proposal, saves| {
            let store = stored(proposal, saves);
            ProposalAdministration { store: &store }.publish(CITY, TREES, Locale::EN, 0, NOW).await
        };
        let long = Translated::from([(Locale::EN, "More trees along Main Street".to_owned())]);
        let valid = Proposal { title: long.clone(), body: long.clone(), ..draft() };
        assert_eq!(publish(valid, 1).await.unwrap().after.published_at, Some(NOW));
        assert!(matches!(publish(draft(), 0).await, Err(Error::Invalid { .. })), "the title is too short");
        let refused = publish(published(), 0).await.unwrap_err();
        assert_eq!(refused.description(), "the proposal is published already");
    }

    #[tokio::test]
    async fn only_texts_that_change_are_checked() {
        let rewrite = async |title: &Translated, saves| {
            let store = stored(published(), saves);
            let body = published().body;
            ProposalAdministration { store: &store }.rewrite(CITY, TREES, (title, &body), 0, NOW).await
        };
        let mut title = published().title;
        title.set(Locale::FR, "Des arbres dans la <b>rue</b> principale".to_owned());
        let after = rewrite(&title, 1).await.unwrap().after;
        assert_eq!(after.title.get(Locale::FR), Some("Des arbres dans la rue principale"));
        title.set(Locale::FR, "Arbres".to_owned());
        let refused = rewrite(&title, 0).await.unwrap_err();
        assert_eq!(refused.details()[0].field, "title[fr]");
        let refused = rewrite(&Translated::default(), 0).await.unwrap_err();
        assert_eq!(
            (refused.details()[0].field.as_ref(), refused.details()[0].code.as_ref()),
            ("title", "blank")
        );
    }

    #[test]
    fn a_hidden_proposal_is_shown_again() {
        let mut proposal = published();
        proposal.hide(NOW);
        proposal.show();
        assert_eq!(proposal, published());
    }
}
