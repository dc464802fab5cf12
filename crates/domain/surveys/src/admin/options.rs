//! Answer options. The caller has locked the questionnaire, and sets the time of its last change.

use super::{QuestionAdministration, QuestionPartEdit, faults, named};
use crate::{AnswerOption, Question};
use civitas_kernel::records::{Change, find_for_update};
use civitas_kernel::{
    AnswerOptionId, Error, Locale, OrganizationId, QuestionId, Result, Translated, Wording,
};

impl QuestionAdministration<'_> {
    /// Makes these changes of the options of a question. Returns whether something changed.
    ///
    /// # Errors
    /// `Invalid` with all errors, of the fields `options[name]`; `NotFound` for an option of another question.
    pub(super) async fn edit_options(
        &self,
        organization: OrganizationId,
        (id, question): (QuestionId, &Question),
        edits: &[QuestionPartEdit<AnswerOptionId, Translated>],
        locale: Locale,
    ) -> Result<bool> {
        let (mut has_changed, mut errors) = (false, Vec::new());
        for edit in edits {
            match self.edit_option(organization, (id, question), edit, locale).await {
                Ok(is_change) => has_changed |= is_change,
                Err(error) => {
                    errors.extend(named(&faults(Err(error))?, &format!("options[{}]", edit.name)));
                }
            }
        }
        Error::unless_valid(Wording::InvalidRequest, errors).map(|()| has_changed)
    }

    async fn edit_option(
        &self,
        organization: OrganizationId,
        (question_id, question): (QuestionId, &Question),
        edit: &QuestionPartEdit<AnswerOptionId, Translated>,
        locale: Locale,
    ) -> Result<bool> {
        let Some(id) = edit.id else {
            let Some(body) = edit.value.clone() else { return Ok(false) };
            let option = AnswerOption { question: question_id, body };
            return self.rules().add_option(organization, question, &option, locale).await.map(|_| true);
        };
        let stored = find_for_update(self.options, organization, id).await?;
        if stored.question != question_id {
            return Err(Error::NotFound);
        }
        match edit.value.clone() {
            Some(body) if body == stored.body => Ok(false),
            Some(body) => {
                let change = Change::new(stored.clone(), AnswerOption { body, ..stored });
                self.rules().change_option(organization, id, &change, locale).await
            }
            None => self.options.remove(organization, id).await.map(|()| true),
        }
    }
}
