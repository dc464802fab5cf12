//! Administration of the states of proposals. The caller checks permission.

use crate::{ProposalState, StateStore};
use async_trait::async_trait;
use civitas_kernel::limits::{MAX_LINE_CHARS, too_long};
use civitas_kernel::records::{RecordAdministration, RecordFields, Records};
use civitas_kernel::{Error, FieldError, Locale, OrganizationId, Result, StateId, Wording};

/// The most states of a component.
pub const MAX_STATES: i64 = 100;
/// What the interface shows for a withdrawn proposal; no state has this token.
const WITHDRAWN: &str = "withdrawn";

/// Adds states to components for proposals, and changes their titles and colours. A member that does not change is not
/// checked: an imported state may have other values.
pub struct StateAdministration<'a> {
    /// The store, in a transaction.
    pub states: &'a dyn StateStore,
    /// The default language of the organization, in which a title is required.
    pub default_locale: Locale,
}

impl StateAdministration<'_> {
    fn errors(&self, before: Option<&ProposalState>, after: &ProposalState) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if before.is_none_or(|before| before.token != after.token) {
            errors.extend(token_error(&after.token));
        }
        errors.extend(after.field_errors(before, self.default_locale));
        let old = |of: fn(&ProposalState) -> &Option<String>| before.map(of);
        for (member, old, new) in [
            ("bg_color", old(|state| &state.bg_color), &after.bg_color),
            ("text_color", old(|state| &state.text_color), &after.text_color),
        ] {
            let is_sound = old == Some(new) || new.as_deref().is_none_or(is_color);
            if !is_sound {
                errors.push(FieldError::new(
                    member,
                    "invalid",
                    format!("{member} is not a colour such as #c0ffee"),
                ));
            }
        }
        errors
    }
}

/// A token is written in filters and settings.
fn token_error(token: &str) -> Option<FieldError> {
    let is_sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if token.is_empty() {
        Some(FieldError::blank("token", "Token"))
    } else if !token.chars().all(is_sound) || token == WITHDRAWN {
        Some(FieldError::new("token", "invalid", "Token is invalid"))
    } else {
        too_long("token", "Token", token, MAX_LINE_CHARS)
    }
}

/// Whether a text is a colour: `#` with three or six hexadecimal digits.
fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}

#[async_trait]
impl RecordAdministration<ProposalState> for StateAdministration<'_> {
    fn records(&self) -> &dyn Records<ProposalState> {
        self.states
    }

    /// Refuses a state beyond [`MAX_STATES`] of its component.
    async fn before_store(
        &self,
        organization: OrganizationId,
        before: Option<(StateId, &ProposalState)>,
        after: &ProposalState,
    ) -> Result<()> {
        let mut errors = self.errors(before.map(|(_, before)| before), after);
        if before.is_none() {
            let own = self.states.list_of_component(organization, after.component, MAX_STATES).await?;
            if own.iter().any(|(_, state)| state.token == after.token) {
                errors.push(FieldError::new("token", "taken", "token has already been taken"));
            } else if own.len() >= usize::try_from(MAX_STATES).unwrap_or(usize::MAX) {
                errors.push(FieldError::new("token", "too_many", "The component has too many states"));
            }
        }
        Error::unless_valid(Wording::Unprocessable, errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockStateStore;
    use civitas_kernel::records::Change;
    use civitas_kernel::{ComponentId, Translated};
    use time::OffsetDateTime;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const IDEAS: ComponentId = ComponentId(3);
    const NOW: OffsetDateTime = datetime!(2026-02-01 0:00 UTC);

    fn state(token: &str) -> ProposalState {
        let title = Translated::from([(Locale::EN, "In the budget".to_owned())]);
        let color = |text: &str| Some(text.to_owned());
        ProposalState {
            component: IDEAS,
            token: token.to_owned(),
            title,
            bg_color: color("#c0ffee"),
            text_color: color("#000"),
            updated_at: NOW,
        }
    }

    /// A component with so many states, the built-in ones first.
    fn store(count: usize) -> MockStateStore {
        let mut states = MockStateStore::new();
        states.expect_list_of_component().returning(move |_, component, _| {
            let built_in = ProposalState::built_in(component, NOW).into_iter();
            let more = (0..).map(|number| state(&format!("own_{number}")));
            Ok((1..).map(StateId).zip(built_in.chain(more)).take(count).collect())
        });
        states
    }

    async fn create(store: &MockStateStore, state: &ProposalState) -> Vec<String> {
        let admin = StateAdministration { states: store, default_locale: Locale::EN };
        match admin.create(CITY, state).await {
            Ok(_) => Vec::new(),
            Err(error) => {
                error.details().iter().map(|error| format!("{} {}", error.field, error.code)).collect()
            }
        }
    }

    #[tokio::test]
    async fn a_state_has_a_token_a_title_and_colours() {
        let mut store = store(4);
        store.expect_add().once().returning(|_, _| Ok(StateId(9)));
        assert!(create(&store, &state("in_the_budget_2")).await.is_empty());
        for token in ["In", "in the", "é", "withdrawn"] {
            assert_eq!(create(&store, &state(token)).await, ["token invalid"], "{token}");
        }
        assert_eq!(create(&store, &state("accepted")).await, ["token taken"]);
        let wrong = ProposalState {
            title: Translated::from([(Locale::FR, "Au budget".to_owned())]),
            bg_color: Some("red".to_owned()),
            text_color: Some("#12345".to_owned()),
            ..state("")
        };
        let expected = ["token blank", "title blank", "bg_color invalid", "text_color invalid"];
        assert_eq!(create(&store, &wrong).await, expected);
    }

    #[tokio::test]
    async fn a_component_has_a_hundred_states_at_most() {
        assert_eq!(create(&store(100), &state("one_more")).await, ["token too_many"]);
    }

    #[tokio::test]
    async fn only_members_that_change_are_checked() {
        let mut store = MockStateStore::new();
        store.expect_save().once().returning(|_, _, _| Ok(()));
        let admin = StateAdministration { states: &store, default_locale: Locale::EN };
        let imported = ProposalState { bg_color: Some("red".to_owned()), ..state("Of The Archive") };
        let text = |state: &mut ProposalState| state.text_color = None;
        let change = Change::from_edit(imported.clone(), NOW, text);
        admin.change(CITY, StateId(9), &change).await.unwrap();
        let blue = |state: &mut ProposalState| state.bg_color = Some("blue".to_owned());
        let refused =
            admin.change(CITY, StateId(9), &Change::from_edit(imported, NOW, blue)).await.unwrap_err();
        assert_eq!(refused.details()[0].field, "bg_color");
    }
}
